//! `gpcnet_put_incast`: GPCNeT's congestor of puts, all tasks into the memory of the first.

use super::one_sided::OneSided;
use super::{Congestor, SOURCE};
use crate::motifs::Build;
use crate::tasks::Motif;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_put_incast",
    summary: "GPCNeT's congestor of puts: all tasks write to the first, which takes no part.",
    source: SOURCE,
    examples: &["iterations = 2"],
    parameters: Keys::of::<Congestor>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let (iterations, bytes) = Congestor::read(section, tasks)?;
    Ok(Box::new(OneSided {
        iterations,
        tasks,
        request: bytes,
        reply: 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::run;

    #[test]
    fn every_put_is_answered_by_nothing_but_a_header() {
        let run = run("gpcnet_put_incast", "iterations = 3", 40);
        for task in 1..40 {
            assert_eq!(run.sent_by(task), vec![(0, 4_096, 0); 3]);
        }
        assert_eq!(run.sent_by(0).len(), 3 * 39);
        assert!(run.sent_by(0).iter().all(|sent| sent.1 == 0));
    }
}
