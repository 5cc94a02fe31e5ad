//! The switch's part: which packets are marked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{PacketView, Port};

/// The ports at which victims are marked, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VictimMask {
    /// None: only the roots of congestion mark, which have credits.
    None,
    /// Those to endpoints.
    Endpoints,
    /// All of them.
    All,
}

/// What every port of a domain goes by, and what it has seen.
#[derive(Clone, Debug)]
pub struct Marking {
    /// Flits beyond which ports to routers, and to endpoints, mark; None: never.
    thresholds: [Option<u32>; 2],
    victims: VictimMask,
    /// Packets that go by unmarked between two that are marked.
    rate: u16,
    /// Payload bits below which packets are not marked.
    smallest: u64,
    /// By output: those that are still to go by.
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
            to_pass: Vec::new(),
            spared: 0,
        }
    }

    pub fn start(&mut self, outputs: usize) {
        if self.rate > 0 {
            self.to_pass = vec![0; outputs];
        }
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

    /// Whether a packet that leaves is to be marked; `room`: there are credits for another longest one.
    pub fn mark(&mut self, port: &Port, packet: &PacketView, room: bool) -> bool {
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
            self.spared += 1;
            return false;
        }
        let Some(to_pass) = self.to_pass.get_mut(port.output as usize) else {
            return true;
        };
        let marks = *to_pass == 0;
        *to_pass = if marks { self.rate } else { *to_pass - 1 };
        marks
    }

    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.to_pass)
    }
}
