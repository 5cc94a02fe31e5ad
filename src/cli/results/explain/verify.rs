//! `weir explain --verify`: runs the experiment of a result again without each job that is blamed,
//! and compares the time regained with the time attributed.

use std::collections::{HashMap, HashSet};
use std::path;

use crate::cli::process::console::tell;
use crate::cli::process::failure::Failure;
use weir_engine::{Local, Progress, StopReason};
use weir_input::ConfigError;
use weir_result::explain::{Explanation, Measured, Path, Removal};
use weir_result::{Data, Stats};
use weir_simulation::config::{Catalog, Experiment};
use weir_simulation::{Log, Observer, Outcome, Plan, is_much};

/// Measures the cost of each job that feeds a full link to each other job.
/// Every run is one process; nothing is written.
///
/// `text`: the resolved experiment of the result.
///
/// # Errors
/// If the experiment cannot be run again: a trace is gone, or another version of weir wrote it.
pub(super) fn verify(
    text: &str,
    all: &Explanation,
    catalog: &Catalog,
) -> Result<Vec<Measured>, Failure> {
    let jobs: Vec<&str> = all.jobs.iter().map(|job| job.name.as_str()).collect();
    let mut runs = Runs::new(text, catalog)?;
    let suspects = all.suspects();
    if suspects.is_empty() || jobs.len() < 2 {
        tell("nothing to verify: no job feeds a full link that holds up another job");
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for victim in &jobs {
        let culprits = suspects
            .iter()
            .filter(|suspect| suspect.as_str() != *victim);
        let culprits: Vec<&String> = culprits
            .filter(|suspect| all.attributed(victim, suspect) > 0.0)
            .collect();
        if culprits.is_empty() {
            continue;
        }
        let here = runs.time(victim, &jobs)?;
        let alone = runs.time(victim, &[victim])?;
        let mut removals = Vec::new();
        for culprit in culprits {
            let others: Vec<&str> = jobs.iter().copied().filter(|job| job != culprit).collect();
            let time = runs.time(victim, &others)?;
            removals.push(Removal {
                job: culprit.clone(),
                time_ps: time,
                gives_back: gives_back(here, alone, time),
                attributed: all.attributed(victim, culprit),
                lost: all.lost_to(victim, culprit),
            });
        }
        found.push(Measured {
            job: (*victim).to_string(),
            here_ps: here,
            alone_ps: alone,
            without: removals,
        });
    }
    Ok(found)
}

/// The critical paths of a result's applications, from two runs.
/// One logs causes, the other follows the messages that mattered. Both equal the run of the result.
///
/// # Errors
/// As [`verify`].
pub(super) fn critical_paths(text: &str, catalog: &Catalog) -> Result<Vec<Path>, Failure> {
    let off = ["output.attribution=\"none\"".into()];
    let experiment = read(text, &off, catalog).map_err(|error| Failure::wrong(&error))?;
    let plan = || Plan::new(&experiment, None).map_err(|error| Failure::wrong(&error));
    tell("critical path: run 1, in which everything that happens to tasks is kept");
    let log = Log::of(outcome(&plan()?.with_task_log())?);
    tell("critical path: run 2, in which the messages that mattered are followed");
    let plan = plan()?.following(&log);
    let steps = outcome(&plan)?.steps;
    Ok(log.paths(&steps, plan.network()))
}

/// Runs of an experiment with some of its jobs, each once.
struct Runs<'a> {
    text: &'a str,
    catalog: &'a Catalog,
    /// The place of each job in the experiment file.
    places: HashMap<String, usize>,
    applications: HashSet<String>,
    /// None for jobs that cannot run without the others.
    done: HashMap<Vec<String>, Option<Data>>,
}

impl<'a> Runs<'a> {
    fn new(text: &'a str, catalog: &'a Catalog) -> Result<Runs<'a>, Failure> {
        let experiment = read(text, &[], catalog).map_err(|error| Failure::wrong(&error))?;
        let all = || experiment.workloads.iter();
        let places = all().enumerate().map(|(at, one)| (one.name.clone(), at));
        let applications = all().filter(|one| one.job().is_some());
        Ok(Runs {
            text,
            catalog,
            places: places.collect(),
            applications: applications.map(|one| one.name.clone()).collect(),
            done: HashMap::new(),
        })
    }

    /// The time of a job beside these others, ps: of an application from its start to its end, of
    /// other traffic the mean latency of its messages. None if the run ended before that was known,
    /// or cannot be.
    fn time(&mut self, job: &str, with: &[&str]) -> Result<Option<f64>, Failure> {
        let key: Vec<String> = with.iter().map(|name| (*name).to_string()).collect();
        if !self.done.contains_key(&key) {
            let data = self.run(with)?;
            self.done.insert(key.clone(), data);
        }
        let application = self.applications.contains(job);
        let data = self.done[&key].as_ref();
        Ok(data.and_then(|data| time_of(data, job, application)))
    }

    fn run(&self, with: &[&str]) -> Result<Option<Data>, Failure> {
        let jobs = with.join(", ");
        tell(format!("verify: run {} with {jobs}", self.done.len() + 1));
        let off = self
            .places
            .iter()
            .filter(|(name, _)| !with.contains(&name.as_str()));
        let off = off.map(|(_, place)| format!("workload.{place}.enabled=false"));
        let mut sets: Vec<String> = off.collect();
        sets.push("output.attribution=\"none\"".into());
        let experiment = read(self.text, &sets, self.catalog);
        match experiment.and_then(|experiment| Plan::new(&experiment, None)) {
            Ok(plan) => Ok(Some(outcome(&plan)?.data)),
            // As an application in the background without any other.
            Err(error) => {
                let why = error.message;
                tell(format!(
                    "verify: {jobs} cannot run without the others: {why}"
                ));
                Ok(None)
            }
        }
    }
}

fn outcome(plan: &Plan) -> Result<Outcome, Failure> {
    let outcome = weir_simulation::run(plan, &mut Local, &mut Unseen);
    let outcome =
        outcome.map_err(|error| Failure::failed(format!("error: the run again: {error}")))?;
    outcome.ok_or_else(|| Failure::failed("error: the run again has no outcome"))
}

fn read(text: &str, sets: &[String], catalog: &Catalog) -> Result<Experiment, ConfigError> {
    Experiment::from_text("result.h5", text, path::Path::new(""), sets, catalog)
}

/// The share of the lost time that is back in a run of this time.
fn gives_back(here: Option<f64>, alone: Option<f64>, time: Option<f64>) -> Option<f64> {
    let (here, alone, time) = (here?, alone?, time?);
    let lost = here - alone;
    (lost > alone * 1e-3).then_some((here - time) / lost)
}

fn time_of(data: &Data, name: &str, application: bool) -> Option<f64> {
    let job = data.jobs.iter().find(|job| job.name == name)?;
    let class = format!("job.{name}.message");
    let (_, latency) = data.latency.iter().find(|(own, _)| *own == class)?;
    let stats = Stats::of(latency);
    match application {
        true => (!job.is_cut_off()).then(|| (job.finish() - job.totals.start_ps) as f64),
        false => {
            let known = !is_much(stats.missing, stats.all());
            Some(stats.arrived.mean_ps).filter(|mean| known && mean.is_finite())
        }
    }
}

/// No observer watches these runs; a reason to end them ends the program.
struct Unseen;

impl Observer for Unseen {
    fn progress(&mut self, _: Progress, _: u32) {}
    fn stop(&mut self) -> Option<StopReason> {
        None
    }
}
