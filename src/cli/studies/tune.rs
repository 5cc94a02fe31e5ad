//! `weir tune`: searches the parameters of a scheme, stage by stage, each stage a sweep.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::cli::args::TuneOptions;
use crate::cli::out::default_out;
use crate::cli::process::console::{tell, tell_failure, write_out};
use crate::cli::process::failure::Failure;
use crate::cli::studies::sweep::args::CHECKPOINT_EVERY;
use crate::cli::studies::sweep::run::{How, check_ranks, run_points, stop_at_signals, stopped};
use crate::cli::studies::sweep::{Sweep, failed};
use weir_input::ConfigError;
use weir_model::program::exit::FAILED;
use weir_result::{replace, schema};
use weir_simulation::config::Catalog;
use weir_study::tune::{Outcome, Search, Setting, Tune, best, same_search};
use weir_study::{Options, Point, Points, State, SweepDir, Table, about};

/// Number of the best settings that are printed.
const SHOWN: usize = 10;

/// `weir tune`.
pub fn tune(options: &TuneOptions, catalog: &Catalog) -> ExitCode {
    match searched(options, catalog) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// Outcome of running a stage.
enum Ran {
    /// All of its results exist.
    Done(Box<Stage>),
    /// The search ends, with this exit code.
    Ends(u8),
}

/// A stage that was run.
struct Stage {
    sweep: Sweep,
    points: Points,
    table: Table,
}

/// A search in progress.
struct Run<'a> {
    options: &'a TuneOptions,
    tune: Tune,
    catalog: &'a Catalog,
    out: PathBuf,
    stop: &'a AtomicBool,
    /// The settings that cannot be run, in words, and why.
    refused: RefCell<Vec<(String, ConfigError)>>,
}

fn searched(options: &TuneOptions, catalog: &Catalog) -> Result<u8, Failure> {
    let changes = Options {
        sets: options.sets.clone(),
        reduced: options.reduced,
        fork_at: None,
    };
    let tune = Tune::read(&options.file, &changes, catalog);
    let tune = tune.map_err(|error| Failure::wrong(&error))?;
    let stop = stop_at_signals()?;
    let run = Run {
        options,
        tune,
        catalog,
        out: (options.out.clone()).unwrap_or_else(|| default_out(&options.file)),
        stop: &stop,
        refused: RefCell::default(),
    };
    run.say_what_is_searched();
    let references = match run.tune.reference_job() {
        None => None,
        Some(text) => {
            check_free(&run.out, &text)?;
            match run.stage(&run.out.join("references"), &text)? {
                Ran::Done(stage) => Some(stage),
                Ran::Ends(code) => return Ok(code),
            }
        }
    };
    let compared = references.as_ref();
    let compared = compared.map(|stage| (&stage.sweep.study, &stage.table));
    let mut search = run.tune.search();
    let marks: Vec<Setting> = run.tune.marks.iter().map(|(_, own)| own.clone()).collect();
    search.first(&marks, &|setting| run.can_be_run(setting));
    if run.is_stopped() {
        return Ok(stopped());
    }
    let refused = run.refused.borrow();
    if let (true, Some((_, error))) = (search.known().is_empty(), refused.first()) {
        return Err(Failure::wrong(error));
    }
    drop(refused);
    loop {
        let job = run.tune.job(search.known(), compared);
        let job = job.map_err(|error| Failure::wrong(&error))?;
        let stage = match run.stage(&run.out, &job)? {
            Ran::Done(stage) => stage,
            Ran::Ends(code) => return Ok(code),
        };
        let study = &stage.sweep.study;
        let outcomes = run.tune.outcomes(search.known(), study, &stage.table);
        let scores: Vec<Option<f64>> = outcomes.iter().map(|one| one.score).collect();
        let goes_on = search.next(&scores, &|setting| run.can_be_run(setting));
        if run.is_stopped() {
            return Ok(stopped());
        }
        if !goes_on {
            return run.finish(&search, &stage, &outcomes);
        }
    }
}

impl Run<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// False as well if the search was stopped: what it then has is not used.
    fn can_be_run(&self, setting: &Setting) -> bool {
        if self.is_stopped() {
            return false;
        }
        let refused = self.tune.refused(setting, self.catalog);
        let good = refused.is_none();
        if let Some(error) = refused {
            let words = self.tune.words(setting);
            let mut refused = self.refused.borrow_mut();
            if refused.iter().all(|(known, _)| *known != words) {
                if !self.options.quiet {
                    tell(format!(
                        "left out, because it is refused: {words} ({error})"
                    ));
                }
                refused.push((words, error));
            }
        }
        good
    }

    fn say_what_is_searched(&self) {
        if self.options.quiet {
            return;
        }
        let (tune, grid) = (&self.tune, &self.tune.grid);
        for (parameter, count) in tune.parameters.iter().zip(grid) {
            let words = |value: f64| parameter.label(value);
            tell(format!(
                "{}: {} to {}, {count} values on the grid",
                parameter.key,
                words(parameter.value(0.0)),
                words(parameter.value(1.0))
            ));
        }
        if !tune.left_out.is_empty() {
            let names = tune.left_out.join(", ");
            tell(format!(
                "not searched (name them in tune.parameters, or allow more tune.runs): {names}"
            ));
        }
        let each = tune.runs_of_each();
        tell(format!(
            "{} runs at most, {each} for each setting",
            tune.runs
        ));
    }

    /// Runs the missing points of a job file, which is written into the directory first.
    fn stage(&self, out: &Path, job: &str) -> Result<Ran, Failure> {
        check_free(out, job)?;
        let write = fs::create_dir_all(out);
        write
            .and_then(|()| replace(&SweepDir::new(out).job(), job.as_bytes()))
            .map_err(|error| cannot_write(out, &error.to_string()))?;
        let sweep = Sweep::in_own(out, self.catalog)?;
        let points = sweep.points()?;
        let all: Vec<&Point> = points.iter().collect();
        let checked = sweep.check(&all)?;
        if self.options.plan {
            let states = sweep.dir.states(&points);
            let open = |state: &&State| !matches!(state, State::Done | State::Failed(..));
            let open = states.iter().filter(open).count();
            if open > 0 {
                let (job, out) = (sweep.dir.job(), out.display());
                let job = job.display();
                write_out(&format!(
                    "{open} of {} points of {job} are to be run:\n  weir sweep run {job} --out {out}\n  \
                     weir sweep submit {job} --out {out}\nThen this command goes on from there.\n",
                    points.len()
                ))?;
                return Ok(Ran::Ends(0));
            }
        } else {
            let how = How {
                jobs: self.options.starts.jobs.get(),
                ranks: self.options.starts.ranks.get(),
                launcher: &self.options.starts.launcher,
                quiet: self.options.quiet,
                again: false,
                forks: true,
                checkpoint_every: CHECKPOINT_EVERY,
            };
            check_ranks("--ranks", how.ranks, &checked)?;
            let outcome = run_points(&sweep, &all, &how, self.stop)?;
            if outcome.stopped {
                return Ok(Ran::Ends(stopped()));
            }
        }
        let table = sweep.collect(&points)?;
        Ok(Ran::Done(Box::new(Stage {
            sweep,
            points,
            table,
        })))
    }

    /// Prints the findings, and writes the best setting into the directory.
    fn finish(&self, search: &Search, stage: &Stage, outcomes: &[Outcome]) -> Result<u8, Failure> {
        let Stage { sweep, table, .. } = stage;
        let settings = search.known();
        let scores: Vec<Option<f64>> = outcomes.iter().map(|one| one.score).collect();
        let Some(best) = best(&scores) else {
            return Err(failed(format!(
                "none of the {} settings ended with a score; their logs are in {}",
                settings.len(),
                sweep.out.display()
            )));
        };
        let found = section_of(stage, &outcomes[best]).map_err(|error| Failure::wrong(&error))?;
        let path = self.out.join("best.toml");
        let written = replace(&path, found.as_bytes());
        written.map_err(|error| failed(about(&path)(error)))?;
        let mut order: Vec<usize> = (0..settings.len()).collect();
        order.sort_by(|&a, &b| {
            let score = |at: usize| scores[at].unwrap_or(f64::NEG_INFINITY);
            score(b).total_cmp(&score(a))
        });
        let names = self.tune.criteria(table);
        if self.options.json {
            let one = |&at: &usize| self.as_json(&settings[at], &outcomes[at], &names);
            let all: Vec<_> = order.iter().map(one).collect();
            let text = json!({ "settings": all, "best": found, "table": sweep.dir.table() });
            write_out(&format!("{text}\n"))?;
            return Ok(failed_points(stage));
        }
        let mut text = format!(
            "{} settings of {} run; a map: weir report {}\n\n",
            settings.len(),
            self.tune.scheme,
            self.out.display()
        );
        for (rank, &at) in order.iter().enumerate() {
            let mark = self.tune.marks.iter().find(|(_, own)| *own == settings[at]);
            if rank < SHOWN || mark.is_some() {
                let mark = mark.map_or(String::new(), |(label, _)| format!(" ({label})"));
                text.push_str(&format!("{:>3}. ", rank + 1));
                text.push_str(&self.line(&settings[at], &outcomes[at], &names, &mark));
            }
        }
        text.push_str(&format!(
            "\nThe best, also in {}:\n\n{found}",
            path.display()
        ));
        write_out(&text)?;
        Ok(failed_points(stage))
    }

    fn line(&self, setting: &Setting, outcome: &Outcome, names: &[String], mark: &str) -> String {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
        let criteria = names.iter().zip(&outcome.criteria);
        let criteria = criteria.map(|(name, value)| format!("{name} {}", number(*value)));
        let criteria: Vec<String> = criteria.collect();
        format!(
            "score {}: {}{mark}\n     {}\n",
            number(outcome.score),
            self.tune.words(setting),
            criteria.join(", ")
        )
    }

    fn as_json(&self, setting: &Setting, outcome: &Outcome, names: &[String]) -> serde_json::Value {
        let values = self.tune.parameters.iter().zip(setting);
        let values = values.map(|(own, &value)| (own.key.clone(), json!(own.label(value))));
        let criteria = names
            .iter()
            .cloned()
            .zip(outcome.criteria.iter().map(|own| json!(own)));
        let mark = self.tune.marks.iter().find(|(_, own)| own == setting);
        json!({
            "score": outcome.score,
            "values": serde_json::Map::from_iter(values),
            "criteria": serde_json::Map::from_iter(criteria),
            "mark": mark.map(|(label, _)| label),
        })
    }
}

/// Refuses a directory that holds something else than this search.
fn check_free(out: &Path, job: &str) -> Result<(), Failure> {
    match fs::read_to_string(SweepDir::new(out).job()) {
        Ok(there) if same_search(&there, job) => Ok(()),
        Ok(_) => Err(cannot_write(out, "it holds another job.toml")),
        _ if out.join(schema::FILE).exists() => {
            Err(cannot_write(out, "it holds the result of a run"))
        }
        _ => Ok(()),
    }
}

fn cannot_write(out: &Path, why: &str) -> Failure {
    Failure::bad_input(format!(
        "error: cannot write into {}: {why}\n  help: name another directory with --out",
        out.display()
    ))
}

/// Tells points that failed; the exit code.
fn failed_points(stage: &Stage) -> u8 {
    let states = stage.sweep.dir.states(&stage.points);
    let failed = states
        .iter()
        .filter(|state| matches!(state, State::Failed(..)));
    match failed.count() {
        0 => 0,
        count => {
            let (all, out) = (states.len(), stage.sweep.out.display());
            tell(format!(
                "error: {count} of {all} points failed, and their settings have no score; \
                 `weir sweep status {out}` says why"
            ));
            FAILED
        }
    }
}

/// `[congestion]` of the experiment that a setting ran, complete with all its keys.
fn section_of(stage: &Stage, outcome: &Outcome) -> Result<String, ConfigError> {
    let Stage { sweep, points, .. } = stage;
    let point = outcome.points.first();
    let Some(point) = point.and_then(|&point| points.get(point)) else {
        return Ok(String::new());
    };
    let resolved = sweep.study.experiment(point, &sweep.catalog)?.resolved;
    let lines = resolved.lines().skip_while(|line| *line != "[congestion]");
    let section = lines.take_while(|line| !line.is_empty());
    Ok(section.map(|line| format!("{line}\n")).collect())
}
