//! A run that is ready to start.

use std::sync::Arc;

use crate::config::{CostConfig, WorkloadConfig};
use weir_congestion::Scheme;
use weir_fabric::{Blueprint, Drive, Fork, Network, Open, Traffic, expected_state};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{EndpointId, Invalid, Time};
use weir_network::topology::{Place, Topology};
use weir_result::Note;

/// Kind of warning about keys that are written and not used: the result does not show them.
pub(super) const UNUSED: &str = "unused";

/// A run, ready to start. The same on all ranks.
pub struct Plan {
    /// Inputs from which domains are built.
    pub blueprint: Blueprint,
    /// The congestion-control scheme.
    pub scheme: Box<dyn Scheme>,
    /// True if the run ends when it is complete. At the end of the schedule it has failed then.
    pub completes: bool,
    /// The least time in which anything reaches another domain, ps; [`weir_model::NEVER`] for a
    /// single domain.
    pub lookahead: Time,
    /// Maximum time that anything is under way, ps.
    pub quiet_limit: Time,
    /// The run until it forks, if it does: this plan is for the time from then on.
    pub fork: Option<Box<ForkPlan>>,
    /// Parts of the experiment that can be run and do nothing, or measure nothing.
    pub warnings: Vec<Warning>,
    /// Cost of memory, if the experiment gives it.
    pub cost: Option<CostConfig>,
    /// Content of its traces, and the part of it that is simulated.
    pub traces: Vec<Note>,
}

/// The run before a fork.
pub struct ForkPlan {
    /// Time of the fork, ps.
    pub at: Time,
    /// Its plan: that of the experiment without `[fork]`.
    pub base: Plan,
    /// The parts of its state with which the run goes on.
    pub fork: Fork,
}

impl Plan {
    /// The plan before the fork, if `before`.
    pub(super) fn before_fork(&self, before: bool) -> &Plan {
        let base = self.fork.as_deref().filter(|_| before);
        base.map_or(self, |fork| &fork.base)
    }

    /// The parts of a state at `at` of another run with which this one goes on: all that `[fork]`
    /// does not change, or workloads that have started.
    pub(super) fn fork_at(&self, at: Time) -> Fork {
        if let Some(fork) = self.fork.as_deref().filter(|fork| fork.at == at) {
            return fork.fork.clone();
        }
        let traffic = self.blueprint.traffic.iter();
        Fork {
            at,
            carried: traffic.map(|one| one.start < at).collect(),
            scheme: true,
            seed: self.blueprint.seed,
        }
    }

    /// Bytes of the state of all domains at the start, about.
    pub fn expected_state(&self) -> u64 {
        expected_state(&self.blueprint, self.scheme.as_ref())
    }

    /// The most ranks that can run it: one for each domain, or a single one if signals of its scheme
    /// are faster than ranks can exchange them.
    pub fn most_ranks(&self) -> u32 {
        match self.blueprint.schedule.interleaving {
            Some(_) => 1,
            None => self.network().partition.domains(),
        }
    }

    /// Checks that this number of ranks can run it.
    ///
    /// # Errors
    /// If they cannot.
    pub fn check_ranks(&self, ranks: u32) -> Result<(), ConfigError> {
        let domains = self.network().partition.domains();
        if ranks > domains {
            return Err(ConfigError::new(
                format!("{ranks} ranks cannot share the {domains} domains of this network"),
                format!(
                    "a domain (a group or a pod) is simulated by one rank: give at most {domains} ranks"
                ),
            ));
        }
        let Some(interleaving) = self.blueprint.schedule.interleaving.filter(|_| ranks > 1) else {
            return Ok(());
        };
        let [delay, least] = [interleaving.delay, self.lookahead].map(Duration);
        Err(ConfigError::new(
            format!(
                "the signals of {} take {delay}, and {ranks} ranks can exchange nothing faster \
                 than {least}",
                self.scheme.name()
            ),
            format!(
                "run this on one rank (exact, but slower), or with congestion.latency = \
                 \"{least}\" or more"
            ),
        ))
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.blueprint.network
    }
}

/// Endpoints of a workload that send, and that receive, for its loads.
pub fn ends(traffic: &Traffic) -> [Vec<EndpointId>; 2] {
    let tasks = &traffic.tasks;
    match &traffic.drive {
        Drive::Pattern(Open { pattern, .. }) => [
            tasks
                .iter()
                .copied()
                .filter(|&task| pattern.sends(task))
                .collect(),
            pattern.receivers().unwrap_or_else(|| tasks.to_vec()),
        ],
        Drive::Motif(_) => [traffic.members.to_vec(), traffic.members.to_vec()],
    }
}

/// The bandwidth of the links of some endpoints together, as built, bit/s.
pub fn bandwidth_of(
    topology: &dyn Topology,
    endpoints: impl IntoIterator<Item = EndpointId>,
) -> u128 {
    let link = |endpoint| topology.link_from(Place::Nic(endpoint)).bandwidth;
    endpoints
        .into_iter()
        .map(|one| u128::from(link(one).0))
        .sum()
}

/// A part of an experiment that can be run and does nothing, or measures nothing.
#[derive(Clone, Debug)]
pub struct Warning {
    /// Kind of warning, for programs.
    pub kind: &'static str,
    /// The workload that it is about; None: the whole experiment.
    pub job: Option<String>,
    /// The warning, with its key: a sentence without a full stop.
    pub text: String,
    /// The same with its place and a remedy, to be shown.
    pub shown: Arc<ConfigError>,
}

impl Warning {
    pub(super) fn new(
        kind: &'static str,
        job: Option<&str>,
        section: &Section,
        invalid: Invalid,
    ) -> Warning {
        let text = section.about(&invalid.key, &invalid.message);
        Warning {
            kind,
            job: job.map(str::to_string),
            text,
            shown: Arc::new(section.refuse(invalid).as_warning()),
        }
    }

    /// A warning about a key of a workload.
    pub(super) fn about(
        workload: &WorkloadConfig,
        kind: &'static str,
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: &str,
    ) -> Warning {
        let invalid = Invalid::new(key, message, remedy);
        Warning::new(kind, Some(&workload.name), &workload.section, invalid)
    }

    /// As a note of the result, if it is one about the result.
    pub(super) fn note(&self) -> Option<Note> {
        (self.kind != UNUSED).then(|| Note {
            kind: self.kind.into(),
            job: self.job.clone(),
            text: self.text.clone(),
            numbers: Vec::new(),
        })
    }
}
