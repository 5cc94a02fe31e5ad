//! Random experiments over the whole catalog give the same bits on any number of ranks, forget
//! nothing, and end with an exit code that says what happened.
//!
//! Each case is made from a seed that is printed: `WEIR_ATTACK_SEED=S` runs that case again,
//! `WEIR_ATTACK_CASES=N` runs N cases.

pub mod draw;
mod experiments;
use std::collections::BTreeSet;

use crate::support::{Experiment, Ran, attack, run_on, same};
use experiments::experiment;
use weir::catalog::catalog;
use weir::config;
use weir::result::read;
use weir::simulation::RunError;

/// Cases without being asked for more. Each takes two seconds on two cores.
const CASES: u32 = 8;
/// Besides one process.
const RANKS: [u32; 3] = [2, 3, 5];

#[test]
fn random_experiments_end_well_and_the_same_on_any_number_of_ranks() {
    let again = std::env::var_os("WEIR_ATTACK_SEED").is_some();
    let (first, cases) = (attack::seed(), attack::cases(if again { 1 } else { CASES }));
    if again {
        println!("{}", experiment(first).text());
    }
    let mut failed = Vec::new();
    for case in 0..cases {
        let seed = first.wrapping_add(u64::from(case));
        // A long attack continues.
        if std::panic::catch_unwind(|| one_case(seed)).is_err() {
            failed.push(seed);
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {cases} cases failed, of the seeds {failed:?}",
        failed.len()
    );
}

fn one_case(seed: u64) {
    let experiment = experiment(seed);
    let shows = || format!("WEIR_ATTACK_SEED={seed}\n{}", experiment.text());
    let plan = experiment.plan();
    let alone = experiment.cli().go();
    ended_well(&alone, &experiment, &shows());
    if alone.code == Some(0) {
        nothing_is_forgotten(&alone, &experiment, &shows());
    }
    let domains = plan.network().topology.domains();
    // For observers of a long attack: tells if it has anything to attack.
    let summary = read(&alone.result()).map(|stored| stored.digest.summary);
    let summary = summary.unwrap_or_default();
    println!(
        "WEIR_ATTACK_SEED={seed}: exit code {:?}, {domains} domains, {} messages of which {} are \
         missing in {} ns",
        alone.code,
        summary.messages_generated,
        summary.messages_generated - summary.messages_received,
        summary.simulated_ps / 1_000
    );
    if plan.blueprint.schedule.interleaving.is_some() {
        // Signals that are faster than the lookahead cannot cross between ranks.
        return;
    }
    // Ranks are threads here: tests/same_results/same_bits.rs starts some by mpirun.
    let [one, shared] = [vec![1], RANKS.to_vec()].map(|ranks| {
        let ranks = ranks.into_iter().filter(|&ranks| ranks <= domains);
        ranks.map(|ranks| run_on(ranks, &plan)).collect::<Vec<_>>()
    });
    let code = |end: &Result<_, RunError>| end.as_ref().map_or_else(RunError::exit_code, |_| 0);
    for end in one.iter().chain(&shared) {
        assert_eq!(Some(i32::from(code(end))), alone.code, "{}", shows());
    }
    for other in shared.iter().flatten() {
        assert!(
            one[0].as_ref().is_ok_and(|one| same(one, other)),
            "{}",
            shows()
        );
    }
}

/// It reached its end; or packets wait for each other if one buffer is all that several virtual
/// channels have.
fn ended_well(ran: &Ran, experiment: &Experiment, shows: &str) {
    let shared = config::BufferPer::Port;
    let may_stall = experiment.checked().router.buffer_per == shared;
    match ran.code {
        Some(0) => {}
        Some(4) if may_stall => {
            assert!(ran.stderr.contains("deadlocked"), "{}\n{shows}", ran.stderr)
        }
        code => panic!("exit code {code:?}\n{}\n{shows}", ran.stderr),
    }
}

/// Everything measured from the beginning to the end is generated and received or missing, sent and
/// delivered, dropped or missing.
fn nothing_is_forgotten(ran: &Ran, experiment: &Experiment, shows: &str) {
    let stored = read(&ran.result()).unwrap_or_else(|error| panic!("{error}\n{shows}"));
    let run = experiment.checked().run;
    if run.warmup.0 > 0 || run.measure.is_some() {
        return;
    }
    let summary = &stored.digest.summary;
    let [messages, packets] = ["message", "network"].map(|class| {
        let stats = stored.digest.class(class);
        stats.unwrap_or_else(|| panic!("no {class}\n{shows}"))
    });
    assert_eq!(messages.all(), summary.messages_generated, "{shows}");
    assert_eq!(messages.samples, summary.messages_received, "{shows}");
    let result = weir::result::ResultFile::open(&ran.result()).expect("a result");
    let sent = result
        .number("data/scheme", "packets_data")
        .expect("a result");
    let sent = sent.expect("a counter") as u64;
    assert_eq!(packets.all() + summary.packets_dropped, sent, "{shows}");
}

#[test]
fn everything_in_the_catalog_is_drawn() {
    let catalog = catalog();
    let mut missing: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut routings: BTreeSet<(&str, &str)> = BTreeSet::new();
    for topology in &catalog.topologies.variants {
        let own = catalog.routings_of(topology.name);
        routings.extend(own.map(|routing| (topology.name, routing.name)));
    }
    let others = catalog.families().into_iter();
    // Traces are files, which chance does not write.
    let elsewhere = [catalog.routings.name, catalog.traces.name];
    for family in others.filter(|family| !elsewhere.contains(&family.name)) {
        missing.extend(
            family
                .variants
                .iter()
                .map(|variant| (family.name, variant.name)),
        );
    }
    for seed in 0..3_000 {
        let drawn = experiment(seed).checked();
        let mut found = |family, section: &config::Section| {
            let name = section.kind().expect("checked").to_string();
            missing.retain(|&(own, variant)| own != family || variant != name);
        };
        found("topologies", &drawn.topology);
        found("queueing", &drawn.queueing);
        found("schemes", &drawn.congestion);
        for workload in &drawn.workloads {
            match &workload.drive {
                config::DriveConfig::Pattern(pattern) => found("patterns", &pattern.pattern),
                config::DriveConfig::Motif(job) => found("motifs", job.program.section()),
            }
        }
        let drawn = (drawn.topology.variant.name, drawn.routing.variant.name);
        routings.retain(|&pair| pair != drawn);
        if missing.is_empty() && routings.is_empty() {
            return;
        }
    }
    panic!("never drawn: {missing:?} {routings:?}");
}
