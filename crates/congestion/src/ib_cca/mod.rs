//! `ib_cca`: the congestion control architecture of InfiniBand.

mod marking;
mod parameters;
mod table;
mod throttle;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::record::{REACTIONS, Record};
use super::{
    About, Acts, Capabilities, NicContext, PacketView, Port, Rules, below_a_packet, flow_bytes,
};
use marking::{Marking, Passing};
use throttle::{SlowedFlows, Throttle};
use weir_model::{
    Classes, ControlKind, EndpointId, Invalid, LinkRate, Origin, PacketKind, Stamp, Time,
};

pub use parameters::ENTRY;

/// A congestion notification packet.
const CN: PacketKind = PacketKind::own(0);

/// The kind of control packet for it, in the class of the data and in a separate one.
const CN_IN: [&[ControlKind]; 2] = [&[cn_in(0)], &[cn_in(1)]];

const fn cn_in(class: u8) -> ControlKind {
    ControlKind {
        name: "cn",
        class,
        timed: false,
    }
}

/// See [`parameters::Parameters`].
#[derive(Clone, Debug)]
struct IbCca {
    marking: Marking,
    throttle: Throttle,
    /// Length of separate notification packets, flits; None: acknowledgements carry the
    /// notifications.
    cn_flits: Option<u16>,
    /// True if acknowledgements and notifications have a separate virtual lane.
    own_lane: bool,
    /// Time that a longest packet takes on an endpoint's link, ps.
    longest_packet: Time,
}

#[derive(Deserialize, Serialize)]
struct State {
    passing: Passing,
    /// By NIC.
    flows: Vec<SlowedFlows>,
    /// Notifications received by sources.
    becns: u64,
}

impl Rules for IbCca {
    type State = State;

    fn start(&self, nics: usize, outputs: usize) -> State {
        State {
            passing: self.marking.start(outputs),
            flows: vec![SlowedFlows::default(); nics],
            becns: 0,
        }
    }

    fn fits(&self, state: &State, nics: usize, outputs: usize) -> bool {
        let mut flows = state.flows.iter();
        state.flows.len() == nics
            && flows.all(|flows| self.throttle.fits(flows))
            && self.marking.fits(&state.passing, outputs)
    }

    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn records(&self) -> &'static [Record] {
        REACTIONS
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: match self.cn_flits {
                Some(_) => &[CN],
                None => &[PacketKind::ACK],
            },
            marks: true,
            paces: true,
            receives: self.cn_flits.is_some(),
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        match self.own_lane {
            true => Classes::PLAIN,
            false => Classes::DATA,
        }
    }

    fn kinds(&self) -> &'static [ControlKind] {
        match self.cn_flits {
            Some(_) => CN_IN[usize::from(self.own_lane)],
            None => &[],
        }
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::marking("threshold", "ccti_increase"))
    }

    fn counters(&self) -> &'static [&'static str] {
        &["becns", "victims_spared"]
    }

    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![state.becns, state.passing.spared]
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let mark = |flits: Option<u32>| match flits {
            None => "nothing is marked".to_string(),
            Some(flits) => format!("more than {}", about.flits(flits)),
        };
        let [fabric, endpoint] = self.marking.thresholds().map(mark);
        let rules = &self.throttle;
        let last = rules.table.len() as u64 - 1;
        let at = |index: u16| about.packet_times(rules.delay(index));
        let mut all = vec![("threshold", fabric)];
        if self.marking.thresholds()[0] != self.marking.thresholds()[1] {
            all.push(("endpoint_threshold", endpoint));
        }
        all.extend([
            ("max_ipd", format!("{} at index {last}", at(last as u16))),
            (
                "ccti_limit",
                format!("{} at index {}", at(rules.limit), rules.limit),
            ),
            (
                "ccti_increase",
                format!(
                    "{} on a source that was not slowed",
                    at(rules.least.saturating_add(rules.increase).min(rules.limit))
                ),
            ),
            ("recovery_timer", about.packet_times(rules.timer)),
        ]);
        all
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        let least = self.marking.thresholds().into_iter().flatten().min()?;
        below_a_packet("threshold", least.into(), about)
    }

    fn memory_bytes(&self, state: &State) -> usize {
        flow_bytes(&state.flows) + state.passing.memory_bytes()
    }

    fn mark_from(&self) -> u32 {
        self.marking.from()
    }

    fn mark(&self, state: &mut State, port: &Port, packet: &PacketView, room: bool) -> bool {
        self.marking.mark(&mut state.passing, port, packet, room)
    }

    fn on_delivery(&self, _: &mut State, nic: &mut dyn NicContext, packet: &PacketView) {
        if let (true, Some(flits)) = (packet.marked, self.cn_flits) {
            let about = Origin::of_message(packet.source, 0, 0, nic.now(), 0, Stamp::NONE);
            nic.send_at(nic.now(), CN, packet.source, flits, about);
        }
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        marked: bool,
    ) {
        if marked || origin.is(CN) {
            state.becns += 1;
            let flows = &mut state.flows[nic.nic() as usize];
            let delay = self.throttle.notified(flows, origin.source, nic.now());
            nic.record(0, &[origin.source.into(), delay]);
        }
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        self.throttle
            .ready_at(&mut state.flows[nic as usize], to, now)
    }

    fn on_sent(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        tail: Time,
    ) {
        let flows = &mut state.flows[nic.nic() as usize];
        self.throttle.sent(flows, packet.destination, tail);
    }

    /// The rate of packets of maximum length with the longest delay between them.
    fn allowed_rate(&self, state: &mut State, (nic, _): (u32, LinkRate), now: Time) -> f64 {
        let packet = self.longest_packet as f64;
        packet / (packet + self.throttle.longest(&state.flows[nic as usize], now) as f64)
    }
}
