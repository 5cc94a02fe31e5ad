//! Routers and their ports.

pub(crate) mod allocation;
pub(crate) mod credit;
pub(crate) mod memory;
pub(crate) mod ring;
mod rows;
pub(crate) mod wide_port;

pub use rows::*;

use serde::{Deserialize, Serialize};

use allocation::Allocation;
use memory::Memory;
use ring::Requests;
use weir_slots::Slots;
use wide_port::{HeadQueues, WidePorts};

/// Routers and their ports, and the links of NICs.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub routers: Slots<Router>,
    /// Per-router routing state.
    pub memory: Memory,
    pub inputs: Slots<Input>,
    pub outputs: Slots<Output>,
    pub channels: Slots<Channel>,
    pub requests: Requests,
    pub rings: Rings,
    pub wide_ports: WidePorts,
    pub fifos: HeadQueues,
    pub allocation: Allocation,
}
