//! A routing whose virtual channels are divided into queues. [`crate::routing::analysis`] walks it
//! to check a queueing scheme for deadlock.

use super::{Joining, Queueing};
use crate::routing::{Circuits, Here, Hop, NicChoice, Routing};
use crate::topology::{Peer, Topology};
use weir_model::{Flight, LinkKind, PortId, RouterId};

/// A routing in which every queue of a virtual channel is a virtual channel.
///
/// For networks with at most 255 queues of a traffic class at a port. It panics if there are more,
/// or if a scheme names a queue that does not exist.
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

    /// The hop with the packet's queue instead of its virtual channel.
    fn refined(&self, hop: Hop, flight: &Flight, here: &mut dyn Here) -> Hop {
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
            // It stays invalid.
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

    /// The hop with its virtual channel instead of the queue.
    fn unrefined(&self, router: RouterId, hop: Hop) -> Hop {
        if hop.port >= self.topology.ports(router) {
            return hop;
        }
        match self.topology.peer(router, hop.port) {
            Peer::Router(..) => {
                let queues = self.queues(self.topology.link(router, hop.port).kind);
                Hop {
                    vc: (u32::from(hop.vc) / queues) as u8,
                    ..hop
                }
            }
            _ => hop,
        }
    }
}

impl Routing for Refined<'_> {
    fn vcs(&self, kind: LinkKind) -> u8 {
        let queues = u32::from(self.routing.vcs(kind)) * self.queues(kind);
        u8::try_from(queues).unwrap_or_else(|_| panic!("{queues} queues are too many to walk"))
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let hop = self.routing.route(flight, here);
        self.refined(hop, flight, here)
    }

    fn choice_at_nic(&self) -> Option<NicChoice> {
        self.routing.choice_at_nic()
    }

    fn max_routers(&self) -> u32 {
        self.routing.max_routers()
    }

    fn is_adaptive(&self) -> bool {
        self.routing.is_adaptive()
    }

    fn words(&self, router: RouterId) -> u32 {
        self.routing.words(router)
    }

    fn circuits(&self) -> Option<Circuits> {
        self.routing.circuits()
    }

    fn one_way(&self) -> bool {
        self.routing.one_way()
    }

    fn keeps_bubbles(&self) -> bool {
        self.routing.keeps_bubbles()
    }

    fn onward(&self, router: RouterId, in_port: PortId) -> Option<PortId> {
        self.routing.onward(router, in_port)
    }

    fn has_alternatives(&self) -> bool {
        self.routing.has_alternatives()
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        let first = self.unrefined(here.router(), first);
        let before = ways.len();
        self.routing.alternatives(flight, first, here, ways);
        for way in &mut ways[before..] {
            *way = self.refined(*way, flight, here);
        }
    }

    fn take(&self, flight: &mut Flight, router: RouterId, hop: Hop) {
        self.routing
            .take(flight, router, self.unrefined(router, hop));
    }
}
