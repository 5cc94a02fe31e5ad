//! Ends a run in which a rank waits for another one that does not come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::process::console::tell;
use weir_model::Time;
use weir_model::program::exit::FAILED;
use weir_mpi::{Waits, Whom, abort_all};
use weir_report::format::simulated;

/// Time between two looks, at most.
const TICK: Duration = Duration::from_secs(1);

/// The ranks give up one after the other: the first speaks for all and has ended the next by then,
/// on a busy machine, too.
const LATER: Duration = Duration::from_secs(3);

/// Looks at the waits of this rank from now on. After a wait of `patience` all ranks are ended.
/// `reached` is the simulated time that the run has reached, ps.
pub fn start(waits: Arc<Waits>, rank: u32, patience: Duration, reached: &'static AtomicU64) {
    let patience = patience.saturating_add(LATER.saturating_mul(rank));
    let work = move || {
        let tick = TICK.min(patience / 10);
        let (mut seen, mut waited, mut looked) = (None, Duration::ZERO, Instant::now());
        loop {
            thread::sleep(tick);
            // A late look: this process was stopped, as all of a suspended job.
            waited += looked.elapsed().min(2 * tick);
            looked = Instant::now();
            let now = waits.now();
            if now != seen {
                (seen, waited) = (now, Duration::ZERO);
            } else if let Some((_, whom)) = now
                && waited >= patience
            {
                give_up(rank, whom, waited, reached.load(Ordering::Relaxed));
            }
        }
    };
    // Without another thread the run is as good, and unwatched.
    let _ = thread::Builder::new().name("watchdog".into()).spawn(work);
}

fn give_up(rank: u32, whom: Whom, waited: Duration, reached: Time) -> ! {
    let others = match whom {
        Whom::All => "the other ranks".to_string(),
        Whom::One(other) => format!("rank {other}"),
    };
    let at = simulated(reached);
    tell(format!(
        "error: rank {rank} has waited for {others} for {} s, after {at} of simulated time\n  \
         help: a rank hangs there, or one that it waits for in turn, or a host does not answer; \
         checkpoints stay. If a rank is only slow, give --max-wait more time",
        waited.as_secs()
    ));
    abort_all(i32::from(FAILED))
}
