//! `weir sweep run` and `weir sweep retry`.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::args::{NEVER, RunOptions};
use super::points::places;
use super::{Sweep, claims_json, claims_text, code_of, failed, tell_warnings};
use crate::cli::process::console::{tell, write_out};
use crate::cli::process::failure::Failure;
use crate::cli::process::launch::threads::processors;
use crate::cli::process::program;
use crate::cli::process::signals::on_signals;
use weir_model::program::exit::{FAILED, RESUMABLE};
use weir_report::format::{scaled, wall};
use weir_simulation::config::Catalog;
use weir_study::sweep::{self as sweeping, Event, Outcome, Running, Settings, Spared};
use weir_study::{Checked, Point, Points, State};

/// Runs the missing points, writes the table, checks the claims.
pub fn run(options: &RunOptions, catalog: &Catalog) -> Result<u8, Failure> {
    run_some(options, catalog, false)
}

/// Runs the failed points again, writes the table, checks the claims.
pub fn retry(options: &RunOptions, catalog: &Catalog) -> Result<u8, Failure> {
    run_some(options, catalog, true)
}

fn run_some(options: &RunOptions, catalog: &Catalog, retry: bool) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job, catalog)?;
    let points = Wanted::of(options, &sweep)?;
    let mut chosen = points.list();
    if retry {
        sweep.must_exist()?;
        let failed =
            |point: &&Point| matches!(sweep.dir.point(&point.hash).state(), State::Failed(..));
        chosen.retain(failed);
    }
    let checked = sweep.check(&chosen)?;
    tell_warnings(&checked);
    check_ranks("--ranks", options.starts.ranks.get(), &checked)?;
    let how = How {
        jobs: options.starts.jobs.get(),
        ranks: options.starts.ranks.get(),
        launcher: &options.starts.launcher,
        quiet: options.quiet,
        again: retry,
        forks: !options.no_forks,
        checkpoint_every: &options.checkpoint_every,
    };
    let stop = stop_at_signals()?;
    let outcome = run_points(&sweep, &chosen, &how, &stop)?;
    if outcome.stopped {
        return Ok(stopped());
    }
    match &points {
        Wanted::All(points) => finish(options, &sweep, points, outcome),
        Wanted::Some(_) => {
            if options.job.json {
                write_out(&format!("{}\n", json!({ "failed": outcome.failed })))?;
            }
            Ok(code_of_runs(outcome))
        }
    }
}

/// The points that are asked for.
enum Wanted {
    All(Points),
    Some(Vec<Point>),
}

impl Wanted {
    fn of(options: &RunOptions, sweep: &Sweep) -> Result<Wanted, Failure> {
        let Some(list) = &options.points else {
            return sweep.points().map(Wanted::All);
        };
        let study = &sweep.study;
        let rows = study.rows().map_err(|error| Failure::wrong(&error))?;
        let found = match places(list, rows) {
            Ok(places) => study.some_points(&places, &sweep.catalog),
            // It may name runs of jobs alone, which only all points together tell of.
            Err(_) if study.compares() => {
                let points = sweep.points()?;
                let places = places(list, points.len())?;
                Ok(places
                    .into_iter()
                    .map(|place| points[place].clone())
                    .collect())
            }
            Err(error) => return Err(error),
        };
        found
            .map(Wanted::Some)
            .map_err(|error| Failure::wrong(&error))
    }

    fn list(&self) -> Vec<&Point> {
        match self {
            Wanted::All(points) => points.iter().collect(),
            Wanted::Some(points) => points.iter().collect(),
        }
    }
}

/// Settings for running points.
pub(in crate::cli) struct How<'a> {
    /// Points at once.
    pub jobs: usize,
    /// MPI ranks of each.
    pub ranks: u32,
    /// Command that starts several ranks.
    pub launcher: &'a str,
    /// No progress on standard error.
    pub quiet: bool,
    /// True if points that have failed run again.
    pub again: bool,
    /// True if points that are the same run at first simulate that once.
    pub forks: bool,
    /// Time from one checkpoint of a point to the next, or "never".
    pub checkpoint_every: &'a str,
}

/// Runs the missing ones of some points, which have been checked.
pub(in crate::cli) fn run_points(
    sweep: &Sweep,
    chosen: &[&Point],
    how: &How,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let groups = match how.forks {
        true => sweep.study.groups(chosen, &sweep.catalog),
        false => Ok(Vec::new()),
    };
    let at_once = how.jobs.saturating_mul(how.ranks as usize);
    let settings = Settings {
        program: std::env::current_exe().map_err(failed)?,
        build: program::build(),
        groups: groups.map_err(|error| Failure::wrong(&error))?,
        jobs: how.jobs.max(1),
        ranks: how.ranks,
        threads: (processors().get() / at_once).max(1),
        launcher: how.launcher.split_whitespace().map(String::from).collect(),
        again: how.again,
        checkpoint_every: (how.checkpoint_every != NEVER).then(|| how.checkpoint_every.into()),
    };
    sweep.prepare()?;
    let mut teller = Teller {
        sweep,
        quiet: how.quiet,
        ended: 0,
        all: chosen.len(),
    };
    let note = &mut |event: Event| teller.tell(&event);
    let of = Running {
        study: &sweep.study,
        catalog: &sweep.catalog,
        dir: &sweep.dir,
    };
    let outcome = sweeping::run(chosen, of, &settings, stop, note).map_err(failed)?;
    if !how.quiet && outcome.spared.points > 0 {
        tell_of_forks(&outcome.spared);
    }
    Ok(outcome)
}

/// Tells the work that points have shared.
fn tell_of_forks(spared: &Spared) {
    let Spared {
        points,
        packet_hops,
        seconds,
    } = *spared;
    let (hops, time) = (scaled(packet_hops as f64), wall(seconds));
    tell(format!(
        "forks: {points} points went on from states of others; about {time} of simulation \
         ({hops} packet-hops) saved"
    ));
}

/// Says that the sweep was stopped; the exit code of that.
pub(in crate::cli) fn stopped() -> u8 {
    tell("stopped; the same command goes on from here");
    RESUMABLE
}

/// Checks that `ranks` ranks can run every point, as the option `flag` says.
pub(in crate::cli) fn check_ranks(
    flag: &str,
    ranks: u32,
    checked: &Checked,
) -> Result<(), Failure> {
    let fewest = checked.briefs.iter().min_by_key(|brief| brief.most_ranks);
    let Some(brief) = fewest.filter(|brief| ranks > brief.most_ranks) else {
        return Ok(());
    };
    let (domains, most) = (brief.domains, brief.most_ranks);
    let (message, why) = match ranks > domains {
        true => (
            format!("{ranks} ranks cannot share the {domains} domains of a network of this study"),
            "a domain (a group or a pod) is simulated by one rank",
        ),
        false => (
            format!("{ranks} ranks cannot run all points of this study"),
            "signals of a scheme that take no time are for one rank",
        ),
    };
    Err(Failure::bad_input(format!(
        "error: {flag}: {message}\n  help: {why}; give at most {most}"
    )))
}

/// A flag that Ctrl-C, SIGTERM and SIGHUP raise.
pub(in crate::cli) fn stop_at_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    on_signals(move |_| raised.store(true, Ordering::Relaxed)).map_err(failed)?;
    Ok(stop)
}

fn code_of_runs(outcome: Outcome) -> u8 {
    if outcome.failed > 0 { FAILED } else { 0 }
}

/// The table and the claims.
fn finish(
    options: &RunOptions,
    sweep: &Sweep,
    points: &Points,
    outcome: Outcome,
) -> Result<u8, Failure> {
    sweeping::clear(&sweep.dir);
    let table = sweep.collect(points)?;
    let verdicts = sweep.judge(&table)?;
    let done = table.rows.iter().filter(|row| row.state == "done").count();
    let text = match options.job.json {
        true => format!(
            "{}\n",
            json!({
                "points": table.rows.len(),
                "done": done,
                "failed": outcome.failed,
                "table": sweep.dir.table(),
                "claims": claims_json(&verdicts),
            })
        ),
        false => format!(
            "{}: {done} of {} points\n{}",
            sweep.dir.table().display(),
            table.rows.len(),
            claims_text(&verdicts)
        ),
    };
    tell_of_others(sweep, points);
    write_out(&text)?;
    match outcome.failed {
        0 => Ok(code_of(&verdicts)),
        _ => Ok(FAILED),
    }
}

/// Results of points that the study had before its job file was changed.
fn tell_of_others(sweep: &Sweep, points: &Points) {
    let own: HashSet<&str> = points.iter().map(|point| point.hash.as_str()).collect();
    let mut begun = sweep.dir.begun();
    begun.retain(|point| !own.contains(point.hash()));
    if !begun.is_empty() {
        tell(format!(
            "note: {} has {} more points, of an earlier form of this study: the table is without \
             them",
            sweep.dir.root().display(),
            begun.len()
        ));
    }
}

/// Progress on standard error: a line for each point that ends.
struct Teller<'a> {
    sweep: &'a Sweep,
    quiet: bool,
    ended: usize,
    all: usize,
}

impl Teller<'_> {
    fn tell(&mut self, event: &Event) {
        let line = match event {
            Event::Started(_) => return,
            Event::Known(point, state) => {
                self.ended += 1;
                // A failure is worth a line even when quiet.
                if let State::Failed(reason, _) = state {
                    let text = format!("failed before ({}); see `weir sweep retry`", reason.name());
                    tell(self.line(point, &text));
                }
                return;
            }
            Event::Ended(point, state, seconds) => {
                self.ended += 1;
                match state {
                    State::Failed(reason, message) => {
                        let log = self.sweep.dir.point(&point.hash).log();
                        let text = format!("failed ({}); log: {}", reason.name(), log.display());
                        tell(format!(
                            "{}\n{}",
                            self.line(point, &text),
                            indented(message)
                        ));
                        return;
                    }
                    _ => self.line(point, &format!("done in {}", wall(*seconds))),
                }
            }
            Event::Elsewhere(point) => {
                self.line(point, "is being run by another sweep; waiting for it")
            }
        };
        if !self.quiet {
            tell(line);
        }
    }

    fn line(&self, point: &Point, what: &str) -> String {
        let width = self.all.to_string().len();
        format!(
            "[{:>width$}/{}] point {}: {}: {what}",
            self.ended,
            self.all,
            point.index,
            point.label(&self.sweep.study)
        )
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n")
}
