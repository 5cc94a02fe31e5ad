//! Fetches into the cache what the next events and the mail that has come will look at.
//!
//! Where packets are long next to the delays of a network (a message of 4 KB on links of 6 ns) a port does something once in a
//! while, and a domain leaves the cache before it does so again: a packet-hop then waits for some 30 places of memory one after the
//! other. What comes next is known, so they are asked for before, many at once. A hint changes no result.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::Upstream;
use crate::state::event::EventKind;
use crate::state::mail::post::Post;
use crate::state::{NO_REQUEST, RequestIndex};
use weir_slots::{lines, prefetch, prefetch_list};

/// So many events ahead the places of ports and NICs are fetched,
const PLACES: usize = 4;
/// so many what stands first in their lists,
const LISTS: usize = 2;
/// and so many what that leads to.
const PACKETS: usize = 1;

/// So many lines of what a domain holds are fetched for each event of its last window, at most. An event looks at about ten.
const WORTH: u64 = 16;

impl<K: Compiled> FabricDomain<K> {
    /// Fetches for the events after the one that is next.
    #[inline(always)]
    pub(crate) fn look_ahead(&mut self) {
        if self.queue.has_begun() {
            let first = (0..PLACES).map_while(|nth| self.queue.upcoming(nth));
            first.for_each(|key| self.fetch_place(key));
        }
        if let Some(key) = self.queue.upcoming(PLACES) {
            self.fetch_place(key);
        }
        if let Some(key) = self.queue.upcoming(LISTS) {
            self.fetch_list(key);
        }
        if let Some(key) = self.queue.upcoming(PACKETS) {
            self.fetch_packet(key);
        }
    }

    /// The component of an event.
    fn fetch_place(&self, key: u32) {
        let (kind, component) = self.keys.unkey(key);
        let at = component as usize;
        let classes = usize::from(self.fixed.classes.count());
        match kind {
            EventKind::OutputFree => {
                prefetch(&self.ports.outputs[at]);
                prefetch(&self.ports.rings.outputs[at * classes]);
            }
            EventKind::InputFree => {
                prefetch(&self.ports.inputs[at]);
                prefetch(&self.ports.rings.inputs[at * classes]);
            }
            EventKind::Link => {
                prefetch(&self.ports.outputs[at]);
                if let Some(nic) = component.checked_sub(self.first_nic_output) {
                    prefetch(&self.ends.nics[nic as usize]);
                }
            }
            EventKind::Arrive => prefetch(&self.ports.inputs[at]),
            EventKind::Deliver => prefetch(&self.ends.nics[at]),
            EventKind::Generate => prefetch(&self.ends.sources[at]),
            EventKind::Task | EventKind::Scheme => {}
        }
    }

    /// What stands first in its lists.
    fn fetch_list(&self, key: u32) {
        let (kind, component) = self.keys.unkey(key);
        let at = component as usize;
        self.ports.requests.prefetch(self.first_request(kind, at));
        match kind {
            EventKind::OutputFree => self.fetch_channel(at),
            EventKind::InputFree | EventKind::Task | EventKind::Scheme => {}
            EventKind::Link => {
                if let Some(nic) = component.checked_sub(self.first_nic_output) {
                    self.ends
                        .sends
                        .prefetch(self.ends.nics[nic as usize].ring.turn);
                }
                self.fetch_channel(at);
            }
            EventKind::Arrive => {
                let input = &self.ports.inputs[at];
                let inbox = match input.upstream {
                    Upstream::Away { neighbour, .. } => {
                        self.mail.inboxes[neighbour as usize].entrance.is_some()
                    }
                    _ => false,
                };
                if !inbox {
                    self.pool.fetch_all(input.wire.head);
                }
                prefetch(&self.ports.routers[input.router as usize]);
            }
            EventKind::Deliver => self.pool.fetch_all(self.ends.nics[at].wire.head),
            EventKind::Generate => {
                let nic = self.ends.sources[at].nic;
                prefetch(&self.ends.nics[nic as usize]);
                prefetch(&self.ports.outputs[(self.first_nic_output + nic) as usize]);
            }
        }
    }

    /// What asks first at the output or input of an event.
    #[inline(always)]
    fn first_request(&self, kind: EventKind, at: usize) -> RequestIndex {
        let classes = usize::from(self.fixed.classes.count());
        match kind {
            EventKind::OutputFree => self.ports.rings.outputs[at * classes].next,
            EventKind::InputFree => self.ports.rings.inputs[at * classes].next,
            _ => NO_REQUEST,
        }
    }

    /// The first channel of an output.
    fn fetch_channel(&self, output: usize) {
        let base = self.ports.outputs[output].channel_base;
        if !Self::is_crowd(base) && (base as usize) < self.ports.channels.len() {
            prefetch(&self.ports.channels[base as usize]);
        }
    }

    /// What that leads to: the packet that asks first, and where it is.
    fn fetch_packet(&self, key: u32) {
        let (kind, component) = self.keys.unkey(key);
        let first = self.first_request(kind, component as usize);
        if first != NO_REQUEST {
            let request = self.ports.requests.get(first);
            self.pool.fetch_all(request.queue.head);
            match kind {
                EventKind::OutputFree => prefetch(&self.ports.inputs[request.input as usize]),
                _ => prefetch(&self.ports.outputs[request.output as usize]),
            }
        }
    }

    /// Fetches what a domain holds before it takes in its mail and runs, if so much happens in a window that most of it will be looked at. A rank
    /// that owns several domains has each out of the near cache when its turn comes again, and what is asked for all at once comes
    /// many times faster than one place after the other.
    pub(crate) fn fetch_state(&self) {
        // The credits of a channel are a line of their own.
        let ports = lines(&self.ports.inputs)
            + lines(&self.ports.outputs)
            + 2 * lines(&self.ports.channels);
        if ports < WORTH * self.progress.recent {
            prefetch_list(&self.ports.inputs);
            prefetch_list(&self.ports.outputs);
            prefetch_list(&self.ports.channels);
            for channel in self.ports.channels.iter() {
                channel.credit.prefetch();
            }
        }
        if self.pool.lines_near() < WORTH * self.progress.recent {
            self.pool.fetch_near();
        }
    }

    /// What mail will be written to: first the ports, then their channels, then the places of credits.
    pub(crate) fn fetch_for(&self, mail: &Post, step: u32) {
        for one in &mail.credits {
            let out = &self.ports.outputs[one.output as usize];
            if step == 0 {
                prefetch(out);
                continue;
            }
            if Self::is_crowd(out.channel_base) {
                continue;
            }
            let channel = &self.ports.channels[out.channel_base as usize + usize::from(one.queue)];
            match step {
                1 => prefetch(channel),
                _ => channel.credit.prefetch(),
            }
        }
        if step == 0 {
            for one in &mail.packets {
                prefetch(&self.ports.inputs[one.input as usize]);
            }
        }
    }
}
