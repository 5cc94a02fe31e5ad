//! Slowdown: time of a job relative to its time alone: `slowdown.md`,
//! `slowdown.latency.job.md.message.p99`.
//!
//! Alone is the same point without the other jobs (`alone`): the same network, scheme, seed, places
//! and random streams. So a slowdown of 1 means that the others cost the job nothing. The cost of
//! the scheme itself for an undisturbed job is in both numbers. (GPCNeT, Chunduri et al., SC19,
//! section 3, calls the same ratio of a congested to an isolated run the congestion impact.)

use super::pattern::{chosen, fits};
use super::{How, Metric, NotAMetric, What};

/// Reads the name of a metric of one job.
type Reads = fn(&str, &[String]) -> Result<What, NotAMetric>;
use weir_input::suggest;
use weir_model::Time;
use weir_result::{ResultFile, TraceError};
use weir_simulation::config::Experiment;
use weir_simulation::is_much;

type Outcome = Result<Option<f64>, TraceError>;

/// A slowdown.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowdown {
    /// The job, or several by one name.
    jobs: String,
    /// Quantity compared; None: the time of an application, the mean message latency of other
    /// traffic.
    measure: Option<Measure>,
    /// One number of those of several jobs.
    how: Option<How>,
}

/// A number of one job.
#[derive(Clone, Debug, PartialEq)]
struct Measure {
    what: Box<What>,
    /// True if more of it is better.
    rising: bool,
}

/// The jobs of a slowdown of several.
const OF_SEVERAL: [&str; 3] = ["max", "min", "mean"];

/// Reads the metric `slowdown.REST`.
pub(super) fn parse(
    name: &str,
    rest: &str,
    jobs: &[String],
    reads: Reads,
) -> Result<Slowdown, NotAMetric> {
    let plain = |jobs: &str, how: Option<How>| Slowdown {
        jobs: jobs.to_string(),
        measure: None,
        how,
    };
    let parts: Vec<&str> = rest.split('.').collect();
    match parts.as_slice() {
        [job] if !job.contains('*') => {
            chosen(job, jobs)?;
            Ok(plain(job, None))
        }
        [pattern, how] if pattern.contains('*') => {
            chosen(pattern, jobs)?;
            let found = super::HOWS.iter().find(|(own, _)| own == how);
            match found {
                Some((_, found)) if OF_SEVERAL.contains(how) => Ok(plain(pattern, Some(*found))),
                _ => Err(NotAMetric {
                    message: format!("there is no metric {name:?}"),
                    remedy: suggest(how, "ends", &OF_SEVERAL, '`'),
                }),
            }
        }
        [pattern] => Err(NotAMetric {
            message: format!("{name:?} would be the slowdowns of several jobs"),
            remedy: format!("make one number of them: `slowdown.{pattern}.max` (min, mean)"),
        }),
        _ => of_metric(name, rest, &parts, reads(rest, jobs)?),
    }
}

/// The slowdown by a metric of one job.
fn of_metric(name: &str, rest: &str, parts: &[&str], what: What) -> Result<Slowdown, NotAMetric> {
    let found = match parts {
        [
            "latency",
            "job",
            job,
            _,
            "mean" | "p50" | "p90" | "p99" | "p999" | "max",
        ]
        | ["jobs", job, "communication"]
        | ["iterations" | "phases", job, _, "time"]
        | [
            "series",
            "job",
            job,
            "message_latency" | "network_latency",
            ..,
        ] => Some((job, false)),
        ["jobs", job, "accepted_load" | "bytes_delivered"] => Some((job, true)),
        [
            "series",
            "job",
            job,
            _,
            "mean" | "sum" | "min" | "max" | "first" | "last",
        ] => Some((job, true)),
        _ => None,
    };
    match found {
        Some((job, rising)) if !job.contains('*') => Ok(Slowdown {
            jobs: job.to_string(),
            measure: Some(Measure {
                what: Box::new(what),
                rising,
            }),
            how: None,
        }),
        _ => Err(NotAMetric {
            message: format!("{name:?}: {rest:?} does not say how fast one job is"),
            remedy: "name a job (`slowdown.md`), or a time, latency or throughput of one: \
                     `slowdown.jobs.md.communication`, `slowdown.latency.job.md.message.p99`, \
                     `slowdown.jobs.md.accepted_load`, `slowdown.iterations.md.0.time`"
                .into(),
        }),
    }
}

impl Slowdown {
    /// True if it needs a run of this job alone.
    pub fn needs(&self, job: &str) -> bool {
        fits(&self.jobs, job)
    }

    /// Quantity measured in both runs, without a window.
    pub(super) fn what(&self) -> Option<&What> {
        self.measure.as_ref().map(|measure| &*measure.what)
    }

    /// Its value for jobs with their own results alone; `beside` is the result with all of them.
    fn read(
        &self,
        window: Option<(Time, Time)>,
        beside: Ran,
        alone: &[(&str, Option<Ran>)],
    ) -> Outcome {
        let mut ratios = Vec::new();
        for (job, alone) in alone.iter().filter(|(job, _)| self.needs(job)) {
            let value = |run: &Ran| self.measured(window, run, job);
            // One that is not known may be the largest.
            let Some(alone) = alone else {
                return Ok(None);
            };
            let (Some(own), Some(free)) = (value(&beside)?, value(alone)?) else {
                return Ok(None);
            };
            let rising = self.measure.as_ref().is_some_and(|one| one.rising);
            ratios.push(if rising { free / own } else { own / free });
        }
        let value = match self.how {
            None => ratios.first().copied(),
            Some(how) => super::read::one(how, ratios.into_iter()),
        };
        Ok(value.filter(|value| value.is_finite()))
    }

    fn measured(&self, window: Option<(Time, Time)>, run: &Ran, job: &str) -> Outcome {
        let application = is_application(run.experiment, job);
        let what = match &self.measure {
            Some(measure) => (*measure.what).clone(),
            None if application => return time(run.result, job),
            None => What::Attribute {
                group: format!("data/latency/job.{job}.message"),
                attribute: "mean_ps".into(),
                unit: "ns",
            },
        };
        // Messages that have not arrived, and iterations that have not begun, would be the slowest.
        if let What::Attribute { group, .. } = &what
            && group.starts_with("data/latency/")
            && match application {
                true => !run.result.job_is_over(&format!("data/jobs/{job}"))?,
                false => much_is_missing(run.result, group)?,
            }
        {
            return Ok(None);
        }
        let name = String::new();
        Metric { name, what, window }.read(run.result)
    }
}

/// A result with its experiment.
#[derive(Clone, Copy)]
pub struct Ran<'a> {
    /// The result.
    pub result: &'a ResultFile,
    /// Its experiment.
    pub experiment: &'a Experiment,
}

impl Metric {
    /// True if it is a latency and many samples of its class had not arrived when the run ended, so
    /// that it says little.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn is_of_few(&self, result: &ResultFile) -> Result<bool, TraceError> {
        match &self.what {
            What::Attribute { group, .. } if group.starts_with("data/latency/") => {
                much_is_missing(result, group)
            }
            _ => Ok(false),
        }
    }

    /// The slowdown, if it is one.
    pub fn slowdown(&self) -> Option<&Slowdown> {
        match &self.what {
            What::Slowdown(slowdown) => Some(slowdown),
            _ => None,
        }
    }

    /// The value of a slowdown: from a run, and from runs of its jobs alone, if they exist.
    /// None for other metrics.
    ///
    /// # Errors
    /// If a file is damaged.
    pub fn compared(&self, beside: Ran, alone: &[(&str, Option<Ran>)]) -> Outcome {
        match self.slowdown() {
            Some(slowdown) => slowdown.read(self.window, beside, alone),
            None => Ok(None),
        }
    }
}

fn is_application(experiment: &Experiment, job: &str) -> bool {
    let mut workloads = experiment.workloads.iter();
    workloads.any(|one| one.name == job && one.job().is_some())
}

/// True if a note of the result says that many samples of this class of latencies are missing.
fn much_is_missing(result: &ResultFile, class: &str) -> Result<bool, TraceError> {
    let count = |name| Ok::<_, TraceError>(result.number(class, name)?.unwrap_or_default() as u64);
    let (missing, samples) = (count("missing")?, count("samples")?);
    Ok(is_much(missing, samples.saturating_add(missing)))
}

/// From the start of an application to the end of its last task, ns. None if the run ended before
/// that.
fn time(result: &ResultFile, job: &str) -> Outcome {
    let group = format!("data/jobs/{job}");
    let (start, finish) = (
        result.number(&group, "start_ps")?,
        result.number(&group, "finish_ps")?,
    );
    let time = start
        .zip(finish)
        .map(|(start, finish)| (finish - start) / 1e3);
    let done = result.job_is_over(&group)?;
    Ok(time.filter(|_| done))
}
