//! `lhrp`: the last-hop reservation protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::{self, GRANT, NACK, RESERVATION};
use super::record::Record;
use super::refusals::{Batches, Refusals};
use super::scheduler::{AT_PORTS, Scheduler};
use super::{
    About, Acts, Build, Capabilities, NicContext, PacketView, Port, PortContext, Rules, SLACK,
    check_speculation, check_threshold, cut_timeout, nack,
};
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packet_times, packets};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size, TimeSpan};
use weir_model::{Classes, ControlKind, Invalid, Origin, PacketKind, Time};

/// Last-hop reservation. Every packet is sent speculatively at once. The router in front of an
/// endpoint drops speculative packets in order of arrival while more than a threshold is queued for
/// the endpoint. It holds the endpoint's schedule, and the negative acknowledgement carries the
/// time at which the packet is to be sent again, without loss. Control packets thus never take the
/// endpoint's link.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
struct Parameters {
    /// Flits of all classes queued for an endpoint in its router beyond which speculative packets
    /// are dropped.
    #[schemars(extend("x-range" = packets(4.0, 100.0)))]
    threshold: Size,
    /// True if routers before the last also drop packets that were in queues for longer than
    /// `timeout`. They give no time, and the packet is sent speculatively again.
    fabric_drop: bool,
    /// With `fabric_drop`: maximum time of a speculative packet in queues before the last router;
    /// at most 16.7 us. (The paper's 1 us are 42 packet times of its network.)
    #[schemars(extend("x-range" = packet_times(4.0, 100.0)))]
    timeout: TimeSpan,
    /// Speculative retries of a packet before all such packets for its destination go together with
    /// a reservation, 0 to 200. The paper says "repeated".
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
    summary: "the paper's, made for flits of 100 bits and packets of 24 ns",
    values: r#"threshold = "1000 flits", timeout = "1 us""#,
}];

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            threshold: Size::Flits(1_000),
            fabric_drop: false,
            timeout: TimeSpan::PacketTimes(42_000_000),
            retries: 3,
            slack: SLACK,
            loss: 0.0,
        }
    }
}

/// Drop policy of the last router and of the routers before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// Flits.
    pub threshold: u32,
    /// Before the last router, ps; [`Time::MAX`]: nothing is dropped there.
    pub timeout: Time,
    /// For tests.
    pub loss: f64,
}

impl Policy {
    /// The policy that a section describes. `timeout` counts with `fabric_drop` only.
    pub(super) fn new(
        section: &Section,
        about: &About,
        threshold: Size,
        fabric_drop: bool,
        timeout: TimeSpan,
        loss: f64,
    ) -> Result<Policy, ConfigError> {
        let timeout = fabric_drop.then_some(timeout);
        let timeout = check_speculation(section, about, loss, timeout)?;
        Ok(Policy {
            threshold: check_threshold(section, about, threshold)?,
            timeout,
            loss,
        })
    }

    /// Says that the threshold is below the longest packet: any that waits for another is dropped.
    pub(super) fn idle_limit(&self, about: &About) -> Option<Invalid> {
        (self.threshold < about.max_packet.into()).then(|| {
            let what = format!(
                "a packet of {} flits behind another one exceeds a threshold of {}",
                about.max_packet, self.threshold
            );
            Invalid::new("threshold", what, "raise it to several packets")
        })
    }

    /// Parameters that count with `fabric_drop` only, or that were cut.
    pub(super) fn useless(&self) -> Vec<Invalid> {
        if self.timeout < Time::MAX {
            return cut_timeout(self.timeout).into_iter().collect();
        }
        let none = |key| {
            let what = "the last router alone drops, and says when to send again";
            Invalid::new(key, what, "write fabric_drop = true, or leave it out")
        };
        ["timeout", "retries"].map(none).into()
    }

    /// Effective values of the parameters.
    pub(super) fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let threshold = format!("more than {}", about.flits(self.threshold));
        let timeout = match self.timeout {
            Time::MAX => "of no effect (fabric_drop = false)".to_string(),
            timeout => about.packet_times(timeout),
        };
        vec![("threshold", threshold), ("timeout", timeout)]
    }

    /// Maximum time that a packet may wait for an endpoint, ps.
    pub(super) fn allowed(&self, port: &Port) -> Time {
        match port.level > self.threshold {
            true => 0,
            false => Time::MAX,
        }
    }
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Lhrp {
    policy: Policy,
    source: Refusals,
    scheduler: Scheduler,
}

#[derive(Deserialize, Serialize)]
struct State {
    batches: Batches,
    /// By output: time up to which the link of its endpoint is booked.
    booked: Vec<Time>,
}

impl Rules for Lhrp {
    type State = State;

    fn start(&self, _nics: usize, outputs: usize) -> State {
        State {
            batches: Batches::default(),
            booked: vec![0; outputs],
        }
    }

    fn fits(&self, state: &State, _nics: usize, outputs: usize) -> bool {
        state.booked.len() == outputs
    }

    fn name(&self) -> &'static str {
        "lhrp"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[NACK, GRANT],
            drops: true,
            answers: true,
            retransmits: true,
            intercepts: match self.classes() == Classes::SPECULATIVE {
                true => &[],
                false => &[RESERVATION],
            },
            ..Capabilities::NONE
        }
    }

    /// Reservations exist only where routers before the last drop, too.
    fn acts(&self) -> Option<Acts> {
        Some(Acts::dropping("threshold"))
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        self.policy.idle_limit(about)
    }

    fn useless(&self) -> Vec<Invalid> {
        self.policy.useless()
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        self.policy.effective(about)
    }

    fn classes(&self) -> Classes {
        match self.policy.timeout == Time::MAX && self.policy.loss == 0.0 {
            true => Classes::SPECULATIVE,
            false => Classes::RESERVED,
        }
    }

    fn kinds(&self) -> &'static [ControlKind] {
        match self.classes() == Classes::SPECULATIVE {
            true => kinds::IN_ONE_CLASS,
            false => kinds::IN_OWN_CLASSES,
        }
    }

    fn records(&self) -> &'static [Record] {
        AT_PORTS
    }

    fn memory_bytes(&self, state: &State) -> usize {
        state.batches.memory_bytes() + size_of_val(&*state.booked)
    }

    fn loss(&self) -> f64 {
        self.policy.loss
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        match PacketKind::of(origin) {
            NACK => self.source.lost(&mut state.batches, nic, origin),
            GRANT => self.source.granted(&mut state.batches, nic, origin),
            _ => {}
        }
    }

    fn queueing_limit(&self, _: &State, port: &Port) -> Time {
        self.policy.allowed(port)
    }

    fn timeout(&self) -> Time {
        self.policy.timeout
    }

    fn on_drop(
        &self,
        state: &mut State,
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) {
        match port.port.last_hop {
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
    name: "lhrp",
    summary: "Last-hop reservation protocol: the router in front of the endpoint drops, and says \
              when to send again.",
    source: "Jiang et al., SC15, sections 3.2 and 6.1, and Table 1 (doi:10.1145/2807591.2807600)",
    examples: &[
        r#"threshold = "100 flits""#,
        r#"threshold = "100 flits", fabric_drop = true, loss = 0.05"#,
    ],
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
        let rules = Lhrp {
            policy,
            source: Refusals::new(section, *about, parameters.retries)?,
            scheduler: Scheduler::new(section, parameters.slack, 0)?,
        };
        Ok(rules.into_scheme())
    },
};
