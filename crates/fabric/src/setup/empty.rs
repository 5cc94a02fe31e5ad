//! Zero-load times of the network as built, which parameters of schemes are made for.

use weir_model::{
    Bandwidth, EndpointId, Flight, LATEST, PortId, Rng, RouterId, Time, below, stream,
};
use weir_network::failures::Seen;
use weir_network::routing::{Here, Hop, Load, Queue, Routing};
use weir_network::topology::{Peer, Topology};

/// Ends of the network that are examined for the longest path.
const ENDS: u32 = 64;

/// Zero-load time of a packet without length from a router to an endpoint, ps.
/// Its route is that of a packet that has come in by the port; `hop` is the time across a router
/// and the link behind a port.
pub(crate) fn way(
    topology: &dyn Topology,
    routing: &dyn Routing,
    hop: &dyn Fn(RouterId, PortId) -> Time,
    from: (RouterId, PortId),
    to: EndpointId,
) -> Time {
    let mut time: Time = 0;
    let control = (to, Flight::CONTROL);
    walk(topology, routing, from, control, None, |router, port| {
        time = time.saturating_add(hop(router, port));
    });
    time
}

/// Calls `each` with every router on the route of a data packet, and the port that it takes there.
/// It comes into the network at a router and port, and goes to an endpoint; `rng` draws its route.
pub fn route(
    topology: &dyn Topology,
    routing: &dyn Routing,
    (from, to): ((RouterId, PortId), EndpointId),
    rng: &mut Rng,
    each: impl FnMut(RouterId, PortId),
) {
    walk(topology, routing, from, (to, 0), Some(rng), each);
}

/// Calls `each` with every router on a packet's route and the port that it takes there.
/// The packet has come into a router by a port, and goes to an endpoint with these flags. `rng`
/// draws if its routing does; otherwise the first choice is taken.
fn walk(
    topology: &dyn Topology,
    routing: &dyn Routing,
    (router, in_port): (RouterId, PortId),
    (destination, flags): (EndpointId, u8),
    rng: Option<&mut Rng>,
    mut each: impl FnMut(RouterId, PortId),
) {
    let mut flight = Flight {
        destination,
        via: 0,
        phase: 0,
        steps: 0,
        flags,
        routers: 0,
    };
    let mut here = EmptyNetwork {
        router,
        in_port,
        rng,
    };
    for _ in 0..=routing.max_routers() {
        let hop = routing.route(&mut flight, &mut here);
        if hop == Hop::NOWHERE {
            break;
        }
        routing.take(&mut flight, here.router, hop);
        each(here.router, hop.port);
        match topology.peer(here.router, hop.port) {
            Peer::Router(router, in_port) => (here.router, here.in_port) = (router, in_port),
            Peer::Endpoint(_) | Peer::Unused => break,
        }
    }
}

/// Sources whose round trips are examined.
const SOURCES: u32 = 4;
/// Routes drawn for each pair. (These walks take a millisecond in every run.)
const DRAWS: u32 = 4;

/// Round trips of single packets in an empty network, with their acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdleTrips {
    /// The longest one of a longest packet, ps.
    pub longest: Time,
    /// The largest ratio of a longest packet's trip to a shortest packet's trip between the same
    /// two endpoints, over all routes that the routing draws; at least 1.
    pub spread: f64,
}

/// Lengths and times of the parts of a round trip.
pub struct Trips<'a> {
    /// The network.
    pub topology: &'a dyn Topology,
    /// Its routing.
    pub routing: &'a dyn Routing,
    /// Latency of a router, ps, and true if it passes on whole packets only.
    pub router: &'a dyn Fn(RouterId) -> (Time, bool),
    /// Time that flits take on a link of a bandwidth, ps.
    pub time: &'a dyn Fn(u64, Bandwidth) -> Time,
    /// The longest packet, flits.
    pub max_packet: u64,
    /// Flags of an acknowledgement's flight.
    pub back: u8,
}

impl Trips<'_> {
    /// The round trips of a sample of pairs of endpoints, the same whenever it is asked.
    pub fn idle(&self) -> IdleTrips {
        let last = self.topology.endpoints() - 1;
        let mut all = IdleTrips {
            longest: 0,
            spread: 1.0,
        };
        let mut rng = stream(0, &[u64::from(last)]);
        for source in spread_over(last, SOURCES) {
            // The neighbour, whose trips are the shortest.
            let near = if source < last {
                source + 1
            } else {
                source.saturating_sub(1)
            };
            for to in spread_over(last, ENDS / 2)
                .chain([near])
                .filter(|&to| to != source)
            {
                let mut trip = |flits| self.trip((source, to), flits, &mut rng);
                let (mut most, mut least) = (0, Time::MAX);
                for _ in 0..DRAWS {
                    most = most.max(trip(self.max_packet));
                    least = least.min(trip(1));
                }
                all.longest = all.longest.max(most);
                all.spread = all.spread.max(most as f64 / least.max(1) as f64);
            }
        }
        all
    }

    /// One packet there, and a flit back.
    fn trip(&self, (source, to): (EndpointId, EndpointId), flits: u64, rng: &mut Rng) -> Time {
        let there = self.one_way((source, to), flits, 0, rng);
        let back = self.one_way((to, source), 1, self.back, rng);
        there.saturating_add(back).min(LATEST)
    }

    /// From the head leaving the NIC to the tail at the other end.
    fn one_way(
        &self,
        (source, to): (EndpointId, EndpointId),
        flits: u64,
        flags: u8,
        rng: &mut Rng,
    ) -> Time {
        let from = self.topology.attachment(source);
        let first = self.topology.link(from.0, from.1);
        let mut time = first.latency;
        // Behind each link on which a packet is whole before it continues, else behind the slowest.
        let mut length = (self.time)(flits, first.bandwidth);
        let work = |router, port| {
            let (crossing, stores) = (self.router)(router);
            let link = self.topology.link(router, port);
            let own = (self.time)(flits, link.bandwidth);
            time = time.saturating_add(crossing).saturating_add(link.latency);
            length = match stores {
                true => length.saturating_add(own),
                false => length.max(own),
            };
        };
        walk(
            self.topology,
            self.routing,
            from,
            (to, flags),
            Some(rng),
            work,
        );
        time.saturating_add(length)
    }
}

/// About `count` numbers up to `last`, evenly, from the far end inwards.
fn spread_over(last: u32, count: u32) -> impl Iterator<Item = u32> {
    let step = (last / count).max(1);
    (0..=last).rev().step_by(step as usize)
}

/// Zero-load round trip of a packet without length from the first endpoint to the farthest of some
/// others, ps: twice its one-way time.
pub fn round_trip(
    topology: &dyn Topology,
    routing: &dyn Routing,
    crossing: &dyn Fn(RouterId) -> Time,
) -> Time {
    let (router, port) = topology.attachment(0);
    let first = topology.link(router, port).latency;
    // The last one is included in any case.
    let ends = spread_over(topology.endpoints() - 1, ENDS);
    let hop = |router, port| crossing(router).saturating_add(topology.link(router, port).latency);
    let ways = ends.map(|end| way(topology, routing, &hop, (router, port), end));
    let longest = ways.max().unwrap_or(0);
    first.saturating_add(longest).saturating_mul(2)
}

/// A router with empty queues; among several shortest routes the first is taken.
struct EmptyNetwork<'a> {
    router: RouterId,
    in_port: PortId,
    /// Draws, if anything is to be drawn.
    rng: Option<&'a mut Rng>,
}

impl Here for EmptyNetwork<'_> {
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
    fn pick(&mut self, n: u32) -> u32 {
        self.rng.as_mut().map_or(0, |rng| below(rng, n))
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

    fn links(&self) -> Seen {
        Seen::default()
    }
}
