//! Links, routers and NICs: packet-granular virtual cut-through with flit-exact timing.
//!
//! Of every packet both the head's and the tail's time are known, so that cut-through, serialization, buffers and
//! credits come out as in a flit-level simulator at a fraction of the events. A packet-hop costs one event where
//! nothing is in its way (the head's arrival), and up to three more under load: its input's or output's side of the
//! crossbar becoming free, and the link becoming free.
//!
//! The time of a hop without load, head to head: the router's latency and the link's. The tail follows by the
//! packet's serialization time on the slowest link so far. So the network latency of a lone packet (head leaves the
//! NIC → tail is at its endpoint) is
//! `Σ link latencies + routers × router latency + flits × flit time of the slowest link`.
//!
//! The road of a packet: `source` generates a message, `nic` cuts it into packets, `crossbar` brings them across
//! a router, `link` to the next one, and `nic` again puts them together. `hosts` has the tasks of applications, which
//! send by the same NICs.

mod accept;
mod ahead;
mod alternatives;
mod attribution;
mod bubble;
mod build;
mod credit;
mod crossbar;
mod crowd;
mod domain;
mod drops;
pub mod empty;
mod event;
mod expected;
mod flow_log;
mod flows;
mod hosts;
mod inbox;
mod injection;
mod later;
mod link;
mod memory;
mod network;
mod nic;
mod nic_context;
mod plain;
mod pool;
mod port_hooks;
mod post;
mod reassembly;
mod receive;
mod report;
mod resend;
mod ring;
mod samples;
mod send_queues;
mod series;
mod shaper;
mod signals;
mod source;
mod stall;
mod state;
mod stats;
mod view;
mod waits;
mod watch;

pub use build::Blueprint;
pub use domain::FabricDomain;
pub use flow_log::{FlowHop, FlowRate, FlowReport, FlowRow};
pub use flows::{FlowRules, flow_kinds};
pub use hosts::{Application, IterationRow, JobState, TaskRow, merge_iterations};
pub use network::{MOST_BUFFERED, MOST_QUEUED, Network, Parameters, RouterParameters};
pub(crate) use plain::with_kind;
pub use plain::{Compiled, Controlled, Plain, Rich, is_controlled, is_rich};
pub use report::{DomainReport, Totals};
pub use samples::Rated;
pub use series::{CHUNK, MOST_BINS, Series, add as add_counts};
pub use source::{Drive, Open, Traffic};
pub use stall::{Deadlock, Wait, find_deadlock};
pub use stats::{
    BIN_COUNTS, DELIVERED_BITS, INJECTED_BITS, JobStats, MESSAGE_LATENCY, MESSAGES,
    NETWORK_LATENCY, PACKETS, Recording, Tally,
};
pub use waits::{Who, merge as merge_rows};
pub use watch::{Place, Step};
