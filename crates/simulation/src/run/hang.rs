//! Is an application waiting for ever?

use crate::error::RunError;
use weir_engine::{Transport, gather};
use weir_fabric::{JobState, Part};
use weir_model::Time;
use weir_workload::tasks::Obstacle;

/// Number of waiting tasks that are named.
const MOST: usize = 8;

/// Adds the states of all applications up over the ranks: an application can never continue if it
/// has tasks left while none of its messages is on its way and none of its tasks waits for a time.
/// `names` are those of the workloads.
pub fn search_hang(
    parts: &[&mut dyn Part],
    names: &[&str],
    transport: &mut dyn Transport,
    now: Time,
) -> Result<(), RunError> {
    let mut mine = vec![JobState::default(); names.len()];
    for part in parts {
        for (sum, state) in mine.iter_mut().zip(part.job_states()) {
            add(sum, state);
        }
    }
    transport.sum(bytemuck::cast_slice_mut(&mut mine))?;
    let Some((job, tasks)) = hung(&mine) else {
        return Ok(());
    };
    let waiting = parts.iter();
    let waiting = waiting.flat_map(|part| part.waiting_tasks(job, MOST));
    let long = |one: &Obstacle| matches!(one, Obstacle::Receive { .. });
    let waiting: Vec<(u32, String, bool)> = waiting
        .map(|waiting| {
            let long = waiting.obstacles.iter().any(long);
            (waiting.task, waiting.to_string(), long)
        })
        .collect();
    let mut waiting = gather(transport, waiting)?.unwrap_or_default().concat();
    waiting.sort_unstable();
    waiting.truncate(MOST);
    Err(RunError::Hung {
        simulated_ps: now,
        job: names.get(usize::from(job)).unwrap_or(&"?").to_string(),
        tasks,
        rendezvous: waiting.iter().any(|(_, _, long)| *long),
        waiting: waiting.into_iter().map(|(_, what, _)| what).collect(),
    })
}

fn add(sum: &mut JobState, state: &JobState) {
    sum.sent += state.sent;
    sum.received += state.received;
    sum.pending += state.pending;
    sum.unfinished += state.unfinished;
}

/// The first job that cannot continue, and the number of its remaining tasks.
fn hung(sums: &[JobState]) -> Option<(u16, u64)> {
    let stuck = |sum: &JobState| sum.unfinished > 0 && sum.pending == 0 && sum.sent == sum.received;
    let job = sums.iter().position(stuck)?;
    // No experiment has more jobs than that.
    Some((job as u16, sums[job].unfinished))
}
