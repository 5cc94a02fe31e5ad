//! Links, routers and NICs: packet-granular virtual cut-through with flit-exact timing.
//!
//! The times of both the head and the tail of every packet are known. So cut-through,
//! serialization, buffers and credits behave as in a flit-level simulator at a fraction of the
//! events. A packet-hop costs one event without contention (the head's arrival), and up to three
//! more under load: its input's or output's side of the crossbar becoming free, and the link
//! becoming free.
//!
//! The zero-load latency of a hop, head to head, is the router's latency plus the link's. The tail
//! follows by the packet's serialization time on the slowest link so far. So the network latency of
//! a lone packet (head leaves the NIC → tail is at its endpoint) is
//! `Σ link latencies + routers × router latency + flits × flit time of the slowest link`.
//!
//! The path of a packet through the code: `endpoint/source` generates a message, `endpoint/nic`
//! cuts it into packets, `router/crossbar` moves them across a router, `router/link` sends them to
//! the next one, and `endpoint/receive` reassembles them. `endpoint/hosts` has the tasks of
//! applications, which send through the same NICs.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![deny(clippy::iter_over_hash_type)]

mod domain;
mod endpoint;
mod fabric;
mod fault;
mod features;
mod flows;
mod mail;
mod record;
mod router;
mod setup;
mod state;

pub use fabric::{Fabric, Halt, Part, Parts, Watcher};
pub use fault::Fault;
pub use record::expected::expected_state;
pub use record::report::{DomainReport, FailingLink, MissingCredit, PortCounts, Totals};
pub use record::stall::{Deadlock, Wait, find_deadlock};
pub use setup::blueprint::Blueprint;
pub use setup::choices::{
    Arbitration, Backlog, BufferPer, ControlRoutes, CreditAt, CreditUnit, Discipline, NicOfMessage,
    NicOrder, Switching,
};
pub use setup::empty;
pub use setup::flow_rules::{FlowRules, flow_kinds};
pub use setup::fork::Fork;
pub use setup::network::{
    Inside, MOST_BUFFERED, MOST_QUEUED, Network, Parameters, RouterParameters,
};
pub use setup::plain::is_rich;
pub use setup::recording::{LinkTimelines, Rated, Recording, Watched};
pub use setup::traffic::{Application, Drive, Open, TaskNics, Traffic};
pub use state::ends::resend::TIMED_PACKET;
pub use state::ends::sends::send_queues::{PARKED_PAIR, QUEUE_PAIR, QUEUED_MESSAGE};
pub use state::hosts::JobState;
pub use state::records::failing::FailingCounts;
pub use state::records::flow_log::{FlowArrival, FlowBegin, FlowHop, FlowReport};
pub use state::records::link_log::STALLED;
pub use state::records::series::{CHUNK, Counts, MOST_BINS, Series, add as add_counts};
pub use state::records::stats::{BinCounts, JobStats, Tally};
pub use state::records::task_log::{TaskEnd, TaskEvent, TaskStep, TasksBehind, merge_iterations};
pub use state::records::waits::{Who, merge as merge_rows};
pub use state::records::watch::Step;
pub use weir_network::topology::Place;
