//! The experiment of a run, and the checkpoints in its directory.

use std::path::{Path, PathBuf};

use crate::cli::args::RunOptions;
use crate::cli::process::console::tell;
use crate::cli::process::failure::Failure;
use crate::cli::process::launch::{give_up, together};
use crate::cli::process::program;
use weir_engine::{Transport, broadcast};
use weir_simulation::checkpoint::{self, CheckpointError, Checkpoints, Found, Identity, Manifest};
use weir_simulation::config::{Catalog, Document, Experiment};

/// The experiment that the options name, and the directory that its paths are relative to.
pub fn experiment(
    options: &RunOptions,
    catalog: &Catalog,
) -> Result<(Experiment, PathBuf), Failure> {
    let (document, folder) = match (&options.file, &options.resume) {
        (Some(file), _) => {
            let folder = file.parent().unwrap_or(Path::new(""));
            (Document::read(file), folder.to_path_buf())
        }
        (None, dir) => {
            let manifest = newest(dir.as_deref().unwrap_or(Path::new(".")))?;
            let name = manifest.path.display().to_string();
            let Identity {
                experiment,
                folder,
                every,
                ..
            } = manifest.identity;
            let every = every.map(|every| format!("run.checkpoint_every={every} ps"));
            let document = Document::parse(&name, &experiment, &folder).and_then(|mut document| {
                every.iter().try_for_each(|set| document.set(set))?;
                Ok(document)
            });
            (document, folder)
        }
    };
    let experiment = document.and_then(|mut document| {
        options.apply(&mut document)?;
        document.experiment(catalog)
    });
    let experiment = experiment.map_err(|error| Failure::wrong(&error))?;
    Ok((experiment, folder))
}

/// The newest checkpoint in a directory whose manifest can be read.
fn newest(dir: &Path) -> Result<Manifest, Failure> {
    let mut failed = None;
    for (_, folder) in checkpoint::list(dir) {
        match Manifest::read(&folder) {
            Ok(manifest) => return Ok(manifest),
            Err(error) => failed = Some(error),
        }
    }
    Err(Failure::bad_input(match failed {
        Some(error) => format!("error: {error}"),
        None => format!(
            "error: there is no checkpoint in {}\n  help: name the --out of a run with \
             --checkpoint-every; one that has reached its end has none any more",
            dir.display()
        ),
    }))
}

/// The checkpoints of a run in the directory of its result, on all ranks. None if there are none
/// and none are wanted. The error is the exit code; its message has been printed.
pub fn find(
    options: &RunOptions,
    experiment: &Experiment,
    folder: &Path,
    out: Option<&Path>,
    transport: &mut dyn Transport,
) -> Result<Option<Checkpoints>, u8> {
    if options.watch_packet.is_some() {
        // The steps of the packet so far are in no checkpoint.
        return Ok(None);
    }
    let identity = Identity::of(experiment, program::build(), folder);
    let found = match out {
        Some(dir) => find_in(dir, identity, options),
        None => Ok(None),
    };
    let found = together(transport, found)?;
    broadcast(transport, &found)
        .map_err(|error| give_up(transport, &Failure::failed(format!("error: {error}"))))
}

/// On rank 0: the checkpoints in a directory, told.
fn find_in(
    dir: &Path,
    identity: Identity,
    options: &RunOptions,
) -> Result<Option<Checkpoints>, Failure> {
    let dir = &std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
    let failed = |error: &CheckpointError| Failure::bad_input(format!("error: {error}"));
    let found = match checkpoint::find(dir, &identity) {
        Ok(found) if !found.usable.is_empty() || found.damaged.is_empty() => found,
        Ok(Found { damaged, .. }) if !options.force => {
            let all: Vec<String> = damaged.iter().map(ToString::to_string).collect();
            return Err(Failure::bad_input(format!(
                "error: no checkpoint can be used: {}\n  help: --force starts anew and replaces them",
                all.join("; ")
            )));
        }
        Err(error @ CheckpointError::Unreadable { .. }) => {
            return Err(Failure::failed(format!("error: {error}")));
        }
        Err(error) if !options.force => return Err(failed(&error)),
        useless => {
            if let Err(error) = useless {
                tell(format!("note: starting anew: {error}"));
            }
            let removed = checkpoint::remove(dir);
            removed.map_err(|error| {
                Failure::failed(format!(
                    "error: {}: {error}",
                    dir.join(checkpoint::FOLDER).display()
                ))
            })?;
            Found::default()
        }
    };
    if found.usable.is_empty() && identity.every.is_none() {
        return Ok(None);
    }
    if let Some(path) = [dir, &identity.folder]
        .into_iter()
        .find(|path| path.to_str().is_none())
    {
        return Err(Failure::bad_input(format!(
            "error: {path:?} cannot be written in a checkpoint\n  help: use paths of UTF-8, or no \
             checkpoints"
        )));
    }
    for error in &found.damaged {
        tell(format!("warning: {error}; an older checkpoint is used"));
    }
    Ok(Some(Checkpoints {
        dir: dir.clone(),
        identity,
        found: found.usable,
        anew: options.force,
    }))
}
