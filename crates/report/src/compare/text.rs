//! A comparison for people: lines of text.

use super::tables::{notes, tables};
use crate::format::{shorten, wrap};
use crate::page::Rows;
use weir_study::compare::{Change, Comparison, NumberChange};

/// Widest cell of a text.
const CELL: usize = 44;

/// Widest line of prose.
const WIDTH: usize = 100;

/// The comparison as lines. With `all`, equal numbers and keys are among them, and all metrics.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut lines = Vec::new();
    let paths = comparison.inputs.iter();
    let widest = paths.map(|input| input.path.chars().count()).max();
    let widest = widest.unwrap_or_default();
    let (common, own) = abouts(comparison);
    for (input, about) in comparison.inputs.iter().zip(own) {
        let (letter, path) = (&input.letter, &input.path);
        let line = format!("{letter}  {path:<widest$}  {about}");
        lines.push(line.trim_end().to_string());
    }
    lines.extend(wrap(&common, WIDTH, ""));
    if !comparison.remarks.is_empty() {
        lines.push(String::new());
    }
    for remark in &comparison.remarks {
        lines.extend(wrap(&format!("note: {remark}"), WIDTH, "  "));
    }
    for table in tables(comparison, all) {
        lines.push(String::new());
        lines.extend(aligned(&table));
        lines.extend(wrap(&table.note, WIDTH, ""));
    }
    let notes = notes(comparison);
    if !notes.rows.is_empty() {
        lines.extend([String::new(), notes.title]);
    }
    for row in notes.rows {
        lines.extend(wrap(&format!("  {}", row.cells.join(": ")), WIDTH, "     "));
    }
    lines.push(String::new());
    for line in summary(comparison, all) {
        lines.extend(wrap(&line, WIDTH, "  "));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Facts about all inputs in a line, and the rest about each.
pub(super) fn abouts(comparison: &Comparison) -> (String, Vec<String>) {
    let inputs = comparison.inputs.iter();
    let parts: Vec<Vec<&str>> = inputs.map(|one| one.about.split(" · ").collect()).collect();
    let shared = |part: &&&str| parts.iter().all(|own| own.contains(*part));
    let join = |parts: Vec<&str>| parts.join(" · ");
    let first = parts.first().map_or(&[][..], Vec::as_slice);
    let common: Vec<&str> = first.iter().filter(shared).copied().collect();
    let own = parts.iter();
    let own = own.map(|own| join(own.iter().filter(|one| !shared(one)).copied().collect()));
    (join(common.clone()), own.collect())
}

/// Counts of differences and of equal things.
pub(super) fn summary(comparison: &Comparison, all: bool) -> Vec<String> {
    let mut lines = identical(comparison);
    let numbers = &comparison.numbers;
    let same = numbers.iter().filter(|number| number.same).count();
    let differ = numbers.len() - same;
    let keys = comparison.keys.len();
    lines.push(match (differ, keys, comparison.notes.len(), comparison.alone.len()) {
        (0, 0, 0, 0) => format!(
            "No differences: {same} numbers and {} keys are the same.",
            comparison.same_keys
        ),
        _ => format!(
            "Keys: {keys} differ, {} are the same. Numbers: {differ} differ, {same} are the same.",
            comparison.same_keys
        ),
    });
    let hidden = numbers.iter().filter(|one| !one.asked && !one.same).count();
    if hidden > 0 && !all {
        lines.push(format!(
            "{hidden} of the numbers that differ are not shown: --all prints them."
        ));
    }
    let shown = |one: &&NumberChange| !one.same && (all || one.asked);
    let bounded = |one: &NumberChange| {
        let mut values = one.values.iter().flatten();
        values.any(|value| value.most == f64::INFINITY)
    };
    if numbers.iter().filter(shown).any(bounded) {
        lines.push(
            ">= is a lower bound: samples that had not arrived at the end of the run count with \
             their ages then, and jobs that were not over up to then. The difference of two such \
             bounds is unknown (?)."
                .into(),
        );
    }
    let drawn = numbers.iter().filter(shown);
    let changes: Vec<&Change> = drawn.flat_map(|one| &one.changes).flatten().collect();
    let changes: Vec<&Change> = (changes.into_iter())
        .filter(|change| change.interval.is_some())
        .collect();
    if !changes.is_empty() {
        let marked = changes.iter().filter(|change| change.is_marked()).count();
        let count = changes.len();
        lines.push(format!(
            "{marked} of {count} confidence intervals exclude zero (*). By chance alone {:.1} \
             would on average.",
            count as f64 * 0.05
        ));
    }
    lines
}

/// Results that are the same bit by bit.
fn identical(comparison: &Comparison) -> Vec<String> {
    let base = comparison.inputs.first().map_or("", |input| &input.letter);
    let same = comparison.identical.iter().filter(|one| one.same > 0);
    let line = same.map(|one| {
        let letter = &comparison.inputs[one.input].letter;
        match comparison.of_sweeps {
            true => format!(
                "{} of {} pairs of runs of {base} and {letter} are the same under /data, to the \
                 last bit.",
                one.same, one.all
            ),
            false => format!("{base} and {letter} are the same under /data, to the last bit."),
        }
    });
    line.collect()
}

/// A table in columns: the first one to the left, numbers to the right.
fn aligned(table: &Rows) -> Vec<String> {
    let columns = table.head.len();
    let head: Vec<String> = table.head.clone();
    let cells: Vec<Vec<String>> = [head]
        .into_iter()
        .chain(table.rows.iter().map(|row| row.cells.clone()))
        .map(|row| {
            let width = |at: usize| if at == 0 { usize::MAX } else { CELL };
            let cells = row.iter().enumerate();
            cells.map(|(at, cell)| shorten(cell, width(at))).collect()
        })
        .collect();
    let width = |column: usize| {
        let cells = cells.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let digits = |column: usize| {
        let mut cells = cells[1..].iter().filter_map(|row| row.get(column));
        column > 0 && cells.all(|cell| !cell.starts_with(|c: char| c.is_alphabetic()))
    };
    let right: Vec<bool> = (0..columns).map(digits).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, cell)| match right[at] {
            true => format!("{cell:>0$}", widths[at]),
            false => format!("{cell:<0$}", widths[at]),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_string()
    };
    [table.title.clone()]
        .into_iter()
        .chain(cells.iter().map(|row| format!("  {}", line(row))))
        .collect()
}
