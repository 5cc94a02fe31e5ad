//! The page of a sweep.

use std::collections::HashSet;

use super::super::page::{Page, Part, Row, Rows};
use super::Sweep;
use crate::format::short;
use weir_result::TraceError;
use weir_study::{Metric, Point, PointDir, State, Study, Verdict};

/// Points in the table of the page; all are in `table.csv`.
const MOST_ROWS: usize = 2_000;

/// The page of a sweep with the verdicts on its claims.
///
/// # Errors
/// If a result is damaged.
pub fn page(sweep: &Sweep, verdicts: &[Verdict]) -> Result<Page, TraceError> {
    let rows = &sweep.table.rows;
    let count = |state: &str| rows.iter().filter(|row| row.state == state).count();
    let mut lead = format!("{} points: {} done", rows.len(), count("done"));
    for state in ["failed", "waiting"] {
        if count(state) > 0 {
            lead.push_str(&format!(", {} {state}", count(state)));
        }
    }
    let mut warnings = Vec::new();
    let open = "undecided: values are missing, or seeds leave it open";
    for (holds, one, several) in [
        (Some(false), "does not hold".into(), "do not hold".into()),
        (None, format!("is {open}"), format!("are {open}")),
    ] {
        let count = verdicts.iter().filter(|one| one.holds == holds).count();
        if count > 0 {
            let words = if count == 1 { one } else { several };
            warnings.push(format!("{count} of {} claims {words}.", verdicts.len()));
        }
    }
    if count("done") < rows.len() {
        warnings.push(format!(
            "{} of {} points have no result.",
            rows.len() - count("done"),
            rows.len()
        ));
    }
    warnings.extend(unfinished(sweep));
    let mut parts = Vec::new();
    if !verdicts.is_empty() {
        parts.push(Part::Table(claims(verdicts)));
    }
    parts.push(Part::Figures);
    parts.extend(failures(sweep).map(Part::Table));
    parts.push(Part::Table(points(sweep)));
    parts.push(Part::Table(common(sweep)));
    parts.push(Part::Text {
        title: "Job file".into(),
        text: sweep.study.text().to_string(),
    });
    let study = sweep.study;
    let scale = format!("Scale: {}.", study.scale().name());
    Ok(Page {
        title: title(study),
        lead: [lead]
            .into_iter()
            .chain(study.has_scales.then_some(scale))
            .collect(),
        warnings,
        parts,
        figures: sweep.figures()?,
    })
}

/// Latencies that are of few messages, and where.
fn unfinished(sweep: &Sweep) -> Option<String> {
    let rows = &sweep.table.rows;
    let few: Vec<_> = rows.iter().filter(|row| row.few).collect();
    let first = sweep.points[few.first()?.point].label(sweep.study);
    Some(format!(
        "At {} of {} points many messages had not arrived when the run ended (the first is \
         {first}): their latencies are of the others, and the true ones are higher.",
        few.len(),
        rows.len()
    ))
}

/// The title of a study.
/// A study without a title gets the name of its file, with the differences from point to point.
fn title(study: &Study) -> String {
    let name = study.path.file_stem().unwrap_or_default().to_string_lossy();
    let axes: Vec<&str> = study.axes.iter().map(|axis| axis.label.as_str()).collect();
    match study.title == name && !axes.is_empty() {
        true => format!("{name}: {}", axes.join(", ")),
        false => study.title.clone(),
    }
}

fn texts<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn claims(verdicts: &[Verdict]) -> Rows {
    let rows = verdicts.iter().map(|verdict| {
        let holds = verdict.word();
        Row {
            cells: vec![
                verdict.id.clone(),
                verdict.says.clone(),
                verdict.measured.clone(),
                verdict.bound.clone(),
                match verdict.settled {
                    Some(points) => format!("{} ({points} points settled)", verdict.length()),
                    None => verdict.length(),
                },
                match verdict.seeds {
                    Some(seeds) => format!("{holds} ({seeds} seeds)"),
                    None => holds.to_string(),
                },
            ],
            good: verdict.holds,
        }
    });
    Rows {
        title: "Claims".into(),
        head: texts(["", "says", "measured", "bound", "simulated", "holds"]),
        rows: rows.collect(),
        ..Rows::default()
    }
}

/// Points without a result, and why.
fn failures(sweep: &Sweep) -> Option<Rows> {
    let mut rows = Vec::new();
    let begun = sweep.dir.begun();
    let begun: HashSet<&str> = begun.iter().map(PointDir::hash).collect();
    let begun = |point: &&Point| begun.contains(point.hash.as_str());
    for point in sweep.points.iter().filter(begun) {
        let dir = sweep.dir.point(&point.hash);
        let State::Failed(reason, message) = dir.state() else {
            continue;
        };
        let log = dir.log();
        let log = log.strip_prefix(sweep.dir.root()).unwrap_or(&log);
        rows.push(Row {
            cells: vec![
                point.index.to_string(),
                point.label(sweep.study),
                message.to_string(),
                log.display().to_string(),
                reason.name().to_string(),
            ],
            good: Some(false),
        });
    }
    (!rows.is_empty()).then(|| Rows {
        title: "Failed points".into(),
        head: texts(["point", "where", "last words", "log", "why"]),
        rows,
        ..Rows::default()
    })
}

/// Columns of the table on the page.
const MOST_COLUMNS: usize = 12;

fn points(sweep: &Sweep) -> Rows {
    let mut metrics = sweep.study.shown_metrics(&sweep.table.metrics);
    metrics.truncate(MOST_COLUMNS);
    let axes = sweep.study.axes.iter();
    let mut head = texts(["point"]);
    // Their values have units.
    head.extend(axes.clone().map(|axis| axis.label.clone()));
    head.push("seed".into());
    head.extend(metrics.iter().map(Metric::header));
    head.push("state".into());
    let rows = sweep.table.rows.iter().take(MOST_ROWS).map(|row| {
        let labels = axes
            .clone()
            .zip(&row.at)
            .map(|(axis, &at)| axis.values[at].label.clone());
        let values = metrics.iter().map(|metric| {
            let column = sweep.table.column(metric);
            let value = column.and_then(|column| row.values[column]);
            value.map_or("-".to_string(), short)
        });
        let mut cells = vec![row.point.to_string()];
        cells.extend(labels);
        cells.push(row.seed.to_string());
        cells.extend(values);
        cells.push(row.state.clone());
        Row {
            cells,
            good: (row.state != "done").then_some(false),
        }
    });
    let left = sweep.table.rows.len().saturating_sub(MOST_ROWS);
    Rows {
        title: "Points".into(),
        note: match left {
            0 => "All columns are in table.csv and table.h5.".into(),
            left => format!("{left} more points, and all columns, are in table.csv and table.h5."),
        },
        rows: rows.collect(),
        head,
    }
}

/// The parameters that are the same at all points.
fn common(sweep: &Sweep) -> Rows {
    let rows = sweep.common.iter().cloned();
    Rows {
        title: "Parameters that all points share".into(),
        head: texts(["section", "key", "value"]),
        rows: rows.map(Row::new).collect(),
        ..Rows::default()
    }
}
