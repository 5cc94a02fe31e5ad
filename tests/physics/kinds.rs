//! Kinds of links and of routers that a topology names: routers of different kinds differ in time
//! as their tables in the experiment file say, and the names that a network uses for its kinds
//! appear everywhere.

use std::sync::Arc;

use weir::model::{
    Bandwidth, EndpointId, Flight, KindName, LinkKind, PortId, RouterId, RouterKind,
};
use weir::report;
use weir::result::{self, Data, ResultFile, Run};
use weir::routing::{Here, Hop, Routing};
use weir::simulation::Plan;
use weir::study::Metric;
use weir::topology::{Link, Peer, Topology};

use crate::support::{Experiment, run_plan};

const NS: u64 = 1_000;

/// One message of 24 flits, a packet, which takes 24 ns on every link.
fn message(network: Experiment, from: i64, to: i64) -> Experiment {
    network
        .traffic("fixed_pairs", 0.01)
        .with("endpoints", vec![from, to])
        .with("injection", "periodic")
        .message("24 flits")
        .set("output.packets", true)
        .to_completion("2400 ns")
}

/// The time of the only packet, ps.
fn time(data: &Data) -> u64 {
    let packets = data.packets.as_ref().expect("packets are recorded");
    assert_eq!(packets.source.len(), 1);
    packets.delivered_ps[0] - packets.injected_ps[0]
}

/// Eight endpoints below four leaf routers, four inner ones and four at the top.
fn tree() -> Experiment {
    Experiment::tree(2, 3)
        .set("router.latency", "10 ns")
        .set("router.leaf.latency", "30 ns")
        .set("router.top.latency", "100 ns")
}

#[test]
fn each_router_on_the_way_takes_the_latency_of_its_kind() {
    // Terminal links take 5 ns, those inside a pod 20 ns, those to the top 50 ns.
    let ways = [
        (1, 5 + 30 + 5),
        (2, 5 + 30 + 20 + 10 + 20 + 30 + 5),
        (7, 5 + 30 + 20 + 10 + 50 + 100 + 50 + 10 + 20 + 30 + 5),
    ];
    for (to, head) in ways {
        for queue in ["16 packets", "unlimited", "none"] {
            let network = tree().set("router.output_queue", queue);
            // The inner routers have no output queues in any case.
            let network = network.set("router.inner.output_queue", "none");
            let run = message(network, 0, to);
            assert_eq!(time(&run.run().data), (head + 24) * NS, "{}", run.text());
        }
    }
}

#[test]
fn the_buffers_of_a_kind_and_their_credits_are_its_own() {
    // The input buffers at the top hold one packet. Its place is taken when the head leaves the
    // inner router, and free again when the tail has left the top router (head 50 ns later, tail 24
    // ns after it) and the credit is back. The credit takes 50 ns and the top router's 26 ns: one
    // packet in 150 ns.
    let run = tree()
        .set("router.top.input_buffer", "24 flits")
        .set("router.top.credit_delay", "26 ns")
        .traffic("fixed_pairs", 1.0)
        .with("endpoints", vec![0, 7])
        .message("24 flits")
        .set("output.packets", true)
        .until("20 us");
    let data = run.run().data;
    let packets = data.packets.expect("packets are recorded");
    let mut times: Vec<u64> = (0..packets.source.len())
        .filter(|&row| packets.source[row] == 0 && packets.delivered_ps[row] > 5_000 * NS)
        .map(|row| packets.delivered_ps[row])
        .collect();
    times.sort_unstable();
    assert!(times.len() > 90, "{}", times.len());
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        gaps.clone().all(|gap| gap == 150 * NS),
        "{:?}",
        gaps.collect::<Vec<_>>()
    );
}

#[test]
fn a_table_that_says_what_all_do_changes_nothing() {
    let plain = Experiment::tree(2, 3)
        .uniform(0.6)
        .set("output.packets", true);
    let said = ["leaf", "inner", "top"]
        .into_iter()
        .fold(plain.clone(), |run, kind| {
            run.set(&format!("router.{kind}.latency"), "10 ns")
                .set(&format!("router.{kind}.arbitration"), "round_robin")
        });
    let (plain, said) = (plain.run().data, said.run().data);
    assert_eq!(plain.packets, said.packets);
    assert_eq!(plain.ports, said.ports);
}

#[test]
fn what_is_resolved_is_read_again_as_the_same() {
    let first = tree().uniform(0.1).checked();
    assert!(
        first
            .resolved
            .contains("\n[router.leaf]\nlatency = \"30 ns\"\n"),
        "{}",
        first.resolved
    );
    let table = first.resolved.parse().expect("TOML");
    let again = Experiment::of(table).checked();
    assert_eq!(again.resolved, first.resolved);
}

#[test]
fn tables_that_fit_no_router_are_refused() {
    let refused = |experiment: Experiment, words: &[&str]| {
        let ran = experiment.uniform(0.1).cli().go();
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(told.contains(word), "{word:?} is missing:\n{told}");
        }
    };
    let dragonfly = || Experiment::dragonfly(1, 2, 1);
    refused(
        dragonfly().set("router.leaf.latency", "1 ns"),
        &[
            "router.leaf: the network has no routers of the kind \"leaf\"",
            "`router`",
        ],
    );
    refused(
        tree().set("router.tob.latency", "1 ns"),
        &["no routers of the kind \"tob\"", "did you mean `top`"],
    );
    refused(
        tree().set("router.top.latncy", "1 ns"),
        &["router.top: unknown key `latncy`", "did you mean `latency`"],
    );
    refused(
        tree().set("router.top.flit", "8 bytes"),
        &[
            "router.top.flit: flits are of one size",
            "write it in [router]",
        ],
    );
    refused(
        tree().set("router.top.credit_unit", "packet"),
        &[
            "router.top.credit_unit: credits are of one unit",
            "write it in [router]",
        ],
    );
    refused(
        tree().set("router.top.input_buffer", "3 flits"),
        &[
            "router.top.input_buffer: 3 flits holds 3 flits",
            "longest packet",
        ],
    );
}

/// Four routers in a square with an endpoint each: port 0 to the endpoint, 1 along x, 2 along y.
/// Router x + 2·y; those of x = 0 are of one kind and domain, those of x = 1 of another.
struct Square;

impl Topology for Square {
    fn endpoints(&self) -> u32 {
        4
    }
    fn routers(&self) -> u32 {
        4
    }
    fn ports(&self, _: RouterId) -> PortId {
        3
    }
    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        match port {
            0 => Peer::Endpoint(router),
            1 => Peer::Router(router ^ 1, 1),
            2 => Peer::Router(router ^ 2, 2),
            _ => Peer::Unused,
        }
    }
    fn link(&self, _: RouterId, port: PortId) -> Link {
        Link {
            kind: LinkKind(port as u8),
            bandwidth: Bandwidth(100_000_000_000),
            latency: [5, 20, 40][usize::from(port)] * NS,
        }
    }
    fn link_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[
            KindName::Borrowed("terminal"),
            KindName::Borrowed("x"),
            KindName::Borrowed("along_the_second_axis"),
        ];
        NAMES
    }
    fn router_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[KindName::Borrowed("west"), KindName::Borrowed("east")];
        NAMES
    }
    fn router_kind(&self, router: RouterId) -> RouterKind {
        RouterKind((router % 2) as u8)
    }
    fn axes(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[KindName::Borrowed("x"), KindName::Borrowed("y")];
        NAMES
    }
    fn coordinates(&self, router: RouterId) -> Vec<u32> {
        vec![router % 2, router / 2]
    }
    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (endpoint, 0)
    }
    fn group_of(&self, router: RouterId) -> u32 {
        router % 2
    }
    fn groups(&self) -> u32 {
        2
    }
    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        1 + (a ^ b).count_ones()
    }
    fn diameter_routers(&self) -> u32 {
        3
    }
    fn describe(&self) -> String {
        "a square of four routers".into()
    }
}

/// Along x first, then along y.
struct InOrder;

impl Routing for InOrder {
    fn vcs(&self, _: LinkKind) -> u8 {
        1
    }
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = match here.router() ^ flight.destination {
            0 => 0,
            2 => 2,
            _ => 1,
        };
        Hop { port, vc: 0 }
    }
    fn max_routers(&self) -> u32 {
        3
    }
}

fn square(experiment: &Experiment) -> Plan {
    let own = experiment.clone().own_topology(|_| Ok(Arc::new(Square)));
    own.own_routing(|_, _| Ok(Box::new(InOrder))).plan()
}

#[test]
fn routers_of_a_topology_of_ones_own_have_kinds_in_every_domain() {
    let run = Experiment::dragonfly(1, 2, 1)
        .set("router.latency", "30 ns")
        .set("router.east.latency", "70 ns");
    // From the west to the east, and one router on.
    let head = 5 + 30 + 20 + 70 + 40 + 70 + 5;
    let outcome = run_plan(&square(&message(run, 0, 3))).expect("runs");
    assert_eq!(time(&outcome.data), (head + 24) * NS);
}

#[test]
fn a_result_speaks_of_the_network_in_its_own_words() {
    let run = Experiment::dragonfly(1, 2, 1).uniform(0.5);
    let outcome = run_plan(&square(&run)).expect("runs");
    let folder = tempfile::TempDir::new().expect("a directory");
    let path = folder.path().join("result.h5");
    result::write(&path, &outcome.data, &Run::default(), "", 1).expect("written");
    let result = ResultFile::open(&path).expect("opens");
    let words = ["terminal", "x", "along_the_second_axis"];
    assert_eq!(result.link_kinds().expect("reads"), words);
    assert_eq!(result.port_kinds().expect("reads")[..3], words);
    let bytes = |kind: &str| {
        let metric = Metric::parse(&format!("ports.{kind}.bytes"), &[]).expect("a metric");
        metric.read(&result).expect("reads").expect("a number")
    };
    assert!(words.iter().all(|kind| bytes(kind) > 0.0));
    assert_eq!(bytes("fabric"), bytes("x") + bytes("along_the_second_axis"));
    assert_eq!(bytes("all"), bytes("fabric") + bytes("terminal"));
    let stored = result::read(&path).expect("reads");
    let figures = report::run::figures(&result, &stored).expect("draws");
    let ports = figures
        .iter()
        .find(|figure| figure.id == "ports")
        .expect("a figure");
    let titles: Vec<&str> = ports.panels.iter().map(|panel| &*panel.title).collect();
    assert_eq!(
        titles,
        [
            "ports to endpoints",
            "x ports",
            "along_the_second_axis ports"
        ]
    );
    let column = |name| {
        result
            .column("data/routers", name)
            .expect("reads")
            .expect("is there")
    };
    assert_eq!(column("axis.x.coordinate"), [0, 1, 0, 1]);
    assert_eq!(column("axis.y.coordinate"), [0, 0, 1, 1]);
    assert_eq!(column("group"), [0, 1, 0, 1]);
    assert_eq!(outcome.data.ports.peer_router[..3], [-1, 1, 2]);
    assert_eq!(outcome.data.ports.endpoint[..3], [0, -1, -1]);
}
