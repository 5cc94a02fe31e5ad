//! `result.h5`: the schema in one place, its writer and its reader, and the output directory.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod attribution;
mod columns;
mod error;
pub mod explain;
mod frame;
mod hdf;
mod network;
pub mod out_dir;
mod rates;
mod read;
mod results;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod scale;
pub mod schema;
mod seal;
mod stats;
#[cfg(test)]
mod tests;
mod write;

pub use attribution::table::{Attribution, Elsewhere, Pressure, Waits};
pub use columns::{ResultFile, endpoints_of};
pub use error::{TraceError, first_missing};
pub use frame::{Frame, write_frame};
pub use out_dir::lock::{Holder, Lock, Taken, began, here};
pub use out_dir::partial::{Partial, remove_leftovers, replace};
pub use rates::{RatesOverTime, Whose};
pub use read::{Entry, Header, Stored, StoredLatency, read, read_header};
pub use results::{
    Cost, Data, Flows, Iterations, Job, JobSeries, Latency, Messages, Note, Occupancy, Packets,
    Phases, Ports, Rates, Routers, Run, Scheme, SchemeColumn, SchemeRecord, Series, Summary,
};
pub use stats::{Digest, JobTotals, Shape, Stats};
pub use write::write;
