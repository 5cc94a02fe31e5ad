//! Figures of a job file: keys that their kind does not use are refused, and ranges are in the
//! units of their axes.

use super::refused::assert_refused;
use super::{AXES, study_with};
use crate::Options;

#[test]
fn a_figure_that_cannot_be_drawn_is_refused() {
    let figure = |text: &str| format!("{AXES}\n[[figure]]\nid = \"f\"\n{text}\n");
    for (text, line, words) in [
        (
            "kind = \"line\"\nx = \"load\"\ny = \"summary.acepted_load\"",
            16,
            ["no metric", "did you mean `accepted_load`"],
        ),
        (
            "kind = \"line\"\nx = \"laod\"\ny = \"summary.accepted_load\"",
            15,
            ["no axis `laod`", "did you mean `load`"],
        ),
        (
            "kind = \"line\"\ny = \"summary.accepted_load\"",
            12,
            ["`x` is missing", "name an axis"],
        ),
        (
            "kind = \"lien\"\nx = \"load\"\ny = \"summary.accepted_load\"",
            14,
            ["\"lien\"", "did you mean \"line\""],
        ),
        (
            "kind = \"line\"\nx = \"load\"\ny = \"summary.accepted_load\"\nratio = {}",
            17,
            ["compares every point with itself", "another point"],
        ),
        (
            "kind = \"heatmap\"\ny = \"ports.local.bussy\"",
            15,
            ["no kind of port", "name a kind"],
        ),
        (
            "kind = \"line\"\nx = \"load\"\ny = []",
            16,
            ["nothing to draw", "at least one"],
        ),
        (
            "kind = \"line\"\nx = \"load\"\ny = 3",
            16,
            ["expected a name or a list", "write"],
        ),
        (
            "kind = \"line\"\nx = \"load\"\ny = \"summary.accepted_load\"\nseries = \"scheme\"",
            17,
            ["no axis `scheme`", "`routing`"],
        ),
        (
            "kind = \"time\"\ny = \"summary.accepted_load\"",
            15,
            ["cannot be drawn", "name a column"],
        ),
        (
            "kind = \"time\"\ny = \"series.job.hto.messages\"",
            15,
            ["no workload called \"hto\"", "did you mean `hot`"],
        ),
        (
            "kind = \"distribution\"\ny = \"latency.mesage\"",
            15,
            ["no metric", "did you mean `message`"],
        ),
        (
            "kind = \"heatmap\"\ny = \"ports.rubbish\"",
            15,
            [
                "the network has no rubbish ports",
                "valid kinds: `terminal`",
            ],
        ),
        (
            "kind = \"heatmap\"\ny = \"ports.all.bussy\"",
            15,
            ["no kind of port", "`fabric` (between routers) or `all`"],
        ),
        (
            "kind = \"ternary\"\ny = [\"ports.local\", \"ports.lokal\"]",
            15,
            ["the network has no lokal ports", "did you mean `local`"],
        ),
    ] {
        assert_refused(&figure(text), line, &words);
    }
}

/// Kinds of figures with what they draw.
const LINE: &str = "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"";
const BAR: &str = "kind = \"bar\"\nx = \"load\"\ny = \"latency.message.mean\"";
const BOX: &str = "kind = \"box\"\nx = \"load\"\ny = \"latency.message.mean\"";
const STACKED: &str = "kind = \"stacked\"\nx = \"load\"\ny = \"latency.message.mean\"";
const TIME: &str = "kind = \"time\"\n\ny = \"series.job.hot.messages\"";
const DISTRIBUTION: &str = "kind = \"distribution\"\n\ny = \"latency.message\"";
const TERNARY: &str = "kind = \"ternary\"\n\ny = \"ports.local\"";
const HEATMAP: &str = "kind = \"heatmap\"\n\ny = \"ports.local\"";

/// Checks that the line below such a figure is refused.
fn assert_refused_below(figure: &str, line: &str, words: [&str; 2]) {
    let figure = format!("{AXES}\n[[figure]]\nid = \"f\"\n{figure}\n{line}\n");
    assert_refused(&figure, 17, &words);
}

#[test]
fn a_key_that_the_kind_does_not_use_is_refused() {
    for (figure, line, kinds) in [
        (LINE, "up = \"routing\"", "\"map\""),
        (BAR, "y_scale = \"log\"", "\"line\", \"time\", \"map\""),
        (
            BAR,
            "x_label = \"load\"",
            "\"line\", \"time\", \"distribution\"",
        ),
        (
            BOX,
            "interval = \"confidence\"",
            "\"line\", \"bar\", \"time\"",
        ),
        (
            STACKED,
            "ratio = { where = { load = 0.1 } }",
            "\"line\", \"bar\", \"box\"",
        ),
        (TIME, "x = \"load\"", "\"line\", \"bar\""),
        (DISTRIBUTION, "y_scale = \"linear\"", "\"line\", \"time\""),
        (TERNARY, "y_label = \"share\"", "\"line\", \"bar\""),
        (HEATMAP, "x_label = \"time\"", "\"line\", \"time\""),
    ] {
        assert_refused_below(figure, line, ["does not use this", kinds]);
    }
}

#[test]
fn a_bad_range_is_refused() {
    for (figure, line, words) in [
        (
            LINE,
            "x_range = [1.0, 0.0]",
            ["the range is empty", "smaller first"],
        ),
        (
            LINE,
            "x_range = [0.0, nan]",
            ["x_range.1: nan", "without quotes"],
        ),
        (
            LINE,
            "y_range = [0, 4000]",
            ["y_range.0: 0 has not the unit", "\"50 ns\""],
        ),
        (
            LINE,
            "x_range = [\"0 ns\", \"1 us\"]",
            ["0 ns has not the unit", "without quotes"],
        ),
        (
            LINE,
            "y_range = [\"0 ns\", \"1 us\"]\ny_scale = \"log\"",
            ["no place on a logarithmic axis", "above 0"],
        ),
        (
            DISTRIBUTION,
            "x_range = [\"0 ns\", \"1 us\"]",
            ["no place on a logarithmic axis", "above 0"],
        ),
    ] {
        assert_refused_below(figure, line, words);
    }
}

#[test]
fn quantities_of_different_units_have_no_common_axis() {
    let figure = |kind: &str, names: &str, more: &str| {
        format!("{AXES}\n[[figure]]\nid = \"f\"\n{kind}\ny = [{names}]\n{more}\n")
    };
    let line = "kind = \"line\"\nx = \"load\"";
    let metrics = "\"latency.message.mean\", \"summary.accepted_load\"";
    let range = "y_range = [\"1 ns\", \"1 us\"]";
    let words = ["have different units", "a figure for each"];
    assert_refused(&figure(line, metrics, range), 16, &words);
    let columns = "\"series.job.hot.delivered_bytes\", \"series.job.hot.message_latency\"";
    assert_refused(&figure("kind = \"time\"", columns, ""), 15, &words);
    // Each unit has its panel.
    let panels = figure(line, metrics, "");
    assert!(study_with("", &panels, &Options::default()).is_ok());
}

/// The ranges of a figure along the bottom and upwards.
fn ranges(figure: &str) -> [Option<[f64; 2]>; 2] {
    let more = format!("{AXES}\n[[figure]]\nid = \"f\"\n{figure}\n");
    let study = study_with("", &more, &Options::default()).expect(figure);
    [study.figures[0].x_range, study.figures[0].y_range]
}

#[test]
fn a_range_is_in_the_unit_of_its_axis() {
    let range = "y_range = [\"1 us\", \"2 us\"]";
    let table = "kind = \"line\"\nx = \"load\"\nx_range = [0.1, 0.5]\ny = \"latency.message.mean\"";
    // The table has times in ns, the results in ps.
    assert_eq!(
        ranges(&format!("{table}\n{range}")),
        [Some([0.1, 0.5]), Some([1e3, 2e3])]
    );
    let rows = "kind = \"time\"\nx_range = [\"0 ns\", \"1 us\"]\ny = \"series.job.hot";
    assert_eq!(
        ranges(&format!("{rows}.message_latency\"\n{range}")),
        [Some([0.0, 1e6]), Some([1e6, 2e6])]
    );
    assert_eq!(
        ranges(&format!("{rows}.delivered_bytes\"\ny_range = [0.0, 1e9]")),
        [Some([0.0, 1e6]), Some([0.0, 1e9])]
    );
}

#[test]
fn windows_line_ends_change_no_text() {
    let figure = "kind = \"ternary\"\ny = \"ports.local\"\ncaption = \"\"\"\none\ntwo\"\"\"\n";
    let more = format!("{AXES}\n[[figure]]\nid = \"f\"\n{figure}").replace('\n', "\r\n");
    let study = study_with("", &more, &Options::default()).expect("good");
    assert_eq!(study.figures[0].caption.as_deref(), Some("one\ntwo"));
}

#[test]
fn figures_have_different_ids() {
    let figure = format!("[[figure]]\nid = \"f\"\n{TERNARY}\n");
    let words = ["\"f\" is given twice", "its own name"];
    assert_refused(&format!("{figure}{figure}"), 7, &words);
    let other = figure.replace("\"f\"", "\"g\"");
    assert!(study_with("", &format!("{figure}{other}"), &Options::default()).is_ok());
}
