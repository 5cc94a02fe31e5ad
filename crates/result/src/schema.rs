//! The schema of `result.h5`, version 3: every group, attribute and column with its unit and meaning.
//!
//! The writer and the reader take their names from here, and `docs/result-file.md` is checked against it. A job's
//! name stands for `<name>` in a path, a latency class for `<class>`.

mod groups;
mod rows;
mod summary;

pub use groups::GROUPS;
pub use rows::*;
pub use summary::*;

/// The version that [`super::write()`] writes and [`super::read()`] reads: the root attribute `schema_version`.
pub const VERSION: u64 = 3;

/// The name of the file inside an output directory.
pub const FILE: &str = "result.h5";

/// Rows of a chunk of a column.
pub const CHUNK_ROWS: usize = 64 * 1024;

/// A named number or text on a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its unit; `"1"` for a count or a fraction, empty for a text.
    pub units: &'static str,
    /// What it is.
    pub long_name: &'static str,
}

/// A dataset: one-dimensional unless said otherwise, as long as all others of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type in the file.
    pub kind: &'static str,
    /// Its attribute `units`; `"1"` for a count or an index.
    pub units: &'static str,
    /// Its attribute `long_name`.
    pub long_name: &'static str,
}

/// A group with its attributes and columns.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Where it is.
    pub path: &'static str,
    /// What it holds.
    pub about: &'static str,
    /// Its attributes, in parts of one type each.
    pub attributes: &'static [&'static [Attribute]],
    /// Its columns.
    pub columns: &'static [&'static [Column]],
}

const fn attribute(name: &'static str, units: &'static str, long_name: &'static str) -> Attribute {
    Attribute {
        name,
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

/// Whole numbers on `/`.
pub const ROOT_NUMBERS: [Attribute; 3] = [
    attribute("schema_version", "1", "version of this schema"),
    attribute("seed", "1", "seed of every random stream"),
    attribute(
        "complete",
        "1",
        "1 if the run reached its end, 0 if it was stopped early",
    ),
];

/// Whole number on `/`; results of weir 0.1.0 lack it.
pub const ROOT_MODEL: [Attribute; 1] = [attribute(
    "model_version",
    "1",
    "version of the simulated model: results of different versions may differ",
)];

/// Texts on `/`.
pub const ROOT_TEXTS: [Attribute; 2] = [
    attribute("weir_version", "", "version of weir that wrote the file"),
    attribute(
        "experiment",
        "",
        "the experiment with every default filled in, as TOML",
    ),
];

/// Whole numbers on `/run`.
pub const RUN_NUMBERS: [Attribute; 6] = [
    attribute("ranks", "1", "MPI ranks; 1 without MPI"),
    attribute("events", "1", "events processed by all ranks"),
    attribute("windows", "1", "windows run"),
    attribute(
        "peak_memory_bytes",
        "B",
        "sum over the ranks of their peak resident memory",
    ),
    attribute(
        "state_bytes",
        "B",
        "memory of the simulated network without packets, all domains",
    ),
    attribute(
        "packet_bytes",
        "B",
        "memory of packets in flight: themselves, their credits, mail between domains",
    ),
];

/// Fractional numbers on `/run`.
pub const RUN_RATES: [Attribute; 3] = [
    attribute("wall_seconds", "s", "wall-clock time of the simulation"),
    attribute(
        "events_per_second",
        "1/s",
        "events per second of wall-clock time",
    ),
    attribute(
        "packet_hops_per_second",
        "1/s",
        "packet-hops per second of wall-clock time",
    ),
];

/// Texts on `/run`.
pub const RUN_TEXTS: [Attribute; 3] = [
    attribute("started", "", "wall-clock time at the start, RFC 3339, UTC"),
    attribute("mpi_version", "", "version of the MPI library, or \"none\""),
    attribute("hdf5_version", "", "version of the HDF5 library"),
];

/// Texts on `/run` about the program; results of weir 0.1.0 lack them.
pub const RUN_PROGRAM: [Attribute; 3] = [
    attribute(
        "commit",
        "",
        "commit of the program's sources, + if they were changed since; unknown if the build did not know",
    ),
    attribute(
        "features",
        "",
        "cargo features of the program, separated by commas, or \"none\"",
    ),
    attribute("command", "", "command line of rank 0"),
];

/// List of texts on `/run`.
pub const RUN_HOSTS: Attribute = attribute("hosts", "", "host name of each rank (a list)");

/// Text on `/run`, absent when the run reached its end.
pub const RUN_STOPPED: Attribute = attribute(
    "stopped",
    "",
    "why the run ended early; absent if it did not",
);

/// Texts on `/data/notes/<number>`; `job` is absent of what is about the whole run, and the note's numbers stand beside
/// them.
pub const NOTE_TEXTS: [Attribute; 3] = [
    attribute(
        "kind",
        "",
        "standstill, unfinished, missing or drops, of what came out; sends_nothing, diverts_nothing, not_measured or records_nothing, of what was asked for",
    ),
    attribute("text", "", "what there is to say, in a sentence"),
    attribute(
        "job",
        "",
        "the job that it is about; absent for the whole run. The numbers of the text stand beside it",
    ),
];

/// Text on `/data/summary` and on `/data/jobs/<name>`.
pub const LOAD_TEXTS: [Attribute; 1] = [attribute(
    "load_definition",
    "",
    "what offered_load and accepted_load of this group are, in words",
)];

/// What the loads of a run are.
pub const SUMMARY_LOAD_TEXT: &str = "offered_load: payload of the messages generated in the measurement window; \
    accepted_load: payload that came in at endpoints in the measurement window, of a packet that comes in across its \
    beginning or end the share that came within it; both as a fraction of endpoints x endpoint_bandwidth x \
    (measured_to_ps - measured_from_ps)";

/// What the loads of a job are.
pub const JOB_LOAD_TEXT: &str = "offered_load: payload of the messages generated while the job is on within the \
    measurement window, as a fraction of senders x endpoint_bandwidth x (on_to_ps - on_from_ps); accepted_load: payload \
    that came in at endpoints in the same time, of a packet that comes in across its beginning or end the share that \
    came within it, as a fraction of receivers x endpoint_bandwidth x (on_to_ps - on_from_ps)";

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

/// What the name of a class of what arrived in the measurement window ends with.
pub const BY_ARRIVAL: &str = "_by_arrival";

/// Whole numbers on `/data/latency/<class>`.
pub const LATENCY_COUNTS: [Attribute; 4] = [
    attribute("samples", "1", "number of samples: of what arrived"),
    attribute(
        "missing",
        "1",
        "samples that are missing: of what had not arrived when the run ended",
    ),
    attribute("max_ps", "ps", "largest sample, exact; 0 without samples"),
    attribute(
        "max_at_least_ps",
        "ps",
        "the same, missing samples counted with their ages",
    ),
];

/// Fractional numbers on `/data/latency/<class>`.
pub const LATENCY_QUANTILES: [Attribute; 15] = [
    attribute(
        "mean_ps",
        "ps",
        "mean, from the exact sum; NaN without samples",
    ),
    attribute("p50_ps", "ps", "median; NaN without samples"),
    attribute("p90_ps", "ps", "90th percentile; NaN without samples"),
    attribute("p99_ps", "ps", "99th percentile; NaN without samples"),
    attribute("p999_ps", "ps", "99.9th percentile; NaN without samples"),
    attribute(
        "missing_share",
        "1",
        "missing over samples + missing; NaN without any",
    ),
    attribute(
        "mean_at_least_ps",
        "ps",
        "lower bound of the mean of all: missing samples counted with their ages at the end",
    ),
    attribute("p50_at_least_ps", "ps", "the same of the median"),
    attribute("p90_at_least_ps", "ps", "the same of the 90th percentile"),
    attribute("p99_at_least_ps", "ps", "the same of the 99th percentile"),
    attribute(
        "p999_at_least_ps",
        "ps",
        "the same of the 99.9th percentile",
    ),
    attribute(
        "p50_at_most_ps",
        "ps",
        "upper bound of the median of all, infinite if it may be missing; known if equal to the lower bound",
    ),
    attribute("p90_at_most_ps", "ps", "the same of the 90th percentile"),
    attribute("p99_at_most_ps", "ps", "the same of the 99th percentile"),
    attribute("p999_at_most_ps", "ps", "the same of the 99.9th percentile"),
];

/// Columns of `/data/latency/<class>`.
pub const LATENCY: [Column; 3] = [
    column("lower_ps", "u64", "ps", "lower edge of the bucket"),
    column("count", "u64", "1", "samples in the bucket"),
    column(
        "missing",
        "u64",
        "1",
        "missing samples that were at least so old when the run ended",
    ),
];

/// Whole numbers on `/data/jobs/<name>`.
pub const JOB_COUNTS: [Attribute; 10] = [
    attribute(
        "index",
        "1",
        "place among the workloads that run, in the order of the experiment file, from 0: the column job of other groups",
    ),
    attribute("tasks", "1", "number of tasks"),
    attribute("start_ps", "ps", "when the job started"),
    attribute(
        "finish_ps",
        "ps",
        "end of its last task (of other traffic: arrival of its last message); 0, which is missing, if over is 0",
    ),
    attribute(
        "communication_ps",
        "ps",
        "largest communication time of its tasks; 0, which is missing, if over is 0",
    ),
    attribute("bytes_delivered", "B", "payload delivered"),
    attribute(
        "senders",
        "1",
        "endpoints that may send; of an application all",
    ),
    attribute(
        "receivers",
        "1",
        "endpoints that may be sent to; of an application all",
    ),
    attribute(
        "on_from_ps",
        "ps",
        "when the job began within the measurement window: its start, or the window's",
    ),
    attribute(
        "on_to_ps",
        "ps",
        "when it ended within the window: its stop, the end of an application's last task, or the window's; \
         not after on_from_ps if it is not on in the window",
    ),
];

/// Whole numbers on `/data/jobs/<name>` that say if the run cut the job off. Results of weir 0.1.0 lack them.
pub const JOB_ENDS: [Attribute; 3] = [
    attribute(
        "over",
        "1",
        "1 if the job was over when the run ended: all tasks done (of other traffic: its stop is past and all its messages \
         have arrived); 0 if the run cut it off",
    ),
    attribute(
        "finish_at_least_ps",
        "ps",
        "lower bound of finish_ps: the same if the job was over, else the end of the run",
    ),
    attribute(
        "communication_at_least_ps",
        "ps",
        "lower bound of communication_ps: the same if the job was over, else up to the end of the run",
    ),
];

/// Fractions on `/data/jobs/<name>`.
pub const JOB_LOADS: [Attribute; 2] = [
    attribute(
        "offered_load",
        "1",
        "offered load, see the attribute load_definition; NaN if the job is not on in the window",
    ),
    attribute(
        "accepted_load",
        "1",
        "accepted load, see the attribute load_definition; NaN if the job is not on in the window",
    ),
];

/// Columns of `/data/jobs/<name>`, one row per task.
pub const JOB: [Column; 4] = [
    column("endpoint", "u32", "1", "endpoint of the task"),
    column(
        "task_finish_ps",
        "u64",
        "ps",
        "end of the task; 0, which is missing, if the run ended before that; of other traffic when its endpoint last sent or received",
    ),
    column(
        "task_communication_ps",
        "u64",
        "ps",
        "from the start to the finish less computation; 0, which is missing, if the task was not done",
    ),
    column(
        "task_communication_at_least_ps",
        "u64",
        "ps",
        "lower bound of the same: up to the end of the run if the task was not done",
    ),
];

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

/// Columns of `/data/routers`, one row per router.
pub const ROUTERS: [Column; 4] = [
    column("router", "u32", "1", "router"),
    column(
        "kind",
        "text",
        "1",
        "kind of the router, one of the attribute kinds",
    ),
    column(
        "group",
        "u32",
        "1",
        "group, pod or block of the network that it belongs to",
    ),
    column("domain", "u32", "1", "domain that simulates it"),
];

/// Columns of `/data/routers` where the network has axes; the name in the file is `axis.<name>.` and this.
pub const ROUTER_AXIS: [Column; 1] = [column(
    "coordinate",
    "u32",
    "1",
    "where the router stands on this axis",
)];

/// Columns of `/data/ports`, one row per used router port, by router, then port.
pub const PORTS: [Column; 12] = [
    column("router", "u32", "1", "router"),
    column("port", "u16", "1", "port of the router"),
    column(
        "kind",
        "text",
        "1",
        "kind of the link: terminal, or another of the attribute kinds",
    ),
    column(
        "peer_router",
        "i32",
        "1",
        "router that the port leads to; -1 for a port to an endpoint",
    ),
    column(
        "peer_port",
        "i32",
        "1",
        "port of that router; -1 for a port to an endpoint",
    ),
    column(
        "endpoint",
        "i32",
        "1",
        "endpoint that the port leads to; -1 for a port to a router",
    ),
    column("bytes", "u64", "B", "bytes sent"),
    column("packets", "u64", "1", "packets sent"),
    column(
        "busy_ps",
        "u64",
        "ps",
        "time during which flits were on the link",
    ),
    column(
        "stalled_ps",
        "u64",
        "ps",
        "time during which a packet was ready but had no credit",
    ),
    column("idle_ps", "u64", "ps", "the rest of the simulated time"),
    column(
        "peak_occupancy_bytes",
        "u64",
        "B",
        "most data on its way out by this port inside the router",
    ),
];
