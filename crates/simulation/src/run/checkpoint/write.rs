//! Writes a checkpoint: all ranks together.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;
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

/// The first error of a step on any rank: the same on all.
///
/// # Errors
/// If a message between ranks does not come through.
pub fn agreed<E: Serialize + DeserializeOwned>(
    step: Result<(), E>,
    transport: &mut dyn Transport,
) -> Result<Result<(), E>, TransportError> {
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

/// A part of a rank's file on its way to the disk.
enum Piece {
    Bytes(Vec<u8>),
    /// The end of a domain's state.
    End,
}

/// Pieces that wait for the disk at most; [`weir_model::codec`] makes them of 256 KiB.
const WAITING: usize = 4;

/// Writes the states of this rank's domains, one after the other, and waits until they have
/// reached the disk. Another thread sums and writes pieces while the next ones are made.
fn write_states(
    path: &Path,
    rank: u32,
    parts: &[&mut dyn Part],
) -> io::Result<Vec<(DomainId, Place)>> {
    let mut file = File::create_new(path)?;
    let (pieces, coming) = sync_channel(WAITING);
    let (made, places) = thread::scope(|scope| {
        let write = move || write_pieces(&mut file, rank, &coming);
        let writer = match thread::Builder::new().spawn_scoped(scope, write) {
            Ok(writer) => writer,
            Err(error) => return (Ok(()), Err(error)),
        };
        let mut out = Pieces { pieces };
        let made = parts.iter().try_for_each(|part| {
            part.save(&mut out).map_err(io::Error::other)?;
            out.send(Piece::End)
        });
        drop(out);
        let ended = writer.join();
        (
            made,
            ended.unwrap_or_else(|_| Err(io::Error::other("the writer has ended"))),
        )
    });
    // If the disk is the reason, its error says more.
    let places = places?;
    made?;
    Ok(parts.iter().map(|part| part.id()).zip(places).collect())
}

/// Writes pieces until there are no more. Returns the place of each state.
fn write_pieces(file: &mut File, rank: u32, coming: &Receiver<Piece>) -> io::Result<Vec<Place>> {
    let (mut places, mut sum) = (Vec::new(), XxHash3_128::new());
    let (mut offset, mut bytes) = (0, 0);
    for piece in coming {
        match piece {
            Piece::Bytes(piece) => {
                file.write_all(&piece)?;
                sum.write(&piece);
                bytes += piece.len() as u64;
            }
            Piece::End => {
                places.push(Place {
                    rank,
                    offset,
                    bytes,
                    checksum: sum.finish_128(),
                });
                offset += bytes;
                (sum, bytes) = (XxHash3_128::new(), 0);
            }
        }
    }
    file.sync_all()?;
    Ok(places)
}

/// The way to the thread that writes.
struct Pieces {
    pieces: SyncSender<Piece>,
}

impl Pieces {
    fn send(&self, piece: Piece) -> io::Result<()> {
        let gone = |_| io::Error::other("the file cannot be written");
        self.pieces.send(piece).map_err(gone)
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(Piece::Bytes(bytes.to_vec()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    if manifest::file(&place).is_file() {
        // The run has gone on from this one, and came no further.
        clear(new)?;
    } else {
        clear(&place)?;
        fs::rename(new, &place)?;
    }
    sync_folder(&to.dir.join(FOLDER))?;
    for (_, old) in list(&to.dir).into_iter().skip(KEPT) {
        discard(&old)?;
    }
    Ok(all + bytes.len() as u64)
}
