//! `alltoall`: one alltoall after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Build;
use super::collective::Collectives;
use crate::tasks::Motif;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

/// Alltoalls of all tasks, one after the other, with a computation before each.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Collectives<1, 1>);

pub const ENTRY: Entry<Build> = Entry {
    name: "alltoall",
    summary: "Alltoalls of all tasks, one after the other.",
    source: "SST Ember (Alltoall)",
    examples: &[r#"bytes = "1 KiB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, _: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let Params(operations) = section.parse()?;
    operations.motif(section, |script, bytes| script.alltoall(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{motif, run};
    use crate::tasks::Algorithms;
    use crate::tasks::ideal::{Ideal, job};

    #[test]
    fn everybody_sends_to_everybody() {
        let run = run("alltoall", "bytes = \"1 KiB\"\niterations = 2", 6);
        for task in 0..6 {
            let mut to: Vec<(u32, u64)> = run.sent_by(task).iter().map(|s| (s.0, s.1)).collect();
            to.sort_unstable();
            let others = (0..6).filter(|&other| other != task);
            let expected: Vec<(u32, u64)> = others.flat_map(|to| [(to, 1_024); 2]).collect();
            assert_eq!(to, expected);
        }
    }

    #[test]
    fn firefly_shifts_around_a_ring() {
        let mut job = job(motif("alltoall", "", 5), 5);
        job.algorithms = Algorithms::EMBER;
        let run = Ideal::new(job).finish();
        let to: Vec<u32> = run.sent_by(3).iter().map(|sent| sent.0).collect();
        assert_eq!(to, [4, 0, 1, 2]);
    }
}
