//! `allprof`: MPI traces of liballprof, which come with LogGOPSim and its schedule generator.

mod arguments;
mod call;
mod groups;
mod names;
mod operation;
mod requests;
mod scan;
#[cfg(test)]
mod tests;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::files::rank_files;
use super::input::{Lines, hexadecimal};
use super::mpi::Processes;
use super::{Build, Content, Refusal, Scale};
use call::Calls;
use groups::Groups;
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, Section};
use weir_model::{Invalid, US};

keys! {
    /// Every call of MPI with its arguments, begin and end, in a file for each process. `file` is
    /// that of rank 0: the last 0 in its name stands for the rank. Between calls a process
    /// computes.
    struct Params {
        /// The unit of times.
        #[serde(default = "microsecond")]
        unit: Duration,
        /// MPI library of the recorded program. "open_mpi": any source is -1, no process -2.
        /// "mpich": any source is -2, no process -1; requests have 4 bytes.
        #[serde(default)]
        library: Library,
        /// Bytes from one request to the next in an array of them.
        #[serde(default = "pointer")]
        request_bytes: u64,
    }
}

/// An MPI library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Library {
    /// Any source is -1, no process -2.
    #[default]
    OpenMpi,
    /// Any source is -2, no process -1. Requests have 4 bytes.
    Mpich,
}

fn microsecond() -> Duration {
    Duration(US)
}

fn pointer() -> u64 {
    8
}

pub const ENTRY: Entry<Build> = Entry {
    name: "allprof",
    summary: "MPI traces of liballprof: every call with its times, a file for each process.",
    source: "liballprof and Schedgen of LogGOPSim (Hoefler et al., HPDC 2010)",
    examples: &[r#"file = "pmpi-trace-rank-0.txt""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    if params.request_bytes == 0 {
        let remedy = "write 8, or 4 for MPICH";
        let invalid = Invalid::new("request_bytes", "requests have no size", remedy);
        return Err(section.refuse(invalid).into());
    }
    let files = rank_files(path)?;
    let mut processes = Processes::new(files.len() as u32);
    let names = files.iter().map(|file| file.file_name());
    processes.places.files = names
        .map(|name| name.unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let mut groups = Groups::read(&files, &mut processes.operations, processes.all)?;
    let told_apart = "communicators told apart by the order in which they were made";
    processes.coverage.simulated(told_apart, groups.by_order, 0);
    let mut hash = Sha256::default();
    for (path, task) in files.iter().zip(0..) {
        let mut calls = Calls::new(&mut processes, groups.of(task), task, &params, compute);
        let mut lines = Lines::open_after(path, hash)?;
        let mut read = || {
            while lines.advance()? {
                let line = lines.number();
                calls
                    .line(lines.text()?, line)
                    .map_err(|(message, remedy)| lines.fault(message, remedy))?;
            }
            calls
                .end()
                .map_err(|(message, remedy)| lines.fault(message, remedy))
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        read().map_err(|fault: super::Fault| fault.within(&name))?;
        hash = lines.hasher();
    }
    Ok(processes.finish(hexadecimal(hash))?)
}
