//! One way for each pair of routers: the next port at each router, by the router of the
//! destination.

use crate::routing::Here;
use crate::topology::Topology;
use crate::topology::graph::Graph;
use weir_model::{Flight, PortId, RouterId};

/// The next ports in one graph. *Homes* are the routers with endpoints, by their places in
/// [`Graph::homes`].
pub struct NextPorts {
    /// The graph.
    pub graph: Graph,
    /// The home of each router; [`NO_HOME`] if it has no endpoints.
    homes: Box<[u32]>,
    /// By router and home.
    ports: Box<[PortId]>,
}

/// The home of a router without endpoints.
const NO_HOME: u32 = u32::MAX;

impl NextPorts {
    /// At each router (the first) the port that is chosen for a destination's router (the second).
    pub fn new(graph: Graph, choose: impl Fn(&Graph, RouterId, RouterId) -> PortId) -> NextPorts {
        let mut homes = vec![NO_HOME; graph.routers() as usize];
        for (place, &home) in (0..).zip(graph.homes()) {
            homes[home as usize] = place;
        }
        let ports = (0..graph.routers())
            .flat_map(|router| graph.homes().iter().map(move |&to| (router, to)))
            .map(|(router, to)| choose(&graph, router, to))
            .collect();
        NextPorts {
            homes: homes.into(),
            ports,
            graph,
        }
    }

    /// The home of a router, if it has endpoints.
    pub fn home(&self, router: RouterId) -> Option<usize> {
        let home = self.homes[router as usize];
        (home != NO_HOME).then_some(home as usize)
    }

    /// The home of a packet's destination; None at its router.
    pub fn home_ahead(&self, flight: &Flight, here: &dyn Here) -> Option<usize> {
        let (to, _) = self.graph.attachment(flight.destination);
        self.home(to).filter(|_| here.router() != to)
    }

    /// The place of a pair among all.
    pub fn place(&self, router: RouterId, home: usize) -> usize {
        router as usize * self.graph.homes().len() + home
    }

    /// Chooses another port.
    pub fn set(&mut self, router: RouterId, home: usize, port: PortId) {
        let place = self.place(router, home);
        self.ports[place] = port;
    }

    /// The next port at a router.
    pub fn port(&self, router: RouterId, home: usize) -> PortId {
        self.ports[self.place(router, home)]
    }

    /// The same, and the router behind it: the same one if no link begins there, as at the
    /// destination itself.
    pub fn after(&self, router: RouterId, home: usize) -> (PortId, RouterId) {
        let port = self.port(router, home);
        let behind = self.graph.peer(router, port).router();
        (port, behind.unwrap_or(router))
    }
}
