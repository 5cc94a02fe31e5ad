//! A two-dimensional torus with one endpoint at each router; links of kind `x` in a row, of kind `y` between rows. A row is a
//! domain.

use weir::model::{Bandwidth, DomainId, EndpointId, KindName, LinkKind, PortId, RouterId};
use weir::topology::{Link, Peer, Topology};

pub const X: LinkKind = LinkKind(1);
pub const Y: LinkKind = LinkKind(2);

/// The port to the endpoint.
pub const TERMINAL: PortId = 0;

/// Routers are numbered row by row. Ports: 0 to the endpoint, 1 and 2 up and down in x, 3 and 4 in y.
#[derive(Clone, Copy, Debug)]
pub struct Torus {
    pub columns: u32,
    pub rows: u32,
}

/// One step in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub port: PortId,
    /// Whether the packet will still go by the link from the last router of its ring to the first, or back.
    pub wraps: bool,
}

impl Torus {
    /// The column and the row of a router.
    pub fn place(&self, router: RouterId) -> [u32; 2] {
        [router % self.columns, router / self.columns]
    }

    fn sizes(&self) -> [u32; 2] {
        [self.columns, self.rows]
    }

    /// The next step of a shortest way in a dimension (0 or 1); up, if both ways are as long. None if there is none to go.
    pub fn step(&self, from: RouterId, to: RouterId, dimension: usize) -> Option<Step> {
        let size = self.sizes()[dimension];
        let (from, to) = (self.place(from)[dimension], self.place(to)[dimension]);
        let up = (to + size - from) % size;
        let port = 1 + 2 * dimension as PortId;
        match up {
            0 => None,
            _ if 2 * up <= size => Some(Step {
                port,
                wraps: to < from,
            }),
            _ => Some(Step {
                port: port + 1,
                wraps: to > from,
            }),
        }
    }

    /// Links between routers on a shortest way.
    pub fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        let (from, to) = (self.place(from), self.place(to));
        let rings = [0, 1].map(|dimension| {
            let apart = from[dimension].abs_diff(to[dimension]);
            apart.min(self.sizes()[dimension] - apart)
        });
        rings.iter().sum()
    }

    fn kind(port: PortId) -> LinkKind {
        match port {
            TERMINAL => LinkKind::TERMINAL,
            1 | 2 => X,
            _ => Y,
        }
    }
}

impl Topology for Torus {
    fn endpoints(&self) -> u32 {
        self.routers()
    }

    fn routers(&self) -> u32 {
        self.columns * self.rows
    }

    fn ports(&self, _: RouterId) -> PortId {
        5
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        if port == TERMINAL {
            return Peer::Endpoint(router);
        }
        let dimension = usize::from((port - 1) / 2);
        let size = self.sizes()[dimension];
        let (step, there) = match port % 2 {
            1 => (1, port + 1),
            _ => (size - 1, port - 1),
        };
        let mut place = self.place(router);
        place[dimension] = (place[dimension] + step) % size;
        Peer::Router(place[0] + self.columns * place[1], there)
    }

    fn link(&self, _: RouterId, port: PortId) -> Link {
        let kind = Torus::kind(port);
        Link {
            kind,
            bandwidth: Bandwidth(100_000_000_000),
            latency: [5_000, 20_000, 30_000][kind.index()],
        }
    }

    fn link_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[
            KindName::Borrowed("terminal"),
            KindName::Borrowed("x"),
            KindName::Borrowed("y"),
        ];
        NAMES
    }

    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (endpoint, TERMINAL)
    }

    fn domains(&self) -> u32 {
        self.rows
    }

    fn domain_of(&self, router: RouterId) -> DomainId {
        router / self.columns
    }

    fn domain_routers(&self, domain: DomainId) -> Vec<RouterId> {
        (domain * self.columns..(domain + 1) * self.columns).collect()
    }

    fn local_index(&self, router: RouterId) -> u32 {
        router % self.columns
    }

    fn group_of(&self, router: RouterId) -> u32 {
        self.domain_of(router)
    }

    fn groups(&self) -> u32 {
        self.rows
    }

    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        1 + self.distance(a, b)
    }

    fn diameter_routers(&self) -> u32 {
        1 + self.columns / 2 + self.rows / 2
    }

    fn describe(&self) -> String {
        format!("torus of {} x {} routers", self.columns, self.rows)
    }
}
