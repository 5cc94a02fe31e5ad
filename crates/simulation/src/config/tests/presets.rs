//! Presets lie below the user's keys, in their order.

use super::*;
use crate::config::*;

/// On a star, whose minimal routing has a parameter.
const STAR: &str = "\
[topology]
kind = \"star\"

[[workload]]
load = 0.4
message = \"4 flits\"
pattern = { kind = \"uniform\" }

[run]
until = \"500 us\"
";

fn good(text: &str, sets: &[&str]) -> Experiment {
    load(text, sets).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

#[test]
fn the_users_keys_lie_above_a_presets() {
    let text = format!("preset = \"far\"\nrouter = {{ latency = \"9 ns\" }}\n{STAR}");
    let experiment = good(&text, &[]);
    assert_eq!(experiment.routing.kind().unwrap(), "minimal");
    assert_eq!(experiment.router.speedup, Speedup::Times(3.0));
    assert_eq!(experiment.router.latency, Duration(9_000));
    assert!(experiment.resolved.contains("by = 7"));
    let set = good(&text, &["routing.by=5"]);
    assert!(set.resolved.contains("by = 5"), "{}", set.resolved);
    // Only the effective values are left of it.
    assert!(!experiment.resolved.contains("preset"));
    let plain = "routing = { algorithm = \"minimal\", by = 7 }\nrouter = { latency = \"9 ns\", speedup = 3.0 }\n";
    assert_eq!(
        experiment.resolved,
        good(&format!("{plain}{STAR}"), &[]).resolved
    );
}

#[test]
fn later_presets_lie_above_earlier_ones() {
    let text = |presets: &str| format!("preset = {presets}\n{STAR}");
    let by = |presets: &str| {
        let experiment = good(&text(presets), &[]);
        assert_eq!(experiment.nic.order, NicOrder::Fifo);
        assert_eq!(experiment.router.speedup, Speedup::Times(3.0));
        experiment.routing.text()
    };
    assert!(by("[\"far\", \"near\"]").contains("by = 2"));
    assert!(by("[\"near\", \"far\"]").contains("by = 7"));
    let none = good(
        &format!("routing.algorithm = \"minimal\"\n{}", text("[]")),
        &[],
    );
    assert_eq!(none.nic.order, NicOrder::Fair);
}

#[test]
fn another_variant_takes_none_of_the_presets_parameters() {
    let text = format!("preset = [\"far\", \"near\"]\nrouting.algorithm = \"up\"\n{STAR}");
    let experiment = good(&text, &[]);
    assert_eq!(experiment.routing.text(), "{ algorithm = \"up\" }");
    assert_eq!(experiment.router.speedup, Speedup::Times(3.0));
}

#[test]
fn presets_can_be_set_from_the_command_line() {
    let experiment = good(STAR, &["preset=far"]);
    assert_eq!(experiment.router.latency, Duration(7_000));
}

/// Error with which a file beside the experiment is refused.
fn refused(preset: &str) -> ConfigError {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("own.toml"), preset).expect("a file");
    let text = format!("preset = \"own.toml\"\n{STAR}");
    Experiment::from_text("x.toml", &text, folder.path(), &[], &catalog()).expect_err(preset)
}

#[test]
fn mistakes_in_a_preset_point_at_its_line() {
    let error = load(&format!("preset = [\"far\", \"wrong\"]\n{STAR}"), &[]).unwrap_err();
    assert_eq!(error.file(), Some("presets/wrong.toml"));
    assert_eq!(error.line(), Some(3));
    assert!(error.message.contains("speed"), "{error}");

    for (preset, line, message) in [
        (
            "[run]\nuntil = \"1 us\"",
            1,
            "a preset has no section `run`",
        ),
        ("router = 3", 1, "router: expected a section, got a number"),
        (
            "[routing]\n\nby = 3",
            3,
            "routing.by: the parameters of a routings stand in a table of its name",
        ),
        (
            "[routing.minimla]\nby = 3",
            1,
            "routing: there is no routings called \"minimla\"",
        ),
        (
            "[routing]\nalgorithm = \"minimla\"",
            2,
            "routing.algorithm: \"minimla\" is not known",
        ),
    ] {
        let error = refused(preset);
        assert!(
            error.file().is_some_and(|file| file.ends_with("own.toml")),
            "{error}"
        );
        assert_eq!(
            (error.line(), error.message.as_str()),
            (Some(line), message)
        );
        assert!(error.remedy().is_some());
    }
}

#[test]
fn names_of_presets_are_checked() {
    for (preset, message, remedy) in [
        (
            "\"fra\"",
            "preset: \"fra\" is not a preset",
            "did you mean \"far\"?",
        ),
        (
            "[\"far\", \"nera\"]",
            "preset.1: \"nera\" is not a preset",
            "did you mean \"near\"?",
        ),
        (
            "3",
            "preset: expected the name of a preset, got a number",
            "weir list presets",
        ),
        (
            "[\"far\", 3]",
            "preset.1: expected the name of a preset, got a number",
            "weir list presets",
        ),
    ] {
        let error = load(&format!("preset = {preset}\n{STAR}"), &[]).unwrap_err();
        assert_eq!(error.message, message);
        assert_eq!(error.line(), Some(1));
        assert!(error.remedy().is_some_and(|text| text.contains(remedy)));
    }
    let error = refused("[router]").message;
    assert!(error.contains("[routing] is missing"), "{error}");
}
