//! A job of a point alone: the run that its slowdown is measured against.
//!
//! It is the experiment of the point with everything that the job itself does not see in one form:
//! the job is on the endpoints that it has there, and other workloads are left out. So points that
//! differ in other jobs only have the same run to be compared with.

use std::collections::HashMap;
use std::path::Path;

use super::{Point, Role};
use crate::job_file::needs::Need;
use crate::metric::Slowdown;
use weir_input::Given;
use weir_input::{ConfigError, Until};
use weir_result::experiment_hash;
use weir_simulation::Plan;
use weir_simulation::config::{Catalog, Document, Experiment, WorkloadConfig};
use weir_workload::open::endpoints::Endpoints;

/// Runs that slowdowns require.
pub(crate) struct Baselines<'a> {
    asked: Vec<(&'a Need, &'a Slowdown)>,
}

/// A job of a point, and how it runs alone.
pub(crate) struct Found {
    job: String,
    hash: String,
    /// True if it is alone at that point already.
    itself: bool,
}

impl<'a> Baselines<'a> {
    /// Runs that figures and claims ask for.
    pub fn new(needs: &'a [Need]) -> Baselines<'a> {
        let asked = needs.iter();
        let asked = asked.filter_map(|need| Some((need, need.slowdown.as_ref()?)));
        Baselines {
            asked: asked.collect(),
        }
    }

    /// True if there are any.
    pub fn asks(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Place where the slowdown of a job is asked for at a point whose places are `at`.
    fn need(&self, at: &[usize], job: &str) -> Option<&'a Need> {
        let mut asked = self.asked.iter();
        let found = asked.find(|(need, one)| need.selection.has(at) && one.needs(job));
        found.map(|(need, _)| *need)
    }

    /// The jobs of a point whose slowdown is asked for.
    ///
    /// # Errors
    /// If one of them cannot run alone.
    pub fn look(
        &self,
        at: &[usize],
        experiment: &Experiment,
        plan: &Plan,
        catalog: &Catalog,
    ) -> Result<Vec<Found>, ConfigError> {
        let traffic = &plan.blueprint.traffic;
        let asked = traffic.iter().filter_map(|job| {
            let need = self.need(at, &job.name)?;
            let experiment = alone(experiment, plan, &job.name, need, catalog);
            Some(experiment.map(|experiment| Found {
                job: job.name.clone(),
                hash: experiment_hash(&experiment.resolved),
                itself: traffic.len() == 1,
            }))
        });
        asked.collect()
    }

    /// The experiment in which a job of a point is alone.
    ///
    /// # Errors
    /// If it cannot run alone.
    pub fn alone(
        &self,
        at: &[usize],
        job: &str,
        experiment: &Experiment,
        plan: &Plan,
        catalog: &Catalog,
    ) -> Result<Experiment, ConfigError> {
        match self.need(at, job) {
            Some(need) => alone(experiment, plan, job, need, catalog),
            None => Ok(experiment.clone()),
        }
    }

    /// Adds the runs to the points, each once, and notes at the points which runs are theirs.
    /// `found` has the jobs found at each.
    pub fn add(&self, found: Vec<Vec<Found>>, points: &mut Vec<Point>) {
        let here = found.iter().enumerate();
        let here = here.flat_map(|(index, found)| found.iter().map(move |one| (index, one)));
        let here = here.filter(|(_, one)| one.itself);
        let mut runs: HashMap<String, usize> =
            here.map(|(index, one)| (one.hash.clone(), index)).collect();
        for (index, found) in found.into_iter().enumerate() {
            let at = points[index].at.clone();
            for Found { job, hash, .. } in found {
                let run = *runs.entry(hash).or_insert_with_key(|hash| {
                    points.push(baseline(points.len(), &points[index], &job, hash));
                    points.len() - 1
                });
                let of = &mut points[run];
                if let Role::Alone { varies, .. } = &mut of.role {
                    let differ = of.at.iter().zip(&at).map(|(one, other)| one != other);
                    varies
                        .iter_mut()
                        .zip(differ)
                        .for_each(|(own, differs)| *own |= differs);
                }
                if let Role::Own { alone } = &mut points[index].role {
                    alone.push((job, run));
                }
            }
        }
    }
}

fn baseline(index: usize, of: &Point, job: &str, hash: &str) -> Point {
    Point {
        index,
        at: of.at.clone(),
        seed: of.seed,
        hash: hash.to_string(),
        role: Role::Alone {
            job: job.to_string(),
            varies: vec![false; of.at.len()],
        },
    }
}

/// The experiment in which `job` runs alone, made from another one.
fn alone(
    experiment: &Experiment,
    plan: &Plan,
    job: &str,
    need: &Need,
    catalog: &Catalog,
) -> Result<Experiment, ConfigError> {
    if experiment.fork.is_some() {
        return Err(need.at.wrong(
            format!("{job:?} alone would not fork as this point does"),
            "leave slowdowns out, or the fork",
        ));
    }
    let workloads = &experiment.workloads;
    let own = workloads.iter().position(|one| one.name == job);
    let own = own.unwrap_or_default();
    let endless = workloads[own]
        .pattern()
        .is_some_and(|one| one.stop.is_none());
    if endless && experiment.run.until == Until::Completion {
        return Err(need.at.wrong(
            format!("{job:?} alone never ends: it never stops, and run.until is \"completion\""),
            "give it a `stop`, or end the run at a time",
        ));
    }
    let mut document = Document::parse("the experiment", &experiment.resolved, Path::new(""))?;
    let written = document.take("workload").and_then(|list| list.items());
    let written = written.unwrap_or_default();
    let tasks = plan.blueprint.traffic.iter().find(|one| one.name == job);
    let tasks = tasks.map(|one| one.tasks.to_vec()).unwrap_or_default();
    let own = placed(&written[own], &workloads[own], &tasks)?;
    let list = Given::of_text(&format!("[{}]", own.toml()))?;
    document.place("workload", &list)?;
    if let Some(output) = document.take("output") {
        document.place("output", &output_of(&output, job)?)?;
    }
    document.experiment(catalog)
}

/// The workload on the endpoints that it has, if other workloads influenced the choice.
fn placed(written: &Given, workload: &WorkloadConfig, tasks: &[u32]) -> Result<Given, ConfigError> {
    let endpoints = match &workload.endpoints {
        Endpoints::Rest | Endpoints::Count { .. } => format!("endpoints = {tasks:?}, "),
        Endpoints::All | Endpoints::Range(..) | Endpoints::List(_) | Endpoints::Nodes(_) => {
            String::new()
        }
    };
    Ok(written.overlaid(&Given::of_text(&format!("{{ {endpoints}shared = true }}"))?))
}

/// Output section of the point, without the rates of other jobs.
fn output_of(output: &Given, job: &str) -> Result<Given, ConfigError> {
    let members = output.members().unwrap_or_default();
    let kept = members.iter().filter_map(|(key, value)| {
        if key != "rates" {
            return Some(format!("{key} = {}", value.toml()));
        }
        let parts = value.members().unwrap_or_default();
        let mut somebody = false;
        let parts: Vec<String> = parts
            .iter()
            .map(|(key, value)| {
                let value = match key.as_str() {
                    "tasks" => value.get(job).map_or("{}".to_string(), |tasks| {
                        format!("{{ {job} = {} }}", tasks.toml())
                    }),
                    _ => value.toml(),
                };
                somebody |= key != "interval" && value != "{}" && value != "[]";
                format!("{key} = {value}")
            })
            .collect();
        somebody.then(|| format!("rates = {{ {} }}", parts.join(", ")))
    });
    let kept: Vec<String> = kept.collect();
    Given::of_text(&format!("{{ {} }}", kept.join(", ")))
}
