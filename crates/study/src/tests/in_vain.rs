//! Settings that would be undone, and claims that could never hold, are refused
//! before anything runs.

use super::refused::assert_refused;
use super::{AXES, study_with};
use crate::Options;

/// Checks that a job file is refused with these words.
fn refused_for(top: &str, more: &str, options: &Options, words: &str) {
    let error = study_with(top, more, options).expect_err(words);
    assert!(error.message.contains(words), "{}", error.message);
}

#[test]
fn a_workload_has_one_axis_by_its_name_and_by_its_place() {
    let axis =
        |key: &str, values: &str| format!("[[axis]]\nname = \"a\"\n{key}\nvalues = {values}\n");
    let same = axis("key = \"workload.0.load\"", "[0.3]");
    let words = ["`load` sets workload.hot.load too"];
    assert_refused(&format!("{AXES}{same}"), 11, &words);
    let other = axis("key = \"workload.1.load\"", "[0.3]");
    assert!(study_with("", &format!("{AXES}{other}"), &Options::default()).is_ok());
    let keys = "keys = [\"workload.hot.load\", \"workload.0.load\"]";
    assert_refused(
        &axis(keys, "[[0.1, 0.2]]"),
        1,
        &["sets workload.hot.load twice"],
    );
}

#[test]
fn options_and_the_reduced_study_do_not_set_what_an_axis_sets() {
    for (set, is_undone) in [
        ("workload.hot.load=0.7", true),
        ("workload.0.load=0.7", true),
        ("workload.1.load=0.7", false),
        ("routing.algorithm=par", true),
    ] {
        let options = Options {
            sets: vec![set.to_string()],
            ..Options::default()
        };
        match is_undone {
            true => refused_for("", AXES, &options, "sets this key at every point"),
            false => assert!(study_with("", AXES, &options).is_ok(), "{set}"),
        }
        let (key, value) = set.split_once('=').expect("has one");
        let value = value.replace("par", "\"par\"");
        let small = format!("{AXES}\n[reduced]\nset = {{ \"{key}\" = {value} }}\n");
        let options = Options {
            reduced: true,
            ..Options::default()
        };
        match is_undone {
            true => refused_for("", &small, &options, &format!("sets {key} at every point")),
            false => assert!(study_with("", &small, &options).is_ok(), "{set}"),
        }
    }
}

#[test]
fn a_key_that_some_points_set_may_be_set_for_the_others() {
    let axis = "[[axis]]\nname = \"a\"\nvalues = [{ label = \"as it is\" }, \
                { label = \"other\", \"workload.1\" = { name = \"c\", load = 0.3, \
                message = \"4 flits\", pattern = { kind = \"uniform\" } } }]\n";
    let small = format!("{axis}\n[reduced]\nset = {{ \"workload.cold.load\" = 0.7 }}\n");
    let options = Options {
        sets: vec!["workload.cold.load=0.7".to_string()],
        reduced: true,
        ..Options::default()
    };
    assert!(study_with("", &small, &options).is_ok());
    // The reduced study keeps a value that sets it all.
    let one = small.replace("[reduced]\n", "[reduced]\naxis = { a = \"other\" }\n");
    refused_for("", &one, &options, "sets this key at every point");
}

#[test]
fn another_seed_beside_listed_ones() {
    let options = Options {
        sets: vec!["run.seed=7".to_string()],
        ..Options::default()
    };
    refused_for(
        "seeds = [1, 2]",
        AXES,
        &options,
        "--set run.seed=7 changes nothing",
    );
    assert!(study_with("seeds = 2", AXES, &options).is_ok());
}

#[test]
fn no_axis_has_the_name_of_a_metric() {
    for name in ["summary.accepted_load", "settled", "jobs.hot.accepted_load"] {
        let axis =
            format!("[[axis]]\nname = \"{name}\"\nkey = \"output.bin\"\nvalues = [\"1 us\"]\n");
        assert_refused(&axis, 2, &["is taken: it is a metric"]);
    }
}

#[test]
fn an_order_has_each_of_its_values_once() {
    let claim = |bound: &str| {
        format!(
            "{AXES}[[claims]]\nid = \"c\"\nsays = \"x\"\n\
             metric = \"summary.accepted_load\"\n{bound}\n"
        )
    };
    let monotone = "where = { load = 0.1 }\nmonotone = { axis = \"load\", direction = \"rising\" }";
    assert_refused(
        &claim(monotone),
        15,
        &["one value of `load` has no direction"],
    );
    let two = monotone.replace("load = 0.1", "load = [0.1, 0.2]");
    assert!(study_with("", &claim(&two), &Options::default()).is_ok());
    let order = "where = { load = 0.1 }\norder = { axis = \"load\", values = [0.1, 0.2] }";
    assert_refused(&claim(order), 15, &["load=0.2 is part of the order"]);
    let twice = "order = { axis = \"load\", values = [0.1, 0.1] }";
    assert_refused(&claim(twice), 15, &["load=0.1 is named twice"]);
}

#[test]
fn a_range_has_a_step_or_a_count() {
    let range = "values = { from = 0.1, to = 0.3, step = 0.1, count = 3 }";
    assert_refused(
        &format!("[[axis]]\nname = \"a\"\nkey = \"workload.0.load\"\n{range}\n"),
        4,
        &["`step` or `count`, not both", "leave one of them out"],
    );
}

#[test]
fn a_score_needs_a_criterion() {
    let claim = "[[claims]]\nid = \"c\"\nsays = \"x\"\nmetric = \"score\"\nmin = 0.5\n";
    assert_refused(
        claim,
        4,
        &["\"score\" is no criterion", "add a [[criterion]]"],
    );
}
