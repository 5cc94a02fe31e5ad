//! How long the network takes while nothing is under way.

use crate::model::{EndpointId, Flight, PortId, RouterId, Time};
use crate::routing::{Here, Hop, Load, Queue, Routing};
use crate::topology::{Peer, Topology};

/// Ends of the network that are looked at for the longest way.
const ENDS: u32 = 64;

/// What a packet without length takes from a router to an endpoint, ps. Its route is that of a packet which has come in by the
/// port; `crossing` is the latency of a router.
pub(super) fn way(
    topology: &dyn Topology,
    routing: &dyn Routing,
    crossing: &dyn Fn(RouterId) -> Time,
    (router, in_port): (RouterId, PortId),
    to: EndpointId,
) -> Time {
    let mut flight = Flight {
        destination: to,
        via: 0,
        phase: 0,
        steps: 0,
        flags: Flight::CONTROL,
        routers: 0,
    };
    let mut here = EmptyNetwork { router, in_port };
    let mut time: Time = 0;
    for _ in 0..=routing.max_routers() {
        let hop = routing.route(&mut flight, &mut here);
        routing.take(&mut flight, here.router, hop);
        let link = topology.link(here.router, hop.port).latency;
        time = time.saturating_add(crossing(here.router).saturating_add(link));
        match topology.peer(here.router, hop.port) {
            Peer::Router(router, in_port) => here = EmptyNetwork { router, in_port },
            Peer::Endpoint(_) | Peer::Unused => break,
        }
    }
    time
}

/// What a packet without length takes from the first endpoint to the farthest of some others and back, ps: twice its way there.
pub fn round_trip(
    topology: &dyn Topology,
    routing: &dyn Routing,
    crossing: &dyn Fn(RouterId) -> Time,
) -> Time {
    let (router, port) = topology.attachment(0);
    let first = topology.link(router, port).latency;
    let last = topology.endpoints() - 1;
    let step = (last / ENDS).max(1);
    // From the far end inwards, where the last one is looked at in any case.
    let ends = (0..=last).rev().step_by(step as usize);
    let ways = ends.map(|end| way(topology, routing, crossing, (router, port), end));
    let longest = ways.max().unwrap_or(0);
    first.saturating_add(longest).saturating_mul(2)
}

/// A router at which nothing waits; of several shortest ways the first is taken.
struct EmptyNetwork {
    router: RouterId,
    in_port: PortId,
}

impl Here for EmptyNetwork {
    fn router(&self) -> RouterId {
        self.router
    }
    fn in_port(&self) -> PortId {
        self.in_port
    }
    fn source(&self) -> EndpointId {
        0
    }
    fn job(&self) -> u16 {
        0
    }
    fn pick(&mut self, _: u32) -> u32 {
        0
    }
    fn backlog(&mut self, _: PortId) -> u32 {
        0
    }
    fn queue(&mut self, _: PortId) -> Queue {
        Queue::default()
    }
    fn load(&mut self, _: Hop) -> Load {
        Load {
            used: 0,
            queued: 0,
            free: u32::MAX,
        }
    }
    fn recall(&mut self, _: u32) -> u64 {
        0
    }
    fn remember(&mut self, _: u32, _: u64) {}
    fn flows(&mut self, _: PortId) -> u32 {
        0
    }
    fn circuit(&mut self) -> Option<PortId> {
        None
    }
    fn keep_circuit(&mut self, _: PortId) -> bool {
        false
    }
    fn max_packet(&self) -> u32 {
        1
    }
}
