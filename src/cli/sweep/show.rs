//! `weir sweep plan`, `status`, `collect` and `claims`: nothing runs.

use serde_json::{Value, json};

use super::args::{ClaimsOptions, JobOptions, PlanOptions};
use super::{Sweep, claims_json, claims_text, code_of, failed};
use crate::cli::console::write_out;
use crate::cli::launch::Failure;
use crate::report::format::{scaled, wall};
use crate::study::{ASSUMED_RATE, Point, State};
use crate::trace;

/// What finished points say about the speed of this machine.
struct Speed {
    /// Packet-hops as they are estimated, per second.
    rate: f64,
    /// Finished points that it was measured on.
    points: usize,
    /// Mean wall-clock seconds of a finished point, for those that cannot be estimated.
    mean: Option<f64>,
}

impl Speed {
    fn of(sweep: &Sweep, states: &[State]) -> Speed {
        let (mut hops, mut timed, mut all, mut points) = (0.0, 0.0, 0.0, 0);
        let done = sweep.points.iter().zip(states);
        for (point, _) in done.filter(|(_, state)| **state == State::Done) {
            let Ok(stored) = trace::read(&sweep.dir.point(&point.hash).result()) else {
                continue;
            };
            points += 1;
            all += stored.run.wall_seconds;
            if let Some(estimate) = point.cost.packet_hops {
                hops += estimate;
                timed += stored.run.wall_seconds;
            }
        }
        let measured = hops > 0.0 && timed > 0.0;
        Speed {
            rate: if measured { hops / timed } else { ASSUMED_RATE },
            points: if measured { points } else { 0 },
            mean: (points > 0).then(|| all / points as f64),
        }
    }

    /// Seconds that a point takes, if that can be said.
    fn seconds(&self, point: &Point) -> Option<f64> {
        match point.cost.packet_hops {
            Some(hops) => Some(hops / self.rate),
            None => self.mean,
        }
    }

    fn words(&self) -> String {
        match self.points {
            0 => format!(
                "{} packet-hops/s, assumed: no point is finished",
                scaled(self.rate)
            ),
            points => format!(
                "{} packet-hops/s, measured on {points} points",
                scaled(self.rate)
            ),
        }
    }
}

/// The time of several points, and how many of them nobody can tell.
fn total<'a>(speed: &Speed, points: impl Iterator<Item = &'a Point>) -> (f64, usize) {
    let mut sum = (0.0, 0);
    for point in points {
        match speed.seconds(point) {
            Some(seconds) => sum.0 += seconds,
            None => sum.1 += 1,
        }
    }
    sum
}

fn time_words((seconds, unknown): (f64, usize)) -> String {
    match unknown {
        0 => format!("about {} on one core", wall(seconds)),
        _ => format!(
            "about {} on one core, and {unknown} runs to completion whose length nobody knows",
            wall(seconds)
        ),
    }
}

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
    let speed = Speed::of(&sweep, &states);
    let text = match options.job.json {
        true => format!("{}\n", plan_json(&sweep, &states, &speed)),
        false => plan_text(&sweep, &states, &speed),
    };
    write_out(&text)?;
    Ok(0)
}

fn plan_json(sweep: &Sweep, states: &[State], speed: &Speed) -> Value {
    let axes = &sweep.study.axes;
    let one = |(point, state): (&Point, &State)| {
        let places = axes.iter().zip(&point.at);
        let at: serde_json::Map<String, Value> = places
            .map(|(axis, &value)| (axis.name.clone(), json!(axis.values[value].label)))
            .collect();
        json!({
            "point": point.index,
            "hash": point.hash,
            "axes": at,
            "seed": point.seed,
            "state": state.name(),
            "endpoints": point.cost.endpoints,
            "domains": point.cost.domains,
            "packet_hops": point.cost.packet_hops,
            "seconds": speed.seconds(point),
        })
    };
    let points: Vec<Value> = sweep.points.iter().zip(states).map(one).collect();
    json!({
        "title": sweep.study.title,
        "out": sweep.out,
        "packet_hops_per_second": speed.rate,
        "measured_on": speed.points,
        "points": points,
    })
}

fn plan_text(sweep: &Sweep, states: &[State], speed: &Speed) -> String {
    let study = &sweep.study;
    let mut table: Vec<Vec<String>> = vec![
        ["point", "hash", "state"]
            .map(str::to_string)
            .into_iter()
            .chain(study.axes.iter().map(|axis| axis.name.clone()))
            .chain(["seed", "packet-hops", "time"].map(str::to_string))
            .collect(),
    ];
    for (point, state) in sweep.points.iter().zip(states) {
        let labels = study.axes.iter().zip(&point.at);
        let head = [
            point.index.to_string(),
            point.hash.clone(),
            state.name().into(),
        ];
        let tail = [
            point.seed.to_string(),
            point.cost.packet_hops.map_or("?".into(), scaled),
            speed.seconds(point).map_or("?".into(), wall),
        ];
        let labels = labels.map(|(axis, &value)| axis.values[value].label.clone());
        table.push(head.into_iter().chain(labels).chain(tail).collect());
    }
    let time = total(speed, sweep.points.iter());
    format!(
        "{}: {}\n\n{}\n{} points, {} ({})\n",
        study.path.display(),
        study.title,
        aligned(&table),
        sweep.points.len(),
        time_words(time),
        speed.words(),
    )
}

/// Columns to the left, the last two to the right.
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
            match index + 2 < columns {
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
    let speed = Speed::of(&sweep, &states);
    let count = |name: &str| states.iter().filter(|state| state.name() == name).count();
    let counts = ["done", "running", "failed", "waiting"].map(|name| (name, count(name)));
    let both = || sweep.points.iter().zip(&states);
    let left = both().filter(|(_, state)| matches!(state, State::Waiting | State::Running));
    let left = total(&speed, left.map(|(point, _)| point));
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
            "seconds_left": (left.1 == 0).then_some(left.0),
        });
        for (name, count) in counts {
            value[name] = json!(count);
        }
        write_out(&format!("{value}\n"))?;
        return Ok(0);
    }
    let counts = counts.map(|(name, count)| format!("{count} {name}"));
    let mut text = format!("{} of {} points\n", counts.join(", "), sweep.points.len());
    if left != (0.0, 0) {
        text.push_str(&format!("left: {} ({})\n", time_words(left), speed.words()));
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
