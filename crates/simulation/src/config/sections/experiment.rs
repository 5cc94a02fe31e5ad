//! The sections of the experiment file that are the same for every variant.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::is_no;
use super::nodes::NodesConfig;
use super::workload::WorkloadConfig;
use weir_fabric::{
    Arbitration, Backlog, BufferPer, ControlRoutes, CreditAt, CreditUnit, Discipline, NicOrder,
    Switching,
};
use weir_input::registry::Chosen;
use weir_input::{Allowance, Buffer, Duration, OutputQueue, Section, Size, Speedup, Until};
use weir_model::{FlitSize, Time};
use weir_network::failures::FailureConfig;
use weir_network::{queueing, routing, topology};

/// `[router]`: the one router model. The defaults are those of Jiang et al. (SC15), section 4.
///
/// If a network has several kinds of routers (a tree: leaf, inner, top), a table for a kind gives
/// the values that differ there: `[router.top]` with `latency = "50 ns"`. All keys but `flit` and
/// `credit_unit` can be in it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterConfig {
    /// Size of one flit, the unit of buffers and credits (bits or bytes).
    pub flit: Size,
    /// Room that a packet takes in a buffer or queue, and so in the levels that routing and
    /// congestion control see. "flit": its own flits. "packet": that of the longest packet
    /// (`nic.max_packet`), however short it is, as in CODES.
    pub credit_unit: CreditUnit,
    /// From the head at an input (of "store_and_forward" routers: the tail; of "time_steps": the
    /// beginning of the step) to the head at the output link of an idle router.
    pub latency: Duration,
    /// Earliest time at which a router forwards a packet. "cut_through": when its head has come.
    /// "store_and_forward": when its tail has come, as in CODES; a packet then takes its
    /// serialization time on every link. "time_steps": whole packets, all of which leave routers
    /// and NICs at the beginning of a time step, one of each output in every step, as in Birk and
    /// Zdornov (2009, section 2). A step is the time of the longest packet, the longest
    /// latency of a link, and the longest of a router or `credit_delay`; every packet takes one,
    /// acknowledgements, too. Packets that come in the same step are in random order under
    /// "first_come". Output queues are not possible.
    pub switching: Switching,
    /// Time added to the link's latency before a credit can be used upstream.
    pub credit_delay: Duration,
    /// Input buffer of one virtual channel (or one port and traffic class, see `buffer_per`), which
    /// its queues (`[queueing]`) divide equally; "auto" covers the credit round trip of its link
    /// plus two longest packets, for each queue.
    pub input_buffer: Buffer,
    /// Owner of an input buffer. "vc": one virtual channel. "port": all virtual channels of one
    /// traffic class at one port share it. "divided": the same, but virtual channels and queues
    /// have equal parts of it, so their number does not change the memory. Shared buffers do not
    /// separate virtual channels: a routing that avoids deadlock by several of them (every
    /// dragonfly routing) can then deadlock, which ends the run with a diagnosis.
    pub buffer_per: BufferPer,
    /// Speedup of the crossbar over the link, 1 or more, or "infinite". With time steps an input
    /// sends one packet in a step, whatever the number, or any number of them if it is "infinite".
    pub speedup: Speedup,
    /// Part of the latency that allocates a virtual channel of the output (BookSim2's
    /// `vc_alloc_delay`, there in cycles). The next packet on that virtual channel crosses this
    /// much after the tail of the one before. Without virtual output queues, a packet behind
    /// another in its input queue crosses this and `route_computation` after that one's tail. A
    /// port to an endpoint has `nic.injection_vcs` virtual channels for this; a packet takes any.
    /// 0: allocated ahead.
    pub vc_allocation: Duration,
    /// Part of the latency that computes the route, if that starts when the packet is first in its
    /// queue (BookSim2's `routing_delay`). 0: the router before has done it ("look-ahead").
    pub route_computation: Duration,
    /// Output queue per queue of the next input buffer (per virtual channel, unless `[queueing]`
    /// divides those); "none": the input queues feed the link directly; "unlimited".
    pub output_queue: OutputQueue,
    /// Time at which a packet takes its place in the input buffer behind the link. "link": when its
    /// head leaves the output queue. "crossing": when it crosses to the output queue; it waits for
    /// the place in its input queue (BookSim2, CODES), so an unlimited output queue holds no more
    /// than the buffers behind it. Without output queues both are the same.
    pub credit_at: CreditAt,
    /// Queue that an output serves next, within a traffic class.
    pub arbitration: Arbitration,
    /// True if a packet may take the room for which a longer one waits that is before it in turn,
    /// as in SST's merlin. Long packets may then wait for ever beside short ones.
    pub overtaking: bool,
    /// Packets that adaptive routing counts when it compares queues. Matters under schemes that
    /// drop packets; under others every class counts.
    pub backlog: Backlog,
}

impl Default for RouterConfig {
    fn default() -> Self {
        RouterConfig {
            flit: Size::Bits(100),
            credit_unit: CreditUnit::Flit,
            latency: Duration(10_000),
            switching: Switching::CutThrough,
            credit_delay: Duration(0),
            input_buffer: Buffer::Auto,
            buffer_per: BufferPer::Vc,
            speedup: Speedup::Times(2.0),
            vc_allocation: Duration(0),
            route_computation: Duration(0),
            output_queue: OutputQueue::Size(Size::Packets(16)),
            credit_at: CreditAt::Link,
            arbitration: Arbitration::RoundRobin,
            overtaking: false,
            backlog: Backlog::Ahead,
        }
    }
}

impl RouterConfig {
    /// Keys that are for all kinds of routers, and why.
    pub const FOR_ALL: [(&'static str, &'static str); 2] = [
        ("flit", "flits are of one size in the whole network"),
        (
            "credit_unit",
            "credits are of one unit in the whole network",
        ),
    ];

    /// The flit in bits. A checked experiment has no other flits than of bits.
    pub fn flit_size(&self) -> FlitSize {
        match self.flit {
            Size::Bits(bits) => FlitSize(u32::try_from(bits).unwrap_or(u32::MAX)),
            Size::Flits(_) | Size::Packets(_) => FlitSize(1),
        }
    }
}

/// `[nic]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NicConfig {
    /// The longest packet; longer messages are segmented. At least one flit, at most 65,535.
    pub max_packet: Size,
    /// True if every data packet is acknowledged by a packet of one flit in a separate traffic
    /// class.
    pub acknowledge: bool,
    /// Routes of acknowledgements and other control packets, those of routers included.
    /// "minimal": minimal routes regardless of queues, as in the simulator of Jiang et al.; if one
    /// link joins two groups, the answers share it. "as_data": the routing algorithm's, in their
    /// own traffic classes.
    pub control_routes: ControlRoutes,
    /// Virtual channels per traffic class on the link from the NIC to its router, used in turn.
    /// `[queueing]` divides them into queues like others.
    pub injection_vcs: u8,
    /// Order of messages. "fair": each queue pair (of a job and a destination) in turn, a packet at
    /// a time; messages of one queue pair in the order posted. "fifo": one message after the other
    /// in the order posted, as in CODES; one that may not be sent yet blocks all others.
    /// "clears_first": the same, but grants of rendezvous requests (clear to send) go before what
    /// is not prepared, as by the second send machine of SST's Firefly. "message": each message in
    /// turn, a packet at a time, also of those to one destination.
    pub order: NicOrder,
    /// With "clears_first": how much of the message under way is prepared, at most: the first that
    /// is no grant. A grant goes behind what is prepared when it comes. Default: "100 packets", as
    /// in SST's platform file firefly-defaults (`maxSendMachineQsize`). "0 packets": it goes before
    /// the next packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Allowance>,
    /// Pacing of flows, under schemes that set rates. "ipd" (default), inter-packet delay: each
    /// flow by itself, a packet every d / r. "svc", shaped virtual clock: the same; of the flows
    /// that may send, the one with the least D / r. "ps", periodic selection: a packet every d / R,
    /// R the sum of the rates of the NIC's flows, from the flow with the least D / r.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<Discipline>,
    /// Minimum size of a flow, if flows are managed (routing "adaptive_flow", schemes that announce
    /// flows). Shorter messages go at once, by default ports and without a rate. Default: every
    /// message is a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_from: Option<Size>,
}

impl Default for NicConfig {
    fn default() -> Self {
        NicConfig {
            max_packet: Size::Flits(24),
            acknowledge: true,
            control_routes: ControlRoutes::Minimal,
            injection_vcs: 1,
            order: NicOrder::Fair,
            prepared: None,
            discipline: None,
            flow_from: None,
        }
    }
}

/// `[run]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// End of the run: a time, or "completion" when all workloads have stopped and everything has
    /// arrived.
    pub until: Until,
    /// With `until = "completion"`: the simulated time at which it ends in any case. Messages and
    /// jobs not finished by then are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Duration>,
    /// Traffic generated before this is not measured.
    #[serde(default = "no_time")]
    pub warmup: Duration,
    /// Length of the measurement window; to the end by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Duration>,
    /// Seed of every random stream.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Give up after this much wall-clock time; never by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wall: Option<Duration>,
    /// Wall-clock time from one checkpoint to the next; none are written by default.
    /// A run goes on from the checkpoint in its directory: see docs/running.md.
    #[serde(default, skip_serializing)]
    pub checkpoint_every: Option<Duration>,
}

impl RunConfig {
    /// The simulated time at which it ends at the latest, if there is one.
    pub fn end(&self) -> Option<Time> {
        match self.until {
            Until::Time(until) => Some(until.0),
            Until::Completion => self.at_most.map(|limit| limit.0),
        }
    }
}

fn no_time() -> Duration {
    Duration(0)
}

fn first_seed() -> u64 {
    1
}

/// `[output]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputConfig {
    /// Least width of the bins of `/data/series`.
    /// It is doubled, as often as needed, if there would be more than 1,048,576 bins; `bin_ps` in
    /// the result is the width.
    pub bin: Duration,
    /// Least interval of `/data/occupancy`; not recorded by default.
    /// It is doubled, as often as needed, if there would be more than 1,048,576 times, or more than
    /// 16,777,216 numbers (but 1,024 times in any case).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Duration>,
    /// Record `/data/packets`.
    pub packets: bool,
    /// Record `/data/messages`.
    pub messages: bool,
    /// Record `/data/iterations`: start and end of the iterations of applications.
    #[serde(skip_serializing_if = "is_no")]
    #[schemars(extend("default" = false))]
    pub iterations: bool,
    /// Record `/data/flows`, every message and its rate, and `/data/phases`, the optimum of all of
    /// them together for their routes. Messages shorter than `nic.flow_from` do not count, nor do
    /// steps of collective operations that are sent without a request.
    #[serde(skip_serializing_if = "is_no")]
    #[schemars(extend("default" = false))]
    pub flows: bool,
    /// Record `/data/attribution`, the data waiting at each port, from which `weir explain` finds
    /// causes and victims of congestion. "jobs": by job. "sources": also by source and destination.
    /// "none": not recorded.
    #[serde(skip_serializing_if = "Attribution::is_default")]
    #[schemars(extend("default" = Attribution::default()))]
    pub attribution: Attribution,
    /// Record `/data/rates`: the share of their link's bandwidth at which congestion control lets
    /// endpoints inject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<RatesConfig>,
    /// Records of the congestion control scheme to keep, by name: each is a table
    /// `/data/scheme/NAME` with a row for each event, such as "grants" of `srp`. An unknown name is
    /// refused with the known ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub scheme: Vec<String>,
    /// Endpoints whose received payload is recorded in `/data/series`, bin by bin: "all", or a list
    /// of their numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Receivers>,
    /// Record `/data/timeline`: when tasks of applications computed and waited, and for whom; when
    /// links were busy, or stalled without credit. `weir export --format perfetto` draws it.
    /// `timeline = {}` records the tasks of all applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineConfig>,
}

/// `output.attribution`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Attribution {
    /// Nothing is recorded.
    None,
    /// Waiting data is attributed to jobs.
    #[default]
    Jobs,
    /// Also by source and destination.
    Sources,
}

impl Attribution {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
    fn is_default(&self) -> bool {
        *self == Attribution::default()
    }
}

/// `output.received`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected \"all\" or a list of endpoints such as [0, 31]"
)]
pub enum Receivers {
    /// In a word.
    Word(AllEndpoints),
    /// By their numbers.
    List(Vec<u32>),
}

/// All of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllEndpoints {
    /// Every endpoint.
    All,
}

/// `output.rates`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RatesConfig {
    /// Least interval, doubled like that of `occupancy`.
    pub interval: Duration,
    /// Tasks by the names of their workloads, such as { storm = [0, 1] }.
    #[serde(default)]
    pub tasks: BTreeMap<String, Vec<u32>>,
    /// Endpoints by their numbers.
    #[serde(default)]
    pub endpoints: Vec<u32>,
}

/// `output.timeline`.
/// At most 4,194,304 intervals of tasks are kept, and as many of links. Each task, or link, has an
/// equal part of that, and loses its later intervals if it has more; a note in the result says so.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimelineConfig {
    /// Intervals that end before this time are not kept. Default: the start of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Duration>,
    /// Intervals that begin at this time or later are not kept. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Duration>,
    /// Names of the workloads whose tasks are recorded. Default: all applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<String>>,
    /// Routers whose ports' outgoing links are recorded: "all", or a list of their numbers.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<ChosenRouters>,
}

/// `output.timeline.routers`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected \"all\" or a list of routers such as [0, 26]"
)]
pub enum ChosenRouters {
    /// In a word.
    Word(AllRouters),
    /// By their numbers.
    List(Vec<u32>),
}

/// All of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllRouters {
    /// Every router.
    All,
}

impl Default for OutputConfig {
    fn default() -> Self {
        OutputConfig {
            bin: Duration(10_000_000),
            occupancy: None,
            packets: false,
            messages: false,
            iterations: false,
            flows: false,
            attribution: Attribution::Jobs,
            rates: None,
            scheme: Vec::new(),
            received: None,
            timeline: None,
        }
    }
}

/// `[cost]`: cost of memory.
/// With this section `weir check` and the result give the cost of the buffers of all routers: their
/// area, and the energy of writes to and reads from them. The defaults are those of Yebenes et al.,
/// TACO 2019, section 5.5, from CACTI 7.0 for static memory at 22 nm; other sizes cost in
/// proportion.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CostConfig {
    /// The memory whose area is given.
    pub memory: Size,
    /// Its area, mm2.
    pub area_mm2: f64,
    /// Unit of an access.
    pub access: Size,
    /// The energy of an access, nJ. A write costs as much as a read.
    pub access_nj: f64,
}

impl Default for CostConfig {
    fn default() -> Self {
        CostConfig {
            memory: Size::Bits(8 * 128 * 1024),
            area_mm2: 0.26,
            access: Size::Bits(8 * 64),
            access_nj: 0.09,
        }
    }
}

/// A whole experiment, checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// `[topology]`, with the contents of its `file` already in place.
    pub topology: Chosen<topology::Build>,
    /// `[routing]`.
    pub routing: Chosen<routing::Build>,
    /// `[queueing]`.
    pub queueing: Chosen<queueing::Build>,
    /// `[router]`.
    pub router: RouterConfig,
    /// `[router.KIND]` for some kinds of routers, with the values of `[router]` for keys that they
    /// leave out. The existing kinds are known when the network is built.
    pub router_kinds: Vec<(String, RouterConfig)>,
    /// `[nic]`.
    pub nic: NicConfig,
    /// `[nodes]`, if the file has it.
    pub nodes: Option<NodesConfig>,
    /// `[congestion]`.
    pub congestion: Chosen<weir_congestion::Build>,
    /// Every `[[failure]]`.
    pub failures: Vec<FailureConfig>,
    /// Every `[[workload]]`.
    pub workloads: Vec<WorkloadConfig>,
    /// `[run]`.
    pub run: RunConfig,
    /// `[output]`.
    pub output: OutputConfig,
    /// `[cost]`, if the file has it.
    pub cost: Option<CostConfig>,
    /// `[fork]`, if the file has it: all other fields are those from the fork on.
    pub fork: Option<Box<ForkConfig>>,
    /// The experiment with every default filled in, as TOML.
    /// It is stored in the result, and compared to tell one experiment from another.
    pub resolved: String,
    /// The whole file as it was given, for errors about keys that several sections share:
    /// `file.refuse(Invalid::new("router.input_buffer", …))`.
    pub file: Section,
}

/// An experiment until it forks.
#[derive(Clone, Debug)]
pub struct ForkConfig {
    /// Simulated time of the fork, ps.
    pub at: Time,
    /// The experiment until then.
    pub base: Experiment,
    /// True for each workload that goes on as it is; others start, or start again, at the fork.
    pub unchanged: Vec<bool>,
    /// The keys that change and their values, as one line.
    pub changes: String,
    /// The section, for errors.
    pub section: Section,
}

impl Experiment {
    /// The longest packet in flits.
    pub fn max_packet_flits(&self) -> u64 {
        self.nic.max_packet.flits(self.router.flit_size(), 1)
    }
}
