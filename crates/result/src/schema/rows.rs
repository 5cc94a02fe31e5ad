//! What is recorded row by row or bin by bin, and of the scheme and of buffers.

use weir_model::TERMINAL;

use super::{Attribute, Column, attribute, column};

/// Whole numbers on `/data/series`.
pub const SERIES_NUMBERS: [Attribute; 1] = [attribute("bin_ps", "ps", "width of a time bin")];

/// The first column of `/data/series`.
pub const SERIES_TIME: [Column; 1] = [column("time_ps", "u64", "ps", "start of the time bin")];

/// Whether a port of kind `own` is one of `kind`: a kind, `fabric` (between routers) or `all`.
pub fn is_port_of(own: &str, kind: &str) -> bool {
    own == kind || kind == "all" || (kind == "fabric" && own != TERMINAL)
}

/// Columns of `/data/series` per job; the name in the file is `job.<name>.` and this.
pub const SERIES_JOB: [Column; 6] = [
    column(
        "injected_bytes",
        "u64",
        "B",
        "payload whose packets were injected in the bin",
    ),
    column(
        "delivered_bytes",
        "u64",
        "B",
        "payload whose packets were delivered in the bin",
    ),
    column("messages", "u64", "1", "messages received in the bin"),
    column(
        "message_latency_ps",
        "u64",
        "ps",
        "sum of the latencies of those messages",
    ),
    column("packets", "u64", "1", "packets delivered in the bin"),
    column(
        "network_latency_ps",
        "u64",
        "ps",
        "sum of the network latencies of those packets",
    ),
];

/// What figures and metrics add to the name of such a column for its share of a task.
pub const PER_TASK: &str = "_per_task";

/// Columns of `/data/series` per traffic class; the name in the file is `class.<name>.` and this.
pub const SERIES_CLASS: [Column; 1] = [column(
    "ejected_flits",
    "u64",
    "flits",
    "flits ejected in the bin",
)];

/// Columns of `/data/series` per endpoint that `output.received` names; the name in the file is `endpoint.<number>.` and
/// this.
pub const SERIES_ENDPOINT: [Column; 1] = [column(
    "delivered_bytes",
    "u64",
    "B",
    "payload whose packets were delivered to the endpoint in the bin",
)];

/// Columns of `/data/occupancy`; `bytes` has two dimensions: time and router.
pub const OCCUPANCY: [Column; 3] = [
    column("time_ps", "u64", "ps", "time of the row"),
    column("router", "u32, router", "1", "router of the column"),
    column(
        "bytes",
        "u64, time x router",
        "B",
        "data held by the router at that time",
    ),
];

/// Columns of `/data/rates`, one row per time and chosen endpoint.
pub const RATES: [Column; 5] = [
    column("time_ps", "u64", "ps", "time of the sample"),
    column("endpoint", "u32", "1", "endpoint"),
    column(
        "job",
        "u32",
        "1",
        "index of the job by which it was chosen; 4294967295 if it was chosen by its number",
    ),
    column(
        "task",
        "u32",
        "1",
        "its task of that job; 4294967295 if it was chosen by its number",
    ),
    column(
        "share",
        "f64",
        "1",
        "share of its link's bandwidth at which it may inject at that time",
    ),
];

/// Columns of `/data/iterations`, one row per iteration of each application.
pub const ITERATIONS: [Column; 6] = [
    column("job", "u32", "1", "index of the job"),
    column("iteration", "u32", "1", "number of the iteration, from 0"),
    column("begin_ps", "u64", "ps", "when the first task began it"),
    column(
        "end_ps",
        "u64",
        "ps",
        "when the last of those tasks that ended it did; 0 if none did",
    ),
    column(
        "tasks",
        "u64",
        "1",
        "tasks that had something to do in it; those that had not begun it when the run ended count",
    ),
    column("ended", "u64", "1", "those of them that ended it"),
];

/// Columns of `/data/phases`, one row per phase of each job: of an application its iterations, else all that it does. Flows of other jobs do
/// not count.
pub const PHASES: [Column; 11] = [
    column("job", "u32", "1", "index of the job"),
    column("phase", "u32", "1", "number of the phase, from 0"),
    column("begin_ps", "u64", "ps", "when its first flow was generated"),
    column(
        "end_ps",
        "u64",
        "ps",
        "when its last flow had come; 0 if the run ended before that",
    ),
    column("flows", "u64", "1", "flows that have begun"),
    column(
        "optimum_ps",
        "u64",
        "ps",
        "the time that the most loaded link takes to carry the flows over it: the least for the ways that they took \
         (Birk and Zdornov, theorem 1)",
    ),
    column(
        "stretch",
        "f64",
        "1",
        "end_ps - begin_ps over optimum_ps; NaN if a flow had not come",
    ),
    column(
        "rate_ratio",
        "f64",
        "1",
        "the least normalised rate of a flow, from its first head to its last tail, over the least that the optimum calculates; \
         NaN if a flow had not come",
    ),
    column(
        "measured_ratio",
        "f64",
        "1",
        "the same of rates in the measurement window, from the first packet that came in it to the last; 0 if fewer than two packets of a flow came",
    ),
    column("contention", "u64", "1", "most flows on a link"),
    column(
        "mean_contention",
        "f64",
        "1",
        "mean over the flows of the most flows on a link of its way",
    ),
];

/// Columns of `/data/flows`, one row per flow that has begun.
pub const FLOWS: [Column; 12] = [
    column("job", "u32", "1", "index of the job"),
    column("phase", "u32", "1", "number of its phase"),
    column("source", "u32", "1", "sending endpoint"),
    column("destination", "u32", "1", "receiving endpoint"),
    column("bytes", "u64", "B", "length of the flow"),
    column("generated_ps", "u64", "ps", "when it was generated"),
    column(
        "started_ps",
        "u64",
        "ps",
        "when its first head left the NIC",
    ),
    column(
        "received_ps",
        "u64",
        "ps",
        "when it was received whole; 0 if it was not",
    ),
    column(
        "optimum_ps",
        "u64",
        "ps",
        "the time that the most loaded link of its way takes to carry the flows of its phase over it",
    ),
    column(
        "rate",
        "f64",
        "1",
        "its flits from started_ps to received_ps as a share of its endpoint's link; NaN if it was not received",
    ),
    column(
        "measured_rate",
        "f64",
        "1",
        "the same in the measurement window, from the first packet that came in it to the last",
    ),
    column("contention", "u64", "1", "most flows on a link of its way"),
];

/// Whole numbers on `/data/attribution`.
pub const ATTRIBUTION_NUMBERS: [Attribute; 3] = [
    attribute(
        "interval_ps",
        "ps",
        "time between two looks at the ports; twice as much after 512 of them or earlier, and so on",
    ),
    attribute("bin_ps", "ps", "width of a time bin"),
    attribute(
        "sources",
        "1",
        "1 if senders and receivers are told apart, 0 if not",
    ),
];

/// Columns of `/data/attribution/waits`.
pub const WAITS: [Column; 10] = [
    column("time_ps", "u64", "ps", "start of the time bin"),
    column("router", "u32", "1", "router"),
    column("port", "u16", "1", "port of the router"),
    column(
        "nic",
        "u16",
        "1",
        "0: what waited in the router to leave by the port; 1: what waited in the NIC behind the port to go to the router",
    ),
    column("job", "u32", "1", "index of the job"),
    column(
        "source",
        "u32",
        "1",
        "sending endpoint; 4294967295 if senders are not told apart",
    ),
    column(
        "destination",
        "u32",
        "1",
        "receiving endpoint; 4294967295 if senders are not told apart",
    ),
    column(
        "full",
        "f64",
        "B s",
        "data times the time that it waited for the link, which was full: busy for nine tenths of each of the last two intervals",
    ),
    column(
        "queued",
        "f64",
        "B s",
        "the same while the link was not full: for its turn, or for the crossbar",
    ),
    column(
        "starved",
        "f64",
        "B s",
        "the same for room in the buffer behind the link",
    ),
];

/// Columns of `/data/attribution/pressure`.
pub const PRESSURE: [Column; 5] = [
    column("time_ps", "u64", "ps", "start of the time bin"),
    column("router", "u32", "1", "router"),
    column("from_port", "u16", "1", "port by which it had come"),
    column("port", "u16", "1", "port for which it waited"),
    column("waited", "f64", "B s", "data times the time that it waited"),
];

/// Columns of `/data/attribution/elsewhere`.
pub const ELSEWHERE: [Column; 3] = [
    column("time_ps", "u64", "ps", "start of the time bin"),
    column("job", "u32", "1", "index of the job"),
    column(
        "queued",
        "f64",
        "B s",
        "data times the time that it waited for its turn",
    ),
];

/// Columns of `/data/packets`, one row per delivered data packet.
pub const PACKETS: [Column; 9] = [
    column("source", "u32", "1", "sending endpoint"),
    column("sequence", "u32", "1", "number of the packet at its sender"),
    column("destination", "u32", "1", "receiving endpoint"),
    column("job", "u32", "1", "index of the job"),
    column("flits", "u32", "flits", "length of the packet"),
    column("routers", "u32", "1", "routers visited"),
    column(
        "generated_ps",
        "u64",
        "ps",
        "when its message was generated",
    ),
    column("injected_ps", "u64", "ps", "when its head left the NIC"),
    column(
        "delivered_ps",
        "u64",
        "ps",
        "when its tail reached the receiver",
    ),
];

/// Columns of `/data/messages`, one row per received message.
pub const MESSAGES: [Column; 7] = [
    column("source", "u32", "1", "sending endpoint"),
    column("message", "u32", "1", "number of the message at its sender"),
    column("destination", "u32", "1", "receiving endpoint"),
    column("job", "u32", "1", "index of the job"),
    column("bytes", "u64", "B", "length of the message"),
    column("generated_ps", "u64", "ps", "when it was generated"),
    column("received_ps", "u64", "ps", "when it was received whole"),
];

/// Text on `/data/scheme/<record>`.
pub const RECORD_TEXTS: [Attribute; 1] = [attribute("about", "", "what a row is")];

/// Text on `/data/scheme`; the scheme's own counters stand beside it.
pub const SCHEME_TEXTS: [Attribute; 1] = [attribute(
    "name",
    "",
    "the congestion-control scheme; its counters stand beside it",
)];

/// Whole numbers on `/data/cost`.
pub const COST_COUNTS: [Attribute; 2] = [
    attribute(
        "buffer_bytes",
        "B",
        "input buffers and output queues of all routers",
    ),
    attribute(
        "accesses",
        "1",
        "writes to them and reads from them in the whole run, each of `cost.access`",
    ),
];

/// Fractions on `/data/cost`.
pub const COST_NUMBERS: [Attribute; 2] = [
    attribute("area_mm2", "mm2", "their area"),
    attribute("energy_nj", "nJ", "energy of the accesses"),
];
