use bytemuck::{Pod, Zeroable};

use crate::engine::Mail;
use crate::model::{NEVER, Origin, Packet, PortId, RouterId, Time};

/// A packet that crosses into another domain: its head will be at a router's port at `packet.head`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct PacketMail {
    pub packet: Packet,
    pub origin: Origin,
    pub router: RouterId,
    pub port: PortId,
    pub spare: u16,
}

/// A credit that goes back into another domain.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct CreditMail {
    pub time: Time,
    pub router: RouterId,
    pub port: PortId,
    pub flits: u16,
    pub vc: u8,
    pub spare: [u8; 7],
}

/// What one domain sends to another in one window.
#[derive(Debug, Default)]
pub struct Post {
    pub packets: Vec<PacketMail>,
    pub credits: Vec<CreditMail>,
}

impl Post {
    #[inline]
    pub fn packet(&mut self, packet: Packet, origin: Origin, router: RouterId, port: PortId) {
        self.packets.push(PacketMail {
            packet,
            origin,
            router,
            port,
            spare: 0,
        });
    }

    #[inline]
    pub fn credit(&mut self, time: Time, router: RouterId, port: PortId, vc: u8, flits: u16) {
        self.credits.push(CreditMail {
            time,
            router,
            port,
            flits,
            vc,
            spare: [0; 7],
        });
    }
}

impl Mail for Post {
    fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.credits.is_empty()
    }

    /// Credits alone make nothing happen before a packet asks for them, but a port may be waiting for one.
    fn earliest(&self) -> Time {
        let packets = self.packets.iter().map(|mail| mail.packet.head);
        packets
            .chain(self.credits.iter().map(|mail| mail.time))
            .min()
            .unwrap_or(NEVER)
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.packets.len() as u64).to_le_bytes());
        bytes.extend_from_slice(bytemuck::cast_slice(&self.packets));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.credits));
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (count, rest) = bytes.split_at_checked(8)?;
        let count = u64::from_le_bytes(count.try_into().ok()?);
        let length = usize::try_from(count)
            .ok()?
            .checked_mul(size_of::<PacketMail>())?;
        let (packets, credits) = rest.split_at_checked(length)?;
        if credits.len() % size_of::<CreditMail>() != 0 {
            return None;
        }
        let packets = packets.chunks_exact(size_of::<PacketMail>());
        let credits = credits.chunks_exact(size_of::<CreditMail>());
        Some(Post {
            packets: packets.map(bytemuck::pod_read_unaligned).collect(),
            credits: credits.map(bytemuck::pod_read_unaligned).collect(),
        })
    }

    fn clear(&mut self) {
        self.packets.clear();
        self.credits.clear();
    }
}
