//! Shared parts of the tests of motifs.

use super::{REGISTRY, check_counts};
use crate::tasks::ideal::{self, Ideal};
use crate::tasks::{Motif, MpiPreset, Op, Peer, Protocol};

pub use crate::tasks::ideal::words;
use weir_input::registry::choose;
use weir_input::{ConfigError, Section};

/// The motif that a section chooses.
pub fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    check_counts(section)?;
    (choose(section, REGISTRY)?.build)(section, tasks)
}

/// A motif with these parameters.
pub fn motif(kind: &str, parameters: &str, tasks: u32) -> Box<dyn Motif> {
    let text = format!("kind = \"{kind}\"\n{parameters}");
    let section = Section::from_toml(&text).expect("TOML");
    let built = build(&section, tasks);
    let mut motif = built.unwrap_or_else(|error| panic!("{}", error.render(false)));
    motif.draw(0);
    motif
}

/// The text of the error with which it is refused.
pub fn refusal(kind: &str, parameters: &str, tasks: u32) -> String {
    let text = format!("kind = \"{kind}\"\n{parameters}");
    let section = Section::from_toml(&text).expect("TOML");
    let Err(error) = build(&section, tasks) else {
        panic!("{parameters:?} should be refused");
    };
    let words = error.render(false);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All tasks of a motif on the ideal network: all finish and nothing is left over.
pub fn run(kind: &str, parameters: &str, tasks: u32) -> Ideal {
    Ideal::new(ideal::job(motif(kind, parameters, tasks), tasks)).finish()
}

/// The same, with each message held back until its receive.
pub fn run_by_rendezvous(kind: &str, parameters: &str, tasks: u32) -> Ideal {
    let protocol = Protocol {
        rendezvous_from: 1,
        ..MpiPreset::Plain.protocol()
    };
    let job = ideal::job(motif(kind, parameters, tasks), tasks);
    Ideal::new(job).with(protocol).finish()
}

/// The program of a task.
pub fn ops(kind: &str, parameters: &str, task: Peer, tasks: u32) -> Vec<Op> {
    ideal::ops(motif(kind, parameters, tasks).as_ref(), task, tasks)
}
