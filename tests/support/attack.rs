//! Attacks by chance: how many, and with which numbers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// `default` attacks, or the number in the environment variable `WEIR_ATTACK_CASES`.
pub fn cases(default: u32) -> u32 {
    number("WEIR_ATTACK_CASES").map_or(default, |cases| cases as u32)
}

/// True if several attacks are asked for: then what is otherwise taken by turns is taken whole.
pub fn at_length() -> bool {
    cases(1) > 1
}

/// The time that the random cases of a test may take: some random experiments run a hundred times
/// as long as others. At length (`WEIR_ATTACK_CASES`) all cases run, however long they take.
pub struct Budget {
    began: OnceLock<Instant>,
    cases: AtomicU32,
}

impl Budget {
    /// Cases that run however long they take.
    const LEAST: u32 = 12;
    /// No case begins after this time.
    const TIME: Duration = Duration::from_secs(12);

    pub const fn new() -> Budget {
        Budget {
            began: OnceLock::new(),
            cases: AtomicU32::new(0),
        }
    }

    /// True if the next case is to run.
    pub fn allows(&self) -> bool {
        let began = self.began.get_or_init(Instant::now);
        let case = self.cases.fetch_add(1, Ordering::Relaxed);
        case < Self::LEAST || began.elapsed() < Self::TIME || number("WEIR_ATTACK_CASES").is_some()
    }
}

/// The seed of a test's random numbers, printed, so that `WEIR_ATTACK_SEED` repeats the test.
/// It is another one on every run at length (`WEIR_ATTACK_CASES`), and otherwise always the same,
/// so that a change is not delayed by errors that it did not cause.
pub fn seed() -> u64 {
    let seed = number("WEIR_ATTACK_SEED").unwrap_or_else(|| match number("WEIR_ATTACK_CASES") {
        Some(_) => {
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            time.expect("a clock").as_nanos() as u64
        }
        None => 1,
    });
    println!("WEIR_ATTACK_SEED={seed}");
    seed
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}
