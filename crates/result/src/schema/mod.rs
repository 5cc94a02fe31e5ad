//! The schema of `result.h5`, version 3: every group, attribute and column with its unit and
//! meaning.
//!
//! Each number and column is declared once, here or (if domains count it) in
//! [`weir_model::table`]. The writer, the reader and the JSON summary loop over the declarations,
//! and `docs/result-file.md` is checked against them. A job's name stands for `<name>` in a path, a
//! latency class for `<class>`.

mod groups;
mod numbers;
mod rows;

pub use groups::GROUPS;
pub use numbers::*;
pub use rows::*;
use weir_model::table::NumberKind;
pub use weir_model::table::{Attribute, Column};

/// The version that [`super::write()`] writes and [`super::read()`] reads: the root attribute
/// `schema_version`.
pub const VERSION: u64 = 3;

/// The name of the file inside an output directory.
pub const FILE: &str = "result.h5";

/// Rows of a chunk of a column.
pub const CHUNK_ROWS: usize = 64 * 1024;

/// A group with its attributes and columns.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its path.
    pub path: &'static str,
    /// Its content.
    pub about: &'static str,
    /// Its attributes, in parts.
    pub attributes: &'static [&'static [Attribute]],
    /// Its columns, in parts.
    pub columns: &'static [&'static [Column]],
}

const fn attribute(name: &'static str, units: &'static str, long_name: &'static str) -> Attribute {
    Attribute {
        name,
        kind: match units.is_empty() {
            true => NumberKind::Text,
            false => NumberKind::Whole,
        },
        optional: false,
        units,
        long_name,
    }
}

const fn column(
    name: &'static str,
    kind: &'static str,
    units: &'static str,
    long_name: &'static str,
) -> Column {
    Column {
        name,
        kind,
        units,
        long_name,
    }
}

/// Texts on `/data/notes/<number>`.
/// `job` is absent if a note is about the whole run. The note's numbers are beside them.
pub const NOTE_TEXTS: [Attribute; 3] = [
    attribute(
        "kind",
        "",
        "standstill, unfinished, missing, drops, scheme_idle, lost_packets or timeline_cut, of \
         what came out; trace, of what an application replays; sends_nothing, diverts_nothing, \
         not_measured, records_nothing, fails_nothing, changes_nothing, throttles_idle, \
         credit_limited, cut_off, may_deadlock or hidden_congestion, of what was asked for; fork, \
         of a run that changes at a time",
    ),
    attribute("text", "", "what there is to say, in a sentence"),
    attribute(
        "job",
        "",
        "the job that it is about; absent for the whole run. The numbers of the text stand beside \
         it",
    ),
];

/// Text on `/data/summary` and on `/data/jobs/<name>`.
pub const LOAD_DEFINITION: Attribute = attribute(
    "load_definition",
    "",
    "what offered_load and accepted_load of this group are, in words",
);

/// Definition of the loads of a run.
pub const SUMMARY_LOAD_TEXT: &str = "offered_load: payload of the messages generated in the \
                                     measurement window; accepted_load: payload that came in at \
                                     endpoints in the measurement window, of a packet that comes \
                                     in across its beginning or end the share that came within it; \
                                     both as a fraction of endpoints x endpoint_bandwidth x \
                                     (measured_to_ps - measured_from_ps)";

/// Definition of the loads of a job.
pub const JOB_LOAD_TEXT: &str = "offered_load: payload of the messages generated while the job is \
                                 on within the measurement window, as a fraction of what the \
                                 senders' links carry from on_from_ps to on_to_ps; accepted_load: \
                                 payload that came in at endpoints in the same time, of a packet \
                                 that comes in across its beginning or end the share that came \
                                 within it, as a fraction of what the receivers' links carry";

/// The classes of latencies, in order; of a job after `job.<name>.`.
pub const LATENCY_CLASSES: [&str; 5] = [
    "network",
    "network_by_arrival",
    "message",
    "message_by_arrival",
    ITERATION,
];

/// The class of the times of a job's iterations: the last one, of applications alone.
pub const ITERATION: &str = "iteration";

/// Suffix of the names of classes of samples that arrived in the measurement window.
pub const BY_ARRIVAL: &str = "_by_arrival";

/// A list on `/data/ports`.
pub const PORT_KINDS: Attribute = attribute(
    "kinds",
    "",
    "names of the network's kinds of links, terminal first (a list)",
);

/// A list on `/data/routers`.
pub const ROUTER_KINDS: Attribute = attribute(
    "kinds",
    "",
    "names of the network's kinds of routers (a list)",
);

/// Text on `/data/scheme/<record>`.
pub const RECORD_ABOUT: Attribute = attribute("about", "", "what a row is");

/// Text on `/data/scheme`; the scheme's own counters stand beside it.
pub const SCHEME_NAME: Attribute = attribute(
    "name",
    "",
    "the congestion-control scheme; its counters stand beside it",
);
