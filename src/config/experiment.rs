//! The sections of the experiment file that are the same for every variant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Duration, Section, Size};

/// `[router]`: the one router model. The defaults are those of paper 000 (SC15), section 4.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterConfig {
    /// Size of one flit, the unit of buffers and credits (bits or bytes).
    pub flit: Size,
    /// From the head at an input to the head at the output link of an idle router.
    pub latency: Duration,
    /// What a router adds to the link's latency before a credit can be used upstream.
    pub credit_delay: Duration,
    /// Input buffer of one virtual channel (or one port and traffic class, see `buffer_per`); "auto" covers the
    /// credit round trip of its link plus one longest packet.
    pub input_buffer: Buffer,
    /// Whether each virtual channel has a buffer of its own, or all of a traffic class share one per port.
    pub buffer_per: BufferPer,
    /// Virtual output queues at the inputs: no head-of-line blocking inside the router.
    pub voq: bool,
    /// Speedup of the crossbar over the link, 1 or more, or "infinite".
    pub speedup: Speedup,
    /// Output queue per virtual channel; "none": the input queues feed the link directly; "unlimited".
    pub output_queue: OutputQueue,
    /// Which waiting queue an output serves next, within a traffic class.
    pub arbitration: Arbitration,
}

/// Size of an input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The credit round trip of the link plus one longest packet.
    Auto,
    /// As given.
    Size(Size),
}

/// What one input buffer serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BufferPer {
    /// One virtual channel.
    Vc,
    /// All virtual channels of one traffic class at one port.
    Port,
}

/// Crossbar speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speedup {
    /// So many times the link.
    Times(f64),
    /// Any number of packets leave an input at once, and take no time to cross.
    Infinite,
}

/// Output queue per virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputQueue {
    /// No output queue: a packet stays in its input buffer until the link takes it.
    None,
    /// As given.
    Size(Size),
    /// Without bound.
    Unlimited,
}

/// How an output picks among waiting queues of one traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arbitration {
    /// Each queue in turn, a packet at a time.
    RoundRobin,
    /// The packet that was injected first.
    Oldest,
    /// The packet that came to this router first.
    FirstCome,
}

/// `[nic]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NicConfig {
    /// The longest packet; longer messages are segmented.
    pub max_packet: Size,
    /// Whether every data packet is acknowledged by a packet of one flit in a traffic class of its own.
    pub acknowledge: bool,
    /// Virtual channels per traffic class on the link from the NIC to its router, used in turn.
    pub injection_vcs: u8,
}

/// One `[[workload]]`: open-loop traffic of one pattern.
#[derive(Clone, Debug)]
pub struct WorkloadConfig {
    /// Its name in results; `workload0`, `workload1`, … by default. Unique.
    pub name: String,
    /// Who takes part.
    pub endpoints: Endpoints,
    /// Whether these endpoints may also belong to other workloads.
    pub shared: bool,
    /// When it begins to send.
    pub start: Duration,
    /// When it stops; None: at the end of the run.
    pub stop: Option<Duration>,
    /// Payload that each sender generates, as a fraction of its link; more than 0, above 1 is allowed.
    pub load: f64,
    /// Sizes of messages.
    pub message: Message,
    /// When messages are generated.
    pub injection: Injection,
    /// The section of the pattern: `pattern = { kind = "uniform", … }`.
    pub pattern: Section,
    /// The whole section, for errors about its keys.
    pub section: Section,
}

/// Which endpoints take part in a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Endpoints {
    /// `"all"`.
    All,
    /// `"rest"`: those that no other workload names.
    Rest,
    /// `"16..32"`: from the first to the one before the last.
    Range(u32, u32),
    /// `[3, 1, 4]`: in task order.
    List(Vec<u32>),
    /// `{ count = 60, placement = "random" }`.
    Count {
        /// How many.
        count: u32,
        /// Which.
        placement: Placement,
        /// Seed of the placement, so that several workloads or runs can share it; None: the run's seed.
        seed: Option<u64>,
    },
}

/// How a number of endpoints is chosen among those that are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The first free ones in order.
    Linear,
    /// At random, one by one.
    Random,
    /// Groups in random order, each filled in order.
    RandomGroups,
    /// Routers in random order, each filled in order.
    RandomRouters,
}

/// Sizes of messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// `"4 flits"`.
    Fixed(Size),
    /// `[{ size = "4 flits", share = 0.5 }, { size = "512 flits", share = 0.5 }]`: shares of the volume.
    Mix(Vec<(Size, f64)>),
}

/// When an endpoint generates messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Injection {
    /// In each flit time with the same chance.
    Bernoulli,
    /// After exponentially distributed times.
    Poisson,
    /// After equal times, from a random phase.
    Periodic,
}

/// `[run]`.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// When the run ends.
    pub until: Until,
    /// What is generated before this is not measured.
    pub warmup: Duration,
    /// Length of the measurement window; None: to the end.
    pub measure: Option<Duration>,
    /// Seed of every random stream.
    pub seed: u64,
    /// Give up after this much wall-clock time.
    pub max_wall: Option<Duration>,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At this simulated time.
    Time(Duration),
    /// `"completion"`: when all workloads have stopped and everything has arrived.
    Completion,
}

/// `[output]`.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// Width of the bins of `/data/series`.
    pub bin: Duration,
    /// Interval of `/data/occupancy`; None: not recorded.
    pub occupancy: Option<Duration>,
    /// Record `/data/packets`.
    pub packets: bool,
    /// Record `/data/messages`.
    pub messages: bool,
}

/// A whole experiment, checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// `[topology]`, with the contents of its `file` already in place.
    pub topology: Section,
    /// `[routing]`.
    pub routing: Section,
    /// `[router]`.
    pub router: RouterConfig,
    /// `[nic]`.
    pub nic: NicConfig,
    /// `[congestion]`.
    pub congestion: Section,
    /// Every `[[workload]]`.
    pub workloads: Vec<WorkloadConfig>,
    /// `[run]`.
    pub run: RunConfig,
    /// `[output]`.
    pub output: OutputConfig,
    /// The experiment with every default filled in, as TOML: what is stored in the result and compared to tell one
    /// experiment from another.
    pub resolved: String,
}
