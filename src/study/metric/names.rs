//! From the name of a metric to what it is.

use super::{HOWS, How, NotAMetric, What};
use crate::config::suggest;
use crate::trace::schema::{
    self, Attribute, JOB_COUNTS, JOB_LOADS, LATENCY_COUNTS, LATENCY_QUANTILES, SERIES_JOB,
    SUMMARY_COUNTS, SUMMARY_LOADS,
};

const FAMILIES: [&str; 7] = [
    "summary", "latency", "jobs", "series", "ports", "ejection", "scheme",
];
const KINDS: [&str; 4] = ["terminal", "local", "global", "all"];
const CLASSES: [&str; 2] = ["network", "message"];

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

/// What the metric `name` (without a window) is.
pub(super) fn what(name: &str, jobs: &[String]) -> Outcome<What> {
    let (family, rest) = name.split_once('.').unwrap_or((name, ""));
    match family {
        "summary" => attribute(
            "data/summary".into(),
            rest,
            &[&SUMMARY_COUNTS[..], &SUMMARY_LOADS[..]],
        ),
        "latency" => latency(rest, jobs),
        "jobs" => {
            let (job, rest) = split(name, rest)?;
            known_job(job, jobs)?;
            let known = [&JOB_COUNTS[..], &JOB_LOADS[..]];
            attribute(format!("data/jobs/{job}"), rest, &known)
        }
        "series" => series(name, rest, jobs),
        "ports" => ports(name, rest),
        "ejection" if !rest.is_empty() => Ok(What::Ejection { class: rest.into() }),
        "scheme" if !rest.is_empty() => Ok(What::Scheme { name: rest.into() }),
        "ejection" | "scheme" => Err(unknown(name, "", "names", &[])),
        _ => Err(unknown(name, family, "metrics begin with", &FAMILIES)),
    }
}

fn unknown(name: &str, part: &str, what: &str, valid: &[&str]) -> NotAMetric {
    let remedy = match valid {
        [] => "the list of metrics is in docs/job-file.md".to_string(),
        valid => suggest(part, what, valid, '`'),
    };
    NotAMetric {
        message: format!("there is no metric {name:?}"),
        remedy,
    }
}

fn split<'a>(name: &str, rest: &'a str) -> Outcome<(&'a str, &'a str)> {
    rest.split_once('.')
        .ok_or_else(|| unknown(name, "", "", &[]))
}

fn known_job(job: &str, jobs: &[String]) -> Outcome<()> {
    if jobs.iter().any(|own| own == job) {
        return Ok(());
    }
    let names: Vec<&str> = jobs.iter().map(String::as_str).collect();
    Err(NotAMetric {
        message: format!("there is no workload called {job:?}"),
        remedy: suggest(job, "names", &names, '`'),
    })
}

/// An attribute of a group by its name without `_ps`.
fn attribute(group: String, name: &str, known: &[&'static [Attribute]]) -> Outcome<What> {
    let known = || known.iter().copied().flatten();
    let short = |own: &Attribute| own.name.strip_suffix("_ps").unwrap_or(own.name);
    let found = known().find(|own| short(own) == name || own.name == name);
    let found = found.ok_or_else(|| {
        let names: Vec<&str> = known().map(short).collect();
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

/// The unit of a metric: times are in ns, what counts has none.
fn unit(units: &'static str) -> &'static str {
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
        .ok_or_else(|| unknown(&name, rest, "classes", &CLASSES))?;
    let kind = match class.strip_prefix("job.").map(|rest| rest.split_once('.')) {
        Some(Some((job, kind))) => {
            known_job(job, jobs)?;
            kind
        }
        Some(None) => return Err(unknown(&name, "", "", &[])),
        None => class,
    };
    if !CLASSES.contains(&kind) {
        return Err(unknown(&name, kind, "classes", &CLASSES));
    }
    let known = [&LATENCY_COUNTS[..], &LATENCY_QUANTILES[..]];
    attribute(format!("data/latency/{class}"), stat, &known)
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
    let how = how(name, last)?;
    let Some(of_job) = column.strip_prefix("job.") else {
        let flits = schema::SERIES_CLASS[0].name;
        if !column.starts_with("class.") || !column.ends_with(flits) {
            let message = "there is no metric".to_string();
            return Err(NotAMetric {
                message: format!("{message} {name:?}"),
                remedy: format!("columns are job.<name>.<column> and class.<name>.{flits}"),
            });
        }
        return Ok(What::Series {
            column: column.into(),
            how,
            unit: unit(schema::SERIES_CLASS[0].units),
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
    let plain = || SERIES_JOB.iter().filter(|own| own.units != "ps");
    let found = plain().find(|own| own.name == short).ok_or_else(|| {
        let mut names: Vec<&str> = plain().map(|own| own.name).collect();
        names.extend(means.map(|(name, _)| name));
        unknown(name, short, "columns", &names)
    })?;
    Ok(What::Series {
        column: column.into(),
        how,
        unit: unit(found.units),
    })
}

fn ports(name: &str, rest: &str) -> Outcome<What> {
    let (kind, what) = rest.split_once('.').unwrap_or((rest, ""));
    if !KINDS.contains(&kind) {
        return Err(unknown(name, kind, "kinds of port", &KINDS));
    }
    if let Some((_, column)) = SHARES.iter().find(|(own, _)| *own == what) {
        return Ok(What::Share {
            kind: kind.into(),
            column,
        });
    }
    let found = PORTS.iter().find(|(own, ..)| *own == what);
    let (_, column, how, unit) = found.ok_or_else(|| {
        let shares = SHARES.iter().map(|(own, _)| *own);
        let names: Vec<&str> = shares.chain(PORTS.iter().map(|(own, ..)| *own)).collect();
        unknown(name, what, "names there", &names)
    })?;
    Ok(What::Ports {
        kind: kind.into(),
        column,
        how: *how,
        unit,
    })
}
