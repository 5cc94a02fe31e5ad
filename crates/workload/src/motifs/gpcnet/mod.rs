//! GPCNeT (Chunduri et al., SC19; its code, version 1.3): three network tests ("canaries") and four
//! congestors that run beside them.
//!
//! Each test and each congestor is a separate application here, so that all can be placed, started
//! and compared like others. As in the benchmark, a fifth of the endpoints runs a test and the
//! others, in four equal parts, the congestors. The congestors are in the background
//! (`background`), repeat themselves (`repetitions`), and have made a pass before the tests begin
//! (`start`). For the tests, `output.iterations` records the time of every task for every
//! iteration: `latency.job.NAME.iteration`. The impact of congestion is the mean, or the 99th
//! percentile, of that time beside the congestors, divided by the same without them. The
//! benchmark's factors for converting it to a latency or a bandwidth cancel out.
//!
//! One task stands for one process per node; further processes of a node would be further jobs on
//! the same endpoints (`shared`).

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

/// Source of all of them.
const SOURCE: &str = "GPCNeT (Chunduri et al., SC19), version 1.3";

/// Message size of the congestors, bytes.
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
    /// The iterations of a pass, and the length of each message. At least two tasks are required.
    fn read(section: &Section, tasks: u32) -> Result<(u32, u64), ConfigError> {
        let params: Congestor = section.parse()?;
        at_least(section, tasks, 2)?;
        let usual = 512 * 32 / tasks.max(32);
        let bytes = bytes(section, "bytes", params.bytes)?;
        Ok((params.iterations.unwrap_or(usual.max(1)), bytes))
    }
}
