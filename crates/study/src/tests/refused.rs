//! Errors in a job file are reported with their line and a remedy.

use super::{AXES, BASE, study_with};
use crate::Options;
use weir_input::ConfigError;
use weir_simulation::catalog::catalog;

fn refusal(more: &str, options: &Options) -> ConfigError {
    let result = study_with("", more, options).and_then(|study| super::checked(&study));
    match result {
        Err(error) => error,
        Ok(points) => panic!("{} points of {more}", points.len()),
    }
}

/// Checks that `more`, below an experiment, is refused at its line `line` (from 1) with these
/// words.
pub(super) fn assert_refused(more: &str, line: usize, words: &[&str]) {
    let error = refusal(more, &Options::default());
    let text = format!("{} {}", error.message, error.remedy().unwrap_or_default());
    for word in words {
        assert!(text.contains(word), "{text}\nlacks {word:?}");
    }
    let above = BASE.lines().count() + 1;
    assert_eq!(error.line(), Some(above + line), "{}", error.render(false));
}

fn axis(text: &str) -> String {
    format!("[[axis]]\nname = \"a\"\n{text}\n")
}

/// With the nearest name of an experiment or a job file.
#[test]
fn names_at_the_top() {
    for (name, near) in [("claim", "claims"), ("figures", "figure"), ("axes", "axis")] {
        let words = [
            &*format!("unknown section `{name}`"),
            &*format!("did you mean `{near}`?"),
        ];
        assert_refused(&format!("[[{name}]]\nid = \"a\"\n"), 1, &words);
    }
}

#[test]
fn axes() {
    let load = "key = \"workload.0.load\"\n";
    for (text, line, words) in [
        (
            format!("{load}values = []"),
            4,
            ["has no values", "at least one"],
        ),
        (
            format!("{load}values = 3"),
            4,
            ["expected a list of values", "values = ["],
        ),
        (
            format!("{load}valeus = [1]"),
            4,
            ["unknown key `valeus`", "did you mean `values`"],
        ),
        (load.to_string(), 1, ["`values` is missing", "add"]),
        (
            format!("{load}values = [0.1, 0.2, 0.1]"),
            4,
            ["\"0.1\" is given twice", "remove"],
        ),
        (
            format!("{load}values = [0.1, 0.10]"),
            4,
            ["\"0.1\" is given twice", "remove"],
        ),
        (
            format!("{load}values = {{ from = 0.1, to = 0.5, step = 0.3 }}"),
            4,
            ["do not lead from 0.1 to 0.5", "divides"],
        ),
        (
            format!("{load}values = {{ from = 0.5, to = 0.1, step = 0.1 }}"),
            4,
            ["no range", "larger `to`"],
        ),
        (
            format!("{load}values = {{ from = 0.1, to = 0.5 }}"),
            4,
            ["no range", "`count`"],
        ),
        (
            format!("{load}values = [0.1]\nlabels = [\"x\", \"y\"]"),
            5,
            ["2 labels for 1 values", "for each"],
        ),
        (
            format!("{load}keys = [\"run.seed\"]\nvalues = [1]"),
            4,
            ["both given", "remove"],
        ),
        (
            "keys = [\"workload.0.load\", \"workload.1.load\"]\nvalues = [[0.1, 0.2, 0.3]]".into(),
            4,
            ["3 values for 2 keys", "one value for each"],
        ),
        (
            "values = [0.1]".into(),
            3,
            ["expected a table", "name the key"],
        ),
        (
            "values = [{ \"workload.0.load\" = 0.1 }]".into(),
            3,
            ["`label` is missing", "add label"],
        ),
        (
            "values = [{ label = \"x\", workload.0.load = 0.1 }]".into(),
            3,
            ["all workloads", "in quotes"],
        ),
        (
            "key = \"workload.7.load\"\nvalues = [0.1]".into(),
            4,
            ["no element \"7\"", "0 to 1"],
        ),
        (
            "key = \"workload.hto.load\"\nvalues = [0.1]".into(),
            4,
            ["called \"hto\"", "did you mean \"hot\""],
        ),
        (
            "key = \"routing.algorithm\"\nvalues = [\"minimal\", \"valiannt\"]".into(),
            4,
            ["\"valiannt\" is not known", "did you mean \"valiant\""],
        ),
        (
            "key = \"routing..algorithm\"\nvalues = [\"minimal\"]".into(),
            4,
            ["is not a path of keys", "dots"],
        ),
    ] {
        assert_refused(&axis(&text), line, &words);
    }
}

#[test]
fn a_wrong_point_is_named() {
    let error = refusal(&AXES.replace("\"par\"", "\"pra\""), &Options::default());
    assert!(
        error
            .message
            .contains("at the point routing = pra, load = 0.1"),
        "{error}"
    );
}

#[test]
fn points_that_are_the_same() {
    let twice = "key = \"nic.max_packet\"\nvalues = [\"24 flits\", \"2400 bits\"]\n";
    // The value is written in the resolved experiment as it stands, so these two differ ...
    let study = study_with("", &axis(twice), &Options::default()).unwrap();
    assert_eq!(super::checked(&study).unwrap().len(), 2);
    // ... but these do not.
    let same = "key = \"output.bin\"\nvalues = [\"1 us\", \"1000 ns\"]\n";
    assert_refused(&axis(same), 4, &["`a` changes nothing", "remove the axis"]);
    let some = format!("{}{}", axis(same).replace("\"a\"", "\"b\""), AXES);
    assert_refused(&some, 4, &["`b` changes nothing"]);
    let partly = axis("key = \"output.bin\"\nvalues = [\"1 us\", \"2 us\", \"1000 ns\"]\n");
    assert_refused(
        &partly,
        4,
        &[
            "the points a=1 us and a=1000 ns are the same",
            "[[exclude]]",
        ],
    );
    let a =
        axis("values = [{ label = \"x\", \"routing.algorithm\" = \"par\" }, { label = \"y\" }]");
    assert!(
        study_with("", &a, &Options::default())
            .unwrap()
            .points(&catalog())
            .is_ok()
    );
}

#[test]
fn axes_that_are_in_one_anothers_way() {
    let two = format!(
        "{}{}",
        axis("key = \"run.seed\"\nvalues = [1, 2]"),
        axis("key = \"output.bin\"\nvalues = [\"1 us\"]")
    );
    assert_refused(&two, 6, &["`a` is taken"]);
    let seed = axis("key = \"run.seed\"\nvalues = [1, 2]").replace("\"a\"", "\"seed\"");
    assert_refused(&seed, 2, &["`seed` is taken"]);
    let same = axis("key = \"workload.hot.load\"\nvalues = [0.3]");
    assert_refused(
        &format!("{AXES}{same}"),
        11,
        &["`load` sets workload.hot.load too"],
    );
    let error = study_with(
        "seeds = 2",
        &axis("key = \"run.seed\"\nvalues = [1, 2]"),
        &Options::default(),
    )
    .and_then(|study| super::checked(&study))
    .expect_err("two masters");
    assert!(error.message.contains("`seeds`"), "{error}");
}

#[test]
fn exclusions() {
    assert_refused(
        &format!("{AXES}\n[[exclude]]\nlaod = 0.1\n"),
        13,
        &["no axis `laod`", "did you mean `load`"],
    );
    assert_refused(
        &format!("{AXES}\n[[exclude]]\nload = 0.3\n"),
        13,
        &["\"0.3\" is not a value", "\"0.2\""],
    );
    let twice = format!("{AXES}\n[[exclude]]\nload = 0.1\n[[exclude]]\nload = 0.1\nrouting = []\n");
    assert_refused(&twice, 16, &["no value is given"]);
    let again = format!("{AXES}\n[[exclude]]\nload = 0.1\n[[exclude]]\nload = 0.1\n");
    assert_refused(&again, 14, &["excludes no further point"]);
    let all = format!("{AXES}\n[[exclude]]\nload = [0.1, 0.2, 0.4, 0.8]\n");
    assert_refused(&all, 12, &["no point is left"]);
}

#[test]
fn the_command_line() {
    let sets = |set: &str| Options {
        sets: vec![set.into()],
        ..Options::default()
    };
    let error = refusal(AXES, &sets("workload.hot.load=0.7"));
    assert!(
        error.message.contains("the axis `load` sets this key"),
        "{error}"
    );
    let error = refusal(AXES, &sets("run.untli=3"));
    assert!(error.message.contains("unknown key `untli`"), "{error}");
    let error = refusal(
        AXES,
        &Options {
            reduced: true,
            ..Options::default()
        },
    );
    assert!(error.message.contains("no section [reduced]"), "{error}");
}

#[test]
fn a_step_is_no_longer_than_its_range() {
    let of = |step: &str| AXES.replace("[0.1, 0.2, 0.4, 0.8]", step);
    for step in ["1e9", "inf"] {
        let range = of(&format!("{{ from = 0.1, to = 0.9, step = {step} }}"));
        assert_refused(&range, 10, &["do not lead from 0.1 to 0.9"]);
    }
}

#[test]
fn a_tolerance_of_a_ratio_has_an_end() {
    let claim = "[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"latency.message.mean\"\n\
                 ratio = { where = { load = 0.1 } }\nwithin = inf\n";
    assert_refused(
        &format!("{AXES}\n{claim}"),
        17,
        &["no tolerance of a ratio"],
    );
}

#[test]
fn claims() {
    let claim = |text: &str| {
        format!(
            "{AXES}\n[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"latency.message.mean\"\n{text}\n"
        )
    };
    for (text, line, words) in [
        ("", 12, ["a claim has one bound", "`min`"]),
        (
            "max = 3\nwithin = 0.1",
            12,
            ["a claim has one bound", "`min`"],
        ),
        ("max = 3", 16, ["3 has not the unit", "\"50 ns\""]),
        ("max = \"3 flits\"", 16, ["has not the unit", "\"50 ns\""]),
        ("max = \"soon\"", 16, ["\"soon\" is no number", "a time"]),
        ("max = true", 16, ["expected a bound", "a text with a unit"]),
        (
            "min = \"3 us\"\nmax = \"2 us\"",
            16,
            ["`min` is more than `max`", "exchange"],
        ),
        (
            "within = 0.1",
            16,
            ["no tolerance of a ratio", "give `ratio`"],
        ),
        (
            "ratio = {}\nwithin = 0.1",
            16,
            ["compares every point with itself", "another point"],
        ),
        (
            "ratio = { where = { load = [0.1, 0.2] } }\nwithin = 0.1",
            16,
            ["several values of the axis `load`", "one value"],
        ),
        (
            "difference = { metric = \"summary.accepted_load\" }\nmax = \"3 ns\"",
            16,
            ["no unit", "same unit"],
        ),
        (
            "along = \"load\"\nmax = \"3 us\"",
            16,
            ["nothing is done along", "`take` or `first`"],
        ),
        (
            "take = \"max\"\nmax = \"3 us\"",
            12,
            ["`along` is missing", "name the axis"],
        ),
        (
            "along = \"routing\"\nfirst = { above = \"3 us\" }\nmax = 0.3",
            16,
            ["are not numbers", "numbers"],
        ),
        (
            "along = \"load\"\nfirst = { of = \"start\" }\nmax = 0.3",
            17,
            ["`above` and `below`", "write"],
        ),
        (
            "along = \"load\"\nfirst = { above = \"3 us\", of = \"start\" }\nmax = 0.3",
            17,
            ["has not the unit", "without quotes"],
        ),
        (
            "where = { load = 0.3 }\nmax = \"3 us\"",
            16,
            ["\"0.3\" is not a value", "\"0.2\""],
        ),
        (
            "order = { axis = \"routing\", values = [\"par\"] }",
            16,
            ["needs two values", "list"],
        ),
        (
            "order = { axis = \"routing\", values = [\"par\", \"mini\"] }",
            16,
            ["\"mini\" is not a value", "did you mean \"minimal\""],
        ),
        (
            "monotone = { axis = \"load\", direction = \"up\" }",
            16,
            ["\"up\" is not known", "\"rising\""],
        ),
        (
            "monotone = { axis = \"load\", direction = \"rising\", slack = 2.0 }",
            16,
            ["the slack is a fraction", "0 to"],
        ),
        (
            "along = \"load\"\ntake = \"max\"\nmonotone = { axis = \"load\", direction = \"rising\" }",
            16,
            ["along the axis of the order", "another axis"],
        ),
        (
            "scale = \"papre\"\nmax = \"3 us\"",
            16,
            ["\"papre\"", "did you mean \"paper\""],
        ),
    ] {
        assert_refused(&claim(text), line, &words);
    }
    let twice = claim("max = \"3 us\"") + &claim("max = \"4 us\"").replace(AXES, "");
    assert_refused(&twice, 19, &["\"c\" is given twice"]);
}

#[test]
fn texts_that_cannot_be_printed() {
    for (top, line, words) in [
        (
            "[[axis]]\nname = \"a\"\nlabel = \"a\\u001b[31m\"\nkey = \"run.seed\"\nvalues = [1]",
            3,
            ["axis.0.label", "U+001B, which is a control character"],
        ),
        (
            "[[axis]]\nname = \"a\"\nkey = \"run.seed\"\nvalues = [1, 2]\nlabels = [\"x\", \"a,\\nb\"]",
            5,
            ["axis.0.labels.1", "U+000A"],
        ),
        (
            "[[axis]]\nname = \"a\"\nvalues = [\n{ label = \"\u{202e}x\", \"run.seed\" = 3 }]",
            4,
            ["axis.0.values.0.label", "U+202E, which turns the direction"],
        ),
        (
            "[[figure]]\nid = \"f\"\nkind = \"bar\"\ntitle = \"bell\\u0007\"",
            4,
            ["figure.0.title", "U+0007"],
        ),
        (
            "[[claims]]\nid = \"c\"\nsays = \"two\\nlines, and one\\rover\"",
            3,
            ["claims.0.says", "U+000D"],
        ),
        (
            "[[exclude]]\n\"lo\\u009bad\" = 0.1",
            2,
            ["exclude.0.lo", "U+009B"],
        ),
    ] {
        assert_refused(top, line, &words);
    }
    // Lines are for texts that people read as such.
    let figure = "[[figure]]\nid = \"f\"\nkind = \"bar\"\nx = \"load\"\ny = \"summary.accepted_load\"\n\
                  caption = \"\"\"\ntwo\n\tlines\"\"\"\n";
    assert!(study_with("", &format!("{AXES}{figure}"), &Options::default()).is_ok());
}
