//! A router with links that are down, as a routing sees it.

use crate::failures::{Outages, Seen};
use crate::routing::{Here, Hop, Load, Queue, pass_on};
use weir_model::PortId;

/// Backlog of a port whose link is down, in flits: more than any threshold.
const BLOCKED: u32 = 1 << 24;

/// The state of a router, at which links that are down have a long backlog.
pub(super) struct Masked<'a> {
    outages: &'a Outages,
    /// True if the routing sees at once which links of the router are down.
    adaptive: bool,
    here: &'a mut dyn Here,
    seen: Seen,
}

impl<'a> Masked<'a> {
    pub fn new(outages: &'a Outages, adaptive: bool, here: &'a mut dyn Here) -> Self {
        let seen = here.links();
        Masked {
            outages,
            adaptive,
            here,
            seen,
        }
    }

    /// The state of the links.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// True if a packet may not leave by a port of this router, as far as that knows.
    pub fn is_down(&self, port: PortId) -> bool {
        let down = |state| self.outages.is_down(state, self.here.router(), port);
        down(self.seen.known) || self.adaptive && down(self.seen.actual)
    }
}

impl Here for Masked<'_> {
    pass_on!(router in_port source job pick recall remember flows circuit keep_circuit max_packet);

    fn backlog(&mut self, port: PortId) -> u32 {
        match self.is_down(port) {
            true => BLOCKED,
            false => self.here.backlog(port),
        }
    }

    fn queue(&mut self, port: PortId) -> Queue {
        match self.is_down(port) {
            true => Queue {
                waiting: BLOCKED,
                queued: BLOCKED,
                beyond: BLOCKED,
            },
            false => self.here.queue(port),
        }
    }

    fn load(&mut self, hop: Hop) -> Load {
        match self.is_down(hop.port) {
            true => Load {
                used: BLOCKED,
                queued: BLOCKED,
                free: 0,
            },
            false => self.here.load(hop),
        }
    }

    fn links(&self) -> Seen {
        self.seen
    }
}
