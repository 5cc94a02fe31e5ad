//! Tests of every variant in the catalog.
//!
//! Each variant runs with each of the parameters that its entry gives as an example. It delivers
//! everything exactly once (the program counts), gives the same bits on several ranks and when it
//! continues from a saved state, and does what it is for.

mod patterns;

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::support::attack::{at_length, cases};
use crate::support::{Experiment, assert_same, resume_on, run_counting, run_saving};
use toml::{Table, Value};
use weir::catalog::catalog;
use weir::input::Section;
use weir::registry::Variant;
use weir::result::Data;
use weir::simulation::RunError;
use weir::topology::graph::Graph;
use weir::topology::tree::Tree;

/// The tables of a variant's examples, with its name.
pub fn examples<F>(key: &str, variant: &Variant<F>) -> Vec<Value> {
    let parse = |text: &&str| -> Value {
        let parsed = toml::from_str::<Table>(&format!("example = {{ {text} }}"));
        let mut parsed = parsed.unwrap_or_else(|error| panic!("{}: {text}: {error}", variant.name));
        let mut table = parsed.remove("example").expect("a table");
        let keys = table.as_table_mut().expect("a table");
        keys.insert(key.into(), variant.name.into());
        table
    };
    variant.examples.iter().map(parse).collect()
}

/// An experiment of these sections.
fn experiment(sections: &[(&str, &Value)]) -> Experiment {
    let sections = sections
        .iter()
        .map(|&(name, table)| (name.to_string(), table.clone()));
    Experiment::of(sections.collect())
}

/// The section of an example.
fn section(example: &Value) -> Section {
    let text = toml::to_string(example).expect("TOML");
    Section::from_toml(&text).expect("TOML")
}

/// Every example of a network with every example of every routing that is made for it, unless the
/// routing is for other networks of that kind only.
pub fn networks() -> Vec<Experiment> {
    let catalog = catalog();
    let mut all = Vec::new();
    for variant in &catalog.topologies.variants {
        let topologies = examples("kind", variant);
        for routing in catalog.routings_of(variant.name) {
            for example in examples("algorithm", routing) {
                let suits = |topology: &&Value| {
                    let network = (variant.build)(&section(topology)).expect("a network");
                    (routing.build)(&section(&example), &network).is_ok()
                };
                let before = all.len();
                all.extend(
                    topologies.iter().filter(suits).map(|topology| {
                        experiment(&[("topology", topology), ("routing", &example)])
                    }),
                );
                let name = (routing.name, variant.name);
                assert!(all.len() > before, "{name:?}: {example} suits no example");
            }
        }
    }
    all
}

/// The first example of each topology, with the first routing for it.
pub fn first_networks() -> Vec<Experiment> {
    let catalog = catalog();
    let variants = catalog.topologies.variants.iter();
    let first = |topology: Variant| {
        let mut routings = catalog.routings.variants.iter();
        let routing = routings.find(|routing| routing.is_for(topology.name));
        let routing = &examples("algorithm", routing.expect("a routing"))[0];
        experiment(&[
            ("topology", &examples("kind", &topology)[0]),
            ("routing", routing),
        ])
    };
    variants.map(Variant::described).map(first).collect()
}

/// The same for what does not ask for the topology: of topologies that are one type to the program
/// (trees, graphs) one by turns. At length (`WEIR_ATTACK_CASES`) all of them.
pub fn first_networks_by_turns(turn: usize) -> Vec<Experiment> {
    let all = first_networks();
    if at_length() {
        return all;
    }
    let (mut trees, mut graphs, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for experiment in all {
        let topology = experiment.clone().uniform(0.1).until("1 us").plan();
        let topology = &topology.network().topology;
        if topology.as_a::<Tree>().is_some() {
            trees.push(experiment);
        } else if topology.as_a::<Graph>().is_some() {
            graphs.push(experiment);
        } else {
            others.push(experiment);
        }
    }
    assert!(trees.len() > 1 && graphs.len() > 1);
    let of = |some: &[Experiment]| some[turn % some.len()].clone();
    others.extend([of(&trees), of(&graphs)]);
    others
}

/// A hot spot beside uniform traffic of all others, more than the network carries, until then.
pub fn crowded(network: Experiment, until: &str) -> Experiment {
    network
        .hotspot(7, 1, 0.9)
        .with("endpoints.count", 8)
        .with("endpoints.placement", "random")
        .message("60 flits")
        .with("stop", until)
        .uniform(0.9)
        .with("endpoints", "rest")
        .message("10 flits")
        .to_completion(until)
}

/// With links that are slower and longer, in both directions and in one.
pub fn failing(network: Experiment) -> Experiment {
    let failures = "
        [[failure]]
        links = \"fabric\"
        share = 0.2
        bandwidth = 0.3
        added_latency = \"137 ns\"
        [[failure]]
        links = [{ endpoint = 1 }]
        direction = \"out\"
        bandwidth = \"7 Gbps\"
    ";
    let mut failures: Table = failures.parse().expect("TOML");
    network.set("failure", failures.remove("failure").expect("failures"))
}

/// Runs in one process and on two ranks of two threads, which save the state somewhere in between;
/// goes on from there on three ranks and on three threads. Returns the data, which are the same.
pub fn everywhere(experiment: &Experiment) -> Data {
    let (plan, text) = (experiment.plan(), experiment.text());
    fn good<T>(result: Result<T, RunError>, text: &str) -> T {
        result.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let seed = hasher.finish();
    // Signals that take no time are for one rank.
    let domains = plan.network().partition.domains();
    let most = plan.blueprint.schedule.interleaving.map_or(domains, |_| 1);
    let (alone, places) = good(run_counting(&plan), &text);
    for case in 0..u64::from(cases(1)) {
        let seed = seed.wrapping_add(case);
        let (shared, kept) = good(run_saving((2.min(most), 2), &plan, places, seed), &text);
        let what = format!("two ranks of two threads differ from one process in\n{text}");
        assert_same(&shared, &alone, &what);
        for split in [(3.min(most), 1), (1, 3)] {
            let resumed = good(resume_on(split, &plan, &kept), &text);
            let when = kept.until();
            let what = format!("gone on from {when} ps on {split:?} ranks and threads");
            println!("{what}");
            assert_same(
                &resumed,
                &alone,
                &format!("{what}, the run differs in\n{text}"),
            );
        }
    }
    alone
}

#[test]
fn every_entry_has_an_example_and_every_topology_several_domains() {
    for family in catalog().families() {
        for variant in &family.variants {
            assert!(!variant.examples.is_empty(), "{}", variant.name);
        }
    }
    for network in networks() {
        let plan = network.uniform(0.1).until("1 us").plan();
        let topology = &plan.network().topology;
        assert!(topology.domains() >= 3, "{}", topology.describe());
    }
}

#[test]
fn the_front_page_names_every_network_routing_queueing_and_scheme() {
    let page = include_str!("../../../README.md");
    let shown = ["topologies", "routings", "queueing", "schemes"];
    let families = catalog().families().into_iter();
    let families = families.filter(|family| shown.contains(&family.name));
    let variants = families.flat_map(|family| family.variants);
    let mut names = Vec::from_iter(variants.map(|variant| variant.name));
    assert!(names.len() > 30, "{names:?}");
    let tables = page.lines().filter(|line| line.starts_with("| `"));
    let tables = tables.collect::<Vec<_>>().join("\n");
    names.retain(|name| !tables.contains(&format!("`{name}`")));
    assert!(names.is_empty(), "README.md has tables without {names:?}");
}

#[test]
fn every_routing_on_every_topology() {
    for network in networks() {
        let data = everywhere(&crowded(network, "1500 ns").set("queueing.scheme", "single"));
        assert!(data.summary.messages_received > 1_000);
    }
}

#[test]
fn every_routing_goes_on_over_failures() {
    for network in networks() {
        let data = everywhere(&crowded(failing(network), "1500 ns"));
        assert!(data.summary.messages_received > 1_000);
        assert!(data.failures.is_some());
    }
}

#[test]
fn every_queueing_on_every_topology() {
    for variant in &catalog().queueing.variants {
        for example in examples("scheme", variant) {
            let mut ran = 0;
            for network in first_networks() {
                // Queues of their own for many destinations are small.
                let crowded = crowded(network, "1500 ns").set("queueing", example.clone());
                // Some are for trees, some for networks of several dimensions:
                // tests/networks/queueing/mod.rs says which.
                if crowded.try_plan().is_ok() {
                    everywhere(&crowded);
                    ran += 1;
                }
            }
            assert!(ran >= 2, "{example} runs on {ran} networks");
        }
    }
}

/// Actions of routers and NICs that do not occur without a scheme.
fn acted(data: &Data) -> u64 {
    let plain = |name: &str| ["packets_data", "packets_ack"].contains(&name);
    let own = data.scheme.counters.iter();
    own.filter(|(name, _)| !plain(name))
        .map(|(_, count)| count)
        .sum()
}

#[test]
fn every_scheme_acts_on_every_topology_and_loses_nothing() {
    let mut turn = 0;
    for variant in &catalog().schemes.variants {
        for example in examples("scheme", variant) {
            turn += 1;
            for network in first_networks_by_turns(turn) {
                let topology = network.text();
                // With this seed there is enough to act on, in 4 us, for each of them.
                let network = network
                    .set("congestion", example.clone())
                    .set("run.seed", 3);
                let data = everywhere(&crowded(network, "4 us"));
                let acts = variant.name != "none";
                let scheme = &data.scheme;
                assert_eq!(
                    acted(&data) > 0,
                    acts,
                    "{example} on {topology}: {scheme:?}"
                );
            }
        }
    }
}

#[test]
fn every_scheme_leaves_applications_what_they_send() {
    let sent = |example: &Value| {
        let network = Experiment::dragonfly(2, 4, 2).set("congestion", example.clone());
        let data = everywhere(&network.applications());
        let jobs = data.jobs.iter();
        jobs.map(|job| (job.name.clone(), job.totals.bytes_delivered))
            .collect::<Vec<_>>()
    };
    let mut plain = Table::new();
    plain.insert("scheme".into(), "none".into());
    let plain = sent(&Value::Table(plain));
    assert!(plain.iter().all(|&(_, bytes)| bytes > 0), "{plain:?}");
    for variant in &catalog().schemes.variants {
        for example in examples("scheme", variant) {
            assert_eq!(sent(&example), plain, "{example}");
        }
    }
}

#[test]
fn every_pattern_sends() {
    for variant in &catalog().patterns.variants {
        for example in examples("kind", variant) {
            let network = |count: i64| {
                Experiment::dragonfly(2, 4, 2)
                    .traffic("uniform", 0.5)
                    .with("pattern", example.clone())
                    .with("endpoints.count", count)
                    .with("endpoints.placement", "linear")
                    .to_completion("1 us")
            };
            // Some want a power of two, and some of four.
            let experiment = [72, 64].map(network).into_iter();
            let mut good = experiment.filter(|experiment| experiment.try_plan().is_ok());
            let experiment = good.next().unwrap_or_else(|| panic!("{example}"));
            let data = everywhere(&experiment);
            assert!(data.summary.messages_received > 100, "{example}");
        }
    }
}

#[test]
fn every_motif_communicates() {
    for variant in &catalog().motifs.variants {
        for example in examples("kind", variant) {
            let job = |tasks: i64| {
                Experiment::dragonfly(2, 4, 2)
                    .job(variant.name, tasks)
                    .with("motif", example.clone())
                    .with("placement", "random")
            };
            let mut good = [18, 16, 9, 8, 7, 2]
                .map(job)
                .into_iter()
                .filter(|experiment| experiment.try_plan().is_ok());
            let experiment = good.next();
            let experiment =
                experiment.unwrap_or_else(|| panic!("no such number of tasks is good: {example}"));
            let data = everywhere(&experiment);
            assert!(data.summary.messages_received > 1, "{example}");
        }
    }
}
