//! Flows at their sources, at their destinations, and at the routers between.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::state::{InIndex, OutIndex};
use weir_model::{EndpointId, FlowStep, Origin, PortId};
use weir_network::routing::Hop;

/// Stage of a flow at its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Its path is being set up.
    Opening,
    /// It may send.
    Open,
    /// All is sent, and a probe is not back.
    Sent,
    /// Its path is being torn down.
    Closing,
}

/// A flow at its source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Flow {
    pub stage: Stage,
    /// True if a probe is under way.
    pub probing: bool,
    /// The common part of its packets.
    pub origin: Origin,
}

/// The flows of a domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Flows {
    /// By NIC and destination.
    sending: FxHashMap<(u32, EndpointId), Flow>,
    /// By NIC and source: the message, and which packet of it is next.
    receiving: FxHashMap<(u32, EndpointId), (u32, u32)>,
    /// By input, source and destination: the hop that is kept.
    circuits: FxHashMap<(InIndex, EndpointId, EndpointId), Hop>,
    /// By input: how many are kept.
    kept: Vec<u32>,
    /// Number of flows by output.
    passing: Vec<u32>,
    /// Most circuits that an input keeps.
    cache: u32,
    /// Number of times a circuit was kept, and number of times there was no room.
    pub counts: [u64; 2],
}

impl Flows {
    /// No flows, in a domain of `ports` ports; `cache` is that of the routing if it keeps circuits.
    pub fn new(ports: usize, cache: Option<u32>) -> Flows {
        let ports = if cache.is_some() { ports } else { 0 };
        Flows {
            kept: vec![0; ports],
            passing: vec![0; ports],
            cache: cache.unwrap_or(0),
            ..Flows::default()
        }
    }

    /// True if they are of as many ports as others.
    pub fn fit(&self, other: &Flows) -> bool {
        (self.kept.len(), self.passing.len(), self.cache)
            == (other.kept.len(), other.passing.len(), other.cache)
    }

    /// The flow from a NIC to a destination.
    pub fn sending(&mut self, nic: u32, to: EndpointId) -> Option<&mut Flow> {
        self.sending.get_mut(&(nic, to))
    }

    /// Begins a flow.
    pub fn begin(&mut self, nic: u32, to: EndpointId, flow: Flow) {
        self.sending.insert((nic, to), flow);
    }

    /// Forgets a flow at its source.
    pub fn end(&mut self, nic: u32, to: EndpointId) {
        self.sending.remove(&(nic, to));
    }

    /// The message of the flow from a source to a NIC, and which packet of it is next.
    pub fn receiving(&mut self, nic: u32, from: EndpointId) -> Option<&mut (u32, u32)> {
        self.receiving.get_mut(&(nic, from))
    }

    /// A flow begins at its destination.
    pub fn expect(&mut self, nic: u32, from: EndpointId, message: u32) {
        self.receiving.insert((nic, from), (message, 0));
    }

    /// It ends there.
    pub fn expect_no_more(&mut self, nic: u32, from: EndpointId) {
        self.receiving.remove(&(nic, from));
    }

    /// Number of flows through an output.
    pub fn passing(&self, output: OutIndex) -> u32 {
        self.passing.get(output as usize).copied().unwrap_or(0)
    }

    /// The hop that an input keeps for a flow.
    pub fn circuit(&self, input: InIndex, source: EndpointId, to: EndpointId) -> Option<Hop> {
        self.circuits.get(&(input, source, to)).copied()
    }

    /// Keeps a port for a flow, if there is room.
    pub fn keep(&mut self, input: InIndex, flow: (EndpointId, EndpointId), port: PortId) -> bool {
        let kept = &mut self.kept[input as usize];
        let room = *kept < self.cache;
        self.counts[usize::from(!room)] += 1;
        if room {
            *kept += 1;
            let hop = Hop { port, vc: 0 };
            self.circuits.insert((input, flow.0, flow.1), hop);
        }
        room
    }

    /// Keeps the hop of a packet that sets a flow up.
    pub fn hold(&mut self, input: InIndex, flow: (EndpointId, EndpointId), hop: Hop) {
        self.circuits.insert((input, flow.0, flow.1), hop);
    }

    /// A control packet of a flow takes an output: the flow begins there or ends there.
    pub fn pass(
        &mut self,
        step: FlowStep,
        input: InIndex,
        output: OutIndex,
        flow: (EndpointId, EndpointId),
    ) {
        let end = step == FlowStep::End;
        let kept = end && self.circuits.remove(&(input, flow.0, flow.1)).is_some();
        let Some(passing) = self.passing.get_mut(output as usize) else {
            return;
        };
        *passing += u32::from(step == FlowStep::Start);
        *passing -= u32::from(end);
        self.kept[input as usize] -= u32::from(kept);
    }

    /// True if a queue pair may send data: unless its flow is not set up yet or is over.
    #[inline]
    pub fn may_send(&self, nic: u32, to: EndpointId) -> bool {
        let flow = self.sending.get(&(nic, to));
        flow.is_none_or(|flow| flow.stage == Stage::Open)
    }

    /// True if nothing is left of any flow.
    pub fn are_over(&self) -> bool {
        self.sending.is_empty()
            && self.receiving.is_empty()
            && self.circuits.is_empty()
            && self.passing.iter().all(|&flows| flows == 0)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.sending.capacity() * (size_of::<(u32, EndpointId)>() + size_of::<Flow>())
            + self.receiving.capacity() * 16
            + self.circuits.capacity() * 16
            + (self.kept.capacity() + self.passing.capacity()) * 4
    }
}
