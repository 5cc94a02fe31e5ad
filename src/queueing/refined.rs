//! A routing whose virtual channels are divided into queues: what [`crate::routing::analysis`] walks to see that no packets
//! can wait for each other for ever under a queueing scheme.

use super::{Joining, Queueing};
use crate::model::{Flight, LinkKind};
use crate::routing::{Here, Hop, Routing};
use crate::topology::{Peer, Topology};

/// A routing in which every queue of a virtual channel is a virtual channel. For networks with at most 255 queues of a traffic
/// class at a port: it panics if there are more, or if a scheme names a queue that there is not.
pub struct Refined<'a> {
    /// The network.
    pub topology: &'a dyn Topology,
    /// Names virtual channels.
    pub routing: &'a dyn Routing,
    /// Divides them.
    pub queueing: &'a dyn Queueing,
}

impl Refined<'_> {
    /// Queues of each virtual channel.
    fn queues(&self, kind: LinkKind) -> u32 {
        self.queueing.queues(kind, self.routing.vcs(kind))
    }
}

impl Routing for Refined<'_> {
    fn vcs(&self, kind: LinkKind) -> u8 {
        let queues = u32::from(self.routing.vcs(kind)) * self.queues(kind);
        u8::try_from(queues).unwrap_or_else(|_| panic!("{queues} queues are too many to walk"))
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let hop = self.routing.route(flight, here);
        let router = here.router();
        if hop.port >= self.topology.ports(router) {
            return hop;
        }
        let kind = self.topology.link(router, hop.port).kind;
        let vcs = self.routing.vcs(kind);
        let Peer::Router(..) = self.topology.peer(router, hop.port) else {
            return hop;
        };
        if hop.vc >= vcs {
            // It stays one that there is not.
            return Hop { vc: u8::MAX, ..hop };
        }
        let queues = self.queues(kind);
        let queue = match queues {
            1 => 0,
            _ => self.queueing.queue(&Joining {
                from: Some((router, hop.port)),
                kind,
                vc: hop.vc,
                vcs,
                source: here.source(),
                destination: flight.destination,
                class: 0,
                job: here.job(),
            }),
        };
        assert!(queue < queues, "queue {queue} of {queues}");
        Hop {
            vc: (u32::from(hop.vc) * queues + queue) as u8,
            ..hop
        }
    }

    fn max_routers(&self) -> u32 {
        self.routing.max_routers()
    }
}
