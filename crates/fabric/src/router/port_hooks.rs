//! A scheme at the ports of routers: its view, its marks and stamps, and the execution of its
//! requests.

use crate::domain::FabricDomain;
use crate::endpoint::sending::blank;
use crate::setup::plain::Compiled;
use crate::state::event::EventKind;
use crate::state::mail::speaker::Speaker;
use crate::state::{OutIndex, Wire};
use weir_congestion::{Control, PacketView, Place, Port, PortContext, Scheme};
use weir_model::{Flight, NO_PACKET, Origin, PacketIndex, PacketKind, PortId, RouterId, Time};

impl<K: Compiled> FabricDomain<K> {
    /// The router and the port that an output of a router is.
    pub(crate) fn port_of(&self, output: OutIndex) -> (RouterId, PortId) {
        let router = &self.ports.routers[self.ports.inputs[output as usize].router as usize];
        (router.id, (output - router.base) as PortId)
    }

    /// An output as the scheme sees it.
    #[inline]
    pub(crate) fn port(&self, output: OutIndex) -> Port {
        let out = &self.ports.outputs[output as usize];
        let timing = self.timing(output);
        Port {
            output,
            last_hop: matches!(out.wire, Wire::Endpoint(_)),
            // A link that is busy with a lone flow has packets that cross and none that wait.
            level: out.waiting + u64::from(out.queued).saturating_sub(timing.crossed) as u32,
            rate: timing.rate,
            capacity: timing
                .output_queue
                .map_or(0, |flits| flits.saturating_mul(out.queues)),
        }
    }

    /// Calls a hook at a port about a packet that is still there ([`NO_PACKET`]: about none), then
    /// carries out its requests.
    #[inline]
    pub(crate) fn at_port<R>(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        now: Time,
        hook: impl FnOnce(&mut dyn Scheme, &mut PortContext) -> R,
    ) -> R {
        let result = self.ask_at_port(index, output, now, hook);
        self.carry_out_at_port(output, now);
        result
    }

    /// Calls a hook at a port; its requests are to be carried out by [`Self::carry_out_at_port`].
    #[inline]
    pub(crate) fn ask_at_port<R>(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        now: Time,
        hook: impl FnOnce(&mut dyn Scheme, &mut PortContext) -> R,
    ) -> R {
        let mut context = PortContext {
            now,
            port: self.port(output),
            header: self.pool.header_mut(index),
            actions: &mut self.actions,
        };
        hook(self.scheme.as_mut(), &mut context)
    }

    /// Carries out the requests of a hook at a port.
    #[inline]
    pub(crate) fn carry_out_at_port(&mut self, output: OutIndex, now: Time) {
        if self.actions.any {
            self.carry_out(Speaker::Port(output), now);
        }
    }

    /// Calls a hook about a data packet at an output.
    #[inline]
    pub(crate) fn observe(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        now: Time,
        hook: impl FnOnce(&mut dyn Scheme, &mut PortContext, &PacketView),
    ) {
        let (packet, origin) = (self.pool.get(index), self.pool.origin(index));
        if origin.is(PacketKind::DATA) {
            let view = PacketView::of(packet, origin);
            self.at_port(index, output, now, |scheme, port| hook(scheme, port, &view));
        }
    }

    /// Tells a scheme that observes ports of a packet that is routed to an output.
    #[inline]
    pub(crate) fn enters_port(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        self.observe(index, output, now, |scheme, port, packet| {
            scheme.on_route(port, packet);
        });
    }

    /// Tells it of one that an output no longer counts.
    #[inline]
    pub(crate) fn leaves_port(&mut self, index: PacketIndex, output: OutIndex, time: Time) {
        self.observe(index, output, time, |scheme, port, packet| {
            scheme.on_departure(port, packet);
        });
    }

    /// A packet leaves a router at `depart`, of a scheme that does something then besides marking.
    #[inline(never)]
    pub(crate) fn leaves_router(&mut self, index: PacketIndex, output: OutIndex, depart: Time) {
        let can = &self.fixed.can;
        let (stamps, observes) = (can.stamps, can.observes);
        if can.announces
            && let Some(step) = self.pool.get(index).flight.flow_step()
        {
            let port = self.port(output);
            let header = self.pool.header_mut(index);
            self.scheme.on_flow_packet(&port, step, header);
        }
        if stamps && self.pool.origin(index).is(PacketKind::DATA) {
            let port = self.port(output);
            let view = PacketView::of(self.pool.get(index), self.pool.origin(index));
            let header = self.pool.header_mut(index);
            self.scheme.stamp(&port, &view, header, depart);
        }
        if observes {
            self.leaves_port(index, output, depart);
        }
    }

    /// Lets the scheme mark a lossless data packet that leaves a router by a port at whose level
    /// some may be marked.
    #[inline(never)]
    pub(crate) fn mark(&mut self, index: PacketIndex, output: OutIndex) {
        let packet = self.pool.get(index);
        if packet.class != self.fixed.classes.data {
            return;
        }
        let origin = self.pool.origin(index);
        if !origin.is(PacketKind::DATA) {
            // Acknowledgements may share the class of the data.
            return;
        }
        let view = PacketView::of(packet, origin);
        let port = self.port(output);
        let out = &self.ports.outputs[output as usize];
        let channel = self.used_channel(out.channel_base, packet.queue);
        // A queue that was never used has all its credits.
        let room = channel.is_none_or(|channel| {
            let credit = &self.ports.channels[self.home(channel)].credit;
            credit.available >= u32::from(self.fixed.max_packet)
        });
        if self.scheme.mark(&port, &view, room) {
            self.pool.get_mut(index).flight.flags |= Flight::MARKED;
            self.records.stats.tally.marked += 1;
        }
    }

    /// A timer of the scheme at a port.
    #[inline(never)]
    pub(crate) fn port_timer(&mut self, output: OutIndex, now: Time) {
        if self.has_too_many_timers(now) {
            return;
        }
        self.at_port(NO_PACKET, output, now, |scheme, port| {
            scheme.on_port_timer(port);
        });
    }

    /// Carries out the requests of a hook.
    #[inline(never)]
    pub(crate) fn carry_out(&mut self, speaker: Speaker, now: Time) {
        self.actions.any = false;
        // Before a packet that is sent makes other ports ask for something.
        if !self.actions.signals.is_empty() {
            self.send_signals(speaker, now);
        }
        if !self.actions.rows.is_empty() {
            self.write_down(speaker, now);
        }
        match speaker {
            Speaker::Port(output) => {
                while let Some((time, _)) = self.actions.timers.pop() {
                    self.schedule(EventKind::Scheme, output, time.max(now));
                }
                let mut controls = std::mem::take(&mut self.actions.controls);
                for control in controls.drain(..) {
                    self.send_from_router(output, &control, now);
                }
                // A packet that was sent may have made hooks ask for more: that is done by now.
                if self.actions.controls.is_empty() {
                    self.actions.controls = controls;
                }
            }
            Speaker::Nic(nic) => self.keep_for_later(nic, now),
        }
    }

    /// Writes the rows of a scheme's records: the time, the place, and the scheme's own columns.
    #[inline(never)]
    fn write_down(&mut self, speaker: Speaker, now: Time) {
        let place = match speaker {
            Speaker::Nic(nic) => [u64::from(self.ends.nics[nic as usize].id), 0],
            Speaker::Port(output) => {
                let (router, port) = self.port_of(output);
                [u64::from(router), u64::from(port)]
            }
        };
        let records = self.scheme.records();
        for (number, values) in self.actions.rows.drain(..) {
            let record = &records[number];
            let own = match record.place {
                Place::Endpoint => &place[..1],
                Place::Port => &place[..],
            };
            assert_eq!(
                (values.len(), own.len() == 2),
                (record.columns.len(), matches!(speaker, Speaker::Port(_))),
                "a row of the record {:?}",
                record.name
            );
            let row = &mut self.records.stats.scheme_rows[number];
            row.push(now);
            row.extend_from_slice(own);
            row.extend_from_slice(&values);
        }
    }

    /// A router sends a control packet, by the port after the real ones.
    fn send_from_router(&mut self, output: OutIndex, control: &Control, now: Time) {
        assert!(
            self.fixed.can.answers,
            "the scheme does not say that routers send packets"
        );
        let router = &self.ports.routers[self.ports.inputs[output as usize].router as usize];
        let input = router.base + u32::from(router.ports);
        let class = self.fixed.class_of[control.kind.index()];
        let origin = Origin {
            source: control.from,
            kind: control.kind.number(),
            injected: now,
            ..control.origin
        };
        let flits = control.flits.clamp(1, self.fixed.max_packet);
        let mut packet = blank(control.to, class, self.fixed.control_flags, flits, now);
        packet.queue = class.into();
        let index = self.pool.insert(packet, origin);
        self.records.stats.injected_by_router(control.kind);
        self.enter(index, input, now);
    }
}
