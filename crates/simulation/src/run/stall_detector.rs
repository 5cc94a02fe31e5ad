//! Looks after a run from outside: does anything still move?

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weir_fabric::{Part, Parts, Traffic, Wait, find_deadlock};

use super::hang::search_hang;
use crate::RunError;
use weir_engine::{Progress, Transport, broadcast, gather};
use weir_model::{NEVER, Time};

/// Windows between two searches for a deadlock while other packets still move, at least …
const PERIOD: u64 = 512;
/// … and this share of all windows so far: an eighth.
/// A search examines every waiting packet, which in a congested network takes as long as hundreds
/// of windows.
const SHARE: u64 = 8;

/// State of a detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The end of the last window in which a packet moved, ps.
    last_move: Time,
    /// Number of windows at the last search.
    searched: u64,
}

/// Decides when to search for a deadlock. Sees the same facts on all ranks, so that all search
/// together.
pub struct StallDetector {
    watch: Watch,
    /// Time without a move after which a search is worth while: longer than anything is under way,
    /// ps.
    quiet_limit: Time,
    traffic: Arc<Vec<Traffic>>,
}

impl StallDetector {
    /// A detector for a network where nothing is under way for longer than `quiet_limit` ps.
    pub fn new(watch: Watch, quiet_limit: Time, traffic: Arc<Vec<Traffic>>) -> Self {
        StallDetector {
            watch,
            quiet_limit,
            traffic,
        }
    }

    /// The state of the detector.
    pub fn watch(&self) -> Watch {
        self.watch
    }

    /// Looks at the run after a window.
    pub fn look(
        &mut self,
        parts: &mut dyn Parts,
        transport: &mut dyn Transport,
        progress: Progress,
    ) -> Result<(), RunError> {
        if progress.at.moved {
            self.watch.last_move = progress.at.until;
        }
        let quiet = progress.at.until - self.watch.last_move > self.quiet_limit;
        if quiet {
            self.watch.last_move = progress.at.until;
        }
        let since = progress.at.windows - self.watch.searched;
        if quiet || progress.next == NEVER || since >= PERIOD.max(progress.at.windows / SHARE) {
            self.watch.searched = progress.at.windows;
            let parts = parts.parts();
            search(&parts, transport, progress.at.until)?;
            self.search_hang(&parts, transport, progress.at.until)?;
        }
        Ok(())
    }

    /// Looks for an application that waits for ever, if there is any application.
    pub fn search_hang(
        &self,
        parts: &[&mut dyn Part],
        transport: &mut dyn Transport,
        now: Time,
    ) -> Result<(), RunError> {
        if !self.traffic.iter().any(|one| one.application().is_some()) {
            return Ok(());
        }
        let names: Vec<&str> = self.traffic.iter().map(|one| one.name.as_str()).collect();
        search_hang(parts, &names, transport, now)
    }
}

/// Puts the blocked places of all domains together on rank 0 and looks for a deadlock; all ranks
/// get the verdict.
pub fn search(
    parts: &[&mut dyn Part],
    transport: &mut dyn Transport,
    now: Time,
) -> Result<(), RunError> {
    let waits: Vec<Wait> = parts.iter().flat_map(|part| part.waits()).collect();
    let gathered = gather(transport, waits)?;
    let found = gathered.and_then(|ranks| find_deadlock(&ranks.concat()));
    match broadcast(transport, &found)? {
        None => Ok(()),
        Some(deadlock) => Err(RunError::Deadlocked {
            simulated_ps: now,
            deadlock,
        }),
    }
}
