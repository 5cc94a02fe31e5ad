//! `gpcnet_incast`: GPCNeT's congestor two-sided incast, all tasks to the first.

use super::{Congestor, SOURCE};
use crate::motifs::Build;
use crate::motifs::incast::Incast;
use crate::tasks::Motif;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_incast",
    summary: "GPCNeT's congestor incast: all tasks send to the first, which receives from all.",
    source: SOURCE,
    examples: &["iterations = 2"],
    parameters: Keys::of::<Congestor>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let (iterations, bytes) = Congestor::read(section, tasks)?;
    Ok(Box::new(Incast {
        iterations,
        bytes,
        senders: tasks,
        target: 0,
        blocking: false,
        ordered: false,
        compute: 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::run;

    #[test]
    fn all_send_to_the_first() {
        let run = run("gpcnet_incast", "iterations = 3", 40);
        assert!(run.sent_by(0).is_empty());
        for task in 1..40 {
            assert_eq!(run.sent_by(task), vec![(0, 4_096, 0); 3]);
        }
    }
}
