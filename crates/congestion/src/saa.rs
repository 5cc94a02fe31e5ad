//! `saa`: single application assignment, explicit rates by which all flows of a phase end at the
//! optimal time or before.
//!
//! Birk and Zdornov, SYSTOR 2009, section 5. The weight of a link W_l is the sum of the sizes of
//! the flows over it divided by its capacity (equation 4): the time that it takes to carry them
//! all. A flow of size w_f is sent at the rate w_f / W_f, where W_f is the largest weight of the
//! links on its way: it then takes W_f, and no link is asked for more than it has (theorem 1).
//!
//! `AnnounceStart` goes with the control packet that precedes the flow (and sets up its circuit, if
//! the routing keeps circuits), `AnnounceEnd` with the one that follows it. `ProbeLinks` is a
//! control packet every `period`; without a period it is piggybacked on the data. Each packet then
//! carries the W_f that its source knows and collects the largest weight on its path; the
//! destination sends a `weights` packet back if the two differ. With `wait`, one control packet
//! asks before the flow begins, and flows that are announced together begin together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    About, Build, Capabilities, FlowRate, NicContext, PacketView, Port, Rules, Scheme, flow_bytes,
};
use weir_input::registry::range::round_trips;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::codec::SavedMap;
use weir_model::{
    Classes, ControlKind, EndpointId, FlowStep, Invalid, LinkRate, NEVER, Origin, PacketKind,
    Stamp, Time,
};

/// Explicit rates: links add up the sizes of the flows over them, and sources learn the largest
/// such sum on the path of each flow. They send a flow at the rate given by its size divided by
/// that sum, by the discipline of the NIC (`nic.discipline`). Control packets have a separate
/// traffic class.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// Period after which a flow asks the links on its way by a separate control packet. Default:
    /// never; data packets ask instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = round_trips(1.0, 64.0)))]
    period: Option<Duration>,
    /// Time from a flow's announcement until it sends. At half of it the flow asks its links again.
    /// So the flows of a phase begin together, as if rates had been calculated during the
    /// computation before the phase (section 5.2), and with rates that count all of them, if all
    /// announcements have passed their links by then. A flow whose answers take longer begins with
    /// the second one. Default: none; a flow begins with the rate of its announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = round_trips(2.0, 8.0)))]
    wait: Option<Duration>,
}

/// Tells a source that the weights on the path of its flow differ from its own values.
const WEIGHTS: PacketKind = PacketKind::own(0);

const KINDS: &[ControlKind] = &[ControlKind {
    name: "weights",
    class: 1,
    timed: false,
}];

/// Words of the header. In announcements: the size of the flow in flits; in data packets: W_f as
/// the source knows it, ps.
const SIZE: usize = 0;
/// The largest weight on the path so far, ps.
const LARGEST: usize = 1;

/// A flow at its source.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Flow {
    /// Its size.
    flits: u64,
    /// W_f, ps; None until the answer is here by which it begins.
    weight: Option<Time>,
    /// Time at which it asks again.
    next: Time,
    /// Time before which it does not send.
    begin: Time,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Saa {
    about: About,
    /// None: data packets ask.
    period: Option<Time>,
    /// None: flows begin with the rate of their announcement.
    wait: Option<Time>,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// Flits of the flows over each output.
    ports: Vec<u64>,
    /// Flits of the flows that each NIC sends.
    sources: Vec<u64>,
    /// By NIC.
    flows: Vec<SavedMap<EndpointId, Flow>>,
    /// Number of rate changes after the first setting.
    changes: u64,
}

impl Saa {
    /// The weight of a NIC's own link, ps.
    fn own_weight(state: &State, nic: &dyn NicContext) -> Time {
        nic.link().time_of(state.sources[nic.nic() as usize])
    }

    /// Sets the weight on the path of a flow.
    fn set(state: &mut State, nic: u32, to: EndpointId, weight: Time) {
        if let Some(flow) = state.flows[nic as usize].get_mut(&to) {
            let before = flow.weight.replace(weight);
            state.changes += u64::from(before.is_some_and(|before| before != weight));
        }
    }

    /// Sets the timer at which a flow asks the links again, if it does.
    fn ask_at(state: &mut State, nic: &mut dyn NicContext, to: EndpointId, time: Option<Time>) {
        let flow = state.flows[nic.nic() as usize].get_mut(&to);
        if let (Some(time), Some(flow)) = (time, flow) {
            flow.next = time;
            nic.wake(time, u64::from(to));
        }
    }

    /// Time at which a flow that asks now asks again.
    fn next(&self, now: Time) -> Option<Time> {
        self.period.map(|period| now + period)
    }
}

impl Rules for Saa {
    type State = State;

    fn start(&self, nics: usize, outputs: usize) -> State {
        State {
            ports: vec![0; outputs],
            sources: vec![0; nics],
            flows: vec![SavedMap::default(); nics],
            changes: 0,
        }
    }

    fn fits(&self, state: &State, nics: usize, outputs: usize) -> bool {
        let lengths = [state.sources.len(), state.flows.len()];
        state.ports.len() == outputs && lengths == [nics; 2]
    }

    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn capabilities(&self) -> Capabilities {
        let by_data = self.period.is_none();
        Capabilities {
            listens: &[WEIGHTS],
            paces: true,
            rates: true,
            announces: true,
            stamps: by_data,
            receives: by_data,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    fn kinds(&self) -> &'static [ControlKind] {
        KINDS
    }

    fn counters(&self) -> &'static [&'static str] {
        &["rate_changes"]
    }

    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![state.changes]
    }

    fn header_words(&self) -> usize {
        2
    }

    fn memory_bytes(&self, state: &State) -> usize {
        8 * (state.ports.len() + state.sources.len()) + flow_bytes(&state.flows)
    }

    fn on_flow_start(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
        let flits = self.about.packets(message.message_bits).1;
        let flow = Flow {
            flits,
            weight: None,
            next: nic.now() + self.wait.unwrap_or(0) / 2,
            begin: nic.now() + self.wait.unwrap_or(0),
        };
        state.flows[nic.nic() as usize].insert(to, flow);
        state.sources[nic.nic() as usize] += flits;
        nic.header()[SIZE] = flits;
        nic.header()[LARGEST] = Saa::own_weight(state, nic);
    }

    fn on_flow_packet(&self, state: &mut State, port: &Port, step: FlowStep, header: &mut [u64]) {
        let weight = &mut state.ports[port.output as usize];
        match step {
            FlowStep::Start => *weight += header[SIZE],
            FlowStep::Probe => {}
            FlowStep::End => *weight -= header[SIZE],
        }
        header[LARGEST] = header[LARGEST].max(port.rate.time_of(*weight));
    }

    fn on_flow_back(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        step: FlowStep,
    ) {
        let waits = step == FlowStep::Start && self.wait.is_some();
        if step != FlowStep::End && !waits {
            let weight = nic.header()[LARGEST];
            Saa::set(state, nic.nic(), to, weight);
        }
        if step == FlowStep::Start {
            let flow = state.flows[nic.nic() as usize].get(&to);
            let half = self.wait.and(flow).map(|flow| flow.next.max(nic.now()));
            let next = half.or(self.next(nic.now()));
            Saa::ask_at(state, nic, to, next);
        }
    }

    fn on_nic_timer(&self, state: &mut State, nic: &mut dyn NicContext, number: u64) {
        let to = number as EndpointId;
        let flow = state.flows[nic.nic() as usize].get(&to);
        if flow.is_none_or(|flow| flow.next != nic.now()) {
            return;
        }
        nic.header()[LARGEST] = Saa::own_weight(state, nic);
        nic.probe(to);
        let next = self.next(nic.now());
        Saa::ask_at(state, nic, to, next);
    }

    fn on_flow_end(&self, state: &mut State, nic: &mut dyn NicContext, to: EndpointId, _: &Origin) {
        if let Some(flow) = state.flows[nic.nic() as usize].remove(&to) {
            state.sources[nic.nic() as usize] -= flow.flits;
            nic.header()[SIZE] = flow.flits;
        }
    }

    fn on_sent(&self, state: &mut State, nic: &mut dyn NicContext, packet: &PacketView, _: Time) {
        if self.period.is_some() {
            return;
        }
        let flow = state.flows[nic.nic() as usize].get(&packet.destination);
        if let Some(known) = flow.and_then(|flow| flow.weight) {
            nic.header()[SIZE] = known;
            nic.header()[LARGEST] = Saa::own_weight(state, nic);
        }
    }

    fn stamp(&self, state: &mut State, port: &Port, _: &PacketView, header: &mut [u64], _: Time) {
        let weight = state.ports[port.output as usize];
        header[LARGEST] = header[LARGEST].max(port.rate.time_of(weight));
    }

    fn on_delivery(&self, _: &mut State, nic: &mut dyn NicContext, packet: &PacketView) {
        let (known, largest) = (nic.header()[SIZE], nic.header()[LARGEST]);
        // A packet that belongs to no flow carries no weight.
        if known > 0 && known != largest {
            let about = Origin::of_message(packet.source, 0, 0, 0, 0, Stamp::NONE);
            nic.reply(WEIGHTS, packet.source, about.with_flits(largest));
        }
    }

    fn on_control(&self, state: &mut State, nic: &mut dyn NicContext, origin: &Origin, _: bool) {
        let flow = state.flows[nic.nic() as usize].get(&origin.source);
        // A reply about the previous flow does not apply to one that is not announced yet.
        if flow.is_some_and(|flow| flow.weight.is_some()) {
            Saa::set(state, nic.nic(), origin.source, origin.flits());
        }
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        match state.flows[nic as usize].get(&to) {
            Some(Flow { weight: None, .. }) => NEVER,
            Some(flow) => flow.begin.max(now),
            None => now,
        }
    }

    fn rate(
        &self,
        state: &mut State,
        (nic, _): (u32, LinkRate),
        to: EndpointId,
        _: Time,
    ) -> Option<FlowRate> {
        let flow = state.flows[nic as usize].get(&to)?;
        let time = flow.weight?;
        Some(FlowRate {
            flits: flow.flits,
            time,
        })
    }

    /// The minimum of the rates of its flows.
    fn allowed_rate(&self, state: &mut State, (nic, link): (u32, LinkRate), _: Time) -> f64 {
        let flows = state.flows[nic as usize].values();
        let shares = flows.filter_map(|flow| {
            let alone = link.time_of(flow.flits) as f64;
            flow.weight.map(|weight| alone / weight.max(1) as f64)
        });
        shares.fold(1.0, f64::min)
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "saa",
    summary: "Explicit rates: a flow gets its size over the largest sum of sizes on the links of \
              its way.",
    source: "Birk and Zdornov, SYSTOR 2009, section 5 (single application assignment)",
    examples: &["", "period = \"1 us\"", "wait = \"1 us\""],
    parameters: Keys::of::<Parameters>(),
    build,
};

fn build(section: &Section, about: &About) -> Result<Box<dyn Scheme>, ConfigError> {
    let Parameters { period, wait } = section.parse()?;
    for (key, time) in [("period", period), ("wait", wait)] {
        if time.is_some_and(|time| time.0 == 0) {
            return Err(section.refuse(Invalid::new(
                key,
                format!("0 ns is no {key}"),
                "write a time such as \"10 us\", or leave it out",
            )));
        }
    }
    let rules = Saa {
        about: *about,
        period: period.map(|period| period.0),
        wait: wait.map(|wait| wait.0),
    };
    Ok(rules.into_scheme())
}
