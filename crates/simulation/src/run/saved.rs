//! The state of a run at the end of a window, from which it can continue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stall_detector::Watch;
use crate::error::RunError;
use weir_engine::Start;
use weir_fabric::{Fabric, Part, Parts};
use weir_model::codec::CodecError;
use weir_model::{DomainId, Time};

/// The domains of one rank, or of several that were put together, at the end of a window.
/// A run of the same experiment can continue from there on any number of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    pub(super) start: Start,
    pub(super) watch: Watch,
    domains: BTreeMap<DomainId, Vec<u8>>,
}

impl Saved {
    pub(super) fn of(
        start: Start,
        watch: Watch,
        parts: &[&mut dyn Part],
    ) -> Result<Saved, CodecError> {
        let each = parts.iter().map(|part| Ok((part.id(), part.save()?)));
        Ok(Saved {
            start,
            watch,
            domains: each.collect::<Result<_, _>>()?,
        })
    }

    /// Everything before this has been simulated, ps.
    pub fn until(&self) -> Time {
        self.start.until
    }

    /// Adds the domains of another rank, which saved its own at the same time.
    ///
    /// # Errors
    /// If they were saved at another time.
    pub fn join(&mut self, other: Saved) -> Result<(), CodecError> {
        if (self.start, self.watch) != (other.start, other.watch) {
            let (one, two) = (self.start.until, other.start.until);
            let reason = format!("states of {one} ps and of {two} ps do not go together");
            return Err(CodecError::new(reason));
        }
        self.domains.extend(other.domains);
        Ok(())
    }

    /// Loads the state into domains that have just been built.
    pub(super) fn load(&self, fabric: &mut Fabric) -> Result<(), RunError> {
        for part in fabric.parts() {
            let id = part.id();
            let bytes = self
                .domains
                .get(&id)
                .ok_or_else(|| CodecError::new(format!("the state of domain {id} is missing")))?;
            part.load(bytes)?;
        }
        Ok(())
    }
}
