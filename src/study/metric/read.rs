//! The value of a metric in a result.

use super::{How, Metric, What};
use crate::model::Time;
use crate::trace::{ResultFile, TraceError};

type Outcome = Result<Option<f64>, TraceError>;

const SERIES: &str = "data/series";
const PORTS: &str = "data/ports";

impl Metric {
    /// Its value in a result, in its unit. None if the result has no such thing, or nothing was measured (the mean of
    /// no samples).
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read(&self, result: &ResultFile) -> Result<Option<f64>, TraceError> {
        let value = match &self.what {
            What::Attribute {
                group,
                attribute,
                unit,
            } => attribute_of(result, group, attribute, unit)?,
            What::Series { column, how, .. } => {
                let rows = self.rows(result, column)?;
                rows.and_then(|rows| one(*how, rows.iter().map(|&x| x as f64)))
            }
            What::Mean { sum, count, how } => self.mean(result, sum, count, *how)?,
            What::Share { kind, column } => share(result, kind, column)?,
            What::Ports {
                kind, column, how, ..
            } => {
                let values = of_kind(result, kind, column)?;
                one(*how, values.iter().map(|&x| x as f64))
            }
            What::Ejection { class } => self.ejection(result, class)?,
            What::Scheme { name } => scheme(result, name)?,
        };
        Ok(value.filter(|value| value.is_finite()))
    }

    /// The rows of a column of the time series whose bins begin in the window.
    fn rows(&self, result: &ResultFile, column: &str) -> Result<Option<Vec<u64>>, TraceError> {
        let Some(rows) = result.column(SERIES, column)? else {
            return Ok(None);
        };
        let Some((from, to)) = self.window else {
            return Ok(Some(rows));
        };
        let times = result.column(SERIES, "time_ps")?.unwrap_or_default();
        let inside = times
            .iter()
            .zip(rows)
            .filter(|(time, _)| (from..to).contains(*time));
        Ok(Some(inside.map(|(_, row)| row).collect()))
    }

    fn mean(&self, result: &ResultFile, sum: &str, count: &str, how: How) -> Outcome {
        let (Some(sums), Some(counts)) = (self.rows(result, sum)?, self.rows(result, count)?)
        else {
            return Ok(None);
        };
        let ns = |sum: u64, count: u64| sum as f64 / count as f64 / 1e3;
        if how == How::Mean {
            let (sum, count) = (sums.iter().sum(), counts.iter().sum());
            return Ok((count > 0).then(|| ns(sum, count)));
        }
        let bins = sums.iter().zip(&counts).filter(|(_, count)| **count > 0);
        Ok(one(how, bins.map(|(&sum, &count)| ns(sum, count))))
    }

    /// Flits of the class in the window, times the length of a flit, over the time of all ejection channels. All
    /// channels have one bandwidth, so the length of a flit is their busy time over all flits.
    fn ejection(&self, result: &ResultFile, class: &str) -> Outcome {
        let wanted = format!("class.{class}.ejected_flits");
        let Some(flits) = self.rows(result, &wanted)? else {
            return Ok(None);
        };
        let mut all = 0u64;
        for column in result.columns(SERIES)? {
            if column.starts_with("class.") && column.ends_with(".ejected_flits") {
                let rows = result.column(SERIES, &column)?.unwrap_or_default();
                all += rows.iter().sum::<u64>();
            }
        }
        let busy = of_kind(result, "terminal", "busy_ps")?;
        let span = match self.window {
            Some(_) => {
                let bin = result.number(SERIES, "bin_ps")?.unwrap_or_default();
                bin * flits.len() as f64
            }
            None => result
                .number("data/summary", "simulated_ps")?
                .unwrap_or_default(),
        };
        let flit = busy.iter().sum::<Time>() as f64 / all as f64;
        let own = flits.iter().sum::<u64>() as f64;
        Ok(Some(own * flit / (span * busy.len() as f64)))
    }
}

fn attribute_of(result: &ResultFile, group: &str, attribute: &str, unit: &str) -> Outcome {
    // The largest of no samples is stored as 0.
    let empty = attribute == "max_ps" && result.number(group, "samples")? == Some(0.0);
    let value = result.number(group, attribute)?.filter(|_| !empty);
    Ok(value.map(|value| if unit == "ns" { value / 1e3 } else { value }))
}

/// The rows of a column of `/data/ports` that belong to ports of a kind.
fn of_kind(result: &ResultFile, kind: &str, column: &str) -> Result<Vec<u64>, TraceError> {
    let rows = result.column(PORTS, column)?.unwrap_or_default();
    if kind == "all" {
        return Ok(rows);
    }
    let kinds = result.port_kinds()?;
    let chosen = kinds.iter().zip(rows).filter(|(own, _)| *own == kind);
    Ok(chosen.map(|(_, row)| row).collect())
}

fn share(result: &ResultFile, kind: &str, column: &str) -> Outcome {
    let time = result.number("data/summary", "simulated_ps")?;
    let values = of_kind(result, kind, column)?;
    let all = time.unwrap_or_default() * values.len() as f64;
    Ok(Some(values.iter().sum::<Time>() as f64 / all))
}

/// A counter; or a column followed by how to make one number of it.
fn scheme(result: &ResultFile, name: &str) -> Outcome {
    const GROUP: &str = "data/scheme";
    if let Some(value) = result.number(GROUP, name)? {
        return Ok(Some(value));
    }
    let Some((column, last)) = name.rsplit_once('.') else {
        return Ok(None);
    };
    let Some((_, how)) = super::HOWS.iter().find(|(own, _)| *own == last) else {
        return Ok(None);
    };
    let rows = result.column(GROUP, column)?;
    Ok(rows.and_then(|rows| one(*how, rows.iter().map(|&x| x as f64))))
}

/// One number of many; None of none, but for a sum.
fn one(how: How, values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values = values;
    match how {
        How::Max => values.reduce(f64::max),
        How::Min => values.reduce(f64::min),
        How::First => values.next(),
        How::Last => values.last(),
        How::Sum => Some(values.sum()),
        How::Mean => {
            let (mut sum, mut count) = (0.0, 0.0);
            for value in values {
                sum += value;
                count += 1.0;
            }
            (count > 0.0).then_some(sum / count)
        }
    }
}
