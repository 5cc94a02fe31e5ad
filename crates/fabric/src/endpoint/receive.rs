//! Packets at their endpoint: reassembly, acknowledgements, control packets.

use crate::domain::FabricDomain;
use crate::fault::Fault;
use crate::flows::manages;
use crate::setup::plain::Compiled;
use weir_congestion::{Control, PacketView};
use weir_model::{Flight, Origin, Packet, PacketIndex, PacketKind, Stamp, Time};

impl<K: Compiled> FabricDomain<K> {
    /// A tail is at its endpoint.
    pub(crate) fn arrive_at_endpoint(&mut self, nic: u32, now: Time) {
        let wire = &mut self.ends.nics[nic as usize].wire;
        if let Some(index) = wire.pop(&self.pool) {
            self.pool.fetch(wire.head);
            self.pool.fetch_origin(wire.head);
            self.deliver_packet(index, nic, now);
        }
    }

    /// A packet has come to another endpoint than its own.
    #[cold]
    #[inline(never)]
    fn misrouted(&mut self, packet: &Packet, nic: u32) {
        self.fault.get_or_insert(Fault::Misrouted {
            to: packet.flight.destination,
            at: self.ends.nics[nic as usize].id,
        });
    }

    /// A tail is at its endpoint at `now`, or will be.
    pub(crate) fn deliver_packet(&mut self, index: PacketIndex, nic: u32, now: Time) {
        let packet = *self.pool.get(index);
        let origin = *self.pool.origin(index);
        if K::CC {
            self.pool.hold_header(index);
        }
        self.pool.remove(index);
        self.records.stats.delivered(&packet, &origin, nic, now);
        if self.ends.nics[nic as usize].id != packet.flight.destination {
            return self.misrouted(&packet, nic);
        }
        if !origin.is(PacketKind::DATA) {
            if K::CC {
                self.take_control(nic, &packet, &origin, now);
            }
            return;
        }
        if K::RICH && self.fixed.flows.managed {
            self.check_order(nic, &origin);
        }
        if self.logs_flows() {
            self.flow_arrives(&origin, now);
        }
        if K::CC && self.fixed.can.receives {
            let view = PacketView::of(&packet, &origin);
            self.at_nic(nic, now, |scheme, nic| scheme.on_delivery(nic, &view));
        }
        let whole = self
            .ends
            .partial
            .add(&origin, origin.source, packet.flight.destination);
        if whole {
            self.records
                .stats
                .received(&origin, packet.flight.destination, nic, now);
            if K::CC && self.fixed.can.messages {
                self.at_nic(nic, now, |scheme, nic| {
                    scheme.on_message_received(nic, &origin);
                });
            }
        }
        if self.fixed.acknowledge {
            let acknowledgement = Control {
                kind: PacketKind::ACK,
                to: origin.source,
                from: self.ends.nics[nic as usize].id,
                flits: 1,
                origin,
            };
            let ack = self.queue_control(nic, &acknowledgement, now);
            if K::CC {
                self.pool.get_mut(ack).flight.flags |= packet.flight.flags & Flight::MARKED;
                self.pool.give_header(ack);
            }
        }
        if self.fixed.acknowledge || (K::CC && (self.fixed.can.receives || self.fixed.can.messages))
        {
            self.kick_nic(nic, now);
        }
        if whole && origin.stamp() != Stamp::NONE {
            self.message_arrives(nic, &origin, now);
        }
    }

    /// A control packet is at its endpoint.
    fn take_control(&mut self, nic: u32, packet: &Packet, origin: &Origin, now: Time) {
        if self.fixed.flows.managed && manages(&packet.flight, origin, self.fixed.flow_kinds) {
            return self.take_flow_packet(nic, packet, origin, now);
        }
        let can = &self.fixed.can;
        let (retransmits, windows) = (can.retransmits, can.windows);
        if self.fixed.heard & 1 << origin.kind != 0 {
            let marked = packet.flight.flags & Flight::MARKED != 0;
            self.at_nic(nic, now, |scheme, nic| {
                scheme.on_control(nic, origin, marked);
            });
        }
        if retransmits && self.fixed.timed & 1 << origin.kind != 0 && origin.is_beyond() {
            let job = self.traffic[usize::from(origin.job)].name.clone();
            self.fault.get_or_insert(Fault::GrantTooLate { job });
        }
        if retransmits || windows {
            self.kick_nic(nic, now);
        }
        let acknowledged = origin.is(PacketKind::ACK);
        if retransmits && acknowledged && origin.stamp() != Stamp::NONE {
            self.packet_acknowledged(nic, origin, now);
        }
    }
}
