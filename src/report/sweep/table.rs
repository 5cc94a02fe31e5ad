//! Figures of the numbers in the table.

use super::super::figure::{Axis, Bars, Group, Lines, Panel, Plot, Point, Series, Table};
use super::super::run::{lines_table, number};
use super::groups::{self, Groups};
use super::{Sweep, distinct, scale, y_axis};
use crate::study::{self, FigureKind, FigureX, FigureY, Metric, Row};

/// The metrics of a figure with what the legend calls them.
struct Drawn<'a> {
    metric: &'a Metric,
    name: String,
    column: Option<usize>,
}

fn drawn<'a>(sweep: &Sweep, wanted: &'a study::Figure) -> Vec<Drawn<'a>> {
    let metrics: Vec<&Metric> = wanted
        .y
        .iter()
        .filter_map(|y| match y {
            FigureY::Metric(metric) => Some(metric),
            FigureY::Rows(_) => None,
        })
        .collect();
    let names: Vec<String> = metrics.iter().map(|one| one.name().to_string()).collect();
    let names = distinct(&names);
    let pairs = metrics.into_iter().zip(names);
    pairs
        .map(|(metric, name)| Drawn {
            column: sweep.table.column(metric),
            metric,
            name,
        })
        .collect()
}

/// The units of the metrics, each once: each has panels of its own.
fn units(drawn: &[Drawn]) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    for one in drawn {
        if !units.iter().any(|own| own == one.metric.unit()) {
            units.push(one.metric.unit().to_string());
        }
    }
    units
}

/// What the axis calls a metric: in words if it is the only one, else as the legend does.
fn label(one: &Drawn) -> String {
    match one.name == one.metric.name() {
        true => words(one.metric.name()),
        false => one.name.clone(),
    }
}

/// The name of a metric for people.
pub(super) fn words(name: &str) -> String {
    let plain = |text: &str| text.replace(['_', '.'], " ");
    let (name, window) = name.split_once(" @ ").unwrap_or((name, ""));
    let parts: Vec<&str> = name.split('.').collect();
    let text = match parts.as_slice() {
        ["summary", rest @ ..] => plain(&rest.join(" ")),
        ["latency", "job", job, kind, stat] => format!("{kind} latency of {job}, {stat}"),
        ["latency", kind, stat] => format!("{kind} latency, {stat}"),
        ["jobs", job, what] => format!("{} of {job}", plain(what)),
        ["series", "job", job, what, how] => format!("{} of {job}, {how}", plain(what)),
        ["ejection", class] => format!("ejection channels' share of {class}"),
        ["ports", "all", what] => format!("{}, all ports", plain(what)),
        ["ports", kind, what] => format!("{}, {kind} ports", plain(what)),
        _ => plain(name),
    };
    match window {
        "" => text,
        window => format!("{text} ({window})"),
    }
}

/// Two names where both say something.
fn joined(first: &str, second: &str) -> String {
    match (first, second) {
        ("", name) | (name, "") => name.to_string(),
        (first, second) => format!("{first}, {second}"),
    }
}

fn value(row: &Row, column: Option<usize>) -> Option<f64> {
    row.values.get(column?).copied().flatten()
}

/// The mean of rows that differ in their seed, and how far they spread. NaN without any.
pub(super) fn mean(values: &[f64]) -> (f64, [f64; 2]) {
    let seen: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| !value.is_nan())
        .collect();
    let mean = seen.iter().sum::<f64>() / seen.len() as f64;
    let least = seen.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match seen.len() {
        0 | 1 => (mean, [f64::NAN; 2]),
        _ => (mean, [least, largest]),
    }
}

/// Rows at one place on all axes, place by place in the order of the table.
fn places<'a>(rows: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    let mut places: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match places.iter_mut().find(|place| place[0].at == row.at) {
            Some(place) => place.push(row),
            None => places.push(vec![row]),
        }
    }
    places
}

pub(super) fn lines(sweep: &Sweep, wanted: &study::Figure, groups: &Groups) -> (Vec<Panel>, Table) {
    let drawn = drawn(sweep, wanted);
    let mut panels = Vec::new();
    for group in &groups.panels {
        for unit in units(&drawn) {
            let own = || drawn.iter().filter(|one| one.metric.unit() == unit);
            let mut series = Vec::new();
            for curve in &group.series {
                for one in own() {
                    let name = match drawn.len() {
                        1 => curve.name.clone(),
                        _ => joined(&curve.name, &one.name),
                    };
                    series.push(Series {
                        name,
                        points: points(sweep, wanted, curve, one),
                    });
                }
            }
            let names: Vec<String> = own().map(label).collect();
            panels.push(Panel {
                title: group.name.clone(),
                plot: Plot::Lines(Lines {
                    x: x_axis(sweep, wanted),
                    y: y_axis(wanted, &names.join(", "), &unit),
                    series,
                    markers: true,
                    diagonal: is_accepted_against_offered(sweep, wanted),
                }),
            });
        }
    }
    let data = lines_table(&panels);
    (panels, data)
}

fn points(
    sweep: &Sweep,
    wanted: &study::Figure,
    curve: &groups::Series,
    one: &Drawn,
) -> Vec<Point> {
    let place = |rows: Vec<&Row>| {
        let values: Vec<f64> = rows
            .iter()
            .filter_map(|row| value(row, one.column))
            .collect();
        let (y, spread) = mean(&values);
        Some(Point {
            x: x_of(sweep, wanted, &rows)?,
            y,
            spread,
        })
    };
    places(&curve.rows).into_iter().filter_map(place).collect()
}

/// Where rows at one place lie along the bottom. None if that was not measured.
fn x_of(sweep: &Sweep, wanted: &study::Figure, rows: &[&Row]) -> Option<f64> {
    match wanted.x.as_ref()? {
        FigureX::Axis(axis) => {
            let own = &sweep.study.axes[*axis];
            let at = rows.first()?.at[*axis];
            match own.numeric() {
                true => own.values[at].number,
                false => Some(at as f64 + 0.5),
            }
        }
        FigureX::Metric(metric) => {
            let column = sweep.table.column(metric);
            let values: Vec<f64> = rows.iter().filter_map(|row| value(row, column)).collect();
            (!values.is_empty()).then(|| mean(&values).0)
        }
        FigureX::Metrics => None,
    }
}

fn x_axis(sweep: &Sweep, wanted: &study::Figure) -> Axis {
    let (label, unit, names) = match &wanted.x {
        Some(FigureX::Axis(axis)) => {
            let own = &sweep.study.axes[*axis];
            let names = own.values.iter().map(|value| value.label.clone());
            let names = if own.numeric() {
                Vec::new()
            } else {
                names.collect()
            };
            (own.label.clone(), own.unit.clone(), names)
        }
        Some(FigureX::Metric(metric)) => {
            (words(metric.name()), metric.unit().to_string(), Vec::new())
        }
        Some(FigureX::Metrics) | None => Default::default(),
    };
    Axis {
        label: wanted.x_label.clone().unwrap_or(label),
        unit,
        scale: scale(wanted.x_scale),
        range: wanted.x_range,
        from_zero: begins_low(sweep, wanted),
        names,
    }
}

/// Whether the axis may as well begin at zero: its values do so almost.
fn begins_low(sweep: &Sweep, wanted: &study::Figure) -> bool {
    let values: Vec<f64> = match &wanted.x {
        Some(FigureX::Axis(axis)) => {
            let values = sweep.study.axes[*axis].values.iter();
            values.filter_map(|value| value.number).collect()
        }
        Some(FigureX::Metric(metric)) => {
            let column = sweep.table.column(metric);
            sweep
                .table
                .rows
                .iter()
                .filter_map(|row| value(row, column))
                .collect()
        }
        Some(FigureX::Metrics) | None => Vec::new(),
    };
    let (_, [least, largest]) = mean(&values);
    least > 0.0 && least <= 0.35 * largest
}

/// Such a figure has a line where all that is offered is accepted.
fn is_accepted_against_offered(sweep: &Sweep, wanted: &study::Figure) -> bool {
    let accepted = wanted.y.iter().all(|y| match y {
        FigureY::Metric(metric) => metric.name() == "summary.accepted_load",
        FigureY::Rows(_) => false,
    });
    let offered = match &wanted.x {
        Some(FigureX::Metric(metric)) => metric.name() == "summary.offered_load",
        Some(FigureX::Axis(axis)) => {
            let own = &sweep.study.axes[*axis];
            own.numeric() && own.unit.is_empty() && own.label.contains("load")
        }
        Some(FigureX::Metrics) | None => false,
    };
    accepted && offered
}

pub(super) fn bars(sweep: &Sweep, wanted: &study::Figure, groups: &Groups) -> (Vec<Panel>, Table) {
    let drawn = drawn(sweep, wanted);
    let stacked = wanted.kind == FigureKind::Stacked;
    let mut panels = Vec::new();
    let mut data = Table::new(&["panel", "group", "series", "value", "low", "high", "unit"]);
    for panel in &groups.panels {
        for unit in units(&drawn) {
            let own: Vec<&Drawn> = drawn
                .iter()
                .filter(|one| one.metric.unit() == unit)
                .collect();
            let by_metric = wanted.x == Some(FigureX::Metrics);
            let groups = match stacked {
                true => stacks(sweep, wanted, panel, &own),
                false if by_metric => by_metrics(panel, &own),
                false => clusters(sweep, wanted, panel, &own, drawn.len() > 1),
            };
            for group in &groups {
                for (name, point) in &group.bars {
                    let numbers = [point.y, point.spread[0], point.spread[1]].map(number);
                    let words = [panel.name.clone(), group.name.clone(), name.clone()];
                    let row = words.into_iter().chain(numbers).chain([unit.clone()]);
                    data.rows.push(row.collect());
                }
            }
            let names: Vec<String> = own.iter().copied().map(label).collect();
            let label = if stacked || by_metric {
                String::new()
            } else {
                names.join(", ")
            };
            let mut value = y_axis(wanted, &label, &unit);
            // A bar on a logarithmic axis has no foot.
            value.scale = super::Scale::Linear;
            panels.push(Panel {
                title: panel.name.clone(),
                plot: Plot::Bars(Bars {
                    value,
                    groups,
                    stacked,
                }),
            });
        }
    }
    (panels, data)
}

/// What a place is called along the axis of names.
fn place_name(sweep: &Sweep, wanted: &study::Figure, rows: &[&Row]) -> String {
    match (&wanted.x, rows.first()) {
        (Some(FigureX::Axis(axis)), Some(row)) => {
            let own = &sweep.study.axes[*axis];
            let label = &own.values[row.at[*axis]].label;
            match own.numeric() {
                true => format!("{} {label}", own.label),
                false => label.clone(),
            }
        }
        (Some(FigureX::Metric(metric)), Some(_)) => {
            let x = x_of(sweep, wanted, rows);
            format!("{} {}", metric.name(), x.map_or("-".into(), number))
        }
        _ => String::new(),
    }
}

/// A group for each place; in it a bar for each series and metric.
fn clusters(
    sweep: &Sweep,
    wanted: &study::Figure,
    panel: &groups::Panel,
    own: &[&Drawn],
    several: bool,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for curve in &panel.series {
        for rows in places(&curve.rows) {
            let name = place_name(sweep, wanted, &rows);
            let at = match groups.iter().position(|group| group.name == name) {
                Some(at) => at,
                None => {
                    groups.push(Group {
                        name,
                        bars: Vec::new(),
                    });
                    groups.len() - 1
                }
            };
            for one in own {
                let name = match several {
                    true => joined(&curve.name, &one.name),
                    false => curve.name.clone(),
                };
                groups[at].bars.push((name, bar(&rows, one)));
            }
        }
    }
    groups
}

/// A group for each metric; in it a bar for each series that has such a number.
fn by_metrics(panel: &groups::Panel, own: &[&Drawn]) -> Vec<Group> {
    let group = |one: &&Drawn| {
        let mut bars = Vec::new();
        for curve in &panel.series {
            for rows in places(&curve.rows) {
                // Of a job that does not run at a point there is nothing to show; of a point that failed there is.
                let done = rows.iter().all(|row| row.state == "done");
                let bar = bar(&rows, one);
                if !(done && bar.y.is_nan()) {
                    bars.push((curve.name.clone(), bar));
                }
            }
        }
        Group {
            name: one.name.clone(),
            bars,
        }
    };
    own.iter().map(group).collect()
}

/// A stack for each place and series; its parts are the metrics.
fn stacks(
    sweep: &Sweep,
    wanted: &study::Figure,
    panel: &groups::Panel,
    own: &[&Drawn],
) -> Vec<Group> {
    let mut groups = Vec::new();
    for curve in &panel.series {
        for rows in places(&curve.rows) {
            let bars = own.iter().map(|one| (one.name.clone(), bar(&rows, one)));
            groups.push(Group {
                name: joined(&place_name(sweep, wanted, &rows), &curve.name),
                bars: bars.collect(),
            });
        }
    }
    groups
}

fn bar(rows: &[&Row], one: &Drawn) -> Point {
    let values: Vec<f64> = rows
        .iter()
        .filter_map(|row| value(row, one.column))
        .collect();
    let (y, spread) = mean(&values);
    Point {
        x: f64::NAN,
        y,
        spread,
    }
}
