//! `smsrp`: the small-message speculative reservation protocol.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::record::Record;
use super::scheduler::{AT_ENDPOINTS, Scheduler};
use super::{
    About, Acts, Build, Capabilities, NicContext, PacketView, PortContext, Rules, SLACK,
    check_speculation, cut_timeout, hardly_queues, nack, table_bytes,
};
use weir_input::TimeSpan;
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packet_times};
use weir_input::registry::{Entry, Keys};
use weir_model::codec::SavedMap;
use weir_model::{Classes, ControlKind, EndpointId, Invalid, Origin, PacketKind, Time};

/// Small-message speculative reservation: every packet is sent speculatively at once; only a
/// dropped packet requests a time, and is sent without loss then. Each packet of a longer message
/// does so separately.
///
/// Control packets carry all that a source needs to send a packet again, so that the model holds
/// nothing for packets under way; a real NIC holds them until they are acknowledged.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
struct Parameters {
    /// Maximum time of a speculative packet in queues, summed over all routers; at most 16.7 us. The
    /// paper's 1 us are 42 packet times of its network; with longer packets, 1 us would drop them
    /// beside any other on the same link.
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    timeout: TimeSpan,
    /// Maximum number of dropped packets in recovery, from reservation to acknowledgement, of an
    /// endpoint's interface to one destination, all jobs together. Others wait, and new packets go
    /// on speculatively. 0: any number. The paper names no limit. With few, long messages are slow;
    /// without a limit, reservations and late packets may fill the buffers of a crowded endpoint.
    /// Its Figure 5, of messages of one packet, is that of 1.
    #[schemars(extend("x-range" = counts(1.0, 64.0)))]
    reservations: u32,
    /// Time that a schedule books for each requested flit, over its time on the link; at least 1.
    #[schemars(extend("x-range" = factors(1.0, 1.5)))]
    slack: f64,
    /// Probability that a router drops a speculative packet, 0 to 1; tests recovery.
    #[schemars(extend("x-range" = Range::Fixed("for tests of recovery")))]
    loss: f64,
}

const PRESETS: &[Preset] = &[Preset {
    name: "jiang2015",
    summary: "the paper's, made for packets of 24 ns (2,400 bits at 100 Gb/s)",
    values: r#"timeout = "1 us", reservations = 1"#,
}];

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            timeout: TimeSpan::PacketTimes(42_000_000),
            reservations: 16,
            slack: SLACK,
            loss: 0.0,
        }
    }
}

/// Marks a packet that has a reservation.
const RESERVED: u8 = 1;

/// The dropped packets of a NIC for one destination.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Dropped {
    /// Packets in recovery.
    open: u32,
    /// Packets that wait for their turn.
    waiting: VecDeque<Origin>,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Smsrp {
    timeout: Time,
    /// 0: any number.
    reservations: u32,
    loss: f64,
    about: About,
    scheduler: Scheduler,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// By NIC: time up to which its link is booked.
    booked: Vec<Time>,
    /// By NIC and destination, while there are dropped packets.
    dropped: SavedMap<(u32, EndpointId), Dropped>,
}

impl Smsrp {
    fn reserve(&self, nic: &mut dyn NicContext, origin: &Origin) {
        let payload = self.about.payload(origin.message_bits, origin.part);
        let request = Origin {
            tries: RESERVED,
            ..origin.with_flits(self.about.flit.flits(payload))
        };
        nic.reply(RESERVATION, origin.source, request);
    }

    /// A packet was dropped: it requests a time, or waits until it may.
    fn lost(&self, state: &mut State, nic: &mut dyn NicContext, origin: &Origin) {
        if self.reservations > 0 {
            let pair = state.dropped.entry((nic.nic(), origin.source)).or_default();
            if pair.open >= self.reservations {
                return pair.waiting.push_back(*origin);
            }
            pair.open += 1;
        }
        self.reserve(nic, origin);
    }

    /// A packet that had a reservation has arrived: the next may request one.
    fn arrived(&self, state: &mut State, nic: &mut dyn NicContext, origin: &Origin) {
        let key = (nic.nic(), origin.source);
        let Some(pair) = state.dropped.get_mut(&key) else {
            return;
        };
        // More are open than may be if the limit has become lower since.
        let many = self.reservations > 0 && pair.open > self.reservations;
        let next = if many { None } else { pair.waiting.pop_front() };
        match next {
            Some(next) => self.reserve(nic, &next),
            None => {
                pair.open -= 1;
                if pair.open == 0 {
                    state.dropped.remove(&key);
                }
            }
        }
    }
}

impl Rules for Smsrp {
    type State = State;

    fn start(&self, nics: usize, _outputs: usize) -> State {
        State {
            booked: vec![0; nics],
            dropped: SavedMap::default(),
        }
    }

    fn fits(&self, state: &State, nics: usize, _outputs: usize) -> bool {
        let own = |to: EndpointId, pair: &Dropped| pair.waiting.iter().all(|one| one.source == to);
        let mut pairs = state.dropped.iter();
        state.booked.len() == nics && pairs.all(|(&(_, to), pair)| own(to, pair))
    }

    fn name(&self) -> &'static str {
        "smsrp"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[PacketKind::ACK, NACK, RESERVATION, GRANT],
            drops: true,
            answers: true,
            retransmits: true,
            ..Capabilities::NONE
        }
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::dropping("timeout"))
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        hardly_queues(self.timeout, about)
    }

    fn useless(&self) -> Vec<Invalid> {
        cut_timeout(self.timeout).into_iter().collect()
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        vec![("timeout", about.packet_times(self.timeout))]
    }

    fn classes(&self) -> Classes {
        Classes::RESERVED
    }

    fn kinds(&self) -> &'static [ControlKind] {
        kinds::IN_OWN_CLASSES
    }

    fn records(&self) -> &'static [Record] {
        AT_ENDPOINTS
    }

    fn memory_bytes(&self, state: &State) -> usize {
        let waiting = state.dropped.values().map(|one| one.waiting.capacity());
        table_bytes(&state.dropped)
            + waiting.sum::<usize>() * size_of::<Origin>()
            + size_of_val(&*state.booked)
    }

    fn loss(&self) -> f64 {
        self.loss
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        match PacketKind::of(origin) {
            NACK => self.lost(state, nic, origin),
            PacketKind::ACK if origin.tries == RESERVED => self.arrived(state, nic, origin),
            GRANT => {
                let at = origin.time().unwrap_or(0);
                nic.resend(at, false, origin.source, *origin);
            }
            RESERVATION => self.scheduler.answer(&mut state.booked, nic, origin),
            _ => {}
        }
    }

    fn timeout(&self) -> Time {
        self.timeout
    }

    fn on_drop(&self, _: &mut State, port: &mut PortContext, packet: &PacketView, origin: &Origin) {
        port.send(nack(packet, origin, None));
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "smsrp",
    summary: "Small-message SRP: speculation first, a reservation only for what was dropped.",
    source: "Jiang et al., SC15, section 3.1 and Table 1 (doi:10.1145/2807591.2807600)",
    examples: &[r#"timeout = "300 ns""#],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        let timeout = check_speculation(section, about, parameters.loss, Some(parameters.timeout))?;
        let rules = Smsrp {
            timeout,
            reservations: parameters.reservations,
            loss: parameters.loss,
            about: *about,
            scheduler: Scheduler::new(section, parameters.slack, 1)?,
        };
        Ok(rules.into_scheme())
    },
};
