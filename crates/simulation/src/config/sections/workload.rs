//! `[[workload]]`: who sends how much, when, and in which pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::application::ApplicationConfig;
use super::defaults::{Elsewhere, at_once, is_yes, yes};
use weir_input::registry::Chosen;
use weir_input::{Duration, Section};
use weir_workload::open::endpoints::Endpoints;
use weir_workload::open::injection::Injection;
use weir_workload::open::members::Party;
use weir_workload::open::message::Message;
use weir_workload::patterns;

/// One `[[workload]]`.
#[derive(Clone, Debug)]
pub struct WorkloadConfig {
    /// Its name in results; `workload0`, `workload1`, … by default. Unique.
    pub name: String,
    /// Endpoints that take part.
    pub endpoints: Endpoints,
    /// True if these endpoints may also belong to other workloads.
    pub shared: bool,
    /// True if it runs; if not it only keeps its endpoints.
    pub enabled: bool,
    /// Time of its first message.
    pub start: Duration,
    /// Source of its messages.
    pub drive: DriveConfig,
    /// The whole section, for errors about its keys.
    pub section: Section,
}

/// Source of a workload's messages.
#[derive(Clone, Debug)]
pub enum DriveConfig {
    /// Open-loop traffic of one pattern.
    Pattern(PatternConfig),
    /// An application.
    Motif(ApplicationConfig),
}

/// Open-loop traffic of one pattern.
#[derive(Clone, Debug)]
pub struct PatternConfig {
    /// Time when it stops; None: at the end of the run.
    pub stop: Option<Duration>,
    /// Payload that each sender generates, as a fraction of its link; more than 0, at most 1,000.
    pub load: f64,
    /// Sizes of messages; the shares of a mix sum up to 1.
    pub message: Message,
    /// Generation times of messages.
    pub injection: Injection,
    /// The section of the pattern: `pattern = { kind = "uniform", … }`.
    pub pattern: Chosen<patterns::Build>,
}

impl WorkloadConfig {
    /// Its claim to endpoints.
    pub fn party(&self) -> Party<'_> {
        Party {
            name: &self.name,
            endpoints: &self.endpoints,
            shared: self.shared,
            section: &self.section,
        }
    }

    /// The pattern, if it is open-loop traffic.
    pub fn pattern(&self) -> Option<&PatternConfig> {
        match &self.drive {
            DriveConfig::Pattern(pattern) => Some(pattern),
            DriveConfig::Motif(_) => None,
        }
    }

    /// The application, if it is one.
    pub fn job(&self) -> Option<&ApplicationConfig> {
        match &self.drive {
            DriveConfig::Pattern(_) => None,
            DriveConfig::Motif(job) => Some(job),
        }
    }
}

/// `[[workload]]` of a pattern as it is written.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct TrafficSection {
    /// Its name in results: letters, digits, `_` and `-`. `workload0`, `workload1`, … by default.
    #[serde(default)]
    pub name: Option<String>,
    /// Members: "all", "rest" (endpoints that no other workload names), "16..32" (16 to 31), a list
    /// in task order, { file = "hosts.txt" } (such a list, as text), names of nodes
    /// ("nid[0003-0010,0020]"), or { count, placement, seed }.
    #[serde(default = "all")]
    pub endpoints: Endpoints,
    /// True if these endpoints may also belong to other workloads.
    #[serde(default)]
    pub shared: bool,
    /// True if it runs. Otherwise it keeps its endpoints, so that the others stay where they are: a
    /// baseline. It is then not in the results.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[schemars(extend("default" = yes()))]
    pub enabled: bool,
    /// Number of copies, on different endpoints: `name-0`, `name-1`, … One, called `name`, by
    /// default.
    #[serde(default, skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `copies` a known key; it is read with the list"
    )]
    pub copies: Option<u32>,
    /// Time of its first message.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// Time of its end; the end of the run by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Payload that each sender generates, as a fraction of its link; more than 0, at most 1,000.
    pub load: f64,
    /// Size of the messages, or a list of { size, share }: shares of the volume.
    pub message: Message,
    /// Generation times of messages.
    #[serde(default = "bernoulli")]
    pub injection: Injection,
    /// Traffic pattern: { kind = "…", … }.
    #[serde(skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `pattern` a known key; it is read as a section"
    )]
    pub pattern: Elsewhere,
}

fn all() -> Endpoints {
    Endpoints::All
}

fn bernoulli() -> Injection {
    Injection::Bernoulli
}
