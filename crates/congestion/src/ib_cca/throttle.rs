//! The source's part: an index into the table for each flow, which grows with every notification
//! and shrinks with time.

use serde::{Deserialize, Serialize};

use weir_model::codec::SavedMap;
use weir_model::{EndpointId, Time};

/// Key that stands for all flows of a NIC, if the service level is slowed as a whole.
const ALL: EndpointId = EndpointId::MAX;

/// Rules for moving the index.
#[derive(Clone, Debug)]
pub struct Throttle {
    /// Delays by index, ps.
    pub table: Vec<Time>,
    /// Amount that a notification adds to the index.
    pub increase: u16,
    /// The largest index: one of the table.
    pub limit: u16,
    /// The smallest: `limit` or less.
    pub least: u16,
    /// Period after which the index shrinks, ps, more than 0.
    pub timer: Time,
    /// Amount by which the index shrinks, more than 0.
    pub decrease: u16,
    /// True if a notification slows all that its NIC sends.
    pub whole_nic: bool,
}

/// A flow that is slowed.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct SlowedFlow {
    /// Its index at time `since`.
    index: u16,
    /// Time at which its timer last expired; the timer starts with the first notification.
    since: Time,
    /// Time at which its last tail left.
    tail: Time,
}

/// The flows of a NIC by destination: those above the smallest index or, if that has a delay, all
/// that ever sent.
pub type SlowedFlows = SavedMap<EndpointId, SlowedFlow>;

impl Throttle {
    /// True if the indices of all flows are between their bounds.
    pub fn fits(&self, flows: &SlowedFlows) -> bool {
        let bounds = self.least..=self.limit;
        flows.values().all(|flow| bounds.contains(&flow.index))
    }

    fn key(&self, to: EndpointId) -> EndpointId {
        if self.whole_nic { ALL } else { to }
    }

    /// Takes a notification about the flow from a NIC to an endpoint. Returns the delay between its
    /// packets from now on, ps.
    pub fn notified(&self, flows: &mut SlowedFlows, to: EndpointId, now: Time) -> Time {
        let key = self.key(to);
        let new = SlowedFlow {
            index: self.least,
            since: now,
            tail: now,
        };
        let flow = flows.entry(key).or_insert(new);
        if flow.index == self.least {
            flow.since = now;
        }
        self.shrink(flow, now);
        flow.index = (flow.index.saturating_add(self.increase)).min(self.limit);
        self.delay(flow.index)
    }

    /// Earliest time at which a flow may send its next packet.
    pub fn ready_at(&self, flows: &mut SlowedFlows, to: EndpointId, now: Time) -> Time {
        let key = self.key(to);
        let Some(flow) = flows.get_mut(&key) else {
            return now;
        };
        self.shrink(flow, now);
        let time = self.end_of_wait(flow).max(now);
        if time == now && flow.index == self.least && self.delay(flow.index) == 0 {
            flows.remove(&key);
        }
        time
    }

    /// A packet has been sent whose tail leaves at `tail`.
    pub fn sent(&self, flows: &mut SlowedFlows, to: EndpointId, tail: Time) {
        let key = self.key(to);
        if let Some(flow) = flows.get_mut(&key) {
            flow.tail = tail;
        } else if self.delay(self.least) > 0 {
            let index = self.least;
            let flow = SlowedFlow {
                index,
                since: tail,
                tail,
            };
            flows.insert(key, flow);
        }
    }

    /// The longest delay of a NIC now, ps.
    pub fn longest(&self, flows: &SlowedFlows, now: Time) -> Time {
        let delays = flows.values().map(|flow| {
            let mut flow = *flow;
            self.shrink(&mut flow, now);
            self.delay(flow.index)
        });
        delays.max().unwrap_or(self.delay(self.least))
    }

    /// The delay at an index of the table.
    pub fn delay(&self, index: u16) -> Time {
        self.table[usize::from(index)]
    }

    /// Applies the expiries of the timer up to `now`.
    fn shrink(&self, flow: &mut SlowedFlow, now: Time) {
        let times = now.saturating_sub(flow.since) / self.timer;
        flow.since += times * self.timer;
        let less = times.saturating_mul(self.decrease.into());
        let less = u16::try_from(less).unwrap_or(u16::MAX);
        flow.index = flow.index.saturating_sub(less).max(self.least);
    }

    /// End of the delay after the last tail, if no notification comes: it shrinks while the source
    /// waits.
    fn end_of_wait(&self, flow: &SlowedFlow) -> Time {
        let (mut index, mut from) = (flow.index, flow.since);
        loop {
            let over = (flow.tail + self.delay(index)).max(from);
            let next = from.saturating_add(self.timer);
            if over <= next || index == self.least {
                return over;
            }
            index = index.saturating_sub(self.decrease).max(self.least);
            from = next;
        }
    }
}
