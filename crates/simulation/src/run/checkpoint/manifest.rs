//! The manifest of a checkpoint: what it is of, and where the state of each domain is.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::{CheckpointError, Identity, Reached};
use weir_model::codec::{self, CodecError};
use weir_model::program::MODEL_VERSION;
use weir_model::{DomainId, Time};
use weir_result::difference;

/// Name of the file.
const FILE: &str = "manifest";

/// Names of the files with states, before the number of the rank.
const STATES: &str = "states-";

/// First bytes of the file, before the checksum, the format and the rest.
const MARK: &[u8] = b"weir checkpoint\n";

/// Version of the format.
const FORMAT: u32 = 3;

/// Content of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Its folder.
    pub path: PathBuf,
    pub(super) model_version: u32,
    /// Its origin.
    pub identity: Identity,
    /// The place that the run had reached.
    pub reached: Reached,
    /// State of each domain, by its number.
    pub(super) states: Vec<Place>,
}

/// Place of the state of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The rank that wrote it: the number of the file.
    pub rank: u32,
    /// Its first byte there.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// XXH3 (128 bits) of it.
    pub checksum: u128,
}

impl Manifest {
    /// Everything before this has been simulated, ps.
    pub fn until(&self) -> Time {
        self.reached.start.until
    }

    /// The file with a domain's state, and its place there.
    pub(super) fn state(&self, domain: DomainId) -> Option<(PathBuf, Place)> {
        let place = *self.states.get(domain as usize)?;
        Some((self.path.join(states_file(place.rank)), place))
    }

    /// Bytes of the file.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, CodecError> {
        Ok(sealed(FORMAT, &codec::encode(self)?))
    }

    /// Reads the manifest of the checkpoint in a folder, whoever wrote it.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or has another format.
    pub fn read(folder: &Path) -> Result<Manifest, CheckpointError> {
        let path = folder.join(FILE);
        let bytes = fs::read(&path).map_err(|cause| CheckpointError::Unreadable {
            path: path.clone(),
            cause,
        })?;
        let damaged = |what: String| CheckpointError::Damaged {
            path: path.clone(),
            what,
        };
        let cut = || damaged("it ends too early".into());
        let rest = bytes.strip_prefix(MARK);
        let rest = rest.ok_or_else(|| damaged("it is no manifest of a checkpoint".into()))?;
        let (sum, summed) = rest.split_first_chunk().ok_or_else(cut)?;
        if u128::from_le_bytes(*sum) != XxHash3_128::oneshot(summed) {
            return Err(damaged("its checksum is wrong".into()));
        }
        let (format, body) = summed.split_first_chunk().ok_or_else(cut)?;
        let format = u32::from_le_bytes(*format);
        if format != FORMAT {
            return Err(CheckpointError::OtherProgram {
                path: folder.to_path_buf(),
                found: format!("a weir with format {format} of checkpoints"),
                own: format!("one with format {FORMAT}"),
            });
        }
        let manifest: Manifest = codec::decode(body).map_err(|error| damaged(error.to_string()))?;
        Ok(Manifest {
            path: folder.to_path_buf(),
            ..manifest
        })
    }

    /// Checks that this program can go on from it with an experiment.
    ///
    /// # Errors
    /// If another program or experiment wrote it.
    pub fn check(&self, identity: &Identity) -> Result<(), CheckpointError> {
        let path = self.path.clone();
        let name = |model: u32, program: &str| format!("{program}, model version {model}");
        let found = name(self.model_version, &self.identity.program);
        let own = name(MODEL_VERSION, &identity.program);
        if found != own {
            return Err(CheckpointError::OtherProgram { path, found, own });
        }
        match difference(&self.identity.experiment, &identity.experiment) {
            None => Ok(()),
            Some(difference) => Err(CheckpointError::OtherExperiment { path, difference }),
        }
    }
}

/// The bytes of a file of that format.
fn sealed(format: u32, body: &[u8]) -> Vec<u8> {
    let summed = [&format.to_le_bytes()[..], body].concat();
    let sum = XxHash3_128::oneshot(&summed).to_le_bytes();
    [MARK, &sum, &summed].concat()
}

/// Name of the manifest in a folder.
pub fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Name of the file with the states of a rank.
pub fn states_file(rank: u32) -> String {
    format!("{STATES}{rank}")
}

/// True for the names of files of a checkpoint.
pub fn is_file_of(name: &OsStr) -> bool {
    let name = name.to_str();
    name.is_some_and(|name| name == FILE || name.starts_with(STATES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_format_is_told_from_damage() {
        let folder = tempfile::tempdir().expect("a directory");
        let said = |bytes: &[u8]| {
            fs::write(file(folder.path()), bytes).expect("writes");
            let read = Manifest::read(folder.path());
            read.expect_err("it is no manifest").to_string()
        };
        let other = sealed(FORMAT + 1, b"anything");
        assert!(said(&other).contains("of a weir with format 4 of checkpoints"));
        for place in 0..8 * other.len() {
            let mut bytes = other.clone();
            bytes[place / 8] ^= 1 << (place % 8);
            assert!(said(&bytes).contains("damaged"), "bit {place}");
        }
    }
}
