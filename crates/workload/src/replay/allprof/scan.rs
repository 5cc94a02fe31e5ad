//! First pass over the file of a process: creations of communicators, and their first uses.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::super::input::{Fault, Lines};
use super::arguments::{Arguments, Communicator, number};
use super::names;

/// An event with information about the members of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its line.
    pub line: u64,
    /// Its kind.
    pub what: What,
}

/// Kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// First use of a handle, or first use since some communicator was freed.
    Used(Communicator),
    /// A communicator is made from another one; with the address of the variable that holds it.
    Made(Communicator, How, String),
    /// The communicator in the variable at this address is freed.
    Freed(String),
}

/// Ways of making a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// From the same processes.
    Copy,
    /// From the processes with the same color, in the order of their keys. With a negative color
    /// the process gets none.
    Split {
        /// Color.
        color: i64,
        /// Key.
        key: i64,
    },
    /// In a way that a trace does not record.
    Unknown,
}

/// All events of a file. Lines that are not calls, or not complete, are left to the reader of
/// calls.
///
/// # Errors
/// If the file cannot be read.
pub fn scan(path: &Path) -> Result<Vec<Event>, Fault> {
    let mut lines = Lines::open(path)?;
    let mut events = Vec::new();
    let mut known: FxHashMap<String, (u64, u64)> = FxHashMap::default();
    while lines.advance()? {
        let line = lines.number();
        let fields: Vec<&str> = lines.text()?.trim().split(':').map(str::trim).collect();
        let [name, _begin, arguments @ .., _end] = fields.as_slice() else {
            continue;
        };
        let arguments = Arguments { fields: arguments };
        let (made, of) = match made(name, &arguments) {
            Some((how, of, address)) => (Some((how, address)), Some(of)),
            None => (None, names::communicator(name, arguments.fields.len())),
        };
        let Some(used) = of.and_then(|at| arguments.communicator(at).ok()) else {
            if *name == "MPI_Comm_free"
                && let Ok(address) = arguments.at(0)
            {
                known.clear();
                let what = What::Freed(address.to_string());
                events.push(Event { line, what });
            }
            continue;
        };
        if known.get(&used.handle) != Some(&(used.rank, used.size)) {
            known.insert(used.handle.clone(), (used.rank, used.size));
            let what = What::Used(used.clone());
            events.push(Event { line, what });
        }
        if let Some((how, address)) = made {
            let what = What::Made(used, how, address);
            events.push(Event { line, what });
        }
    }
    Ok(events)
}

/// The way in which a call makes a communicator, the position of the one that it is made from, and
/// the address of the new one.
fn made(name: &str, arguments: &Arguments) -> Option<(How, usize, String)> {
    let address = |at: usize| arguments.at(at).ok().map(str::to_string);
    Some(match name {
        "MPI_Comm_split" => {
            let (color, key) = (
                number(arguments.at(1).ok()?).ok()?,
                number(arguments.at(2).ok()?).ok()?,
            );
            (How::Split { color, key }, 0, address(3)?)
        }
        "MPI_Comm_dup" | "MPI_Comm_idup" => (How::Copy, 0, address(1)?),
        "MPI_Comm_dup_with_info" => (How::Copy, 0, address(2)?),
        // The trace does not record its processes.
        name if names::MAKERS.contains(&name) => (How::Unknown, 0, String::new()),
        _ => return None,
    })
}
