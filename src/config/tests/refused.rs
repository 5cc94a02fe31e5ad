use proptest::prelude::*;

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
    let words: Vec<&str> = page
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect();
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

/// Puts `to` in place of `from` and expects an error at `line`, with these words and a remedy.
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
        "  × workload.0.load: -1 is not a load",
        "    ╭─[jobs/demo.toml:9:8]",
        "  8 │ [[workload]]",
        "  9 │ load = -1",
        "    ·        ─┬",
        "    ·         ╰── here",
        " 10 │ message = \"4 flits\"",
        "    ╰────",
        "  help: write a fraction of the endpoint's link of more than 0, for example 0.4",
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
            "`topology`, `routing`, `router`",
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
            "did you mean \"minimal\"?",
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
        "[router]\nvoqs = true",
        2,
        &["unknown key `voqs`", "did you mean `voq`?"],
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

#[test]
fn router_and_nic() {
    for (line, parts) in [
        (
            "[router]\nflit = \"2 flits\"",
            ["router.flit: \"2 flits\"", "bits or bytes"],
        ),
        (
            "[router]\nflit = \"0 bits\"",
            ["\"0 bits\" is zero", "128 KiB"],
        ),
        (
            "[router]\nflit = \"1 GB\"",
            ["too large for a flit", "500 MB"],
        ),
        (
            "[router]\nflit = 100",
            ["router.flit: 100 has no unit", "with its unit"],
        ),
        (
            "[router]\nflit = \"100 b\"",
            ["b could be bits or bytes", "`bits` or `B`"],
        ),
        (
            "[router]\nlatency = \"-5 ns\"",
            ["router.latency: \"-5 ns\" is negative", "50 ns"],
        ),
        (
            "[router]\nspeedup = 0.5",
            ["0.5 would make the crossbar slower", "\"infinite\""],
        ),
        (
            "[router]\nspeedup = inf",
            ["inf is not a number", "\"infinite\""],
        ),
        (
            "[router]\nspeedup = \"fast\"",
            ["\"fast\" is not a speedup", "at least 1"],
        ),
        (
            "[router]\nvoq = \"maybe\"",
            [
                "expected true or false, got \"maybe\"",
                "write true or false",
            ],
        ),
        (
            "[router]\ninput_buffer = \"10 flits\"",
            [
                "10 flits holds 10 flits, but the longest packet (nic.max_packet) has 24",
                "at least \"24 flits\"",
            ],
        ),
        (
            "[router]\ninput_buffer = 10",
            ["10 has no unit", "\"auto\" or a quantity"],
        ),
        (
            "[router]\noutput_queue = \"200 B\"",
            [
                "200 B holds 16 flits, but the longest packet (nic.max_packet) has 24",
                "\"none\" for no queue",
            ],
        ),
        (
            "[router]\noutput_queue = \"5000000000 flits\"",
            ["at most 4294967295", "write less"],
        ),
        (
            "[nic]\nmax_packet = \"99 bits\"",
            [
                "99 bits (99 bits) is less than one flit of 100 bits",
                "1 flit",
            ],
        ),
        (
            "[nic]\nmax_packet = \"65536 flits\"",
            ["at most 65535", "smaller max_packet"],
        ),
        (
            "[nic]\nmax_packet = \"2 packets\"",
            ["cannot be counted in packets", "24 flits"],
        ),
        (
            "[nic]\ninjection_vcs = 0",
            ["0 virtual channels", "1 or more"],
        ),
        (
            "[nic]\ninjection_vcs = 300",
            ["from 0 to 255, got 300", "whole number"],
        ),
    ] {
        assert_section_refused(line, 2, &parts);
    }
}

#[test]
fn run_and_output() {
    for (text, line, parts) in [
        (
            "until = \"500\"",
            14,
            ["run.until: \"500\" has no unit", "50 ns"],
        ),
        ("until = \"0 ns\"", 14, ["a run of 0 ns", "completion"]),
        (
            "until = \"complete\"",
            14,
            ["\"complete\" is not known", "did you mean \"completion\"?"],
        ),
        (
            "until = \"1 us\"\nwarmup = \"1 us\"",
            15,
            [
                "1 us is not before the end of the run (run.until = 1 us)",
                "shorter warmup",
            ],
        ),
        (
            "until = \"5 us\"\nwarmup = \"2 us\"\nmeasure = \"4 us\"",
            16,
            [
                "(2 us + 4 us) end after the run (run.until = 5 us)",
                "at most \"3 us\"",
            ],
        ),
        (
            "until = \"5 us\"\nmeasure = \"0 ns\"",
            15,
            ["0 ns measures nothing", "more than zero"],
        ),
        (
            "until = \"5 us\"\nseed = -1",
            15,
            [
                "run.seed: expected a whole number that is not negative, got -1",
                "write",
            ],
        ),
        (
            "until = \"5 us\"\n[output]\nbin = \"0 ns\"",
            16,
            ["0 ns is no interval", "10 us"],
        ),
        (
            "until = \"1 s\"\n[output]\noccupancy = \"1 ns\"",
            16,
            ["1 s into 1000000000 parts", "longer interval"],
        ),
        (
            "until = \"completion\"",
            8,
            ["\"workload0\" never stops", "add stop"],
        ),
    ] {
        assert_refused("until = \"500 us\"", text, line, &parts);
    }
}

#[test]
fn workload_values() {
    for (text, line, parts) in [
        ("load = 0", 9, ["0 is not a load", "more than 0"]),
        ("load = nan", 9, ["NaN is not a load", "more than 0"]),
        (
            "load = \"0.4\"",
            9,
            ["expected a number, got \"0.4\"", "write 0.4 without quotes"],
        ),
        (
            "load = 0.4\nname = \"a b\"",
            10,
            ["\"a b\" is not a name", "letters, digits"],
        ),
        (
            "load = 0.4\nname = \"\"",
            10,
            ["\"\" is not a name", "letters, digits"],
        ),
        (
            "load = 0.4\nendpoints = \"32..16\"",
            10,
            [
                "the range \"32..16\" is empty: 32 is not below 16",
                "two dots",
            ],
        ),
        (
            "load = 0.4\nendpoints = \"some\"",
            10,
            ["\"some\" names no endpoints", "\"16..32\""],
        ),
        (
            "load = 0.4\nendpoints = [1, 2, 1]",
            10,
            ["endpoint 1 is listed twice", "once"],
        ),
        (
            "load = 0.4\nendpoints = [1, -2]",
            10,
            ["workload.0.endpoints.1: expected a whole number", "got -2"],
        ),
        (
            "load = 0.4\nendpoints = []",
            10,
            ["the list is empty", "\"rest\""],
        ),
        ("load = 0.4\nendpoints = 16", 10, ["got 16", "\"16..32\""]),
        (
            "load = 0.4\nendpoints = { count = 0, placement = \"linear\" }",
            10,
            ["endpoints.count: 0 endpoints", "1 or more"],
        ),
        (
            "load = 0.4\nendpoints = { count = 2, placement = \"randm\" }",
            10,
            ["endpoints.placement: \"randm\"", "did you mean \"random\"?"],
        ),
        (
            "load = 0.4\nendpoints = { cuont = 2, placement = \"random\" }",
            10,
            ["endpoints: unknown key `cuont`", "did you mean `count`?"],
        ),
        (
            "load = 0.4\nstop = \"0 ns\"",
            10,
            ["0 ns is not after the start (0 ns)", "later stop"],
        ),
        (
            "load = 0.4\nstart = \"600 us\"",
            10,
            ["600 us is not before the end of the run", "earlier start"],
        ),
        (
            "load = 0.4\ninjection = \"bernouli\"",
            10,
            ["\"bernouli\"", "did you mean \"bernoulli\"?"],
        ),
    ] {
        assert_refused("load = 0.4", text, line, &parts);
    }
    for (message, parts) in [
        ("4", ["workload.0.message: 4 has no unit", "\"4 flits\""]),
        (
            "\"4 flots\"",
            ["\"flots\" is not a unit of data", "did you mean flits?"],
        ),
        ("[]", ["the list is empty", "share = 0.5"]),
        (
            "[{ size = \"1 flit\", share = 0 }]",
            ["message.0.share: 0 is not a share", "more than 0"],
        ),
        (
            "[{ size = \"1 flit\" }]",
            ["message.0: the key `share` is missing", "add `share"],
        ),
    ] {
        assert_refused("\"4 flits\"", message, 10, &parts);
    }
}

#[test]
fn workload_names_are_unique() {
    let second = "[[workload]]\nname = \"workload0\"\nload = 1\nmessage = \"1 flit\"\npattern = { kind = \"uniform\" }\n";
    assert_section_refused(
        second,
        2,
        &[
            "\"workload0\" is the name of workloads 0 and 1",
            "a name of its own",
        ],
    );
}

#[test]
fn errors_in_a_network_file_point_into_it() {
    let with_file = |name: &str| {
        LEAST.replace(
            "kind = \"ring\"\nrouters = 12",
            &format!("file = \"{name}\""),
        )
    };
    let error = refusal(&with_file("ring-bad"), &[]);
    assert_eq!(
        (error.file(), error.line()),
        (Some("topologies/ring-bad.toml"), Some(3))
    );
    assert_says(
        &error,
        &[
            "unknown key `rooters`",
            "did you mean `routers`?",
            "topologies/ring-bad.toml:3:1",
        ],
    );

    let error = refusal(&with_file("ring-11"), &[]);
    assert_eq!(
        (error.file(), error.line()),
        (Some("jobs/demo.toml"), Some(2))
    );
    assert_says(
        &error,
        &[
            "\"ring-11\" is not a ready network",
            "did you mean \"ring-12\"?",
            ".toml",
        ],
    );

    let error = refusal(&with_file("nets/none.toml"), &[]);
    assert_eq!(
        (error.file(), error.line()),
        (Some("jobs/demo.toml"), Some(2))
    );
    assert_says(
        &error,
        &[
            "nets/none.toml cannot be read: there is no such file",
            "relative to the experiment file",
        ],
    );

    let error = refusal(&with_file("ring-12\"\nkind = \"star"), &[]);
    assert_eq!(error.line(), Some(3));
    assert_says(
        &error,
        &[
            "topology.kind: differs from the kind in the file \"ring-12\"",
            "remove `kind`",
        ],
    );

    let error = refusal(&LEAST.replace("kind = \"ring\"", "file = 3"), &[]);
    assert_says(
        &error,
        &["topology.file: expected a name or a path, got a number"],
    );

    // A value of the wrong type comes to light where the topology is built.
    let experiment = load(&with_file("ring-typed"), &[]).unwrap();
    let error = experiment.topology.parse::<Ring>().unwrap_err();
    assert_eq!(
        (error.file(), error.line()),
        (Some("topologies/ring-typed.toml"), Some(2))
    );
    assert_says(
        &error,
        &[
            "topology.routers: expected a whole number",
            "write 12 without quotes",
        ],
    );
}

#[test]
fn what_came_from_the_command_line_is_said_to() {
    for (set, parts) in [
        (
            "router.voq=maybe",
            [
                "router.voq: expected true or false, got \"maybe\" (given by `--set router.voq=maybe`)",
                "write true or false",
            ],
        ),
        (
            "router.vqo=true",
            [
                "unknown key `vqo` (given by `--set router.vqo=true`)",
                "did you mean `voq`?",
            ],
        ),
        (
            "rooter.voq=true",
            [
                "unknown section `rooter` (given by `--set rooter.voq=true`)",
                "did you mean `router`?",
            ],
        ),
        (
            "topology.rotters=3",
            ["unknown key `rotters` (given by", "did you mean `routers`?"],
        ),
        (
            "congestion.scheme=enc",
            ["\"enc\" is not known (given by", "did you mean \"ecn\"?"],
        ),
        (
            "workload.1.load=0.5",
            [
                "workload has no element \"1\" (given by",
                "an index from 0 to 0",
            ],
        ),
        (
            "workload.hto.load=0.5",
            [
                "there is no workload called \"hto\"",
                "valid names: \"workload0\"",
            ],
        ),
        (
            "run.until.x=1",
            ["run.until is a text: it has no `x`", "set run.until itself"],
        ),
        (
            "run.seed",
            [
                "there is no `=` (given by `--set run.seed`)",
                "--set key.path=value",
            ],
        ),
        (
            "run..seed=1",
            [
                "\"run..seed\" is not a path of keys",
                "--set key.path=value",
            ],
        ),
        (
            "nic.max_packet=70000 flits",
            [
                "70000 flits is 70000 flits of 100 bits; at most 65535",
                "(given by `--set nic.max_packet=70000 flits`)",
            ],
        ),
        (
            "topology.file=ring-13",
            ["\"ring-13\" is not a ready network", "(given by"],
        ),
    ] {
        let error = refusal(LEAST, &[set]);
        assert_eq!(error.line(), None, "{set}");
        assert_says(&error, &parts);
    }
}

#[test]
fn a_file_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.toml");
    let error = Experiment::load_with(&path, &[], &catalog()).unwrap_err();
    assert!(
        error
            .message
            .contains("none.toml cannot be read: there is no such file")
    );
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    let error = Experiment::load_with(&path, &[], &catalog()).unwrap_err();
    assert!(error.message.contains("it is not UTF-8 text"));
    assert!(error.remedy().is_some());
}

proptest! {
    /// Whatever a slip of the keyboard does to the file: it is read, or refused with a page that can be printed.
    #[test]
    fn slips_never_make_it_panic(at: prop::sample::Index, length in 0..12usize, slip in "[^a-z]{0,3}") {
        let mut characters: Vec<char> = LEAST.chars().collect();
        let start = at.index(characters.len());
        let end = (start + length).min(characters.len());
        characters.splice(start..end, slip.chars());
        let text: String = characters.into_iter().collect();
        match load(&text, &[]) {
            Ok(experiment) => prop_assert!(load(&experiment.resolved, &[]).is_ok()),
            Err(error) => prop_assert!(page(&error).contains("jobs/demo.toml"), "{}", error.render(false)),
        }
    }

    #[test]
    fn no_set_makes_it_panic(path in "(run|router|workload|topology)?[.a-z0-9]{0,12}", value in ".{0,20}") {
        if let Err(error) = load(LEAST, &[&format!("{path}={value}")]) {
            prop_assert!(!error.render(false).is_empty());
        }
    }
}
