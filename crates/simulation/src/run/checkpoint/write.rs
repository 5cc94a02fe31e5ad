//! Writes a checkpoint: all ranks together.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use twox_hash::XxHash3_128;

use super::folder::{FOLDER, NEW, clear, discard, list, sync_folder};
use super::manifest::{self, Manifest, Place};
use super::{Checkpoints, Reached};
use weir_engine::{Transport, TransportError, broadcast, gather};
use weir_fabric::Part;
use weir_model::DomainId;
use weir_model::program::MODEL_VERSION;

/// Checkpoints that are kept.
const KEPT: usize = 2;

/// Result of a step on every rank: the same on all.
type Step = Result<(), String>;

/// Writes a checkpoint of all domains, and removes all but the newest two. Called by all ranks at
/// the same place of a run, with the domains of each.
///
/// Returns its bytes. The inner error is that of the disk, and the same on all ranks; older
/// checkpoints are untouched then.
///
/// # Errors
/// If a message between ranks does not come through.
pub fn write(
    to: &Checkpoints,
    parts: &[&mut dyn Part],
    reached: Reached,
    transport: &mut dyn Transport,
) -> Result<Result<u64, String>, TransportError> {
    let new = to.dir.join(FOLDER).join(NEW);
    let first = transport.rank() == 0;
    let made = match first {
        true => said(&new, made_anew(&new)),
        false => Ok(()),
    };
    if let Err(error) = broadcast(transport, &made)? {
        return Ok(Err(error));
    }
    let file = new.join(manifest::states_file(transport.rank()));
    let states = said(&file, write_states(&file, transport.rank(), parts));
    let all = gather(transport, states)?;
    let finished = all.map_or(Ok(0), |all| {
        let all = all.into_iter().collect::<Result<Vec<_>, String>>()?;
        said(&new, finish(to, &new, all.concat(), reached))
    });
    if finished.is_err() {
        // The disk may be full: nothing of this one is of use.
        let _ = clear(&new);
    }
    broadcast(transport, &finished)
}

/// The first error of a step on any rank.
///
/// # Errors
/// If a message between ranks does not come through.
pub fn agreed(step: Step, transport: &mut dyn Transport) -> Result<Step, TransportError> {
    let all = gather(transport, step)?;
    let worst = all.map_or(Ok(()), |all| all.into_iter().collect());
    broadcast(transport, &worst)
}

fn said<T>(path: &Path, step: io::Result<T>) -> Result<T, String> {
    step.map_err(|error| format!("{}: {error}", path.display()))
}

/// Makes the folder for a new checkpoint, without what a killed run may have left there. The
/// directory of the result exists, or was taken away and is not made again.
fn made_anew(new: &Path) -> io::Result<()> {
    clear(new)?;
    match new.parent().map_or(Ok(()), fs::create_dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs::create_dir(new)
}

/// Writes the states of this rank's domains, one after the other, and waits until they have
/// reached the disk. One state is in memory at a time, and that only in pieces.
fn write_states(
    path: &Path,
    rank: u32,
    parts: &[&mut dyn Part],
) -> io::Result<Vec<(DomainId, Place)>> {
    let mut out = Summed {
        inner: File::create_new(path)?,
        sum: XxHash3_128::new(),
        bytes: 0,
    };
    let mut offset = 0;
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        part.save(&mut out).map_err(io::Error::other)?;
        let place = Place {
            rank,
            offset,
            bytes: out.bytes,
            checksum: out.sum.finish_128(),
        };
        places.push((part.id(), place));
        offset += out.bytes;
        (out.sum, out.bytes) = (XxHash3_128::new(), 0);
    }
    out.inner.sync_all()?;
    Ok(places)
}

/// Counts and sums the bytes that pass.
struct Summed {
    inner: File,
    sum: XxHash3_128,
    bytes: u64,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.write(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes the manifest, puts the checkpoint in its place, and removes the oldest.
fn finish(
    to: &Checkpoints,
    new: &Path,
    mut states: Vec<(DomainId, Place)>,
    reached: Reached,
) -> io::Result<u64> {
    let all: u64 = states.iter().map(|(_, place)| place.bytes).sum();
    states.sort_unstable_by_key(|(domain, _)| *domain);
    let manifest = Manifest {
        path: new.to_path_buf(),
        model_version: MODEL_VERSION,
        identity: to.identity.clone(),
        reached,
        states: states.into_iter().map(|(_, place)| place).collect(),
    };
    let bytes = manifest.bytes().map_err(io::Error::other)?;
    let mut file = File::create_new(manifest::file(new))?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    sync_folder(new)?;
    let place = to.dir.join(FOLDER).join(format!("{}ps", manifest.until()));
    // One of the same time is of a run that went on from there and came no further.
    match place.exists() {
        true => clear(new)?,
        false => fs::rename(new, &place)?,
    }
    sync_folder(&to.dir.join(FOLDER))?;
    for (_, old) in list(&to.dir).into_iter().skip(KEPT) {
        discard(&old)?;
    }
    Ok(all + bytes.len() as u64)
}
