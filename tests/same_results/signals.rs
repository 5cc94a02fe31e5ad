//! Out-of-band signals of schemes: the time when they take effect, the order in which domains
//! receive them, and their effect.

use crate::support::{Experiment, difference, run_plan};
use weir::engine::Interleaving;
use weir::result::Data;

/// Many endpoints send to one, others at random.
fn incast(scheme: &str) -> Experiment {
    storm(scheme, 0.9)
}

fn storm(scheme: &str, load: f64) -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .set("congestion.scheme", scheme)
        // Packets under way when control begins find room at the last router.
        .set("router.input_buffer", "4000 flits")
        .hotspot(40, 1, load)
        .with("name", "storm")
        .with("endpoints.count", 41)
        .with("endpoints.placement", "random")
        .message("24 flits")
        .uniform(0.3)
        .with("name", "others")
        .with("endpoints", "rest")
        .message("24 flits")
        .until("60 us")
}

fn codes(latency: &str) -> Experiment {
    incast("codes_cc")
        .set("congestion.latency", latency)
        .set("congestion.period", "2 us")
}

/// Counter of a scheme.
fn counted(data: &Data, name: &str) -> u64 {
    let counters = data.scheme.counters.iter();
    let mut found = counters.filter(|(counter, _)| counter == name);
    found
        .next()
        .unwrap_or_else(|| panic!("no counter {name}"))
        .1
}

/// The windows of domains that run alone, and the global order of time, give the same.
#[test]
fn the_global_order_of_time_gives_the_same_as_windows() {
    for (scheme, experiment) in [("codes_cc", codes("100 ns")), ("sst_cm", incast("sst_cm"))] {
        let plan = experiment.plan();
        assert_eq!(plan.blueprint.schedule.interleaving, None, "{scheme}");
        let windows = run_plan(&plan).unwrap();
        let mut plan = experiment.plan();
        // Signals that cross to another domain take 100 ns at least.
        plan.blueprint.schedule.interleaving = Some(Interleaving {
            delay: 100_000,
            reaction: 5_000,
        });
        let ordered = run_plan(&plan).unwrap();
        assert!(windows.data.summary.packets_delivered > 5_000);
        let signals = windows.data.scheme.counters.iter();
        let signals = signals.filter(|(name, _)| !name.starts_with("packets_"));
        assert!(signals.map(|(_, n)| n).sum::<u64>() > 0, "{scheme}");
        assert!(windows.data == ordered.data, "{scheme} differs");
    }
}

#[test]
fn signals_that_take_no_time_need_one_rank() {
    let ran = codes("0 ns").cli().ranks(2).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for part in [
        "codes_cc take 0 ns",
        "2 ranks",
        "congestion.latency = \"100 ns\"",
    ] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    // On one rank the same bits each time, with MPI or without.
    let alone = codes("0 ns").cli().succeeds();
    let mpi = codes("0 ns").cli().ranks(1).succeeds();
    assert_eq!(difference(&alone, &mpi), "");
}

/// The sources of the storm throttle to the capacity of one endpoint; other traffic gets its load
/// through.
#[test]
fn an_incast_is_brought_down_to_the_link_of_its_endpoint() {
    let of = |data: &Data, name: &str| {
        let job = data.jobs.iter().find(|job| job.name == name).unwrap();
        let latency = data.latency.iter();
        let mut latency = latency.filter(|(class, _)| *class == format!("job.{name}.network"));
        (
            job.totals.accepted_load,
            latency.next().unwrap().1.arrived.mean(),
        )
    };
    let measured = |experiment: Experiment| {
        let experiment = experiment.set("run.warmup", "20 us");
        experiment.run().data
    };
    let without = measured(incast("none"));
    let quiet = measured(storm("none", 0.01));
    let (_, undisturbed) = of(&quiet, "others");
    let (_, hurt) = of(&without, "others");
    assert!(
        hurt > 2.0 * undisturbed,
        "the storm does not hurt: {hurt} {undisturbed}"
    );
    let storm = ["codes_cc", "sst_cm"].map(|scheme| match scheme {
        "codes_cc" => codes("0 ns"),
        _ => incast(scheme),
    });
    for (scheme, experiment) in ["codes_cc", "sst_cm"].into_iter().zip(storm) {
        let data = measured(experiment);
        let (accepted, _) = of(&data, "storm");
        // The bounds are not derived: most of the link, and a quarter of the harm.
        assert!(
            accepted > 0.85,
            "{scheme}: the endpoint starves: {accepted}"
        );
        let (_, latency) = of(&data, "others");
        assert!(
            latency < undisturbed + 0.25 * (hurt - undisturbed),
            "{scheme}: {latency}, {undisturbed} without the storm, {hurt} without control"
        );
        let begun = ["ports_congested", "incasts_begun"];
        let begun = begun[usize::from(scheme == "sst_cm")];
        assert!(counted(&data, begun) > 0, "{scheme}");
    }
}

/// The allowed rates of sources are recorded: the sources of the storm are throttled, and not
/// before it begins.
#[test]
fn the_rates_of_an_incast_fall() {
    let experiment = codes("100 ns")
        .set("output.rates.interval", "500 ns")
        .set("output.rates.tasks.storm", vec![3, 17])
        .set("output.rates.tasks.others", vec![0]);
    let rates = experiment.run().data.rates.expect("rates");
    let of =
        |place: usize| -> Vec<f64> { rates.share.iter().skip(place).step_by(3).copied().collect() };
    // By the names of the workloads.
    assert_eq!(rates.job[..3], [1, 0, 0]);
    for place in [1, 2] {
        let shares = of(place);
        assert_eq!(shares[0], 1.0);
        let least = shares.iter().copied().fold(1.0, f64::min);
        assert!((0.01..0.2).contains(&least), "task {place}: {least}");
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(mean(&of(0)) > mean(&of(1)));
}
