//! Shared parts of the fat-tree routings: up to a nearest common ancestor, then down the only path.
//!
//! Going up never follows going down, so the links can be put in an order that every route follows:
//! up links by level, then down links by level. One virtual channel is enough for freedom from
//! deadlock.
//!
//! All routings except `adaptive_flow`, which also takes horizontal links, are minimal; they differ
//! in their choice among the ways up. None is therefore called `minimal`.

pub mod adaptive_flow;
pub mod adaptive_up;
mod ascent;
pub mod dmodk;
pub mod random_up;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Routings;
use crate::topology::Topology;
use crate::topology::tree::Tree;
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

use ascent::Ascent;

/// Routings for fat trees.
pub const ROUTINGS: Routings = Routings {
    topologies: &["kary_ntree", "folded_clos", "xgft"],
    entries: &[
        dmodk::ENTRY,
        random_up::ENTRY,
        adaptive_up::ENTRY,
        adaptive_flow::ENTRY,
    ],
};

/// The parameters of a routing that has none.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// The virtual channels of every kind of link.
const VCS: u8 = 1;

/// The tree that `algorithm` is to route in, by ascent and descent; an error if the topology is
/// something else or there are parameters.
fn tree(
    section: &Section,
    topology: &Arc<dyn Topology>,
    algorithm: &str,
) -> Result<Ascent, ConfigError> {
    let NoParams {} = section.parse()?;
    tree_of(section, topology, algorithm).map(Ascent::new)
}

/// The same, whatever the parameters.
fn tree_of(
    section: &Section,
    topology: &Arc<dyn Topology>,
    algorithm: &str,
) -> Result<Tree, ConfigError> {
    topology.as_a::<Tree>().cloned().ok_or_else(|| {
        section.refuse(Invalid::new(
            "algorithm",
            format!(
                "{algorithm:?} routes in fat trees only, and this is a \
                     {}",
                topology.describe()
            ),
            "choose an algorithm that is made for this topology, or a topology of kind \
             \"folded_clos\", \"kary_ntree\" or \"xgft\"",
        ))
    })
}
