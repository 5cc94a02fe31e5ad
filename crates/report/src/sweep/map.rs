//! Metrics as colours over two axes of numbers: regions where a scheme works, and where it does
//! not.

use super::super::figure::{Axis, Heat, Panel, Plot, Scale, Table, number};
use super::names::words;
use super::seeds::mean;
use super::{Sweep, scale};
use weir_study::{FigureX, FigureY, Interval, Metric, Row, ScaleKind};

/// The column by which one of several points at a place is chosen.
const SCORE: &str = "score";

/// A measured value at a place: the indices of the values of the two axes, the place, and the
/// value.
struct Seen {
    at: [usize; 2],
    place: [f64; 2],
    value: f64,
}

pub(super) fn maps(sweep: &Sweep, wanted: &weir_study::Figure) -> (Vec<Panel>, Table) {
    let (Some(FigureX::Axis(x)), Some(up)) = (&wanted.x, wanted.up) else {
        return (Vec::new(), Table::default());
    };
    let axes = [*x, up];
    let names = axes.map(|axis| sweep.study.axes[axis].label.clone());
    let mut data = Table::new(&["panel", &names[0], &names[1], "value", "unit"]);
    let mut panels = Vec::new();
    for (name, rows) in by_panel(sweep, wanted) {
        for y in &wanted.y {
            let FigureY::Metric(metric) = y else { continue };
            let column = sweep.table.column(metric);
            // The table knows the unit of a column made of others.
            let metric = column.map_or(metric, |column| &sweep.table.metrics[column]);
            let seen = seen(sweep, &rows, column, axes);
            let title = match (name.as_str(), wanted.y.len()) {
                ("", 1) => String::new(),
                ("", _) => words(metric.name()),
                (name, 1) => name.to_string(),
                (name, _) => format!("{name}, {}", words(metric.name())),
            };
            for one in &seen {
                let numbers = [one.place[0], one.place[1], one.value].map(number);
                let row = [
                    vec![title.clone()],
                    numbers.to_vec(),
                    vec![metric.unit().into()],
                ];
                data.rows.push(row.concat());
            }
            let heat = heat(sweep, wanted, metric, &seen, axes);
            let plot = Plot::Heat(heat);
            panels.push(Panel { title, plot });
        }
    }
    (panels, data)
}

/// Text on the dots in a map, if there are any.
pub(super) fn said(panels: &[Panel]) -> Option<String> {
    let dotted = panels.iter().any(|panel| match &panel.plot {
        Plot::Heat(heat) => !heat.dots.is_empty(),
        _ => false,
    });
    dotted.then(|| {
        "Dots are settings that were run; all else has the colour of the nearest one.".into()
    })
}

/// The selected rows by the values of the panels' axis.
fn by_panel<'a>(sweep: &'a Sweep, wanted: &weir_study::Figure) -> Vec<(String, Vec<&'a Row>)> {
    let mut panels: Vec<(String, Vec<&Row>)> = Vec::new();
    let rows = sweep.table.rows.iter();
    for row in rows.filter(|row| wanted.selection.has(&row.at)) {
        let name = wanted.panel.map_or(String::new(), |axis| {
            let own = &sweep.study.axes[axis];
            format!("{} = {}", own.label, own.values[row.at[axis]].label)
        });
        match panels.iter_mut().find(|(own, _)| *own == name) {
            Some((_, rows)) => rows.push(row),
            None => panels.push((name, vec![row])),
        }
    }
    panels
}

/// Measured values, one for each place.
/// Among several points that differ in other axes, the one with the best score counts.
fn seen(sweep: &Sweep, rows: &[&Row], column: Option<usize>, axes: [usize; 2]) -> Vec<Seen> {
    let metrics = &sweep.table.metrics;
    let score = metrics.iter().position(|metric| metric.name() == SCORE);
    let of = |rows: &[&Row], column: Option<usize>| {
        let values = rows
            .iter()
            .filter_map(|row| row.values.get(column?).copied()?);
        mean(&values.collect::<Vec<f64>>(), Interval::Range).0
    };
    let mut points: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match points.iter_mut().find(|own| own[0].at == row.at) {
            Some(own) => own.push(row),
            None => points.push(vec![row]),
        }
    }
    let mut best: Vec<(Seen, f64)> = Vec::new();
    for point in points {
        let at = axes.map(|axis| point[0].at[axis]);
        let place = [0, 1].map(|i| {
            let value = &sweep.study.axes[axes[i]].values[at[i]];
            value.number.unwrap_or(f64::NAN)
        });
        let (value, score) = (of(&point, column), of(&point, score));
        let seen = Seen { at, place, value };
        match best.iter_mut().find(|(own, _)| own.at == at) {
            // An unknown score is no better.
            Some(own) if score > own.1 || own.1.is_nan() => *own = (seen, score),
            Some(_) => {}
            None => best.push((seen, score)),
        }
    }
    best.into_iter().map(|(seen, _)| seen).collect()
}

fn heat(
    sweep: &Sweep,
    wanted: &weir_study::Figure,
    metric: &Metric,
    seen: &[Seen],
    axes: [usize; 2],
) -> Heat {
    let own = axes.map(|axis| &sweep.study.axes[axis]);
    let scales = [wanted.x_scale, wanted.y_scale];
    let axis = |i: usize, label: &Option<String>, range: Option<[f64; 2]>| Axis {
        label: label.clone().unwrap_or_else(|| own[i].label.clone()),
        unit: own[i].unit.clone(),
        scale: scale(scales[i]),
        range,
        ..Axis::default()
    };
    let numbers = [0, 1].map(|i| distinct(seen.iter().map(|one| one.place[i]), scales[i]));
    let [columns, lines] = [0, 1].map(|i| numbers[i].len());
    let place = |i: usize, number: f64| position(number, &numbers[i], scales[i]);
    // Points that failed or have no such value count as not run.
    let known: Vec<&Seen> = seen.iter().filter(|one| !one.value.is_nan()).collect();
    let places: Vec<([f64; 2], f64)> = (known.iter())
        .map(|one| ([place(0, one.place[0]), place(1, one.place[1])], one.value))
        .collect();
    let cell = |cell: usize| {
        let here = [
            place(0, numbers[0][cell % columns]),
            place(1, numbers[1][cell / columns]),
        ];
        let far = |there: &[f64; 2]| (here[0] - there[0]).hypot(here[1] - there[1]);
        let nearest = places.iter().min_by(|a, b| far(&a.0).total_cmp(&far(&b.0)));
        nearest.map_or(f64::NAN, |(_, value)| *value)
    };
    let number = |i: usize, value: usize| own[i].values[value].number.unwrap_or(f64::NAN);
    // Marks that differ in other axes only have one place.
    let mut marks: Vec<(String, [f64; 2])> = Vec::new();
    for mark in &wanted.marks {
        let place = [number(0, mark.at[0]), number(1, mark.at[1])];
        match marks.iter_mut().find(|(_, own)| *own == place) {
            Some((names, _)) => names.push_str(&format!(", {}", mark.label)),
            None => marks.push((mark.label.clone(), place)),
        }
    }
    Heat {
        x: axis(0, &wanted.x_label, wanted.x_range),
        y: axis(1, &wanted.y_label, wanted.y_range),
        value: Axis::new(words(metric.name()), metric.unit()),
        x_edges: edges(&numbers[0], scales[0]),
        y_edges: edges(&numbers[1], scales[1]),
        cells: (0..columns * lines).map(cell).collect(),
        dots: match known.len() < columns * lines {
            true => known.iter().map(|one| one.place).collect(),
            false => Vec::new(),
        },
        marks,
    }
}

/// The numbers that have a place on such an axis, ascending, each once.
fn distinct(numbers: impl Iterator<Item = f64>, kind: ScaleKind) -> Vec<f64> {
    let log = scale(kind) == Scale::Log;
    let mut all: Vec<f64> = numbers
        .filter(|x| x.is_finite() && (!log || *x > 0.0))
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Position of a number along its axis: 0 at the first of all, 1 at the last.
fn position(number: f64, all: &[f64], kind: ScaleKind) -> f64 {
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return 0.0;
    };
    let of = |number: f64| match kind {
        ScaleKind::Linear => number,
        ScaleKind::Log => number.ln(),
    };
    match of(*last) - of(*first) {
        0.0 => 0.0,
        span => (of(number) - of(*first)) / span,
    }
}

/// The borders of cells around numbers: halfway to the next.
fn edges(numbers: &[f64], kind: ScaleKind) -> Vec<f64> {
    let to = |number: f64| match kind {
        ScaleKind::Linear => number,
        ScaleKind::Log => number.ln(),
    };
    let from = |at: f64| match kind {
        ScaleKind::Linear => at,
        ScaleKind::Log => at.exp(),
    };
    let at: Vec<f64> = numbers.iter().map(|&number| to(number)).collect();
    let (Some(&first), Some(&last)) = (at.first(), at.last()) else {
        return Vec::new();
    };
    // As wide as the others on the far side; of a lonely one a half of it, or of its decade.
    let half = |a: f64, b: Option<&f64>| match b {
        Some(b) => (a - b).abs() / 2.0,
        None => {
            0.35 * if kind == ScaleKind::Linear {
                a.abs().max(1.0)
            } else {
                1.0
            }
        }
    };
    let low = first - half(first, at.get(1));
    let high = last + half(last, at.len().checked_sub(2).map(|i| &at[i]));
    let inner = at.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    std::iter::once(low)
        .chain(inner)
        .chain([high])
        .map(from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_end_half_way_to_their_neighbours() {
        assert_eq!(
            edges(&[1.0, 2.0, 4.0], ScaleKind::Linear),
            [0.5, 1.5, 3.0, 5.0]
        );
        let log = edges(&[1.0, 100.0], ScaleKind::Log);
        for (edge, expected) in log.iter().zip([0.1, 10.0, 1000.0]) {
            assert!((edge / expected - 1.0).abs() < 1e-12, "{log:?}");
        }
        assert_eq!(edges(&[], ScaleKind::Log), [0.0; 0]);
    }

    #[test]
    fn places_go_by_the_scale_of_their_axis() {
        let all = distinct([100.0, 1.0, 10.0, 10.0, 0.0].into_iter(), ScaleKind::Log);
        assert_eq!(all, [1.0, 10.0, 100.0]);
        assert!((position(10.0, &all, ScaleKind::Log) - 0.5).abs() < 1e-12);
        assert!((position(10.0, &all, ScaleKind::Linear) - 9.0 / 99.0).abs() < 1e-12);
    }
}
