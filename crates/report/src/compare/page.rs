//! A comparison as a page.

use super::tables::{notes, tables};
use super::text::{abouts, summary};
use crate::figure::Figure;
use crate::page::{Page, Part, Row, Rows};
use weir_study::compare::Comparison;

/// The page of a comparison with these figures.
pub fn page(comparison: &Comparison, figures: Vec<Figure>, all: bool) -> Page {
    let inputs = &comparison.inputs;
    let names: Vec<&str> = inputs.iter().map(|input| input.path.as_str()).collect();
    let (common, own) = abouts(comparison);
    let rows = inputs.iter().zip(own);
    let rows = rows.map(|(input, about)| Row::new([&input.letter, &input.path, &about]));
    let mut parts = vec![Part::Table(Rows {
        title: "Compared".into(),
        note: common,
        rows: rows.collect(),
        ..Rows::default()
    })];
    let mut tables = tables(comparison, all)
        .into_iter()
        .map(with_signs)
        .peekable();
    let keys = tables.next_if(|table| table.title == "Experiments");
    parts.extend(keys.map(Part::Table));
    if !figures.is_empty() {
        parts.push(Part::Figures);
    }
    parts.extend(tables.map(Part::Table));
    let notes = notes(comparison);
    if !notes.rows.is_empty() {
        parts.push(Part::Table(notes));
    }
    Page {
        title: format!("{} compared", names.join(", ")),
        lead: summary(comparison, all),
        warnings: comparison.remarks.clone(),
        parts,
        figures,
    }
}

/// The same table with signs that a terminal may lack.
fn with_signs(mut table: Rows) -> Rows {
    let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
    for cell in cells {
        for (plain, sign) in [(">= ", "≥ "), ("<= ", "≤ ")] {
            if let Some(rest) = cell.strip_prefix(plain) {
                *cell = format!("{sign}{rest}");
            }
        }
    }
    table
}
