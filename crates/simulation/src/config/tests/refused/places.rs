//! Mistakes in other files, on the command line, and anywhere.

use proptest::prelude::*;

use super::*;

#[test]
fn a_network_file_under_a_misspelt_key() {
    let text = LEAST.replace("kind = \"ring\"\nrouters = 12", "fiel = \"ring-12\"");
    let error = refusal(&text, &[]);
    assert_eq!(error.line(), Some(2));
    assert_says(
        &error,
        &["topology: unknown key `fiel`", "did you mean `file`?"],
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

    let error = refusal(&with_file("ring-typed"), &[]);
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
            "nic.acknowledge=maybe",
            [
                "nic.acknowledge: expected true or false, got \"maybe\" (given by `--set nic.acknowledge=maybe`)",
                "write true or false",
            ],
        ),
        (
            "router.speedpu=2",
            [
                "unknown key `speedpu` (given by `--set router.speedpu=2`)",
                "did you mean `speedup`?",
            ],
        ),
        (
            "rooter.speedup=2",
            [
                "unknown section `rooter` (given by `--set rooter.speedup=2`)",
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
    /// Whatever a slip of the keyboard does to the file: it is read, or refused with a page that
    /// can be printed.
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
