use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handshake::Handshakes;
use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::lhrp::{Policy, take_reservation};
use super::record::Record;
use super::refusals::{BATCH, Refusals};
use super::scheduler::{AT_PORTS, Scheduler};
use super::{
    About, Acts, Build, Capabilities, Handshake, NicContext, PacketView, Port, PortContext, SLACK,
    Scheme, nack,
};
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packet_times, packets};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, Size, TimeSpan};
use weir_model::{Classes, ControlKind, EndpointId, Origin, PacketKind, Time};

/// LHRP for small messages and SRP for large ones, with one schedule per endpoint, which the router in front of it
/// holds: reservations end there, and grants begin there. The speculative packets of both are dropped as LHRP's are.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
struct Parameters {
    /// Messages of this size and more begin with a reservation (SRP), smaller ones do not (LHRP).
    #[schemars(extend("x-range" = packets(1.0, 16.0)))]
    reserve_from: Size,
    /// Flits queued for an endpoint in its router, of all classes, beyond which speculative packets are dropped.
    #[schemars(extend("x-range" = packets(4.0, 100.0)))]
    threshold: Size,
    /// Whether routers before the last drop, too: packets that have been in queues for longer than `timeout`.
    fabric_drop: bool,
    /// With `fabric_drop`: how long a speculative packet may be in queues before the last router; at most 16 us.
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    timeout: TimeSpan,
    /// How often a packet of a small message is sent again speculatively after such a loss before it goes with a
    /// reservation, 0 to 200.
    #[schemars(extend("x-range" = counts(1.0, 16.0)))]
    retries: u8,
    /// How much time a schedule books for each flit that is asked for, over the time that it takes; at least 1.
    #[schemars(extend("x-range" = factors(1.0, 1.5)))]
    slack: f64,
    /// The probability with which every router drops a speculative packet, 0 to 1: to test recovery.
    #[schemars(extend("x-range" = Range::Fixed("for tests of recovery")))]
    loss: f64,
}

const PRESETS: &[Preset] = &[Preset {
    name: "jiang2015",
    summary: "the paper's, made for flits of 100 bits and packets of 24 of them",
    values: r#"reserve_from = "48 flits", threshold = "1000 flits", timeout = "1 us""#,
}];

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            reserve_from: Size::Packets(2),
            threshold: Size::Flits(1_000),
            fabric_drop: false,
            timeout: Duration(1_000_000).into(),
            retries: 3,
            slack: SLACK,
            loss: 0.0,
        }
    }
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
pub struct LhrpSrp {
    about: About,
    /// Flits.
    reserve_from: u64,
    policy: Policy,
    large: Handshakes,
    small: Refusals,
    scheduler: Scheduler,
}

impl LhrpSrp {
    fn is_large(&self, bits: u64) -> bool {
        self.about.packets(bits).1 >= self.reserve_from
    }
}

impl Scheme for LhrpSrp {
    fn name(&self) -> &'static str {
        "lhrp_srp"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[PacketKind::ACK, NACK, GRANT],
            drops: true,
            answers: true,
            retransmits: true,
            reserves: true,
            intercepts: &[RESERVATION],
            ..Capabilities::NONE
        }
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::dropping("threshold"))
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        // More than 32 bits of flits no message has.
        let from = u32::try_from(self.reserve_from).unwrap_or(u32::MAX);
        let mut all = vec![("reserve_from", about.flits(from))];
        all.extend(self.policy.effective(about));
        all
    }

    fn classes(&self) -> Classes {
        Classes::RESERVED
    }

    fn kinds(&self) -> &'static [ControlKind] {
        kinds::IN_OWN_CLASSES
    }

    fn records(&self) -> &'static [Record] {
        AT_PORTS
    }

    fn start(&mut self, _nics: usize, outputs: usize) {
        self.scheduler.prepare(outputs);
    }

    fn handshake(&self, message_bits: u64) -> Handshake {
        match self.is_large(message_bits) {
            true => Handshakes::EACH,
            false => Handshake::default(),
        }
    }

    fn memory_bytes(&self) -> usize {
        self.large.memory_bytes() + self.small.memory_bytes() + self.scheduler.memory_bytes()
    }

    fn loss(&self) -> f64 {
        self.policy.loss
    }

    fn on_message(&mut self, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {
        if self.is_large(message.message_bits) {
            self.large.begin(nic, to, message);
        }
    }

    fn on_control(&mut self, nic: &mut dyn NicContext, origin: &Origin, _marked: bool) {
        match PacketKind::of(origin) {
            PacketKind::ACK => self.large.acknowledged(nic, origin),
            NACK if self.is_large(origin.message_bits) => {
                self.large.lost(nic, origin);
            }
            NACK => self.small.lost(nic, origin),
            GRANT if origin.tries == BATCH => self.small.granted(nic, origin),
            GRANT => self.large.granted(nic, origin),
            _ => {}
        }
    }

    fn queueing_limit(&self, port: &Port) -> Time {
        self.policy.allowed(port)
    }

    fn timeout(&self) -> Time {
        self.policy.timeout
    }

    /// A large message has a reservation of its own.
    fn on_drop(&mut self, port: &mut PortContext, packet: &PacketView, origin: &Origin) {
        let flits = u64::from(packet.flits);
        let books = port.port.last_hop && !self.is_large(origin.message_bits);
        let time = books.then(|| self.scheduler.book_at(port, packet.source, flits));
        port.send(nack(packet, origin, time));
    }

    fn intercept(&mut self, port: &mut PortContext, packet: &PacketView, origin: &Origin) -> bool {
        take_reservation(&mut self.scheduler, port, packet, origin)
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "lhrp_srp",
    summary: "LHRP for small messages and SRP for large ones, on one schedule in the last router.",
    source: "Jiang et al., SC15, section 6.4 (doi:10.1145/2807591.2807600)",
    examples: &[r#"threshold = "60 flits", fabric_drop = true, timeout = "200 ns""#],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        let policy = Policy::new(
            section,
            about,
            parameters.threshold,
            parameters.fabric_drop,
            parameters.timeout,
            parameters.loss,
        )?;
        let longest = u64::from(about.max_packet);
        Ok(Box::new(LhrpSrp {
            about: *about,
            reserve_from: parameters.reserve_from.flits(about.flit, longest),
            policy,
            large: Handshakes::new(*about),
            small: Refusals::new(section, *about, parameters.retries)?,
            scheduler: Scheduler::new(section, *about, parameters.slack, 0)?,
        }))
    },
};
