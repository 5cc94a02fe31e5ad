//! The context of a scheme at a NIC.

use std::ops::Range;

use crate::endpoint::sending::blank;
use crate::state::ends::nic::Nic;
use crate::state::ends::resend::{Resend, Resends};
use crate::state::ends::sends::pair_ring::Message;
use crate::state::ends::sends::send_queues::SendQueues;
use crate::state::pool::Pool;
use crate::state::{Output, Timing};
use weir_congestion::{About, Actions, Control, NicContext};
use weir_model::{EndpointId, LinkRate, Origin, PacketIndex, PacketKind, Time};

/// A scheme's context at one NIC.
pub struct AtNic<'a> {
    pub now: Time,
    pub nic: u32,
    pub about: &'a About,
    /// The output to its link, and the timings that outputs have.
    pub output: &'a Output,
    pub timings: &'a [Timing],
    /// The lowest class of control packets.
    pub control: u8,
    /// Traffic class of each kind of packet.
    pub class_of: [u8; PacketKind::MOST],
    /// Flags of control packets.
    pub control_flags: u8,
    pub state: &'a mut Nic,
    pub sends: &'a mut SendQueues,
    pub pool: &'a mut Pool,
    /// Only for schemes that send packets again.
    pub resends: Option<&'a mut Resends>,
    pub actions: &'a mut Actions,
}

impl AtNic<'_> {
    /// Makes a control packet and puts it into the queue of its class.
    #[inline]
    pub fn queue(
        &mut self,
        kind: PacketKind,
        to: EndpointId,
        flits: u16,
        origin: Origin,
    ) -> PacketIndex {
        let class = self.class_of[kind.index()];
        let origin = Origin {
            source: self.state.id,
            kind: kind.number(),
            ..origin
        };
        let packet = blank(to, class, self.control_flags, flits, self.now);
        let index = self.pool.insert(packet, origin);
        let list = usize::from(class - self.control);
        self.state.control.push(list, index, self.pool);
        index
    }
}

impl NicContext for AtNic<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn nic(&self) -> u32 {
        self.nic
    }

    fn endpoint(&self) -> EndpointId {
        self.state.id
    }

    fn link(&self) -> LinkRate {
        self.timings[self.output.timing as usize].rate
    }

    fn header(&mut self) -> &mut [u64] {
        self.pool.held_header()
    }

    fn reply(&mut self, kind: PacketKind, to: EndpointId, origin: Origin) {
        self.queue(kind, to, 1, origin);
    }

    fn send_at(
        &mut self,
        time: Time,
        kind: PacketKind,
        to: EndpointId,
        flits: u16,
        origin: Origin,
    ) {
        let flits = flits.clamp(1, self.about.max_packet);
        if time <= self.now {
            self.queue(kind, to, flits, origin);
            return;
        }
        let from = self.state.id;
        let control = Control {
            kind,
            to,
            from,
            flits,
            origin,
        };
        self.actions.control_later(time, control);
    }

    fn resend(&mut self, at: Time, lossy: bool, to: EndpointId, origin: Origin) {
        let Some(resends) = self.resends.as_deref_mut() else {
            unreachable!("only schemes that declare `retransmits` send packets again");
        };
        let what = Resend { to, origin };
        match lossy {
            true => resends.add_lossy(what),
            false => resends.add_timed(at, what),
        }
    }

    fn withdraw(&mut self, origin: &Origin) -> Range<u32> {
        let about = self.about;
        let rest = |message: &Message| {
            let packets = about.packets(message.bits).0;
            (packets - about.packets(message.left).0) as u32..packets as u32
        };
        let which = (origin.job, origin.message);
        self.sends
            .withdraw(self.nic, &mut self.state.ring, origin.source, which, rest)
    }

    fn wake(&mut self, time: Time, number: u64) {
        self.actions.timer(time, number);
    }

    fn record(&mut self, number: usize, values: &[u64]) {
        self.actions.record(number, values);
    }

    fn probe(&mut self, to: EndpointId) {
        self.actions.probe(to);
    }

    fn signal(&mut self, to: EndpointId, kind: u16, words: [u64; 2]) {
        self.actions.signal(to, kind, words);
    }
}
