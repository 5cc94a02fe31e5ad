//! Number of threads of a rank.

use std::fs;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use crate::cli::process::failure::Failure;
use weir_engine::{Transport, TransportError, broadcast, gather};
use weir_simulation::host;

/// Threads of this rank: `asked`, or the processors that it may use. It shares these with the ranks
/// that may use the same ones.
///
/// # Errors
/// If a message between ranks does not come through.
pub fn of_this_rank(
    asked: Option<NonZeroUsize>,
    transport: &mut dyn Transport,
) -> Result<NonZeroUsize, Failure> {
    // All ranks ask, since some may have been given a number and some not.
    let sharing = sharing(transport);
    let sharing = sharing.map_err(|error| Failure::failed(format!("error: {error}")))?;
    let own = NonZeroUsize::new(processors().get() / sharing).unwrap_or(NonZeroUsize::MIN);
    Ok(asked.unwrap_or(own))
}

/// Processors that this process may use: those to which it is bound, and no more than Slurm has
/// given to its job on this host.
pub fn processors() -> NonZeroUsize {
    let own = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let given = std::env::var("SLURM_CPUS_ON_NODE");
    let given = given.ok().and_then(|number| number.parse().ok());
    given.map_or(own, |given: NonZeroUsize| own.min(given))
}

/// Number of ranks that may use the processors of this one, itself included.
fn sharing(transport: &mut dyn Transport) -> Result<usize, TransportError> {
    if transport.size() == 1 {
        return Ok(1);
    }
    let own = format!("{} {}", host(), allowed());
    let all = gather(transport, own.clone())?.unwrap_or_default();
    let all = broadcast(transport, &all)?;
    Ok(all.iter().filter(|one| **one == own).count().max(1))
}

/// The processors to which the launcher has bound this process, as Linux lists them.
fn allowed() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.unwrap_or_default().trim().to_string()
}
