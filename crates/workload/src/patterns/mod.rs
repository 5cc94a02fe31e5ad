//! Open-loop traffic patterns: the destinations of messages. One file per pattern.

use std::sync::Arc;

use weir_input::registry::Entry;
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Rng, Time};
use weir_network::topology::Topology;

mod groups;
mod partners;
mod tasks;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

mod bit_complement;
mod fixed_pairs;
mod hot_background;
mod hotspot;
mod neighbor_group;
pub(crate) mod permutation;
mod tornado;
mod transpose;
mod uniform;
mod wc_hot;
mod worst_case;
mod zipf;

/// The workload that a pattern is built for.
pub struct Members<'a> {
    /// The endpoints of the workload, in the order of its tasks (task i runs on `endpoints[i]`);
    /// none twice.
    pub endpoints: &'a [EndpointId],
    /// The network.
    pub topology: &'a Arc<dyn Topology>,
    /// Seed for choices made once (a random permutation, the sources of a hot spot): the run's seed
    /// mixed with the workload's name. Draw from `model::stream(seed, &[…])`.
    pub seed: u64,
    /// The load of its sources, as a fraction of their links.
    pub load: f64,
}

/// Destinations of messages.
///
/// A `source` is always a member of the workload. The destination must be a pure function of the
/// arguments, because all domains share a pattern.
pub trait Pattern: Send + Sync {
    /// False for a member that never sends under this pattern (the destinations of a hot spot).
    fn sends(&self, source: EndpointId) -> bool {
        let _ = source;
        true
    }
    /// The destination of the next message of `source`, generated at `now`. None: this message is
    /// not sent.
    fn destination(&self, source: EndpointId, now: Time, rng: &mut Rng) -> Option<EndpointId>;
    /// The endpoints that this pattern sends to, for the accepted load at the receiving end; None
    /// means all members.
    fn receivers(&self) -> Option<Vec<EndpointId>> {
        None
    }
}

/// Builds a pattern from its section for the members of a workload.
pub type Build = fn(&Section, &Members) -> Result<Box<dyn Pattern>, ConfigError>;

/// All patterns.
pub const REGISTRY: &[Entry<Build>] = &[
    uniform::ENTRY,
    hotspot::ENTRY,
    hot_background::ENTRY,
    permutation::ENTRY,
    bit_complement::ENTRY,
    transpose::ENTRY,
    tornado::ENTRY,
    worst_case::ENTRY,
    wc_hot::ENTRY,
    neighbor_group::ENTRY,
    fixed_pairs::ENTRY,
    zipf::ENTRY,
];

#[cfg(test)]
mod tests;
