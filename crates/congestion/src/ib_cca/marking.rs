//! The switch's part: the choice of packets to mark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{PacketView, Port};

/// Ports at which victims are marked as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VictimMask {
    /// None: only the roots of congestion, which have credits, mark.
    None,
    /// Ports to endpoints.
    Endpoints,
    /// All ports.
    All,
}

/// The rules of every port.
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    /// Flits beyond which ports to routers, and to endpoints, mark; None: never.
    thresholds: [Option<u32>; 2],
    victims: VictimMask,
    /// Unmarked packets between two marked ones.
    rate: u16,
    /// Payload bits below which packets are not marked.
    smallest: u64,
}

/// The packets that the ports of a domain have seen.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Passing {
    /// By output: packets still to pass unmarked. Empty if all are marked.
    to_pass: Vec<u16>,
    /// Packets that were not marked because they were victims.
    pub spared: u64,
}

impl Marking {
    pub fn new(
        thresholds: [Option<u32>; 2],
        victims: VictimMask,
        rate: u16,
        smallest: u64,
    ) -> Self {
        Marking {
            thresholds,
            victims,
            rate,
            smallest,
        }
    }

    /// Ports that have seen nothing.
    pub fn start(&self, outputs: usize) -> Passing {
        Passing {
            to_pass: vec![0; self.counted(outputs)],
            spared: 0,
        }
    }

    /// True if the counts fit a domain with this number of outputs.
    pub fn fits(&self, passing: &Passing, outputs: usize) -> bool {
        passing.to_pass.len() == self.counted(outputs)
    }

    /// The outputs at which packets are counted.
    fn counted(&self, outputs: usize) -> usize {
        if self.rate > 0 { outputs } else { 0 }
    }

    /// Flits beyond which ports to routers, and to endpoints, mark; None: never.
    pub fn thresholds(&self) -> [Option<u32>; 2] {
        self.thresholds
    }

    /// The level below which no port marks.
    pub fn from(&self) -> u32 {
        let least = self.thresholds.iter().flatten().min();
        least.map_or(u32::MAX, |flits| flits.saturating_add(1))
    }

    /// True if a packet that leaves is to be marked; `room`: there are credits for another longest
    /// one.
    pub fn mark(
        &self,
        passing: &mut Passing,
        port: &Port,
        packet: &PacketView,
        room: bool,
    ) -> bool {
        let beyond = |flits: u32| port.level > flits;
        let congested = self.thresholds[usize::from(port.last_hop)].is_some_and(beyond);
        if !congested || u64::from(packet.payload_bits) < self.smallest {
            return false;
        }
        let masked = match self.victims {
            VictimMask::None => false,
            VictimMask::Endpoints => port.last_hop,
            VictimMask::All => true,
        };
        if !room && !masked {
            passing.spared += 1;
            return false;
        }
        let Some(to_pass) = passing.to_pass.get_mut(port.output as usize) else {
            return true;
        };
        let marks = *to_pass == 0;
        *to_pass = if marks { self.rate } else { *to_pass - 1 };
        marks
    }
}

impl Passing {
    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.to_pass)
    }
}
