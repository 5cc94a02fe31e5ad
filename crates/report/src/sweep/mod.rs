//! The figures of a sweep, as its job file asks for them.

mod drawn;
mod groups;
mod map;
mod names;
mod rows;
mod seeds;
mod table;
#[cfg(test)]
mod tests;

pub mod page;

use std::collections::BTreeSet;

use super::figure::{Axis, Figure, Panel, Plot, Scale};
use super::parameters;
use super::rows::WITH_MISSING;
use weir_input::ConfigError;
use weir_result::TraceError;
use weir_simulation::config::Catalog;
use weir_study::{
    Figure as Wanted, FigureKind, FigureX, FigureY, Interval, Metric, Points, ScaleKind, Study,
    SweepDir, Table,
};

use groups::Groups;

/// Content of a sweep's page.
pub struct Sweep<'a> {
    /// The job file.
    pub study: &'a Study,
    /// Its points.
    pub points: &'a Points,
    /// Directory of their results.
    pub dir: &'a SweepDir,
    /// Their numbers.
    pub table: &'a Table,
    /// The parameters of each point in a line, part by part.
    lines: Vec<Vec<String>>,
    /// The parameters that all points of the table share: section, key, value.
    common: Vec<[String; 3]>,
}

impl<'a> Sweep<'a> {
    /// A sweep with its table.
    ///
    /// # Errors
    /// If an experiment cannot be read.
    pub fn new(
        study: &'a Study,
        catalog: &Catalog,
        points: &'a Points,
        dir: &'a SweepDir,
        table: &'a Table,
    ) -> Result<Sweep<'a>, ConfigError> {
        let mut lines = Vec::with_capacity(table.rows.len());
        let mut common: Option<Vec<[String; 3]>> = None;
        for point in points.iter().filter(|point| point.is_own()) {
            let resolved = study.experiment(point, catalog)?.resolved;
            let line = parameters::line(&resolved, None);
            lines.push(line.split(" · ").map(str::to_string).collect());
            let own = parameters::all(&resolved);
            match &mut common {
                Some(common) => common.retain(|row| own.contains(row)),
                None => common = Some(own),
            }
        }
        Ok(Sweep {
            study,
            points,
            dir,
            table,
            lines,
            common: common.unwrap_or_default(),
        })
    }

    /// The figures, in the order of the job file. Without any there, latency and throughput over
    /// the last axis.
    ///
    /// # Errors
    /// If a result is damaged.
    pub fn figures(&self) -> Result<Vec<Figure>, TraceError> {
        if self.study.figures.is_empty() {
            let own = usual(self.study);
            return own.iter().map(|wanted| self.figure(wanted)).collect();
        }
        let figures = self.study.figures.iter();
        figures.map(|wanted| self.figure(wanted)).collect()
    }

    fn figure(&self, wanted: &Wanted) -> Result<Figure, TraceError> {
        let groups = Groups::of(self, wanted);
        let (panels, data) = match wanted.kind {
            FigureKind::Line => table::lines(self, wanted, &groups),
            FigureKind::Map => map::maps(self, wanted),
            FigureKind::Bar | FigureKind::Box | FigureKind::Stacked => {
                table::bars(self, wanted, &groups)
            }
            FigureKind::Time => rows::over_time(self, wanted, &groups)?,
            FigureKind::Distribution => rows::distribution(self, wanted, &groups)?,
            FigureKind::Ternary => rows::ternary(self, wanted, &groups)?,
            FigureKind::Heatmap => rows::heat(self, wanted, &groups)?,
        };
        let mut caption: Vec<String> = wanted.caption.iter().cloned().collect();
        caption.extend(self.selected(wanted));
        caption.extend(self.means(wanted, &groups));
        caption.extend(table::of_few_seeds(self, wanted, &groups));
        caption.extend(baseline(wanted));
        if wanted.kind == FigureKind::Distribution {
            caption.push(WITH_MISSING.into());
        }
        caption.extend(map::said(&panels));
        caption.extend(diagonal(&panels));
        caption.extend(off_the_scale(&panels));
        caption.extend(self.missing(&groups));
        caption.push(self.parameters(&groups));
        Ok(Figure {
            id: wanted.id.clone(),
            title: wanted.title.clone().unwrap_or_else(|| wanted.id.clone()),
            caption,
            panels,
            data,
            jobs: self.points.jobs(),
        })
    }

    /// Text on the points that the figure selects.
    fn selected(&self, wanted: &Wanted) -> Option<String> {
        let axes = wanted.selection.axes.iter().map(|(axis, values)| {
            let own = &self.study.axes[*axis];
            let labels: Vec<&str> = values.iter().map(|at| &*own.values[*at].label).collect();
            format!("{} = {}", own.name, labels.join(", "))
        });
        let axes: Vec<String> = axes.collect();
        (!axes.is_empty()).then(|| format!("Where {}.", axes.join("; ")))
    }

    /// Text on the statistics over several seeds.
    fn means(&self, wanted: &Wanted, groups: &Groups) -> Option<String> {
        let there = groups.rows().filter(|row| row.state == "done");
        let seeds: BTreeSet<u64> = there.map(|row| row.seed).collect();
        let count = seeds.len();
        if count < 2 {
            return None;
        }
        let reach = match wanted.interval {
            Interval::Range => "from the least to the largest",
            Interval::Confidence => "where the mean lies with 95% confidence (Student's t)",
        };
        Some(match wanted.kind {
            FigureKind::Line | FigureKind::Bar => {
                format!("Means of {count} seeds; whiskers {reach}.")
            }
            FigureKind::Time => format!("Means of {count} seeds; bands {reach}."),
            FigureKind::Box => format!(
                "{count} seeds, each a dot: boxes from the first to the third quartile, a line at \
                 the median, whiskers {reach}."
            ),
            FigureKind::Stacked | FigureKind::Map => format!("Means of {count} seeds."),
            FigureKind::Distribution | FigureKind::Ternary => format!("{count} seeds together."),
            FigureKind::Heatmap => format!("The first of {count} seeds."),
        })
    }

    /// Text on the points without a result.
    fn missing(&self, groups: &Groups) -> Option<String> {
        const MOST: usize = 6;
        let all = groups.rows().count();
        let missing = groups.rows().filter(|row| row.state != "done");
        let names: Vec<String> = missing
            .filter_map(|row| {
                let point = self.points.get(row.point)?;
                Some(format!("{} ({})", point.label(self.study), row.state))
            })
            .collect();
        let more = match names.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>();
        (!names.is_empty()).then(|| {
            let count = names.len();
            format!(
                "Without a result: {count} of {all} points: {}{more}.",
                shown.join(", ")
            )
        })
    }

    /// The parameters that all points of a figure have in common, and the seeds.
    fn parameters(&self, groups: &Groups) -> String {
        let rows: Vec<_> = groups.rows().collect();
        let lines = rows.iter().filter_map(|row| self.lines.get(row.point));
        let lines: Vec<&Vec<String>> = lines.collect();
        let Some((first, others)) = lines.split_first() else {
            return "No point is selected.".into();
        };
        let common = first
            .iter()
            .filter(|part| others.iter().all(|other| other.contains(part)));
        let mut parts: Vec<String> = common.cloned().collect();
        let seeds: BTreeSet<u64> = rows.iter().map(|row| row.seed).collect();
        if seeds.len() > 1 {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            parts.push(format!("seeds {}", seeds.join(", ")));
        }
        parts.join(" · ")
    }
}

/// Text on what a slowdown is over, if one is drawn.
fn baseline(wanted: &Wanted) -> Option<String> {
    let is_slowdown = |y: &FigureY| match y {
        FigureY::Metric(metric) => metric.name().starts_with("slowdown."),
        FigureY::Rows(_) => false,
    };
    let text = "A slowdown is over the same job alone, with the same settings.";
    wanted.y.iter().any(is_slowdown).then(|| text.to_string())
}

/// Text on the dotted line, if it is drawn.
fn diagonal(panels: &[Panel]) -> Option<String> {
    let drawn = |panel: &Panel| matches!(&panel.plot, Plot::Lines(lines) if lines.diagonal);
    let text = "Dotted: as much is accepted as is offered.";
    panels.iter().any(drawn).then(|| text.to_string())
}

/// Text on points that have no place in the plot, and on the arrows at its edge, if there are any.
fn off_the_scale(panels: &[Panel]) -> Option<String> {
    // Over the edge at the top or the bottom, and at a side.
    let [mut arrows, mut beside] = [0, 0];
    for panel in panels {
        let Plot::Lines(lines) = &panel.plot else {
            continue;
        };
        let is_off = |axis: &Axis, value: f64| {
            let [low, high] = axis.range.unwrap_or([f64::NEG_INFINITY, f64::MAX]);
            value < low || value > high || axis.scale == Scale::Log && value <= 0.0
        };
        let points = lines.series.iter().flat_map(|one| &one.points);
        for point in points.filter(|_| lines.markers) {
            match is_off(&lines.x, point.x) {
                true => beside += 1,
                false => arrows += u32::from(is_off(&lines.y, point.y)),
            }
        }
    }
    let arrows = (arrows > 0).then(|| "Arrows at the edge are points off the scale".to_string());
    let beside = (beside > 0).then(|| match beside {
        1 => "One point lies beside the scale".to_string(),
        _ => format!("{beside} points lie beside the scale"),
    });
    let said: Vec<String> = arrows.into_iter().chain(beside).collect();
    let values = "the values are in the CSV file.";
    (!said.is_empty()).then(|| format!("{}; {values}", said.join("; ")))
}

/// Most metrics of claims that are drawn if no figure is asked for.
const MOST_DRAWN: usize = 6;

/// The figures of a study that asks for none: throughput and latency over its last axis of numbers.
/// Without such an axis, and always for the metrics of its claims, bars or lines over its last
/// axis.
fn usual(study: &Study) -> Vec<Wanted> {
    let Some(last) = study.axes.len().checked_sub(1) else {
        return Vec::new();
    };
    let over = study.axes.iter().rposition(|axis| axis.numeric());
    // A bar on a logarithmic axis has no foot.
    let (x, kind, of_latency) = match over {
        Some(x) => (x, FigureKind::Line, ScaleKind::Log),
        None => (last, FigureKind::Bar, ScaleKind::Linear),
    };
    let one = |id: String, title: String, metric: Metric, y_scale: ScaleKind, y_label| Wanted {
        id,
        title: Some(title),
        kind,
        x: Some(FigureX::Axis(x)),
        y: vec![FigureY::Metric(metric)],
        up: None,
        marks: Vec::new(),
        series: (0..study.axes.len()).find(|axis| *axis != x),
        panel: None,
        selection: weir_study::Selection::default(),
        ratio: None,
        interval: Interval::Range,
        x_scale: ScaleKind::Linear,
        y_scale,
        x_label: None,
        y_label,
        x_range: None,
        y_range: None,
        caption: None,
    };
    let totals = [
        (
            "accepted-load",
            "Accepted load",
            "summary.accepted_load",
            ScaleKind::Linear,
        ),
        (
            "latency",
            "Mean message latency",
            "latency.message.mean",
            of_latency,
        ),
    ];
    let usual = totals.iter().filter_map(|&(id, title, name, scale)| {
        let metric = Metric::parse(name, &[]).ok()?;
        Some(one(
            id.into(),
            title.into(),
            metric,
            scale,
            Some(title.to_lowercase()),
        ))
    });
    let metrics = study.metrics();
    let drawn = |metric: &&Metric| !totals.iter().any(|(_, _, name, _)| *name == metric.name());
    let asked = metrics.iter().filter(drawn).take(MOST_DRAWN).enumerate();
    let asked = asked.map(|(number, metric)| {
        let title = names::words(metric.name());
        one(
            format!("metric-{}", number + 1),
            title,
            metric.clone(),
            ScaleKind::Linear,
            None,
        )
    });
    usual.chain(asked).collect()
}

/// The vertical axis that a figure asks for.
fn y_axis(wanted: &Wanted, label: &str, unit: &str) -> Axis {
    Axis {
        label: wanted.y_label.clone().unwrap_or_else(|| label.to_string()),
        unit: unit.to_string(),
        scale: scale(wanted.y_scale),
        range: wanted.y_range,
        from_zero: true,
        names: Vec::new(),
    }
}

fn scale(kind: ScaleKind) -> Scale {
    match kind {
        ScaleKind::Linear => Scale::Linear,
        ScaleKind::Log => Scale::Log,
    }
}
