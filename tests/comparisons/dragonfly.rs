//! The dragonfly of 1,056 endpoints against independent flit-level simulators: BookSim2's curves in
//! `tests/reference/dragonfly1056_{min,ugal}_uniform_p4.csv`, and the small one in
//! `tests/reference/flit/src/dragonfly/`. The whole comparison, and why the last rows differ:
//! docs/results/reference-dragonfly.md.

use std::path::Path;

use crate::support::run_plan;
use weir::catalog::catalog;
use weir::config::Experiment;
use weir::result::Data;
use weir::simulation::Plan;
use weir_flit::dragonfly::{self as flit, Details, Traffic, Way};

/// The ready experiment and BookSim's curve with each routing.
fn of(way: Way) -> (&'static str, &'static str) {
    match way {
        Way::Minimal => (
            "jobs/reference/booksim-dragonfly1056.toml",
            include_str!("../reference/dragonfly1056_min_uniform_p4.csv"),
        ),
        Way::Ugal => (
            "jobs/reference/booksim-dragonfly1056-ugal.toml",
            include_str!("../reference/dragonfly1056_ugal_uniform_p4.csv"),
        ),
    }
}

/// The ready experiment with some keys set.
fn weir(way: Way, sets: &[&str]) -> Data {
    let (job, _) = of(way);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join(job)).expect(job);
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let experiment = Experiment::from_text(job, &text, folder, &sets, &catalog())
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    let plan =
        Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    run_plan(&plan).expect("a good end").data
}

/// Mean packet latency with and without the time in the source, ns, and accepted load.
fn weir_at(way: Way, load: f64) -> [f64; 3] {
    means(&weir(way, &[&format!("workload.0.load={load}")]))
}

/// The same if packets on one virtual channel follow each other at once: the mean over five seeds.
fn at_once(way: Way, load: f64) -> [f64; 3] {
    let load = format!("workload.0.load={load}");
    let mut sum = [0.0; 3];
    for seed in 1..=5 {
        let seed = format!("run.seed={seed}");
        let found = means(&weir(way, &[&load, "router.vc_allocation=\"0 ns\"", &seed]));
        sum.iter_mut()
            .zip(found)
            .for_each(|(sum, found)| *sum += found / 5.0);
    }
    sum
}

fn means(data: &Data) -> [f64; 3] {
    let mean = |class: &str| {
        let found = data.latency.iter().find(|(name, _)| name == class);
        found.expect("a class").1.arrived.mean() / 1e3
    };
    [mean("message"), mean("network"), data.summary.accepted_load]
}

/// The same of the reference curve.
fn booksim_at(way: Way, load: f64) -> [f64; 3] {
    let (_, curve) = of(way);
    booksim(curve, load)
}

/// The same of a curve of BookSim2.
pub fn booksim(curve: &str, load: f64) -> [f64; 3] {
    let mut lines = curve
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("names");
    let number = |row: &[&str], name: &str| -> f64 {
        let column = names.iter().position(|&other| other == name);
        row[column.expect("a column")].parse().expect("a number")
    };
    let row = lines
        .find(|row| number(row, "offered_flits_per_node_cycle") == load)
        .expect("a row");
    ["pkt_lat_avg", "net_lat_avg", "accepted_avg"].map(|name| number(&row, name))
}

fn flits_at(way: Way, load: f64, details: Details, traffic: Traffic) -> [f64; 3] {
    let flit::Measured {
        packet_latency,
        network_latency,
        accepted,
    } = flit::Network::new(load, 1, details, way, traffic).run();
    [packet_latency, network_latency, accepted]
}

/// Each within a fraction of the other.
pub fn check(what: &str, got: [f64; 3], expected: [f64; 3], most: f64) {
    println!("{what}: {got:.4?}, expected {expected:.4?}");
    for (got, expected) in got.into_iter().zip(expected) {
        let off = got / expected - 1.0;
        assert!(off.abs() < most, "{what}: {got}, expected {expected}");
    }
}

#[test]
fn the_curve_of_booksim() {
    for load in [0.1, 0.5, 0.8] {
        check(
            &format!("load {load}"),
            weir_at(Way::Minimal, load),
            booksim_at(Way::Minimal, load),
            0.02,
        );
    }
}

#[test]
fn the_curve_of_booksim_with_ugal() {
    for (load, most) in [(0.2, 0.01), (0.5, 0.015), (0.8, 0.04)] {
        check(
            &format!("load {load}"),
            weir_at(Way::Ugal, load),
            booksim_at(Way::Ugal, load),
            most,
        );
    }
}

/// Every group sends to the next one, which one link joins it to: 1/32 of the load goes that way.
#[test]
fn adversarial_traffic_with_ugal() {
    let all = Details {
        gap: true,
        interleave: true,
    };
    let pattern = "workload.0.pattern={ kind = \"worst_case\" }";
    let data = weir(Way::Ugal, &[pattern, "workload.0.load=0.1"]);
    let flits = flits_at(Way::Ugal, 0.1, all, Traffic::Adversarial);
    check("adversarial, load 0.1", means(&data), flits, 0.02);
}

#[test]
fn packets_that_wait_for_nothing_take_booksims_zero_load_time() {
    let data = weir(
        Way::Minimal,
        &[
            "workload.0.load=0.01",
            "output.packets=true",
            "run.warmup=\"0 ns\"",
        ],
    );
    let rows = data.packets.expect("packets are recorded");
    let mut exact = [0u32; 5];
    for row in 0..rows.source.len() {
        let (routers, flits) = (u64::from(rows.routers[row]), u64::from(rows.flits[row]));
        let groups = [rows.source[row], rows.destination[row]].map(|endpoint| endpoint / 32);
        // A global link if the groups differ; the other links between routers are local.
        let globals = u64::from(groups[0] != groups[1]);
        let links = 100 * globals + 10 * (routers - 1 - globals);
        // Their law: T0 = 3 + R H + the links between the routers + P - 1, with R = 2 cycles.
        let law = (3 + 2 * routers + links + flits - 1) * 1_000;
        let taken = rows.delivered_ps[row] - rows.injected_ps[row];
        assert!(taken >= law, "{taken} ps over {routers} routers");
        exact[routers as usize] += u32::from(taken == law);
    }
    // Most packets meet no other one at this load; some of them on every kind of route.
    let all = rows.source.len() as f64;
    assert!(
        f64::from(exact.iter().sum::<u32>()) > 0.9 * all,
        "{exact:?}"
    );
    assert!(exact[1..].iter().all(|&count| count > 0), "{exact:?}");
}

#[test]
fn what_a_packet_level_model_leaves_out() {
    let all = Details {
        gap: true,
        interleave: true,
    };
    let whole = Details {
        interleave: false,
        ..all
    };
    let none = Details {
        gap: false,
        ..whole
    };
    // Under UGAL a window of 750 cycles near saturation, of one seed in BookSim, is less sure: its
    // README says 3%.
    let cases = [
        (Way::Minimal, 0.8, 0.01),
        (Way::Minimal, 0.9, 0.01),
        (Way::Ugal, 0.8, 0.02),
    ];
    for (way, load, bound) in cases {
        // With the details of BookSim's router the small simulator is BookSim.
        check(
            &format!("flits, load {load}"),
            flits_at(way, load, all, Traffic::Uniform),
            booksim_at(way, load),
            bound,
        );
        // Without those below the packet it is weir, also near saturation, with time to allocate
        // virtual channels or without.
        for (what, got, details) in [
            ("packets", weir_at(way, load), whole),
            ("packets at once", at_once(way, load), none),
        ] {
            let flits = flits_at(way, load, details, Traffic::Uniform);
            check(&format!("{what}, load {load}"), got, flits, 0.02);
        }
    }
}
