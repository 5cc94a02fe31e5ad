//! Claims that many seeds decide, or leave open.

use super::claims::{claim, table};

/// Ten of twenty seeds have 100 ns more than the mean and ten have 100 ns less, so its standard
/// error is 100 / sqrt(19) = 22.9 ns.
#[test]
fn the_mean_of_many_seeds_decides_if_it_is_clear() {
    let by_seed = |_: &str, routing: &str, _: f64, seed: u64| {
        let mean = if routing == "valiant" { 900.0 } else { 500.0 };
        Some(
            mean + if seed.is_multiple_of(2) {
                100.0
            } else {
                -100.0
            },
        )
    };
    let verdict = |seeds: u64, routings: &str, bound: &str| {
        let text = "metric = \"latency.message.mean\"\nwhere = { load = 0.1, routing = ";
        let study = claim(&format!("{text}{routings} }}\n{bound}"));
        study.verdicts(&table(&study, seeds, by_seed)).remove(0)
    };
    let holds = |routings: &str, bound: &str| verdict(20, routings, bound).holds;
    let par = |bound: &str| holds("\"par\"", bound);
    assert_eq!(par("max = \"524 ns\""), Some(true));
    assert_eq!(par("max = \"522 ns\""), None);
    assert_eq!(par("max = \"478 ns\""), None);
    assert_eq!(par("max = \"476 ns\""), Some(false));
    assert_eq!(par("min = \"476 ns\""), Some(true));
    assert_eq!(par("min = \"478 ns\""), None);
    // Another place that is outside for certain decides.
    let two = |bound: &str| holds("[\"par\", \"valiant\"]", bound);
    assert_eq!(two("max = \"522 ns\""), Some(false));
    assert_eq!(two("min = \"478 ns\""), None);
    // The place that leaves it open is named.
    let ends = |seeds: u64, words: &str| {
        let measured = verdict(seeds, "[\"valiant\", \"par\"]", "min = \"478 ns\"").measured;
        assert!(measured.ends_with(words), "{measured}");
    };
    ends(
        20,
        "nearer to the bound than its standard error at routing=par load=0.1",
    );
    ends(4, "seeds disagree at routing=par load=0.1");
}

/// As above: a step from a value with that standard error to one without any. Where the seeds move
/// both alike, every step is clear.
#[test]
fn the_mean_step_of_many_seeds_decides_if_it_is_clear() {
    let holds = |bound: &str, step: f64, alike: bool| {
        let by_seed = |_: &str, routing: &str, load: f64, seed: u64| {
            let even = seed.is_multiple_of(2);
            let far = if even { 100.0 } else { -100.0 };
            Some(match routing {
                // No order below is about it.
                "minimal" => 450.0 + 0.1 * far,
                _ if routing == "par" && load < 0.2 => 500.0 + far,
                _ => 500.0 + step + if alike { far } else { 0.0 },
            })
        };
        let study = claim(&format!("metric = \"latency.message.mean\"\n{bound}"));
        let verdict = study.verdicts(&table(&study, 20, by_seed)).remove(0);
        verdict.holds
    };
    let order = |slack: &str| {
        let values = "axis = \"routing\", values = [\"par\", \"valiant\"]";
        format!("where = {{ load = 0.1 }}\norder = {{ {values}{slack} }}")
    };
    let strict = |step: f64| holds(&order(""), step, false);
    assert_eq!(
        [24.0, 22.0, -22.0, -24.0].map(strict),
        [Some(true), None, None, Some(false)]
    );
    assert_eq!(holds(&order(""), 1.0, true), Some(true));
    assert_eq!(holds(&order(""), -1.0, true), Some(false));
    // A slack of a tenth forgives a step of 50 ns down.
    let slack = |step: f64| holds(&order(", slack = 0.1"), step, false);
    assert_eq!([-26.0, -49.0].map(slack), [Some(true), None]);
    // Along the loads the first step is such a one, and the others are flat.
    let falling = "where = { routing = \"par\" }\n\
                   monotone = { axis = \"load\", direction = \"falling\" }";
    assert_eq!(
        [-24.0, -22.0, 22.0, 24.0].map(|step| holds(falling, step, false)),
        [Some(true), None, None, Some(false)]
    );
}
