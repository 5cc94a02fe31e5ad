//! Job files, good and bad; claims on tables made by hand; the page that describes them.

mod claims;
mod doubt;
mod figures;
mod in_vain;
mod metrics;
mod needs;
mod page;
mod places;
mod refused;
mod series;
mod slowdown;

use std::ops::Deref;
use std::path::Path;

use super::{Options, Point, Points, Study};
use weir_input::ConfigError;
use weir_simulation::catalog::catalog;
use weir_simulation::config::Experiment;

/// An experiment with two workloads on the smallest dragonfly.
const BASE: &str = r#"
[topology]
kind = "dragonfly"
endpoints_per_router = 2
routers_per_group = 2
global_links_per_router = 1
groups = 3
terminal = { bandwidth = "100 Gbps", latency = "5 ns" }
local = { bandwidth = "100 Gbps", latency = "10 ns" }
global = { bandwidth = "100 Gbps", latency = "100 ns" }

[routing]
algorithm = "minimal"

[[workload]]
name = "hot"
endpoints = "0..6"
pattern = { kind = "uniform" }
load = 0.1
message = "4 flits"

[[workload]]
name = "cold"
endpoints = "6..12"
pattern = { kind = "uniform" }
load = 0.1
message = "4 flits"

[run]
until = "5 us"
"#;

/// Three routings, four loads.
const AXES: &str = r#"
[[axis]]
name = "routing"
key = "routing.algorithm"
values = ["minimal", "par", "valiant"]

[[axis]]
name = "load"
key = "workload.hot.load"
values = [0.1, 0.2, 0.4, 0.8]
"#;

fn study_with(top: &str, more: &str, options: &Options) -> Result<Study, ConfigError> {
    let text = format!("{top}\n{BASE}{more}");
    Study::parse(&text, Path::new(""), options)
}

fn study(more: &str) -> Study {
    study_with("", more, &Options::default())
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// A point with its experiment.
struct Whole {
    point: Point,
    experiment: Experiment,
}

impl Deref for Whole {
    type Target = Point;

    fn deref(&self) -> &Point {
        &self.point
    }
}

/// All points, each of which can be run.
fn checked(study: &Study) -> Result<Points, ConfigError> {
    let points = study.points(&catalog())?;
    study.check(&points.iter().collect::<Vec<_>>(), &catalog())?;
    Ok(points)
}

fn points(study: &Study) -> Vec<Whole> {
    let points = checked(study).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let whole = |point: &Point| Whole {
        point: point.clone(),
        experiment: study.experiment(point, &catalog()).expect("it was read"),
    };
    points.iter().map(whole).collect()
}

fn labels(study: &Study) -> Vec<String> {
    points(study)
        .iter()
        .map(|point| point.label(study))
        .collect()
}

#[test]
fn points_are_all_combinations_the_last_axis_fastest() {
    let study = study(AXES);
    let points = points(&study);
    assert_eq!(points.len(), 12);
    assert_eq!(points[0].label(&study), "routing=minimal load=0.1");
    assert_eq!(points[5].label(&study), "routing=par load=0.2");
    assert_eq!(
        points[5].experiment.workloads[0].pattern().unwrap().load,
        0.2
    );
    assert_eq!(points[5].experiment.routing.kind().unwrap(), "par");
    assert_eq!(
        points[5].experiment.workloads[1].pattern().unwrap().load,
        0.1,
        "the other workload"
    );
}

#[test]
fn a_hash_is_made_of_the_experiment_alone() {
    let one = points(&study(AXES));
    let comments = AXES.replace("[0.1, 0.2, 0.4, 0.8]", "[0.2] # one");
    let other = points(&study(&comments));
    assert_eq!(
        one[1].hash, other[0].hash,
        "another job file with the same point"
    );
    let options = Options {
        sets: vec!["run.until=\"6 us\"".into()],
        ..Options::default()
    };
    let changed = points(&study_with("", AXES, &options).unwrap());
    assert!(one.iter().zip(&changed).all(|(a, b)| a.hash != b.hash));
}

#[test]
fn a_study_without_axes_is_one_point() {
    assert_eq!(labels(&study("")), ["seed=1"]);
}

#[test]
fn seeds_are_a_number_of_them_or_a_list() {
    let axis = "[[axis]]\nname = \"load\"\nkey = \"workload.0.load\"\nvalues = [0.3]\n";
    let seeds = |top: &str, sets: &[&str]| -> Vec<u64> {
        let sets = sets.iter().map(|set| set.to_string()).collect();
        let options = Options {
            sets,
            ..Options::default()
        };
        let study = study_with(top, axis, &options).unwrap();
        points(&study).iter().map(|point| point.seed).collect()
    };
    assert_eq!(seeds("", &[]), [1]);
    assert_eq!(seeds("", &["run.seed=9"]), [9]);
    assert_eq!(seeds("seeds = 3", &[]), [1, 2, 3]);
    assert_eq!(seeds("seeds = 3", &["run.seed=9"]), [9, 10, 11]);
    assert_eq!(seeds("seeds = [5, 2]", &[]), [5, 2]);
    assert_eq!(seeds("seeds = 3", &["seeds=2"]), [1, 2]);
}

#[test]
fn values_come_in_several_forms() {
    let axis = |text: &str| study(&format!("[[axis]]\nname = \"a\"\n{text}\n")).axes[0].clone();
    let load = "key = \"workload.0.load\"\n";
    let numbers = |text: &str| -> Vec<f64> {
        let axis = axis(&format!("{load}{text}"));
        axis.values
            .iter()
            .map(|value| value.number.expect("a number"))
            .collect()
    };
    let tenths = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
    assert_eq!(
        numbers("values = { from = 0.1, to = 0.7, step = 0.1 }"),
        tenths
    );
    assert_eq!(
        numbers("values = { from = 0.1, to = 0.7, count = 7 }"),
        tenths
    );
    assert_eq!(
        numbers("values = { from = 1, to = 3, step = 1 }"),
        [1.0, 2.0, 3.0]
    );
    let named = axis(&format!(
        "{load}values = [0.1, 0.2]\nlabels = [\"low\", \"high\"]"
    ));
    assert_eq!(named.values[1].label, "high");
    let times = axis("key = \"output.bin\"\nvalues = [\"200 ns\", \"1 us\"]");
    assert_eq!(
        (times.unit.as_str(), times.values[1].number),
        ("ns", Some(1000.0))
    );
    let mixed = axis("key = \"nic.max_packet\"\nvalues = [\"24 flits\", \"2 KiB\"]");
    assert!(!mixed.numeric(), "two units");
    let both = study(
        "[[axis]]\nname = \"a\"\nkeys = [\"workload.hot.load\", \"workload.cold.load\"]\nvalues = [0.2, [0.3, 0.4]]\n",
    );
    let loads: Vec<[f64; 2]> = points(&both)
        .iter()
        .map(|point| [0, 1].map(|index| point.experiment.workloads[index].pattern().unwrap().load))
        .collect();
    assert_eq!(loads, [[0.2, 0.2], [0.3, 0.4]]);
    assert_eq!(both.axes[0].values[1].label, "0.3 / 0.4");
    let several = study(
        "[[axis]]\nname = \"a\"\nvalues = [\n { label = \"as it is\" },\n { label = \"input queued\", \
         \"router.output_queue\" = \"none\", routing = { algorithm = \"valiant\" } },\n]\n",
    );
    let routings: Vec<String> = points(&several)
        .iter()
        .map(|point| point.experiment.routing.kind().unwrap().to_string())
        .collect();
    assert_eq!(routings, ["minimal", "valiant"]);
}

#[test]
fn exclusions_leave_points_out() {
    let study = study(&format!(
        "{AXES}\n[[exclude]]\nrouting = [\"par\", \"valiant\"]\nload = [0.1, 0.2, 0.8]\n[[exclude]]\nrouting = \"par\"\n"
    ));
    assert_eq!(
        labels(&study),
        [
            "routing=minimal load=0.1",
            "routing=minimal load=0.2",
            "routing=minimal load=0.4",
            "routing=minimal load=0.8",
            "routing=valiant load=0.4"
        ]
    );
}

#[test]
fn reduced_keeps_some_values_and_sets_keys() {
    let text = format!(
        "{AXES}\n[reduced]\nset = {{ \"run.until\" = \"2 us\" }}\naxis = {{ load = [0.4], routing = \"par\" }}\nseeds = 2\n"
    );
    let reduced = Options {
        sets: vec![],
        reduced: true,
        ..Options::default()
    };
    let small = study_with("seeds = 5", &text, &reduced).unwrap();
    assert_eq!(
        labels(&small),
        ["routing=par load=0.4 seed=1", "routing=par load=0.4 seed=2"]
    );
    assert!(
        points(&small)[0]
            .experiment
            .resolved
            .contains("until = \"2 us\"")
    );
    let whole = study_with("seeds = 5", &text, &Options::default()).unwrap();
    assert_eq!(points(&whole).len(), 60);
    // An exclusion may name values that the smaller study has not kept, or only some that it has.
    let gone = format!("{text}\n[[exclude]]\nrouting = \"valiant\"\nload = 0.2\n");
    assert_eq!(points(&study_with("", &gone, &reduced).unwrap()).len(), 2);
    let rest =
        format!("{text}\n[[exclude]]\nrouting = [\"valiant\", \"par\"]\nload = [0.2, 0.4]\n");
    assert!(
        study_with("", &rest, &reduced)
            .and_then(|study| checked(&study))
            .is_err()
    );
    // Values from the command line have the last word.
    let options = Options {
        sets: vec!["run.until=\"3 us\"".into()],
        reduced: true,
        ..Options::default()
    };
    let small = study_with("", &text, &options).unwrap();
    assert!(
        points(&small)[0]
            .experiment
            .resolved
            .contains("until = \"3 us\"")
    );
}
