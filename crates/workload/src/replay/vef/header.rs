//! The lines before the records: numbers of records, and members of communicators.

use std::sync::Arc;

use super::super::{Coverage, task};
use crate::tasks::Peer;
use weir_model::LONGEST_MESSAGE;

/// An error and its remedy.
pub type Wrong = (String, String);

/// An integer.
pub fn number(word: &str) -> Result<u64, Wrong> {
    word.parse().map_err(|_| {
        let word: String = word.chars().take(40).collect();
        (
            format!("`{word}` is no number"),
            "write a whole number, 0 or more".into(),
        )
    })
}

/// Bytes of a message.
pub fn size(word: &str) -> Result<u64, Wrong> {
    match number(word)? {
        bytes if bytes <= LONGEST_MESSAGE / 8 => Ok(bytes),
        bytes => Err((
            format!("a message of {bytes} bytes is too long"),
            format!("at most {} are possible", LONGEST_MESSAGE / 8),
        )),
    }
}

/// The numbers of the first line.
pub struct Header {
    /// Tasks.
    pub tasks: u32,
    /// Messages.
    pub messages: u64,
    /// Communicators.
    pub communicators: u64,
    /// Collective operations, of all tasks and of some.
    pub collectives: u64,
}

/// Reads the first line.
pub fn header(text: &str, coverage: &mut Coverage) -> Result<Header, Wrong> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [
            name,
            tasks,
            messages,
            communicators,
            global,
            local,
            only_sends,
            more @ ..,
        ] if name.starts_with("VEF") => {
            let why = "newer headers have fields that are not known";
            coverage.ignored("fields of the header", more.len() as u64, 0, why);
            let why = "every record is carried out";
            coverage.ignored("marks of sends only", number(only_sends)?.min(1), 0, why);
            Ok(Header {
                tasks: u32::try_from(number(tasks)?).unwrap_or(u32::MAX),
                messages: number(messages)?,
                communicators: number(communicators)?,
                collectives: number(global)?.saturating_add(number(local)?),
            })
        }
        _ => Err((
            "this is no header of a VEF trace".into(),
            "it begins with `VEF3 tasks messages communicators global local onlySend`".into(),
        )),
    }
}

/// Reads the tasks of a communicator: `C0 0 1 2`.
pub fn communicator(text: &str, number_of: usize, tasks: u32) -> Result<Arc<[Peer]>, Wrong> {
    let mut words = text.split_whitespace();
    if words.next() != Some(format!("C{number_of}").as_str()) {
        return Err((
            format!("here should be the communicator C{number_of}"),
            "write its name and its tasks".into(),
        ));
    }
    let members: Vec<Peer> = words
        .map(|word| task(number(word)?, tasks))
        .collect::<Result<_, Wrong>>()?;
    let mut sorted = members.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != members.len() || members.is_empty() {
        return Err((
            format!("C{number_of} has no task, or one of them twice"),
            "name each of its tasks once".into(),
        ));
    }
    Ok(members.into())
}
