//! The state that a run shares with others until a time.

use std::fs;
use std::path::Path;

use crate::cli::args::RunOptions;
use crate::cli::process::console::tell;
use crate::cli::process::failure::Failure;
use crate::cli::process::launch::{give_up, together};
use crate::cli::process::program;
use weir_engine::{Transport, broadcast};
use weir_model::Time;
use weir_result::{Lock, Taken};
use weir_simulation::Plan;
use weir_simulation::checkpoint::{self, Checkpoints, Identity, Manifest};
use weir_simulation::config::Experiment;
use weir_simulation::fork::{self, LOCK, Shared};

/// The state that a run shares with others, on all ranks, if the options name one; on rank 0 also
/// the lock of the run that writes it. The error is the exit code; its message has been printed.
pub fn find(
    options: &RunOptions,
    experiment: &Experiment,
    plan: &Plan,
    transport: &mut dyn Transport,
) -> Result<Option<(Shared, Option<Lock>)>, u8> {
    let (Some(dir), Some(at)) = (&options.share_state, options.share_at) else {
        return Ok(None);
    };
    let found = match transport.rank() {
        0 => find_in(dir, at.0, experiment, plan).map(Some),
        _ => Ok(None),
    };
    let (shared, lock) = together(transport, found)?.unzip();
    let shared = broadcast(transport, &shared)
        .map_err(|error| give_up(transport, &Failure::failed(format!("error: {error}"))))?;
    Ok(shared.map(|shared| (shared, lock.flatten())))
}

fn find_in(
    dir: &Path,
    at: Time,
    experiment: &Experiment,
    plan: &Plan,
) -> Result<(Shared, Option<Lock>), Failure> {
    let prefix = fork::prefix(experiment, plan, at).ok_or_else(|| {
        Failure::bad_input(
            "error: --share-at: no workload starts before, or the run ends before\n  help: give a \
             time between the first message and run.until",
        )
    })?;
    let failed = |error| Failure::failed(format!("error: {}: {error}", dir.display()));
    let identity = fork::identity(program::build(), prefix);
    let dir = &std::path::absolute(dir).map_err(failed)?;
    fs::create_dir_all(dir).map_err(failed)?;
    let mut lock = None;
    let mut found = usable(dir, &identity);
    if found.is_empty() {
        lock = match Lock::take(&dir.join(LOCK)).map_err(failed)? {
            Taken::Locked(lock) | Taken::Unlocked(lock, _) => Some(lock),
            Taken::Held(_) => None,
        };
        // The run that had it may just have written the state.
        found = usable(dir, &identity);
    }
    if !found.is_empty() {
        lock = None;
    } else if lock.is_some() {
        checkpoint::remove(dir).map_err(failed)?;
    }
    let place = Checkpoints {
        dir: dir.clone(),
        identity,
        found,
        anew: true,
    };
    let saves = lock.is_some();
    Ok((Shared { place, at, saves }, lock))
}

/// The states in a directory that are of these runs and whole, as far as their manifests tell.
fn usable(dir: &Path, identity: &Identity) -> Vec<Manifest> {
    match checkpoint::find(dir, identity) {
        Ok(found) => found.usable,
        Err(error) => {
            tell(format!("warning: {error}"));
            Vec::new()
        }
    }
}
