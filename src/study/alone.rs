//! A job of a point alone: the run that its slowdown is measured against.
//!
//! It is the experiment of the point with everything that the job itself does not see in one form: the job on the endpoints that it has there,
//! what stands after it in the file left out, what stands before it as workloads that do not run (random streams are made of a workload's
//! place in the file). So points that differ in other jobs only have the same run to be compared with.

use std::collections::HashMap;
use std::path::Path;

use super::metric::Slowdown;
use super::needs::Need;
use super::point::{EFFORT, Point, Role, hash_of};
use crate::config::{ConfigError, Document, Endpoints, Experiment, Given, Until, WorkloadConfig};
use crate::forecast::Work;
use crate::registry::Catalog;
use crate::simulation::Plan;

/// Collects what has to be run for slowdowns, point by point.
pub(super) struct Baselines<'a> {
    asked: Vec<(&'a Need, &'a Slowdown)>,
    found: Vec<Found>,
    /// Points in which a job is alone already, by the hash of the run that it would be compared with.
    alone: HashMap<String, usize>,
}

/// A job of a point, and how it runs alone.
struct Found {
    point: usize,
    job: String,
    hash: String,
    experiment: Experiment,
}

impl<'a> Baselines<'a> {
    /// Before any point is known.
    pub fn new(needs: &'a [Need]) -> Baselines<'a> {
        let asked = needs.iter();
        let asked = asked.filter_map(|need| Some((need, need.slowdown.as_ref()?)));
        Baselines {
            asked: asked.collect(),
            found: Vec::new(),
            alone: HashMap::new(),
        }
    }

    /// Looks at the point `index`, whose places are `at`.
    ///
    /// # Errors
    /// If a job that is asked for cannot run alone.
    pub fn look(
        &mut self,
        (index, at): (usize, &[usize]),
        experiment: &Experiment,
        plan: &Plan,
        catalog: &Catalog,
    ) -> Result<(), ConfigError> {
        let asked = self.asked.iter();
        let here: Vec<_> = asked.filter(|(need, _)| need.selection.has(at)).collect();
        let traffic = &plan.blueprint.traffic;
        for job in &**traffic {
            let Some((need, _)) = here.iter().find(|(_, one)| one.needs(&job.name)) else {
                continue;
            };
            let experiment = alone(experiment, plan, &job.name, need, catalog)?;
            let hash = hash_of(&experiment.resolved);
            if traffic.len() == 1 {
                self.alone.insert(hash.clone(), index);
            }
            self.found.push(Found {
                point: index,
                job: job.name.clone(),
                hash,
                experiment,
            });
        }
        Ok(())
    }

    /// Adds the runs to the points, each once, and tells the points which are theirs.
    ///
    /// # Errors
    /// If a job cannot run alone.
    pub fn add(self, points: &mut Vec<Point>) -> Result<(), ConfigError> {
        let mut runs = self.alone;
        for found in self.found {
            let run = match runs.get(&found.hash) {
                Some(&run) => run,
                None => {
                    let run = points.len();
                    runs.insert(found.hash.clone(), run);
                    let point = baseline(run, &points[found.point], &found)?;
                    points.push(point);
                    run
                }
            };
            let at = points[found.point].at.clone();
            let of = &mut points[run];
            if let Role::Alone { varies, .. } = &mut of.role {
                let differ = of.at.iter().zip(&at).map(|(one, other)| one != other);
                varies
                    .iter_mut()
                    .zip(differ)
                    .for_each(|(own, differs)| *own |= differs);
            }
            if let Role::Own { alone } = &mut points[found.point].role {
                alone.push((found.job, run));
            }
        }
        Ok(())
    }
}

fn baseline(index: usize, of: &Point, found: &Found) -> Result<Point, ConfigError> {
    let plan = Plan::new(&found.experiment, None)?;
    Ok(Point {
        index,
        at: of.at.clone(),
        seed: of.seed,
        hash: found.hash.clone(),
        work: Work::of(&found.experiment, &plan, EFFORT),
        experiment: found.experiment.clone(),
        // What does nothing for want of the other jobs is no news.
        warnings: Vec::new(),
        role: Role::Alone {
            job: found.job.clone(),
            varies: vec![false; of.at.len()],
        },
    })
}

/// The experiment in which `job` runs alone, where it is in another one.
fn alone(
    experiment: &Experiment,
    plan: &Plan,
    job: &str,
    need: &Need,
    catalog: &Catalog,
) -> Result<Experiment, ConfigError> {
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
    let before = workloads[..own].iter().map(|one| placeholder(&one.name));
    let tasks = plan.blueprint.traffic.iter().find(|one| one.name == job);
    let tasks = tasks.map(|one| one.tasks.to_vec()).unwrap_or_default();
    let own = placed(&written[own], &workloads[own], &tasks)?;
    let list: Vec<String> = before.chain([own.toml()]).collect();
    let list = Given::of_text(&format!("[{}]", list.join(", ")))?;
    document.place("workload", &list)?;
    if let Some(output) = document.take("output") {
        document.place("output", &output_of(&output, job)?)?;
    }
    document.experiment(catalog)
}

/// A workload that does not run.
fn placeholder(name: &str) -> String {
    format!(
        "{{ name = {name:?}, endpoints = [0], shared = true, enabled = false, load = 1.0, message = \"1 flits\", pattern = {{ kind = \"uniform\" }} }}"
    )
}

/// The workload on the endpoints that it has, where others had a part in the choice.
fn placed(written: &Given, workload: &WorkloadConfig, tasks: &[u32]) -> Result<Given, ConfigError> {
    let endpoints = match &workload.endpoints {
        Endpoints::All | Endpoints::Range(..) | Endpoints::List(_) => String::new(),
        Endpoints::Rest | Endpoints::Count { .. } => format!("endpoints = {tasks:?}, "),
    };
    Ok(written.overlaid(&Given::of_text(&format!("{{ {endpoints}shared = true }}"))?))
}

/// What is recorded, without the rates of other jobs.
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
