//! Figures of rows of the results themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::super::figure::{Axis, Lines, Panel, Plot, Point, Series, Table};
use super::super::rows as of_result;
use super::super::rows::held;
use super::super::rows::levels::{self, Did};
use super::super::run::{shares_of_ports, shares_row, ternary as triangle};
use super::groups::{self, Groups};
use super::names::{counted, distinct, words};
use super::seeds::mean;
use super::{Sweep, scale, y_axis};
use weir_result::{ResultFile, TraceError};
use weir_study::{FigureY, Interval, Row};

type Outcome<T> = Result<T, TraceError>;
type Drawn = (Vec<Panel>, Table);

/// The names of the rows that a figure draws, with their names in the legend: nothing if there is
/// only one.
fn named(wanted: &weir_study::Figure) -> Vec<(String, String)> {
    let names: Vec<String> = wanted
        .y
        .iter()
        .filter_map(|y| match y {
            FigureY::Rows(name) => Some(name.clone()),
            FigureY::Metric(_) => None,
        })
        .collect();
    let short = match names.len() {
        1 => vec![String::new()],
        _ => distinct(&names),
    };
    names.into_iter().zip(short).collect()
}

fn joined(words: [&str; 2]) -> String {
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(", ")
}

/// The results of rows that are done.
fn results(sweep: &Sweep, rows: &[&Row]) -> Outcome<Vec<ResultFile>> {
    let done = rows.iter().filter(|row| row.state == "done");
    done.map(|row| ResultFile::open(&sweep.dir.point(&row.hash).result()))
        .collect()
}

fn lines_panels(
    sweep: &Sweep,
    wanted: &weir_study::Figure,
    groups: &Groups,
    axes: impl Fn(&str) -> (Axis, Axis),
    read: impl Fn(&[ResultFile], &str) -> Outcome<(Vec<Point>, String)>,
) -> Outcome<Drawn> {
    let mut panels = Vec::new();
    for panel in &groups.panels {
        let mut series = Vec::new();
        let mut unit = String::new();
        for curve in &panel.series {
            let results = results(sweep, &curve.rows)?;
            for (name, short) in named(wanted) {
                let (points, own) = read(&results, &name)?;
                if !own.is_empty() {
                    unit = own;
                }
                series.push(Series {
                    name: joined([&curve.name, &short]),
                    points,
                });
            }
        }
        let (mut x, y) = axes(&unit);
        x.range = wanted.x_range.or(x.range);
        if let Some(label) = &wanted.x_label {
            x.label = label.clone();
        }
        panels.push(Panel {
            title: panel.name.clone(),
            plot: Plot::Lines(Lines {
                x,
                y,
                series,
                ..Lines::default()
            }),
        });
    }
    let data = Table::of_lines(&panels);
    Ok((panels, data))
}

pub(super) fn over_time(
    sweep: &Sweep,
    wanted: &weir_study::Figure,
    groups: &Groups,
) -> Outcome<Drawn> {
    let names = named(wanted);
    let label = match names.as_slice() {
        [(name, _)] => words(name),
        several => {
            let last =
                |(name, _): &(String, String)| counted(name.rsplit('.').next().unwrap_or(name));
            let kinds: BTreeSet<String> = several.iter().map(last).collect();
            let kinds: Vec<String> = kinds.into_iter().collect();
            match kinds.len() > 1 && kinds.iter().all(|kind| kind.ends_with(" latency")) {
                true => "latency".to_string(),
                false => kinds.join(", "),
            }
        }
    };
    let axes = |unit: &str| {
        // Counts in a bin are shown per second; their range is in the same unit.
        let mut x = Axis::new("simulated time", "ps").from_zero();
        x.scale = scale(wanted.x_scale);
        (x, y_axis(wanted, &label, unit))
    };
    lines_panels(sweep, wanted, groups, axes, |results, name| {
        let mut all = Vec::new();
        for result in results {
            let Some(own) = of_result::over_time(result, name)? else {
                continue;
            };
            // Nothing comes in after the end of all jobs.
            let is_rate = own.unit.ends_with("/s");
            let after = (is_rate && result.jobs_are_over()?).then_some(0.0);
            all.push((own, after));
        }
        if name.starts_with("scheme.") || !same_times(&all) {
            all = in_spans(all);
        }
        let unit = all.first().map(|(one, _)| one.unit.clone());
        Ok((means(&all, wanted.interval), unit.unwrap_or_default()))
    })
}

type ToItsEnd = (of_result::OverTime, Option<f64>);

/// True if the times of all are those of the longest, apart from a last bin that is cut off.
fn same_times(all: &[ToItsEnd]) -> bool {
    let times = || all.iter().map(|(one, _)| &one.time_ps);
    let longest = times().max_by_key(|times| times.len());
    longest.is_none_or(|longest| {
        times().all(|own| {
            let whole = own.len().saturating_sub(1);
            own[..whole] == longest[..whole]
        })
    })
}

/// Rows whose times differ between runs: those of a scheme's record, or with intervals that were
/// doubled in one run only. Means of the same spans of time, or as they are if one run has few.
fn in_spans(all: Vec<ToItsEnd>) -> Vec<ToItsEnd> {
    let last = |(one, _): &ToItsEnd| one.time_ps.last().copied();
    let end = all.iter().filter_map(last).fold(0.0, f64::max);
    let several = all.len() > 1 && end > 0.0;
    let means = |(one, after): ToItsEnd| match several {
        true => (one.spans([0.0, end], of_result::MOST_SPANS), after),
        false => (one.means(), after),
    };
    all.into_iter().map(means).collect()
}

/// Means over the seeds, bin by bin, each with its value after its end. Without one, the bins that
/// it does not reach are means over the others.
fn means(all: &[ToItsEnd], interval: Interval) -> Vec<Point> {
    let longest = all.iter().max_by_key(|(one, _)| one.time_ps.len());
    let times = longest
        .map(|(one, _)| one.time_ps.as_slice())
        .unwrap_or_default();
    let point = |(bin, time): (usize, &f64)| {
        let values: Vec<f64> = all
            .iter()
            .filter_map(|(one, after)| one.values.get(bin).copied().or(*after))
            .collect();
        let (y, spread) = mean(&values, interval);
        Point {
            x: *time,
            y,
            spread,
        }
    };
    times.iter().enumerate().map(point).collect()
}

pub(super) fn distribution(
    sweep: &Sweep,
    wanted: &weir_study::Figure,
    groups: &Groups,
) -> Outcome<Drawn> {
    let label = match named(wanted).as_slice() {
        [(name, _)] => words(name),
        _ => "latency".to_string(),
    };
    let axes = |_: &str| {
        let mut y = y_axis(wanted, "share of the samples above", "1");
        y.from_zero = false;
        (Axis::new(&label, "ps").log(), y)
    };
    lines_panels(sweep, wanted, groups, axes, |results, name| {
        let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
        for result in results {
            let (lower, count) = of_result::histogram(result, name)?.unwrap_or_default();
            for (lower, count) in lower.into_iter().zip(count) {
                *buckets.entry(lower).or_insert(0) += count;
            }
        }
        let (lower, count): (Vec<u64>, Vec<u64>) = buckets.into_iter().unzip();
        Ok((of_result::above(&lower, &count), String::new()))
    })
}

/// A panel for each panel, series and kind of port.
fn cells<'a>(
    groups: &'a Groups,
    wanted: &weir_study::Figure,
) -> Vec<(String, String, &'a groups::Series<'a>)> {
    let mut cells = Vec::new();
    for panel in &groups.panels {
        for series in &panel.series {
            for (name, short) in named(wanted) {
                let title = joined([&joined([&panel.name, &series.name]), &short]);
                cells.push((title, name, series));
            }
        }
    }
    cells
}

pub(super) fn ternary(
    sweep: &Sweep,
    wanted: &weir_study::Figure,
    groups: &Groups,
) -> Outcome<Drawn> {
    let mut panels = Vec::new();
    let mut data = shares_of_ports("panel");
    for (title, name, series) in cells(groups, wanted) {
        let kind = name.strip_prefix("ports.").unwrap_or(&name);
        let mut points = Vec::new();
        for result in results(sweep, &series.rows)? {
            points.extend(of_result::port_time(&result, kind)?);
        }
        data.rows
            .extend(points.iter().map(|one| shares_row(&title, one)));
        panels.push(Panel {
            title,
            plot: Plot::Ternary(triangle(&points)),
        });
    }
    Ok((panels, data))
}

pub(super) fn heat(sweep: &Sweep, wanted: &weir_study::Figure, groups: &Groups) -> Outcome<Drawn> {
    let mut panels = Vec::new();
    for (title, name, series) in cells(groups, wanted) {
        let first = results(sweep, &series.rows)?.into_iter().next();
        let heat = match &first {
            Some(result) => match (name.strip_prefix("ports."), weir_study::heat_time(&name)) {
                (Some(kind), _) => match kind.split_once('.') {
                    Some((kind, did)) => match Did::parse(did) {
                        Some(did) => levels::by_group(result, kind, did)?,
                        None => None,
                    },
                    None => of_result::stalled(result, kind)?,
                },
                (None, Some(time)) => held::at(result, time)?,
                (None, None) => of_result::occupancy(result)?.map(|(heat, _)| heat),
            },
            None => None,
        };
        let mut heat = heat.unwrap_or_default();
        heat.x.range = wanted.x_range.or(heat.x.range);
        heat.y.range = wanted.y_range.or(heat.y.range);
        panels.push(Panel {
            title,
            plot: Plot::Heat(heat),
        });
    }
    let heats = panels.iter().filter_map(|panel| match &panel.plot {
        Plot::Heat(heat) => Some((panel.title.as_str(), heat)),
        _ => None,
    });
    let data = Table::of_heats(&heats.collect::<Vec<_>>());
    Ok((panels, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_counts_with_what_came_after_it() {
        let run = |values: &[f64]| of_result::OverTime {
            time_ps: (0..values.len()).map(|bin| bin as f64).collect(),
            values: values.to_vec(),
            unit: "B/s".into(),
        };
        let (short, long) = (run(&[4.0]), run(&[2.0, 6.0]));
        let of = |after| {
            let all = [(short.clone(), after), (long.clone(), after)];
            means(&all, Interval::Range)
                .iter()
                .map(|point| point.y)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(Some(0.0)), [3.0, 3.0]);
        assert_eq!(of(None), [3.0, 6.0]);
    }

    #[test]
    fn rows_with_times_of_their_own_meet_in_spans_of_time() {
        let run = |times: &[f64], values: &[f64]| of_result::OverTime {
            time_ps: times.to_vec(),
            values: values.to_vec(),
            unit: "ps".into(),
        };
        let one = (run(&[10.0, 90.0, 100.0], &[1.0, 3.0, 5.0]), None);
        let cut = (run(&[10.0, 90.0], &[1.0, 3.0]), None);
        let other = (run(&[20.0, 150.0, 200.0], &[2.0, 6.0, 8.0]), None);
        assert!(same_times(&[one.clone(), cut]) && same_times(&[]));
        assert!(!same_times(&[one.clone(), other.clone()]));
        let spans = in_spans(vec![one.clone(), other]);
        let points = means(&spans, Interval::Range);
        let seen: Vec<(f64, f64)> = (points.iter())
            .filter(|point| !point.y.is_nan())
            .map(|point| (point.x, point.y))
            .collect();
        // Spans of 1 ps; the last one has what comes at its end.
        let times = [10.5, 20.5, 90.5, 100.5, 150.5, 199.5];
        assert_eq!(seen.len(), times.len());
        assert_eq!(seen.iter().map(|(x, _)| *x).collect::<Vec<_>>(), times);
        assert_eq!(seen[0].1, 1.0);
        assert_eq!(seen[5].1, 8.0);
        assert_eq!(in_spans(vec![one.clone()]), [one]);
    }
}
