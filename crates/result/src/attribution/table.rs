//! `/data/attribution` in memory.

use weir_model::Time;

/// `/data/attribution`: whose data waited where and for what. In bytes times seconds: so much data for so long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribution {
    /// Time between two looks at the ports, ps.
    pub interval_ps: Time,
    /// Width of a time bin, ps.
    pub bin_ps: Time,
    /// Whether sources and destinations are told apart.
    pub sources: bool,
    /// `/data/attribution/waits`.
    pub waits: Waits,
    /// `/data/attribution/pressure`.
    pub pressure: Pressure,
    /// `/data/attribution/elsewhere`.
    pub elsewhere: Elsewhere,
}

/// `/data/attribution/waits`: one row per time bin, port and job (or job, source and destination).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// Start of the bin, ps.
    pub time_ps: Vec<Time>,
    /// Router.
    pub router: Vec<u32>,
    /// Port of that router.
    pub port: Vec<u16>,
    /// 1: what waited in the NIC at that port to go to the router; 0: what waited in the router to leave by it.
    pub nic: Vec<u16>,
    /// Job, in the order of the experiment file.
    pub job: Vec<u32>,
    /// Sender; `u32::MAX` if that is not told apart.
    pub source: Vec<u32>,
    /// Receiver; `u32::MAX` if that is not told apart.
    pub destination: Vec<u32>,
    /// What waited for a link that was full, B s.
    pub full: Vec<f64>,
    /// What waited for its turn at a link that was not full, B s.
    pub queued: Vec<f64>,
    /// What waited for room in the buffer behind the link, B s.
    pub starved: Vec<f64>,
}

/// `/data/attribution/pressure`: one row per time bin, input and output of a router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Start of the bin, ps.
    pub time_ps: Vec<Time>,
    /// Router.
    pub router: Vec<u32>,
    /// The port behind which it waited.
    pub from_port: Vec<u16>,
    /// The port that it waited for.
    pub port: Vec<u16>,
    /// What waited while the buffer was filling up, B s.
    pub waited: Vec<f64>,
}

/// `/data/attribution/elsewhere`: one row per time bin and job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// Start of the bin, ps.
    pub time_ps: Vec<Time>,
    /// Job, in the order of the experiment file.
    pub job: Vec<u32>,
    /// What waited for its turn at ports that have no rows, B s.
    pub queued: Vec<f64>,
}
