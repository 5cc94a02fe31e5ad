//! Tables of rows and of time bins.

use super::{Attribute, Column, attribute, column};
use weir_model::table::columns;
use weir_model::{EndpointId, LinkKind, PortId, RouterId, RouterKind, TERMINAL, Time};

columns! {
    /// `/data/latency/<class>`: buckets of a histogram that hold samples or missing ones.
    pub struct Buckets of Bucket {
        lower_ps: Time, "ps", "lower edge of the bucket";
        count: u64, "1", "samples in the bucket";
        missing: u64, "1", "missing samples that were at least so old when the run ended";
    }
}

columns! {
    /// `/data/jobs/<name>`: one row per task.
    pub struct JobTasks of JobTask {
        endpoint: EndpointId, "1", "endpoint of the task";
        task_finish_ps: Time, "ps", "end of the task; 0, which is missing, if the run ended before \
            that; of other traffic when its endpoint last sent or received";
        task_communication_ps: Time, "ps", "from the start to the finish less computation; 0, \
            which is missing, if the task was not done";
        task_communication_at_least_ps: Time, "ps", "lower bound of the same: up to the end of the \
            run if the task was not done";
    }
}

columns! {
    /// `/data/ports`: one row per used router port, for its outgoing direction.
    pub struct Ports of PortRow {
        router: RouterId, "1", "router";
        port: PortId, "1", "port of the router";
        kind: LinkKind, "1", "kind of the link: terminal, or another of the attribute kinds";
        peer_router: i32, "1", "router that the port leads to; -1 for a port to an endpoint";
        peer_port: i32, "1", "port of that router; -1 for a port to an endpoint";
        endpoint: i32, "1", "endpoint that the port leads to; -1 for a port to a router";
        bandwidth: u64, "bit/s", "bandwidth of the link as built";
        latency_ps: Time, "ps", "latency of the link as built";
        bytes: u64, "B", "bytes sent";
        packets: u64, "1", "packets sent";
        busy_ps: Time, "ps", "time for which packets had the link, with all times that they were \
            sent again";
        stalled_ps: Time, "ps", "time during which a packet was ready but had no credit";
        idle_ps: Time, "ps", "the rest of the simulated time";
        peak_occupancy_bytes: u64, "B", "most data on its way out by this port inside the router; \
            without virtual output queues only the first packet of each queue is on its way";
    }
}

columns! {
    /// `/data/failures`: one row per direction of a link that differs from its kind.
    pub struct ChangedLinks of ChangedLinkRow {
        router: RouterId, "1", "router";
        port: PortId, "1", "port of the router";
        nic: u16, "1", "0: what the router sends by the port; 1: what the NIC behind the port sends \
            to the router";
        kind: LinkKind, "1", "kind of the link, one of the attribute kinds of /data/ports";
        failure: u32, "1", "number of its section [[failure]], from 0";
        bandwidth: u64, "bit/s", "bandwidth of the link";
        built_bandwidth: u64, "bit/s", "bandwidth that it was built with";
        latency_ps: Time, "ps", "latency of the link";
        added_latency_ps: Time, "ps", "part of it that the failure adds";
        bit_error_rate: f64, "1", "probability that a bit is received wrong";
        down: u16, "1", "1: the link carries nothing; the columns before this are those of the link as \
            built";
        from_ps: Time, "ps", "beginning of the failure";
        until_ps: Time, "ps", "time of the repair; the end of the run if there is none";
        packets_lost: u64, "1", "packets lost on the link; in the row of its first outage";
        retries: u64, "1", "packets sent again by the link because of a wrong bit, once for each time";
    }
}

columns! {
    /// `/data/routers`: one row per router, by its number.
    pub struct Routers of RouterRow {
        router: RouterId, "1", "router";
        kind: RouterKind, "1", "kind of the router, one of the attribute kinds";
        group: u32, "1", "group, pod or block of the network that it belongs to";
        domain: u32, "1", "domain that simulates it";
    }
}

/// Column of `/data/routers` for each axis of the network; the name in the file is `axis.<name>.`
/// and this.
pub const ROUTER_AXIS: Column = column(
    "coordinate",
    "u32",
    "1",
    "where the router stands on this axis",
);

/// Attribute of `/data/series`.
pub const SERIES_BIN: Attribute = attribute("bin_ps", "ps", "width of a time bin");

/// The first column of `/data/series`.
pub const SERIES_TIME: Column = column("time_ps", "u64", "ps", "start of the time bin");

columns! {
    /// `/data/series`: the time bins of one job; the names in the file begin with `job.<name>.`
    pub struct JobSeries of JobBin {
        injected_bytes: u64, "B", "payload whose packets were injected in the bin";
        delivered_bytes: u64, "B", "payload whose packets were delivered in the bin";
        messages: u64, "1", "messages received in the bin";
        message_latency_ps: u64, "ps", "sum of the latencies of those messages";
        packets: u64, "1", "packets delivered in the bin";
        network_latency_ps: u64, "ps", "sum of the network latencies of those packets";
    }
}

/// Suffix that figures and metrics add to the name of such a column for its share of a task.
pub const PER_TASK: &str = "_per_task";

/// Column of `/data/series` per traffic class; the name in the file is `class.<name>.` and this.
pub const SERIES_CLASS: Column =
    column("ejected_flits", "u64", "flits", "flits ejected in the bin");

/// Column of `/data/series` per endpoint that `output.received` names; the name in the file is
/// `endpoint.<number>.` and this.
pub const SERIES_ENDPOINT: Column = column(
    "delivered_bytes",
    "u64",
    "B",
    "payload whose packets were delivered to the endpoint in the bin",
);

/// True if a port of kind `own` is one of `kind`: a kind, `fabric` (between routers) or `all`.
pub fn is_port_of(own: &str, kind: &str) -> bool {
    own == kind || kind == "all" || (kind == "fabric" && own != TERMINAL)
}

/// Columns of `/data/occupancy`; `bytes` has two dimensions: time and router.
pub const OCCUPANCY: [Column; 3] = [
    column("time_ps", "u64", "ps", "time of the row"),
    column("router", "u32, router", "1", "router of the column"),
    column(
        "bytes",
        "u64, time x router",
        "B",
        "data waiting in the router at that time; packets in its pipeline may count or not",
    ),
];

columns! {
    /// `/data/rates`: injection rates of chosen endpoints, one row per time and endpoint.
    pub struct Rates of RateRow {
        time_ps: Time, "ps", "time of the sample";
        endpoint: EndpointId, "1", "endpoint";
        job: u32, "1", "index of the job by which it was chosen; 4294967295 if it was chosen by \
            its number";
        task: u32, "1", "its task of that job; 4294967295 if it was chosen by its number";
        share: f64, "1", "share of its link's bandwidth at which it may inject at that time";
    }
}

columns! {
    /// `/data/phases`: one row per phase of each job: of an application its iterations, else all
    /// that it does. Flows of other jobs do not count.
    pub struct Phases of PhaseRow {
        job: u32, "1", "index of the job";
        phase: u32, "1", "number of the phase, from 0";
        begin_ps: Time, "ps", "when its first flow was generated";
        end_ps: Time, "ps", "when its last flow had come; 0 if the run ended before that";
        flows: u64, "1", "flows that have begun";
        optimum_ps: Time, "ps", "the time that the most loaded link takes to carry the flows over \
            it: the least for the ways that they took (Birk and Zdornov, theorem 1)";
        stretch: f64, "1", "end_ps - begin_ps over optimum_ps; NaN if a flow had not come";
        rate_ratio: f64, "1", "the least normalised rate of a flow, from its first head to its \
            last tail, over the least that the optimum calculates; NaN if a flow had not come";
        measured_ratio: f64, "1", "the same of the packets that came in the measurement window, \
            from the first that was sent to the last; 0 if fewer than two of a flow came";
        contention: u64, "1", "most flows on a link";
        mean_contention: f64, "1", "mean over the flows of the most flows on a link of its way";
    }
}

columns! {
    /// `/data/flows`: one row per flow that has begun.
    pub struct Flows of FlowRow {
        job: u32, "1", "index of the job";
        phase: u32, "1", "number of its phase";
        source: EndpointId, "1", "sending endpoint";
        destination: EndpointId, "1", "receiving endpoint";
        bytes: u64, "B", "length of the flow";
        generated_ps: Time, "ps", "when it was generated";
        started_ps: Time, "ps", "when its first head left the NIC";
        received_ps: Time, "ps", "when it was received whole; 0 if it was not";
        optimum_ps: Time, "ps", "the time that the most loaded link of its way takes to carry the \
            flows of its phase over it";
        rate: f64, "1", "its flits from started_ps to received_ps as a share of its endpoint's \
            link; NaN if it was not received";
        measured_rate: f64, "1", "the same of the packets that came in the measurement window, \
            from the first that was sent to the last";
        contention: u64, "1", "most flows on a link of its way";
    }
}
