//! Which queue a packet joins in the next input buffer. One file per scheme.
//!
//! A routing names the virtual channel that a packet needs, so that no cycle of waiting packets can form. A queueing scheme
//! divides every virtual channel into queues, each with credits of its own, so that packets which wait do not stand in the
//! way of packets that could go on (head-of-line blocking). Queues of different virtual channels are never the same, so a
//! routing that cannot deadlock cannot under any scheme: packets that wait for each other in a cycle of queues would wait for
//! each other in a cycle of virtual channels.

mod dbbm;
pub mod refined;
mod single;
pub mod spread;
mod vcs;
mod voq_net;
mod voq_sw;

use std::sync::Arc;

use crate::config::{ConfigError, Section};
use crate::model::{EndpointId, LinkKind, PortId, RouterId};
use crate::registry::Entry;
use crate::topology::Topology;

use spread::Spread;

/// A packet that is about to take a link, and to join a queue of the input buffer behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// The router and the output port that it leaves by; None: its NIC. What is behind them is for [`Topology::peer`] to say.
    pub from: Option<(RouterId, PortId)>,
    /// What the link joins.
    pub kind: LinkKind,
    /// The virtual channel, or virtual network, that the routing has chosen for it there.
    pub vc: u8,
    /// Virtual channels that the routing has there.
    pub vcs: u8,
    /// Who sent it.
    pub source: EndpointId,
    /// Where it goes.
    pub destination: EndpointId,
    /// Its traffic class. Each has queues of its own.
    pub class: u8,
    /// The number of its job among those that run.
    pub job: u16,
}

/// A queueing scheme, fixed to one topology.
pub trait Queueing: Send + Sync {
    /// Queues that each virtual channel of one traffic class is divided into, in the input buffers behind links of `kind`, of
    /// which the routing has `vcs` virtual channels. At least 1. Links from NICs are of [`LinkKind::TERMINAL`]; the virtual
    /// channels there are those of `nic.injection_vcs`.
    fn queues(&self, kind: LinkKind, vcs: u8) -> u32;
    /// Which of those a packet joins, from 0. The same for the same argument. Not asked where there is one, nor on the way to
    /// an endpoint.
    fn queue(&self, packet: &Joining) -> u32;
    /// Whether the packets of one queue wait by output (virtual output queues at the switch), in place of one behind the
    /// other. These are not told apart by credits: they share the space of the queue.
    fn by_output(&self) -> bool;
    /// Whether there are several virtual channels in place of each of the routing's, and how packets choose among them.
    fn spread(&self) -> Option<Spread> {
        None
    }
}

/// Builds a queueing scheme for a topology from its section.
pub type Build = fn(&Section, &Arc<dyn Topology>) -> Result<Box<dyn Queueing>, ConfigError>;

/// All queueing schemes.
pub const REGISTRY: &[Entry<Build>] = &[
    single::ENTRY,
    voq_sw::ENTRY,
    dbbm::ENTRY,
    voq_net::ENTRY,
    vcs::ENTRY,
];

/// The most queues of a virtual channel; a port has no more in all (`simulation/limits.rs`).
const MOST_EACH: u32 = 1 << 16;
