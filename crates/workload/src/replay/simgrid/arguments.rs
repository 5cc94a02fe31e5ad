//! The arguments of an action.

use std::sync::Arc;

use super::super::graph::ANY;
use super::super::mpi::{length, shown};
use super::super::operations::Wrong;
use super::super::signed_task;

/// A process.
pub type Task = u32;

/// Bytes of the predefined data types by their numbers, in the order in which SimGrid registers
/// them (on 64-bit Linux).
const TYPES: [u64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1,
    1, // double, int, char, short, long, float, byte, long long, signed and unsigned char
    2, 4, 8, 8, 16, 4, 1, 1, 2,
    4, // unsigned short, int, long, long long; long double, wchar, bool, int8, int16, int32
    8, 1, 2, 4, 8, 8, 16, 32, 8,
    8, // int64, uint8 to uint64; complex float, double, long double; aint, offset
    8, 16, 16, 8, 8, 8, 16, 16, 4,
    4, // pairs with an int; 2int, 2float, 2double, 2long; real, real4
    8, 16, 8, 16, 16, 4, 2, 4, 8,
    16, // real8, real16, complex8 to complex32, integer1 to integer16
    32, 1, 8, 16, 32, 0, 0, 1, 8,
    8, // long double int; C++ types; bounds, packed, pointer, count
];

/// MPI_ANY_SOURCE of SimGrid, -1 in old versions.
pub const ANY_SOURCE: [i64; 2] = [-555, -1];
/// MPI_ANY_TAG, likewise.
pub const ANY_TAG: [i64; 2] = [-444, -1];
/// MPI_PROC_NULL.
const NOBODY: i64 = -666;

/// The other end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// A process.
    One(Task),
    /// Any process.
    Any,
    /// No process: there is no message.
    Nobody,
}

/// An action's arguments.
pub struct One<'a> {
    /// The process of the action.
    pub task: Task,
    /// The line of the action.
    pub line: u64,
    /// The arguments.
    pub words: &'a [&'a str],
    /// Bytes of an unnamed type.
    pub default: u64,
    /// The number of processes.
    pub tasks: u32,
}

/// An error and its remedy.
pub fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Wrong {
    (what.into(), remedy.into())
}

impl One<'_> {
    /// Refuses other numbers of arguments.
    pub fn arguments(&self, least: usize, most: usize) -> Result<(), Wrong> {
        let count = self.words.len();
        match (least..=most).contains(&count) {
            true => Ok(()),
            false => Err(wrong(
                format!("{count} arguments"),
                match least == most {
                    true => format!("this action has {least}"),
                    false => format!("this action has {least} to {most}"),
                },
            )),
        }
    }

    fn word(&self, at: usize) -> Result<&str, Wrong> {
        let word = self.words.get(at);
        word.copied()
            .ok_or_else(|| wrong("the line ends too early", "write all arguments"))
    }

    /// A number, which may be negative and have a fraction.
    pub fn number(&self, at: usize) -> Result<f64, Wrong> {
        let word = self.word(at)?;
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| wrong(format!("{} is no number", shown(word)), "write a number"))
    }

    /// An integer, which may be negative.
    pub fn integer(&self, at: usize) -> Result<i64, Wrong> {
        let word = self.word(at)?;
        word.parse().map_err(|_| {
            wrong(
                format!("{} is no whole number", shown(word)),
                "write a whole number",
            )
        })
    }

    /// Bytes of the type given by an argument, or of the default one.
    pub fn size_of(&self, at: usize) -> Result<u64, Wrong> {
        if at >= self.words.len() {
            return Ok(self.default);
        }
        let kind = usize::try_from(self.integer(at)?).ok();
        let size = kind.and_then(|kind| TYPES.get(kind));
        size.copied().ok_or_else(|| {
            wrong(
                format!("there is no type {}", shown(self.words[at])),
                format!("write 0 to {}", TYPES.len() - 1),
            )
        })
    }

    /// True if the arguments from this one on begin with a type. One or two types, displacements
    /// of all processes, or both may follow.
    pub fn is_typed(&self, at: usize) -> bool {
        let more = self.words.len().saturating_sub(at);
        matches!(more, 1 | 2) || more > self.tasks as usize
    }

    /// Bytes of the number of elements given by an argument.
    pub fn bytes(&self, at: usize, size: u64) -> Result<u64, Wrong> {
        let count = self.number(at)?;
        if count < 0.0 {
            return Err(wrong(format!("{count} elements"), "write 0 or more"));
        }
        length((count * size as f64).round() as u128)
    }

    /// Bytes for each process.
    pub fn sizes(&self, from: usize, size: u64) -> Result<Arc<[u64]>, Wrong> {
        let places = from..from + self.tasks as usize;
        places.map(|at| self.bytes(at, size)).collect()
    }

    /// Bytes of a part of a gather or scatter (two counts, the root, the types of the counts): by
    /// one count at the root and the other elsewhere. With MPI_IN_PLACE the root's other one is 0.
    pub fn part(&self, [at_root, elsewhere]: [usize; 2]) -> Result<u64, Wrong> {
        let at = match self.root(2)? == self.task {
            true => at_root,
            false => elsewhere,
        };
        self.bytes(at, self.size_of(at + 3)?)
    }

    /// Sizes of all processes, if this is the root.
    pub fn at_root(&self, root: u32, from: usize, size: u64) -> Result<Option<Arc<[u64]>>, Wrong> {
        match root == self.task {
            true => Ok(Some(self.sizes(from, size)?)),
            false => Ok(None),
        }
    }

    /// The root given by an argument, or 0.
    pub fn root(&self, at: usize) -> Result<u32, Wrong> {
        if at >= self.words.len() {
            return Ok(0);
        }
        self.process(at)
    }

    /// A process given by an argument.
    pub fn process(&self, at: usize) -> Result<u32, Wrong> {
        signed_task(self.integer(at)?, self.tasks)
    }

    /// The partner of a receive or a send, given by an argument.
    pub fn partner(&self, at: usize, receives: bool) -> Result<Partner, Wrong> {
        match self.integer(at)? {
            NOBODY => Ok(Partner::Nobody),
            any if receives && ANY_SOURCE.contains(&any) => Ok(Partner::Any),
            _ => self.process(at).map(Partner::One),
        }
    }

    /// The tag of a message: None for any.
    pub fn tag(&self, at: usize, receives: bool) -> Result<Option<u32>, Wrong> {
        let tag = self.integer(at)?;
        if receives && ANY_TAG.contains(&tag) {
            return Ok(None);
        }
        let fits = u32::try_from(tag).ok().filter(|&tag| tag < ANY);
        match fits {
            Some(tag) => Ok(Some(tag)),
            None => Err(wrong(
                format!("{} is no tag", shown(self.words[at])),
                format!("write 0 to {}", ANY - 1),
            )),
        }
    }
}
