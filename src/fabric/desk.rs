use std::ops::Range;

use super::nic::{Nic, blank};
use super::pool::Pool;
use super::resend::{Resend, Resends};
use super::send_queues::SendQueues;
use crate::congestion::{About, Desk};
use crate::model::{Classes, EndpointId, Origin, PacketIndex, PacketKind, Time};

/// The desk of a scheme at one NIC.
pub struct NicDesk<'a> {
    pub now: Time,
    pub nic: u32,
    pub about: &'a About,
    pub classes: Classes,
    pub state: &'a mut Nic,
    pub sends: &'a mut SendQueues,
    pub pool: &'a mut Pool,
    /// Only for schemes that send packets again.
    pub resends: Option<&'a mut Resends>,
    /// The control packet made last.
    pub last: PacketIndex,
}

/// The traffic class of a control packet.
pub fn class_of(kind: PacketKind, classes: Classes) -> u8 {
    match kind {
        PacketKind::Data => classes.data,
        PacketKind::Ack | PacketKind::Nack => classes.control,
        PacketKind::Reservation => classes.reservation,
        PacketKind::Grant => classes.grant,
    }
}

impl Desk for NicDesk<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn nic(&self) -> u32 {
        self.nic
    }

    #[inline]
    fn reply(&mut self, kind: PacketKind, to: EndpointId, origin: Origin) {
        let class = class_of(kind, self.classes);
        let origin = Origin {
            source: self.state.id,
            kind: kind as u8,
            ..origin
        };
        self.last = self
            .pool
            .insert(blank(to, class, true, 1, self.now), origin);
        self.state.control[usize::from(class - self.classes.control)].push(self.pool, self.last);
    }

    fn resend(&mut self, at: Time, lossy: bool, to: EndpointId, origin: Origin) {
        let Some(resends) = self.resends.as_deref_mut() else {
            unreachable!("only schemes that speculate send packets again");
        };
        let what = Resend { to, origin };
        match lossy {
            true => resends.add_lossy(what),
            false => resends.add_timed(at, what),
        }
    }

    fn withdraw(&mut self, to: EndpointId, message: u32) -> Range<u32> {
        let found = self
            .sends
            .withdraw(self.nic, &mut self.state.ring, to, message);
        let Some(message) = found else {
            return 0..0;
        };
        let (packets, _) = self.about.packets(message.bits);
        let (left, _) = self.about.packets(message.left);
        (packets - left) as u32..packets as u32
    }
}
