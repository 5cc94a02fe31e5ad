use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::record::Record;
use super::scheduler::{AT_ENDPOINTS, Scheduler};
use super::{
    About, Acts, Build, Capabilities, NicContext, PacketView, PortContext, SLACK, Scheme,
    check_speculation, nack, speculation_timeout, table_bytes,
};
use weir_input::TimeSpan;
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packet_times};
use weir_input::registry::{Entry, Keys};
use weir_model::{Classes, ControlKind, EndpointId, Origin, PacketKind, Time};

/// Small-message speculative reservation: every packet is sent speculatively at once; only one that was dropped asks
/// for a time, and is sent without loss then. The packets of a longer message each do so on their own.
///
/// Control packets carry all that a source has to know of a packet to send it again, so that the model holds nothing
/// for packets under way; a real NIC holds them until they are acknowledged.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
struct Parameters {
    /// How long a speculative packet may be in queues, summed over all routers; at most 16 us. (The paper's 1 us are 42 packet times of
    /// its network; where packets are longer, it would drop them beside any other that uses the same link.)
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    timeout: TimeSpan,
    /// How many dropped packets of one queue pair may be on their way to be sent again, from the reservation to the
    /// acknowledgement; others wait for their turn, and new packets go on speculatively. 0: any number. The paper does
    /// not say.
    #[schemars(extend("x-range" = counts(1.0, 64.0)))]
    reservations: u32,
    /// How much time a schedule books for each flit that is asked for, over the time that it takes; at least 1.
    #[schemars(extend("x-range" = factors(1.0, 1.5)))]
    slack: f64,
    /// The probability with which every router drops a speculative packet, 0 to 1: to test recovery.
    #[schemars(extend("x-range" = Range::Fixed("for tests of recovery")))]
    loss: f64,
}

const PRESETS: &[Preset] = &[Preset {
    name: "jiang2015",
    summary: "the paper's, made for packets of 24 ns (2,400 bits at 100 Gb/s)",
    values: r#"timeout = "1 us""#,
}];

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            timeout: TimeSpan::PacketTimes(42_000_000),
            reservations: 1,
            slack: SLACK,
            loss: 0.0,
        }
    }
}

/// Marks a packet that has a reservation.
const RESERVED: u8 = 1;

/// The dropped packets of one queue pair.
#[derive(Clone, Debug, Default)]
struct Dropped {
    /// On their way to be sent again.
    open: u32,
    /// Those that wait for their turn.
    waiting: VecDeque<Origin>,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
pub struct Smsrp {
    timeout: Time,
    /// 0: any number.
    reservations: u32,
    loss: f64,
    about: About,
    scheduler: Scheduler,
    dropped: FxHashMap<(u32, EndpointId), Dropped>,
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

    /// A packet was dropped: it asks for a time, or waits until it may.
    fn lost(&mut self, nic: &mut dyn NicContext, origin: &Origin) {
        if self.reservations > 0 {
            let pair = self.dropped.entry((nic.nic(), origin.source)).or_default();
            if pair.open == self.reservations {
                return pair.waiting.push_back(*origin);
            }
            pair.open += 1;
        }
        self.reserve(nic, origin);
    }

    /// A packet that had a reservation has arrived: the next may ask.
    fn arrived(&mut self, nic: &mut dyn NicContext, origin: &Origin) {
        let key = (nic.nic(), origin.source);
        let Some(pair) = self.dropped.get_mut(&key) else {
            return;
        };
        match pair.waiting.pop_front() {
            Some(next) => self.reserve(nic, &next),
            None => {
                pair.open -= 1;
                if pair.open == 0 {
                    self.dropped.remove(&key);
                }
            }
        }
    }
}

impl Scheme for Smsrp {
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

    fn start(&mut self, nics: usize, _outputs: usize) {
        self.scheduler.prepare(nics);
    }

    fn memory_bytes(&self) -> usize {
        let waiting = self.dropped.values().map(|one| one.waiting.capacity());
        table_bytes(&self.dropped)
            + waiting.sum::<usize>() * size_of::<Origin>()
            + self.scheduler.memory_bytes()
    }

    fn loss(&self) -> f64 {
        self.loss
    }

    fn on_control(&mut self, nic: &mut dyn NicContext, origin: &Origin, _marked: bool) {
        match PacketKind::of(origin) {
            NACK => self.lost(nic, origin),
            PacketKind::ACK if origin.tries == RESERVED => self.arrived(nic, origin),
            GRANT => {
                let at = origin.time().unwrap_or(0);
                nic.resend(at, false, origin.source, *origin);
            }
            RESERVATION => self.scheduler.answer(nic, origin),
            _ => {}
        }
    }

    fn timeout(&self) -> Time {
        self.timeout
    }

    fn on_drop(&mut self, port: &mut PortContext, packet: &PacketView, origin: &Origin) {
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
        let timeout = speculation_timeout(about, parameters.timeout);
        check_speculation(section, about, parameters.loss, Some(timeout))?;
        Ok(Box::new(Smsrp {
            timeout,
            reservations: parameters.reservations,
            loss: parameters.loss,
            about: *about,
            scheduler: Scheduler::new(section, *about, parameters.slack, 1)?,
            dropped: FxHashMap::default(),
        }))
    },
};
