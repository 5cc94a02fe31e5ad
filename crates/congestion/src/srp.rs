//! `srp`: the speculative reservation protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handshake::Handshakes;
use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::record::Record;
use super::scheduler::{AT_ENDPOINTS, Scheduler};
use super::{
    About, Build, Capabilities, Handshake, NicContext, PacketView, PortContext, Rules, SLACK,
    check_speculation, cut_timeout, hardly_queues, nack, table_bytes,
};
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, factors, packet_times};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, TimeSpan};
use weir_model::codec::SavedMap;
use weir_model::{Classes, ControlKind, EndpointId, Invalid, NEVER, Origin, PacketKind, Time};

/// Speculative reservation. Every message begins with a reservation, which leaves as soon as the
/// message is the first of its queue pair, and to which the destination answers with a time to
/// send. Until the answer is here the source sends speculatively, in a class of low priority, whose
/// packets routers drop when they have been in queues for too long. With the grant or the first
/// loss speculation ends, and packets that are left or lost are sent without loss at the granted
/// time.
///
/// The next message to the same destination begins when each packet of this one has been sent once:
/// it does not wait for acknowledgements or retransmissions, unless `outstanding` limits it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
pub(super) struct Parameters {
    /// Maximum time of a speculative packet in queues, summed over all routers; at most 16.7 us. The
    /// paper's 1 us are 42 packet times of its network; on links on which 1 us is less than a few
    /// packets take, give it in packet times.
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    pub timeout: TimeSpan,
    /// Time that a schedule books for each requested flit, over its time on the link; at least 1.
    #[schemars(extend("x-range" = factors(1.0, 1.5)))]
    pub slack: f64,
    /// Maximum number of open messages from a source to a destination: reserved and not wholly
    /// acknowledged; at least 1. With 1 as in the authors' simulator of 2013, where a pair sends
    /// one message per round trip at most. All jobs of a NIC then share a queue pair for each
    /// destination, in the order posted. Needs `nic.order = "fair"`. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = Range::Fixed("a limit of another simulator")))]
    pub outstanding: Option<u32>,
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
            outstanding: None,
            loss: 0.0,
        }
    }
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Srp {
    timeout: Time,
    outstanding: Option<u32>,
    loss: f64,
    about: About,
    scheduler: Scheduler,
}

#[derive(Deserialize, Serialize)]
struct State {
    source: Handshakes,
    /// By NIC: time up to which its link is booked.
    booked: Vec<Time>,
    /// By NIC and destination, if their messages are limited.
    pairs: SavedMap<(u32, EndpointId), Pair>,
}

/// Messages of a source to one destination.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Pair {
    /// Messages that are not wholly acknowledged.
    open: u32,
    /// The next one, which may not begin yet.
    waits: Option<Origin>,
}

impl Srp {
    /// Begins a message, unless too many to its destination are open.
    fn begin(&self, state: &mut State, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {
        if let Some(most) = self.outstanding {
            let pair = state.pairs.entry((nic.nic(), to)).or_default();
            if pair.open >= most {
                debug_assert!(pair.waits.is_none(), "two messages are first");
                pair.waits = Some(*message);
                return;
            }
            pair.open += 1;
        }
        state.source.begin(&self.about, nic, to, message);
    }

    /// A message is wholly acknowledged: the next one may begin.
    fn end(&self, state: &mut State, nic: &mut dyn NicContext, to: EndpointId) {
        let key = (nic.nic(), to);
        let Some(pair) = state.pairs.get_mut(&key) else {
            return;
        };
        pair.open -= 1;
        match pair.waits.take() {
            Some(message) => self.begin(state, nic, to, &message),
            None if pair.open == 0 => drop(state.pairs.remove(&key)),
            None => {}
        }
    }
}

impl Rules for Srp {
    type State = State;

    fn start(&self, nics: usize, _outputs: usize) -> State {
        State {
            source: Handshakes::default(),
            booked: vec![0; nics],
            pairs: SavedMap::default(),
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
            paces: self.outstanding.is_some(),
            by_pair: self.outstanding.is_some(),
            ..Capabilities::NONE
        }
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

    fn handshake(&self, _message_bits: u64) -> Handshake {
        Handshakes::EACH
    }

    fn memory_bytes(&self, state: &State) -> usize {
        let pairs = table_bytes(&state.pairs);
        state.source.memory_bytes() + size_of_val(&*state.booked) + pairs
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
        self.begin(state, nic, to, message);
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        let pair = state.pairs.get(&(nic, to));
        match pair.is_some_and(|pair| pair.waits.is_some()) {
            true => NEVER,
            false => now,
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
            PacketKind::ACK if state.source.acknowledged(nic, origin) => {
                self.end(state, nic, origin.source);
            }
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
    examples: &["", r#"loss = 0.05"#, "outstanding = 2, loss = 0.05"],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        let timeout = check_speculation(section, about, parameters.loss, Some(parameters.timeout))?;
        if parameters.outstanding == Some(0) {
            return Err(section.refuse(Invalid::new(
                "outstanding",
                "with 0 messages nothing is sent",
                "write 1 or more, or leave it out",
            )));
        }
        let rules = Srp {
            timeout,
            outstanding: parameters.outstanding,
            loss: parameters.loss,
            about: *about,
            scheduler: Scheduler::new(section, parameters.slack, 1)?,
        };
        Ok(rules.into_scheme())
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Seen, about, origin, section};
    use super::*;

    fn network() -> About {
        About {
            acknowledge: true,
            ..about(4, 64)
        }
    }

    /// Messages with a reservation, in order.
    fn reserved(nic: &Seen) -> Vec<u32> {
        let own = nic.replies.iter().filter(|reply| reply.0 == RESERVATION);
        own.map(|reply| reply.2).collect()
    }

    #[test]
    fn a_message_is_open_from_its_reservation_until_all_of_it_is_acknowledged() {
        let (section, about) = (section("outstanding = 2"), network());
        let mut srp = (ENTRY.build)(&section, &about).expect("a scheme");
        srp = srp.start(1, 1);
        let mut nic = Seen::at(0);
        let message = |number| origin(PacketKind::DATA, 0, number);
        for number in 0..3 {
            assert_eq!(srp.ready_at(0, 7, 0), 0, "{number}");
            srp.on_message(&mut nic, 7, &message(number));
        }
        // Another destination has its own limit.
        srp.on_message(&mut nic, 8, &message(9));
        assert_eq!(
            (reserved(&nic), srp.ready_at(0, 7, 0)),
            (vec![0, 1, 9], NEVER)
        );
        assert_eq!(srp.ready_at(0, 8, 0), 0);
        // The last acknowledgement frees a place, and the grant after it none.
        srp.on_control(&mut nic, &origin(PacketKind::ACK, 7, 0), false);
        assert_eq!(
            (reserved(&nic), srp.ready_at(0, 7, 0)),
            (vec![0, 1, 9, 2], 0)
        );
        srp.on_message(&mut nic, 7, &message(3));
        srp.on_control(&mut nic, &origin(GRANT, 7, 0), false);
        assert_eq!((reserved(&nic).len(), srp.ready_at(0, 7, 0)), (4, NEVER));
        // The grant comes first.
        srp.on_control(&mut nic, &origin(GRANT, 7, 2), false);
        assert_eq!(srp.ready_at(0, 7, 0), NEVER);
        srp.on_control(&mut nic, &origin(PacketKind::ACK, 7, 2), false);
        assert_eq!(reserved(&nic), [0, 1, 9, 2, 3]);
    }

    #[test]
    fn nothing_is_sent_with_no_open_message() {
        let refused = (ENTRY.build)(&section("outstanding = 0"), &network());
        assert!(
            refused
                .err()
                .expect("refused")
                .to_string()
                .contains("outstanding")
        );
    }
}
