//! Metrics and rows named in figures and claims must be recorded at some of their points.

use std::path::Path;

use super::refused::assert_refused;
use super::{AXES, study_with};
use crate::{Options, Study};

/// A metric that exists, but not in the results of this study.
#[test]
fn what_no_point_records() {
    let figure = |text: &str| format!("{AXES}\n[[figure]]\nid = \"f\"\n{text}\n");
    let bars = |name: &str| figure(&format!("kind = \"bar\"\nx = \"load\"\ny = \"{name}\""));
    let of = |kind: &str, name: &str| figure(&format!("kind = \"{kind}\"\ny = \"{name}\""));
    let cases = [
        (
            of("heatmap", "occupancy"),
            15,
            ["not recorded", "set output.occupancy"],
        ),
        (
            of("heatmap", "occupancy @ 2 us"),
            15,
            ["not recorded", "set output.occupancy"],
        ),
        (
            of("heatmap", "occupancy @ 5 us"),
            15,
            ["5 us is not before the end", "earlier"],
        ),
        (
            bars("occupancy.max"),
            16,
            ["not recorded", "set output.occupancy"],
        ),
        (
            bars("series.job.hot.messages.sum @ 6 us..7 us"),
            16,
            ["6 us is not before the end", "earlier"],
        ),
        (
            bars("iterations.hot.0.time"),
            16,
            ["no application", "`motif`"],
        ),
        (
            of("time", "rates.hot.0"),
            15,
            ["rates are not recorded", "set output.rates"],
        ),
        (
            bars("rates.3.min"),
            16,
            ["rates are not recorded", "set output.rates"],
        ),
        (
            bars("ejection.kontrol"),
            16,
            ["no traffic class", "did you mean `control`"],
        ),
        (
            of("time", "series.class.dato.ejected_flits"),
            15,
            ["no traffic class", "did you mean `data`"],
        ),
        (
            bars("scheme.packets_dato"),
            16,
            ["does not count", "did you mean `packets_data`"],
        ),
        (
            of("time", "scheme.throttled"),
            15,
            ["records no column", "rates.<name>"],
        ),
        (
            format!(
                "{}where = {{ load = 0.1 }}\n[[exclude]]\nload = 0.1\n",
                bars("summary.accepted_load")
            ),
            16,
            ["none of the points", "exclude fewer"],
        ),
        (
            format!(
                "{AXES}\n[[claims]]\nid = \"c\"\nsays = \"-\"\nmetric = \"occupancy.max\"\nmax = 3\n"
            ),
            15,
            ["not recorded", "set output.occupancy"],
        ),
    ];
    for (text, line, words) in cases {
        // A bound of a claim without its unit is found first.
        let text = text.replace("max = 3\n", "max = \"3 B\"\n");
        assert_refused(&text, line, &words);
    }
}

#[test]
fn workloads_that_run_nowhere() {
    let off = |value: &str| {
        format!(
            "[[axis]]\nname = \"on\"\nkey = \"workload.cold.enabled\"\nvalues = {value}\n\
             [[figure]]\nid = \"f\"\nkind = \"bar\"\nx = \"on\"\ny = \"jobs.cold.finish\"\n"
        )
    };
    assert_refused(
        &off("[false]"),
        9,
        &["\"cold\" has enabled = false", "let it run"],
    );
    // One point that has it is enough: the others leave a gap.
    let study = study_with("", &off("[true, false]"), &Options::default()).unwrap();
    assert_eq!(super::checked(&study).unwrap().len(), 2);
}

#[test]
fn ports_that_the_network_has_not() {
    let tree = "topology = { kind = \"kary_ntree\", k = 2, n = 1, terminal = { bandwidth = \"1 Gbps\", latency = \"5 ns\" }, \
         local = { bandwidth = \"1 Gbps\", latency = \"5 ns\" }, global = { bandwidth = \"1 Gbps\", latency = \"5 ns\" } }\n\
         routing = { algorithm = \"dmodk\" }\nrun = { until = \"5 us\" }\n\
         [[workload]]\npattern = { kind = \"uniform\" }\nload = 0.1\nmessage = \"4 flits\"\n\
         [[figure]]\nid = \"f\"\nkind = \"ternary\"\ny = \"ports.global\"\n";
    let study = Study::parse(tree, Path::new(""), &Options::default()).unwrap();
    let error = super::checked(&study).expect_err("one router");
    assert!(
        error.message.contains("the network has no global ports"),
        "{error}"
    );
    assert_eq!(error.line(), Some(11));
}

#[test]
fn a_window_in_which_no_bin_begins() {
    for (name, good) in [
        ("series.job.hot.messages.sum @ 1 us..2 us", false),
        ("ejection.data @ 1 us..2 us", false),
        ("ejection.data @ 0 us..1 us", true),
    ] {
        let figure = format!(
            "{AXES}\n[[figure]]\nid = \"f\"\nkind = \"bar\"\nx = \"load\"\ny = \"{name}\"\n"
        );
        match good {
            true => drop(super::points(&super::study(&figure))),
            false => assert_refused(
                &figure,
                16,
                &["nothing is recorded from 1 us to 2 us", "(output.bin)"],
            ),
        }
    }
}
