//! `result.h5`: the schema in one place, its writer and its reader, and the output directory.

mod attribution;
mod columns;
mod error;
mod frame;
mod hdf;
mod lock;
mod network;
pub mod out_dir;
mod partial;
mod rates;
mod read;
mod results;
#[cfg(test)]
pub(crate) mod sample;
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
pub use lock::{Holder, Lock, Taken, began, here};
pub use partial::{Partial, remove_leftovers, replace};
pub use rates::{RatesOverTime, Whose};
pub use read::{Entry, Header, Stored, StoredLatency, read, read_header};
pub use results::{
    Cost, Data, Flows, Iterations, Job, JobSeries, Latency, Messages, Note, Occupancy, Packets,
    Phases, Ports, Rates, Routers, Run, Scheme, SchemeColumn, SchemeRecord, Series, Summary,
};
pub use stats::{Digest, JobTotals, Shape, Stats};
pub use write::write;
