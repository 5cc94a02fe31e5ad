//! Division of a network's routers into domains, which ranks and threads share.

use weir_model::{DomainId, NEVER, RouterId, Time};

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
    /// The domains that a topology is divided into ([`Topology::domain_of`]).
    pub fn new(topology: &dyn Topology) -> Partition {
        let mut routers = vec![Vec::new(); topology.domains() as usize];
        let place = |router| {
            let domain = topology.domain_of(router);
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
