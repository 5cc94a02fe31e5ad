//! The place where a run begins.

use super::checkpoint::{self, CheckpointError, Forked, Manifest, Reached};
use super::means::Means;
use super::observer::Observer;
use crate::error::RunError;
use crate::machine::host;
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use weir_engine::{Transport, broadcast, gather};
use weir_fabric::{Fabric, Fork, Part, Parts};
use weir_model::Time;

/// The domains of this rank at the place where the run begins: from the newest checkpoint that all
/// ranks can load, from the state that it shares with others, or new.
pub(super) fn begin(
    plan: &Plan,
    means: Means,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<(Fabric, Reached), RunError> {
    let found = means.checkpoints.map_or(&[][..], |all| &all.found);
    match loaded(plan, means, found, None, transport)? {
        Ok(Some(Loaded {
            fabric,
            from,
            newer,
        })) => {
            observer.goes_on(from, &newer);
            only_up_to(Some(from.until()), means, transport)?;
            let mut from = from.reached;
            from.resumed += 1;
            return Ok((fabric, from));
        }
        Ok(None) => {}
        Err(error) if !means.checkpoints.is_some_and(|all| all.anew) => {
            return Err(RunError::Checkpoint(error));
        }
        Err(error) => {
            observer.starts_anew(&error);
            only_up_to(None, means, transport)?;
        }
    }
    if let Some(shared) = means.shared {
        let fork = plan.fork_at(shared.at);
        match loaded(plan, means, &shared.place.found, Some(&fork), transport)? {
            Ok(Some(Loaded {
                mut fabric, from, ..
            })) => {
                let from = from.reached;
                let forked = Some(forked(&fabric.parts(), shared.at, &from, transport)?);
                let from = Reached {
                    resumed: 0,
                    forked,
                    base: false,
                    ..from
                };
                return Ok((fabric, from));
            }
            Ok(None) => {}
            Err(error) => observer.is_alone(&error),
        }
    }
    let from = Reached {
        base: plan.fork.is_some(),
        ..Reached::default()
    };
    let plan = plan.before_fork(from.base);
    Ok((built(plan, means, transport), from))
}

/// Removes the checkpoints after the one from which the run goes on, or all: they cannot be used,
/// and would stand in the way of new ones.
fn only_up_to(
    until: Option<Time>,
    means: Means,
    transport: &mut dyn Transport,
) -> Result<(), RunError> {
    let removed = match means.checkpoints {
        Some(all) if transport.rank() == 0 => until
            .map_or_else(
                || checkpoint::remove(&all.dir),
                |until| checkpoint::remove_after(&all.dir, until),
            )
            .map_err(|error| format!("{}: {error}", all.dir.display())),
        _ => Ok(()),
    };
    checkpoint::agreed(removed, transport)?.map_err(RunError::Unreachable)
}

fn built(plan: &Plan, means: Means, transport: &dyn Transport) -> Fabric {
    let scheme = plan.scheme.as_ref();
    let threads = match plan.blueprint.schedule.interleaving {
        Some(_) => 1,
        None => means.threads(),
    };
    Fabric::new(&plan.blueprint, scheme, transport, threads)
}

/// Domains with the states of a checkpoint.
struct Loaded<'a> {
    fabric: Fabric,
    from: &'a Manifest,
    /// Reasons why newer ones cannot be loaded, the same on all ranks.
    newer: Vec<String>,
}

/// The reason why a rank cannot load a state.
#[derive(Serialize, Deserialize)]
struct Unusable {
    words: String,
    /// False if the files are out of reach and may be whole.
    is_damaged: bool,
}

impl Unusable {
    fn of(error: &CheckpointError, transport: &dyn Transport) -> Unusable {
        let place = match transport.size() {
            1 => String::new(),
            _ => format!("rank {} on {}: ", transport.rank(), host()),
        };
        Unusable {
            words: format!("{place}{error}"),
            is_damaged: !matches!(error, CheckpointError::Unreadable { .. }),
        }
    }
}

/// The first of some states that all ranks can load, if there are any. The inner error is that of
/// the last one, and the same on all ranks.
fn loaded<'a>(
    plan: &Plan,
    means: Means,
    found: &'a [Manifest],
    fork: Option<&Fork>,
    transport: &mut dyn Transport,
) -> Result<Result<Option<Loaded<'a>>, String>, RunError> {
    let mut newer = Vec::new();
    for from in found {
        // A checkpoint of the run before it forked is one of its base.
        let is_base = fork.is_none() && from.reached.base;
        let mut fabric = built(plan.before_fork(is_base), means, transport);
        let state = checkpoint::load(from, &mut fabric, fork);
        let state = state.map_err(|error| Unusable::of(&error, transport));
        match checkpoint::agreed(state, transport)? {
            Ok(()) => {
                return Ok(Ok(Some(Loaded {
                    fabric,
                    from,
                    newer,
                })));
            }
            // A shared state can be done without.
            Err(error) if error.is_damaged || fork.is_some() => newer.push(error.words),
            Err(error) => return Err(RunError::Unreachable(error.words)),
        }
    }
    Ok(newer.pop().map_or(Ok(None), Err))
}

/// The domains of this rank in the run after the fork, with the states of its base.
pub(super) fn forked_from(
    (plan, fork): (&Plan, &Fork),
    means: Means,
    states: &[Vec<u8>],
    transport: &mut dyn Transport,
) -> Result<Fabric, RunError> {
    let mut fabric = built(plan, means, transport);
    let mut parts = fabric.parts();
    let mut all = parts.iter_mut().zip(states);
    let loaded = all.try_for_each(|(part, bytes)| part.load(bytes, Some(fork)));
    let loaded = loaded.map_err(|error| error.to_string());
    checkpoint::agreed(loaded, transport)?.map_err(RunError::Fork)?;
    Ok(fabric)
}

/// The state from which a run has just been forked, the same on all ranks.
fn forked(
    parts: &[&mut dyn Part],
    at: Time,
    from: &Reached,
    transport: &mut dyn Transport,
) -> Result<Forked, RunError> {
    // Dropped packets count as moved.
    let hops = |part: &&mut dyn Part| part.moved() - part.stats().tally.dropped();
    let here: u64 = parts.iter().map(hops).sum();
    let all = gather(transport, here)?;
    let packet_hops = broadcast(transport, &all.map_or(0, |all| all.iter().sum()))?;
    Ok(Forked {
        at,
        packet_hops,
        wall_seconds: from.wall_seconds,
    })
}
