//! Prefetches data of the next events and of the received mail into the cache.
//!
//! Packets may be long relative to the delays of a network (a message of 4 KB on links of 6 ns). A
//! port is then active only once in a while, and its domain has left the cache by the time it is
//! active again: a packet-hop waits for some 30 memory accesses one after the other. The next
//! events are known, so their data is requested ahead, many accesses at once. A prefetch changes no
//! result.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::Upstream;
use crate::state::event::EventKind;
use crate::state::mail::post::Post;
use crate::state::{NO_REQUEST, RequestIndex};
use weir_slots::{lines, prefetch, prefetch_list};

/// Events ahead for which ports and NICs are fetched,
const PLACES: usize = 4;
/// for which the heads of their lists are fetched,
const LISTS: usize = 2;
/// and for which the packets at these heads are fetched.
const PACKETS: usize = 1;

/// Most cache lines of a domain's state that are fetched for each event of its last window.
/// An event touches about ten.
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

    /// Fetches the heads of the component's lists.
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

    /// First request at the output or input of an event.
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
        if !Self::is_wide(base) && (base as usize) < self.ports.channels.len() {
            prefetch(&self.ports.channels[base as usize]);
        }
    }

    /// Fetches the packet of the first request, and the place where the packet is.
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

    /// Fetches a domain's state before it takes in its mail and runs, if enough happens in a window
    /// that most of the state will be used.
    ///
    /// The domains of a rank that owns several evict each other from the near cache between their
    /// turns. Requesting everything at once is many times faster than one place after the other.
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

    /// Fetches the places that mail will be written to: first the ports, then their channels, then
    /// the credits.
    pub(crate) fn fetch_for(&self, mail: &Post, step: u32) {
        for one in &mail.credits {
            let out = &self.ports.outputs[one.output as usize];
            if step == 0 {
                prefetch(out);
                continue;
            }
            if Self::is_wide(out.channel_base) {
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
