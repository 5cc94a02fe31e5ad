//! Onto the link from a NIC to its router: which virtual channel and queue a packet joins there.

use crate::domain::FabricDomain;
use crate::endpoint::sending::Sending;
use crate::setup::plain::Compiled;
use crate::state::ends::sends::pair_ring::Message;
use weir_model::{EndpointId, LinkKind, NEVER, PacketIndex, Time};
use weir_network::queueing::Joining;
use weir_network::routing::{NicChoice, NicRule};

/// True if the next packet may take a virtual channel, of `vcs` and after the one used `last`.
/// If virtual networks are taken in turn, the channel must be of the network whose turn it is.
pub(super) fn may_take(choice: NicChoice, vc: u32, last: u32, vcs: u32) -> bool {
    let networks = u32::from(choice.networks);
    let each = vcs / networks;
    let in_turn = matches!(choice.by, NicRule::InTurn | NicRule::Strict);
    !in_turn || vc / each == (last / each + 1) % networks
}

/// True if a virtual channel, of `vcs`, is of a packet's own network, if that follows from its
/// turn.
pub(super) fn is_own(choice: NicChoice, vc: u32, vcs: u32, turn: u32) -> bool {
    let networks = u32::from(choice.networks);
    choice.by != NicRule::Numbered || vc / (vcs / networks) == turn % networks
}

impl<K: Compiled> FabricDomain<K> {
    /// True if a packet's virtual network follows from its number.
    #[inline(always)]
    pub(super) fn turns_are_numbered(&self) -> bool {
        self.choice()
            .is_some_and(|choice| choice.by == NicRule::Numbered)
    }

    /// True if a packet of a NIC may go when another has no room: they join different queues of
    /// its link.
    #[inline(always)]
    pub(super) fn queues_differ(&self) -> bool {
        let strict = |choice: NicChoice| choice.by == NicRule::Strict;
        (self.divided() || self.turns_are_numbered()) && !self.choice().is_some_and(strict)
    }

    /// The turn of the next packet of a message; 0 if turns are not numbered.
    #[inline(always)]
    pub(super) fn turn_of_next(&self, message: &Message) -> u32 {
        match self.turns_are_numbered() {
            true => {
                let most = u64::from(self.fixed.max_packet) * u64::from(self.about.flit.0);
                let sent = (message.bits - message.left) / most;
                message.number.wrapping_add(sent as u32)
            }
            false => 0,
        }
    }

    /// A queue with credits for a packet, of the virtual channels in turn; or when to look again.
    #[inline]
    pub(crate) fn injection_queue(
        &mut self,
        output: u32,
        new: Sending,
        now: Time,
    ) -> Result<u16, Time> {
        let out = &self.ports.outputs[output as usize];
        let (queues, base) = (out.queues, out.channel_base);
        let vcs = self.fixed.injection_vcs;
        let nic = &self.ends.nics[(output - self.first_nic_output) as usize];
        if let Some(choice) = self.choice() {
            return self.chosen_injection(output, new, choice, now);
        }
        let (source, last) = (nic.id, nic.vcs[0]);
        let first = u32::from(new.class) * queues;
        let (flits, mut again) = (u32::from(self.room_of(new.flits)), NEVER);
        for step in 1..=u16::from(vcs) {
            let turn = u16::from(last) + step;
            let vc = if turn < u16::from(vcs) {
                turn
            } else {
                turn - u16::from(vcs)
            };
            let within = match self.divided() {
                true => self.divided_injection(source, new, vc as u8, queues),
                false => u32::from(vc),
            };
            let queue = (first + within) as u16;
            let channel = self.channel(base, queue);
            if self.has_credit(channel, flits, now) {
                return Ok(queue);
            }
            let credit = &self.ports.channels[self.home(channel)].credit;
            again = again.min(credit.enough_at(flits));
        }
        Err(again)
    }

    /// A queue with credits for a packet in the virtual network that the routing has the NIC
    /// choose, or the time to look again.
    /// The packet takes the permitted virtual channel with the fewest credits in use; ties go to
    /// the first in turn.
    #[inline(never)]
    fn chosen_injection(
        &mut self,
        output: u32,
        new: Sending,
        choice: NicChoice,
        now: Time,
    ) -> Result<u16, Time> {
        let out = &self.ports.outputs[output as usize];
        let (queues, base) = (out.queues, out.channel_base);
        let nic = &self.ends.nics[(output - self.first_nic_output) as usize];
        let (source, last) = (nic.id, u32::from(nic.vcs[usize::from(new.control)]));
        let vcs = u32::from(self.fixed.injection_vcs);
        let flits = u32::from(self.room_of(new.flits));
        let (mut best, mut again) = (None, NEVER);
        for step in 1..=vcs {
            let vc = (last + step) % vcs;
            if !may_take(choice, vc, last, vcs) || !is_own(choice, vc, vcs, new.turn) {
                continue;
            }
            let within = match self.fixed.divided {
                true => self.divided_injection(source, new, vc as u8, queues),
                false => vc,
            };
            let queue = (u32::from(new.class) * queues + within) as u16;
            let channel = self.channel(base, queue);
            let room = self.has_credit(channel, flits, now);
            let home = self.home(channel);
            let credit = &mut self.ports.channels[home].credit;
            credit.collect(now);
            again = again.min(credit.enough_at(flits));
            let used = credit.capacity - credit.available;
            if room && best.is_none_or(|(least, _)| used < least) {
                best = Some((used, queue));
            }
        }
        best.map(|(_, queue)| queue).ok_or(again)
    }

    /// The queue of a packet in a virtual channel of its injection link that is divided into
    /// queues.
    #[inline(never)]
    pub(crate) fn divided_injection(
        &self,
        source: EndpointId,
        new: Sending,
        vc: u8,
        queues: u32,
    ) -> u32 {
        let vcs = self.fixed.injection_vcs;
        let each = queues / u32::from(vcs);
        let joining = Joining {
            from: None,
            kind: LinkKind::TERMINAL,
            vc,
            vcs,
            source,
            destination: new.destination,
            class: new.class,
            job: new.job,
        };
        u32::from(vc) * each + self.network.part(&joining, each)
    }

    /// A head leaves its NIC.
    pub(crate) fn inject(&mut self, index: PacketIndex, nic: u32, queue: u16, now: Time) {
        let (divided, choice) = (self.divided(), self.choice());
        let state = &mut self.ends.nics[nic as usize];
        let sequence = state.next_packet;
        state.next_packet = sequence.wrapping_add(1);
        let output = self.first_nic_output + nic;
        let packet = self.pool.get_mut(index);
        packet.queue = queue;
        let queues = self.ports.outputs[output as usize].queues;
        let within = u32::from(queue) - u32::from(packet.class) * queues;
        let vc = if divided {
            within / (queues / u32::from(self.fixed.injection_vcs))
        } else {
            within
        } as u8;
        let apart = choice.is_some() && packet.flight.is_control();
        state.vcs[usize::from(apart)] = vc;
        if let Some(choice) = choice {
            packet.flight.via = u32::from(vc / (self.fixed.injection_vcs / choice.networks));
        }
        packet.head = now;
        let origin = self.pool.origin_mut(index);
        origin.sequence = sequence;
        origin.injected = now;
        if self.watches() {
            self.watch_injection(index, nic);
        }
        let origin = self.pool.origin(index);
        self.records.stats.injected(origin, nic, now);
        self.send(index, output, now);
    }
}
