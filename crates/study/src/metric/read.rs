//! The value of a metric in a result.

use super::pattern::fits;
use super::{Held, How, Metric, Moment, RateStat, What};
use weir_model::Time;
use weir_result::schema::is_port_of;
use weir_result::{Bins, ResultFile, TraceError, Whose, endpoints_of};
use weir_simulation::counts_as_nothing;

type Outcome = Result<Option<f64>, TraceError>;

const SERIES: &str = "data/series";
const PORTS: &str = "data/ports";

impl Metric {
    /// Its value in a result, in its unit. None if the result has no such thing, or nothing was
    /// measured (the mean of no samples).
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read(&self, result: &ResultFile) -> Result<Option<f64>, TraceError> {
        if self.is_past_the_end(result)? {
            return Ok(None);
        }
        let value = match &self.what {
            What::Attribute {
                group,
                attribute,
                unit,
            } => attribute_of(result, group, attribute, unit)?,
            What::Jobs {
                pattern,
                attribute,
                how,
                unit,
            } => {
                let mut values = Vec::new();
                for (job, _) in jobs(result, pattern)? {
                    let group = format!("data/jobs/{job}");
                    values.push(attribute_of(result, &group, attribute, unit)?);
                }
                // A missing one may be the largest. A sum of nothing: there is no such job here.
                let values: Option<Vec<f64>> = values.into_iter().collect();
                let values = values.filter(|values| !values.is_empty());
                values.and_then(|values| one(*how, values.into_iter()))
            }
            What::Tasks { group, how } => tasks(result, group, *how)?,
            What::Iteration {
                pattern,
                number,
                moment,
                how,
            } => iteration(result, pattern, *number, *moment, *how)?,
            What::Phase {
                job, phase, column, ..
            } => of_phase(result, job, *phase, column)?,
            What::Series {
                column,
                per_task,
                how,
                ..
            } => self.series(result, (column, per_task.as_deref()), *how)?,
            What::Fairness { column } => self.fairness(result, column)?,
            What::Kept { column, kept } => self.kept(result, column, *kept)?,
            What::Settled { job } => self.settled(result, job.as_deref())?,
            // The table makes it.
            What::Derived { .. } | What::Slowdown(_) => None,
            What::Mean { sum, count, how } => self.mean(result, sum, count, *how)?,
            What::Share { kind, column } => share(result, kind, column)?,
            What::Beyond {
                kind,
                column,
                percent,
            } => beyond(result, kind, column, *percent)?,
            What::Occupancy { held } => self.occupancy(result, *held)?,
            What::Ports {
                kind, column, how, ..
            } => {
                let values = of_kind(result, kind, column)?;
                one(*how, values.iter().map(|&x| x as f64))
            }
            What::Ejection { class } => self.ejection(result, class)?,
            What::Rates { whose, stat } => self.rate(result, whose, *stat)?,
            What::Scheme { name } => scheme(result, name)?,
        };
        Ok(value.filter(|value| value.is_finite()))
    }

    /// True if the window ends after the run, and the rest of it is missing: nothing would have
    /// come in after the end of all jobs, but samples are not known.
    fn is_past_the_end(&self, result: &ResultFile) -> Result<bool, TraceError> {
        let end = result.number("data/summary", "simulated_ps")?;
        let past = |(_, to): (Time, Time)| to as f64 > end.unwrap_or_default();
        let samples = matches!(self.what, What::Occupancy { .. } | What::Rates { .. });
        Ok(self.window.is_some_and(past) && (samples || !result.jobs_are_over()?))
    }

    /// Bins of the window that begin after the end of the run, whose jobs were all over: nothing
    /// would have come in them.
    pub(super) fn bins_after(&self, bins: &Bins) -> u64 {
        let Some((from, to)) = self.window.filter(|_| bins.width_ps > 0) else {
            return 0;
        };
        let recorded = bins.begin_ps.len() as u64;
        let first = from.div_ceil(bins.width_ps).max(recorded);
        to.div_ceil(bins.width_ps).saturating_sub(first)
    }

    /// A column of the time series in the window, perhaps over the number of tasks of a job.
    fn series(
        &self,
        result: &ResultFile,
        (column, per): (&str, Option<&str>),
        how: How,
    ) -> Outcome {
        let Some(bins) = result.bins()? else {
            return Ok(None);
        };
        // A bin that the end cuts off has less than the others.
        let rows = self.rows(result, &bins, column, how != How::Sum)?;
        let value = rows.and_then(|rows| with_zeros(how, &rows, self.bins_after(&bins)));
        // A variation has no unit.
        let tasks = match per.filter(|_| how != How::Variation) {
            Some(job) => result.number(&format!("data/jobs/{job}"), "tasks")?,
            None => Some(1.0),
        };
        Ok(value.zip(tasks).map(|(value, tasks)| value / tasks))
    }

    /// The rows of a column of the time series whose bins begin in the window. `whole`: without a
    /// last one that the end of the run cuts off.
    fn rows(
        &self,
        result: &ResultFile,
        bins: &Bins,
        column: &str,
        whole: bool,
    ) -> Result<Option<Vec<u64>>, TraceError> {
        let Some(rows) = result.series(column)? else {
            return Ok(None);
        };
        let (from, to) = self.window();
        let rows = bins.begin_ps.iter().zip(&bins.length_ps).zip(rows);
        let inside = rows.filter(|((begin, length), _)| {
            (from..to).contains(*begin) && (!whole || **length == bins.width_ps)
        });
        Ok(Some(inside.map(|(_, row)| row).collect()))
    }

    /// Jain's index of the payload that endpoints received in the window: (Σx)² / (n Σx²).
    fn fairness(&self, result: &ResultFile, column: &str) -> Outcome {
        let (Some((endpoints, rest)), Some(bins)) = (endpoints_of(column), result.bins()?) else {
            return Ok(None);
        };
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for endpoint in endpoints {
            let Some(rows) =
                self.rows(result, &bins, &format!("endpoint.{endpoint}.{rest}"), false)?
            else {
                return Ok(None);
            };
            let own = rows.iter().map(|&x| x as f64).sum::<f64>();
            count += 1.0;
            sum += own;
            squares += own * own;
        }
        Ok(Some(sum * sum / (count * squares)))
    }

    fn mean(&self, result: &ResultFile, sum: &str, count: &str, how: How) -> Outcome {
        let Some(bins) = result.bins()? else {
            return Ok(None);
        };
        let [sums, counts] = [sum, count].map(|column| self.rows(result, &bins, column, false));
        let (Some(sums), Some(counts)) = (sums?, counts?) else {
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

    /// Value over the samples of all routers in the window.
    fn occupancy(&self, result: &ResultFile, held: Held) -> Outcome {
        let Some(all) = result.occupancy()? else {
            return Ok(None);
        };
        let (from, to) = self.window.unwrap_or((0, Time::MAX));
        let rows = all.bytes.chunks_exact(all.routers.max(1));
        let rows = all.time_ps.iter().zip(rows);
        let rows = rows.filter(|(time, _)| (from..to).contains(*time));
        let mut values: Vec<u64> = rows.flat_map(|(_, row)| row).copied().collect();
        if values.is_empty() {
            return Ok(None);
        }
        Ok(match held {
            Held::One(how) => one(how, values.iter().map(|&x| x as f64)),
            Held::Quantile(share) => {
                values.sort_unstable();
                let at = (share * values.len() as f64).ceil() as usize;
                Some(values[at.clamp(1, values.len()) - 1] as f64)
            }
        })
    }

    /// Value over the samples in the window.
    fn rate(&self, result: &ResultFile, whose: &Whose, stat: RateStat) -> Outcome {
        let Some(rates) = result.rates(whose)? else {
            return Ok(None);
        };
        let (from, to) = self.window.unwrap_or((0, Time::MAX));
        let rows = rates.time_ps.iter().zip(&rates.share);
        let rows = rows.filter(|(time, _)| (from..to).contains(*time));
        let below = |percent: u32| {
            let limit = f64::from(percent) / 100.0;
            let times = rows.clone().filter(move |(_, share)| **share < limit);
            times.map(|(time, _)| *time as f64 / 1e3)
        };
        Ok(match stat {
            RateStat::One(how) => one(how, rows.map(|(_, share)| *share)),
            RateStat::FirstBelow(percent) => below(percent).next(),
            RateStat::LastBelow(percent) => below(percent).next_back(),
        })
    }

    /// Flits of the class in the window, times the length of a flit, over the time of all ejection
    /// channels. All channels have one bandwidth, so the length of a flit is their busy time over
    /// all flits.
    fn ejection(&self, result: &ResultFile, class: &str) -> Outcome {
        let wanted = format!("class.{class}.ejected_flits");
        let Some(bins) = result.bins()? else {
            return Ok(None);
        };
        let Some(flits) = self.rows(result, &bins, &wanted, false)? else {
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
            Some((from, to)) => {
                let own = bins.begin_ps.iter().zip(&bins.length_ps);
                let own = own.filter(|(begin, _)| (from..to).contains(*begin));
                let recorded: Time = own.map(|(_, length)| length).sum();
                recorded as f64 + self.bins_after(&bins) as f64 * bins.width_ps as f64
            }
            None => result
                .number("data/summary", "simulated_ps")?
                .unwrap_or_default(),
        };
        let busy_all: u128 = busy.iter().map(|&time| u128::from(time)).sum();
        let flit = busy_all as f64 / all as f64;
        let own = flits.iter().sum::<u64>() as f64;
        Ok(Some(own * flit / (span * busy.len() as f64)))
    }
}

fn attribute_of(result: &ResultFile, group: &str, attribute: &str, unit: &str) -> Outcome {
    // The largest of no samples is stored as 0.
    let samples = |name| result.number(group, name);
    let empty = match attribute {
        "max_ps" => samples("samples")? == Some(0.0),
        "finish_ps" | "communication_ps" => !result.job_is_over(group)?,
        "max_at_least_ps" => samples("samples")? == Some(0.0) && samples("missing")? == Some(0.0),
        _ => false,
    };
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
    let chosen = kinds
        .iter()
        .zip(rows)
        .filter(|(own, _)| is_port_of(own, kind));
    Ok(chosen.map(|(_, row)| row).collect())
}

fn share(result: &ResultFile, kind: &str, column: &str) -> Outcome {
    let time = result.number("data/summary", "simulated_ps")?;
    let values = of_kind(result, kind, column)?;
    let all = time.unwrap_or_default() * values.len() as f64;
    let sum: u128 = values.iter().map(|&time| u128::from(time)).sum();
    Ok(Some(sum as f64 / all))
}

fn beyond(result: &ResultFile, kind: &str, column: &str, percent: u32) -> Outcome {
    let time = result.number("data/summary", "simulated_ps")?;
    let limit = time.unwrap_or_default() * f64::from(percent) / 100.0;
    let values = of_kind(result, kind, column)?;
    let beyond = values.iter().filter(|value| **value as f64 > limit).count();
    Ok(Some(beyond as f64 / values.len() as f64))
}

/// The jobs of a result that a pattern means, with their index.
fn jobs(result: &ResultFile, pattern: &str) -> Result<Vec<(String, u64)>, TraceError> {
    let mut found = Vec::new();
    for job in result.groups("data/jobs")? {
        if fits(pattern, &job) {
            let index = result.number(&format!("data/jobs/{job}"), "index")?;
            found.extend(index.map(|index| (job, index as u64)));
        }
    }
    Ok(found)
}

/// None if the job was not done.
fn tasks(result: &ResultFile, group: &str, how: How) -> Outcome {
    if !result.job_is_over(group)? {
        return Ok(None);
    }
    let times = result.column(group, "task_communication_ps")?;
    Ok(one(
        how,
        times.into_iter().flatten().map(|ps| ps as f64 / 1e3),
    ))
}

/// One number of those of the jobs. None if one of them did not end it.
fn iteration(result: &ResultFile, pattern: &str, number: u64, moment: Moment, how: How) -> Outcome {
    const GROUP: &str = "data/iterations";
    let column = |name| Ok::<_, TraceError>(result.column(GROUP, name)?.unwrap_or_default());
    let (job, iteration) = (column("job")?, column("iteration")?);
    let (begin, end) = (column("begin_ps")?, column("end_ps")?);
    let (tasks, ended) = (column("tasks")?, column("ended")?);
    let mut values = Vec::new();
    for (_, index) in jobs(result, pattern)? {
        let mut rows = 0..job.len();
        let Some(row) = rows.find(|&row| job[row] == index && iteration[row] == number) else {
            return Ok(None);
        };
        if moment != Moment::Begin && tasks[row] != ended[row] {
            return Ok(None);
        }
        let ps = match moment {
            Moment::Begin => begin[row],
            Moment::End => end[row],
            Moment::Time => end[row] - begin[row],
        };
        values.push(ps as f64 / 1e3);
    }
    Ok(one(how, values.into_iter()))
}

/// A number of a phase of a job; times in ns.
fn of_phase(result: &ResultFile, job: &str, phase: u64, column: &str) -> Outcome {
    const GROUP: &str = "data/phases";
    let Some(index) = result.number(&format!("data/jobs/{job}"), "index")? else {
        return Ok(None);
    };
    let Some([jobs, phases]) = result.table(GROUP, ["job", "phase"])? else {
        return Ok(None);
    };
    let mut rows = 0..jobs.len();
    let Some(row) = rows.find(|&row| jobs[row] == index as u64 && phases[row] == phase) else {
        return Ok(None);
    };
    let whole = |name: &str| -> Outcome {
        let rows = result.column(GROUP, name)?;
        Ok(rows.and_then(|rows| rows.get(row).map(|&x| x as f64)))
    };
    match column {
        "time" => {
            let (begin, end) = (whole("begin_ps")?, whole("end_ps")?);
            let time = |(begin, end): (f64, f64)| (end - begin) / 1e3;
            Ok(begin.zip(end.filter(|end| *end > 0.0)).map(time))
        }
        "stretch" | "rate_ratio" | "measured_ratio" | "mean_contention" => {
            let rows = result.fractions(GROUP, column)?;
            Ok(rows.and_then(|rows| rows.get(row).copied()))
        }
        // The end of a phase that was not over.
        "end_ps" => Ok(whole(column)?.filter(|end| *end > 0.0).map(|ps| ps / 1e3)),
        times if times.ends_with("_ps") => Ok(whole(times)?.map(|ps| ps / 1e3)),
        counts => whole(counts),
    }
}

/// A counter; or a record, a column of it, and how to make one number of that.
fn scheme(result: &ResultFile, name: &str) -> Outcome {
    const GROUP: &str = "data/scheme";
    if let Some(value) = result.number(GROUP, name)? {
        return Ok(Some(value));
    }
    if counts_as_nothing(name) {
        return Ok(Some(0.0));
    }
    let Some((how, column, record)) = super::of_record(name) else {
        return Ok(None);
    };
    let rows = result.column(&format!("{GROUP}/{record}"), column)?;
    Ok(rows.and_then(|rows| one(how, rows.iter().map(|&x| x as f64))))
}

/// One number of counts and of `zeros` more, which are 0.
fn with_zeros(how: How, counts: &[u64], zeros: u64) -> Option<f64> {
    let number = counts.len() as f64 + zeros as f64;
    let sum: f64 = counts.iter().map(|&x| x as f64).sum();
    match how {
        How::Mean if number > 0.0 => Some(sum / number),
        How::Variation if zeros > 0 => {
            let mean = sum / number;
            let off = counts.iter().map(|&x| (x as f64 - mean).powi(2));
            let squares = off.sum::<f64>() + zeros as f64 * mean * mean;
            Some((squares / number).sqrt() / mean)
        }
        // One of them is as good as all.
        _ => {
            let zero = (zeros > 0).then_some(0.0);
            one(how, counts.iter().map(|&x| x as f64).chain(zero))
        }
    }
}

/// One number of many; None of an empty list, except for a sum.
pub(super) fn one(how: How, values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values = values;
    match how {
        How::Max => values.reduce(f64::max),
        How::Min => values.reduce(f64::min),
        How::First => values.next(),
        How::Last => values.last(),
        How::Sum => Some(values.sum()),
        How::Variation => {
            let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
            for value in values {
                count += 1.0;
                let off = value - mean;
                mean += off / count;
                squares += off * (value - mean);
            }
            (count > 0.0).then(|| (squares / count).sqrt() / mean)
        }
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
