//! Many lines as a few: the median of endpoints over time with a band, and the least and the
//! largest of them.

use std::collections::BTreeMap;

use super::OverTime;
use crate::figure::{Point, Series, quantile};

/// Most lines that are still drawn one by one.
const MOST_LINES: usize = 8;

/// Lines of endpoints by the names `JOB.TASK` or a number: those of each job, and of those with
/// numbers, as they are or as quantiles.
pub fn lines(all: &[(String, OverTime)]) -> Vec<Series> {
    let mut groups: BTreeMap<&str, Vec<&(String, OverTime)>> = BTreeMap::new();
    for one in all {
        let job = one.0.rsplit_once('.').map_or("", |(job, _)| job);
        groups.entry(job).or_default().push(one);
    }
    let groups = groups.into_iter().flat_map(|(job, own)| match own.len() {
        0..=MOST_LINES => own.iter().map(|(name, rows)| line_of(name, rows)).collect(),
        _ => bands(job, &own),
    });
    groups.collect()
}

fn bands(job: &str, all: &[&(String, OverTime)]) -> Vec<Series> {
    let count = all.len();
    let what = match job {
        "" => format!("{count} endpoints"),
        job => format!("{job}, {count} endpoints"),
    };
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (_, rows) in all {
        for (time, value) in rows.time_ps.iter().zip(&rows.values) {
            if value.is_finite() {
                times.entry(time.to_bits()).or_default().push(*value);
            }
        }
    }
    // Times are not negative: their bits have their order.
    let sorted: Vec<(f64, Vec<f64>)> = times
        .into_iter()
        .map(|(time, mut values)| {
            values.sort_by(f64::total_cmp);
            (f64::from_bits(time), values)
        })
        .collect();
    let line = |name: &str, share: f64, band: Option<[f64; 2]>| Series {
        name: format!("{what}: {name}"),
        points: sorted
            .iter()
            .map(|(x, values)| Point {
                x: *x,
                y: quantile(values, share),
                spread: band.map_or([f64::NAN; 2], |ends| ends.map(|end| quantile(values, end))),
            })
            .collect(),
    };
    vec![
        line("median, band 10% to 90%", 0.5, Some([0.1, 0.9])),
        line("least", 0.0, None),
        line("largest", 1.0, None),
    ]
}

/// A line through values over time.
pub fn line_of(name: &str, rows: &OverTime) -> Series {
    let points = rows.time_ps.iter().zip(&rows.values);
    Series {
        name: name.to_string(),
        points: points.map(|(x, y)| Point::new(*x, *y)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, values: [f64; 2]) -> (String, OverTime) {
        let rows = OverTime {
            time_ps: vec![5.0, 10.0],
            values: values.to_vec(),
            unit: "1".into(),
        };
        (name.to_string(), rows)
    }

    #[test]
    fn few_are_lines_and_many_are_quantiles() {
        let mut all: Vec<_> = (0..11)
            .map(|i| row(&format!("storm.{i}"), [f64::from(i), 1.0]))
            .collect();
        all.extend([row("7", [0.5, 0.5]), row("md.0", [f64::NAN, 0.2])]);
        let lines = lines(&all);
        let names: Vec<&str> = lines.iter().map(|one| one.name.as_str()).collect();
        let storm = ["median, band 10% to 90%", "least", "largest"]
            .map(|one| format!("storm, 11 endpoints: {one}"));
        assert_eq!(
            names,
            [
                vec!["7", "md.0"],
                storm.iter().map(String::as_str).collect()
            ]
            .concat()
        );
        let first = |at: usize| lines[at].points[0];
        assert_eq!((first(2).y, first(2).spread), (5.0, [1.0, 9.0]));
        assert_eq!((first(3).y, first(4).y), (0.0, 10.0));
        assert_eq!(first(4).x, 5.0);
    }
}
