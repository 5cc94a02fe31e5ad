//! What most networks do without. The fabric is compiled twice: for plain runs, in which none of it is there and nobody asks
//! for it, and for all others.

use super::build::Blueprint;
use super::crowd::{CROWD, MOST_BITS};
use super::domain::FabricDomain;
use super::network::RouterParameters;
use super::state::Timing;
use crate::config::{BufferPer, CreditAt, Switching};
use crate::congestion::{Capabilities, Scheme};
use crate::model::LinkKind;
use crate::routing::NicChoice;

/// Whether a run is plain: without congestion control, virtual channels that are divided, packets that may go other ways than the
/// first, NICs that choose among virtual networks, flows that are managed or recorded, ports with more queues than a word has bits,
/// buffers that queues share, credits that are taken before a packet joins an output queue, and routers that store packets.
pub fn is_plain(blueprint: &Blueprint, scheme: &dyn Scheme) -> bool {
    let network = &blueprint.network;
    let kinds = 0..network.topology.link_kinds().len();
    let classes = u32::from(network.classes.count());
    let few = |kind| network.queues(LinkKind(kind as u8)).saturating_mul(classes) <= MOST_BITS;
    let plain = |router: &RouterParameters| {
        router.buffer_per == BufferPer::Vc
            && router.credit_at == CreditAt::Link
            && router.switching == Switching::CutThrough
    };
    scheme.capabilities() == Capabilities::NONE
        && !network.flows.managed
        && !blueprint.recording.flows
        && !network.divided()
        && !network.routing.has_alternatives()
        && network.routing.choice_at_nic().is_none()
        && kinds.into_iter().all(few)
        && network.routers.iter().all(plain)
}

impl<const CC: bool> FabricDomain<CC> {
    /// Whether flows are recorded.
    #[inline(always)]
    pub(super) fn logs_flows(&self) -> bool {
        CC && self.fixed.log_flows
    }

    /// Whether virtual channels are divided into several queues.
    #[inline(always)]
    pub(super) fn divided(&self) -> bool {
        CC && self.fixed.divided
    }

    /// How NICs choose the virtual network of a packet, if they do.
    #[inline(always)]
    pub(super) fn choice(&self) -> Option<NicChoice> {
        if CC { self.fixed.choice } else { None }
    }

    /// Whether packets that wait may go other ways than the first ([`crate::routing::Routing::has_alternatives`]).
    #[inline(always)]
    pub(super) fn has_alternatives(&self) -> bool {
        CC && self.fixed.alternatives
    }

    /// Whether a port has more queues than a word has bits; from its [`super::state::Output::channel_base`].
    #[inline(always)]
    pub(super) fn is_crowd(base: u32) -> bool {
        CC && base >= CROWD
    }

    /// Whether a packet takes its place in the next buffer when it crosses to an output queue, and none at the link.
    #[inline(always)]
    pub(super) fn is_prepaid(timing: &Timing) -> bool {
        CC && timing.prepaid
    }

    /// Whether the router at the other end of a link passes on whole packets only.
    #[inline(always)]
    pub(super) fn is_stored(timing: &Timing) -> bool {
        CC && timing.stores
    }

    /// The channel that holds the credits of a channel.
    #[inline(always)]
    pub(super) fn home(&self, channel: usize) -> usize {
        match CC {
            true => channel - self.channels[channel].share as usize,
            false => channel,
        }
    }
}
