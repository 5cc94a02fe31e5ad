//! The arguments of calls, as liballprof writes them.

use std::sync::Arc;

use super::super::mpi::{length, shown};
use super::super::operations::Wrong;

/// An error and its remedy.
pub fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Wrong {
    (what.into(), remedy.into())
}

/// The arguments of a call.
pub struct Arguments<'a> {
    /// Fields between the colons.
    pub fields: &'a [&'a str],
}

/// A communicator as written in the trace: its handle, its size, and the rank of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// Its handle in this process; other processes have their own.
    pub handle: String,
    /// Rank of the process.
    pub rank: u64,
    /// Number of its processes.
    pub size: u64,
}

impl<'a> Arguments<'a> {
    /// The argument at a position.
    pub fn at(&self, at: usize) -> Result<&'a str, Wrong> {
        let field = self.fields.get(at).copied();
        field.ok_or_else(|| {
            wrong(
                format!("the call has {} arguments only", self.fields.len()),
                "the line is not complete",
            )
        })
    }

    /// A number that may be negative.
    pub fn integer(&self, at: usize) -> Result<i64, Wrong> {
        number(self.at(at)?)
    }

    /// An address.
    pub fn address(&self, at: usize) -> Result<u64, Wrong> {
        number(self.at(at)?)
    }

    /// Bytes of an element of a data type, `number,size,extent`.
    pub fn size_of(&self, at: usize) -> Result<u64, Wrong> {
        let field = self.at(at)?;
        let size = field.split(',').nth(1).ok_or_else(|| {
            let remedy = "a data type is `number,size,extent`";
            wrong(format!("{} is no data type", shown(field)), remedy)
        })?;
        number(size)
    }

    /// A count and a data type.
    pub fn bytes(&self, count: usize, kind: usize) -> Result<u64, Wrong> {
        let field = self.at(count)?;
        let count: u64 = number(field)?;
        length(u128::from(count) * u128::from(self.size_of(kind)?))
    }

    /// An array of requests, the first two arguments: their number, and the address of the first.
    pub fn requests(&self) -> Result<(u64, u64), Wrong> {
        Ok((number(self.at(0)?)?, self.address(1)?))
    }

    /// A communicator, `handle,rank,size`.
    pub fn communicator(&self, at: usize) -> Result<Communicator, Wrong> {
        let field = self.at(at)?;
        let words: Vec<&str> = field.split(',').collect();
        match words.as_slice() {
            [handle, rank, size] => Ok(Communicator {
                handle: (*handle).to_string(),
                rank: number(rank)?,
                size: number(size)?,
            }),
            _ => Err(wrong(
                format!("{} is no communicator", shown(field)),
                "a communicator is `handle,rank,size`",
            )),
        }
    }

    /// A list of counts, multiplied by the bytes of an element.
    pub fn sizes(&self, at: usize, size: u64) -> Result<Arc<[u64]>, Wrong> {
        let words = self.at(at)?.split(',');
        words
            .map(|word| length(number::<u64>(word)? as u128 * u128::from(size)))
            .collect()
    }
}

/// A whole number.
pub fn number<T: std::str::FromStr>(word: &str) -> Result<T, Wrong> {
    let number = word.trim().parse();
    number.map_err(|_| {
        wrong(
            format!("{} is no number", shown(word)),
            "write a whole number",
        )
    })
}

/// A time.
pub fn time(word: &str) -> Result<f64, Wrong> {
    let time: Option<f64> = word.parse().ok();
    let time = time.filter(|time| time.is_finite() && *time >= 0.0);
    time.ok_or_else(|| wrong(format!("{} is no time", shown(word)), "write 0 or more"))
}
