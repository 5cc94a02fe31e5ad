//! Attacks by chance: how many, and with which numbers.

use std::time::SystemTime;

/// `default` attacks, or the number in the environment variable `WEIR_ATTACK_CASES`.
pub fn cases(default: u32) -> u32 {
    number("WEIR_ATTACK_CASES").map_or(default, |cases| cases as u32)
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
