//! Queueing schemes: the choice of a packet's queue in the next input buffer. One file per scheme.
//!
//! A routing names the virtual channel that a packet needs, so that no cycle of waiting packets can
//! form. A queueing scheme divides every virtual channel into queues with separate credits, so that
//! waiting packets do not block packets that could proceed (head-of-line blocking).
//!
//! Queues of different virtual channels are never the same, so a routing that cannot deadlock
//! cannot do so under any scheme. Packets that wait for each other in a cycle of queues would wait
//! for each other in a cycle of virtual channels.

mod bands;
mod bbq;
mod dbbm;
mod dbbq;
mod flow2sl;
pub mod refined;
mod single;
pub mod spread;
mod vcs;
mod vftree;
mod voq_net;
mod voq_sw;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::routing::Routing;
use crate::topology::{Topology, tree};
use weir_input::registry::Entry;
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, LinkKind, PortId, RouterId};

use spread::Spread;

/// A packet that is about to take a link, and to join a queue of the input buffer behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// The router and the output port that it leaves by; None: its NIC. [`Topology::peer`] gives
    /// the other end.
    pub from: Option<(RouterId, PortId)>,
    /// The kind of link.
    pub kind: LinkKind,
    /// The virtual channel, or virtual network, that the routing has chosen for it there.
    pub vc: u8,
    /// Virtual channels that the routing has there.
    pub vcs: u8,
    /// Its source.
    pub source: EndpointId,
    /// Its destination.
    pub destination: EndpointId,
    /// Its traffic class. Each class has separate queues.
    pub class: u8,
    /// The index of its job among the jobs of the run.
    pub job: u16,
}

/// A queueing scheme, fixed to one topology.
pub trait Queueing: Send + Sync {
    /// Number of queues that each virtual channel of one traffic class is divided into, at least 1.
    ///
    /// This holds for the input buffers behind links of `kind`, of which the routing has `vcs`
    /// virtual channels. Links from NICs are of [`LinkKind::TERMINAL`]; the virtual channels there
    /// are those of `nic.injection_vcs`.
    fn queues(&self, kind: LinkKind, vcs: u8) -> u32;
    /// The queue that a packet joins, from 0. A pure function of its argument. Not called if there
    /// is only one, nor for links to endpoints.
    fn queue(&self, packet: &Joining) -> u32;
    /// True if the packets of one queue wait by output (virtual output queues at the switch)
    /// instead of one behind the other. Credits do not distinguish the outputs: they share the
    /// space of the queue.
    fn by_output(&self) -> bool;
    /// Number of virtual channels that replace each of the routing's, and the choice among them;
    /// None: one.
    fn spread(&self) -> Option<Spread> {
        None
    }
}

/// The network whose queues a queueing scheme divides.
#[derive(Clone, Copy)]
pub struct Divided<'a> {
    /// The network.
    pub topology: &'a Arc<dyn Topology>,
    /// The routing, which names the virtual channels.
    pub routing: &'a dyn Routing,
}

/// Builds a queueing scheme for a network and its routing from its section.
pub type Build = fn(&Section, Divided) -> Result<Box<dyn Queueing>, ConfigError>;

/// All queueing schemes.
pub const REGISTRY: &[Entry<Build>] = &[
    single::ENTRY,
    voq_sw::ENTRY,
    dbbm::ENTRY,
    bbq::ENTRY,
    dbbq::ENTRY,
    flow2sl::ENTRY,
    vftree::ENTRY,
    voq_net::ENTRY,
    vcs::ENTRY,
];

/// Maximum number of queues of a virtual channel; a port has no more in all
/// (`simulation/src/assemble/limits.rs`).
const MOST_EACH: u32 = 1 << 16;

/// The parameters of schemes with a given number of queues. A scheme's own type around it says how
/// packets choose among them.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, bound = "")]
#[schemars(inline)]
struct Queues<const NUMBER: u32> {
    /// Queues of each virtual channel, from 1 to 65,536. `bbq`: at most the size of the last
    /// dimension. `dbbq`: the queues of one virtual network, at most the size of the first and of
    /// the last dimension. `flow2sl`: at most the number of leaf routers.
    queues: u32,
    /// True if each queue is also divided by output (`voq_sw`).
    voq_sw: bool,
}

impl<const NUMBER: u32> Default for Queues<NUMBER> {
    fn default() -> Self {
        Queues {
            queues: NUMBER,
            voq_sw: false,
        }
    }
}

/// Refuses an invalid number of queues of a virtual channel.
fn check_number(queues: u32) -> Result<(), Invalid> {
    if (1..=MOST_EACH).contains(&queues) {
        return Ok(());
    }
    Err(Invalid::new(
        "queues",
        format!("{queues} queues of a virtual channel"),
        format!("write a number from 1 to {MOST_EACH}"),
    ))
}

/// Endpoints of a leaf router of the fat tree that a network is, refused if it is none.
fn leaf_of(topology: &Arc<dyn Topology>) -> Result<u32, Invalid> {
    if topology.as_a::<tree::Tree>().is_none() {
        return Err(Invalid::new(
            "scheme",
            format!(
                "it uses the leaf routers of a fat tree, and this is a {}",
                topology.describe()
            ),
            "choose a fat tree, or another scheme, such as \"dbbm\"",
        ));
    }
    let (leaf, _) = topology.attachment(0);
    let at_leaf = (0..topology.endpoints()).take_while(|&one| topology.attachment(one).0 == leaf);
    // One at least: the first.
    Ok(at_leaf.count() as u32)
}
