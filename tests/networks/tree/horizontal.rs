//! Horizontal links: their number, their ends, and the routes that adaptive flow routing takes over
//! them.

use weir::failures::Seen;
use weir::model::{Flight, PortId};
use weir::routing::analysis::Walker;
use weir::routing::{self, Here, Hop, Load, Queue, Routing};
use weir::topology::tree::Tree;
use weir::topology::{Peer, Topology};

use super::support::{LINKS, build, tree};

const HORIZONTAL: &str = "[horizontal]\nbandwidth = \"10 Gbps\"\nlatency = \"4 ns\"\n";

fn network(k: u32, n: u32, width: u32) -> std::sync::Arc<dyn Topology> {
    let text = format!("k = {k}\nn = {n}\nhorizontal_width = {width}\n{LINKS}{HORIZONTAL}");
    build("kary_ntree", &text).expect("a tree")
}

/// Level l (from 1) has k^(n-l) logical nodes of k^(l-1) routers in a row.
#[test]
fn there_are_as_many_as_gaps_in_the_rows() {
    for (k, n, width) in [(2, 1, 2), (2, 4, 1), (3, 3, 2), (4, 2, 3), (16, 3, 2)] {
        let network = network(k, n, width);
        let links: u64 = (1..=n)
            .map(|l| u64::from(k.pow(n - l)) * u64::from(k.pow(l - 1) - 1))
            .sum();
        let links = links * u64::from(width);
        let own = network.links();
        let found = own.iter().find(|links| links.link.kind == Tree::HORIZONTAL);
        assert_eq!(found.map_or(0, |links| links.count), links, "{k} {n}");
        let vertical = u64::from(network.endpoints()) * u64::from(2 * n - 1);
        assert_eq!(network.all_ports(), vertical + 2 * links);
    }
    // "It increases the total number of ports by a mere 10%" (Birk and Zdornov, section 4.2).
    let more = network(16, 3, 2).all_ports() as f64 / network(16, 3, 0).all_ports() as f64;
    assert!((more - 1.10).abs() < 0.005, "{more}");
}

/// They join routers of one level that lead down to the same endpoints, whose places in the row
/// differ by one.
#[test]
fn they_join_neighbours_of_a_logical_node() {
    let network = network(3, 3, 2);
    let tree = tree(&network);
    for router in 0..network.routers() {
        for port in 0..network.ports(router) {
            if network.link(router, port).kind != Tree::HORIZONTAL {
                continue;
            }
            let Peer::Router(other, _) = network.peer(router, port) else {
                panic!("port {port} of router {router} leads to no router");
            };
            let [own, there] = [router, other].map(|router| network.coordinates(router));
            assert_eq!(own[..2], there[..2], "level and subtree");
            let right = tree.sideways(router).right.contains(&port);
            assert_eq!(there[2] == own[2] + 1, right);
            assert_eq!(there[2] + 1 == own[2], !right);
        }
    }
}

fn adaptive_flow(network: &std::sync::Arc<dyn Topology>, keys: &str) -> Box<dyn Routing> {
    let entry = routing::find("kary_ntree", "adaptive_flow").expect("registered");
    let section = weir::config::Section::from_toml(keys).expect("TOML");
    (entry.build)(&section, network).expect("adaptive_flow")
}

#[test]
fn every_route_over_them_arrives_and_none_can_deadlock() {
    for (k, n, width, keys) in [
        (2, 3, 1, ""),
        (3, 2, 2, ""),
        (2, 3, 0, "cache = 1"),
        (3, 2, 1, "horizontal_hops = 1"),
    ] {
        let network = network(k, n, width);
        let routing = adaptive_flow(&network, keys);
        let mut walker = Walker::new(&*network, &*routing);
        let span = walker.walk_all().unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(walker.cycle(), None);
        assert!(span.longest <= routing.max_routers());
        let detours = width > 0;
        assert_eq!(
            span.longest > network.diameter_routers(),
            detours,
            "{k} {n} {width}"
        );
    }
}

/// A router with a given number of flows at each port.
struct Counted {
    router: u32,
    in_port: PortId,
    flows: Vec<u32>,
    kept: Option<PortId>,
    room: bool,
}

impl Here for Counted {
    fn router(&self) -> u32 {
        self.router
    }
    fn in_port(&self) -> PortId {
        self.in_port
    }
    fn source(&self) -> u32 {
        0
    }
    fn job(&self) -> u16 {
        0
    }
    fn pick(&mut self, _: u32) -> u32 {
        0
    }
    fn backlog(&mut self, _: PortId) -> u32 {
        panic!("it goes by flows")
    }
    fn queue(&mut self, _: PortId) -> Queue {
        Queue::default()
    }
    fn load(&mut self, _: Hop) -> Load {
        panic!("it goes by flows")
    }
    fn recall(&mut self, _: u32) -> u64 {
        0
    }
    fn remember(&mut self, _: u32, _: u64) {}
    fn flows(&mut self, port: PortId) -> u32 {
        self.flows[usize::from(port)]
    }
    fn circuit(&mut self) -> Option<PortId> {
        self.kept
    }
    fn keep_circuit(&mut self, port: PortId) -> bool {
        if self.room {
            self.kept = Some(port);
        }
        self.room
    }
    fn max_packet(&self) -> u32 {
        1
    }

    fn links(&self) -> Seen {
        Seen::default()
    }
}

const SETUP: u8 = Flight::CONTROL | Flight::SETUP;

fn flight(destination: u32, flags: u8) -> Flight {
    Flight {
        destination,
        flags,
        ..Flight::default()
    }
}

/// In the 3-ary 2-tree the top routers are 3, 4 and 5; endpoint 0 is below port 0 of each. Ports: 0
/// to 2 down, then those to the left, then to the right.
#[test]
fn a_flow_takes_the_port_with_the_fewest_flows_and_keeps_it() {
    let network = network(3, 2, 1);
    let routing = adaptive_flow(&network, "");
    let mut here = Counted {
        router: 3,
        in_port: 1,
        flows: vec![1, 0, 0, 1],
        kept: None,
        room: true,
    };
    // Equal numbers of flows to the right and down: the default port takes precedence.
    let mut setup = flight(0, SETUP);
    assert_eq!(routing.route(&mut setup, &mut here).port, 0);
    assert_eq!(here.kept, None, "nothing is kept for the default port");
    here.flows[3] = 0;
    assert_eq!(routing.route(&mut setup, &mut here).port, 3);
    // Packets that follow go there, whatever is queued by then; other control packets do not.
    here.flows = vec![0; 4];
    for (flags, port) in [
        (0, 3),
        (Flight::CONTROL | Flight::PROBE, 3),
        (Flight::CONTROL | Flight::TEARDOWN, 3),
        (Flight::CONTROL, 0),
    ] {
        assert_eq!(routing.route(&mut flight(0, flags), &mut here).port, port);
    }
    // Without room by the default port.
    here.kept = None;
    here.room = false;
    here.flows = vec![5, 0, 0, 0];
    assert_eq!(routing.route(&mut flight(0, SETUP), &mut here).port, 0);
    assert_eq!(routing.route(&mut flight(0, 0), &mut here).port, 0);
}

#[test]
fn a_flow_never_turns_back() {
    let network = network(3, 2, 1);
    let routing = adaptive_flow(&network, "");
    // Router 4 has ports 3 to the left and 4 to the right. A flow from the left continues to the
    // right, and one from the right to the left.
    for (in_port, port) in [(3, 4), (4, 3)] {
        let mut here = Counted {
            router: 4,
            in_port,
            flows: vec![9, 0, 0, 0, 0],
            kept: None,
            room: true,
        };
        assert_eq!(routing.route(&mut flight(0, SETUP), &mut here).port, port);
    }
    // At the end of the row it has to go down.
    let mut here = Counted {
        router: 5,
        in_port: 3,
        flows: vec![9, 0, 0, 0],
        kept: None,
        room: true,
    };
    assert_eq!(routing.route(&mut flight(0, SETUP), &mut here).port, 0);
}
