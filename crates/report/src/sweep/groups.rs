//! The points of a figure, sorted into panels and series.

use super::Sweep;
use weir_study::{FigureX, Row};

/// The selected rows of the table, panel by panel.
pub struct Groups<'a> {
    /// In the order of the values of the axis.
    pub panels: Vec<Panel<'a>>,
}

/// The rows of a panel.
pub struct Panel<'a> {
    /// The value of the panels' axis; empty if there is none.
    pub name: String,
    /// In the order of the table.
    pub series: Vec<Series<'a>>,
}

/// The rows of a series: for a figure of the table all its points, otherwise the points that differ
/// in their seed only.
pub struct Series<'a> {
    /// The values of the axes that tell it from others; empty if it is alone.
    pub name: String,
    /// In the order of the table.
    pub rows: Vec<&'a Row>,
}

impl<'a> Groups<'a> {
    pub fn of(sweep: &Sweep<'a>, wanted: &weir_study::Figure) -> Groups<'a> {
        let rows: Vec<&Row> = sweep
            .table
            .rows
            .iter()
            .filter(|row| wanted.selection.has(&row.at))
            .collect();
        let axes = naming(sweep, wanted, &rows);
        let mut panels: Vec<Panel> = Vec::new();
        for row in rows {
            let said = |axis: usize, joint| sweep.study.axes[axis].said(row.at[axis], joint);
            let panel = wanted.panel.map(|axis| said(axis, " = "));
            let panel = panel.unwrap_or_default();
            let name = axes.iter().map(|axis| said(*axis, " "));
            let name = name.collect::<Vec<_>>().join(", ");
            let at = match panels.iter().position(|own| own.name == panel) {
                Some(at) => at,
                None => {
                    panels.push(Panel {
                        name: panel,
                        series: Vec::new(),
                    });
                    panels.len() - 1
                }
            };
            let series = &mut panels[at].series;
            match series.iter_mut().find(|own| own.name == name) {
                Some(own) => own.rows.push(row),
                None => series.push(Series {
                    name,
                    rows: vec![row],
                }),
            }
        }
        Groups { panels }
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &'a Row> {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        series.flat_map(|series| series.rows.iter().copied())
    }
}

/// The axes whose values name a series: first that of the series, then the other axes that differ
/// and have no place in the figure, so that two points never become one by accident. Along a curve
/// over a metric such an axis is what moves the point.
fn naming(sweep: &Sweep, wanted: &weir_study::Figure, rows: &[&Row]) -> Vec<usize> {
    let differs = |axis: &usize| rows.iter().any(|row| row.at[*axis] != rows[0].at[*axis]);
    let x = match wanted.x {
        Some(FigureX::Axis(axis)) if wanted.kind.of_the_table() => Some(axis),
        _ => None,
    };
    let free = |axis: &usize| {
        Some(*axis) != x && Some(*axis) != wanted.panel && Some(*axis) != wanted.series
    };
    let others = (0..sweep.study.axes.len()).filter(free).filter(differs);
    match wanted.x {
        Some(FigureX::Metric(_)) if wanted.kind.of_the_table() => {
            wanted.series.into_iter().collect()
        }
        _ => wanted.series.into_iter().chain(others).collect(),
    }
}
