//! `weir sweep plan`, `status`, `collect` and `claims`: nothing runs.

use serde_json::{Value, json};

use super::args::{ClaimsOptions, CollectOptions, JobOptions, PlanOptions};
use super::expect::{Expected, Outlook};
use super::view::{ENDS, LISTED, View};
use super::{Sweep, bad, claims_json, claims_text, code_of, failed, tell_warnings};
use crate::cli::process::console::{tell, write_out};
use crate::cli::process::failure::Failure;
use weir_report::format::{bytes, scaled, simulated, wall};
use weir_simulation::config::Catalog;
use weir_study::sweep::Group;
use weir_study::{Point, Role, State, Study};

/// True if a study has more points than are listed.
fn is_large(sweep: &Sweep) -> Result<bool, Failure> {
    let rows = sweep.study.rows().map_err(|error| bad(&error))?;
    Ok(rows > LISTED)
}

/// `weir sweep plan`.
pub fn plan(options: &PlanOptions, catalog: &Catalog) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job, catalog)?;
    let everything = options.job.json || options.calibrate || !is_large(&sweep)?;
    let view = match everything {
        true => View::whole(&sweep)?,
        false => {
            let needs = sweep.study.needs_are_met(&sweep.catalog);
            needs.map_err(|error| bad(&error))?;
            View::part(&sweep)?
        }
    };
    let outlook = Outlook::new(&sweep, &view, options.calibrate, everything)?;
    tell_warnings(&outlook.checked);
    let forks = forks(&sweep, &view)?;
    let text = match options.job.json {
        true => format!("{}\n", plan_json(&sweep, &view, &outlook, &forks)),
        false => plan_text(&sweep, &view, &outlook) + &forks_text(&forks),
    };
    write_out(&text)?;
    Ok(0)
}

/// Groups of the points that are the same run until a time, if all points are known.
fn forks(sweep: &Sweep, view: &View) -> Result<Vec<Group>, Failure> {
    if view.points.len() < view.all {
        return Ok(Vec::new());
    }
    let points: Vec<&Point> = view.points.iter().collect();
    let groups = sweep.study.groups(&points, &sweep.catalog);
    groups.map_err(|error| bad(&error))
}

fn forks_text(forks: &[Group]) -> String {
    if forks.is_empty() {
        return String::new();
    }
    let points: usize = forks.iter().map(|group| group.points.len()).sum();
    let saved = forks.iter().map(Group::saved).sum();
    let states = match forks.len() {
        1 => "1 state".to_string(),
        more => format!("{more} states"),
    };
    format!(
        "forks: {points} points share {states}, which saves {} of simulated time\n",
        simulated(saved)
    )
}

fn plan_json(sweep: &Sweep, view: &View, outlook: &Outlook, forks: &[Group]) -> Value {
    let axes = &sweep.study.axes;
    let one = |at: &usize| {
        let point = &view.points[*at];
        let (brief, expected) = &outlook.points[at];
        let values: serde_json::Map<String, Value> = (axes.iter().enumerate())
            .map(|(axis, own)| (own.name.clone(), json!(point.value(&sweep.study, axis))))
            .collect();
        let alone = match &point.role {
            Role::Own { .. } => None,
            Role::Alone { job, .. } => Some(job),
        };
        json!({
            "point": point.index,
            "hash": point.hash,
            "axes": values,
            "alone": alone,
            "seed": point.seed,
            "state": view.states[*at].name(),
            "endpoints": brief.endpoints,
            "domains": brief.domains,
            "packet_hops": expected.packet_hops,
            "seconds": expected.seconds,
            "bytes": expected.bytes,
        })
    };
    let points: Vec<Value> = outlook.points.keys().map(one).collect();
    json!({
        "title": sweep.study.title,
        "out": sweep.out,
        "packet_hops_per_second": outlook.rate,
        "measured_on": outlook.measured,
        "calibrated": outlook.calibrated,
        "forks": forks.iter().map(|group| json!({
            "at_ps": group.at,
            "points": group.points,
            "saved_ps": group.saved(),
        })).collect::<Vec<_>>(),
        "points": points,
    })
}

fn plan_text(sweep: &Sweep, view: &View, outlook: &Outlook) -> String {
    let study = &sweep.study;
    let is_alone = |point: &&Point| !point.is_own();
    // In a part of a large study there are none.
    let alone = view.points.iter().filter(is_alone).count();
    let own = view.all - alone;
    let names = study.axes.iter().map(|axis| axis.name.clone());
    let head = ["point", "hash", "state"].map(str::to_string).into_iter();
    let job = (alone > 0).then(|| "job".to_string());
    let tail = ["seed", "packet-hops", "memory", "time"].map(str::to_string);
    let mut table: Vec<Vec<String>> = vec![head.chain(names).chain(job).chain(tail).collect()];
    let listed = own <= LISTED;
    for (&at, (_, expected)) in &outlook.points {
        let point = &view.points[at];
        if !listed && point.index + ENDS == own {
            table.push(vec!["…".to_string(); table[0].len()]);
        }
        if listed || point.index < ENDS || (own - ENDS..own).contains(&point.index) {
            let state = view.states[at].name();
            table.push(plan_row(study, point, state, expected, alone > 0));
        }
    }
    format!(
        "{}: {}\n\n{}\n{own} points{}, {}\n{}",
        study.path.display(),
        study.title,
        aligned(&table),
        match alone {
            0 => String::new(),
            1 => " and 1 run of a job alone, for slowdowns".to_string(),
            more => format!(" and {more} runs of a job alone, for slowdowns"),
        },
        time_left(view, outlook),
        looked_at(sweep, view, outlook),
    )
}

fn plan_row(
    study: &Study,
    point: &Point,
    state: &str,
    expected: &Expected,
    jobs: bool,
) -> Vec<String> {
    let head = [point.index.to_string(), point.hash.clone(), state.into()];
    let labels = (0..study.axes.len()).map(|axis| point.value(study, axis).unwrap_or("any"));
    let job = jobs.then(|| match &point.role {
        Role::Own { .. } => String::new(),
        Role::Alone { job, .. } => format!("{job} alone"),
    });
    let tail = [
        point.seed.to_string(),
        scaled(expected.packet_hops),
        bytes(expected.bytes as u64),
        wall(expected.seconds),
    ];
    let head = head.into_iter().chain(labels.map(str::to_string));
    head.chain(job).chain(tail).collect()
}

fn time_left(view: &View, outlook: &Outlook) -> String {
    let seconds = wall(outlook.seconds_left(view));
    let done = view.count(State::Done.name());
    match (view.all - done, done) {
        (0, _) => "all of them are done".to_string(),
        (_, 0) => format!("about {seconds} on one core ({})", outlook.words()),
        (left, _) => format!(
            "{left} of them are left, about {seconds} on one core ({})",
            outlook.words()
        ),
    }
}

/// Text on the points of a large study that a plan has examined.
fn looked_at(sweep: &Sweep, view: &View, outlook: &Outlook) -> String {
    if view.points.len() == view.all {
        return String::new();
    }
    let more = match sweep.study.compares() {
        true => "; runs of jobs alone, for slowdowns, come on top",
        false => "",
    };
    format!(
        "{} of them were checked, with every value of every axis as far as {LISTED} points have them{more}.\n\
         `weir sweep run` and `weir sweep submit` check all before anything runs; --json lists all.\n",
        outlook.points.len()
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
pub fn status(options: &JobOptions, catalog: &Catalog) -> Result<u8, Failure> {
    let sweep = Sweep::open(options, catalog)?;
    sweep.must_exist()?;
    let view = match is_large(&sweep)? && !sweep.study.compares() {
        true => View::part(&sweep)?,
        false => View::whole(&sweep)?,
    };
    let outlook = Outlook::new(&sweep, &view, false, false)?;
    let text = match options.json {
        true => status_json(&sweep, &view, &outlook),
        false => status_text(&sweep, &view, &outlook),
    };
    write_out(&text)?;
    Ok(0)
}

const STATES: [&str; 4] = ["done", "running", "failed", "waiting"];

fn failures(view: &View) -> impl Iterator<Item = (&Point, &str, &str)> {
    view.iter().filter_map(|(point, state)| match state {
        State::Failed(reason, message) => Some((point, reason.name(), message.as_str())),
        _ => None,
    })
}

/// Reason why all points are waiting, if they have results of another model version.
fn outdated(sweep: &Sweep, view: &View) -> Option<String> {
    let all = view.count("waiting") == view.all;
    all.then(|| sweep.dir.outdated()).flatten()
}

fn status_json(sweep: &Sweep, view: &View, outlook: &Outlook) -> String {
    let failures = failures(view).map(|(point, reason, message)| {
        json!({
            "point": point.index,
            "label": point.label(&sweep.study),
            "reason": reason,
            "message": message,
            "log": sweep.dir.point(&point.hash).log(),
        })
    });
    let mut value = json!({
        "points": view.all,
        "failures": failures.collect::<Vec<_>>(),
        "outdated": outdated(sweep, view),
        "seconds_left": outlook.seconds_open(view),
    });
    for name in STATES {
        value[name] = json!(view.count(name));
    }
    format!("{value}\n")
}

fn status_text(sweep: &Sweep, view: &View, outlook: &Outlook) -> String {
    let counts = STATES.map(|name| format!("{} {name}", view.count(name)));
    let mut text = format!("{} of {} points\n", counts.join(", "), view.all);
    if let Some(why) = outdated(sweep, view) {
        text.push_str(&format!("no result counts: {why}\n"));
    }
    if view.count("waiting") + view.count("running") > 0 {
        let words = outlook.words();
        text.push_str(&format!(
            "left: about {} on one core ({words})\n",
            wall(outlook.seconds_open(view))
        ));
    }
    for (point, state) in view.iter().filter(|(_, state)| **state == State::Running) {
        text.push_str(&format!(
            "{}: point {}: {}\n",
            state.name(),
            point.index,
            point.label(&sweep.study)
        ));
    }
    for (point, reason, message) in failures(view) {
        let log = sweep.dir.point(&point.hash).log();
        text.push_str(&format!(
            "failed ({reason}): point {}: {}\n    log: {}\n",
            point.index,
            point.label(&sweep.study),
            log.display()
        ));
        for line in message.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

/// True if nothing can be written into the directory of a sweep.
/// Then a message says so, with the action taken instead.
fn is_read_only(sweep: &Sweep, instead: &str) -> bool {
    let read_only = sweep.dir.is_read_only();
    if read_only {
        tell(format!(
            "note: {} is read-only: {instead}",
            sweep.out.display()
        ));
    }
    read_only
}

/// `weir sweep collect`.
pub fn collect(options: &CollectOptions, catalog: &Catalog) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job, catalog)?;
    sweep.must_exist()?;
    let table = sweep.table(&sweep.points()?)?;
    sweep.must_have_results(&table)?;
    if options.csv || is_read_only(&sweep, "the table follows") {
        let csv = table.csv(&sweep.study).map_err(failed)?;
        write_out(&String::from_utf8_lossy(&csv))?;
        return Ok(0);
    }
    table.write(&sweep.study, &sweep.dir).map_err(failed)?;
    let done = table.rows.iter().filter(|row| row.state == "done").count();
    let path = sweep.dir.table();
    let text = match options.job.json {
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
pub fn claims(options: &ClaimsOptions, catalog: &Catalog) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job, catalog)?;
    sweep.must_exist()?;
    let table = sweep.table(&sweep.points()?)?;
    sweep.must_have_results(&table)?;
    let verdicts = match is_read_only(&sweep, "the claims are not written there") {
        true => sweep.study.verdicts(&table),
        false => {
            table.write(&sweep.study, &sweep.dir).map_err(failed)?;
            sweep.judge(&table)?
        }
    };
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
