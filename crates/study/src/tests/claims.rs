//! Claims on a table whose every number is known.

use super::{AXES, study, study_with};
use crate::{Count, Options, Row, Study, Table, Verdict};

/// A table of `study` whose numbers are a function of metric, routing, load and seed; None for a
/// point that failed.
pub(super) fn table(
    study: &Study,
    seeds: u64,
    number: impl Fn(&str, &str, f64, u64) -> Option<f64>,
) -> Table {
    let metrics = study.metrics();
    let mut rows = Vec::new();
    for routing in 0..3 {
        for load in 0..4 {
            for seed in 1..=seeds {
                let at = vec![routing, load];
                let labels = [0, 1].map(|axis| &study.axes[axis].values[at[axis]]);
                let one =
                    |name: &str| number(name, &labels[0].label, labels[1].number.unwrap(), seed);
                let values: Vec<Option<f64>> =
                    metrics.iter().map(|metric| one(metric.name())).collect();
                let failed = values.iter().all(Option::is_none);
                rows.push(Row {
                    point: rows.len(),
                    hash: String::new(),
                    at,
                    seed,
                    state: if failed { "failed" } else { "done" }.into(),
                    values,
                    few: false,
                });
            }
        }
    }
    Table { metrics, rows }
}

/// Accepted load: minimal and par up to 0.8, valiant up to 0.3. Latency in ns: 100 plus 1000 times
/// the load, twice that with valiant.
fn numbers(metric: &str, routing: &str, load: f64, _seed: u64) -> Option<f64> {
    let valiant = routing == "valiant";
    Some(match metric {
        "summary.offered_load" => load,
        "summary.accepted_load" => load.min(if valiant { 0.3 } else { 0.8 }),
        "latency.message.mean" => (100.0 + 1000.0 * load) * if valiant { 2.0 } else { 1.0 },
        "latency.message.p99" => 5000.0,
        other => panic!("{other} is not in this table"),
    })
}

pub(super) fn claim(text: &str) -> Study {
    study(&format!(
        "{AXES}\n[[claims]]\nid = \"c\"\nsays = \"…\"\n{text}\n"
    ))
}

fn verdict(text: &str) -> Verdict {
    let study = claim(text);
    study.verdicts(&table(&study, 1, numbers)).remove(0)
}

fn assert_measured(text: &str, measured: &str, bound: &str, holds: bool) {
    let verdict = verdict(text);
    assert_eq!(
        (
            verdict.measured.as_str(),
            verdict.bound.as_str(),
            verdict.holds == Some(true)
        ),
        (measured, bound, holds),
        "{text}"
    );
}

#[test]
fn bounds_hold_at_every_place() {
    let one = "metric = \"latency.message.mean\"\nwhere = { routing = \"par\", load = 0.4 }\n";
    assert_measured(
        &format!("{one}max = \"500 ns\""),
        "500 ns",
        "at most 500 ns",
        true,
    );
    assert_measured(
        &format!("{one}max = \"0.4 us\""),
        "500 ns",
        "at most 400 ns",
        false,
    );
    assert_measured(
        &format!("{one}min = \"0.1 us\"\nmax = \"1 us\""),
        "500 ns",
        "100 to 1000 ns",
        true,
    );
    let all =
        "metric = \"latency.message.mean\"\nwhere = { routing = [\"minimal\", \"valiant\"] }\n";
    assert_measured(
        &format!("{all}min = \"200 ns\""),
        "200 to 1800 ns (8 places)",
        "at least 200 ns",
        true,
    );
    assert_measured(
        &format!("{all}max = \"12 ms\""),
        "200 to 1800 ns (8 places)",
        "at most 12 ms",
        true,
    );
    assert_measured(
        &format!("{all}max = \"1 us\""),
        "200 to 1800 ns (8 places; 1800 ns at routing=valiant load=0.8)",
        "at most 1000 ns",
        false,
    );
    // Of several places beyond a bound the farthest is named.
    let most = "200 to 1800 ns (8 places; 1800 ns at routing=valiant load=0.8)";
    let claim = format!("{all}max = \"250 ns\"");
    assert_measured(&claim, most, "at most 250 ns", false);
    let least = "200 to 1800 ns (8 places; 200 ns at routing=minimal load=0.1)";
    let claim = format!("{all}min = \"700 ns\"");
    assert_measured(&claim, least, "at least 700 ns", false);
    let two = all.replace("] }", "], load = 0.2 }");
    assert_measured(
        &format!("{two}max = \"12 ms\""),
        "300 to 600 ns (2 places; 300 ns at routing=minimal load=0.2)",
        "at most 12 ms",
        true,
    );
}

#[test]
fn a_ratio_is_taken_with_the_same_point_but_for_some_axes() {
    let metric = "metric = \"latency.message.mean\"\n";
    let valiant = format!(
        "{metric}where = {{ routing = \"valiant\" }}\nratio = {{ where = {{ routing = \"par\" }} }}\n"
    );
    assert_measured(
        &format!("{valiant}min = 2\nmax = 2"),
        "2 to 2 (4 places)",
        "2 to 2",
        true,
    );
    assert_measured(
        &format!("{valiant}within = 0.5"),
        "2 to 2 (4 places; 2 at routing=valiant load=0.1)",
        "0.5 to 1.5",
        false,
    );
    let zero_load = format!(
        "{metric}where = {{ routing = \"par\", load = 0.8 }}\nratio = {{ where = {{ load = 0.1 }} }}\n"
    );
    assert_measured(&format!("{zero_load}max = 4.5"), "4.5", "at most 4.5", true);
    let metrics = "metric = \"summary.accepted_load\"\nwhere = { load = 0.8 }\nratio = { metric = \"summary.offered_load\" }\n";
    assert_measured(
        &format!("{metrics}min = 0.9"),
        "0.375 to 1 (3 places; 0.375 at routing=valiant load=0.8)",
        "at least 0.9",
        false,
    );
    let difference = format!(
        "{metric}where = {{ routing = \"par\", load = 0.4 }}\ndifference = {{ where = {{ load = 0.1 }} }}\n"
    );
    assert_measured(
        &format!("{difference}max = \"300 ns\""),
        "300 ns",
        "at most 300 ns",
        true,
    );
}

#[test]
fn one_number_of_many_along_an_axis() {
    let along = |take: &str| {
        format!(
            "metric = \"latency.message.mean\"\nwhere = {{ routing = \"par\" }}\nalong = \"load\"\ntake = \"{take}\"\nmax = \"1 ms\""
        )
    };
    for (take, measured) in [
        ("max", "900 ns"),
        ("min", "200 ns"),
        ("mean", "475 ns"),
        ("sum", "1900 ns"),
        ("first", "200 ns"),
        ("last", "900 ns"),
    ] {
        assert_measured(&along(take), measured, "at most 1 ms", true);
    }
    // Only the values that are selected.
    let some = along("max").replace("routing = \"par\"", "routing = \"par\", load = [0.1, 0.2]");
    assert_measured(&some, "300 ns", "at most 1 ms", true);
    // Each routing by itself; and against the value at one place of the axis.
    let throughput = "metric = \"summary.accepted_load\"\nalong = \"load\"\ntake = \"max\"\n";
    assert_measured(
        &format!("{throughput}max = 0.8"),
        "0.3 to 0.8 (3 places)",
        "at most 0.8",
        true,
    );
    let growth = "metric = \"latency.message.mean\"\nwhere = { routing = \"par\" }\nalong = \"load\"\ntake = \"max\"\nratio = { where = { load = 0.2 } }\n";
    assert_measured(&format!("{growth}max = 3"), "3", "at most 3", true);
}

#[test]
fn saturation_lies_between_two_loads() {
    let first = |routing: &str, bound: &str| {
        format!(
            "metric = \"summary.accepted_load\"\nwhere = {{ routing = \"{routing}\" }}\nalong = \"load\"\n\
             first = {{ below = 0.95, of = \"summary.offered_load\" }}\n{bound}"
        )
    };
    // Accepted less 0.95 of offered: +0.01 at 0.2, 0.3 - 0.38 = -0.08 at 0.4; so at 0.2 + 0.2 / 9.
    assert_measured(
        &first("valiant", "min = 0.2\nmax = 0.3"),
        "0.2222",
        "0.2 to 0.3",
        true,
    );
    assert_measured(&first("par", "max = 0.9"), "nowhere", "at most 0.9", false);
    assert_measured(&first("par", "min = 0.9"), "nowhere", "at least 0.9", true);
    // Three times the latency at the smallest load: 600 ns, at 0.5.
    let three = "metric = \"latency.message.mean\"\nwhere = { routing = \"par\" }\nalong = \"load\"\nfirst = { above = 3, of = \"start\" }\nmax = 0.5";
    assert_measured(three, "0.5", "at most 0.5", true);
    let absolute = "metric = \"latency.message.mean\"\nwhere = { routing = \"par\" }\nalong = \"load\"\nfirst = { above = \"0.15 us\" }\nmax = 0.1";
    assert_measured(absolute, "0.1", "at most 0.1", true);
    // The axis ends at 0.8, and routing "par" saturates beyond that.
    let over = |routing: &str, other: &str, bound: &str| {
        let ratio = format!("ratio = {{ where = {{ routing = \"{other}\" }} }}\n{bound}");
        first(routing, &ratio)
    };
    let more = "at least 3.6";
    assert_measured(&over("par", "valiant", "min = 2"), more, "at least 2", true);
    assert_measured(&over("par", "valiant", "max = 2"), more, "at most 2", false);
    let less = "at most 0.2778";
    assert_measured(
        &over("valiant", "par", "max = 0.5"),
        less,
        "at most 0.5",
        true,
    );
    assert_measured(
        &over("valiant", "par", "min = 0.5"),
        less,
        "at least 0.5",
        false,
    );
    let undecided = verdict(&over("par", "valiant", "min = 4"));
    assert_eq!(undecided.holds, None, "{undecided:?}");
    assert!(
        undecided.measured.contains("at least 3.6 does not decide"),
        "{undecided:?}"
    );
    let both = verdict(&over("par", "par", "min = 0.5"));
    assert!(
        both.holds.is_none() && both.measured.contains("nowhere cannot be compared"),
        "{both:?}"
    );
    let same = verdict(&over("valiant", "par", "within = 0.05"));
    assert_eq!(same.holds, Some(false), "{same:?}");
}

/// Beyond the last place, 0.8, is at least 0.8 more than the first one, 0.
#[test]
fn nowhere_is_far_from_zero() {
    for (bound, holds) in [("min = 0.5", true), ("max = 0.5", false)] {
        let text = format!(
            "{}\n[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"latency.message.mean\"\n\
             where = {{ routing = \"par\" }}\nalong = \"load\"\nfirst = {{ above = \"1.5 us\" }}\n\
             difference = {{ where = {{ routing = \"valiant\" }} }}\n{bound}\n",
            AXES.replace("0.1,", "0.0,")
        );
        let study = study(&text);
        let slow = |_: &str, routing: &str, _: f64, _: u64| {
            Some(if routing == "valiant" { 2e3 } else { 1e3 })
        };
        let verdict = study.verdicts(&table(&study, 1, slow)).remove(0);
        assert_eq!(verdict.holds, Some(holds), "{verdict:?}");
    }
}

/// A place on an axis and a measure there have nothing in common.
#[test]
fn a_place_is_not_compared_with_a_measure() {
    let text = format!(
        "{AXES}\n[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"latency.message.mean\"\n\
         along = \"load\"\nfirst = {{ above = \"3 us\" }}\n\
         ratio = {{ where = {{ load = 0.2 }} }}\nmax = 1\n"
    );
    let error = study_with("", &text, &Options::default()).unwrap_err();
    let words = "ratio.where: this is a place on the axis";
    assert!(error.message.contains(words), "{error}");
}

/// Numbers rise as numbers, in whatever order they are written.
#[test]
fn a_slope_goes_by_numbers() {
    let text = format!(
        "{}\n[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"latency.message.mean\"\n\
         monotone = {{ axis = \"load\", direction = \"rising\" }}\n",
        AXES.replace("[0.1, 0.2, 0.4, 0.8]", "[0.8, 0.1, 0.4, 0.2]")
    );
    let study = study(&text);
    let verdict = study.verdicts(&table(&study, 1, numbers)).remove(0);
    assert_eq!(verdict.holds, Some(true), "{verdict:?}");
}

#[test]
fn the_points_of_a_claim_are_counted_with_those_it_compares_with() {
    let more = format!(
        "{AXES}\n[[claims]]\nid = \"c\"\n\
         says = \"…\"\nmetric = \"latency.message.mean\"\n\
         where = {{ routing = \"valiant\", load = [0.1, 0.2] }}\n\
         ratio = {{ where = {{ routing = \"par\" }} }}\nmax = 3\n"
    );
    let top = "metrics = [\"settled\", \"summary.simulated\"]";
    let study = study_with(top, &more, &Options::default()).expect("a study");
    let of = |metric: &str, routing: &str, load: f64, seed| match metric {
        // No other point counts.
        "settled" if load > 0.3 || routing == "minimal" => Some(0.0),
        "settled" => Some(f64::from(routing == "par" || load < 0.15)),
        "summary.simulated" => Some(if routing == "par" {
            60_001.2
        } else {
            500_000.0
        }),
        _ => numbers(metric, routing, load, seed),
    };
    let verdict = study.verdicts(&table(&study, 2, of)).remove(0);
    assert_eq!(verdict.settled, Some(Count { held: 6, of: 8 }));
    assert_eq!(verdict.length(), "60 us to 500 us");
    let csv = study.claims_csv(&[verdict], "weir").expect("written");
    let csv = String::from_utf8(csv).expect("text");
    assert!(csv.starts_with("id,says,measured,bound,holds,seeds,simulated,settled,scale,command"));
    assert!(csv.contains(",60 us to 500 us,6 of 8,"), "{csv}");
}

#[test]
fn orders_and_slopes() {
    let latency = "metric = \"latency.message.mean\"\nwhere = { load = 0.1 }\n";
    let order = |values: &str, slack: &str| {
        format!("{latency}order = {{ axis = \"routing\", values = {values}{slack} }}")
    };
    let up = verdict(&order("[\"par\", \"valiant\"]", ""));
    assert_eq!(
        (up.measured.as_str(), up.bound.as_str(), up.holds),
        ("par: 200 ns, valiant: 400 ns", "par < valiant", Some(true))
    );
    assert_eq!(
        verdict(&order("[\"valiant\", \"par\"]", "")).holds,
        Some(false)
    );
    let equal = verdict(&order("[\"par\", \"minimal\"]", ""));
    assert_eq!(equal.holds, Some(false), "equal is not less");
    let slack = verdict(&order("[\"par\", \"minimal\"]", ", slack = 0.01"));
    assert_eq!(slack.holds, Some(true));
    let slope = |direction: &str| {
        format!(
            "metric = \"latency.message.mean\"\nmonotone = {{ axis = \"load\", direction = \"{direction}\" }}"
        )
    };
    let rising = verdict(&slope("rising"));
    assert!(
        rising.holds == Some(true) && rising.measured.ends_with("0.8: 900 ns (and so for all 3)"),
        "{rising:?}"
    );
    assert_eq!(verdict(&slope("falling")).holds, Some(false));
    let flat =
        "metric = \"latency.message.p99\"\nmonotone = { axis = \"load\", direction = \"falling\" }";
    assert_eq!(verdict(flat).holds, Some(true), "it never rises");
}

#[test]
fn seeds_become_one_number_first() {
    let by = |how: &str| {
        let text = format!(
            "{AXES}\n[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"latency.message.mean\"\nseeds = \"{how}\"\n\
             where = {{ routing = \"par\", load = 0.1 }}\nmax = \"1 us\"\n"
        );
        let study = study_with("seeds = 3", &text, &Options::default()).unwrap();
        let table = table(&study, 3, |_, _, _, seed| Some(seed as f64 * 1e4));
        study.verdicts(&table).remove(0).measured
    };
    assert_eq!(
        [by("mean"), by("min"), by("max")],
        ["20", "10", "30"].map(|one| format!("{one} us (seeds: 10 to 30 us)"))
    );
}

#[test]
fn what_is_not_there_is_not_measured() {
    let study = claim("metric = \"latency.message.mean\"\nmax = \"1 ms\"");
    let some = table(&study, 1, |metric, routing, load, seed| {
        let failed = routing == "par" && load == 0.4;
        (!failed)
            .then(|| numbers(metric, routing, load, seed))
            .flatten()
    });
    let verdict = study.verdicts(&some).remove(0);
    assert_eq!((verdict.holds, verdict.word()), (None, "undecided"));
    assert_eq!(
        verdict.measured,
        "not measured: the point 6 (routing=par load=0.4) is failed"
    );
    let order = claim(
        "metric = \"latency.message.mean\"\nwhere = { load = 0.4 }\n\
         order = { axis = \"routing\", values = [\"minimal\", \"par\", \"valiant\"], slack = 0.1 }",
    );
    let mut two = table(&order, 1, numbers);
    two.rows.retain(|row| row.at[0] != 1);
    let verdict = order.verdicts(&two).remove(0);
    assert_eq!(
        (verdict.holds, verdict.measured.as_str()),
        (
            None,
            "not measured: there is no point at routing=par load=0.4"
        )
    );
    // Every value is needed, regardless of the bound.
    let study = claim(
        "metric = \"latency.message.mean\"\nalong = \"load\"\ntake = \"max\"\nmax = \"1 ms\"",
    );
    let mut none = table(&study, 1, |_, _, _, _| Some(1.0));
    none.rows.iter_mut().for_each(|row| row.values = vec![None]);
    let verdict = study.verdicts(&none).remove(0);
    assert!(
        verdict.measured.contains("latency.message.mean is missing"),
        "{verdict:?}"
    );
}

#[test]
fn the_mean_of_seeds_is_measured_and_each_alone_is_told_of() {
    // 100, 200 and 900 ns.
    let by_seed =
        |_: &str, _: &str, _: f64, seed: u64| Some([100.0, 200.0, 900.0][seed as usize - 1]);
    let verdict = |claim_text: &str| {
        let study = claim(claim_text);
        study.verdicts(&table(&study, 3, by_seed)).remove(0)
    };
    let place = "metric = \"latency.message.mean\"\nwhere = { routing = \"par\", load = 0.1 }\n";
    let all = verdict(&format!("{place}max = \"1 us\""));
    assert_eq!(all.measured, "400 ns (seeds: 100 to 900 ns)");
    assert_eq!(all.holds, Some(true));
    assert_eq!(all.seeds, Some(Count { held: 3, of: 3 }));
    let none = verdict(&format!("{place}min = \"1 us\""));
    assert_eq!(none.holds, Some(false));
    let some = verdict(&format!("{place}min = \"300 ns\""));
    assert_eq!(some.holds, None);
    assert_eq!(
        some.measured,
        "400 ns (seeds: 100 to 900 ns); seeds disagree"
    );
    let held = some.seeds.map(|seeds| seeds.to_string());
    assert_eq!(held, Some("1 of 3".into()));
    // All are outside, and their mean is not.
    let outside = verdict(&format!("{place}min = \"250 ns\"\nmax = \"450 ns\""));
    assert_eq!(outside.holds, None);
    assert_eq!(outside.seeds, Some(Count { held: 0, of: 3 }));
    // The least of the seeds is one number, on which they cannot disagree.
    let least = verdict(&format!("{place}seeds = \"min\"\nmin = \"300 ns\""));
    assert_eq!(least.holds, Some(false));
    // Each seed is compared with itself.
    let ratio = verdict(&format!(
        "{place}ratio = {{ where = {{ routing = \"minimal\" }} }}\nwithin = 0.1"
    ));
    assert_eq!(ratio.measured, "1 (seeds: 1 to 1)");
    assert_eq!(ratio.holds, Some(true));
    // Several places: no range of single seeds.
    let places = verdict("metric = \"latency.message.mean\"\nmax = \"950 ns\"");
    assert_eq!(places.measured, "400 to 400 ns (12 places)");
    assert_eq!(places.seeds, Some(Count { held: 3, of: 3 }));
    let one = claim(&format!("{place}max = \"300 ns\""));
    assert_eq!(one.verdicts(&table(&one, 1, by_seed))[0].seeds, None);
    // Seeds do not disagree about what is missing, nor if they have none of the points.
    let mut some = table(&one, 3, by_seed);
    some.rows.retain(|row| row.seed == 1 || row.at != [0, 0]);
    some.rows.iter_mut().for_each(|row| {
        if row.seed == 2 {
            row.values.fill(None);
        }
    });
    let missing = one.verdicts(&some).remove(0);
    assert_eq!(missing.holds, None);
    assert!(
        missing.measured.starts_with("not measured") && !missing.measured.contains("disagree"),
        "{missing:?}"
    );
    let places = claim(
        "metric = \"latency.message.mean\"\nwhere = { routing = \"minimal\", load = 0.1 }\n\
         max = \"150 ns\"",
    );
    let only = places.verdicts(&some).remove(0);
    assert_eq!((only.holds, only.seeds), (Some(true), None), "{only:?}");
}
