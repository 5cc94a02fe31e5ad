//! Division of a network's routers into domains, which ranks and threads share.

use weir_model::{DomainId, NEVER, RouterId, Time};

use crate::nodes::Nodes;
use crate::topology::{Peer, Topology};

/// The routers of every domain, as tables over all routers: 12 bytes for each.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The domain of each router, and its position among the routers there.
    places: Vec<(DomainId, u32)>,
    /// The routers of each domain, ascending.
    routers: Vec<Vec<RouterId>>,
    lookahead: Time,
}

impl Partition {
    /// The domains that a topology is divided into ([`Topology::domain_of`]); domains that share a
    /// node become one.
    pub fn new(topology: &dyn Topology, nodes: Nodes) -> Partition {
        let joined = joined(topology, nodes);
        let domains = joined.iter().max().map_or(0, |last| last + 1);
        let mut routers = vec![Vec::new(); domains as usize];
        let place = |router| {
            let domain = joined[topology.domain_of(router) as usize];
            let own = &mut routers[domain as usize];
            own.push(router);
            (domain, own.len() as u32 - 1)
        };
        let mut partition = Partition {
            places: (0..topology.routers()).map(place).collect(),
            routers,
            lookahead: NEVER,
        };
        partition.lookahead = partition.least_latency(topology);
        partition
    }

    /// Number of domains.
    pub fn domains(&self) -> u32 {
        self.routers.len() as u32
    }

    /// The routers of a domain, ascending.
    pub fn routers(&self, domain: DomainId) -> &[RouterId] {
        &self.routers[domain as usize]
    }

    /// The domain of a router.
    #[inline]
    pub fn domain_of(&self, router: RouterId) -> DomainId {
        self.places[router as usize].0
    }

    /// The position of a router among those of its domain.
    #[inline]
    pub fn local_index(&self, router: RouterId) -> u32 {
        self.places[router as usize].1
    }

    /// The least latency of a link between two domains as built, ps; [`NEVER`] if there is none.
    /// Nothing crosses faster, since a failure only adds to it.
    pub fn lookahead(&self) -> Time {
        self.lookahead
    }

    fn least_latency(&self, topology: &dyn Topology) -> Time {
        let mut least = NEVER;
        for (&(domain, _), router) in self.places.iter().zip(0..) {
            for port in 0..topology.ports(router) {
                let latency = topology.link(router, port).latency;
                if latency < least
                    && let Peer::Router(other, _) = topology.peer(router, port)
                    && self.domain_of(other) != domain
                {
                    least = latency;
                }
            }
        }
        least
    }
}

/// The new number of each of a topology's domains when domains that share a node become one.
fn joined(topology: &dyn Topology, nodes: Nodes) -> Vec<DomainId> {
    let mut least: Vec<DomainId> = (0..topology.domains()).collect();
    let domain = |endpoint| topology.domain_of(topology.attachment(endpoint).0);
    for endpoint in 0..topology.endpoints() {
        // With the endpoint of the same node before it.
        if nodes.rail_of(endpoint) > 0 {
            let [one, other] = [endpoint, endpoint - nodes.stride()];
            let [one, other] = [domain(one), domain(other)].map(|own| root(&least, own));
            least[one.max(other) as usize] = one.min(other);
        }
    }
    let mut numbers = vec![0; least.len()];
    let mut next = 0;
    for own in 0..topology.domains() {
        let first = root(&least, own);
        if first == own {
            numbers[own as usize] = next;
            next += 1;
        } else {
            numbers[own as usize] = numbers[first as usize];
        }
    }
    numbers
}

/// The least of the domains that one is joined with.
fn root(least: &[DomainId], mut domain: DomainId) -> DomainId {
    while least[domain as usize] != domain {
        domain = least[domain as usize];
    }
    domain
}
