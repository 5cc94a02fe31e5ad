//! The source's part: an index into the table for each flow, which grows with every notification and shrinks with time.

use rustc_hash::FxHashMap;

use crate::flow_bytes;
use weir_model::{EndpointId, Time};

/// The flow that stands for all of a NIC, whose service level is slowed as a whole.
const ALL: EndpointId = EndpointId::MAX;

/// How the index moves.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Delays by index, ps.
    pub table: Vec<Time>,
    /// What a notification adds to the index.
    pub increase: u16,
    /// The largest index: one of the table.
    pub limit: u16,
    /// The smallest: `limit` or less.
    pub least: u16,
    /// How often the index shrinks, ps, more than 0 …
    pub timer: Time,
    /// … and by how much, more than 0.
    pub decrease: u16,
    /// Whether a notification slows all that its NIC sends.
    pub whole_nic: bool,
}

/// A flow that is slowed.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Its index at time `since`.
    index: u16,
    /// When its timer last ran out: the timer begins with the first notification.
    since: Time,
    /// When its last tail left.
    tail: Time,
}

/// The flows of a domain's NICs.
#[derive(Clone, Debug)]
pub struct Throttle {
    rules: Rules,
    /// By NIC, then destination: flows above the smallest index, and where that has a delay all that ever sent.
    flows: Vec<FxHashMap<EndpointId, Flow>>,
}

impl Throttle {
    pub fn new(rules: Rules) -> Self {
        Throttle {
            rules,
            flows: Vec::new(),
        }
    }

    pub fn start(&mut self, nics: usize) {
        self.flows = vec![FxHashMap::default(); nics];
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    fn key(&self, to: EndpointId) -> EndpointId {
        if self.rules.whole_nic { ALL } else { to }
    }

    /// A notification about what a NIC sends to an endpoint. Gives the delay between its packets from now on, ps.
    pub fn notified(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        let key = self.key(to);
        let new = Flow {
            index: self.rules.least,
            since: now,
            tail: now,
        };
        let flow = self.flows[nic as usize].entry(key).or_insert(new);
        if flow.index == self.rules.least {
            flow.since = now;
        }
        self.rules.shrink(flow, now);
        flow.index = (flow.index.saturating_add(self.rules.increase)).min(self.rules.limit);
        self.rules.delay(flow.index)
    }

    /// When a flow may send its next packet.
    pub fn ready_at(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        let key = self.key(to);
        let flows = &mut self.flows[nic as usize];
        let Some(flow) = flows.get_mut(&key) else {
            return now;
        };
        self.rules.shrink(flow, now);
        let time = self.rules.end_of_wait(flow).max(now);
        if time == now && flow.index == self.rules.least && self.rules.delay(flow.index) == 0 {
            flows.remove(&key);
        }
        time
    }

    /// A packet has been sent whose tail leaves at `tail`.
    pub fn sent(&mut self, nic: u32, to: EndpointId, tail: Time) {
        let key = self.key(to);
        let flows = &mut self.flows[nic as usize];
        if let Some(flow) = flows.get_mut(&key) {
            flow.tail = tail;
        } else if self.rules.delay(self.rules.least) > 0 {
            let index = self.rules.least;
            let flow = Flow {
                index,
                since: tail,
                tail,
            };
            flows.insert(key, flow);
        }
    }

    /// The longest delay of a NIC now, ps.
    pub fn longest(&self, nic: u32, now: Time) -> Time {
        let flows = self.flows[nic as usize].values();
        let delays = flows.map(|flow| {
            let mut flow = *flow;
            self.rules.shrink(&mut flow, now);
            self.rules.delay(flow.index)
        });
        delays.max().unwrap_or(self.rules.delay(self.rules.least))
    }

    pub fn memory_bytes(&self) -> usize {
        flow_bytes(&self.flows) + size_of_val(&*self.rules.table)
    }
}

impl Rules {
    /// The delay at an index of the table.
    pub fn delay(&self, index: u16) -> Time {
        self.table[usize::from(index)]
    }

    /// Lets the timer run out as often as it did by `now`.
    fn shrink(&self, flow: &mut Flow, now: Time) {
        let times = now.saturating_sub(flow.since) / self.timer;
        flow.since += times * self.timer;
        let less = times.saturating_mul(self.decrease.into());
        let less = u16::try_from(less).unwrap_or(u16::MAX);
        flow.index = flow.index.saturating_sub(less).max(self.least);
    }

    /// When the delay after the last tail is over, if no notification comes: it shrinks while the source waits.
    fn end_of_wait(&self, flow: &Flow) -> Time {
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
