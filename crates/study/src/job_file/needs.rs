//! Requirements of figures and claims on the results, against the records of the study's points.

use super::selection::Selection;
use crate::metric::names::SLOWDOWN;
use crate::metric::of_record;
use crate::metric::pattern::fits;
use crate::metric::{Metric, NotAMetric, Slowdown};
use weir_input::Given;
use weir_input::{ConfigError, Duration, Until, suggest};
use weir_model::{LinkKind, Time};
use weir_result::schema::ITERATION;
use weir_result::{Whose, endpoints_of};
use weir_simulation::config::Experiment;
use weir_simulation::{Plan, counts_as_nothing, scheme_numbers};

/// A name in a figure or a claim that some of the points must have something for.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// Place where it is named.
    pub at: Given,
    /// The name of a metric, or of rows.
    pub name: String,
    /// True if it is that of rows.
    pub rows: bool,
    /// Time that it covers: from and up to, ps.
    pub window: (Time, Time),
    /// The points concerned.
    pub selection: Selection,
    /// The jobs that it needs alone.
    pub slowdown: Option<Slowdown>,
}

impl Need {
    /// A metric that is named at a place.
    pub fn metric(at: &Given, metric: &Metric, selection: &Selection) -> Need {
        Need {
            at: at.clone(),
            name: metric.name().to_string(),
            rows: false,
            window: metric.window(),
            selection: selection.clone(),
            slowdown: metric.slowdown().cloned(),
        }
    }
}

/// The needs that no point so far meets.
pub(crate) struct Unmet<'a> {
    needs: Vec<(&'a Need, Option<NotAMetric>)>,
    reduced: bool,
}

impl<'a> Unmet<'a> {
    /// State before any point is known. A study that is `reduced` may end before the times that its
    /// figures name.
    pub fn new(needs: &'a [Need], reduced: bool) -> Unmet<'a> {
        Unmet {
            needs: needs.iter().map(|need| (need, None)).collect(),
            reduced,
        }
    }

    /// True if all are met.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// True if the point at these places may meet one.
    pub fn concerns(&self, at: &[usize]) -> bool {
        self.needs.iter().any(|(need, _)| need.selection.has(at))
    }

    /// Removes the needs that the point at these places meets.
    pub fn look(&mut self, at: &[usize], experiment: &Experiment, plan: &Plan) {
        let records = Records { experiment, plan };
        let reduced = self.reduced;
        self.needs.retain_mut(|(need, why)| {
            if !need.selection.has(at) {
                return true;
            }
            let in_time = || match reduced {
                true => Ok(()),
                false => records.reach(need.window.0),
            };
            let recorded = || records.have(need).and_then(|()| records.bins(need));
            match in_time().and_then(|()| recorded()) {
                Ok(()) => false,
                Err(missing) => {
                    *why = Some(missing);
                    true
                }
            }
        });
    }

    /// Checks that all are met, after all points were examined.
    ///
    /// # Errors
    /// The first that is not met: the cause at the last of its points.
    pub fn none_left(self) -> Result<(), ConfigError> {
        let Some((need, why)) = self.needs.into_iter().next() else {
            return Ok(());
        };
        let why = why.unwrap_or_else(|| NotAMetric {
            message: "none of the points that it selects is run".into(),
            remedy: "select others, or exclude fewer".into(),
        });
        let message = format!("{:?} has nothing to show: {}", need.name, why.message);
        Err(need.at.wrong(message, why.remedy))
    }
}

type Outcome = Result<(), NotAMetric>;

fn missing(message: impl Into<String>, remedy: impl Into<String>) -> Outcome {
    Err(NotAMetric {
        message: message.into(),
        remedy: remedy.into(),
    })
}

/// Records that the result of an experiment will hold.
struct Records<'a> {
    experiment: &'a Experiment,
    plan: &'a Plan,
}

impl Records<'_> {
    /// Checks that the run is longer than that.
    fn reach(&self, from: Time) -> Outcome {
        match self.experiment.run.until {
            Until::Time(until) if from >= until.0 => missing(
                format!(
                    "{} is not before the end of the run (run.until = {until})",
                    Duration(from)
                ),
                "name an earlier time, or let the run end later",
            ),
            _ => Ok(()),
        }
    }

    /// Checks that a bin or sample of what is recorded over time begins in the window.
    fn bins(&self, need: &Need) -> Outcome {
        let output = &self.experiment.output;
        let (family, _) = need.name.split_once(['.', ' ']).unwrap_or((&need.name, ""));
        let (key, width) = match family {
            "series" | "ejection" => ("output.bin", Some(output.bin)),
            "occupancy" => ("output.occupancy", output.occupancy),
            "rates" => (
                "output.rates",
                output.rates.as_ref().map(|rates| rates.interval),
            ),
            _ => return Ok(()),
        };
        let (from, to) = need.window;
        let first = |width: Duration| from.checked_next_multiple_of(width.0);
        match width.and_then(first) {
            Some(first) if first >= to => missing(
                format!(
                    "nothing is recorded from {} to {}",
                    Duration(from),
                    Duration(to)
                ),
                format!("name a longer time, or record more often ({key})"),
            ),
            _ => Ok(()),
        }
    }

    fn have(&self, need: &Need) -> Outcome {
        let name = need.name.split('@').next().unwrap_or_default().trim();
        let parts: Vec<&str> = name.split('.').collect();
        // The quantity by which a job alone is compared is recorded in both runs, or in neither.
        let parts = match parts.as_slice() {
            [SLOWDOWN, job] => return self.job(job),
            [SLOWDOWN, jobs, _] if jobs.contains('*') => return self.job(jobs),
            [SLOWDOWN, rest @ ..] => rest,
            all => all,
        };
        match parts {
            ["iterations", job, ..] | ["latency", "job", job, ITERATION, ..] => {
                self.job(job).and_then(|()| self.iterations(job))
            }
            ["jobs", job, ..] | ["latency" | "series", "job", job, ..] => self.job(job),
            ["phases", job, ..] => self.job(job).and_then(|()| self.phases()),
            ["occupancy", ..] => self.occupancy(),
            ["cost", ..] if self.experiment.cost.is_none() => missing(
                "the experiment does not say what memory costs",
                "add a section [cost], which may be empty",
            ),
            ["rates", whose @ .., _] if !need.rows => self.rates(&whose.join(".")),
            ["rates", whose @ ..] => self.rates(&whose.join(".")),
            ["ejection", class, ..] | ["series", "class", class, ..] => self.class(class),
            ["ports", kind, ..] => self.ports(kind),
            ["series", "endpoint", which, ..] => self.received(which),
            ["scheme", own @ ..] => self.scheme(&own.join("."), need.rows),
            _ => Ok(()),
        }
    }

    fn names(&self) -> Vec<&str> {
        let traffic = self.plan.blueprint.traffic.iter();
        traffic.map(|one| one.name.as_str()).collect()
    }

    fn job(&self, pattern: &str) -> Outcome {
        let names = self.names();
        if names.iter().any(|name| fits(pattern, name)) {
            return Ok(());
        }
        let idle = &self.experiment.workloads;
        let message = match idle.iter().any(|one| fits(pattern, &one.name)) {
            true => format!("the workload {pattern:?} has enabled = false and does not run"),
            false => format!("no workload is called {pattern:?}"),
        };
        missing(
            message,
            format!(
                "let it run, or name another; {}",
                suggest(pattern, "names", &names, '`')
            ),
        )
    }

    fn iterations(&self, pattern: &str) -> Outcome {
        let traffic = &self.plan.blueprint.traffic;
        let mut own = traffic.iter().filter(|one| fits(pattern, &one.name));
        if !own.any(|one| one.application().is_some()) {
            let message = format!("{pattern:?} is no application and has no iterations");
            return missing(message, "name a workload with a `motif`");
        }
        match self.experiment.output.iterations {
            true => Ok(()),
            false => missing(
                "iterations are not recorded",
                "set output.iterations = true",
            ),
        }
    }

    fn phases(&self) -> Outcome {
        match self.experiment.output.flows {
            true => Ok(()),
            false => missing("phases are not recorded", "set output.flows = true"),
        }
    }

    fn occupancy(&self) -> Outcome {
        match self.experiment.output.occupancy {
            Some(_) => Ok(()),
            None => missing(
                "what routers hold is not recorded",
                "set output.occupancy to an interval, such as \"10 us\"",
            ),
        }
    }

    fn rates(&self, whose: &str) -> Outcome {
        let remedy = "set output.rates, such as \
                      { interval = \"1 us\", tasks = { storm = [0] }, endpoints = [17] }";
        let Some(rates) = &self.experiment.output.rates else {
            return missing("rates are not recorded", remedy);
        };
        let recorded = match Whose::parse(whose) {
            Some(Whose::All) | None => true,
            Some(Whose::Endpoint(endpoint)) => {
                let own = &self.plan.blueprint.rated;
                own.iter().any(|rated| rated.endpoint == endpoint)
            }
            Some(Whose::Task(job, task)) => {
                self.job(&job)?;
                let own = rates.tasks.get(&job);
                own.is_some_and(|tasks| tasks.contains(&task))
            }
        };
        match recorded {
            true => Ok(()),
            false => missing(
                format!("the rate of {whose} is not recorded"),
                "name it in output.rates: the task under `tasks`, or the endpoint in `endpoints`",
            ),
        }
    }

    fn received(&self, which: &str) -> Outcome {
        let name = format!("endpoint.{which}.");
        let recorded = &self.plan.blueprint.received;
        let all = endpoints_of(&name).map(|(endpoints, _)| endpoints);
        let mut missed = all.into_iter().flatten();
        match missed.find(|endpoint| recorded.binary_search(endpoint).is_err()) {
            None => Ok(()),
            Some(endpoint) => missing(
                format!("what endpoint {endpoint} receives is not recorded"),
                "set output.received = \"all\", or to a list with it",
            ),
        }
    }

    fn class(&self, class: &str) -> Outcome {
        let names = self.plan.network().classes.names;
        match names.contains(&class) {
            true => Ok(()),
            false => missing(
                format!("there is no traffic class {class:?}"),
                suggest(class, "classes", names, '`'),
            ),
        }
    }

    fn ports(&self, kind: &str) -> Outcome {
        let topology = &self.plan.network().topology;
        let names = topology.link_kinds();
        let links = topology.links();
        let there = |kind: LinkKind| links.iter().any(|links| links.link.kind == kind);
        let kinds = names.iter().zip(0..);
        let kinds = kinds.filter(|&(_, number)| there(LinkKind(number)));
        let mut names: Vec<&str> = kinds.map(|(name, _)| &**name).collect();
        if names.len() > 1 {
            names.push("fabric");
        }
        names.push("all");
        match names.contains(&kind) {
            true => Ok(()),
            false => missing(
                format!("the network has no {kind} ports"),
                suggest(kind, "kinds", &names, '`'),
            ),
        }
    }

    /// A counter of the scheme; or a column of one of its records, which is asked for.
    fn scheme(&self, name: &str, rows: bool) -> Outcome {
        let numbers = scheme_numbers(self.plan.scheme.as_ref(), self.plan.network());
        let names: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let column = match rows {
            true => name.split_once('.'),
            false => of_record(name).map(|(_, column, record)| (record, column)),
        };
        if let Some((record, column)) = column {
            return self.record(record, column);
        }
        if rows {
            return missing(
                format!("the scheme records no column {name:?} over time"),
                "draw its numbers with `bar` or `line`, a column of one of its records \
                 (\"scheme.grants.wait_ps\" of srp), or rates over time: \"rates.<name>.<task>\"",
            );
        }
        match names.contains(&name) || counts_as_nothing(name) {
            true => Ok(()),
            false => missing(
                format!("the scheme does not count {name:?}"),
                suggest(name, "names", &names, '`'),
            ),
        }
    }

    fn record(&self, record: &str, column: &str) -> Outcome {
        let records = self.plan.scheme.records();
        let Some(found) = records.iter().find(|one| one.name == record) else {
            let names: Vec<&str> = records.iter().map(|record| record.name).collect();
            return missing(
                format!("the scheme has no record {record:?}"),
                suggest(record, "records", &names, '`'),
            );
        };
        let names: Vec<&str> = found.all_columns().map(|column| column.name).collect();
        if !names.contains(&column) {
            return missing(
                format!("the record {record:?} has no column {column:?}"),
                suggest(column, "columns", &names, '`'),
            );
        }
        match self
            .experiment
            .output
            .scheme
            .iter()
            .any(|name| name == record)
        {
            true => Ok(()),
            false => missing(
                format!("the record {record:?} of the scheme is not kept"),
                format!("write output.scheme = [{record:?}]"),
            ),
        }
    }
}
