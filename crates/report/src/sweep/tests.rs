//! Figures of a sweep made of its table.

use super::names::{distinct, words};
use super::seeds::mean;
use super::*;
use crate::figure::{Panel, Plot};
use weir_simulation::catalog::catalog;
use weir_study::{Options, Row};

const JOB: &str = r#"
title = "test"
seeds = 2
topology = { file = "dragonfly-72" }
routing = { algorithm = "minimal" }
run = { until = "10 us", warmup = "1 us" }
output = { occupancy = "1 us", rates = { interval = "1 us", tasks = { w = [0] } } }
[[workload]]
name = "w"
pattern = { kind = "uniform" }
load = 0.1
message = "4 flits"
[[axis]]
name = "routing"
key = "routing.algorithm"
values = ["minimal", "par"]
[[axis]]
name = "load"
label = "offered load"
key = "workload.w.load"
values = [0.2, 0.4, 0.6]
"#;

/// The table of this study as if everything had run: the metrics of point p with seed s are 100 p +
/// 10 m + s.
fn with<T>(figure: &str, check: impl FnOnce(&Sweep, &Figure) -> T) -> T {
    with_job(JOB, figure, check)
}

fn with_job<T>(job: &str, figure: &str, check: impl FnOnce(&Sweep, &Figure) -> T) -> T {
    let text = format!("{job}[[figure]]\nid = \"f\"\n{figure}");
    let folder = tempfile::tempdir().expect("a directory");
    let study = Study::parse(&text, folder.path(), &Options::default()).expect("a study");
    let catalog = catalog();
    let points = study.points(&catalog).expect("points");
    let dir = SweepDir::new(folder.path());
    let metrics = study.metrics();
    let rows = points.iter().map(|point| Row {
        few: false,
        point: point.index,
        hash: point.hash.clone(),
        at: point.at.clone(),
        seed: point.seed,
        // Both seeds of the second place, and one of the third.
        state: if [2, 3, 4].contains(&point.index) {
            "failed"
        } else {
            "done"
        }
        .into(),
        values: (0..metrics.len())
            .map(|m| match point.index {
                2..=4 => None,
                index => Some(100.0 * (index / 2) as f64 + 10.0 * m as f64 + point.seed as f64),
            })
            .collect(),
    });
    let table = Table {
        rows: rows.collect(),
        metrics,
    };
    let sweep = Sweep::new(&study, &catalog, &points, &dir, &table).expect("a sweep");
    let figures = sweep.figures().expect("figures");
    check(&sweep, &figures[0])
}

fn lines(panel: &Panel) -> &crate::figure::Lines {
    match &panel.plot {
        Plot::Lines(lines) => lines,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_has_the_means_of_the_table_and_a_gap_where_all_failed() {
    with(
        "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"\nseries = \"routing\"",
        |_, figure| {
            let series = &lines(&figure.panels[0]).series;
            let names: Vec<_> = series.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names, ["minimal", "par"]);
            let [first, failed, half] = series[0].points[..] else {
                panic!("{:?}", series[0]);
            };
            assert_eq!((first.x, first.y, first.spread), (0.2, 1.5, [1.0, 2.0]));
            assert!(failed.x == 0.4 && failed.y.is_nan());
            assert!(
                half.y == 202.0 && half.spread[0].is_nan(),
                "one seed is no spread"
            );
            assert_eq!(series[1].points[2].y, 501.5);
            let text = figure.caption.join("\n");
            assert!(text.contains("Means of 2 seeds"), "{text}");
            assert!(
                text.contains("3 of 12 points: routing=minimal load=0.4 seed=1 (failed)"),
                "{text}"
            );
            assert!(
                text.contains("seeds 1, 2") && !text.contains("routing par"),
                "{text}"
            );
        },
    );
}

#[test]
fn numbers_on_the_axis_ascend_and_the_caption_names_what_is_selected() {
    let job = JOB.replace("[0.2, 0.4, 0.6]", "[0.6, 0.2, 0.4]");
    let figure = "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"\n\
                  where = { routing = \"par\", load = [0.6, 0.4, 0.2] }";
    with_job(&job, figure, |_, figure| {
        let points = &lines(&figure.panels[0]).series[0].points;
        let points: Vec<(f64, f64)> = points.iter().map(|one| (one.x, one.y)).collect();
        assert_eq!(points, [(0.2, 401.5), (0.4, 501.5), (0.6, 301.5)]);
        let selected = "Where routing = par; load = 0.6, 0.4, 0.2.";
        let text = figure.caption.join("\n");
        assert!(text.contains(selected), "{text}");
    });
}

#[test]
fn the_csv_file_has_the_points_of_the_figure() {
    with(
        "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"\nseries = \"routing\"",
        |_, figure| {
            let csv = figure.data.csv();
            let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
            assert_eq!(rows[0][..6], ["panel", "series", "x", "y", "low", "high"]);
            assert_eq!(rows.len(), 1 + 6);
            assert_eq!(rows[1][1..7], ["minimal", "0.2", "1.5", "1", "2", ""]);
            assert_eq!(rows[2][1..6], ["minimal", "0.4", "", "", ""]);
            let plot = lines(&figure.panels[0]);
            let points = plot.series.iter().flat_map(|one| &one.points);
            for (row, point) in rows[1..].iter().zip(points) {
                assert_eq!(row[2].parse(), Ok(point.x));
                assert!(row[3].parse() == Ok(point.y) || row[3].is_empty() && point.y.is_nan());
                assert_eq!(row[7], "ns");
            }
        },
    );
}

#[test]
fn metrics_of_different_units_have_panels_of_their_own() {
    let y = "kind = \"line\"\nx = \"load\"\nseries = \"routing\"\n\
             y = [\"summary.accepted_load\", \"latency.message.mean\", \"latency.message.p99\"]";
    with(y, |_, figure| {
        let count = figure.panels.iter().map(|panel| lines(panel).series.len());
        assert_eq!(count.collect::<Vec<_>>(), [2, 4]);
        assert_eq!(lines(&figure.panels[1]).y.unit, "ns");
    });
}

#[test]
fn panels_and_a_metric_along_the_bottom() {
    let y = "kind = \"line\"\nx = \"summary.offered_load\"\ny = \"summary.accepted_load\"\npanel = \"routing\"";
    with(y, |_, figure| {
        assert_eq!(figure.panels.len(), 2);
        let plot = lines(&figure.panels[1]);
        assert_eq!(figure.panels[1].title, "par");
        // The metrics are in the order x, y.
        let places: Vec<_> = plot.series[0]
            .points
            .iter()
            .map(|point| (point.x, point.y))
            .collect();
        assert_eq!(places, [(301.5, 311.5), (401.5, 411.5), (501.5, 511.5)]);
        assert!(plot.diagonal);
    });
}

#[test]
fn an_axis_without_a_place_names_the_series() {
    with(
        "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"",
        |_, figure| {
            assert_eq!(figure.legend(), ["minimal", "par"]);
        },
    );
    let one = "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"\nwhere = { routing = \"par\" }";
    with(one, |_, figure| assert_eq!(figure.legend(), [""]));
}

#[test]
fn bars_and_stacks_have_the_numbers_of_the_table() {
    let bars = |figure: &Figure| match &figure.panels[0].plot {
        Plot::Bars(bars) => bars.clone(),
        other => panic!("{other:?}"),
    };
    with(
        "kind = \"bar\"\nx = \"routing\"\ny = \"latency.message.mean\"\nseries = \"load\"",
        |_, figure| {
            let bars = bars(figure);
            assert_eq!(bars.groups.len(), 2);
            let names: Vec<_> = bars.groups[1]
                .bars
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            assert_eq!(
                names,
                ["offered load 0.2", "offered load 0.4", "offered load 0.6"]
            );
            assert!(bars.groups[0].bars[1].1.y.is_nan());
            assert_eq!(bars.groups[1].bars[1].1.y, 401.5);
            assert_eq!(figure.data.rows.len(), 6);
        },
    );
    let y = "kind = \"stacked\"\nx = \"routing\"\ny = [\"ejection.data\", \"ejection.control\"]\nwhere = { load = 0.6 }";
    with(y, |_, figure| {
        let bars = bars(figure);
        assert!(bars.stacked);
        assert_eq!(figure.legend(), ["data", "control"]);
        assert_eq!(bars.groups[1].total(), 501.5 + 511.5);
    });
}

#[test]
fn bars_of_each_metric_stand_together() {
    let y = "kind = \"bar\"\nx = \"metrics\"\ny = [\"latency.job.w.message.p99\", \"latency.job.w.network.p99\"]\n\
             series = \"load\"\nwhere = { routing = \"par\" }";
    with(y, |_, figure| {
        let Plot::Bars(bars) = &figure.panels[0].plot else {
            panic!("{figure:?}");
        };
        let names: Vec<_> = bars
            .groups
            .iter()
            .map(|group| group.name.as_str())
            .collect();
        assert_eq!(names, ["message", "network"]);
        let network = bars.groups[1].bars.iter().map(|(_, point)| point.y);
        assert_eq!(network.collect::<Vec<_>>(), [311.5, 411.5, 511.5]);
    });
}

#[test]
fn figures_of_rows_do_without_results_too() {
    for (kind, y) in [
        ("time", "series.job.w.message_latency"),
        ("time", "series.job.*.delivered_bytes_per_task"),
        ("time", "rates.w.0"),
        ("heatmap", "occupancy @ 2 us"),
        ("distribution", "latency.message"),
        ("ternary", "ports.local"),
        ("heatmap", "occupancy"),
    ] {
        let wanted = format!(
            "kind = \"{kind}\"\ny = \"{y}\"\npanel = \"routing\"\nwhere = {{ load = 0.4, routing = \"minimal\" }}"
        );
        with(&wanted, |_, figure| {
            assert!(figure.is_empty(), "{kind}");
            crate::draw::files(figure).expect("draws");
        });
    }
}

#[test]
fn the_page_names_failed_points() {
    let y = "kind = \"line\"\nx = \"load\"\ny = \"latency.message.mean\"\n\
             [[claims]]\nid = \"c\"\nsays = \"a <claim>\"\nmetric = \"latency.message.mean\"\nwhere = { load = 0.2 }\nmax = \"1 us\"";
    with(y, |sweep, _| {
        let verdicts = sweep.study.verdicts(sweep.table);
        let html = page::page(sweep, &verdicts)
            .expect("a page")
            .html()
            .expect("draws");
        assert!(html.contains("3 of 12 points have no result"), "{html}");
        assert!(
            html.contains("a &lt;claim&gt;") && html.contains("figure-f"),
            "{html}"
        );
        assert!(html.contains(&verdicts[0].measured), "{html}");
    });
}

#[test]
fn means_leave_out_what_is_missing() {
    assert_eq!(
        mean(&[1.0, f64::NAN, 3.0], Interval::Range),
        (2.0, [1.0, 3.0])
    );
    assert!(mean(&[], Interval::Range).0.is_nan());
    // 12.7062 standard errors of 1 on either side; with 30 seeds 2.045 of them.
    let (_, [low, high]) = mean(&[1.0, 3.0], Interval::Confidence);
    assert!((low + 10.7062).abs() < 1e-9 && (high - 14.7062).abs() < 1e-9);
    let thirty: Vec<f64> = (0..30).map(|x| f64::from(x % 2)).collect();
    let (middle, [low, high]) = mean(&thirty, Interval::Confidence);
    let error = (30.0 * 0.25 / 29.0 / 30.0f64).sqrt();
    assert!(
        ((high - middle) / error - 2.0452).abs() < 1e-3
            && (middle - low - (high - middle)).abs() < 1e-12
    );
}

#[test]
fn names_lose_what_they_have_in_common() {
    let short = |names: &[&str]| {
        distinct(
            &names
                .iter()
                .map(|name| name.to_string())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        short(&["ejection.data", "ejection.control"]),
        ["data", "control"]
    );
    assert_eq!(
        short(&["latency.job.a.message.p99", "latency.job.b.message.p99"]),
        ["a", "b"]
    );
    assert_eq!(short(&["latency.message.p99"]), ["latency.message.p99"]);
    assert_eq!(short(&["a.b.c", "a.c"]), ["b.c", "c"]);
    assert_eq!(
        words("latency.job.victims.message.p99"),
        "message latency of victims, p99"
    );
}

#[test]
fn ratios_are_taken_seed_by_seed() {
    let y = "kind = \"line\"\nx = \"load\"\ny = \"summary.accepted_load\"\nseries = \"routing\"\nratio = { where = { routing = \"minimal\" } }";
    with(y, |_, figure| {
        let lines = lines(&figure.panels[0]);
        assert_eq!(lines.series[0].points[0].y, 1.0);
        // 301 / 1 and 302 / 2 of the two seeds, not the ratio of their means.
        let first = lines.series[1].points[0];
        assert_eq!((first.y, first.spread), (226.0, [151.0, 301.0]));
        // There is no ratio at the place where minimal routing failed. Where one of its seeds
        // failed, the ratio is that of the other.
        assert!(lines.series[1].points[1].y.is_nan());
        assert_eq!(lines.series[1].points[2].y, 502.0 / 202.0);
        assert!(lines.y.label.ends_with("over that at routing minimal") && lines.y.unit.is_empty());
    });
    let y = "kind = \"bar\"\nx = \"load\"\ny = \"latency.message.p99\"\nratio = { metric = \"latency.message.mean\" }\nwhere = { routing = \"par\" }";
    with(y, |_, figure| {
        let Plot::Bars(bars) = &figure.panels[0].plot else {
            panic!("{figure:?}");
        };
        let ratio = (301.0 / 311.0 + 302.0 / 312.0) / 2.0;
        assert!((bars.groups[0].bars[0].1.y - ratio).abs() < 1e-12);
    });
}

#[test]
fn boxes_have_the_values_of_all_seeds() {
    let y = "kind = \"box\"\nx = \"load\"\ny = \"summary.accepted_load\"\nseries = \"routing\"";
    with(y, |_, figure| {
        let Plot::Bars(bars) = &figure.panels[0].plot else {
            panic!("{figure:?}");
        };
        assert!(bars.boxes);
        assert_eq!(bars.groups[0].values, [[1.0, 2.0], [301.0, 302.0]]);
        assert_eq!(bars.groups[0].bars[1].1.y, 301.5);
        let box_of = |row: usize| &figure.data.rows[row][7..];
        assert_eq!(box_of(0), ["1.25", "1.75", "1 2"]);
        assert_eq!(box_of(1), ["301.25", "301.75", "301 302"]);
        // Minimal routing has no value at the second place.
        assert!(bars.groups[1].values[0][0].is_nan());
    });
}

#[test]
fn whiskers_may_be_where_the_mean_lies() {
    let y =
        "kind = \"line\"\nx = \"load\"\ny = \"summary.accepted_load\"\ninterval = \"confidence\"";
    with(y, |_, figure| {
        let first = lines(&figure.panels[0]).series[0].points[0];
        assert!(
            (first.spread[1] - 1.5 - 12.7062 * 0.5).abs() < 1e-9,
            "{first:?}"
        );
        assert!(
            figure
                .caption
                .iter()
                .any(|text| text.contains("95% confidence"))
        );
    });
}

#[test]
fn a_study_with_claims_only_has_figures_of_what_they_name() {
    let claims =
        "[[claims]]\nid = \"c\"\nsays = \"…\"\nmetric = \"jobs.w.accepted_load\"\nmin = 0.1\n";
    let study = |text: &str| {
        Study::parse(text, std::path::Path::new(""), &Options::default()).expect("a study")
    };
    let (without, _) = JOB.rsplit_once("[[axis]]").expect("two axes");
    let bars = usual(&study(&format!("{without}{claims}")));
    assert!(bars.iter().all(|figure| figure.kind == FigureKind::Bar));
    let ids: Vec<&str> = bars.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["accepted-load", "latency", "metric-1"]);
    assert!(
        matches!(&bars[2].y[0], FigureY::Metric(metric) if metric.name() == "jobs.w.accepted_load")
    );
    let lines = usual(&study(&format!("{JOB}{claims}")));
    assert!(lines.len() == 3 && lines.iter().all(|figure| figure.kind == FigureKind::Line));
}

/// Metrics of one kind have an axis with the name of the kind; if they differ in all parts, each is
/// named.
#[test]
fn axes_say_what_several_metrics_have_in_common() {
    for (y, kind, words) in [
        (
            "[\"latency.job.w.message.mean\", \"latency.job.w.message.p99\"]",
            "line",
            "message latency of w",
        ),
        (
            "[\"ejection.data\", \"ejection.control\"]",
            "stacked",
            "ejection",
        ),
        (
            "[\"latency.message.mean\", \"latency.network.mean\"]",
            "bar",
            "latency, mean",
        ),
        ("\"summary.accepted_load\"", "line", "accepted load"),
    ] {
        let figure = format!("kind = \"{kind}\"\nx = \"load\"\ny = {y}\n");
        with(&figure, |_, figure| {
            let label = match &figure.panels[0].plot {
                Plot::Lines(lines) => &lines.y.label,
                Plot::Bars(bars) => &bars.value.label,
                other => panic!("{other:?}"),
            };
            assert_eq!(label, words, "{y}");
        });
    }
}
