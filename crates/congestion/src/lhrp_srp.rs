//! `lhrp_srp`: last-hop reservation for small messages, speculative for large ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handshake::Handshakes;
use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::lhrp::Policy;
use super::record::Record;
use super::refusals::{BATCH, Batches, Refusals};
use super::scheduler::{AT_PORTS, Scheduler};
use super::{
    ABSORBED, About, Act, Acts, Build, Capabilities, DROPPED_FABRIC, DROPPED_LAST_HOP, Handshake,
    NicContext, PacketView, Port, PortContext, Rules, SLACK, nack,
};
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packet_times, packets};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, Size, TimeSpan};
use weir_model::{Classes, ControlKind, EndpointId, Invalid, Origin, PacketKind, Time};

/// LHRP for small messages and SRP for large ones, with one schedule per endpoint, which the router
/// in front of it holds: reservations end there, and grants begin there. The speculative packets of
/// both are dropped as LHRP's are.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
struct Parameters {
    /// Minimum size of messages that start with a reservation (SRP); smaller ones do not (LHRP).
    #[schemars(extend("x-range" = packets(1.0, 16.0)))]
    reserve_from: Size,
    /// Flits of all classes queued for an endpoint in its router beyond which speculative packets
    /// are dropped.
    #[schemars(extend("x-range" = packets(4.0, 100.0)))]
    threshold: Size,
    /// True if routers before the last also drop packets that were in queues for longer than
    /// `timeout`.
    fabric_drop: bool,
    /// With `fabric_drop`: maximum time of a speculative packet in queues before the last router;
    /// at most 16.7 us.
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    timeout: TimeSpan,
    /// Speculative retries of a packet of a small message after such a loss, before it goes with a
    /// reservation, 0 to 200.
    #[schemars(extend("x-range" = counts(1.0, 16.0)))]
    retries: u8,
    /// Time that a schedule books for each requested flit, over its time on the link; at least 1.
    #[schemars(extend("x-range" = factors(1.0, 1.5)))]
    slack: f64,
    /// Probability that a router drops a speculative packet, 0 to 1; tests recovery.
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
struct LhrpSrp {
    about: About,
    /// Flits.
    reserve_from: u64,
    policy: Policy,
    small: Refusals,
    scheduler: Scheduler,
}

#[derive(Deserialize, Serialize)]
struct State {
    large: Handshakes,
    small: Batches,
    /// By output: time up to which the link of its endpoint is booked.
    booked: Vec<Time>,
}

impl LhrpSrp {
    fn is_large(&self, bits: u64) -> bool {
        self.about.packets(bits).1 >= self.reserve_from
    }
}

impl Rules for LhrpSrp {
    type State = State;

    fn start(&self, _nics: usize, outputs: usize) -> State {
        State {
            large: Handshakes::default(),
            small: Batches::default(),
            booked: vec![0; outputs],
        }
    }

    fn fits(&self, state: &State, _nics: usize, outputs: usize) -> bool {
        state.booked.len() == outputs
    }

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
        Some(Acts::at_once(Act {
            counters: &[DROPPED_FABRIC, DROPPED_LAST_HOP, ABSORBED],
            did: "dropped a packet or took a reservation",
            parameter: "threshold",
        }))
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        self.policy.idle_limit(about)
    }

    fn useless(&self) -> Vec<Invalid> {
        self.policy.useless()
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        // No message has more flits than 32 bits count.
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

    fn handshake(&self, message_bits: u64) -> Handshake {
        match self.is_large(message_bits) {
            true => Handshakes::EACH,
            false => Handshake::default(),
        }
    }

    fn memory_bytes(&self, state: &State) -> usize {
        state.large.memory_bytes() + state.small.memory_bytes() + size_of_val(&*state.booked)
    }

    fn loss(&self) -> f64 {
        self.policy.loss
    }

    fn on_message(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
        if self.is_large(message.message_bits) {
            state.large.begin(&self.about, nic, to, message);
        }
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        match PacketKind::of(origin) {
            PacketKind::ACK => {
                state.large.acknowledged(nic, origin);
            }
            // Not by its size: `reserve_from` may have been another when the message began.
            NACK if state.large.lost(nic, origin) => {}
            NACK => self.small.lost(&mut state.small, nic, origin),
            GRANT if origin.tries == BATCH => self.small.granted(&mut state.small, nic, origin),
            GRANT => state.large.granted(nic, origin),
            _ => {}
        }
    }

    fn queueing_limit(&self, _: &State, port: &Port) -> Time {
        self.policy.allowed(port)
    }

    fn timeout(&self) -> Time {
        self.policy.timeout
    }

    /// A large message has its own reservation.
    fn on_drop(
        &self,
        state: &mut State,
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) {
        match port.port.last_hop && !self.is_large(origin.message_bits) {
            true => self
                .scheduler
                .refuse_at(&mut state.booked, port, packet, origin),
            false => port.send(nack(packet, origin, None)),
        }
    }

    fn intercept(
        &self,
        state: &mut State,
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) -> bool {
        self.scheduler
            .answer_at(&mut state.booked, port, packet, origin);
        true
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
        let rules = LhrpSrp {
            about: *about,
            reserve_from: parameters.reserve_from.flits(about.flit, longest),
            policy,
            small: Refusals::new(section, *about, parameters.retries)?,
            scheduler: Scheduler::new(section, parameters.slack, 0)?,
        };
        Ok(rules.into_scheme())
    },
};
