//! Values that were read from results before: `DIR/values`. HDF5 takes milliseconds for each
//! result, so the tables of ten thousand points would take a minute each.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::SweepDir;
use weir_model::codec;
use weir_result::replace;

/// A file as it was when it was read: length in bytes, and last change in s and ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp(u64, (i64, i64));

impl Stamp {
    /// That of a file; None if it cannot be had.
    pub fn of(path: &Path) -> Option<Stamp> {
        let file = fs::metadata(path).ok()?;
        Some(Stamp(file.len(), (file.mtime(), file.mtime_nsec())))
    }
}

/// A value as it was read from a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// None: the result has no such value.
    pub value: Option<f64>,
    /// True if it is a latency of few messages ([`crate::Metric::is_of_few`]).
    pub few: bool,
}

/// The values of one result, in the order of the names; shorter if the last ones are not known.
#[derive(Default, Serialize, Deserialize)]
struct OfResult {
    stamp: Stamp,
    values: Vec<Option<Reading>>,
}

/// Values that are known of the results of a sweep.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Values {
    /// The program that read them: another one may read them in another way.
    program: Stamp,
    names: Vec<String>,
    /// By the hash of a point.
    results: BTreeMap<String, OfResult>,
    #[serde(skip)]
    path: PathBuf,
    #[serde(skip)]
    changed: bool,
}

impl Values {
    /// Those of a sweep. Nothing if they were not read by this program, or are damaged.
    pub fn of(dir: &SweepDir) -> Values {
        let path = dir.root().join("values");
        let program = std::env::current_exe().ok().as_deref().and_then(Stamp::of);
        let read = fs::read(&path).ok().and_then(|bytes| checked(&bytes));
        let own = read.filter(|values: &Values| Some(values.program) == program);
        Values {
            program: program.unwrap_or_default(),
            path,
            ..own.unwrap_or_default()
        }
    }

    /// The place of a name.
    pub fn place(&mut self, name: &str) -> usize {
        let known = self.names.iter().position(|own| own == name);
        known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        })
    }

    /// A value of the result of a point, if it was read from this file.
    pub fn get(&self, point: &str, stamp: Stamp, place: usize) -> Option<Reading> {
        let known = self
            .results
            .get(point)
            .filter(|known| known.stamp == stamp)?;
        known.values.get(place).copied()?
    }

    /// Notes a value of the result of a point.
    pub fn set(&mut self, point: &str, stamp: Stamp, place: usize, value: Reading) {
        let known = self.results.entry(point.into()).or_default();
        if known.stamp != stamp {
            *known = OfResult {
                stamp,
                values: Vec::new(),
            };
        }
        if known.values.len() <= place {
            known.values.resize(place + 1, None);
        }
        known.values[place] = Some(value);
        self.changed = true;
    }

    /// Writes them for the next time, if there are more than before. Where that is not possible,
    /// the next time reads the results again.
    pub fn keep(&self) {
        if self.changed
            && let Ok(body) = codec::encode(self)
        {
            let _ = replace(&self.path, &[&sum(&body)[..], &body].concat());
        }
    }
}

/// The checksum before the values.
fn sum(body: &[u8]) -> [u8; 16] {
    XxHash3_128::oneshot(body).to_le_bytes()
}

/// The values in a file, if its checksum is right.
fn checked(bytes: &[u8]) -> Option<Values> {
    let (written, body) = bytes.split_first_chunk()?;
    let whole = *written == sum(body);
    whole.then(|| codec::decode(body).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_file_they_were_read_from() {
        let folder = tempfile::tempdir().expect("a directory");
        let dir = SweepDir::new(folder.path());
        let (before, after) = (Stamp(1, (2, 0)), Stamp(1, (2, 1)));
        let mut values = Values::of(&dir);
        let (a, b) = (values.place("a"), values.place("b"));
        let of = |value| Reading { value, few: true };
        values.set("one", before, b, of(Some(0.1)));
        values.set("two", before, a, of(None));
        values.keep();
        let mut values = Values::of(&dir);
        assert_eq!((values.place("b"), values.place("a")), (b, a));
        assert_eq!(values.get("one", before, b), Some(of(Some(0.1))));
        assert_eq!(values.get("one", before, a), None, "not read yet");
        assert_eq!(values.get("one", after, b), None, "another file");
        assert_eq!(
            values.get("two", before, a),
            Some(of(None)),
            "not in the result"
        );
        values.set("one", after, a, of(Some(2.0)));
        assert_eq!(values.get("one", after, b), None);

        values.keep();
        let path = folder.path().join("values");
        let good = fs::read(&path).expect("reads");
        for bit in 0..8 * good.len() {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bytes).expect("writes");
            assert_eq!(Values::of(&dir).get("two", before, a), None, "bit {bit}");
        }
        fs::write(&path, good).expect("writes");
        assert_eq!(Values::of(&dir).get("two", before, a), Some(of(None)));

        values.program = after;
        values.changed = true;
        values.keep();
        assert_eq!(
            Values::of(&dir).get("two", before, a),
            None,
            "another program"
        );
    }
}
