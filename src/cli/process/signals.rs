//! Signals that ask for the end: Ctrl-C, SIGTERM, SIGHUP, SIGUSR1.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::cli::process::console;
use weir_engine::StopReason;
use weir_model::program::exit::FAILED;

/// Meaning of the signals for a run.
const ALL: [(i32, StopReason); 4] = [
    (SIGINT, StopReason::Interrupted),
    (SIGTERM, StopReason::Terminated),
    (SIGHUP, StopReason::HungUp),
    (SIGUSR1, StopReason::Announced),
];

/// Signals that follow each other within this time are one: `timeout` and some MPI launchers send
/// theirs twice.
const ONE: Duration = Duration::from_millis(500);

/// Calls `heed` on a separate thread for each of these signals from now on.
///
/// Signals that were already ignored when this program was started (`nohup`) stay ignored.
///
/// # Errors
/// If the operating system has no more threads or files.
pub fn on_signals(mut heed: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    let ignored = ignored();
    let heeded = ALL.map(|(signal, _)| signal).into_iter();
    let mut signals = Signals::new(heeded.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    let work = move || signals.forever().for_each(&mut heed);
    thread::Builder::new().name("signals".into()).spawn(work)?;
    Ok(())
}

/// The signals that this process ignores, one bit each; none if the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// True if a run is asked to end.
pub struct Asked {
    /// 0, or 1 more than the place in the list.
    by: Arc<AtomicUsize>,
}

impl Asked {
    /// Listens from now on. The first signal asks for the end in good order; the second one ends
    /// the process at once.
    ///
    /// # Errors
    /// As for [`on_signals`].
    pub fn listen(tell: bool) -> io::Result<Asked> {
        let by = Arc::new(AtomicUsize::new(0));
        let asked = Asked {
            by: Arc::clone(&by),
        };
        let mut first: Option<Instant> = None;
        on_signals(move |signal| match first {
            None => {
                first = Some(Instant::now());
                let place = ALL.iter().position(|(own, _)| *own == signal);
                let Some((place, (_, reason))) = place.map(|place| (place, ALL[place])) else {
                    return;
                };
                by.store(place + 1, Ordering::Relaxed);
                if tell {
                    let name = reason.name();
                    console::tell(format!(
                        "{name}: ending the run, with a result as far as it went; once more ends \
                         it without"
                    ));
                }
            }
            Some(then) if then.elapsed() < ONE => {}
            Some(_) => {
                // Fails for no signal of the list.
                let _ = emulate_default_handler(signal);
            }
        })?;
        Ok(asked)
    }

    /// The reason to end now, if there is one.
    pub fn reason(&self) -> Option<StopReason> {
        let place = self.by.load(Ordering::Relaxed).checked_sub(1)?;
        ALL.get(place).map(|(_, reason)| *reason)
    }
}

/// The exit code of a run that was stopped: 128 and the number of the signal, as a shell has it.
pub fn exit_code(stopped: StopReason) -> u8 {
    let signal = ALL.iter().find(|(_, reason)| *reason == stopped);
    signal.map_or(FAILED, |(signal, _)| 128 + *signal as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_shell() {
        let codes = StopReason::ALL.map(|reason| (reason.name(), exit_code(reason)));
        let expected = [
            ("max_wall", 1),
            ("SIGINT", 130),
            ("SIGTERM", 143),
            ("SIGHUP", 129),
            ("SIGUSR1", 138),
            ("max_memory", 1),
        ];
        assert_eq!(codes, expected);
    }
}
