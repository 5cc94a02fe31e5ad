//! Tori, meshes, HyperX and KNS: special properties of their graphs, the routes of their routings,
//! and the time of a lone packet. Sound graphs and deadlock freedom are tested in `topologies/`,
//! `routings.rs`.

use std::sync::Arc;

use toml::Value;
use weir::config::Section;
use weir::model::LinkKind;
use weir::result::{Data, Packets};
use weir::routing::analysis::{Span, Walker};
use weir::routing::{self, Routing};
use weir::topology::{Links, Topology};

use crate::support::{self, Experiment, run_plan};

const LINKS: &str = "
terminal = { bandwidth = \"100 Gbps\", latency = \"5 ns\" }
link = { bandwidth = \"100 Gbps\", latency = \"20 ns\" }
";

/// A network of a text without its links.
pub fn network(text: &str) -> Arc<dyn Topology> {
    try_network(text).unwrap_or_else(|error| panic!("{error}"))
}

fn try_network(text: &str) -> Result<Arc<dyn Topology>, String> {
    support::topology(&format!("{text}{LINKS}")).map_err(|error| error.render(false))
}

fn routing(
    kind: &str,
    text: &str,
    network: &Arc<dyn Topology>,
) -> Result<Box<dyn Routing>, String> {
    let section = Section::from_toml(text).expect("TOML");
    let entry = routing::find(kind, section.kind().expect("a name")).expect("an entry");
    (entry.build)(&section, network).map_err(|error| error.render(false))
}

/// An experiment on a network of a text. Flits of 100 bits on links of 100 Gbps: a flit takes 1 ns.
/// Routers take 50 ns.
pub fn experiment(topology: &str, algorithm: &str) -> Experiment {
    let parse = |text: &str| text.parse::<toml::Table>().expect("TOML").into();
    let sections = [
        ("topology", parse(&format!("{topology}{LINKS}"))),
        ("routing", parse(&format!("algorithm = \"{algorithm}\""))),
    ];
    let sections = sections.map(|(name, table): (&str, Value)| (name.to_string(), table));
    Experiment::of(sections.into_iter().collect())
        .set("router.latency", "50 ns")
        .set("router.flit", "100 bits")
        .set("nic.max_packet", "24 flits")
}

fn count(network: &dyn Topology, kind: u8) -> u64 {
    let links = network.links().into_iter();
    let own = links.filter(|links: &Links| links.link.kind == LinkKind(kind));
    own.map(|links| links.count).sum()
}

#[test]
fn networks_have_the_sizes_of_their_definitions() {
    // Endpoints, routers, links of x, y and z, the most routers of a shortest route, domains.
    let rows = [
        (
            "kind = \"torus\"\nsizes = [48, 48]",
            [2_304, 2_304, 2_304, 2_304, 0, 49, 48],
        ),
        (
            "kind = \"torus\"\nsizes = [24, 24, 24]",
            [13_824, 13_824, 13_824, 13_824, 13_824, 37, 216],
        ),
        // The rows of Yebenes et al., Table 1.
        (
            "kind = \"kns\"\nk = 48\nn = 2",
            [2_304, 2_304 + 96, 2_304, 2_304, 0, 5, 48],
        ),
        (
            "kind = \"kns\"\nk = 24\nn = 3",
            [13_824, 13_824 + 1_728, 13_824, 13_824, 13_824, 7, 24],
        ),
        // N n / k lines of 2 stages, of 2 d switches each.
        (
            "kind = \"kns\"\nk = 16\nn = 2\ns = 2",
            [256, 256 + 32 * 8, 256, 256, 32 * 16, 9, 16],
        ),
        (
            "kind = \"mesh\"\nsizes = [8, 8]",
            [64, 64, 56, 56, 0, 15, 8],
        ),
        (
            "kind = \"mesh\"\nsizes = [4, 2, 3]\nendpoints_per_router = 2\nlinks_between_routers = [1, 3, 2]",
            [48, 24, 18, 36, 32, 7, 4],
        ),
        (
            "kind = \"hyperx\"\nsizes = [4, 5]\nendpoints_per_router = 3",
            [60, 20, 30, 40, 0, 3, 5],
        ),
        (
            "kind = \"hyperx\"\nsizes = [2, 2, 2]\nlinks_between_routers = [1, 2, 1]",
            [8, 8, 4, 8, 4, 4, 2],
        ),
    ];
    for (text, expected) in rows {
        let network = network(text);
        let found = [
            network.endpoints().into(),
            network.routers().into(),
            count(&*network, 1),
            count(&*network, 2),
            count(&*network, 3),
            network.diameter_routers().into(),
            network.domains().into(),
        ];
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn layouts_are_as_long_as_a_ring_on_the_floor() {
    // The places of the routers of a ring of six on the floor, and so the lengths of its links.
    let lengths = |layout: &str| -> Vec<u64> {
        let network = network(&format!(
            "kind = \"torus\"\nsizes = [6]\nlayout = \"{layout}\""
        ));
        (0..6)
            .map(|router| network.link(router, 1).latency / 20_000)
            .collect()
    };
    assert_eq!(lengths("equal"), [1; 6]);
    assert_eq!(lengths("straight"), [1, 1, 1, 1, 1, 5]);
    let floor = [0i32, 2, 4, 5, 3, 1];
    let folded = (0..6).map(|at| floor[at].abs_diff(floor[(at + 1) % 6]).into());
    assert_eq!(lengths("folded"), folded.collect::<Vec<u64>>());
}

#[test]
fn what_cannot_be_built_is_refused() {
    let rows = [
        ("kind = \"torus\"\nsizes = []", "has 0 dimensions"),
        (
            "kind = \"torus\"\nsizes = [4, 1]",
            "a dimension of size 1 has no links",
        ),
        (
            "kind = \"mesh\"\nsizes = [4, 4]\nendpoints_per_router = 0",
            "endpoints_per_router: is 0",
        ),
        (
            "kind = \"mesh\"\nsizes = [4, 4]\nlinks_between_routers = [1]",
            "1 numbers for the 2 dimensions of 4 x 4",
        ),
        (
            "kind = \"hyperx\"\nsizes = [4, 4]\nlinks_between_routers = [1, 0]",
            "is 0",
        ),
        (
            "kind = \"hyperx\"\nsizes = [40000, 2]\nlinks_between_routers = [2, 1]",
            "would have 80000 ports",
        ),
        (
            "kind = \"torus\"\nsizes = [4096, 8192]",
            "33554432 endpoints",
        ),
        ("kind = \"kns\"\nk = 1\nn = 2", "lines of 1 nodes"),
        ("kind = \"kns\"\nk = 4\nn = 0", "0 dimensions"),
        (
            "kind = \"kns\"\nk = 12\nn = 2\ns = 2",
            "12 nodes cannot be joined by a fat tree of 2 stages",
        ),
        ("kind = \"kns\"\nk = 4\nn = 2\ns = 0", "s: is 0"),
        (
            "kind = \"torus\"\nsizes = [4, 4]\nz = { bandwidth = \"1 Gbps\", latency = \"1 ns\" }",
            "there is no dimension z",
        ),
        (
            "kind = \"kns\"\nk = 4\nn = 2\ninner = { bandwidth = \"1 Gbps\", latency = \"1 ns\" }",
            "a line of one switch has no links between switches",
        ),
    ];
    for (text, what) in rows {
        let error = try_network(text)
            .err()
            .unwrap_or_else(|| panic!("{text} is built"));
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn orders_and_channels_that_do_not_fit_are_refused() {
    let torus = network("kind = \"torus\"\nsizes = [3, 3]");
    let rows = [
        (
            "algorithm = \"dor\"\norder = \"xx\"",
            "\"xx\" is not an order of the dimensions x, y",
        ),
        (
            "algorithm = \"dor\"\norder = \"xyz\"",
            "\"xyz\" is not an order",
        ),
        ("algorithm = \"dor\"\nvcs = 3", "give a multiple of 2"),
        ("algorithm = \"dor\"\nvcs = 0", "give a multiple of 2"),
        ("algorithm = \"oblivious\"\nvcs = 2", "give a multiple of 4"),
        ("algorithm = \"oblivious\"\norders = []", "0 orders"),
        (
            "algorithm = \"source_adaptive\"\norders = [\"xy\", \"xy\"]",
            "orders.1: \"xy\" is given twice",
        ),
        (
            "algorithm = \"minimal_adaptive\"\nadaptive_vcs = 0",
            "0 adaptive virtual channels",
        ),
    ];
    for (text, what) in rows {
        let error = routing("torus", text, &torus)
            .err()
            .unwrap_or_else(|| panic!("{text} is built"));
        assert!(error.contains(what), "{text}: {error}");
    }
}

/// Every routing except routings that leave shortest routes on purpose.
#[test]
fn routes_are_minimal() {
    let networks = [
        ("torus", "sizes = [4, 3]"),
        ("torus", "sizes = [5, 2]\nlinks_between_routers = [2, 1]"),
        ("mesh", "sizes = [3, 4]"),
        ("hyperx", "sizes = [3, 3]\nlinks_between_routers = [2, 1]"),
        ("kns", "k = 3\nn = 2"),
        ("kns", "k = 4\nn = 2\ns = 2"),
    ];
    for (kind, sizes) in networks {
        let network = network(&format!("kind = \"{kind}\"\n{sizes}"));
        for variant in routing::variants()
            .iter()
            .filter(|variant| variant.is_for(kind))
        {
            if ["valiant", "ugal", "dal"].contains(&variant.name) {
                continue;
            }
            let text = format!("algorithm = \"{}\"", variant.name);
            let routing = routing(kind, &text, &network).expect("built");
            let mut walker = Walker::new(&*network, &*routing);
            for source in 0..network.endpoints() {
                for destination in 0..network.endpoints() {
                    let span = walker.walk(source, destination, false).expect("walked");
                    let minimal = network.minimal_routers(source, destination);
                    let expected = Span {
                        shortest: minimal,
                        longest: minimal,
                    };
                    assert_eq!(
                        span, expected,
                        "{text} on {sizes}: {source} to {destination}"
                    );
                }
            }
        }
    }
}

fn packets(data: &Data) -> &Packets {
    data.packets.as_ref().expect("packets are recorded")
}

/// One flow at little load, back and forth.
fn flow(topology: &str, algorithm: &str, ends: [i64; 2]) -> Data {
    let experiment = experiment(topology, algorithm)
        .traffic("fixed_pairs", 0.05)
        .with("endpoints", ends.to_vec())
        .with("injection", "periodic")
        .message("24 flits")
        .set("nic.acknowledge", false)
        .set("output.packets", true)
        .to_completion("20 us");
    run_plan(&experiment.plan()).expect("a good run").data
}

#[test]
fn a_lone_packet_takes_the_time_of_its_way() {
    // Links of 20 ns, routers.
    let rows = [
        // Two links in x and one in y.
        ("kind = \"torus\"\nsizes = [5, 4]", "dor", [0, 7], 3, 4),
        (
            "kind = \"torus\"\nsizes = [5, 4]",
            "minimal_adaptive",
            [0, 7],
            3,
            4,
        ),
        // Round the end: one link in x, one in y.
        (
            "kind = \"torus\"\nsizes = [5, 4]",
            "source_adaptive",
            [0, 19],
            2,
            3,
        ),
        (
            "kind = \"mesh\"\nsizes = [5, 4]",
            "oblivious",
            [0, 19],
            7,
            8,
        ),
        ("kind = \"hyperx\"\nsizes = [5, 4]", "dor", [0, 19], 2, 3),
        // NIC, switch, NIC, switch, NIC.
        ("kind = \"kns\"\nk = 4\nn = 2", "hybrid_dor", [0, 15], 4, 5),
        // Along one line; with trees of two stages from one half to the other.
        ("kind = \"kns\"\nk = 4\nn = 2", "oblivious", [0, 12], 2, 3),
        (
            "kind = \"kns\"\nk = 4\nn = 2\ns = 2",
            "hybrid_dor",
            [0, 3],
            4,
            5,
        ),
    ];
    for (topology, algorithm, ends, links, routers) in rows {
        let data = flow(topology, algorithm, ends);
        let packets = packets(&data);
        assert!(packets.source.len() > 30);
        for row in 0..packets.source.len() {
            let took = packets.delivered_ps[row] - packets.injected_ps[row];
            let expected = 2 * 5_000 + links * 20_000 + routers * 50_000 + 24_000;
            assert_eq!(took, expected, "{algorithm} on {topology}");
            assert_eq!(u64::from(packets.routers[row]), routers);
        }
    }
}

/// Packets by all links of a kind.
pub fn used(data: &Data, router: u32, kind: u8) -> u64 {
    let ports = &data.ports;
    let own = |&row: &usize| ports.kind[row] == LinkKind(kind) && ports.router[row] == router;
    (0..ports.router.len())
        .filter(own)
        .map(|row| ports.packets[row])
        .sum()
}

#[test]
fn oblivious_routing_takes_orders_in_turn() {
    for topology in [
        "kind = \"kns\"\nk = 4\nn = 2",
        "kind = \"mesh\"\nsizes = [4, 4]",
    ] {
        let data = flow(topology, "oblivious", [0, 15]);
        let (x, y) = (used(&data, 0, 1), used(&data, 0, 2));
        assert!(x.abs_diff(y) <= 1 && x > 10, "{x} by x and {y} by y");
        let data = flow(
            topology,
            if topology.contains("kns") {
                "hybrid_dor"
            } else {
                "dor"
            },
            [0, 15],
        );
        assert_eq!(used(&data, 0, 2), 0);
    }
}

/// Endpoint 0 sends to 15 at full rate, from corner to corner of 4 x 4.
/// So do 1 and 2 to 3, over the first row.
#[test]
fn source_adaptive_routing_leaves_the_longer_queue() {
    for topology in [
        "kind = \"kns\"\nk = 4\nn = 2",
        "kind = \"mesh\"\nsizes = [4, 4]",
    ] {
        let run = |algorithm: &str| {
            let experiment = experiment(topology, algorithm)
                .traffic("hotspot", 1.0)
                .with("endpoints", vec![1, 2, 3])
                .with("pattern.source_list", vec![1, 2])
                .with("pattern.destination_list", vec![3])
                .message("24 flits")
                .traffic("hotspot", 0.9)
                .with("endpoints", vec![0, 15])
                .with("pattern.source_list", vec![0])
                .with("pattern.destination_list", vec![15])
                .message("24 flits")
                .set("nic.acknowledge", false)
                .set("run.seed", 2)
                .until("40 us");
            run_plan(&experiment.plan()).expect("a good run").data
        };
        let data = run("source_adaptive");
        let (x, y) = (used(&data, 0, 1), used(&data, 0, 2));
        // The first row is congested: on the KNS the switch of the line waits for the NIC of 3. On
        // the mesh only what router 1 lets in is seen at router 0: 1.0 to 2.6 times over ten seeds.
        let times = if topology.contains("kns") { 8 } else { 2 };
        assert!(y > times * x, "{x} by x and {y} by y");
        let accepted = |data: &Data| data.jobs[1].totals.accepted_load;
        assert!(accepted(&data) > accepted(&run("oblivious")));
    }
}

#[test]
fn packets_that_have_to_wait_go_another_way() {
    let busy = |algorithm: &str| {
        let experiment = experiment("kind = \"torus\"\nsizes = [4, 4]", algorithm);
        let experiment = experiment.uniform(0.9).message("24 flits").until("30 us");
        run_plan(&experiment.plan()).expect("a good run").data.jobs[0]
            .totals
            .accepted_load
    };
    let (fixed, adaptive) = (busy("dor"), busy("minimal_adaptive"));
    assert!(adaptive > fixed, "{adaptive} after {fixed}");
}

/// Variants of routers.
pub const ROUTERS: [(&str, &str, &str); 4] = [
    ("voq_sw", "none", "round_robin"),
    ("voq_sw", "1 packets", "oldest"),
    ("single", "none", "first_come"),
    ("single", "1 packets", "round_robin"),
];

/// More load than the networks carry, in buffers of one packet, until everything has arrived.
#[test]
fn saturated_networks_deliver_everything() {
    let networks = [
        ("torus", "sizes = [5, 4]"),
        ("torus", "sizes = [4, 3]\nlinks_between_routers = [2, 1]"),
        ("kns", "k = 4\nn = 2"),
        ("hyperx", "sizes = [4, 3]"),
    ];
    for (kind, sizes) in networks {
        for variant in routing::variants()
            .iter()
            .filter(|variant| variant.is_for(kind))
        {
            for (queueing, queue, arbitration) in ROUTERS {
                let experiment = experiment(&format!("kind = \"{kind}\"\n{sizes}"), variant.name)
                    .smallest_buffers()
                    .uniform(1.2)
                    .message("24 flits")
                    .set("queueing.scheme", queueing)
                    .set("router.output_queue", queue)
                    .set("router.arbitration", arbitration)
                    .to_completion("3 us");
                let outcome = run_plan(&experiment.plan());
                let outcome = outcome.unwrap_or_else(|e| panic!("{e}\n{}", experiment.text()));
                let summary = outcome.data.summary;
                assert_eq!(summary.packets_delivered, summary.packets_injected);
                assert!(summary.packets_delivered > 100);
            }
        }
    }
}

#[test]
fn schemes_that_drop_packets_and_look_at_ports_do_not_mind_alternatives() {
    for (topology, algorithm) in [
        ("kind = \"torus\"\nsizes = [4, 3]", "minimal_adaptive"),
        ("kind = \"hyperx\"\nsizes = [3, 3]", "dal"),
    ] {
        for scheme in ["lhrp", "smsrp", "sst_cm", "ecn"] {
            let experiment = experiment(topology, algorithm)
                .smallest_buffers()
                .uniform(1.2)
                .message("24 flits")
                .set("congestion.scheme", scheme)
                .set("nic.acknowledge", true)
                .to_completion("4 us");
            let outcome = run_plan(&experiment.plan());
            let outcome = outcome.unwrap_or_else(|e| panic!("{e}\n{}", experiment.text()));
            let summary = outcome.data.summary;
            assert_eq!(summary.messages_received, summary.messages_generated);
        }
    }
}
