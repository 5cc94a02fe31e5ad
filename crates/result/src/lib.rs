//! `result.h5`: the schema in one place, its writer and its reader, and the output directory.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod attribution;
mod error;
pub mod explain;
mod hdf;
pub mod out_dir;
mod read;
mod results;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
pub mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use attribution::table::{
    Attribution, Elsewhere, ElsewhereRow, Looks, Pressure, PressureRow, WaitRow, Waits,
};
pub use error::{TraceError, first_missing};
pub use hdf::seal::{Mark, experiment_hash};
pub use out_dir::difference;
pub use out_dir::lock::{Holder, Lock, Taken, began, date, here};
pub use out_dir::partial::{Partial, remove_leftovers, replace};
pub use read::columns::{Bins, ResultFile, endpoints_of};
pub use read::rates::{RatesOverTime, Whose};
pub use read::{Entry, Stored, StoredLatency, read, read_header, read_mark, read_run, same_data};
pub use results::stats::{Digest, Shape, Stats};
pub use results::{
    Data, Job, Latency, Note, Occupancy, Scheme, SchemeColumn, SchemeRecord, Series, Timeline,
};
pub use schema::{
    Bucket, Buckets, ChangedLinkRow, ChangedLinks, Cost, FlowRow, Flows, Header, JobBin, JobSeries,
    JobTask, JobTasks, JobTotals, LatencyNumbers, PhaseRow, Phases, PortRow, Ports, RateRow, Rates,
    RouterRow, Routers, Run, TimelineNumbers,
};
pub use weir_model::table::{Iterations, LinkIntervals, Messages, Packets, Summary, TaskIntervals};
pub use write::frame::{Frame, write_frame};
pub use write::write;
