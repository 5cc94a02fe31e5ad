//! Reads the names of metrics.

use super::kept::Kept;
use super::pattern::{chosen, known_job, split, unknown};
use super::slowdown;
use super::{HOWS, Held, How, Moment, NotAMetric, RateStat, What};
use weir_model::table::{Attribute, Attributes, Table};
use weir_result::schema::{self, LATENCY_CLASSES};
use weir_result::{Cost, JobSeries, JobTotals, LatencyNumbers, Summary, Whose, endpoints_of};

const FAMILIES: [&str; 16] = [
    "summary",
    "latency",
    "jobs",
    "iterations",
    "phases",
    "series",
    "ports",
    "ejection",
    "occupancy",
    "rates",
    "scheme",
    "cost",
    SETTLED,
    SLOWDOWN,
    SCORE,
    CRITERION,
];
/// Steady state of a run or a job.
pub(crate) const SETTLED: &str = "settled";
/// Time of a job divided by its time alone.
pub(crate) const SLOWDOWN: &str = "slowdown";
/// The column with the score of a point, and the prefix of the columns of its criteria.
pub(crate) const SCORE: &str = "score";
pub(crate) const CRITERION: &str = "criterion";
/// The shares of a port's time: name and column.
const SHARES: [(&str, &str); 3] = [
    ("busy_share", "busy_ps"),
    ("stalled_share", "stalled_ps"),
    ("idle_share", "idle_ps"),
];
/// Other numbers of ports: name, column, how, unit.
const PORTS: [(&str, &str, How, &str); 3] = [
    ("bytes", "bytes", How::Sum, "B"),
    ("packets", "packets", How::Sum, ""),
    ("peak_occupancy", "peak_occupancy_bytes", How::Max, "B"),
];

type Outcome<T> = Result<T, NotAMetric>;

/// True if this can be the name of a kind of ports; the network of each point decides which ones
/// exist.
pub(crate) fn is_kind(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(legal)
}

/// Reads the metric `name` (without a window).
pub(super) fn what(name: &str, jobs: &[String]) -> Outcome<What> {
    let (family, rest) = name.split_once('.').unwrap_or((name, ""));
    match family {
        "summary" => attribute("data/summary".into(), rest, Summary::ATTRIBUTES),
        "latency" => latency(rest, jobs),
        "cost" => attribute("data/cost".into(), rest, Cost::ATTRIBUTES),
        "jobs" => of_jobs(name, rest, jobs),
        "iterations" => iterations(name, rest, jobs),
        "phases" => phases(name, rest, jobs),
        "occupancy" => occupancy(name, rest),
        "series" => series(name, rest, jobs),
        "ports" => ports(name, rest),
        "rates" => rates(name, rest, jobs),
        SETTLED => settled(rest, jobs),
        "ejection" if !rest.is_empty() => Ok(What::Ejection { class: rest.into() }),
        "scheme" if !rest.is_empty() => Ok(What::Scheme { name: rest.into() }),
        SLOWDOWN => slowdown::parse(name, rest, jobs, what).map(What::Slowdown),
        SCORE if rest.is_empty() => Ok(derived()),
        CRITERION if !rest.is_empty() => Ok(derived()),
        "ejection" | "scheme" => Err(unknown(name, "", "names", &[])),
        _ => Err(unknown(name, family, "metrics begin with", &FAMILIES)),
    }
}

fn settled(job: &str, jobs: &[String]) -> Outcome<What> {
    let one = Some(job).filter(|job| !job.is_empty());
    one.map_or(Ok(()), |job| known_job(job, jobs))?;
    Ok(What::Settled {
        job: one.map(str::to_string),
    })
}

fn derived() -> What {
    What::Derived {
        unit: String::new(),
    }
}

/// Ways to make one number from those of several jobs or routers.
const OF_SEVERAL: [&str; 4] = ["max", "min", "mean", "sum"];

/// Communication times of the tasks of a job: `jobs.hot.task_communication.mean`.
const TASKS: &str = "task_communication";

/// `jobs.hot.finish`, `jobs.lammps-*.communication.max`.
fn of_jobs(name: &str, rest: &str, jobs: &[String]) -> Outcome<What> {
    let (job, rest) = split(name, rest)?;
    let known = JobTotals::ATTRIBUTES;
    if !job.contains('*') {
        known_job(job, jobs)?;
        let group = format!("data/jobs/{job}");
        let tasks = rest.strip_prefix(TASKS);
        let Some(end) = tasks.and_then(|rest| rest.strip_prefix('.')) else {
            return attribute(group, rest, known);
        };
        if !OF_SEVERAL.contains(&end) {
            return Err(unknown(name, end, "ends", &OF_SEVERAL));
        }
        let how = how(name, end)?;
        return Ok(What::Tasks { group, how });
    }
    chosen(job, jobs)?;
    let (rest, last) = rest.rsplit_once('.').unwrap_or((rest, ""));
    if !OF_SEVERAL.contains(&last) {
        return Err(unknown(name, last, "ends", &OF_SEVERAL));
    }
    let What::Attribute {
        attribute, unit, ..
    } = attribute(format!("data/jobs/{job}"), rest, known)?
    else {
        return Err(unknown(name, rest, "names there", &[]));
    };
    Ok(What::Jobs {
        pattern: job.into(),
        attribute,
        how: how(name, last)?,
        unit,
    })
}

/// `iterations.halo.2.time`, `iterations.halo-*.2.end.min`. Without an end: the earliest beginning,
/// else the largest.
fn iterations(name: &str, rest: &str, jobs: &[String]) -> Outcome<What> {
    let (job, rest) = split(name, rest)?;
    chosen(job, jobs)?;
    let (number, last) = split(name, rest)?;
    let number: u64 = number.parse().map_err(|_| NotAMetric {
        message: format!("{name:?}: {number:?} is no iteration"),
        remedy: "write its number, from 0: `iterations.halo.2.time`".into(),
    })?;
    let moments = [
        ("begin", Moment::Begin, How::Min),
        ("end", Moment::End, How::Max),
        ("time", Moment::Time, How::Max),
    ];
    let (last, end) = match last.split_once('.') {
        Some((last, end)) => (last, Some(end)),
        None => (last, None),
    };
    let found = moments.iter().find(|(own, ..)| *own == last);
    let (_, moment, usual) = found.ok_or_else(|| {
        let names = moments.map(|(name, ..)| name);
        unknown(name, last, "ends", &names)
    })?;
    let how = match end {
        None => *usual,
        Some(end) if OF_SEVERAL.contains(&end) => how(name, end)?,
        Some(end) => return Err(unknown(name, end, "ends", &OF_SEVERAL)),
    };
    Ok(What::Iteration {
        pattern: job.into(),
        number,
        moment: *moment,
        how,
    })
}

/// The numbers of phases: name, column, unit.
const PHASES: [(&str, &str, &str); 10] = [
    ("begin", "begin_ps", "ns"),
    ("end", "end_ps", "ns"),
    ("time", "time", "ns"),
    ("flows", "flows", ""),
    ("optimum", "optimum_ps", "ns"),
    ("stretch", "stretch", ""),
    ("rate_ratio", "rate_ratio", ""),
    ("measured_ratio", "measured_ratio", ""),
    ("contention", "contention", ""),
    ("mean_contention", "mean_contention", ""),
];

/// `phases.app.0.stretch`.
fn phases(name: &str, rest: &str, jobs: &[String]) -> Outcome<What> {
    let (job, rest) = split(name, rest)?;
    known_job(job, jobs)?;
    let (phase, last) = split(name, rest)?;
    let phase = phase.parse().map_err(|_| NotAMetric {
        message: format!("{name:?}: {phase:?} is no phase"),
        remedy: "write its number, from 0: `phases.app.0.stretch`".into(),
    })?;
    let found = PHASES.iter().find(|(own, ..)| *own == last);
    let (_, column, unit) = found.ok_or_else(|| {
        let names = PHASES.map(|(name, ..)| name);
        unknown(name, last, "ends", &names)
    })?;
    Ok(What::Phase {
        job: job.into(),
        phase,
        column,
        unit,
    })
}

/// `occupancy.p90`.
fn occupancy(name: &str, rest: &str) -> Outcome<What> {
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
    if let Some((_, quantile)) = quantiles.iter().find(|(own, _)| *own == rest) {
        let held = Held::Quantile(*quantile);
        return Ok(What::Occupancy { held });
    }
    if !OF_SEVERAL.contains(&rest) {
        let names: Vec<&str> = OF_SEVERAL
            .into_iter()
            .chain(quantiles.map(|(name, _)| name))
            .collect();
        return Err(unknown(name, rest, "ends", &names));
    }
    let held = Held::One(how(name, rest)?);
    Ok(What::Occupancy { held })
}

/// An attribute of a group by its name without `_ps`.
fn attribute(group: String, name: &str, known: &'static [Attribute]) -> Outcome<What> {
    let short = |own: &Attribute| own.name.strip_suffix("_ps").unwrap_or(own.name);
    let found = known
        .iter()
        .find(|own| short(own) == name || own.name == name);
    let found = found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(short).collect();
        let path = group.replace('/', ".");
        let path = path.trim_start_matches("data.");
        unknown(&format!("{path}.{name}"), name, "names there", &names)
    })?;
    Ok(What::Attribute {
        group,
        attribute: found.name.into(),
        unit: unit(found.units),
    })
}

/// The unit of a metric: times are in ns, counts have none.
pub(crate) fn unit(units: &'static str) -> &'static str {
    match units {
        "ps" => "ns",
        "1" => "",
        other => other,
    }
}

fn latency(rest: &str, jobs: &[String]) -> Outcome<What> {
    let name = format!("latency.{rest}");
    let (class, stat) = rest
        .rsplit_once('.')
        .ok_or_else(|| unknown(&name, rest, "classes", &LATENCY_CLASSES))?;
    let kind = match class.strip_prefix("job.").map(|rest| rest.split_once('.')) {
        Some(Some((job, kind))) => {
            known_job(job, jobs)?;
            kind
        }
        Some(None) => return Err(unknown(&name, "", "", &[])),
        None => class,
    };
    // Iterations are those of a job.
    let known = match kind == class {
        true => &LATENCY_CLASSES[..LATENCY_CLASSES.len() - 1],
        false => &LATENCY_CLASSES[..],
    };
    if !known.contains(&kind) {
        return Err(unknown(&name, kind, "classes", known));
    }
    let group = format!("data/latency/{class}");
    attribute(group, stat, LatencyNumbers::ATTRIBUTES)
}

fn how(name: &str, text: &str) -> Outcome<How> {
    let found = HOWS.iter().find(|(own, _)| *own == text);
    found.map(|(_, how)| *how).ok_or_else(|| {
        let names: Vec<&str> = HOWS.iter().map(|(name, _)| *name).collect();
        unknown(name, text, "ends", &names)
    })
}

fn series(name: &str, rest: &str, jobs: &[String]) -> Outcome<What> {
    let (column, last) = rest
        .rsplit_once('.')
        .ok_or_else(|| unknown(name, "", "", &[]))?;
    if column.starts_with("endpoint.") {
        return of_endpoints(name, column, last);
    }
    if let Some(kept) = Kept::parse(name, last) {
        let What::Series {
            column,
            per_task: None,
            ..
        } = series(name, &format!("{column}.mean"), jobs)?
        else {
            return Err(NotAMetric {
                message: format!("{name:?}: this column is no throughput"),
                remedy: "name what is delivered, as in `series.job.md.delivered_bytes`".into(),
            });
        };
        let kept = kept?;
        return Ok(What::Kept { column, kept });
    }
    let how = how(name, last)?;
    let Some(of_job) = column.strip_prefix("job.") else {
        let flits = schema::SERIES_CLASS.name;
        if !column.starts_with("class.") || !column.ends_with(flits) {
            let message = "there is no metric".to_string();
            return Err(NotAMetric {
                message: format!("{message} {name:?}"),
                remedy: format!("columns are job.<name>.<column> and class.<name>.{flits}"),
            });
        }
        return Ok(What::Series {
            column: column.into(),
            per_task: None,
            how,
            unit: unit(schema::SERIES_CLASS.units),
        });
    };
    let (job, short) = split(name, of_job)?;
    known_job(job, jobs)?;
    let means = [
        ("message_latency", "messages"),
        ("network_latency", "packets"),
    ];
    if let Some((sum, count)) = means.iter().find(|(sum, _)| *sum == short) {
        if how == How::Sum {
            return Err(NotAMetric {
                message: format!("{name:?}: a sum of mean latencies means nothing"),
                remedy: "end with mean, max, min, first or last".into(),
            });
        }
        return Ok(What::Mean {
            sum: format!("job.{job}.{sum}_ps"),
            count: format!("job.{job}.{count}"),
            how,
        });
    }
    let plain = || JobSeries::COLUMNS.iter().filter(|own| own.units != "ps");
    let whole = short.strip_suffix(schema::PER_TASK).unwrap_or(short);
    let found = plain().find(|own| own.name == whole).ok_or_else(|| {
        let mut names: Vec<&str> = plain().map(|own| own.name).collect();
        names.extend(means.map(|(name, _)| name));
        unknown(name, short, "columns", &names)
    })?;
    Ok(What::Series {
        column: format!("job.{job}.{whole}"),
        per_task: (whole != short).then(|| job.to_string()),
        how,
        unit: unit(found.units),
    })
}

/// `series.endpoint.31.delivered_bytes.mean`, `series.endpoint.0-30.delivered_bytes.fairness`.
fn of_endpoints(name: &str, column: &str, last: &str) -> Outcome<What> {
    let own = &schema::SERIES_ENDPOINT;
    let known = endpoints_of(column).is_some_and(|(_, rest)| rest == own.name);
    if !known {
        return Err(NotAMetric {
            message: format!("there is no metric {name:?}"),
            remedy: format!(
                "write endpoint.31.{column} or endpoint.0-30.{column}",
                column = own.name
            ),
        });
    }
    if let Some(kept) = Kept::parse(name, last) {
        let (column, kept) = (column.to_string(), kept?);
        return Ok(What::Kept { column, kept });
    }
    if last == "fairness" {
        let column = column.to_string();
        return Ok(What::Fairness { column });
    }
    Ok(What::Series {
        column: column.into(),
        per_task: None,
        how: how(name, last)?,
        unit: unit(own.units),
    })
}

fn ports(name: &str, rest: &str) -> Outcome<What> {
    let (kind, what) = rest.split_once('.').unwrap_or((rest, ""));
    if !is_kind(kind) {
        return Err(NotAMetric {
            message: format!("{name:?}: {kind:?} is no kind of port"),
            remedy: "name a kind of links of the network, or `fabric` (between routers) or `all`"
                .into(),
        });
    }
    if let Some((_, column)) = SHARES.iter().find(|(own, _)| *own == what) {
        return Ok(What::Share {
            kind: kind.into(),
            column,
        });
    }
    if let Some((state, text)) = what.split_once("_beyond_") {
        let column = SHARES
            .iter()
            .find(|(own, _)| own.strip_suffix("_share") == Some(state));
        let percent = text.parse().ok().filter(|percent| *percent < 100);
        if let (Some((_, column)), Some(percent)) = (column, percent) {
            return Ok(What::Beyond {
                kind: kind.into(),
                column,
                percent,
            });
        }
    }
    let found = PORTS.iter().find(|(own, ..)| *own == what);
    let (_, column, how, unit) = found.ok_or_else(|| {
        let shares = SHARES.iter().map(|(own, _)| *own);
        let names = shares.chain(PORTS.iter().map(|(own, ..)| *own));
        let names: Vec<&str> = names.chain(["stalled_beyond_10"]).collect();
        unknown(name, what, "names there", &names)
    })?;
    Ok(What::Ports {
        kind: kind.into(),
        column,
        how: *how,
        unit,
    })
}

/// `rates.min`, `rates.17.min`, `rates.storm.0.first_below_50`.
fn rates(name: &str, rest: &str, jobs: &[String]) -> Outcome<What> {
    let (whose, stat) = rest.rsplit_once('.').unwrap_or(("", rest));
    let whose = Whose::parse(whose).ok_or_else(|| NotAMetric {
        message: format!("{name:?}: {whose:?} is nobody"),
        remedy: "name a workload and its task, or an endpoint: `rates.storm.0.min`, `rates.17.min`"
            .into(),
    })?;
    if let Whose::Task(job, _) = &whose {
        known_job(job, jobs)?;
    }
    let share = |text: &str| {
        let percent: Option<u32> = text.parse().ok();
        percent.filter(|percent| (1..=100).contains(percent))
    };
    let below = [
        ("first_below_", RateStat::FirstBelow as fn(u32) -> RateStat),
        ("last_below_", RateStat::LastBelow),
    ];
    for (prefix, of) in below {
        if let Some(text) = stat.strip_prefix(prefix) {
            let percent = share(text).ok_or_else(|| NotAMetric {
                message: format!("{name:?}: {text:?} is no percentage"),
                remedy: format!("end with a whole number from 1 to 100: `{prefix}50`"),
            })?;
            let stat = of(percent);
            return Ok(What::Rates { whose, stat });
        }
    }
    let plain = HOWS.iter().filter(|(_, how)| *how != How::Sum);
    let names = plain.clone().map(|(name, _)| *name);
    let names: Vec<&str> = names.chain(["first_below_50", "last_below_50"]).collect();
    let found = plain.clone().find(|(own, _)| *own == stat);
    let (_, how) = found.ok_or_else(|| unknown(name, stat, "ends", &names))?;
    Ok(What::Rates {
        whose,
        stat: RateStat::One(*how),
    })
}
