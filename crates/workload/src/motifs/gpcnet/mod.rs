//! GPCNeT (Chunduri et al., SC19; its code, version 1.3): three network tests ("canaries") and four congestors that run beside them.
//!
//! Here each is an application of its own, so that all can be placed, started and compared like others. As the benchmark has it, a fifth of the
//! endpoints runs a test and the others, in four equal parts, the congestors; these are in the background (`background`), repeat themselves
//! (`repetitions`), and have made a pass before the tests begin (`start`). Of the tests, `output.iterations` records how long every task took for
//! every iteration: `latency.job.NAME.iteration`. The impact of congestion is the mean, or the 99th percentile, of that beside the congestors over
//! the same alone; the factors by which the benchmark turns it into a latency or a bandwidth are in both.
//!
//! One task stands for the one process of a node; further processes of a node would be further jobs on the same endpoints (`shared`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{at_least, bytes};
use weir_input::{ConfigError, Section, Size};

pub mod allreduce;
pub mod alltoall;
pub mod bw_sync;
pub mod get_broadcast;
pub mod incast;
mod one_sided;
pub mod put_incast;
pub mod ring;
mod rings;

/// Where all of them are from.
const SOURCE: &str = "GPCNeT (Chunduri et al., SC19), version 1.3";

/// What congestors move at once, bytes.
const BYTES: u64 = 4_096;

/// A congestor.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Congestor {
    /// Iterations of a pass. Default: 512 for up to 32 tasks, otherwise 16,384 over the number of
    /// tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    /// Each message.
    bytes: Size,
}

impl Default for Congestor {
    fn default() -> Self {
        Congestor {
            iterations: None,
            bytes: Size::Bits(8 * BYTES),
        }
    }
}

impl Congestor {
    /// The iterations of a pass, and the length of each message. There have to be two tasks.
    fn read(section: &Section, tasks: u32) -> Result<(u32, u64), ConfigError> {
        let params: Congestor = section.parse()?;
        at_least(section, tasks, 2)?;
        let usual = 512 * 32 / tasks.max(32);
        let bytes = bytes(section, "bytes", params.bytes)?;
        Ok((params.iterations.unwrap_or(usual.max(1)), bytes))
    }
}
