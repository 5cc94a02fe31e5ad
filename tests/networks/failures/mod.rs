//! Links that differ from their kind: time and rate on them by arithmetic, the drawn links, and
//! what a run, a result and `weir check` say of them.

mod answers;
mod by_chance;
mod down;
mod permutation;
mod refused;
mod routes;
mod schemes;

use std::collections::BTreeSet;

use weir::failures::FailureConfig;
use weir::model::LinkKind;
use weir::result::{ChangedLinks, Data};
use weir::topology::Peer;

use crate::physics::rates::{flow, measured, rate, run};
use crate::physics::time::{lone, one_message};
use crate::support::{Cli, Experiment};

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

/// Adds sections `[[failure]]`, given as TOML.
pub fn failing(network: &Experiment, failures: &str) -> Experiment {
    let mut table: toml::Table = failures.parse().expect(failures);
    network
        .clone()
        .set("failure", table.remove("failure").expect("failures"))
}

/// One failure, given as an inline table.
fn with(network: &Experiment, failure: &str) -> Experiment {
    failing(network, &format!("failure = [{failure}]"))
}

/// Groups of 4 routers with 2 endpoints each; global links of 100 ns, of which one joins routers 0
/// and 4.
fn dragonfly() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
}

/// The ways in which routers pass packets on.
fn routers(network: &Experiment) -> Vec<Experiment> {
    let queues = ["16 packets", "unlimited", "none"];
    let queues = queues.map(|queue| network.clone().set("router.output_queue", queue));
    let single = network.clone().set("queueing.scheme", "single");
    let crossing = network.clone().set("router.credit_at", "crossing");
    let slow = network.clone().set("router.speedup", 1.0);
    queues.into_iter().chain([single, crossing, slow]).collect()
}

/// The network latency of a lone packet of 24 flits, ns.
fn latency(network: &Experiment, source: i64, destination: i64) -> u64 {
    let packets = lone(&one_message(network.clone(), source, destination, 24)).packets;
    assert_eq!((packets.len(), packets[0] % NS), (1, 0));
    packets[0] / NS
}

/// A quarter of the rate and a microsecond more.
const SLOW: &str = "bandwidth = 0.25, added_latency = \"1 us\"";

#[test]
fn a_lone_packet_takes_the_time_of_the_changed_links() {
    let torus = crate::networks::direct::experiment(
        "kind = \"torus\"\nsizes = [6, 4]\nendpoints_per_router = 2",
        "dor",
    )
    .until("20 us");
    let cases = [
        // Two local links, the global one, and four routers of 10 ns.
        (
            dragonfly(),
            "{ links = [{ routers = [0, 4] }]",
            (2, 10, 190),
            1,
        ),
        // To the top and down again: two global links.
        (
            Experiment::tree(2, 3),
            "{ links = \"global\", share = 1.0",
            (0, 4, 200),
            2,
        ),
        // To the neighbour in x, with routers of 50 ns.
        (torus, "{ links = [{ routers = [1, 0] }]", (0, 2, 130), 1),
    ];
    for (network, links, (source, destination, head), changed) in cases {
        for network in routers(&network) {
            assert_eq!(latency(&network, source, destination), head + 24);
            let slow = with(&network, &format!("{links}, {SLOW} }}"));
            // The slowest link sets the time of the flits: 4 ns for each.
            let expected = head + changed * 1_000 + 4 * 24;
            let found = latency(&slow, source, destination);
            assert_eq!(found, expected, "{}", slow.text());
            let rate = with(&network, &format!("{links}, bandwidth = \"25 Gbps\" }}"));
            assert_eq!(latency(&rate, source, destination), head + 4 * 24);
            // A router that stores packets takes the time of the flits on each link: two terminal
            // links and, in the tree, two local ones are as built.
            let stores = slow.set("router.switching", "store_and_forward");
            let links = if head == 130 { 3 } else { 5 } + u64::from(head == 200);
            let expected = head + changed * (1_000 + 3 * 24) + links * 24;
            let found = latency(&stores, source, destination);
            assert_eq!(found, expected, "{}", stores.text());
        }
    }
}

#[test]
fn one_direction_alone() {
    // Named by the router that sends, by its port, and by an endpoint.
    let port = dragonfly().uniform(0.1).plan();
    let topology = &port.network().topology;
    let leads = |port: &u16| matches!(topology.peer(0, *port), Peer::Router(4, _));
    let port = (0..topology.ports(0)).find(leads).expect("a link");
    for (link, endpoints) in [
        ("{ routers = [0, 4] }".to_string(), (2, 10)),
        (format!("{{ router = 0, port = {port} }}"), (2, 10)),
        ("{ endpoint = 2 }".to_string(), (2, 10)),
        // What router 1 sends by its port 0, to endpoint 2.
        ("{ router = 1, port = 0 }".to_string(), (10, 2)),
    ] {
        let (there, back) = endpoints;
        let both = with(&dragonfly(), &format!("{{ links = [{link}], {SLOW} }}"));
        assert_eq!(latency(&both, there, back), 190 + 1_000 + 96, "{link}");
        assert_eq!(latency(&both, back, there), 190 + 1_000 + 96, "{link}");
        let out = format!("{{ links = [{link}], direction = \"out\", {SLOW} }}");
        let out = with(&dragonfly(), &out);
        assert_eq!(latency(&out, there, back), 190 + 1_000 + 96, "{link}");
        assert_eq!(latency(&out, back, there), 190 + 24, "{link}");
    }
}

#[test]
fn a_stream_moves_at_the_rate_of_the_slow_direction() {
    let network = measured(dragonfly().latencies("5 ns", "20 ns", "100 ns"));
    let out = "{ links = [{ routers = [0, 4] }], direction = \"out\", bandwidth = \"25 Gbps\" }";
    for network in routers(&with(&network, out)) {
        for (source, destination, expected) in [(2, 10, 0.25), (10, 2, 1.0)] {
            let packets = run(&flow(network.clone(), source, destination, 1.0).until("40 us"));
            // 24 us: a whole number of packets of 96 ns, and of 24 ns.
            let found = rate(&packets, None, 15 * US, 39 * US);
            assert_eq!(found, expected, "{}", network.text());
        }
    }
}

#[test]
fn buffers_stay_as_they_were_built() {
    // The buffer behind a link of 1 us: 2 d = 2,000 flits, 1 flit and two packets of 24, which
    // holds 85 packets. A place is free again when the packet has come and its credit is back.
    let network = measured(dragonfly().latencies("5 ns", "20 ns", "1 us"));
    let packets = (2_000 + 1 + 2 * 24) / 24;
    for (direction, both, bandwidth, flit) in [
        ("both", 2, "1.0", 1),
        ("out", 1, "1.0", 1),
        ("both", 2, "0.5", 2),
    ] {
        let failure = format!(
            "{{ links = [{{ routers = [0, 4] }}], direction = \"{direction}\", \
             bandwidth = {bandwidth}, added_latency = \"5 us\" }}"
        );
        let long = flow(with(&network, &failure), 2, 10, 1.0);
        let round_trip = 2 * 1_000 + both * 5_000 + 24 * flit;
        // It repeats every round trip.
        let span = 6 * round_trip * NS;
        let got = rate(&run(&long), None, 25 * US, 25 * US + span) * span as f64 / NS as f64;
        assert_eq!(got.round(), (6 * packets * 24) as f64, "{}", long.text());
        let plan = long.plan();
        let warned = plan
            .warnings
            .iter()
            .find(|one| one.kind == "credit_limited");
        let text = &warned.expect("a warning").text;
        let share = 100.0 * (packets * 24 * flit) as f64 / round_trip as f64;
        assert!(text.contains(&format!("{share:.0}%")), "{share}: {text}");
    }
    // Half the rate alone needs fewer places, not more.
    let slow = with(
        &network,
        "{ links = [{ routers = [0, 4] }], bandwidth = 0.5 }",
    );
    let slow = flow(slow, 2, 10, 1.0);
    assert!(slow.plan().warnings.is_empty());
    let packets = run(&slow.until("40 us"));
    assert_eq!(rate(&packets, None, 15 * US, 39 * US), 0.5);
}

/// The table of the links that differ.
fn changed(experiment: &Experiment) -> ChangedLinks {
    let data = experiment.clone().uniform(0.1).until("1 us").run().data;
    data.failures.expect("links that differ")
}

#[test]
fn the_result_names_the_links() {
    let failures = "
        [[failure]]
        links = [{ routers = [4, 0] }, { endpoint = 3 }]
        bandwidth = \"10 Gbps\"
        [[failure]]
        links = [{ router = 7, port = 0 }]
        direction = \"out\"
        added_latency = \"1 us\"
    ";
    let experiment = failing(&dragonfly(), failures);
    let table = changed(&experiment);
    let ports = experiment.uniform(0.1).until("1 us").run().data.ports;
    // The ports of the link, as the table of ports has them.
    let port = |from: u32, to: i32| {
        let rows = 0..ports.router.len();
        let row = rows
            .clone()
            .find(|&row| (ports.router[row], ports.peer_router[row]) == (from, to));
        ports.port[row.expect("a port")]
    };
    assert_eq!(table.router, [0, 1, 1, 4, 7]);
    assert_eq!(table.port, [port(0, 4), 1, 1, port(4, 0), 0]);
    assert_eq!(table.nic, [0, 0, 1, 0, 0]);
    assert_eq!(table.kind, [2, 0, 0, 2, 0].map(LinkKind));
    assert_eq!(table.failure, [0, 0, 0, 0, 1]);
    let gbps = |rates: [u64; 5]| rates.map(|rate| rate * 1_000_000_000);
    assert_eq!(table.bandwidth, gbps([10, 10, 10, 10, 100]));
    assert_eq!(table.built_bandwidth, gbps([100; 5]));
    assert_eq!(table.latency_ps, [100, 5, 5, 100, 1_005].map(|ns| ns * NS));
    assert_eq!(table.added_latency_ps, [0, 0, 0, 0, 1_000 * NS]);
    let without = dragonfly().uniform(0.1).until("1 us").run().data;
    assert!(without.failures.is_none());
}

/// The links that a failure of global links draws, by the places of both ends.
fn drawn(keys: &str, seed: i64) -> BTreeSet<(u32, u16)> {
    let failure = format!("{{ links = \"global\", bandwidth = 0.5, {keys} }}");
    let table = changed(&with(&dragonfly(), &failure).set("run.seed", seed));
    assert!(table.kind.iter().all(|kind| *kind == LinkKind(2)));
    let ends = table.router.iter().copied().zip(table.port.iter().copied());
    ends.collect()
}

#[test]
fn links_are_drawn_by_their_seed() {
    // There are 9 groups with one link between each two: 36.
    assert_eq!(drawn("count = 36", 1).len(), 72);
    let four = drawn("count = 4, seed = 7", 1);
    assert_eq!(four.len(), 8);
    assert_eq!(
        four,
        drawn("count = 4, seed = 7", 2),
        "the run's seed does not matter"
    );
    assert_ne!(four, drawn("count = 4, seed = 8", 1));
    assert_ne!(drawn("count = 4", 1), drawn("count = 4", 2), "it does here");
    assert!(drawn("count = 9, seed = 7", 1).is_superset(&four));
    // 0.05 of 36 is 1.8.
    assert_eq!(drawn("share = 0.05", 1).len(), 2 * 2);
    let plan = with(
        &dragonfly(),
        "{ links = \"fabric\", bandwidth = 0.5, count = 0 }",
    );
    let data = plan.uniform(0.1).until("1 us").run().data;
    assert!(data.failures.is_none());
}

#[test]
fn every_link_is_drawn_as_often_as_any_other() {
    let plan = dragonfly().uniform(0.1).plan();
    let topology = plan.network().topology.as_ref();
    let failure: FailureConfig =
        toml::from_str("links = \"global\"\ncount = 6\nbandwidth = 0.5").expect("a failure");
    let mut times = std::collections::BTreeMap::<_, u32>::new();
    for seed in 0..3_000 {
        let found =
            weir::failures::choose(std::slice::from_ref(&failure), topology, seed).expect("links");
        found
            .iter()
            .for_each(|(from, _)| *times.entry(from).or_default() += 1);
    }
    // Of 3,000 times, 500 with a standard deviation of sqrt(3,000 · 1/6 · 5/6) = 20.4: five of it.
    assert_eq!(times.len(), 72);
    assert!(
        times.values().all(|&times| times.abs_diff(500) < 102),
        "{times:?}"
    );
}

#[test]
fn links_are_drawn_among_those_that_nothing_else_changes() {
    let failures = "
        [[failure]]
        links = \"global\"
        count = 20
        bandwidth = 0.5
        [[failure]]
        links = \"global\"
        count = 15
        bandwidth = 0.25
        [[failure]]
        links = [{ routers = [0, 4] }]
        bandwidth = 0.1
    ";
    let table = changed(&failing(&dragonfly(), failures));
    let count = |number| table.failure.iter().filter(|one| **one == number).count();
    assert_eq!([0, 1, 2].map(count), [40, 30, 2]);
}

#[test]
fn a_slow_link_is_busy_for_its_own_time() {
    let slow = with(
        &dragonfly(),
        "{ links = [{ routers = [0, 4] }], bandwidth = 0.25 }",
    );
    let run = one_message(slow, 2, 10, 2_400).set("output.flows", true);
    let Data { ports, phases, .. } = run.run().data;
    let row = (0..ports.router.len())
        .find(|&row| (ports.router[row], ports.peer_router[row]) == (0, 4))
        .expect("the port");
    assert_eq!(ports.busy_ps[row], 4 * 2_400 * NS);
    // The least time of the flow is that on its slowest link.
    assert_eq!(phases.expect("phases").optimum_ps, [4 * 2_400 * NS]);
}

#[test]
fn check_says_what_is_degraded_and_expects_less() {
    let pair = dragonfly()
        .traffic("fixed_pairs", 1.0)
        .with("endpoints", vec![2, 10])
        .set("nic.acknowledge", false);
    let failures = "
        [[failure]]
        links = [{ endpoint = 10 }]
        bandwidth = 0.25
        [[failure]]
        links = \"fabric\"
        share = 0.5
        bandwidth = 0.5
        seed = 3
    ";
    let check = |experiment: &Experiment| {
        let ran = Cli::check(&experiment.text()).arg("--json").go();
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        json
    };
    let slow = failing(&pair, failures);
    let (built, failed) = (check(&pair), check(&slow));
    assert_eq!(built["failed_links"], serde_json::json!({}));
    let counts = failed["failed_links"].as_object().expect("kinds");
    assert_eq!(counts["terminal"], 1);
    // 9 groups of 6 local links, and 36 global ones.
    let drawn = counts["local"].as_u64().zip(counts["global"].as_u64());
    assert_eq!(
        drawn.map(|(local, global)| local + global),
        Some((54 + 36) / 2)
    );
    // The receiver's link carries a quarter.
    let hops = |json: &serde_json::Value| json["packet_hops"].as_f64().expect("a number");
    let ratio = hops(&failed) / hops(&built);
    assert!((ratio - 0.25).abs() < 1e-4, "{ratio}");
    let text = Cli::check(&slow.text()).go().stdout;
    let (local, global) = drawn.expect("both");
    let line = format!("# degraded   1 terminal, {local} local, {global} global links");
    assert!(text.contains(&line), "{text}");
    let sender = with(&pair, "{ links = [{ endpoint = 2 }], bandwidth = 0.5 }");
    let ratio = hops(&check(&sender)) / hops(&built);
    assert!((ratio - 0.5).abs() < 1e-4, "{ratio}");
}
