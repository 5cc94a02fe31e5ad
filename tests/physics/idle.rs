//! With its default parameters no congestion-control scheme slows down traffic without congestion
//! by more than docs/model/schemes.md says: lone flows between random endpoints, one after the
//! other, and pairs of neighbours at once, on every ready network (at length also on machines of
//! more than 20,000 endpoints).

use std::fs;

use crate::support::attack::at_length;
use crate::support::{Experiment, run_plan, topology};
use weir::catalog::catalog;
use weir::model::Time;
use weir::result::Data;

/// Flows, one after the other.
const FLOWS: u32 = 6;
/// Messages of each, one after the other: they are eager, so nothing else is exchanged for them.
const MESSAGES: u64 = 4;
/// Between the starts of two flows: all of one is over by then.
const APART_US: u32 = 500;

/// Endpoints of a machine that takes seconds to build.
const LARGE: u32 = 20_000;

/// The round trips that each scheme costs a message, and the share of its time, as the manual's
/// table says; None where it is the scheme's purpose.
fn documented(scheme: &str) -> Option<(f64, f64)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/model/schemes.md");
    let page = fs::read_to_string(page).expect("the page");
    let row = page
        .lines()
        .find(|line| line.starts_with(&format!("| `{scheme}` |")));
    let row = row.unwrap_or_else(|| panic!("docs/model/schemes.md says nothing of {scheme}"));
    let cell = |at: usize| row.split('|').nth(at)?.trim().parse().ok();
    Some((cell(2)?, cell(3)?))
}

/// A workload of tasks of which the first half sends messages to the second.
fn pairs(experiment: Experiment, tasks: i64) -> Experiment {
    let half = tasks / 2;
    let text = format!(
        "kind = \"script\"\nrounds = {MESSAGES}\nphases = [\
         {{ when = \"task < {half}\", send = [{{ to = \"task + {half}\", bytes = \"256 KiB\" }}] }}, \
         {{ when = \"task >= {half}\", receive = [{{ from = \"task - {half}\" }}] }}]"
    );
    let motif: toml::Table = text.parse().expect("TOML");
    experiment
        .job("script", tasks)
        .with("motif", motif)
        .with("mpi.rendezvous_from", "1 GB")
}

/// Lone flows, then pairs of neighbours, whose links no two of them share.
fn experiment(file: &str, routing: &str) -> Experiment {
    let table = format!("topology.file = \"{file}\"\nrouting.algorithm = \"{routing}\"");
    let mut experiment = Experiment::of(table.parse().expect("TOML"));
    for flow in 0..FLOWS {
        experiment = pairs(experiment, 2)
            .with("name", format!("flow-{flow}"))
            .with("placement", "random")
            .with("shared", true)
            .with("start", format!("{} us", flow * APART_US));
    }
    let neighbours: Vec<i64> = vec![0, 2, 4, 6, 1, 3, 5, 7];
    pairs(experiment, 8)
        .with("name", "pairs")
        .with("endpoints", neighbours)
        .with("shared", true)
        .with("start", format!("{} us", FLOWS * APART_US))
}

fn times(data: &Data) -> Vec<(String, Time)> {
    let time = |job: &weir::result::Job| {
        assert!(!job.is_cut_off(), "{}", job.name);
        let apart = Time::from(APART_US) * 1_000_000;
        let took = job.finish() - job.totals.start_ps;
        assert!(took < apart, "{} took {took} ps", job.name);
        (job.name.clone(), took)
    };
    data.jobs.iter().map(time).collect()
}

#[test]
fn no_scheme_slows_an_idle_network_by_more_than_the_manual_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/topologies");
    let files = fs::read_dir(folder).expect("ready networks");
    let mut names: Vec<String> = files
        .filter_map(|file| {
            let name = file.expect("reads").file_name().into_string().ok()?;
            Some(name.strip_suffix(".toml")?.to_string())
        })
        .collect();
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let text = fs::read_to_string(format!("{folder}/{name}.toml")).expect("a file");
        let endpoints = topology(&text).expect("a network").endpoints();
        if endpoints > LARGE && !at_length() {
            continue;
        }
        let table: toml::Table = text.parse().expect("TOML");
        let kind = table["kind"].as_str().expect("a kind");
        let routings = catalog().routings.variants;
        let mut own = routings.iter().filter(|routing| routing.is_for(kind));
        // The first is the plain one; Valiant's routes differ most in length.
        let first = own.next().expect("a routing").name;
        let detours = own.any(|routing| routing.name == "valiant");
        for routing in [Some(first), detours.then_some("valiant")]
            .into_iter()
            .flatten()
        {
            check(&experiment(&name, routing), &format!("{name}, {routing}"));
        }
    }
}

fn check(experiment: &Experiment, place: &str) {
    let plan = experiment.plan();
    let about = plan.network().about;
    let plain = run_plan(&plan).unwrap_or_else(|error| panic!("{place}: {error}"));
    let plain = times(&plain.data);
    for scheme in catalog().schemes.variants {
        // Large networks take long to build, and on detours packets of one flow meet, which is
        // congestion: there the scheme is tried whose defaults depend on the network.
        let only_window = about.endpoints > 1_100 || place.ends_with("valiant");
        if only_window && scheme.name != "window" {
            continue;
        }
        let Some((trips, share)) = documented(scheme.name) else {
            continue;
        };
        let own = experiment.clone().set("congestion.scheme", scheme.name);
        let own = match scheme.name {
            // Its flows are sent by rates.
            "saa" => own.set("nic.discipline", "ps"),
            _ => own,
        };
        // Half a percent for control packets, and since random routes of one flow may cross.
        let most = trips * MESSAGES as f64 * about.longest_trip as f64;
        for ((job, before), (_, after)) in plain.iter().zip(times(&own.run().data)) {
            let limit = *before as f64 * (1.005 + share) + most;
            assert!(
                after as f64 <= limit,
                "{place}: {} slows {job} from {before} to {after} ps, and {limit} are documented",
                scheme.name
            );
        }
    }
}

/// Packets that cross a router do not wait, however long that takes: in 600 ns a link of 800 Gb/s
/// takes 15 packets of 4 KiB.
#[test]
fn the_pipeline_of_a_router_is_no_queue() {
    let lone = |table: &str, [from, to]: [i64; 2]| {
        let text = format!("kind = \"hotspot\"\nsource_list = [{from}]\ndestination_list = [{to}]");
        let pattern: toml::Table = text.parse().expect("TOML");
        Experiment::of(table.parse().expect("TOML"))
            .traffic("hotspot", 1.5)
            .with("pattern", pattern)
            .message("64 KiB")
            .until("100 us")
    };
    let tree = "preset = \"tomahawk-5\"\nrouting.algorithm = \"random_up\"\n\
                topology = { kind = \"kary_ntree\", k = 4, n = 2, \
                terminal = { bandwidth = \"800 Gbps\", latency = \"20 ns\" }, \
                global = { bandwidth = \"800 Gbps\", latency = \"100 ns\" } }";
    let delivered = |scheme: &str| {
        let own = lone(tree, [12, 0]).set("congestion.scheme", scheme);
        own.run().data.summary.bytes_delivered as f64
    };
    let none = delivered("none");
    for scheme in ["ecn", "codes_cc", "lhrp", "ib_cca"] {
        let own = delivered(scheme);
        assert!(own > 0.98 * none, "{scheme}: {own} of {none} bytes");
    }
    let hops = |routing: &str| {
        let link = |latency| format!("{{ bandwidth = \"200 Gbps\", latency = \"{latency} ns\" }}");
        let table = format!(
            "preset = \"slingshot-11\"\nrouting.algorithm = \"{routing}\"\n\
             topology = {{ kind = \"dragonfly\", endpoints_per_router = 2, routers_per_group = 4, \
             global_links_per_router = 2, groups = 9, terminal = {near}, local = {near}, \
             global = {} }}",
            link(200),
            near = link(20)
        );
        let summary = lone(&table, [0, 71]).run().data.summary;
        summary.packet_hops as f64 / summary.packets_injected as f64
    };
    let minimal = hops("minimal");
    for routing in ["ugal", "par"] {
        let own = hops(routing);
        assert!(
            (own - minimal).abs() < 0.01,
            "{routing}: {own} and {minimal} routers"
        );
    }
}

/// Packets of 24 flits of 1 ns.
#[test]
fn thresholds_below_one_packet_and_waits_below_two_are_told() {
    for (scheme, key, low, high) in [
        ("ecn", "buffer", "23 flits", "24 flits"),
        ("codes_cc", "buffer", "23 flits", "24 flits"),
        ("lhrp", "threshold", "23 flits", "24 flits"),
        ("lhrp_srp", "threshold", "23 flits", "24 flits"),
        ("srp", "timeout", "47 ns", "48 ns"),
        ("smsrp", "timeout", "47 ns", "48 ns"),
    ] {
        let warnings = |value: &str| {
            let experiment = Experiment::dragonfly(2, 4, 2).uniform(0.1).until("1 us");
            let own = experiment
                .set("congestion.scheme", scheme)
                .set(&format!("congestion.{key}"), value);
            let own = match key {
                "buffer" => own.set("congestion.threshold", 1.0),
                _ => own,
            };
            let warnings = own.plan().warnings;
            warnings
                .into_iter()
                .filter(|one| one.kind == "throttles_idle")
                .count()
        };
        assert_eq!((warnings(low), warnings(high)), (1, 0), "{scheme}");
    }
}

#[test]
fn limits_below_what_an_idle_network_needs_are_told() {
    for (key, value, words) in [
        (
            "congestion.most",
            toml::Value::Integer(2),
            "fill its longest round trip",
        ),
        (
            "congestion.patience",
            toml::Value::Float(1.01),
            "is no congestion here",
        ),
    ] {
        let experiment = Experiment::dragonfly(2, 4, 2).uniform(0.1).until("1 us");
        let window = experiment.set("congestion.scheme", "window");
        let warnings = |experiment: &Experiment| experiment.plan().warnings;
        assert!(warnings(&window).is_empty(), "{:?}", warnings(&window));
        let own = warnings(&window.clone().set(key, value));
        assert_eq!(own.len(), 1, "{own:?}");
        assert_eq!(own[0].kind, "throttles_idle");
        assert!(own[0].text.contains(words), "{}", own[0].text);
    }
}
