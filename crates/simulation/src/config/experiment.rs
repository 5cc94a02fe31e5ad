//! The sections of the experiment file that are the same for every variant.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WorkloadConfig;
use super::defaults::is_no;
use weir_fabric::{
    Arbitration, Backlog, BufferPer, ControlRoutes, CreditAt, Discipline, NicOrder, Switching,
};
use weir_input::registry::Chosen;
use weir_input::{Buffer, Duration, OutputQueue, Section, Size, Speedup, Until};
use weir_model::{FlitSize, Time};
use weir_network::{queueing, routing, topology};

/// `[router]`: the one router model. The defaults are those of Jiang et al. (SC15), section 4.
///
/// Where a network has several kinds of routers (a tree: leaf, inner, top), a table for a kind says what is different there:
/// `[router.top]` with `latency = "50 ns"`. All keys but `flit` can be in it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterConfig {
    /// Size of one flit, the unit of buffers and credits (bits or bytes).
    pub flit: Size,
    /// From the head at an input (of "store_and_forward" routers: the tail) to the head at the output link of an idle router.
    pub latency: Duration,
    /// Whether a router passes a packet on while it is still coming in, or when all of it is there.
    pub switching: Switching,
    /// What a router adds to the link's latency before a credit can be used upstream.
    pub credit_delay: Duration,
    /// Input buffer of one virtual channel (or one port and traffic class, see `buffer_per`), which its queues (`[queueing]`)
    /// divide equally; "auto" covers the credit round trip of its link plus two longest packets, for each queue.
    pub input_buffer: Buffer,
    /// Whether each virtual channel has a buffer of its own ("vc"), or all of a traffic class share one per port ("port"), or have equal
    /// parts of one per port to themselves ("divided"). Shared
    /// buffers do not keep virtual channels apart: a routing that avoids deadlock by several of them (every routing of
    /// dragonflies) can deadlock then, which ends the run with a diagnosis.
    pub buffer_per: BufferPer,
    /// Speedup of the crossbar over the link, 1 or more, or "infinite".
    pub speedup: Speedup,
    /// The part of the latency in which the virtual channel of an output is allocated to a packet (BookSim2's `vc_alloc_delay`, there in cycles). So much later than
    /// the tail of a packet the next one on that virtual channel can cross, and a packet that was behind another in its input queue (without
    /// virtual output queues) so much and `route_computation` later than that one's tail. A port to an endpoint has `nic.injection_vcs`
    /// virtual channels for this, of which a packet takes any. 0: it is done ahead.
    pub vc_allocation: Duration,
    /// The part of the latency in which the way of a packet is computed, if that begins when it is first in its queue: BookSim2's
    /// `routing_delay`; 0 where the router before has done it ("look-ahead").
    pub route_computation: Duration,
    /// Output queue per queue of the next input buffer (per virtual channel, unless `[queueing]` divides those); "none": the input queues feed the link directly; "unlimited".
    pub output_queue: OutputQueue,
    /// When a packet takes its place in the input buffer behind the link: at the "link", when its head leaves the output queue; or at
    /// the "crossing" to that, which it then waits for in its input queue (BookSim2, CODES). An unlimited output queue so holds no
    /// more than the buffers behind it, and what it holds back can be seen. Without output queues it is the same.
    pub credit_at: CreditAt,
    /// Which waiting queue an output serves next, within a traffic class.
    pub arbitration: Arbitration,
    /// Which packets adaptive routing counts when it compares queues. It has an effect under schemes that drop packets; under all others
    /// every class counts.
    pub backlog: Backlog,
}

impl Default for RouterConfig {
    fn default() -> Self {
        RouterConfig {
            flit: Size::Bits(100),
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
            backlog: Backlog::Ahead,
        }
    }
}

impl RouterConfig {
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
    /// Whether every data packet is acknowledged by a packet of one flit in a traffic class of its own.
    pub acknowledge: bool,
    /// Which ways acknowledgements and the other control packets take, those of routers too: the minimal ones, as in the simulator of
    /// Jiang et al., or such as the routing algorithm chooses for data. Where one link joins two groups, minimal answers share it.
    pub control_routes: ControlRoutes,
    /// Virtual channels per traffic class on the link from the NIC to its router, used in turn. `[queueing]` divides them into
    /// queues like others.
    pub injection_vcs: u8,
    /// Which message goes first: "fair" takes each queue pair (of a job and a destination) in turn, "fifo" messages in the order in which they were posted,
    /// "message" each message in turn.
    pub order: NicOrder,
    /// By which flows are sent whose rates the congestion control sets: "ipd" (the default), "svc" or "ps". Of schemes that set rates only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<Discipline>,
    /// Where flows are managed (routing "adaptive_flow", schemes that announce flows): shorter messages are no flows. They go at
    /// once, by default ports and at no rate. Default: every message is a flow.
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
            discipline: None,
            flow_from: None,
        }
    }
}

/// `[run]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// When the run ends: a time, or "completion" when all workloads have stopped and everything has arrived.
    pub until: Until,
    /// With `until = "completion"`: the simulated time at which it ends in any case. What has not arrived, or is not over, by then is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Duration>,
    /// What is generated before this is not measured.
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
}

impl RunConfig {
    /// The simulated time at which it ends in any case, if there is one.
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
    /// Least width of the bins of `/data/series`. It is doubled, as often as needed, where there would be more than 1,048,576
    /// bins; `bin_ps` in the result is the width.
    pub bin: Duration,
    /// Least interval of `/data/occupancy`; not recorded by default. It is doubled, as often as needed, where there would be
    /// more than 1,048,576 times, or more than 16,777,216 numbers (but 1,024 times in any case).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Duration>,
    /// Record `/data/packets`.
    pub packets: bool,
    /// Record `/data/messages`.
    pub messages: bool,
    /// Record `/data/iterations`: when the iterations of applications began and ended.
    #[serde(skip_serializing_if = "is_no")]
    pub iterations: bool,
    /// Record `/data/flows`, every message and its rate, and `/data/phases`, the optimum of all of them together for the ways that they took.
    /// Messages shorter than `nic.flow_from` do not count.
    #[serde(skip_serializing_if = "is_no")]
    pub flows: bool,
    /// Record `/data/attribution`, from which `weir explain` works out what causes congestion and whom it holds up: whose data waits at which
    /// ports, job by job ("jobs"), also by source and destination ("sources"), or not at all ("none").
    #[serde(skip_serializing_if = "Attribution::is_default")]
    pub attribution: Attribution,
    /// Record `/data/rates`: at which share of their link's bandwidth the congestion control lets endpoints inject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<RatesConfig>,
    /// Which records of the congestion-control scheme are kept, by name: each is a table `/data/scheme/NAME` with a row for each
    /// thing that the scheme notes, such as "grants" of `srp`. A name that the scheme does not know is refused with those that it knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scheme: Vec<String>,
    /// Whose payload received is recorded in `/data/series`, bin by bin: "all" endpoints, or a list of their numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Receivers>,
}

/// `output.attribution`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Attribution {
    /// Nothing is recorded.
    None,
    /// Whose data waits is told by job.
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
    /// Whose: tasks by the names of their workloads, such as { storm = [0, 1] }.
    #[serde(default)]
    pub tasks: BTreeMap<String, Vec<u32>>,
    /// Whose: endpoints by their numbers.
    #[serde(default)]
    pub endpoints: Vec<u32>,
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
        }
    }
}

/// `[cost]`: what memory costs. With this section `weir check` and the result tell what the buffers of all routers are worth: their area, and the
/// energy of what is written to and read from them. The defaults are those of Yebenes et al., TACO 2019, section 5.5, from CACTI 7.0 for static
/// memory at 22 nm; other sizes cost in proportion.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CostConfig {
    /// The memory whose area is given.
    pub memory: Size,
    /// Its area, mm2.
    pub area_mm2: f64,
    /// What is read or written at once.
    pub access: Size,
    /// The energy of that, nJ. A write is taken to cost what a read does.
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
    /// `[router.KIND]` for some kinds of routers: with `[router]` for what they leave out. Which kinds there are is known
    /// when the network is built.
    pub router_kinds: Vec<(String, RouterConfig)>,
    /// `[nic]`.
    pub nic: NicConfig,
    /// `[congestion]`.
    pub congestion: Chosen<weir_congestion::Build>,
    /// Every `[[workload]]`.
    pub workloads: Vec<WorkloadConfig>,
    /// `[run]`.
    pub run: RunConfig,
    /// `[output]`.
    pub output: OutputConfig,
    /// `[cost]`, if it is there.
    pub cost: Option<CostConfig>,
    /// The experiment with every default filled in, as TOML: what is stored in the result and compared to tell one
    /// experiment from another.
    pub resolved: String,
    /// The whole file as it was given, for errors about keys that several sections share:
    /// `file.refuse(Invalid::new("router.input_buffer", …))`.
    pub file: Section,
}

impl Experiment {
    /// The longest packet in flits.
    pub fn max_packet_flits(&self) -> u64 {
        self.nic.max_packet.flits(self.router.flit_size(), 1)
    }
}
