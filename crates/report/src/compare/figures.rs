//! Figures of a comparison: relative differences, and distributions of latencies.

use super::tables::header;
use crate::figure::{Axis, Bars, Figure, Group, Lines, Panel, Plot, Point, Series, Table, number};
use crate::rows;
use weir_result::schema::BY_ARRIVAL;
use weir_study::compare::{Comparison, NumberChange, RunResult};

/// Most rows of a figure.
const MOST: usize = 40;

/// Most figures of differences of sweeps.
const MOST_FIGURES: usize = 8;

/// The figures of compared runs.
pub fn of_runs(comparison: &Comparison, runs: &[RunResult]) -> Vec<Figure> {
    let told = |number: &&NumberChange| {
        let last = number.metric.rsplit('.').next().unwrap_or_default();
        let rates = [
            "accepted_load",
            "communication",
            "mean",
            "p50",
            "p99",
            "p999",
            "max",
        ];
        // By arrival only where what has not arrived leaves the other number open.
        let twice = number.metric.contains(BY_ARRIVAL) && {
            let plain = number.metric.replace(BY_ARRIVAL, "");
            let mut all = comparison.numbers.iter();
            all.any(|other| other.metric == plain && !bars(comparison, other).is_empty())
        };
        rates.contains(&last) && !number.same && !twice
    };
    let numbers: Vec<&NumberChange> = comparison.numbers.iter().filter(told).collect();
    let name = |number: &NumberChange| {
        let groups = ["latency.job.", "latency.", "jobs.", "summary."];
        let metric = number.metric.as_str();
        let short = groups.iter().find_map(|group| metric.strip_prefix(group));
        short.unwrap_or(metric).replace('.', " ")
    };
    let figure = Figure {
        id: "differences".into(),
        title: "Relative differences".into(),
        ..differences(comparison, &numbers, name)
    };
    let figures = [figure, distribution(comparison, runs)];
    figures
        .into_iter()
        .filter(|figure| !figure.is_empty())
        .collect()
}

/// The figures of compared sweeps: one for each metric that the study shows.
pub fn of_sweeps(comparison: &Comparison) -> Vec<Figure> {
    let asked = comparison.numbers.iter().filter(|number| number.asked);
    let mut metrics: Vec<String> = Vec::new();
    for number in asked.clone().filter(|number| !number.same) {
        let metric = header(number);
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let figure = |(at, metric): (usize, &String)| {
        let numbers: Vec<&NumberChange> = asked
            .clone()
            .filter(|number| header(number) == *metric)
            .collect();
        let name = |number: &NumberChange| {
            let labels = number.point.iter().map(|(_, label)| label.as_str());
            labels.collect::<Vec<_>>().join(", ")
        };
        Figure {
            id: format!("difference-{}", at + 1),
            title: format!("{}: relative difference", numbers[0].metric),
            ..differences(comparison, &numbers, name)
        }
    };
    let figures = metrics.iter().take(MOST_FIGURES).enumerate().map(figure);
    figures.filter(|figure| !figure.is_empty()).collect()
}

/// Relative differences of numbers, each a row with a dot for each input.
fn differences(
    comparison: &Comparison,
    numbers: &[&NumberChange],
    name: impl Fn(&NumberChange) -> String,
) -> Figure {
    let mut groups: Vec<Group> = Vec::new();
    let mut data = Table::new(&["row", "input", "difference (%)", "low (%)", "high (%)"]);
    let (mut left, mut open) = (0, 0);
    for number in numbers {
        let bars = bars(comparison, number);
        let name = name(number);
        if bars.is_empty() {
            open += 1;
            continue;
        }
        for (input, point) in &bars {
            let values = [point.y, point.spread[0], point.spread[1]].map(self::number);
            data.rows
                .push([vec![name.clone(), input.clone()], values.to_vec()].concat());
        }
        match groups.iter().position(|group| group.name == name) {
            Some(at) => groups[at].bars.extend(bars),
            None if groups.len() < MOST => groups.push(Group {
                name,
                bars,
                values: Vec::new(),
            }),
            None => left += 1,
        }
    }
    let whiskers = groups.iter().flat_map(|group| &group.bars);
    let mut caption = vec![format!("Differences to A, {}.", comparison.inputs[0].path)];
    if whiskers
        .clone()
        .any(|(_, point)| point.spread[0].is_finite())
    {
        caption.push(
            "Dots are means over pairs of runs with equal seeds, lines their 95% confidence \
             intervals (Student's t)."
                .into(),
        );
    }
    if open > 0 {
        caption.push(format!(
            "Not drawn: {open} numbers of which only a bound is known, or that one input lacks."
        ));
    }
    if left > 0 {
        caption.push(format!("{left} more are in the CSV file."));
    }
    Figure {
        caption,
        panels: vec![Panel {
            title: String::new(),
            plot: Plot::Bars(Bars {
                value: Axis::new("difference to A", "%"),
                groups,
                dots: true,
                ..Bars::default()
            }),
        }],
        data,
        ..Figure::default()
    }
}

/// The known relative differences of a number, in per cent.
fn bars(comparison: &Comparison, number: &NumberChange) -> Vec<(String, Point)> {
    let inputs = number.inputs.iter().skip(1);
    let each = inputs.zip(&number.changes).filter_map(|(input, change)| {
        let change = change.as_ref()?;
        let share = change.relative?.value()?;
        let base = number.values[0]?.value()?;
        let spread = change.interval.unwrap_or([f64::NAN; 2]);
        let point = Point {
            spread: spread.map(|end| end / base * 100.0),
            ..Point::new(f64::NAN, share * 100.0)
        };
        Some((named(comparison, *input), point))
    });
    each.collect()
}

/// Letter and path of an input.
fn named(comparison: &Comparison, place: usize) -> String {
    let input = &comparison.inputs[place];
    format!("{}: {}", input.letter, input.path)
}

/// The distributions of latencies of all runs over each other: of all jobs, and of jobs that all
/// runs have.
fn distribution(comparison: &Comparison, runs: &[RunResult]) -> Figure {
    /// Panels beyond those of all jobs.
    const MOST_JOBS: usize = 4;
    let first = &runs[0].stored.digest.jobs;
    let common = first.iter().filter(|job| {
        let mut others = runs.iter();
        others.all(|run| {
            run.stored
                .digest
                .jobs
                .iter()
                .any(|own| own.name == job.name)
        })
    });
    let jobs = common.take(if first.len() > 1 { MOST_JOBS } else { 0 });
    let of_jobs = jobs.map(|job| {
        let title = format!("messages of {}", job.name);
        (title, format!("job.{}.message", job.name))
    });
    let all = [("messages", "message"), ("packets", "network")];
    let all = all.map(|(title, class)| (title.to_string(), class.to_string()));
    let panels: Vec<Panel> = (all.into_iter().chain(of_jobs))
        .map(|(title, class)| {
            let series = runs.iter().enumerate().filter_map(|(at, run)| {
                let stored = run.stored.latency.iter().find(|own| own.class == class)?;
                let buckets = &stored.buckets;
                let counts = rows::all(&buckets.count, &buckets.missing);
                Some(Series {
                    name: named(comparison, at),
                    points: rows::above(&buckets.lower_ps, &counts),
                })
            });
            let plot = Plot::Lines(Lines {
                x: Axis::new("latency", "ps").log(),
                y: Axis::new("share of the samples above", "1").log(),
                series: series.collect(),
                ..Lines::default()
            });
            Panel { title, plot }
        })
        .collect();
    Figure {
        id: "latency".into(),
        title: "Distribution of latencies".into(),
        caption: vec![rows::WITH_MISSING.into()],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    }
}
