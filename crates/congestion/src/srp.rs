//! `srp`: the speculative reservation protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handshake::Handshakes;
use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::record::Record;
use super::scheduler::{AT_ENDPOINTS, Scheduler};
use super::{
    About, Build, Capabilities, Handshake, NicContext, PacketView, PortContext, Rules, SLACK,
    check_speculation, nack,
};
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, factors, packet_times};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, TimeSpan};
use weir_model::{Classes, ControlKind, EndpointId, Origin, PacketKind, Time};

/// Speculative reservation. Every message begins with a reservation, which leaves as soon as the
/// message is the first of its queue pair, and to which the destination answers with a time to
/// send. Until the answer is here the source sends speculatively, in a class of low priority, whose
/// packets routers drop when they have been in queues for too long. With the grant or the first
/// loss speculation ends, and packets that are left or lost are sent without loss at the granted
/// time.
///
/// The next message to the same destination begins when each packet of this one has been sent once:
/// it does not wait for acknowledgements or retransmissions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
pub(super) struct Parameters {
    /// Maximum time of a speculative packet in queues, summed over all routers; at most 16 us.
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    pub timeout: TimeSpan,
    /// Time that a schedule books for each requested flit, over its time on the link; at least 1.
    #[schemars(extend("x-range" = factors(1.0, 1.5)))]
    pub slack: f64,
    /// Probability that a router drops a speculative packet, 0 to 1; tests recovery.
    #[schemars(extend("x-range" = Range::Fixed("for tests of recovery")))]
    pub loss: f64,
}

const PRESETS: &[Preset] = &[Preset {
    name: "jiang2015",
    summary: "the paper's",
    values: r#"timeout = "1 us""#,
}];

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            timeout: Duration(1_000_000).into(),
            slack: SLACK,
            loss: 0.0,
        }
    }
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Srp {
    timeout: Time,
    loss: f64,
    about: About,
    scheduler: Scheduler,
}

#[derive(Deserialize, Serialize)]
struct State {
    source: Handshakes,
    /// By NIC: time up to which its link is booked.
    booked: Vec<Time>,
}

impl Rules for Srp {
    type State = State;

    fn start(&self, nics: usize, _outputs: usize) -> State {
        State {
            source: Handshakes::default(),
            booked: vec![0; nics],
        }
    }

    fn fits(&self, state: &State, nics: usize, _outputs: usize) -> bool {
        state.booked.len() == nics
    }

    fn name(&self) -> &'static str {
        "srp"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[PacketKind::ACK, NACK, RESERVATION, GRANT],
            drops: true,
            answers: true,
            retransmits: true,
            reserves: true,
            ..Capabilities::NONE
        }
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

    fn handshake(&self, _message_bits: u64) -> Handshake {
        Handshakes::EACH
    }

    fn memory_bytes(&self, state: &State) -> usize {
        state.source.memory_bytes() + size_of_val(&*state.booked)
    }

    fn loss(&self) -> f64 {
        self.loss
    }

    fn on_message(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
        state.source.begin(&self.about, nic, to, message);
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        match PacketKind::of(origin) {
            PacketKind::ACK => state.source.acknowledged(nic, origin),
            NACK => {
                state.source.lost(nic, origin);
            }
            GRANT => state.source.granted(nic, origin),
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
    name: "srp",
    summary: "Speculative reservation protocol: a reservation for every message, speculation until \
              the grant.",
    source: "Jiang et al., HPCA 2012; SC15, section 2.2 and Table 1 (doi:10.1145/2807591.2807600)",
    examples: &["", r#"loss = 0.05"#],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        let timeout = check_speculation(section, about, parameters.loss, Some(parameters.timeout))?;
        let rules = Srp {
            timeout,
            loss: parameters.loss,
            about: *about,
            scheduler: Scheduler::new(section, *about, parameters.slack, 1)?,
        };
        Ok(rules.into_scheme())
    },
};
