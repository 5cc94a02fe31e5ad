//! `ib_cca`: the congestion control architecture of InfiniBand.

mod marking;
mod parameters;
mod table;
mod throttle;

#[cfg(test)]
mod tests;

use super::record::{REACTIONS, Record};
use super::{About, Acts, Capabilities, NicContext, PacketView, Port, Scheme};
use marking::Marking;
use throttle::Throttle;
use weir_model::{Classes, ControlKind, EndpointId, Origin, PacketKind, Stamp, Time};

pub use parameters::ENTRY;

/// A congestion notification packet.
const CN: PacketKind = PacketKind::own(0);

/// It, in the class of the data and in one of its own.
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
pub struct IbCca {
    marking: Marking,
    throttle: Throttle,
    /// The length of notifications that are packets of their own, flits; None: acknowledgements carry them.
    cn_flits: Option<u16>,
    /// Whether what goes back has a virtual lane of its own.
    own_lane: bool,
    /// Time that a longest packet takes on an endpoint's link, ps.
    longest_packet: Time,
    /// Notifications that sources have got.
    becns: u64,
}

impl Scheme for IbCca {
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

    fn counts(&self) -> Vec<u64> {
        vec![self.becns, self.marking.spared]
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let mark = |flits: Option<u32>| match flits {
            None => "nothing is marked".to_string(),
            Some(flits) => format!("more than {}", about.flits(flits)),
        };
        let [fabric, endpoint] = self.marking.thresholds().map(mark);
        let rules = self.throttle.rules();
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

    fn start(&mut self, nics: usize, outputs: usize) {
        self.throttle.start(nics);
        self.marking.start(outputs);
    }

    fn memory_bytes(&self) -> usize {
        self.throttle.memory_bytes() + self.marking.memory_bytes()
    }

    fn mark_from(&self) -> u32 {
        self.marking.from()
    }

    fn mark(&mut self, port: &Port, packet: &PacketView, room: bool) -> bool {
        self.marking.mark(port, packet, room)
    }

    fn on_delivery(&mut self, nic: &mut dyn NicContext, packet: &PacketView) {
        if let (true, Some(flits)) = (packet.marked, self.cn_flits) {
            let about = Origin::of_message(packet.source, 0, 0, nic.now(), 0, Stamp::NONE);
            nic.send_at(nic.now(), CN, packet.source, flits, about);
        }
    }

    fn on_control(&mut self, nic: &mut dyn NicContext, origin: &Origin, marked: bool) {
        if marked || origin.is(CN) {
            self.becns += 1;
            let delay = self.throttle.notified(nic.nic(), origin.source, nic.now());
            nic.record(0, &[origin.source.into(), delay]);
        }
    }

    fn ready_at(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        self.throttle.ready_at(nic, to, now)
    }

    fn on_sent(&mut self, nic: &mut dyn NicContext, packet: &PacketView, tail: Time) {
        self.throttle.sent(nic.nic(), packet.destination, tail);
    }

    /// As much as packets of the greatest length take with the longest delay between them.
    fn allowed_rate(&mut self, nic: u32, now: Time) -> f64 {
        let packet = self.longest_packet as f64;
        packet / (packet + self.throttle.longest(nic, now) as f64)
    }
}
