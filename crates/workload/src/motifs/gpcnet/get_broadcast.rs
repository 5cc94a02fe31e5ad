//! `gpcnet_get_broadcast`: GPCNeT's congestor of gets, all tasks out of the memory of the first.

use super::one_sided::OneSided;
use super::{Congestor, SOURCE};
use crate::motifs::Build;
use crate::tasks::Motif;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_get_broadcast",
    summary: "GPCNeT's congestor of gets: all tasks read from the first, which takes no part.",
    source: SOURCE,
    examples: &["iterations = 2"],
    parameters: Keys::of::<Congestor>(),
    build,
};

/// GPCNeT intends shorter passes with more tasks here, too, but by mistake assigns another
/// variable; this code does what is intended.
fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let (iterations, bytes) = Congestor::read(section, tasks)?;
    Ok(Box::new(OneSided {
        iterations,
        tasks,
        request: 0,
        reply: bytes,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::run;

    #[test]
    fn every_get_brings_its_bytes() {
        let run = run("gpcnet_get_broadcast", "iterations = 3", 40);
        for task in 1..40 {
            assert_eq!(run.sent_by(task), vec![(0, 0, 0); 3]);
        }
        assert_eq!(run.sent_by(0).len(), 3 * 39);
        assert!(run.sent_by(0).iter().all(|sent| sent.1 == 4_096));
    }
}
