//! Rows of a result in the form that a figure draws: lines and their bands, heat maps, places.

pub(crate) mod bands;
pub mod held;
pub(crate) mod levels;
mod times;

use std::borrow::Cow;

use super::figure::{Axis, Heat, Point};
pub use times::{MOST_SPANS, OverTime};
use weir_result::schema::{PER_TASK, is_port_of};
use weir_result::{Occupancy, RatesOverTime, ResultFile, TraceError, Whose, endpoints_of};

type Outcome<T> = Result<T, TraceError>;

/// A column over time, by its name with dots: `series.job.<name>.delivered_bytes`,
/// `series.job.<name>.message_latency` (the mean of each bin), `series.class.<name>.ejected_flits`,
/// `scheme.<record>.<column>`, `rates.<name>.<task>`. A count per bin becomes a count per second.
/// `delivered_bytes_per_task` is that divided by the number of tasks. None if the result has no
/// such column.
///
/// # Errors
/// If the file is damaged.
pub fn over_time(result: &ResultFile, name: &str) -> Outcome<Option<OverTime>> {
    if let Some(column) = name.strip_prefix("scheme.") {
        return recorded(result, column);
    }
    if let Some(whose) = name.strip_prefix("rates.") {
        return allowed(result, whose);
    }
    let column = name.strip_prefix("series.").unwrap_or(name);
    const SERIES: &str = "data/series";
    let Some(bins) = result.bins()? else {
        return Ok(None);
    };
    let lengths = bins.length_ps.iter().map(|&ps| ps as f64);
    let (values, unit) = match mean_of(column) {
        Some((sum, count)) => {
            let (sum, count) = (result.column(SERIES, &sum)?, result.column(SERIES, &count)?);
            let (Some(sum), Some(count)) = (sum, count) else {
                return Ok(None);
            };
            // 0 / 0 is NaN: no mean.
            let mean = |(sum, count): (&u64, &u64)| *sum as f64 / *count as f64;
            (sum.iter().zip(&count).map(mean).collect(), "ps".to_string())
        }
        None => {
            let (column, tasks) = whole(result, column)?;
            let (Some(rows), Some(unit)) = (
                result.series(column)?,
                result.units(SERIES, &one_of(column))?,
            ) else {
                return Ok(None);
            };
            let rate = |(row, ps): (u64, f64)| row as f64 / tasks / (ps * 1e-12);
            let rows = rows.into_iter().zip(lengths.clone());
            (rows.map(rate).collect(), format!("{unit}/s"))
        }
    };
    Ok(Some(OverTime {
        time_ps: (bins.begin_ps.iter().zip(lengths))
            .map(|(begin, length)| *begin as f64 + length / 2.0)
            .collect(),
        values,
        unit,
    }))
}

/// A column that represents several, as for `endpoint.0-30.delivered_bytes` that of endpoint 0.
fn one_of(column: &str) -> Cow<'_, str> {
    match endpoints_of(column) {
        Some((endpoints, rest)) => format!("endpoint.{}.{rest}", endpoints.start()).into(),
        None => column.into(),
    }
}

/// The column of which another one is the share of a task, and the number of tasks.
fn whole<'a>(result: &ResultFile, column: &'a str) -> Outcome<(&'a str, f64)> {
    let job = column
        .strip_prefix("job.")
        .and_then(|rest| rest.split_once('.'));
    let (Some(whole), Some((job, _))) = (column.strip_suffix(PER_TASK), job) else {
        return Ok((column, 1.0));
    };
    let tasks = result.number(&format!("data/jobs/{job}"), "tasks")?;
    Ok((whole, tasks.unwrap_or(f64::NAN)))
}

/// The columns of a sum of latencies and of their count.
fn mean_of(column: &str) -> Option<(String, String)> {
    let (job, kind) = column.rsplit_once('.')?;
    let count = match kind {
        "message_latency" => "messages",
        "network_latency" => "packets",
        _ => return None,
    };
    Some((format!("{column}_ps"), format!("{job}.{count}")))
}

/// A column of a record of the scheme, over its `time_ps`: `grants.wait_ps`.
fn recorded(result: &ResultFile, column: &str) -> Outcome<Option<OverTime>> {
    let Some((record, column)) = column.split_once('.') else {
        return Ok(None);
    };
    let record = format!("data/scheme/{record}");
    let time = result.column(&record, "time_ps")?;
    let (values, unit) = (
        result.column(&record, column)?,
        result.units(&record, column)?,
    );
    let (Some(time), Some(values), Some(unit)) = (time, values, unit) else {
        return Ok(None);
    };
    Ok(Some(OverTime {
        time_ps: time.into_iter().map(|time| time as f64).collect(),
        values: values.into_iter().map(|value| value as f64).collect(),
        unit,
    }))
}

/// The allowed rate of an endpoint.
fn allowed(result: &ResultFile, whose: &str) -> Outcome<Option<OverTime>> {
    let Some(whose) = Whose::parse(whose) else {
        return Ok(None);
    };
    Ok(result.rates(&whose)?.map(OverTime::from))
}

impl From<RatesOverTime> for OverTime {
    fn from(rates: RatesOverTime) -> OverTime {
        OverTime {
            time_ps: rates.time_ps.into_iter().map(|time| time as f64).collect(),
            values: rates.share,
            unit: "1".into(),
        }
    }
}

/// The share of samples above each latency, of a histogram's occupied buckets (`lower_ps`,
/// `count`): a step down at each bucket that holds any. The last sample is left out, since no share
/// is above it.
pub fn above(lower_ps: &[u64], count: &[u64]) -> Vec<Point> {
    let all: u64 = count.iter().sum();
    let mut left = all;
    let mut points = Vec::new();
    for (lower, count) in lower_ps.iter().zip(count).filter(|(_, count)| **count > 0) {
        points.push(Point::new(*lower as f64, left as f64 / all as f64));
        left -= count;
    }
    points
}

/// The histogram of a latency class, by its name with dots: `latency.message`,
/// `latency.job.<name>.network`; lower edges of its buckets in ps, and their counts. Samples that
/// had not arrived count with their age. None if the result has no such class.
///
/// # Errors
/// If the file is damaged.
pub fn histogram(result: &ResultFile, name: &str) -> Outcome<Option<(Vec<u64>, Vec<u64>)>> {
    let class = name.strip_prefix("latency.").unwrap_or(name);
    let group = format!("data/latency/{class}");
    let column = |name| result.column(&group, name);
    let (Some(lower), Some(count), Some(missing)) =
        (column("lower_ps")?, column("count")?, column("missing")?)
    else {
        return Ok(None);
    };
    Ok(Some((lower, all(&count, &missing))))
}

/// Text below a distribution of latencies.
pub const WITH_MISSING: &str = concat!(
    "The share of messages generated (packets injected) in the measurement window that take ",
    "longer. What had not arrived when the run ended counts with its age at that time; there is ",
    "no line where nothing arrived."
);

/// Samples and missing ones, bucket by bucket, to be drawn: none if none has arrived. A missing one
/// that is younger than any that has arrived counts with the least latency: it will hardly take
/// less, and its age, down to a picosecond, would stretch the axis.
pub fn all(count: &[u64], missing: &[u64]) -> Vec<u64> {
    let mut all: Vec<u64> = count.iter().zip(missing).map(|(a, b)| a + b).collect();
    let Some(first) = count.iter().position(|&count| count > 0) else {
        return vec![0; count.len()];
    };
    let young: u64 = all[..first].iter().sum();
    all[..first].fill(0);
    all[first] += young;
    all
}

/// Time of a port by its uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortTime {
    /// Router and port.
    pub place: [u64; 2],
    /// Busy, idle and stalled, ps.
    pub time: [f64; 3],
}

/// Times of the ports of a kind (of the network's, `fabric`, `all`).
///
/// # Errors
/// If the file is damaged.
pub fn port_time(result: &ResultFile, kind: &str) -> Outcome<Vec<PortTime>> {
    let kinds = result.port_kinds()?;
    let columns = ["router", "port", "busy_ps", "idle_ps", "stalled_ps"];
    let Some([routers, ports, busy, idle, stalled]) = result.table("data/ports", columns)? else {
        return Ok(Vec::new());
    };
    let rows =
        (0..routers.len()).filter(|row| kinds.get(*row).is_some_and(|own| is_port_of(own, kind)));
    Ok(rows
        .map(|row| PortTime {
            place: [routers[row], ports[row]],
            time: [busy[row], idle[row], stalled[row]].map(|ps| ps as f64),
        })
        .collect())
}

/// Columns and rows of the picture of a table.
const CELLS: [usize; 2] = [160, 100];

/// Contents of all routers over time, with cells merged until there are few enough.
/// Each cell is the most that any of its routers held at any of its times. The text says what a
/// cell is. None if it was not recorded.
///
/// # Errors
/// If the file is damaged.
pub fn occupancy(result: &ResultFile) -> Outcome<Option<(Heat, String)>> {
    Ok(result.occupancy()?.as_ref().and_then(picture))
}

fn picture(all: &Occupancy) -> Option<(Heat, String)> {
    let (time, bytes, routers) = (&all.time_ps[..], &all.bytes[..], all.routers);
    if bytes.is_empty() {
        return None;
    }
    let together = [time.len().div_ceil(CELLS[0]), routers.div_ceil(CELLS[1])];
    let columns = time.len().div_ceil(together[0]);
    let rows = routers.div_ceil(together[1]);
    let mut cells = vec![f64::NAN; columns * rows];
    for (at, held) in bytes.iter().enumerate() {
        let (column, row) = (at / routers / together[0], at % routers / together[1]);
        if let Some(cell) = cells.get_mut(row * columns + column) {
            *cell = cell.max(*held as f64);
        }
    }
    let edge = |step: usize, count: usize, together: usize| (step * together).min(count);
    let times = (0..=columns).map(|step| match time.get(edge(step, time.len(), together[0])) {
        Some(time) => *time as f64,
        // One step beyond the last.
        None => match time {
            [.., before, last] => (2 * last - before) as f64,
            [one] => *one as f64 + 1.0,
            [] => 0.0,
        },
    });
    let heat = Heat {
        x: Axis::new("simulated time", "ps").from_zero(),
        y: Axis::new("router", "1"),
        value: Axis::new("held by the router", "B").from_zero(),
        x_edges: times.collect(),
        y_edges: (0..=rows)
            .map(|step| edge(step, routers, together[1]) as f64)
            .collect(),
        cells,
        ..Heat::default()
    };
    let says = match together {
        [1, 1] => String::new(),
        [times, 1] => format!("Each cell is the most that a router held at any of {times} times."),
        [1, routers] => format!("Each cell is the most that any of {routers} routers held."),
        [times, routers] => format!(
            "Each cell is the most that any of {routers} routers held at any of {times} times."
        ),
    };
    Some((heat, says))
}

/// The stalled share of the time of every port of a kind: routers from left to right, ports
/// upwards. None if there is no such port.
///
/// # Errors
/// If the file is damaged.
pub fn stalled(result: &ResultFile, kind: &str) -> Outcome<Option<Heat>> {
    let all = port_time(result, kind)?;
    let span = |at: usize| {
        let own = || all.iter().map(|one| one.place[at]);
        own().min().zip(own().max())
    };
    let (Some(router), Some(port)) = (span(0), span(1)) else {
        return Ok(None);
    };
    let columns = (router.1 - router.0 + 1) as usize;
    let mut cells = vec![f64::NAN; columns * (port.1 - port.0 + 1) as usize];
    for PortTime { place, time } in all {
        let at = ((place[1] - port.0) as usize, (place[0] - router.0) as usize);
        cells[at.0 * columns + at.1] = time[2] / time.iter().sum::<f64>();
    }
    let edges = |(from, to): (u64, u64)| (from..=to + 1).map(|edge| edge as f64).collect();
    let axis = |label: &str, (from, to): (u64, u64)| Axis {
        range: Some([from as f64, to as f64 + 1.0]),
        ..Axis::numbered(label, to as usize + 1)
    };
    Ok(Some(Heat {
        x: axis("router", router),
        y: axis("port", port),
        value: Axis::new("stalled share of the time", "1").from_zero(),
        x_edges: edges(router),
        y_edges: edges(port),
        cells,
        ..Heat::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_result::{sample, schema, write};

    fn sample() -> (tempfile::TempDir, ResultFile) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(schema::FILE);
        write(
            &path,
            &sample::data(),
            &sample::run(),
            sample::EXPERIMENT,
            42,
        )
        .expect("writes");
        let file = ResultFile::open(&path).expect("opens");
        (dir, file)
    }

    #[test]
    fn bytes_in_a_bin_become_bytes_in_a_second() {
        let (_dir, result) = sample();
        let rows = over_time(&result, "series.job.stencil.injected_bytes");
        let rows = rows.expect("reads").expect("is there");
        assert_eq!(rows.unit, "B/s");
        // Bins of 1 us; bin i has 10 i bytes.
        assert_eq!(rows.time_ps[..2], [0.5e6, 1.5e6]);
        assert!((rows.values[7] / 70e6 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_mean_of_a_bin_is_its_sum_over_its_count() {
        let (_dir, result) = sample();
        let rows = over_time(&result, "series.job.stencil.message_latency");
        let rows = rows.expect("reads").expect("is there");
        assert_eq!(rows.unit, "ps");
        assert!(rows.values[0].is_nan(), "no messages");
        assert_eq!(rows.values[3], 1e6);
    }

    #[test]
    fn what_a_scheme_records_has_its_own_times() {
        let (_dir, result) = sample();
        let rows = over_time(&result, "scheme.cuts.endpoint");
        let rows = rows.expect("reads").expect("is there");
        assert_eq!(
            (rows.time_ps, rows.values),
            (vec![1.0, 2.0, 3.0], vec![0.0, 9.0, 0.0])
        );
    }

    #[test]
    fn what_is_not_there_is_none() {
        let (_dir, result) = sample();
        for name in [
            "series.job.nobody.packets",
            "scheme.nothing",
            "scheme.cuts.nothing",
            "scheme.nothing.endpoint",
            "series.job.nobody.message_latency",
        ] {
            assert_eq!(over_time(&result, name).expect("reads"), None, "{name}");
        }
        assert_eq!(histogram(&result, "latency.nothing").expect("reads"), None);
    }

    #[test]
    fn the_share_above_falls_from_one_by_the_counts() {
        let points = above(&[100, 200, 400], &[5, 3, 2]);
        let pairs: Vec<_> = points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(pairs, [(100.0, 1.0), (200.0, 0.5), (400.0, 0.2)]);
        assert_eq!(above(&[], &[]), []);
        // Two that are missing are younger than the first that arrived, one is older.
        let with_missing = all(&[0, 0, 5, 3], &[1, 1, 0, 1]);
        assert_eq!(with_missing, [0, 0, 7, 4]);
        let points = above(&[1, 2, 100, 200], &with_missing);
        let pairs: Vec<_> = points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(pairs, [(100.0, 1.0), (200.0, 4.0 / 11.0)]);
    }

    #[test]
    fn ports_of_a_kind_keep_their_times() {
        let (_dir, result) = sample();
        let all = port_time(&result, "all").expect("reads");
        assert_eq!(all.len(), 70_000);
        assert_eq!(all[2].time, [16_000.0, 10.0, 6.0]);
        let kinds = ["terminal", "local", "global"];
        let sum: usize = kinds
            .map(|kind| port_time(&result, kind).expect("reads").len())
            .iter()
            .sum();
        assert_eq!(sum, 70_000);
    }

    fn held(time: &[u64], bytes: &[u64]) -> Occupancy {
        Occupancy {
            time_ps: time.into(),
            routers: bytes.len().checked_div(time.len()).unwrap_or(0),
            bytes: bytes.into(),
        }
    }

    #[test]
    fn merged_cells_hold_the_largest_of_theirs() {
        let (times, routers) = (330usize, 250usize);
        let time: Vec<u64> = (0..times as u64).map(|t| t * 10).collect();
        let bytes: Vec<u64> = (0..times * routers)
            .map(|i| (i * 7_919 % 1_009) as u64)
            .collect();
        let (heat, says) = picture(&held(&time, &bytes)).expect("a picture");
        assert!(
            says.contains("any of 3 routers held at any of 3 times"),
            "{says}"
        );
        let (columns, rows) = (heat.x_edges.len() - 1, heat.y_edges.len() - 1);
        assert_eq!((columns, rows), (110, 84));
        assert_eq!((heat.x_edges[110], heat.y_edges[84]), (3_300.0, 250.0));
        for (row, column) in [(0, 0), (83, 109), (40, 7)] {
            let mut most = 0;
            for t in column * 3..(column * 3 + 3).min(times) {
                for r in row * 3..(row * 3 + 3).min(routers) {
                    most = most.max(bytes[t * routers + r]);
                }
            }
            assert_eq!(heat.cells[row * columns + column], most as f64);
        }
    }

    #[test]
    fn a_picture_of_one_time_or_of_none() {
        let (heat, _) = picture(&held(&[5], &[1, 2, 3])).expect("a picture");
        assert_eq!(heat.x_edges, [5.0, 6.0]);
        assert_eq!(heat.cells, [1.0, 2.0, 3.0]);
        assert!(picture(&held(&[], &[])).is_none());
        assert!(picture(&held(&[1, 2], &[])).is_none());
    }
}
