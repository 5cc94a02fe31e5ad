//! Content of a figure, before it is drawn: panels with their axes, series and points, all in the
//! units of the result.

mod axis;
mod graph;
mod table;
mod ternary;
mod units;

pub use axis::{Axis, Coord, Scale};
pub use graph::{Graph, Link, Node};
pub use table::{Table, csv_field, number};
pub use ternary::{CELLS, Ternary};
pub use units::{Shown, shown};

/// A figure: one or more panels that share a legend, and the text below them.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Names its files; letters, digits, `-`, `_` and `.` only.
    pub id: String,
    /// Above it.
    pub title: String,
    /// Below it: its content and parameters. One paragraph each.
    pub caption: Vec<String>,
    /// From left to right, then down.
    pub panels: Vec<Panel>,
    /// The numbers that it shows.
    pub data: Table,
    /// Names of jobs: series that are called by them have the same colours in all figures with the
    /// same jobs.
    pub jobs: Vec<String>,
}

/// One plot of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Above it; empty for none.
    pub title: String,
    /// Its content.
    pub plot: Plot,
}

/// The kinds of plots.
#[derive(Clone, Debug)]
pub enum Plot {
    /// Points that belong together, joined by lines.
    Lines(Lines),
    /// Lengths, one group of bars below the other.
    Bars(Bars),
    /// Three shares that sum to one.
    Ternary(Ternary),
    /// A quantity over two others, as colours.
    Heat(Heat),
    /// Nodes in layers with links between them.
    Graph(Graph),
}

/// Lines over two axes.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// Series, each with its own colour and dash; the same name looks the same in all panels of a
    /// figure.
    pub series: Vec<Series>,
    /// Marks at the points; for measurements that are not dense.
    pub markers: bool,
    /// A thin line through x = y, to compare with.
    pub diagonal: bool,
}

/// Points with a name.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<Point>,
}

/// A point. A NaN is a gap; an infinite `y` is off the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// Least and largest of the values whose mean is `y`; NaN for none.
    pub spread: [f64; 2],
}

impl Point {
    /// A point that is no mean.
    pub fn new(x: f64, y: f64) -> Point {
        Point {
            x,
            y,
            spread: [f64::NAN; 2],
        }
    }
}

/// Horizontal bars in groups.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// To the right; begins at zero, except for dots.
    pub value: Axis,
    /// From the top down.
    pub groups: Vec<Group>,
    /// The bars of a group in one row, end to end.
    pub stacked: bool,
    /// Boxes over the single values instead of bars: from the first to the third quartile, with a
    /// line at the median.
    pub boxes: bool,
    /// Dots instead of bars, on both sides of a line at zero.
    pub dots: bool,
}

impl Bars {
    /// The values up to which the axis has to reach.
    pub fn ends(&self) -> Vec<f64> {
        if self.stacked {
            return self.groups.iter().map(Group::total).collect();
        }
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let ends = bars.flat_map(|(_, point)| [point.y, point.spread[0], point.spread[1]]);
        let zero = self.dots.then_some(0.0);
        ends.chain(zero).collect()
    }
}

impl Group {
    /// The sum of the existing values.
    pub fn total(&self) -> f64 {
        let values = self.bars.iter().map(|(_, point)| point.y);
        values.filter(|value| value.is_finite()).sum()
    }
}

/// Bars that belong together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// To the left of them.
    pub name: String,
    /// The name of the series, and the value with its spread in `y`; `x` is not used.
    pub bars: Vec<(String, Point)>,
    /// The single values of each, for boxes; empty otherwise.
    pub values: Vec<Vec<f64>>,
}

/// The quantile of ascending values, between two of them in proportion. NaN of none.
pub fn quantile(ascending: &[f64], share: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (
        ascending[at as usize],
        ascending[(at.ceil() as usize).min(last)],
    );
    low + (high - low) * at.fract()
}

/// A table of colours.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The colours.
    pub value: Axis,
    /// Between columns; one more than there are columns.
    pub x_edges: Vec<f64>,
    /// Between rows; one more than there are rows.
    pub y_edges: Vec<f64>,
    /// Row by row, from the bottom up. NaN is a hole.
    pub cells: Vec<f64>,
    /// Places that were measured, if not all of them were.
    pub dots: Vec<[f64; 2]>,
    /// Places with a name.
    pub marks: Vec<(String, [f64; 2])>,
}

impl Figure {
    /// The names of all series in the order of their first appearance, for the legend.
    pub fn legend(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let mut add = |name| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for panel in &self.panels {
            match &panel.plot {
                Plot::Lines(lines) => lines.series.iter().for_each(|one| add(&one.name)),
                Plot::Bars(bars) => {
                    let all = bars.groups.iter().flat_map(|group| &group.bars);
                    all.for_each(|(name, _)| add(name));
                }
                Plot::Ternary(_) | Plot::Heat(_) | Plot::Graph(_) => {}
            }
        }
        names
    }

    /// The same figure with one scale for all panels that show the same quantity, so that they can
    /// be compared.
    pub fn with_shared_axes(&self) -> Figure {
        let mut figure = self.clone();
        let triangles = self.panels.iter().filter_map(|panel| match &panel.plot {
            Plot::Ternary(ternary) => Some(ternary.largest()),
            _ => None,
        });
        let most = triangles.max();
        let mut axes: Vec<(&mut Axis, Vec<f64>)> = Vec::new();
        for panel in &mut figure.panels {
            match &mut panel.plot {
                Plot::Lines(lines) => {
                    let points = lines.series.iter().flat_map(|one| &one.points);
                    let seen = points.filter(|point| !point.x.is_nan() && !point.y.is_nan());
                    let (mut x, mut y) = (Vec::new(), Vec::new());
                    for point in seen {
                        x.push(point.x);
                        y.extend([point.y, point.spread[0], point.spread[1]]);
                    }
                    axes.push((&mut lines.x, x));
                    axes.push((&mut lines.y, y));
                }
                Plot::Bars(bars) => {
                    let ends = bars.ends();
                    axes.push((&mut bars.value, ends));
                }
                Plot::Heat(heat) => axes.push((&mut heat.value, heat.cells.clone())),
                Plot::Ternary(ternary) => ternary.most = most,
                Plot::Graph(_) => {}
            }
        }
        let key = |axis: &Axis| (axis.label.clone(), axis.unit.clone());
        let all: Vec<_> = axes
            .iter()
            .map(|(axis, values)| (key(axis), values.clone()))
            .collect();
        for (axis, _) in &mut axes {
            let own = key(axis);
            let same = all.iter().filter(|(other, _)| *other == own);
            let values: Vec<f64> = same
                .flat_map(|(_, values)| values.iter().copied())
                .collect();
            if axis.range.is_none() && values.iter().any(|value| value.is_finite()) {
                axis.range = Some(axis.span(values));
            }
        }
        figure
    }

    /// True if it has anything to show.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(|panel| match &panel.plot {
            Plot::Lines(lines) => {
                let mut points = lines.series.iter().flat_map(|one| &one.points);
                points.all(|point| point.x.is_nan() || point.y.is_nan())
            }
            Plot::Bars(bars) => {
                let mut all = bars.groups.iter().flat_map(|group| &group.bars);
                all.all(|(_, point)| !point.y.is_finite())
            }
            Plot::Ternary(ternary) => ternary.points.is_empty(),
            Plot::Heat(heat) => heat.cells.iter().all(|cell| cell.is_nan()),
            Plot::Graph(graph) => graph.nodes.is_empty(),
        })
    }
}
