//! The numbers behind a figure, as text.

use std::fmt::Write;

use super::{Heat, Panel, Plot};
use weir_study::cell;

/// Rows of texts under a line of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns, with units.
    pub head: Vec<String>,
    /// As long as `head`, each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<T: ToString>(head: &[T]) -> Table {
        Table {
            head: head.iter().map(T::to_string).collect(),
            rows: Vec::new(),
        }
    }

    /// The points of all lines, in the units of the axes of the first panel that has each label.
    pub fn of_lines(panels: &[Panel]) -> Table {
        let mut table = Table::new(&[
            "panel", "series", "x", "y", "low", "high", "x unit", "y unit", "y is",
        ]);
        for panel in panels {
            let Plot::Lines(lines) = &panel.plot else {
                continue;
            };
            for series in &lines.series {
                for point in &series.points {
                    table.rows.push(vec![
                        panel.title.clone(),
                        series.name.clone(),
                        number(point.x),
                        number(point.y),
                        number(point.spread[0]),
                        number(point.spread[1]),
                        lines.x.unit.clone(),
                        lines.y.unit.clone(),
                        lines.y.label.clone(),
                    ]);
                }
            }
        }
        table
    }

    /// The cells of pictures that are called by the names of their panels.
    pub fn of_heats(heats: &[(&str, &Heat)]) -> Table {
        let mut table = Table::new(&[
            "panel",
            "x",
            "y",
            "value",
            "x unit",
            "y unit",
            "value unit",
            "x is",
            "y is",
            "value is",
        ]);
        for (panel, heat) in heats {
            let columns = heat.x_edges.len().saturating_sub(1);
            let axes = [&heat.x, &heat.y, &heat.value];
            let said = axes.map(|axis| axis.unit.clone());
            let said: Vec<String> = said
                .into_iter()
                .chain(axes.map(|axis| axis.label.clone()))
                .collect();
            for (at, cell) in heat.cells.iter().enumerate() {
                let own = [
                    heat.x_edges[at % columns],
                    heat.y_edges[at / columns],
                    *cell,
                ]
                .map(number);
                table
                    .rows
                    .push([vec![panel.to_string()], own.to_vec(), said.clone()].concat());
            }
        }
        table
    }

    /// As comma-separated values (RFC 4180, with plain line feeds).
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let fields: Vec<_> = row.iter().map(|field| csv_field(field)).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}", fields.join(","));
        }
        text
    }
}

/// A number as it is read back exactly; nothing for none.
pub fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => String::new(),
        value => value.to_string(),
    }
}

/// A field of a CSV file, in quotes where it needs them.
pub fn csv_field(text: &str) -> String {
    let text = cell(text);
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let mut table = Table::new(&["name", "latency, mean (ps)"]);
        table.rows.push(vec!["a \"b\"".into(), "1.5".into()]);
        assert_eq!(
            table.csv(),
            "name,\"latency, mean (ps)\"\n\"a \"\"b\"\"\",1.5\n"
        );
        let mut table = Table::new(&["-x", "value"]);
        table.rows.push(vec!["=1+\"a\"".into(), "-3.5".into()]);
        assert_eq!(table.csv(), "'-x,value\n\"'=1+\"\"a\"\"\",-3.5\n");
    }
}
