//! `[nodes]`: hosts with several endpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use weir_input::{Duration, Rate};

/// `[nodes]`: hosts with several endpoints (NICs), all alike. Without it every endpoint is a node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodesConfig {
    /// Endpoints (NICs) of a node.
    pub nics: u32,
    /// Distance between the numbers of the endpoints of a node. 1: they follow one another. The
    /// number of endpoints of a leaf switch: each is at another leaf, as in a rail-optimised tree;
    /// the endpoints of the same number of all nodes are a rail.
    #[serde(default = "next")]
    pub stride: u32,
    /// Their names, in the order of their numbers, as Slurm writes them: "nid[0001-1024]". A
    /// workload can name its nodes then: `endpoints = "nid[0003-0010]"`. Default: the
    /// names of endpoints in a graph's table, if a node is one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<String>,
    /// The network inside a node. Messages of applications between two tasks on the same node take
    /// it, and enter neither NIC nor switch. Without it they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<InsideConfig>,
}

/// `nodes.inside`: a message leaves when those before it have left, at this bandwidth, and arrives
/// a latency later.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsideConfig {
    /// Bandwidth at which an endpoint sends to others of its node.
    pub bandwidth: Rate,
    /// Time from the end of sending to the arrival.
    pub latency: Duration,
    /// True if the endpoints of a node share the bandwidth: one message at a time.
    #[serde(default)]
    pub shared: bool,
}

fn next() -> u32 {
    1
}
