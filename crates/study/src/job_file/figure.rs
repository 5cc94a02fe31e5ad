//! `[[figure]]`, checked.

use std::collections::BTreeSet;

use super::axis::{Axis, check_name};
use super::drawing::{IN_ROWS, IN_TABLE, Quantity, check_keys};
use super::keys::{FigureFile, FigureKind, Interval, Names};
use super::needs::Need;
use super::selection::{Selection, axis_named};
use crate::metric::{Metric, names, pattern};
use weir_input::Given;
use weir_input::registry::range::ScaleKind;
use weir_input::{ConfigError, Duration};
use weir_model::{Invalid, Time};

/// A figure of a study. Its data is in the table, except for the kinds that show rows of a result.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name and that of its files.
    pub id: String,
    /// Above it.
    pub title: Option<String>,
    /// Kind of figure.
    pub kind: FigureKind,
    /// Quantity along the bottom; None for the kinds that need none.
    pub x: Option<FigureX>,
    /// For a line, bar or stacked figure: metrics of the table.
    /// Otherwise the rows that are drawn: `series.job.hot.delivered_bytes`, `latency.message`,
    /// `ports.local`, `occupancy`.
    pub y: Vec<FigureY>,
    /// The axis (its index) that lies upwards in a map.
    pub up: Option<usize>,
    /// Points that a map shows by their names.
    pub marks: Vec<Mark>,
    /// The axis (its index) whose values are curves.
    pub series: Option<usize>,
    /// The axis whose values are panels.
    pub panel: Option<usize>,
    /// The points.
    pub selection: Selection,
    /// Divisor of each value.
    pub ratio: Option<Ratio>,
    /// Meaning of whiskers and bands.
    pub interval: Interval,
    /// Scale of the horizontal axis.
    pub x_scale: ScaleKind,
    /// Scale of the vertical axis.
    pub y_scale: ScaleKind,
    /// Below the horizontal axis.
    pub x_label: Option<String>,
    /// Beside the vertical axis.
    pub y_label: Option<String>,
    /// From and to, in the unit of x.
    pub x_range: Option<[f64; 2]>,
    /// From and to, in the unit of y.
    pub y_range: Option<[f64; 2]>,
    /// Below the figure.
    pub caption: Option<String>,
}

/// Divisor of the values of a figure, seed by seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The metric; None for that of the value itself.
    pub metric: Option<Metric>,
    /// Index of an axis and of the value that replaces the point's own.
    pub at: Vec<(usize, usize)>,
}

/// A point of a map with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its name.
    pub label: String,
    /// The index of its value on the axis along the bottom, and on that which lies upwards.
    pub at: [usize; 2],
}

/// Quantity along the bottom.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureX {
    /// An axis of the study, by its index.
    Axis(usize),
    /// A metric.
    Metric(Metric),
    /// The metrics that are drawn: of bars.
    Metrics,
}

/// Value of `x` for that case.
const METRICS: &str = "metrics";

/// Content of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureY {
    /// A column of the table.
    Metric(Metric),
    /// Rows of the results: their place in `/data` with dots.
    Rows(String),
}

impl Figure {
    /// The figure, and its requirements on the results.
    pub(crate) fn read(
        given: &Given,
        axes: &[Axis],
        jobs: &[String],
    ) -> Result<(Figure, Vec<Need>), ConfigError> {
        let file: FigureFile = given.section().parse()?;
        check_name(given, "id", &file.id)?;
        check_keys(given, file.kind)?;
        let axis = |key: &str, name: &Option<String>| match name {
            Some(name) => {
                let at = given.get(key).unwrap_or_else(|| given.clone());
                axis_named(&at, axes, name).map(Some)
            }
            None => Ok(None),
        };
        let x = read_x(given, &file, axes, jobs)?;
        let selection = Selection::of(given, "where", axes)?;
        let y = read_y(given, &file, jobs)?;
        let mut needs: Vec<Need> = y.iter().map(|(at, y)| need(at, y, &selection)).collect();
        if let Some(FigureX::Metric(metric)) = &x {
            let at = given.get("x").unwrap_or_else(|| given.clone());
            needs.push(Need::metric(&at, metric, &selection));
        }
        let ratio = read_ratio(given, &file, axes, jobs)?;
        if let Some(metric) = ratio.as_ref().and_then(|ratio| ratio.metric.as_ref()) {
            let at = given.get("ratio").unwrap_or_else(|| given.clone());
            needs.push(Need::metric(&at, metric, &Selection::default()));
        }
        let up = axis("up", &file.up)?;
        let y: Vec<FigureY> = y.into_iter().map(|(_, y)| y).collect();
        let across = quantity_across(file.kind, axes, x.as_ref(), &y);
        let upwards = quantity_upwards(given, &file, axes, up, &y, jobs)?;
        let (x_scale, y_scale) = match file.kind {
            // Such a figure is for tails.
            FigureKind::Distribution => (ScaleKind::Log, ScaleKind::Log),
            _ => (file.x_scale, file.y_scale),
        };
        let figure = Figure {
            up,
            marks: read_map(given, &file, axes, x.as_ref(), up)?,
            y,
            x,
            series: axis("series", &file.series)?,
            panel: check_panels(given, axes, axis("panel", &file.panel)?, &selection)?,
            selection,
            id: file.id,
            title: file.title,
            kind: file.kind,
            ratio,
            interval: file.interval,
            x_scale,
            y_scale,
            x_label: file.x_label,
            y_label: file.y_label,
            x_range: across.range(given, "x_range", &file.x_range, x_scale)?,
            y_range: upwards.range(given, "y_range", &file.y_range, y_scale)?,
            caption: file.caption,
        };
        Ok((figure, needs))
    }

    /// The metrics that it needs from the table.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        let x = match &self.x {
            Some(FigureX::Metric(metric)) => Some(metric),
            _ => None,
        };
        let y = self.y.iter().filter_map(|y| match y {
            FigureY::Metric(metric) => Some(metric),
            FigureY::Rows(_) => None,
        });
        let over = self.ratio.as_ref().and_then(|ratio| ratio.metric.as_ref());
        x.into_iter().chain(y).chain(over)
    }
}

fn read_x(
    given: &Given,
    file: &FigureFile,
    axes: &[Axis],
    jobs: &[String],
) -> Result<Option<FigureX>, ConfigError> {
    let Some(name) = &file.x else {
        if file.kind.of_the_table() {
            let message = "the key `x` is missing";
            let remedy = "name an axis, or a metric";
            return Err(given.refuse(Invalid::new("", message, remedy)));
        }
        return Ok(None);
    };
    let at = given.get("x").unwrap_or_else(|| given.clone());
    if name == METRICS && axes.iter().all(|axis| axis.name != METRICS) {
        return match file.kind {
            FigureKind::Bar => Ok(Some(FigureX::Metrics)),
            _ => Err(at.wrong(
                format!("only bars can stand for each metric along {METRICS:?}"),
                "name an axis, or a metric",
            )),
        };
    }
    if !name.contains('.') {
        return axis_named(&at, axes, name).map(|axis| Some(FigureX::Axis(axis)));
    }
    let metric = metric_at(&at, name, jobs)?;
    Ok(Some(FigureX::Metric(metric)))
}

fn quantity_across(
    kind: FigureKind,
    axes: &[Axis],
    x: Option<&FigureX>,
    y: &[FigureY],
) -> Quantity {
    let over_time = |y: &FigureY| *y == FigureY::Rows("occupancy".into());
    match (kind, x) {
        (FigureKind::Time | FigureKind::Distribution, _) => Quantity::of("ns", IN_ROWS),
        (FigureKind::Heatmap, _) if y.iter().all(over_time) => Quantity::of("ns", IN_ROWS),
        (_, Some(FigureX::Axis(axis))) => Quantity::of(&axes[*axis].unit, IN_TABLE),
        (_, Some(FigureX::Metric(metric))) => Quantity::of(metric.unit(), IN_TABLE),
        (_, Some(FigureX::Metrics) | None) => Quantity::Numbers,
    }
}

/// Maximum number of panels of a figure along its axis.
const MOST_PANELS: usize = 100;

fn check_panels(
    given: &Given,
    axes: &[Axis],
    panel: Option<usize>,
    selection: &Selection,
) -> Result<Option<usize>, ConfigError> {
    let of = |axis: usize| {
        selection
            .on(axis)
            .map_or(axes[axis].values.len(), <[usize]>::len)
    };
    match panel.map_or(0, of) {
        0..=MOST_PANELS => Ok(panel),
        count => Err(given.refuse(Invalid::new(
            "panel",
            format!("{count} panels are too many for a figure"),
            format!("choose at most {MOST_PANELS} values with `where`, or another axis"),
        ))),
    }
}

/// The quantity upwards. What is drawn over time has one axis, and so has what has one range.
fn quantity_upwards(
    given: &Given,
    file: &FigureFile,
    axes: &[Axis],
    up: Option<usize>,
    y: &[FigureY],
    jobs: &[String],
) -> Result<Quantity, ConfigError> {
    if let Some(up) = up {
        return Ok(Quantity::of(&axes[up].unit, IN_TABLE));
    }
    let over_time = file.kind == FigureKind::Time;
    let unit = |y: &FigureY| match y {
        FigureY::Metric(metric) => Some(metric.unit().to_string()),
        FigureY::Rows(name) if over_time => {
            let metric = Metric::parse(&format!("{name}.max"), jobs).ok()?;
            Some(metric.unit().to_string())
        }
        FigureY::Rows(_) => None,
    };
    let units: BTreeSet<Option<String>> = y.iter().map(unit).collect();
    let one_axis = over_time || (file.y_range.is_some() && file.ratio.is_none());
    if units.len() > 1 && one_axis {
        let message = "these have different units, and one axis";
        let invalid = Invalid::new("y", message, "draw a figure for each unit");
        return Err(given.refuse(invalid));
    }
    let unit = units.into_iter().next().flatten().unwrap_or_default();
    Ok(match file.ratio {
        Some(_) => Quantity::Numbers,
        None if over_time => Quantity::of(&unit, IN_ROWS),
        None => Quantity::of(&unit, IN_TABLE),
    })
}

/// Reads the divisor of the values.
fn read_ratio(
    given: &Given,
    file: &FigureFile,
    axes: &[Axis],
    jobs: &[String],
) -> Result<Option<Ratio>, ConfigError> {
    let Some(wanted) = &file.ratio else {
        return Ok(None);
    };
    let at = given.get("ratio").unwrap_or_else(|| given.clone());
    let metric = match &wanted.metric {
        Some(name) => {
            let at = at.get("metric").unwrap_or_else(|| at.clone());
            Some(metric_at(&at, name, jobs)?)
        }
        None => None,
    };
    let places = Selection::elsewhere(&at, axes)?;
    if places.is_empty() && metric.is_none() {
        let message = "this compares every point with itself";
        return Err(at.wrong(message, "name another point (`where`) or another metric"));
    }
    Ok(Some(Ratio { metric, at: places }))
}

/// Checks that a map has two axes of numbers, and reads its marks.
fn read_map(
    given: &Given,
    file: &FigureFile,
    axes: &[Axis],
    x: Option<&FigureX>,
    up: Option<usize>,
) -> Result<Vec<Mark>, ConfigError> {
    let refuse = |key: &str, message: &str, remedy: &str| {
        Err(given.refuse(Invalid::new(key, message, remedy)))
    };
    if file.kind != FigureKind::Map {
        return Ok(Vec::new());
    }
    let (Some(FigureX::Axis(x)), Some(up)) = (x, up) else {
        return refuse(
            "",
            "a map lies over two axes",
            "name them with `x` and `up`",
        );
    };
    if *x == up {
        return refuse("up", "this is the axis `x` as well", "name another one");
    }
    for (key, axis) in [("x", *x), ("up", up)] {
        if !axes[axis].numeric() {
            let message = "the values of this axis are no numbers of one unit";
            return refuse(key, message, "a map needs numbers along both of its axes");
        }
    }
    let marks = given.get("marks").and_then(|given| given.items());
    let labels = file.marks.iter().flatten().map(|mark| mark.label.clone());
    let mark = |(given, label): (Given, String)| {
        let at = Selection::of(&given, "at", axes)?;
        match (at.on(*x), at.on(up), at.axes.len()) {
            (Some(&[x]), Some(&[up]), 2) => Ok(Mark { label, at: [x, up] }),
            _ => Err(given.wrong(
                "a mark has a place on both axes of the map, and on no other",
                "write at = { axis = value, axis = value }",
            )),
        }
    };
    marks.into_iter().flatten().zip(labels).map(mark).collect()
}

fn need(at: &Given, y: &FigureY, selection: &Selection) -> Need {
    match y {
        FigureY::Metric(metric) => Need::metric(at, metric, selection),
        FigureY::Rows(name) => Need {
            at: at.clone(),
            name: name.clone(),
            rows: true,
            window: (heat_time(name).unwrap_or(0), Time::MAX),
            selection: selection.clone(),
            slowdown: None,
        },
    }
}

/// Reads the content, and the place where it is named.
fn read_y(
    given: &Given,
    file: &FigureFile,
    jobs: &[String],
) -> Result<Vec<(Given, FigureY)>, ConfigError> {
    let at = given.get("y").unwrap_or_else(|| given.clone());
    let names = match &file.y {
        Names::One(name) => vec![(at, name)],
        Names::Several(names) => {
            let items = at.items().unwrap_or_default();
            items.into_iter().zip(names).collect()
        }
    };
    if names.is_empty() {
        let invalid = Invalid::new("y", "nothing to draw", "name at least one metric");
        return Err(given.refuse(invalid));
    }
    let mut all = Vec::new();
    for (at, name) in names {
        if file.kind.of_the_table() {
            let metrics = metrics_at(&at, name, jobs)?.into_iter();
            all.extend(metrics.map(|metric| (at.clone(), FigureY::Metric(metric))));
            continue;
        }
        let each = pattern::each(name, jobs);
        for name in each.map_err(|error| at.wrong(error.message, error.remedy))? {
            let y = rows_at(&at, file.kind, &name, jobs)?;
            all.push((at.clone(), y));
        }
    }
    Ok(all)
}

/// Content of a figure of rows. Its name is checked as far as it is known before a run.
fn rows_at(
    at: &Given,
    kind: FigureKind,
    name: &str,
    jobs: &[String],
) -> Result<FigureY, ConfigError> {
    // A row name and an end are a metric, which knows the valid names.
    let (good, remedy) = match kind {
        FigureKind::Time => (
            ["series.", "scheme.", "rates."]
                .iter()
                .any(|family| name.starts_with(family)),
            "name a column: \"series.job.<name>.delivered_bytes\", \"rates.<name>.<task>\", \
             \"scheme.<record>.<column>\"",
        ),
        FigureKind::Distribution => (
            name.starts_with("latency."),
            "name a latency class: \"latency.message\"",
        ),
        FigureKind::Ternary => (
            name.starts_with("ports."),
            "name a kind of port: \"ports.local\", \"ports.all\"",
        ),
        _ => (
            name == "occupancy" || heat_time(name).is_some() || name.starts_with("ports."),
            "write \"occupancy\", or \"occupancy @ 2 ms\" (with output.occupancy set), or \
             \"ports.local\", or \"ports.local.busy\" or \"ports.local.stalled\" by group",
        ),
    };
    if !good {
        return Err(at.wrong(
            format!("{name:?} cannot be drawn in this kind of figure"),
            remedy,
        ));
    }
    let of_a_group = |own: &str| match (kind, own.split_once('.')) {
        (FigureKind::Heatmap, Some((kind, "busy" | "stalled"))) => names::is_kind(kind),
        _ => false,
    };
    if let Some(own) = name.strip_prefix("ports.")
        && !names::is_kind(own)
        && !of_a_group(own)
    {
        return Err(at.wrong(
            format!("{name:?}: {own:?} is no kind of port"),
            "name a kind of links of the network, or `fabric` (between routers) or `all`",
        ));
    }
    let probe = match kind {
        FigureKind::Time if !name.starts_with("scheme.") => Some(format!("{name}.max")),
        FigureKind::Distribution => Some(format!("{name}.mean")),
        _ => None,
    };
    if let Some(probe) = probe
        && let Err(error) = Metric::parse(&probe, jobs)
    {
        let [probed, written] = [format!("{probe:?}"), format!("{name:?}")];
        return Err(at.wrong(error.message.replace(&probed, &written), error.remedy));
    }
    Ok(FigureY::Rows(name.to_string()))
}

/// The time of a heat map of one time: `occupancy @ 2 ms`.
pub fn heat_time(name: &str) -> Option<Time> {
    let (what, time) = name.split_once('@')?;
    let time: Duration = time.trim().parse().ok()?;
    (what.trim() == "occupancy").then_some(time.0)
}

/// The metrics that a name stands for: one for each job if it has a `*` that no number of several
/// explains.
pub(crate) fn metrics_at(
    at: &Given,
    name: &str,
    jobs: &[String],
) -> Result<Vec<Metric>, ConfigError> {
    if !name.contains('*') || Metric::parse(name, jobs).is_ok() {
        return Ok(vec![metric_at(at, name, jobs)?]);
    }
    let each = pattern::each(name, jobs);
    let each = each.map_err(|error| at.wrong(error.message, error.remedy))?;
    let metrics = each.iter().map(|name| metric_at(at, name, jobs));
    metrics.collect()
}

/// The metric called `name`; `at` is the place of the name.
pub(crate) fn metric_at(at: &Given, name: &str, jobs: &[String]) -> Result<Metric, ConfigError> {
    Metric::parse(name, jobs).map_err(|error| at.wrong(error.message, error.remedy))
}
