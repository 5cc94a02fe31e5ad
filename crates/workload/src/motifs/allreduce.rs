//! `allreduce`: one allreduce after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Build;
use super::collective::Collectives;
use crate::tasks::Motif;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

/// Allreduces of all tasks, one after the other, with a computation before each.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Collectives<100, 8>);

pub const ENTRY: Entry<Build> = Entry {
    name: "allreduce",
    summary: "Allreduces of all tasks, one after the other.",
    source: "SWM (allreduce); SST Ember (Allreduce)",
    examples: &[r#"iterations = 3, bytes = "4 KiB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, _: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let Params(operations) = section.parse()?;
    operations.motif(section, |script, bytes| script.allreduce(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn thirty_two_tasks_a_hundred_times() {
        let run = run("allreduce", "", 32);
        // Recursive doubling: 5 partners each time.
        let once: Vec<u32> = vec![1, 2, 4, 8, 16];
        let to: Vec<u32> = run.sent_by(0).iter().map(|sent| sent.0).collect();
        assert_eq!(to, once.repeat(100));
        assert!(run.sent_by(31).iter().all(|sent| sent.1 == 8));
    }

    #[test]
    fn with_a_microsecond_before_each() {
        let ops = ops("allreduce", "iterations = 2\ncompute = \"1 us\"", 3, 32);
        let once = ["Compute=1000000", "Allreduce=8"];
        assert_eq!(words(&ops), once.repeat(2));
    }
}
