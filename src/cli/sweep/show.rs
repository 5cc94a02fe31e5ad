//! `weir sweep plan`, `status`, `collect` and `claims`: nothing runs.

use serde_json::{Value, json};

use super::args::{ClaimsOptions, JobOptions, PlanOptions};
use super::expect::{Expected, Outlook};
use super::{Sweep, claims_json, claims_text, code_of, failed};
use crate::cli::console::write_out;
use crate::cli::launch::Failure;
use crate::report::format::{bytes, scaled, wall};
use crate::study::{Point, Role, State};

fn states(sweep: &Sweep) -> Vec<State> {
    let state = |point: &Point| {
        sweep
            .dir
            .point(&point.hash)
            .state(&point.experiment.resolved)
    };
    sweep.points.iter().map(state).collect()
}

/// `weir sweep plan`.
pub fn plan(options: &PlanOptions) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job)?;
    sweep.tell_warnings();
    let states = states(&sweep);
    let outlook = Outlook::new(&sweep, &states, options.calibrate)?;
    let text = match options.job.json {
        true => format!("{}\n", plan_json(&sweep, &states, &outlook)),
        false => plan_text(&sweep, &states, &outlook),
    };
    write_out(&text)?;
    Ok(0)
}

fn plan_json(sweep: &Sweep, states: &[State], outlook: &Outlook) -> Value {
    let axes = &sweep.study.axes;
    let one = |((point, state), expected): ((&Point, &State), &Expected)| {
        let at: serde_json::Map<String, Value> = (axes.iter().enumerate())
            .map(|(axis, own)| (own.name.clone(), json!(point.value(&sweep.study, axis))))
            .collect();
        let alone = match &point.role {
            Role::Own { .. } => None,
            Role::Alone { job, .. } => Some(job),
        };
        json!({
            "point": point.index,
            "hash": point.hash,
            "axes": at,
            "alone": alone,
            "seed": point.seed,
            "state": state.name(),
            "endpoints": point.work.endpoints,
            "domains": point.work.domains,
            "packet_hops": expected.packet_hops,
            "seconds": expected.seconds,
            "bytes": expected.bytes,
        })
    };
    let points = sweep.points.iter().zip(states).zip(&outlook.points);
    let points: Vec<Value> = points.map(one).collect();
    json!({
        "title": sweep.study.title,
        "out": sweep.out,
        "packet_hops_per_second": outlook.rate,
        "measured_on": outlook.measured,
        "calibrated": outlook.calibrated,
        "points": points,
    })
}

fn plan_text(sweep: &Sweep, states: &[State], outlook: &Outlook) -> String {
    let study = &sweep.study;
    let own = sweep.points.iter().filter(|point| point.is_own()).count();
    let alone = own < sweep.points.len();
    let mut table: Vec<Vec<String>> = vec![
        ["point", "hash", "state"]
            .map(str::to_string)
            .into_iter()
            .chain(study.axes.iter().map(|axis| axis.name.clone()))
            .chain(alone.then(|| "job".to_string()))
            .chain(["seed", "packet-hops", "memory", "time"].map(str::to_string))
            .collect(),
    ];
    let points = sweep.points.iter().zip(states).zip(&outlook.points);
    for ((point, state), expected) in points {
        let labels = (0..study.axes.len()).map(|axis| point.value(study, axis).unwrap_or("any"));
        let head = [
            point.index.to_string(),
            point.hash.clone(),
            state.name().into(),
        ];
        let tail = [
            point.seed.to_string(),
            scaled(expected.packet_hops),
            bytes(expected.bytes as u64),
            wall(expected.seconds),
        ];
        let alone = alone.then(|| match &point.role {
            Role::Own { .. } => String::new(),
            Role::Alone { job, .. } => format!("{job} alone"),
        });
        let labels = labels.map(str::to_string);
        table.push(
            head.into_iter()
                .chain(labels)
                .chain(alone)
                .chain(tail)
                .collect(),
        );
    }
    let left = states.iter().zip(&outlook.points);
    let left = left.filter(|(state, _)| **state != State::Done);
    let (left, seconds) = left.fold((0, 0.0), |(count, sum), (_, one)| {
        (count + 1, sum + one.seconds)
    });
    let took = match (left, sweep.points.len() - left) {
        (0, _) => "all of them are done".to_string(),
        (_, 0) => format!("about {} on one core ({})", wall(seconds), outlook.words()),
        (left, _) => format!(
            "{left} of them are left, about {} on one core ({})",
            wall(seconds),
            outlook.words()
        ),
    };
    format!(
        "{}: {}\n\n{}\n{own} points{}, {took}\n",
        study.path.display(),
        study.title,
        aligned(&table),
        match sweep.points.len() - own {
            0 => String::new(),
            1 => " and 1 run of a job alone, for slowdowns".to_string(),
            more => format!(" and {more} runs of a job alone, for slowdowns"),
        },
    )
}

/// Columns to the left, the last three to the right.
fn aligned(table: &[Vec<String>]) -> String {
    let columns = table.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = table.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in table {
        let mut line = String::new();
        for (index, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match index + 3 < columns {
                true => line.push_str(&format!("{cell:<width$}  ")),
                false => line.push_str(&format!("{cell:>width$}  ")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `weir sweep status`.
pub fn status(options: &JobOptions) -> Result<u8, Failure> {
    let sweep = Sweep::open(options)?;
    sweep.must_exist()?;
    let states = states(&sweep);
    let outlook = Outlook::new(&sweep, &states, false)?;
    let count = |name: &str| states.iter().filter(|state| state.name() == name).count();
    let counts = ["done", "running", "failed", "waiting"].map(|name| (name, count(name)));
    let both = || sweep.points.iter().zip(&states);
    let open = |state: &State| matches!(state, State::Waiting | State::Running);
    let left = outlook.points.iter().zip(&states);
    let left = left.filter(|(_, state)| open(state));
    let left: f64 = left.map(|(expected, _)| expected.seconds).sum();
    let failures = both().filter_map(|(point, state)| match state {
        State::Failed(reason, message) => Some((point, *reason, message)),
        _ => None,
    });
    if options.json {
        let failures = failures.map(|(point, reason, message)| {
            json!({
                "point": point.index,
                "label": point.label(&sweep.study),
                "reason": reason.name(),
                "message": message,
                "log": sweep.dir.point(&point.hash).log(),
            })
        });
        let mut value = json!({
            "points": sweep.points.len(),
            "failures": failures.collect::<Vec<_>>(),
            "seconds_left": left,
        });
        for (name, count) in counts {
            value[name] = json!(count);
        }
        write_out(&format!("{value}\n"))?;
        return Ok(0);
    }
    let counts = counts.map(|(name, count)| format!("{count} {name}"));
    let mut text = format!("{} of {} points\n", counts.join(", "), sweep.points.len());
    if states.iter().any(open) {
        let words = outlook.words();
        text.push_str(&format!(
            "left: about {} on one core ({words})\n",
            wall(left)
        ));
    }
    for (point, state) in both().filter(|(_, state)| **state == State::Running) {
        text.push_str(&format!(
            "{}: point {}: {}\n",
            state.name(),
            point.index,
            point.label(&sweep.study)
        ));
    }
    for (point, reason, message) in failures {
        let log = sweep.dir.point(&point.hash).log();
        text.push_str(&format!(
            "failed ({}): point {}: {}\n    log: {}\n",
            reason.name(),
            point.index,
            point.label(&sweep.study),
            log.display()
        ));
        for line in message.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    write_out(&text)?;
    Ok(0)
}

/// `weir sweep collect`.
pub fn collect(options: &JobOptions) -> Result<u8, Failure> {
    let sweep = Sweep::open(options)?;
    sweep.must_exist()?;
    let table = sweep.collect()?;
    let done = table.rows.iter().filter(|row| row.state == "done").count();
    let path = sweep.dir.table();
    let text = match options.json {
        true => format!(
            "{}\n",
            json!({ "table": path, "points": table.rows.len(), "done": done })
        ),
        false => format!(
            "{}: {done} of {} points\n",
            path.display(),
            table.rows.len()
        ),
    };
    write_out(&text)?;
    Ok(0)
}

/// `weir sweep claims`.
pub fn claims(options: &ClaimsOptions) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job)?;
    sweep.must_exist()?;
    let table = sweep.collect()?;
    let verdicts = sweep.judge(&table)?;
    let text = if options.csv {
        let csv = sweep
            .study
            .claims_csv(&verdicts, &sweep.command())
            .map_err(failed)?;
        String::from_utf8_lossy(&csv).into_owned()
    } else if options.job.json {
        format!("{}\n", claims_json(&verdicts))
    } else {
        claims_text(&verdicts)
    };
    write_out(&text)?;
    Ok(code_of(&verdicts))
}
