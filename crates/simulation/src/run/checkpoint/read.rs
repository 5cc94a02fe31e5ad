//! Finds the checkpoints of a run, and loads one.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use twox_hash::XxHash3_128;

use super::folder::list;
use super::{CheckpointError, Identity, Manifest, manifest};
use weir_fabric::{Fabric, Fork, Part, Parts};

/// Checkpoints in the directory of a result.
#[derive(Debug, Default)]
pub struct Found {
    /// Checkpoints that a run can go on from, the newest first.
    pub usable: Vec<Manifest>,
    /// Problems with newer ones than these.
    pub damaged: Vec<CheckpointError>,
}

/// Finds the checkpoints of a run in the directory of its result.
///
/// # Errors
/// If one is of another program or experiment, or the newest cannot be read and may be whole.
pub fn find(dir: &Path, identity: &Identity) -> Result<Found, CheckpointError> {
    let mut found = Found::default();
    for (_, folder) in list(dir) {
        match Manifest::read(&folder) {
            Ok(manifest) => {
                manifest.check(identity)?;
                found.usable.push(manifest);
            }
            Err(error @ CheckpointError::OtherProgram { .. }) => return Err(error),
            Err(_) if !found.usable.is_empty() => {}
            Err(error @ CheckpointError::Unreadable { .. }) => return Err(error),
            Err(error) => found.damaged.push(error),
        }
    }
    Ok(found)
}

/// Loads the states of the domains of this rank, which have just been built; those of another run
/// with a `fork`.
///
/// # Errors
/// If a state cannot be read, or is damaged. The domains are unusable then.
pub fn load(
    from: &Manifest,
    fabric: &mut Fabric,
    fork: Option<&Fork>,
) -> Result<(), CheckpointError> {
    let mut bytes = Vec::new();
    for part in fabric.parts() {
        load_part(from, part, fork, &mut bytes)?;
    }
    Ok(())
}

fn load_part(
    from: &Manifest,
    part: &mut dyn Part,
    fork: Option<&Fork>,
    bytes: &mut Vec<u8>,
) -> Result<(), CheckpointError> {
    let domain = part.id();
    let damaged = |path: &Path, what: String| CheckpointError::Damaged {
        path: path.to_path_buf(),
        what,
    };
    let missing = || {
        damaged(
            &from.path,
            format!("the state of domain {domain} is missing"),
        )
    };
    let (path, place) = from.state(domain).ok_or_else(missing)?;
    let unreadable = |cause| CheckpointError::Unreadable {
        path: path.clone(),
        cause,
    };
    let mut file = File::open(&path).map_err(|cause| {
        let gone = cause.kind() == ErrorKind::NotFound && manifest::file(&from.path).is_file();
        match gone {
            true => damaged(&path, "it is missing".into()),
            false => unreadable(cause),
        }
    })?;
    file.seek(SeekFrom::Start(place.offset))
        .map_err(unreadable)?;
    bytes.clear();
    // No more than there is: a length is not believed before the checksum is.
    let mut state = file.take(place.bytes);
    state.read_to_end(bytes).map_err(unreadable)?;
    if bytes.len() as u64 != place.bytes || XxHash3_128::oneshot(bytes) != place.checksum {
        let what = format!("the state of domain {domain} is not the one that was written");
        return Err(damaged(&path, what));
    }
    part.load(bytes, fork)
        .map_err(|error| damaged(&path, error.to_string()))
}
