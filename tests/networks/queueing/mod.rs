//! Queueing schemes: none can deadlock under any routing, and their effect on a flow that shares
//! links with a hot one.

mod bands;
mod nic_order;

use std::sync::Arc;

use crate::support::Experiment;
use weir::config::Section;
use weir::model::LinkKind;
use weir::queueing::refined::Refined;
use weir::queueing::{self, Divided, Joining, Queueing};
use weir::result::Packets;
use weir::routing::analysis::Walker;
use weir::routing::{self, Routing};
use weir::topology::{self, Topology};

/// A small network of every kind.
const NETWORKS: [&str; 14] = [
    "kind = \"slimfly\"\nq = 3\nendpoints_per_router = 1",
    "kind = \"cascade\"\ngroups = [{ count = 2, rows = 2, columns = 2, endpoints_per_router = 1 }]",
    "kind = \"dragonfly\"\nendpoints_per_router = 1\nrouters_per_group = 3\nglobal_links_per_router = 1\ngroups = 4",
    "kind = \"dragonfly\"\nendpoints_per_router = 2\nrouters_per_group = 2\nglobal_links_per_router = 2\ngroups = 3",
    "kind = \"kary_ntree\"\nk = 2\nn = 3",
    "kind = \"kary_ntree\"\nk = 3\nn = 2\nhorizontal_width = 1",
    "kind = \"folded_clos\"\nradix = 4\nlevels = 2",
    "kind = \"xgft\"\ndown = [3, 2]\nup = [2]\nparallel = [2]",
    "kind = \"torus\"\nsizes = [4, 3]",
    "kind = \"mesh\"\nsizes = [3, 3]",
    "kind = \"hyperx\"\nsizes = [3, 3]",
    "kind = \"megafly\"\nleaves = 1\nspines = 2\nendpoints_per_leaf = 2\n\
     global_links_per_spine = 1",
    "kind = \"graph\"\nlinks = \"from,to\\n0,1\\n1,2\\n2,3\\n3,0\\n0,2\"\nendpoints_per_router = 2",
    "kind = \"kns\"\nk = 3\nn = 2",
];

const LINKS: &str = "bandwidth = \"100 Gbps\", latency = \"10 ns\"";

/// The network of a text, which gets links of every kind that it can have.
fn network(text: &str) -> Arc<dyn Topology> {
    let grouped = ["dragonfly", "megafly", "cascade"];
    let kinds: &[&str] = match grouped.iter().any(|kind| text.contains(kind)) {
        true => &["terminal", "local", "global"],
        _ if text.contains("horizontal") => &["terminal", "global", "horizontal"],
        _ if text.contains("n = 3") => &["terminal", "local", "global"],
        _ if ["tree", "clos", "xgft"]
            .iter()
            .any(|kind| text.contains(kind)) =>
        {
            &["terminal", "global"]
        }
        false => &["terminal", "link"],
    };
    let links = kinds.iter().map(|kind| format!("\n{kind} = {{ {LINKS} }}"));
    let section = Section::from_toml(&format!("{text}{}", links.collect::<String>()));
    let section = section.expect("TOML");
    let entry = weir::registry::choose(&section, topology::REGISTRY).expect("a kind");
    (entry.build)(&section).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// A section that chooses a variant, with the parameters of an example.
fn section(key: &str, name: &str, example: &str) -> Section {
    let text = format!("example = {{ {key} = \"{name}\", {example} }}");
    let mut table: toml::Table = text.replace(", }", " }").parse().expect("TOML");
    let table = table.remove("example").expect("a table");
    Section::from_toml(&toml::to_string(&table).expect("TOML")).expect("TOML")
}

/// Sections of the routings that are made for a kind of network, by their names.
fn routings(kind: &str) -> Vec<(&'static str, Section)> {
    let all = routing::variants().into_iter();
    let sections = all.filter(|one| one.is_for(kind)).flat_map(|one| {
        // The first, and the examples that choose virtual networks otherwise.
        let some = one.examples.iter().enumerate();
        let some = some.filter(|(place, example)| *place == 0 || example.contains("choose_at"));
        some.map(move |(_, example)| (one.name, section("algorithm", one.name, example)))
    });
    sections.collect()
}

fn build(kind: &str, section: &Section, network: &Arc<dyn Topology>) -> Box<dyn Routing> {
    let entry = routing::find(kind, section.kind().expect("a name")).expect("an entry");
    let built = (entry.build)(section, network);
    built.unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// The queueing schemes that suit a network and its routing, by its name.
fn schemes(
    network: &Arc<dyn Topology>,
    routing: &dyn Routing,
) -> Vec<(&'static str, Box<dyn Queueing>)> {
    let divided = Divided {
        topology: network,
        routing,
    };
    let built = queueing::REGISTRY.iter().flat_map(|entry| {
        let built = entry.examples.iter().take(1).filter_map(|example| {
            let section = section("scheme", entry.name, example);
            match (entry.build)(&section, divided) {
                Ok(built) => Some((entry.name, built)),
                // Tests below cover the refusals and their reasons.
                Err(_) if made_for(entry.name).is_some() => None,
                Err(error) => panic!("{}", error.render(false)),
            }
        });
        built.collect::<Vec<_>>()
    });
    built.collect()
}

/// Schemes that are made for some networks and routings.
const SOME_NETWORKS: [(&str, &[&str]); 4] = [
    ("bbq", &["torus", "mesh", "hyperx", "kns"]),
    ("dbbq", &["torus", "mesh", "hyperx", "kns"]),
    ("flow2sl", &["kary_ntree", "folded_clos", "xgft"]),
    ("vftree", &["kary_ntree", "folded_clos", "xgft"]),
];

/// The kinds of network that a scheme is made for, if it is not for all.
fn made_for(scheme: &str) -> Option<&'static [&'static str]> {
    let mut some = SOME_NETWORKS.iter();
    Some(some.find(|(name, _)| *name == scheme)?.1)
}

#[test]
fn no_scheme_can_deadlock_under_any_routing() {
    let mut walked = std::collections::BTreeSet::new();
    let mut divided = std::collections::BTreeSet::new();
    for text in NETWORKS {
        let network = network(text);
        let kind = Section::from_toml(text).expect("TOML");
        let kind = kind.kind().expect("a kind");
        for (name, section) in routings(kind) {
            let routing = build(kind, &section, &network);
            for (scheme, queueing) in schemes(&network, &*routing) {
                // If a NIC chooses, routes are the same; one scheme follows the NIC's choice.
                if section.has("choose_at") && scheme != "dbbq" {
                    continue;
                }
                let routing = build(kind, &section, &network);
                let routing = match queueing.spread() {
                    None => routing,
                    Some(spread) => spread.over(routing, &network).expect("few channels"),
                };
                let kinds = (1..network.link_kinds().len() as u8).map(LinkKind);
                let queues = |kind| {
                    let vcs = routing.vcs(kind);
                    u32::from(vcs) * queueing.queues(kind, vcs)
                };
                if kinds.map(queues).max() > Some(255) {
                    // More than are walked.
                    continue;
                }
                let refined = Refined {
                    topology: &*network,
                    routing: &*routing,
                    queueing: &*queueing,
                };
                let mut walker = Walker::new(&*network, &refined);
                let context = format!("{scheme} under {name} on {}", network.describe());
                let walk = walker.walk_all();
                walk.unwrap_or_else(|fault| panic!("{context}: {fault}"));
                assert_eq!(walker.cycle(), None, "{context}");
                walked.insert((kind.to_string(), name));
                divided.insert((kind.to_string(), scheme));
            }
        }
    }
    for entry in topology::REGISTRY {
        for routing in routing::variants()
            .iter()
            .filter(|one| one.is_for(entry.name))
        {
            let pair = (entry.name.to_string(), routing.name);
            assert!(
                walked.contains(&pair),
                "{pair:?} is not walked: NETWORKS needs a small network"
            );
        }
        for scheme in queueing::REGISTRY {
            let pair = (entry.name.to_string(), scheme.name);
            let wanted = made_for(scheme.name).is_none_or(|some| some.contains(&entry.name));
            assert_eq!(divided.contains(&pair), wanted, "{pair:?}");
        }
    }
}

const US: u64 = 1_000_000;
const FROM: u64 = 10 * US;
const TO: u64 = 106 * US;
/// Packets of 24 flits that a link carries in that time.
const PACKETS: f64 = 4_000.0;

/// Two switches with 4 endpoints each and one link between them. Endpoint 0 of the one and 5 and 6
/// of the other send to 4 at full rate, and `victim` of the first switch to 7, at full rate, too.
fn hot_spot(victim: i64) -> Experiment {
    let network = Experiment::dragonfly(4, 1, 1)
        .set("router.speedup", "infinite")
        .set("nic.acknowledge", false)
        .set("output.packets", true)
        .until("110 us");
    let hot = network
        .traffic("hotspot", 1.0)
        .with("endpoints", vec![0, 5, 6, 4])
        .with("shared", true)
        .with("pattern.source_list", vec![0, 5, 6])
        .with("pattern.destination_list", vec![4])
        .with("injection", "periodic")
        .message("24 flits");
    hot.traffic("fixed_pairs", 1.0)
        .with("endpoints", vec![victim, 7])
        .with("shared", true)
        .with("injection", "periodic")
        .message("24 flits")
}

fn packets(experiment: &Experiment) -> Packets {
    experiment.run().data.packets.expect("packets are recorded")
}

/// Packets from `source` to `destination` after everything has settled, divided by the capacity of
/// a link.
fn share(packets: &Packets, source: u32, destination: u32) -> f64 {
    let rows = (0..packets.source.len())
        .filter(|&row| packets.source[row] == source && packets.destination[row] == destination)
        .filter(|&row| (FROM..TO).contains(&packets.delivered_ps[row]));
    rows.count() as f64 / PACKETS
}

/// The hot destination serves the link between the switches and endpoints 5 and 6 in turn: a third
/// each. So the hot packets take a third of the link. If they do not block the victim's packets,
/// the victim gets the other two thirds. If they do, the two take turns, and the victim gets a
/// third like the hot flow.
fn assert_shares(what: &str, queueing: &toml::Table, free: impl Fn(i64) -> bool) {
    for victim in [1, 0] {
        for queue in ["none", "16 packets"] {
            let experiment = hot_spot(victim)
                .set("queueing", queueing.clone())
                .set("router.output_queue", queue);
            let packets = packets(&experiment);
            let wanted = if free(victim) { 2.0 / 3.0 } else { 1.0 / 3.0 };
            let flows = [
                (0, 4, 1.0 / 3.0),
                (5, 4, 1.0 / 3.0),
                (6, 4, 1.0 / 3.0),
                (victim as u32, 7, wanted),
            ];
            for (source, destination, wanted) in flows {
                let found = share(&packets, source, destination);
                let off = (found - wanted).abs() * PACKETS;
                assert!(
                    off < 3.0,
                    "{what}, output queue {queue}, victim {victim}: {source} to {destination} gets \
                     {found}"
                );
            }
        }
    }
}

#[test]
fn a_queue_for_each_destination_gives_a_victim_all_that_is_left() {
    for scheme in ["single", "voq_sw", "voq_net"] {
        let queueing = format!("scheme = \"{scheme}\"").parse().expect("TOML");
        assert_shares(scheme, &queueing, |_| scheme == "voq_net");
    }
}

#[test]
fn queues_by_destination_modulo_their_number_do_so_where_that_differs() {
    for queues in 1..=7 {
        for by_output in [false, true] {
            let text = format!("scheme = \"dbbm\"\nqueues = {queues}\nvoq_sw = {by_output}");
            let free = 4 % queues != 7 % queues;
            assert_shares(&text, &text.parse().expect("TOML"), |_| free);
        }
    }
}

#[test]
fn queues_that_are_made_when_they_are_used_are_like_those_that_are_always_there() {
    // 16 queues of 2 virtual channels in two classes fit a word, 100 do not. With 100 by
    // destination, 16 are used.
    let tree = || Experiment::tree(4, 2).routing("adaptive_up");
    let dragonfly = || Experiment::dragonfly(1, 3, 1).routing("ugal");
    for (network, arbitration) in [
        (tree(), "round_robin"),
        (tree(), "oldest"),
        (dragonfly(), "first_come"),
    ] {
        for (queue, vcs) in [("none", 1), ("2 packets", 2)] {
            let common = network
                .clone()
                .hotspot(3, 2, 0.6)
                .with("endpoints.count", 6)
                .with("endpoints.placement", "random")
                .uniform(0.9)
                .with("endpoints", "rest")
                .set("output.packets", true)
                .set("router.arbitration", arbitration)
                .set("router.output_queue", queue)
                .set("nic.injection_vcs", vcs)
                .until("15 us");
            let few = common.clone().set("queueing.scheme", "voq_net");
            let many = common
                .set("queueing.scheme", "dbbm")
                .set("queueing.queues", 100);
            let (few, many) = (packets(&few), packets(&many));
            assert!(few.source.len() > 2_000, "{}", few.source.len());
            assert!(few == many, "{arbitration}, {queue}, {}", network.text());
        }
    }
}

/// The other end of the queues that a port may have: all there are, counted from the last one.
struct FromTheLast;

impl Queueing for FromTheLast {
    fn queues(&self, _: LinkKind, vcs: u8) -> u32 {
        (1 << 15) / u32::from(vcs)
    }

    fn queue(&self, packet: &Joining) -> u32 {
        self.queues(packet.kind, packet.vcs) - 1 - packet.destination
    }

    fn by_output(&self) -> bool {
        false
    }
}

#[test]
fn all_queues_that_a_port_may_have_can_be_used() {
    // 32,768 of each of two classes. The run ends when everything has arrived and every credit is
    // home, which it checks.
    let experiment = Experiment::dragonfly(2, 2, 1)
        .routing("par")
        .hotspot(3, 1, 0.9)
        .with("endpoints.count", 4)
        .with("endpoints.placement", "random")
        .with("stop", "10 us")
        .uniform(0.9)
        .with("endpoints", "rest")
        .to_completion("10 us");
    let outcome = experiment
        .own_queueing(|_, _| Ok(Box::new(FromTheLast)))
        .run();
    assert!(outcome.data.summary.packets_delivered > 1_000);
}

#[test]
fn queues_cost_no_memory_before_they_are_used() {
    let expected = |queues: i64| {
        let experiment = Experiment::dragonfly(2, 4, 2)
            .set("queueing.scheme", "dbbm")
            .set("queueing.queues", queues);
        experiment.uniform(0.5).plan().expected_state()
    };
    assert_eq!(expected(100), expected(8_000));
}

/// Error of an experiment.
fn refusal(experiment: &Experiment) -> String {
    match experiment.try_plan() {
        Ok(_) => panic!("accepted:\n{}", experiment.text()),
        Err(error) => {
            let text = error.render(false);
            text.split_whitespace()
                .filter(|word| *word != "\u{2502}")
                .collect::<Vec<_>>()
                .join(" ")
        }
    }
}

#[test]
fn virtual_channels_that_make_no_sense_are_refused() {
    let vcs = |network: Experiment, count: i64| {
        network
            .uniform(0.5)
            .set("queueing.scheme", "vcs")
            .set("queueing.count", count)
    };
    // The dragonfly's routing has three on its local links.
    let dragonfly = || Experiment::dragonfly(2, 4, 2).set("routing.algorithm", "valiant");
    for (experiment, says) in [
        (
            vcs(Experiment::tree(2, 2), 0),
            "queueing.count: 0 virtual channels",
        ),
        (
            vcs(Experiment::tree(2, 2), 65),
            "write a number from 1 to 64",
        ),
    ] {
        let found = refusal(&experiment);
        assert!(found.contains(says), "{says:?} is not in\n{found}");
    }
    vcs(Experiment::tree(2, 2), 64).plan();
    vcs(dragonfly(), 5).plan();
}

#[test]
fn queues_that_make_no_sense_are_refused() {
    let dbbm = |queues: i64| {
        Experiment::tree(2, 2)
            .uniform(0.5)
            .set("queueing.scheme", "dbbm")
            .set("queueing.queues", queues)
    };
    let size = |queues, size: &str| dbbm(queues).set("router.input_buffer", size);
    let shared = |queues| dbbm(queues).set("router.buffer_per", "port");
    let large = Experiment::tree(2, 17)
        .uniform(0.5)
        .set("queueing.scheme", "voq_net");
    for (experiment, says) in [
        (dbbm(0), "queueing.queues: 0 queues of a virtual channel"),
        (dbbm(65_537), "write a number from 1 to 65536"),
        (
            dbbm(32_769),
            "1 virtual channels of 32769 queues in 2 traffic classes are 65538 queues at a port",
        ),
        (
            size(5, "100 flits"),
            "100 flits in 5 queues (queueing.scheme) are 20 flits for each",
        ),
        (size(5, "119 flits"), "write at least \"120 flits\""),
        (shared(2), "router.buffer_per: the 2 queues"),
        (
            large,
            "queueing.scheme: a queue for each of 131072 endpoints",
        ),
    ] {
        let found = refusal(&experiment);
        assert!(found.contains(says), "{says:?} is not in\n{found}");
    }
    for good in [
        dbbm(32_768),
        size(5, "120 flits"),
        shared(1),
        size(4, "100 flits"),
    ] {
        good.plan();
    }
}
