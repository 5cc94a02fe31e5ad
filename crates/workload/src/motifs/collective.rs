//! The shared half of motifs that are one collective operation after another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bytes;
use crate::tasks::{Motif, Script};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// The parameters, with a default number of operations and of bytes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, bound = "")]
#[schemars(inline)]
pub(super) struct Collectives<const ITERATIONS: u32, const BYTES: u64> {
    /// Number of operations.
    pub iterations: u32,
    /// Bytes that each task contributes to an allreduce, or sends to each other in an alltoall.
    pub bytes: Size,
    /// Computation before each operation.
    pub compute: Duration,
}

impl<const ITERATIONS: u32, const BYTES: u64> Default for Collectives<ITERATIONS, BYTES> {
    fn default() -> Self {
        Collectives {
            iterations: ITERATIONS,
            bytes: Size::Bits(8 * BYTES),
            compute: Duration(0),
        }
    }
}

impl<const ITERATIONS: u32, const BYTES: u64> Collectives<ITERATIONS, BYTES> {
    /// The motif that does `operation` with that number of bytes.
    ///
    /// # Errors
    /// If `bytes` is not a whole number of bytes, or too large.
    pub fn motif(
        self,
        section: &Section,
        operation: fn(&mut Script, u64),
    ) -> Result<Box<dyn Motif>, ConfigError> {
        Ok(Box::new(Collective {
            iterations: self.iterations,
            bytes: bytes(section, "bytes", self.bytes)?,
            compute: self.compute.0,
            operation,
        }))
    }
}

struct Collective {
    iterations: u32,
    bytes: u64,
    compute: Time,
    operation: fn(&mut Script, u64),
}

impl Motif for Collective {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        script.compute(self.compute);
        (self.operation)(script, self.bytes);
        true
    }
}
