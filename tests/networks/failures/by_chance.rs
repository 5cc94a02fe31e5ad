//! Failures by chance in all experiments: nothing is lost without being counted, no event is out of
//! order, and the bits are the same on two ranks.

use crate::same_results::fingerprints::files;
use crate::support::{Experiment, assert_same, run_on, run_plan};
use crate::variants::attack::draw::Draw;

use super::failing;

/// Experiments that are run.
const CASES: u64 = 24;

/// Failures of links or routers, from the start, later, or for a while.
fn failure(draw: &mut Draw) -> String {
    let what = draw.one(&[
        "links = \"fabric\"\nshare = 0.05",
        "links = \"fabric\"\nshare = 0.2",
        "links = \"all\"\ncount = 1",
        "routers = \"all\"\ncount = 1",
    ]);
    let effect = draw.one(&[
        "down = true",
        "down = true",
        "down = true",
        "bandwidth = 0.3",
        "bit_error_rate = 1e-6",
    ]);
    let time = draw.one(&[
        "",
        "at = \"1 us\"",
        "at = \"1 us\"\nuntil = \"3 us\"",
        "until = \"2 us\"",
    ]);
    let more = match effect.starts_with("down") && time.starts_with("at") {
        true => draw.one(&["", "rerouted_after = \"300 ns\"", "packets = \"drained\""]),
        false => "",
    };
    format!("[[failure]]\n{what}\n{effect}\n{time}\n{more}\n")
}

/// Runs an experiment with failures, if it can have them: some share a link, some routings cannot
/// go around.
fn survives(experiment: &Experiment, failures: &str) -> bool {
    let experiment = failing(experiment, failures);
    let Ok(plan) = experiment.try_plan() else {
        return false;
    };
    let text = experiment.text();
    let alone = run_plan(&plan).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let windows = plan.blueprint.schedule.interleaving.is_none();
    if windows && plan.network().topology.domains() > 1 {
        let shared = run_on(2, &plan).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_same(&shared, &alone.data, &format!("2 ranks differ in\n{text}"));
    }
    true
}

#[test]
fn every_experiment_survives_failures() {
    let files = files();
    let mut ran = 0;
    for seed in 0..CASES {
        let mut draw = Draw::new(seed);
        let text = std::fs::read_to_string(&files[draw.below(files.len())]).expect("a file");
        let experiment = Experiment::of(text.parse().expect("TOML"));
        let failures: Vec<String> = (0..=draw.below(2)).map(|_| failure(&mut draw)).collect();
        ran += u64::from(survives(&experiment, &failures.concat()));
    }
    assert!(
        ran > CASES / 2,
        "{ran} of {CASES} experiments could have failures"
    );
}
