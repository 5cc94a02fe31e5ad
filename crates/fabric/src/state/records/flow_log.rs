//! Record of flows for the fluid model: when each began, and how much of it each link carried.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::state::OutIndex;
use weir_model::{EndpointId, PortId, RouterId, Time};

/// A flow at its source. Compared by its first fields first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowBegin {
    pub source: EndpointId,
    pub message: u32,
    pub destination: EndpointId,
    pub job: u16,
    /// Payload.
    pub bits: u64,
    pub flits: u64,
    /// Time when it was generated, ps.
    pub generated: Time,
    /// Time when its first head left, ps.
    pub started: Time,
    /// Iteration of its task in which it was generated; 0 for traffic that is no application.
    pub iteration: u32,
}

/// The part of a flow that a router's port carried. Compared by its first fields first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowHop {
    pub router: RouterId,
    pub port: PortId,
    pub source: EndpointId,
    pub message: u32,
    pub flits: u64,
}

/// The part of a flow that came in the measurement window. Compared by its first fields first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowArrival {
    pub source: EndpointId,
    pub message: u32,
    /// Time when the first of these packets was sent, ps.
    pub first: Time,
    /// Time when the last of them was sent, ps.
    pub last: Time,
    /// Payload of all of them but the last: what was sent between these times.
    pub bits: u64,
}

/// Packets of a flow that came in the measurement window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Arrived {
    /// Time when the first of them was sent, ps.
    pub first: Time,
    /// The same of the last, and its payload in bits.
    pub last: (Time, u64),
    /// Payload of all.
    pub bits: u64,
}

/// The flows of a domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct FlowLog {
    pub rows: Vec<FlowBegin>,
    /// By source and message.
    pub arrived: FxHashMap<(EndpointId, u32), Arrived>,
    /// By output, source and message: flits.
    pub hops: FxHashMap<(OutIndex, EndpointId, u32), u64>,
}

/// The same, to be sent to rank 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowReport {
    pub rows: Vec<FlowBegin>,
    pub rates: Vec<FlowArrival>,
    pub hops: Vec<FlowHop>,
}
