//! Figures of the numbers in the table.

use super::super::figure::{
    Axis, Bars, Group, Lines, Panel, Plot, Point, Series, Table, number, quantile,
};
use super::drawn::{Drawn, drawn, place, quantity, units, value};
use super::groups::{self, Groups};
use super::names::{joined, words};
use super::seeds::mean;
use super::{Sweep, Wanted, scale, y_axis};
use weir_study::{FigureKind, FigureX, FigureY, Interval, Metric, Row};

/// Offered load as measured differs by chance from what was asked for, by less than this.
const MOST_OFF: f64 = 0.1;

/// Text on means over fewer seeds than have run: what did not end with some seeds has no value
/// there, and would have been among the largest.
pub(super) fn of_few_seeds(sweep: &Sweep, wanted: &Wanted, groups: &Groups) -> Option<String> {
    const MOST: usize = 3;
    if !wanted.kind.of_the_table() {
        return None;
    }
    let mut few = Vec::new();
    for one in drawn(sweep.study, sweep.table, wanted) {
        for series in groups.panels.iter().flat_map(|panel| &panel.series) {
            for rows in places(&series.rows) {
                let done = rows.iter().filter(|row| row.state == "done").count();
                let measured = one.values(sweep.table, &rows).len();
                if measured == 0 || measured == done {
                    continue;
                }
                let place = place(sweep.study, rows[0].at.iter().copied().enumerate());
                let metric = words(one.metric.name());
                few.push(format!("{metric} at {place}: {measured} of {done}"));
            }
        }
    }
    let more = match few.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    few.truncate(MOST);
    (!few.is_empty()).then(|| {
        format!(
            "Not of all seeds, since some have no such value: {}{more}.",
            few.join("; ")
        )
    })
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

pub(super) fn lines(sweep: &Sweep, wanted: &Wanted, groups: &Groups) -> (Vec<Panel>, Table) {
    let drawn = drawn(sweep.study, sweep.table, wanted);
    let mut panels = Vec::new();
    for group in &groups.panels {
        for unit in units(&drawn) {
            let own = || drawn.iter().filter(|one| one.unit == unit);
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
            let label = quantity(&own().collect::<Vec<_>>());
            panels.push(Panel {
                title: group.name.clone(),
                plot: Plot::Lines(Lines {
                    x: x_axis(sweep, wanted),
                    y: y_axis(wanted, &label, &unit),
                    series,
                    markers: true,
                    diagonal: is_accepted_against_offered(sweep, wanted),
                }),
            });
        }
    }
    let data = Table::of_lines(&panels);
    (panels, data)
}

fn points(sweep: &Sweep, wanted: &Wanted, curve: &groups::Series, one: &Drawn) -> Vec<Point> {
    let place = |rows: Vec<&Row>| {
        let (y, spread) = mean(&one.values(sweep.table, &rows), wanted.interval);
        Some(Point {
            x: x_of(sweep, wanted, &rows)?,
            y,
            spread,
        })
    };
    let mut all: Vec<Point> = places(&curve.rows).into_iter().filter_map(place).collect();
    if let Some(FigureX::Axis(_)) = wanted.x {
        all.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    all
}

/// Position of the rows of one place along the bottom. None if that was not measured.
fn x_of(sweep: &Sweep, wanted: &Wanted, rows: &[&Row]) -> Option<f64> {
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
            (!values.is_empty()).then(|| mean(&values, Interval::Range).0)
        }
        FigureX::Metrics => None,
    }
}

fn x_axis(sweep: &Sweep, wanted: &Wanted) -> Axis {
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

/// True if the axis may as well begin at zero: its values do so almost.
fn begins_low(sweep: &Sweep, wanted: &Wanted) -> bool {
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
    let (_, [least, largest]) = mean(&values, Interval::Range);
    least > 0.0 && least <= 0.35 * largest
}

/// True for a figure that gets a line at equal offered and accepted load.
fn is_accepted_against_offered(sweep: &Sweep, wanted: &Wanted) -> bool {
    let accepted = wanted.y.iter().all(|y| match y {
        FigureY::Metric(metric) => metric.name() == "summary.accepted_load",
        FigureY::Rows(_) => false,
    });
    let offered = match &wanted.x {
        Some(FigureX::Metric(metric)) => metric.name() == "summary.offered_load",
        Some(FigureX::Axis(axis)) => sweep.study.axes[*axis].numeric() && is_load(sweep, *axis),
        Some(FigureX::Metrics) | None => false,
    };
    accepted && offered
}

/// True if the values of an axis are the offered load that was measured there: of all endpoints,
/// and not of one of several workloads.
fn is_load(sweep: &Sweep, axis: usize) -> bool {
    let offered = Metric::parse("summary.offered_load", &[]).ok();
    let column = offered.and_then(|metric| sweep.table.column(&metric));
    let own = &sweep.study.axes[axis];
    let mut known = sweep.table.rows.iter().filter_map(|row| {
        let load = own.values[row.at[axis]].number?;
        Some((load, value(row, column)?))
    });
    let near = |(load, offered): (f64, f64)| (offered / load - 1.0).abs() < MOST_OFF;
    own.unit.is_empty() && known.next().is_some_and(near) && known.all(near)
}

pub(super) fn bars(sweep: &Sweep, wanted: &Wanted, groups: &Groups) -> (Vec<Panel>, Table) {
    let drawn = drawn(sweep.study, sweep.table, wanted);
    let stacked = wanted.kind == FigureKind::Stacked;
    let mut panels = Vec::new();
    let boxes = wanted.kind == FigureKind::Box;
    let of_boxes: &[&str] = match boxes {
        true => &["first_quartile", "third_quartile", "values"],
        false => &[],
    };
    let of_bars = ["panel", "group", "series", "value", "low", "high", "unit"];
    let mut data = Table::new(&[&of_bars, of_boxes].concat());
    for panel in &groups.panels {
        for unit in units(&drawn) {
            let own: Vec<&Drawn> = drawn.iter().filter(|one| one.unit == unit).collect();
            let by_metric = wanted.x == Some(FigureX::Metrics);
            let groups = match stacked {
                true => stacks(sweep, wanted, panel, &own),
                false if by_metric => by_metrics(sweep, wanted, panel, &own),
                false => clusters(sweep, wanted, panel, &own, drawn.len() > 1),
            };
            for group in &groups {
                for (place, (name, point)) in group.bars.iter().enumerate() {
                    let numbers = [point.y, point.spread[0], point.spread[1]].map(number);
                    let words = [panel.name.clone(), group.name.clone(), name.clone()];
                    let own = group.values.get(place).map(|values| of_box(values));
                    let row = words.into_iter().chain(numbers).chain([unit.clone()]);
                    data.rows
                        .push(row.chain(own.into_iter().flatten()).collect());
                }
            }
            let value = y_axis(wanted, &quantity(&own), &unit);
            panels.push(Panel {
                title: panel.name.clone(),
                plot: Plot::Bars(Bars {
                    value,
                    groups,
                    stacked,
                    boxes,
                    dots: false,
                }),
            });
        }
    }
    (panels, data)
}

/// The quartiles of a box, and its values.
fn of_box(values: &[f64]) -> [String; 3] {
    let all: Vec<String> = values.iter().copied().map(number).collect();
    let [first, third] = [0.25, 0.75].map(|share| number(quantile(values, share)));
    [first, third, all.join(" ")]
}

/// Name of a place along the axis of names.
fn place_name(sweep: &Sweep, wanted: &Wanted, rows: &[&Row]) -> String {
    match (&wanted.x, rows.first()) {
        (Some(FigureX::Axis(axis)), Some(row)) => sweep.study.axes[*axis].said(row.at[*axis], " "),
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
    wanted: &Wanted,
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
                        ..Group::default()
                    });
                    groups.len() - 1
                }
            };
            for one in own {
                let name = match several {
                    true => joined(&curve.name, &one.name),
                    false => curve.name.clone(),
                };
                push(&mut groups[at], name, bar(sweep, wanted, &rows, one));
            }
        }
    }
    groups
}

/// A group for each metric; in it a bar for each series that has such a number.
fn by_metrics(sweep: &Sweep, wanted: &Wanted, panel: &groups::Panel, own: &[&Drawn]) -> Vec<Group> {
    let group = |one: &&Drawn| {
        let mut group = Group {
            name: one.name.clone(),
            ..Group::default()
        };
        for curve in &panel.series {
            for rows in places(&curve.rows) {
                // A job that does not run at a point has nothing to show; a point that failed has.
                let done = rows.iter().all(|row| row.state == "done");
                let bar = bar(sweep, wanted, &rows, one);
                if !(done && bar.0.y.is_nan()) {
                    push(&mut group, curve.name.clone(), bar);
                }
            }
        }
        group
    };
    own.iter().map(group).collect()
}

/// A stack for each place and series; its parts are the metrics.
fn stacks(sweep: &Sweep, wanted: &Wanted, panel: &groups::Panel, own: &[&Drawn]) -> Vec<Group> {
    let mut groups = Vec::new();
    for curve in &panel.series {
        for rows in places(&curve.rows) {
            let mut group = Group {
                name: joined(&place_name(sweep, wanted, &rows), &curve.name),
                ..Group::default()
            };
            for one in own {
                push(&mut group, one.name.clone(), bar(sweep, wanted, &rows, one));
            }
            groups.push(group);
        }
    }
    groups
}

fn push(group: &mut Group, name: String, (point, values): (Point, Vec<f64>)) {
    group.bars.push((name, point));
    if !values.is_empty() {
        group.values.push(values);
    }
}

/// A bar, or a box with its values: at their median, from the least to the largest.
fn bar(sweep: &Sweep, wanted: &Wanted, rows: &[&Row], one: &Drawn) -> (Point, Vec<f64>) {
    let mut values = one.values(sweep.table, rows);
    let (y, spread) = mean(&values, wanted.interval);
    let x = f64::NAN;
    if wanted.kind != FigureKind::Box {
        return (Point { x, y, spread }, Vec::new());
    }
    values.sort_by(f64::total_cmp);
    let y = quantile(&values, 0.5);
    if values.is_empty() {
        // Its place among the values is kept.
        values.push(f64::NAN);
    }
    (Point { x, y, spread }, values)
}
