//! What most networks do without. The fabric is compiled three times: for plain runs, in which none of it is there and nobody asks
//! for it, for congestion control on networks that have nothing else of it, and for all others.

use std::fmt::Debug;

use super::build::Blueprint;
use super::network::RouterParameters;
use crate::domain::FabricDomain;
use crate::state::Timing;
use crate::state::ports::crowd::{CROWD, MOST_BITS};
use crate::{BufferPer, CreditAt, Switching};
use weir_congestion::{Capabilities, Scheme};
use weir_model::LinkKind;
use weir_network::routing::NicChoice;

/// What a copy of the fabric is compiled for.
pub trait Compiled: Copy + Debug + Send + Sync + 'static {
    /// Congestion control.
    const CC: bool;
    /// What else plain runs have not ([`is_rich`]).
    const RICH: bool;
}

/// Without congestion control, on networks that have nothing out of the ordinary.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Compiled for Plain {
    const CC: bool = false;
    const RICH: bool = false;
}

/// Congestion control on such networks.
#[derive(Clone, Copy, Debug)]
pub struct Controlled;

impl Compiled for Controlled {
    const CC: bool = true;
    const RICH: bool = false;
}

/// All there is.
#[derive(Clone, Copy, Debug)]
pub struct Rich;

impl Compiled for Rich {
    const CC: bool = true;
    const RICH: bool = true;
}

/// Whether a scheme does anything.
pub fn is_controlled(scheme: &dyn Scheme) -> bool {
    scheme.capabilities() != Capabilities::NONE
}

/// Whether a network has virtual channels that are divided, packets that may go other ways than the first, NICs that choose among
/// virtual networks, flows that are managed or recorded, ports with more queues than a word has bits, buffers that queues share,
/// credits that are taken before a packet joins an output queue, or routers that store packets or take time between two of a virtual channel.
pub fn is_rich(blueprint: &Blueprint) -> bool {
    let network = &blueprint.network;
    let kinds = 0..network.topology.link_kinds().len();
    let classes = u32::from(network.classes.count());
    let few = |kind| network.queues(LinkKind(kind as u8)).saturating_mul(classes) <= MOST_BITS;
    let plain = |router: &RouterParameters| {
        router.buffer_per == BufferPer::Vc
            && router.credit_at == CreditAt::Link
            && router.switching == Switching::CutThrough
            && !router.allocates()
    };
    network.flows.managed
        || blueprint.recording.flows
        || network.divided()
        || network.routing.has_alternatives()
        || network.routing.choice_at_nic().is_some()
        || network.routing.keeps_bubbles()
        || !kinds.into_iter().all(few)
        || !network.routers.iter().all(plain)
}

impl<K: Compiled> FabricDomain<K> {
    /// Whether flows are recorded.
    #[inline(always)]
    pub(crate) fn logs_flows(&self) -> bool {
        K::RICH && self.fixed.log_flows
    }

    /// Whether virtual channels are divided into several queues.
    #[inline(always)]
    pub(crate) fn divided(&self) -> bool {
        K::RICH && self.fixed.divided
    }

    /// How NICs choose the virtual network of a packet, if they do.
    #[inline(always)]
    pub(crate) fn choice(&self) -> Option<NicChoice> {
        if K::RICH { self.fixed.choice } else { None }
    }

    /// Whether a place stays free in each ring ([`weir_network::routing::Routing::onward`]).
    #[inline(always)]
    pub(crate) fn keeps_bubbles(&self) -> bool {
        K::RICH && self.fixed.bubbles
    }

    /// Whether packets that wait may go other ways than the first ([`weir_network::routing::Routing::has_alternatives`]).
    #[inline(always)]
    pub(crate) fn has_alternatives(&self) -> bool {
        K::RICH && self.fixed.alternatives
    }

    /// Whether a port has more queues than a word has bits; from its [`crate::state::Output::channel_base`].
    #[inline(always)]
    pub(crate) fn is_crowd(base: u32) -> bool {
        K::RICH && base >= CROWD
    }

    /// Whether a packet takes its place in the next buffer when it crosses to an output queue, and none at the link.
    #[inline(always)]
    pub(crate) fn is_prepaid(timing: &Timing) -> bool {
        K::RICH && timing.prepaid
    }

    /// Whether the router at the other end of a link passes on whole packets only.
    #[inline(always)]
    pub(crate) fn is_stored(timing: &Timing) -> bool {
        K::RICH && timing.stores
    }

    /// Whether any router takes time between two packets on a virtual channel.
    #[inline(always)]
    pub(crate) fn allocates(&self) -> bool {
        K::RICH && self.fixed.allocates
    }

    /// The channel that holds the credits of a channel.
    #[inline(always)]
    pub(crate) fn home(&self, channel: usize) -> usize {
        match K::RICH {
            true => channel - self.ports.channels[channel].share as usize,
            false => channel,
        }
    }
}
