//! Is an application waiting for ever?

use std::fmt::Write;

use super::error::RunError;
use crate::engine::{Agreement, Transport};
use crate::fabric::{FabricDomain, JobState};
use crate::model::{NEVER, Time};

/// So many waiting tasks are named.
const MOST: usize = 8;

/// Puts the states of all applications together on rank 0: one of which tasks are left while none of its messages is on
/// its way and none of its tasks waits for a time can never go on. All ranks get the verdict. `names` are those of the
/// workloads.
pub fn search_hang<const CC: bool, T: Transport + ?Sized>(
    domains: &[FabricDomain<CC>],
    names: &[&str],
    transport: &mut T,
    now: Time,
) -> Result<(), RunError> {
    let mut mine = vec![JobState::default(); names.len()];
    for domain in domains {
        for (sum, state) in mine.iter_mut().zip(domain.job_states()) {
            add(sum, state);
        }
    }
    let gathered = transport.gather(bytemuck::cast_slice(&mine).to_vec());
    let verdict = gathered.and_then(|ranks| hung(&ranks, names.len()));
    // The least of what every rank says: only rank 0 knows.
    let next = verdict.as_ref().map_or(NEVER, |&(job, _)| job as Time);
    let common = transport.agree(Agreement {
        next,
        ..Agreement::NEUTRAL
    });
    let Ok(job) = u16::try_from(common.next) else {
        return Ok(());
    };
    let mut lines = String::new();
    for domain in domains {
        for waiting in domain.waiting_tasks(job, MOST) {
            let _ = writeln!(lines, "{:010} {waiting}", waiting.task);
        }
    }
    let gathered = transport.gather(lines.into_bytes());
    let waiting = gathered.map_or(Vec::new(), |ranks| first_lines(&ranks));
    Err(RunError::Hung {
        simulated_ps: now,
        job: names.get(usize::from(job)).unwrap_or(&"?").to_string(),
        tasks: verdict.map_or(0, |(_, tasks)| tasks),
        waiting,
    })
}

fn add(sum: &mut JobState, state: &JobState) {
    sum.sent += state.sent;
    sum.received += state.received;
    sum.pending += state.pending;
    sum.unfinished += state.unfinished;
}

/// The first job that cannot go on, and how many of its tasks are left.
fn hung(ranks: &[Vec<u8>], jobs: usize) -> Option<(usize, u64)> {
    let mut sums = vec![JobState::default(); jobs];
    for bytes in ranks {
        let states = bytes.chunks_exact(size_of::<JobState>());
        for (sum, state) in sums.iter_mut().zip(states) {
            add(sum, &bytemuck::pod_read_unaligned(state));
        }
    }
    let stuck =
        |sum: &&JobState| sum.unfinished > 0 && sum.pending == 0 && sum.sent == sum.received;
    let job = sums.iter().position(|sum| stuck(&sum))?;
    Some((job, sums[job].unfinished))
}

/// The first tasks of all ranks, by their numbers.
fn first_lines(ranks: &[Vec<u8>]) -> Vec<String> {
    let texts = ranks.iter().map(|bytes| String::from_utf8_lossy(bytes));
    let mut lines: Vec<String> = texts
        .flat_map(|text| text.lines().map(str::to_string).collect::<Vec<_>>())
        .collect();
    lines.sort_unstable();
    lines.truncate(MOST);
    let plain = |line: String| match line.split_once(' ') {
        Some((_, rest)) => rest.to_string(),
        None => line,
    };
    lines.into_iter().map(plain).collect()
}
