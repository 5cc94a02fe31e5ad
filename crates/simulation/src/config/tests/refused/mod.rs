//! Mistakes, and their error messages.

mod places;
mod values;

use super::*;

fn refusal(text: &str, sets: &[&str]) -> ConfigError {
    match load(text, sets) {
        Ok(experiment) => panic!("accepted:\n{}", experiment.resolved),
        Err(error) => error,
    }
}

/// The printed page without the line breaks that wrapping puts in.
fn page(error: &ConfigError) -> String {
    let page = error.render(false);
    let words: Vec<&str> = page.split_whitespace().collect();
    words.join(" ")
}

fn assert_says(error: &ConfigError, parts: &[&str]) {
    let page = page(error);
    for part in parts {
        assert!(
            page.contains(part),
            "{}\nlacks {part:?}",
            error.render(false)
        );
    }
}

/// Replaces `from` by `to` and expects an error at `line`, with these words and a remedy.
fn assert_refused(from: &str, to: &str, line: usize, parts: &[&str]) {
    assert!(LEAST.contains(from), "{from:?}");
    let error = refusal(&LEAST.replacen(from, to, 1), &[]);
    assert_eq!(error.line(), Some(line), "{}", error.render(false));
    assert_eq!(error.file(), Some("jobs/demo.toml"));
    assert!(error.remedy().is_some(), "{}", error.render(false));
    assert_says(&error, &[&format!("jobs/demo.toml:{line}:")]);
    assert_says(&error, parts);
}

/// Adds a section at the end; `line` counts from its header, which is line 1.
fn assert_section_refused(section: &str, line: usize, parts: &[&str]) {
    let before = LEAST.matches('\n').count();
    let error = refusal(&format!("{LEAST}{section}"), &[]);
    assert_eq!(error.line(), Some(before + line), "{}", error.render(false));
    assert!(error.remedy().is_some(), "{}", error.render(false));
    assert_says(&error, &["jobs/demo.toml"]);
    assert_says(&error, parts);
}

#[test]
fn the_page_as_a_whole() {
    let error = refusal(&LEAST.replace("load = 0.4", "load = -1"), &[]);
    let expected = [
        "error: workload.0.load: -1 is not a load",
        " --> jobs/demo.toml:9:8",
        "  |",
        "8 | [[workload]]",
        "9 | load = -1",
        "  |        ^^",
        "  |",
        "  = help: write a fraction of the endpoint's link of more than 0, for example 0.4",
    ];
    let page = error.render(false);
    assert_eq!(page.lines().collect::<Vec<&str>>(), expected, "{page}");
    assert!(
        error.render(true).contains('\u{1b}'),
        "colour on a terminal"
    );
}

#[test]
fn unknown_names_in_every_place() {
    assert_refused(
        "[routing]",
        "[rooting]",
        5,
        &[
            "unknown section `rooting`",
            "did you mean `routing`?",
            "`topology`, `routing`, `queueing`, `router`",
        ],
    );
    assert_refused(
        "\"ring\"",
        "\"rnig\"",
        2,
        &[
            "topology.kind: \"rnig\" is not known",
            "did you mean \"ring\"?",
            "\"ring\", \"star\"",
            "weir list topologies",
        ],
    );
    assert_refused(
        "\"minimal\"",
        "\"minmal\"",
        6,
        &[
            "routing.algorithm: \"minmal\"",
            "did you mean \"minimal\"? valid algorithms: \"minimal\", \"valiant\"",
            "weir list routings",
        ],
    );
    // A routing that exists for another topology.
    assert_refused(
        "\"minimal\"",
        "\"up\"",
        6,
        &[
            "routing.algorithm: \"up\" is not made for topology \"ring\"",
            "\"ring\" has \"minimal\", \"valiant\"",
            "weir list routings",
        ],
    );
    assert_refused(
        "\"uniform\"",
        "\"unifrom\"",
        11,
        &[
            "workload.0.pattern.kind: \"unifrom\"",
            "did you mean \"uniform\"?",
            "\"shift\"",
        ],
    );
    assert_refused(
        "routers = 12",
        "routers = 12\nwire = { latenci = \"1 ns\" }",
        4,
        &[
            "topology.wire: unknown key `latenci`",
            "did you mean `latency`?",
            "`bandwidth`",
        ],
    );
    assert_refused(
        "routers = 12",
        "rooters = 12",
        3,
        &[
            "topology: unknown key `rooters`",
            "did you mean `routers`?",
            "weir list topologies ring",
        ],
    );
    assert_refused(
        "{ kind = \"uniform\" }",
        "{ kind = \"uniform\", by = 1 }",
        11,
        &[
            "workload.0.pattern: unknown key `by`",
            "weir list patterns uniform",
        ],
    );
    assert_refused(
        "load =",
        "laod =",
        9,
        &[
            "workload.0: unknown key `laod`",
            "did you mean `load`?",
            "`pattern`",
        ],
    );
    assert_refused(
        "until =",
        "untill =",
        14,
        &[
            "run: unknown key `untill`",
            "did you mean `until`?",
            "`max_wall`",
        ],
    );
    assert_section_refused(
        "[congestion]\nscheme = \"enc\"",
        2,
        &[
            "congestion.scheme: \"enc\"",
            "did you mean \"ecn\"?",
            "weir list schemes",
        ],
    );
    assert_section_refused(
        "[queueing]\nscheme = \"voqsw\"",
        2,
        &[
            "queueing.scheme: \"voqsw\"",
            "did you mean \"voq_sw\"?",
            "weir list queueing",
        ],
    );
    assert_section_refused(
        "[router]\nlatency = \"1 ns\"\nvoq = false",
        3,
        &[
            "router.voq: this is chosen by [queueing] now",
            "scheme = \"voq_sw\" for voq = true",
            "scheme = \"single\" for voq = false",
        ],
    );
    assert_section_refused(
        "[router]\nspeedups = 2",
        2,
        &["unknown key `speedups`", "did you mean `speedup`?"],
    );
    assert_section_refused(
        "[router]\narbitration = \"oldst\"",
        2,
        &["did you mean \"oldest\"?", "\"first_come\""],
    );
    assert_section_refused(
        "[router]\noutput_queue = \"unlimted\"",
        2,
        &["did you mean \"unlimited\"?", "\"none\""],
    );
    assert_section_refused("[output]\nbins = \"1 us\"", 2, &["did you mean `bin`?"]);
}

#[test]
fn the_file_of_a_network_is_no_experiment() {
    let error = refusal("kind = \"ring\"\nrouters = 12\n", &[]);
    assert_eq!(error.line(), Some(1));
    assert_says(
        &error,
        &[
            "the file of a network, and no experiment",
            "[topology] with file",
        ],
    );
}

#[test]
fn missing_parts() {
    assert_refused(
        "kind = \"ring\"\n",
        "",
        1,
        &[
            "topology: the key `kind` is missing",
            "weir list topologies",
        ],
    );
    assert_refused(
        "algorithm = \"minimal\"",
        "",
        5,
        &["routing: the key `algorithm` is missing"],
    );
    assert_refused(
        "algorithm = \"minimal\"",
        "algorthm = \"minimal\"",
        6,
        &[
            "routing: unknown key `algorthm`",
            "did you mean `algorithm`?",
        ],
    );
    assert_refused(
        "load = 0.4\n",
        "",
        8,
        &["workload.0: the key `load` is missing", "add `load = …`"],
    );
    assert_refused(
        "until = \"500 us\"",
        "",
        13,
        &["run: the key `until` is missing"],
    );
    assert_refused(
        "{ kind = \"uniform\" }",
        "{}",
        11,
        &[
            "workload.0.pattern: the key `kind` is missing",
            "weir list patterns",
        ],
    );
    for (section, parts) in [
        (
            "[topology]\nkind = \"ring\"\nrouters = 12\n",
            ["[topology] is missing", "kind = \"…\""],
        ),
        (
            "[routing]\nalgorithm = \"minimal\"\n",
            ["[routing] is missing", "algorithm = \"…\""],
        ),
        (
            "[run]\nuntil = \"500 us\"\n",
            ["[run] is missing", "until = \"500 us\""],
        ),
    ] {
        let error = refusal(&LEAST.replace(section, ""), &[]);
        assert_says(&error, &parts);
        assert_says(&error, &["jobs/demo.toml"]);
    }
    let start = LEAST.find("[[workload]]").unwrap();
    let end = LEAST.find("[run]").unwrap();
    let error = refusal(&[&LEAST[..start], &LEAST[end..]].concat(), &[]);
    assert_says(
        &error,
        &[
            "jobs/demo.toml: there is no [[workload]]",
            "write [[workload]]",
        ],
    );
}

#[test]
fn sections_of_the_wrong_shape() {
    assert_refused(
        "[[workload]]",
        "[workload]",
        8,
        &[
            "expected a list of workloads, got a table",
            "write [[workload]]",
        ],
    );
    assert_refused(
        "{ kind = \"uniform\" }",
        "\"uniform\"",
        11,
        &["workload.0.pattern: expected a table", "kind = \"…\""],
    );
    assert_refused(
        "[topology]",
        "nic = 3\n[topology]",
        1,
        &["nic: expected a section, got a number", "[nic]"],
    );
    assert_refused(
        "until = \"500 us\"",
        "until = \"500 us\nseed = 1",
        14,
        &["not valid TOML", "toml.io"],
    );
    assert_refused(
        "until = \"500 us\"",
        "until = \"500 us\"\nseed = 99999999999999999999",
        15,
        &["99999999999999999999 is too large"],
    );
}
