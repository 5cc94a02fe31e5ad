//! Parsing of sections, and errors if they do not fit.

use super::*;
use crate::{Duration, Rate};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    groups: u16,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    global: Option<Wire>,
    #[serde(default)]
    arms: Vec<Wire>,
    #[serde(default)]
    wide: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    FullMesh,
    Ring,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    latency: Duration,
    #[allow(dead_code)]
    bandwidth: Option<Rate>,
}

fn refusal(text: &str) -> ConfigError {
    Section::from_toml(text)
        .expect("the text is TOML")
        .parse::<Params>()
        .expect_err(text)
}

fn assert_refused(text: &str, line: usize, parts: &[&str]) {
    let error = refusal(text);
    let page = error.render(false);
    assert_eq!(error.line(), Some(line), "{page}");
    let flat = flat(&page);
    for part in parts {
        assert!(flat.contains(part), "{page}\nlacks {part:?}");
    }
    assert!(!page.contains('\u{1b}'), "no colour codes: {page:?}");
}

/// Without the line breaks that wrapping puts in.
fn flat(page: &str) -> String {
    let words: Vec<&str> = page.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn a_good_section_is_read_without_its_kind() {
    let text = "kind = \"ring\"\ngroups = 9\nmode = \"ring\"\nglobal = { latency = \"0.1 us\" }";
    let section = Section::from_toml(text).unwrap();
    let params: Params = section.parse().unwrap();
    assert_eq!(section.kind().unwrap(), "ring");
    assert_eq!(
        (params.groups, params.arms.len(), params.wide),
        (9, 0, false)
    );
    assert!(matches!(params.mode, Mode::Ring));
    assert_eq!(params.global.unwrap().latency, Duration(100_000));
    assert!(section.has("global.latency") && !section.has("global.bandwidth"));
}

#[test]
fn an_unknown_key_names_the_nearest_and_all() {
    assert_refused(
        "groups = 9\ngruops = 8",
        2,
        &[
            "unknown key `gruops`",
            "did you mean `groups`?",
            "`mode`, `global`",
            "section:2:1",
        ],
    );
    assert_refused(
        "groups = 9\n[global]\nlatency = \"1 ns\"\nlatencie = \"2 ns\"",
        4,
        &["global: unknown key `latencie`", "did you mean `latency`?"],
    );
}

#[test]
fn wrong_types_say_what_is_allowed() {
    assert_refused(
        "groups = \"9\"",
        1,
        &[
            "expected a whole number from 0 to 65535, got \"9\"",
            "write 9 without quotes",
        ],
    );
    assert_refused(
        "groups = 70000",
        1,
        &["groups: expected a whole number from 0 to 65535, got 70000"],
    );
    assert_refused("groups = -1", 1, &["from 0 to 65535, got -1"]);
    assert_refused("groups = 1.5", 1, &["got 1.5"]);
    assert_refused(
        "groups = 1\nwide = \"maybe\"",
        2,
        &["wide: expected true or false, got \"maybe\""],
    );
    assert_refused(
        "groups = 1\nglobal = 3",
        2,
        &["global: expected a table, got 3"],
    );
    assert_refused(
        "groups = 1\nmode = 3",
        2,
        &["mode: expected one of \"full_mesh\", \"ring\", got 3"],
    );
    assert_refused("groups = 1979-05-27", 1, &["got the date 1979-05-27"]);
}

#[test]
fn an_unknown_variant_names_the_nearest() {
    assert_refused(
        "groups = 1\nmode = \"rign\"",
        2,
        &[
            "mode: \"rign\" is not known here",
            "did you mean \"ring\"?",
            "\"full_mesh\", \"ring\"",
        ],
    );
}

#[test]
fn a_quantity_without_unit_names_an_example() {
    assert_refused(
        "groups = 1\n\n[global]\nlatency = 50",
        4,
        &[
            "global.latency: 50 has no unit",
            "\"50 ns\"",
            "latency = 50",
        ],
    );
    assert_refused(
        "groups = 1\narms = [\n  { latency = \"5 ns\" },\n  { latency = \"5 parsecs\" },\n]",
        4,
        &["arms.1.latency: \"parsecs\" is not a unit", "units: ps, ns"],
    );
}

#[test]
fn a_missing_key_is_named() {
    assert_refused(
        "mode = \"ring\"",
        1,
        &["the key `groups` is missing", "add `groups = …`"],
    );
    assert_refused(
        "groups = 1\n[global]\nbandwidth = \"1 Gbps\"",
        2,
        &["global: the key `latency` is missing"],
    );
}

#[test]
fn refusals_point_at_the_key_or_its_table() {
    let section = Section::from_toml("kind = \"x\"\n[global]\nlatency = \"0 ns\"").unwrap();
    let error = section.refuse(Invalid::new(
        "global.latency",
        "0 ns is too short",
        "use more",
    ));
    assert_eq!(error.line(), Some(3));
    assert_eq!(error.message, "global.latency: 0 ns is too short");
    assert_eq!(error.remedy(), Some("use more"));
    let error = section.refuse(Invalid::new("global.bandwidth", "…", "…"));
    assert_eq!(error.line(), Some(2), "the innermost table that is there");
}

#[test]
fn kinds_are_asked_for_and_suggested() {
    let section = Section::from_toml("algorithm = \"minimla\"").unwrap();
    let error = section.unknown_kind(["minimal", "valiant"]);
    assert_eq!(error.message, "algorithm: \"minimla\" is not known");
    assert_eq!(
        error.remedy(),
        Some("did you mean \"minimal\"? valid algorithms: \"minimal\", \"valiant\"")
    );
    let error = Section::from_toml("groups = 1")
        .unwrap()
        .kind()
        .unwrap_err();
    assert_eq!(error.message, "the key `kind` is missing");
    let error = Section::from_toml("kind = 1").unwrap().kind().unwrap_err();
    assert!(error.message.contains("expected a name, got a number"));
}

#[test]
fn broken_toml_is_shown_with_its_line() {
    let error = Section::from_toml("groups = 1\nmode = \"ring\nwide = true").unwrap_err();
    assert_eq!(error.line(), Some(2), "{}", error.render(false));
    assert!(error.message.contains("not valid TOML"));
    let error = Section::from_toml("groups = 1\ngroups = 2").unwrap_err();
    assert_eq!(error.line(), Some(2), "{}", error.render(false));
}
