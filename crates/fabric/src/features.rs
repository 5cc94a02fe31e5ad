//! Questions about features that a compiled copy of the fabric may lack.

use crate::domain::{FabricDomain, Fixed};
use crate::setup::plain::Compiled;
use crate::state::Timing;
use crate::state::ports::wide_port::WIDE;
use weir_network::routing::NicChoice;

impl Fixed {
    /// Flits of a buffer or queue that a packet of `flits` flits takes.
    #[inline(always)]
    pub(crate) fn room_of<K: Compiled>(&self, flits: u16) -> u16 {
        match K::RICH {
            true => flits.max(self.least_room),
            false => flits,
        }
    }
}

impl<K: Compiled> FabricDomain<K> {
    /// True if flows are recorded.
    #[inline(always)]
    pub(crate) fn logs_flows(&self) -> bool {
        K::RICH && self.fixed.log_flows
    }

    /// True if timelines of links are recorded.
    #[inline(always)]
    pub(crate) fn logs_links(&self) -> bool {
        K::RICH && self.fixed.log_links
    }

    /// True if virtual channels are divided into several queues.
    #[inline(always)]
    pub(crate) fn divided(&self) -> bool {
        K::RICH && self.fixed.divided
    }

    /// Rule by which NICs choose the virtual network of a packet, if they do.
    #[inline(always)]
    pub(crate) fn choice(&self) -> Option<NicChoice> {
        if K::RICH { self.fixed.choice } else { None }
    }

    /// True if a place stays free in each ring ([`weir_network::routing::Routing::onward`]).
    #[inline(always)]
    pub(crate) fn keeps_bubbles(&self) -> bool {
        K::RICH && self.fixed.bubbles
    }

    /// Flits of a buffer or queue that a packet of `flits` flits takes.
    #[inline(always)]
    pub(crate) fn room_of(&self, flits: u16) -> u16 {
        self.fixed.room_of::<K>(flits)
    }

    /// True if queued packets may take alternative routes
    /// ([`weir_network::routing::Routing::has_alternatives`]).
    #[inline(always)]
    pub(crate) fn has_alternatives(&self) -> bool {
        K::RICH && self.fixed.alternatives
    }

    /// True if a port has more queues than a word has bits; from its
    /// [`crate::state::Output::channel_base`].
    #[inline(always)]
    pub(crate) fn is_wide(base: u32) -> bool {
        K::RICH && base >= WIDE
    }

    /// True if a packet takes its place in the next buffer when it crosses to an output queue, and
    /// none at the link.
    #[inline(always)]
    pub(crate) fn is_prepaid(timing: &Timing) -> bool {
        K::RICH && timing.prepaid
    }

    /// True if the router at the other end of a link passes on whole packets only.
    #[inline(always)]
    pub(crate) fn is_stored(timing: &Timing) -> bool {
        K::RICH && timing.stores
    }

    /// True if any router takes time between two packets on a virtual channel.
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
