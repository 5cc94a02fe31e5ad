//! `codes_cc`: routers throttle the sources of full ports.

mod ejection;
mod parameters;
mod watch;

use serde::{Deserialize, Serialize};

use super::{
    About, Act, Actions, Acts, Build, Capabilities, NicContext, PacketView, Port, PortContext,
    Rules, below_a_packet,
};
use ejection::{Ejection, Packets, Periods, Share, SourceState};
use parameters::{Count, Limit, Measure, Parameters, Ports};
use watch::Watch;
use weir_input::registry::{Entry, Keys};
use weir_input::{Buffer, ConfigError, Section};
use weir_model::{Classes, EndpointId, Invalid, LinkRate, Signal, Time};

/// Kinds of notices.
const THROTTLE: u16 = 0;
const RELEASE: u16 = 1;
const DELIVERED: u16 = 2;

/// A share of 1 in fixed-point numbers.
const ONE: u64 = 1 << 32;

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct CodesCc {
    about: About,
    threshold: f64,
    release: f64,
    /// Flits; None: the port's own output queues.
    buffer: Option<u32>,
    limit: Limit,
    /// Participants of a pattern besides its sources.
    others: u64,
    /// Minimum share as given, in units of [`ONE`].
    minimum: Option<u64>,
    /// Part of a limit that is used (1 - headroom), in units of [`ONE`].
    used: u64,
    measure: Measure,
    latency: Time,
    ports: Ports,
    count: Count,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// By output.
    watches: Vec<Watch>,
    /// By NIC.
    sources: Vec<SourceState>,
    /// Number of times that a port became congested, and that one was released.
    congestions: u64,
    releases: u64,
    /// Total time that endpoints were throttled until they were released, ps (saturating), and
    /// number of times that one was throttled.
    throttled_ps: u64,
    throttlings: u64,
}

impl CodesCc {
    /// Levels, flits, above which a port becomes congested and at or below which it is released.
    fn levels(&self, port: &Port) -> (u64, u64) {
        let buffer = f64::from(self.buffer.unwrap_or(port.capacity));
        (
            (buffer * self.threshold) as u64,
            (buffer * self.release) as u64,
        )
    }

    /// Number of flits that count at a port.
    fn level(&self, watch: &Watch, port: &Port) -> u64 {
        match self.count {
            Count::Flits => port.level.into(),
            Count::Packets => u64::from(watch.total) * u64::from(self.about.max_packet),
        }
    }

    /// True if a port may be released. Without data there nothing would release it later: control
    /// packets may fill it for ever, and their sources are not throttled.
    fn is_drained(&self, watch: &Watch, port: &Port) -> bool {
        watch.total == 0 || self.level(watch, port) <= self.levels(port).1
    }

    /// Weight of a packet at a port (its flits, or 1), and the time that it counts for, ps.
    fn weight(&self, port: &Port, packet: &PacketView) -> (u32, Time) {
        match self.count {
            Count::Flits => (packet.flits.into(), port.rate.time(packet.flits)),
            Count::Packets => (1, port.rate.time(self.about.max_packet)),
        }
    }

    fn watched(&self, port: &Port) -> bool {
        port.last_hop || self.ports == Ports::All
    }

    /// Tells all endpoints that a port throttles how many share the link behind it. (If their
    /// destination counts as one of them, they send a little less than it takes, and the port
    /// drains.)
    fn throttle_all(&self, state: &State, actions: &mut Actions, output: u32) {
        let watch = &state.watches[output as usize];
        let all = watch.senders.len() as u64 + self.others;
        for &(to, _) in &watch.senders {
            actions.signal(to, THROTTLE, [all, 0]);
        }
    }

    fn release_all(state: &mut State, actions: &mut Actions, output: u32) {
        let watch = &mut state.watches[output as usize];
        watch.congested = false;
        state.releases += 1;
        for &(to, _) in &watch.senders {
            actions.signal(to, RELEASE, [0, 0]);
        }
        watch.senders.retain(|&mut (_, flits)| flits > 0);
    }

    /// Minimum share of its link that a throttled source keeps.
    fn least(&self, source: &SourceState) -> Share {
        let most = source.orders.iter().map(|&(_, n)| n).max().unwrap_or(1);
        self.minimum
            .map_or((1, u64::from(most.max(1))), |minimum| (minimum, ONE))
    }

    /// Time between the heads of a packet that takes `length` on the link and of the next one, at a
    /// share of the link less the headroom.
    fn spread(&self, length: Time, (part, whole): Share) -> Time {
        // 40 bits, 64 and 32.
        let wait = u128::from(length) * u128::from(whole) * u128::from(ONE);
        let wait = wait.checked_div(u128::from(part) * u128::from(self.used));
        wait.and_then(|wait| Time::try_from(wait).ok())
            .unwrap_or(Time::MAX)
    }

    /// The same at the rate at which the last packets were delivered. The rate falls while packets
    /// are under way and none arrives; this gives the time at which the rate allows the next
    /// packet. None if it never does.
    fn spread_measured(
        &self,
        packets: &Packets,
        (head, length): (Time, Time),
        now: Time,
    ) -> Option<Time> {
        let (flits, time) = packets.known(now);
        let carried =
            u128::from(self.about.link_time(flits)) * u128::from(self.used) / u128::from(ONE);
        let length = u128::from(length);
        let wait = if packets.runs() {
            // (head + wait) is the first time at which wait ≥ length · (time until then) / carried.
            let time = time.saturating_sub(now - head.min(now));
            (length * u128::from(time))
                .div_ceil(carried.checked_sub(length).filter(|&left| left > 0)?)
        } else {
            (length * u128::from(time)).div_ceil(Some(carried).filter(|&carried| carried > 0)?)
        };
        Some(Time::try_from(wait).unwrap_or(Time::MAX))
    }
}

impl Rules for CodesCc {
    type State = State;

    fn start(&self, nics: usize, outputs: usize) -> State {
        let ejection = match self.measure {
            Measure::Packets(_) => Ejection::Packets(Packets::default()),
            Measure::Periods(_) => Ejection::Periods(Periods::default()),
        };
        State {
            watches: vec![Watch::default(); outputs],
            sources: vec![SourceState::new(ejection); nics],
            congestions: 0,
            releases: 0,
            throttled_ps: 0,
            throttlings: 0,
        }
    }

    fn fits(&self, state: &State, nics: usize, outputs: usize) -> bool {
        let mut senders = state.watches.iter().flat_map(|watch| &watch.senders);
        let measured = |source: &SourceState| match self.measure {
            Measure::Packets(_) => matches!(source.ejection, Ejection::Packets(_)),
            Measure::Periods(_) => matches!(source.ejection, Ejection::Periods(_)),
        };
        (state.sources.len(), state.watches.len()) == (nics, outputs)
            && state.sources.iter().all(measured)
            && senders.all(|&(sender, _)| sender < self.about.endpoints)
    }

    fn name(&self) -> &'static str {
        "codes_cc"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            paces: true,
            observes: true,
            // Nothing follows from what is ejected if all have the least share.
            receives: self.limit == Limit::Ejection,
            signals: true,
            ..Capabilities::NONE
        }
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts {
            notices: Act {
                counters: &["ports_congested"],
                did: "found a port congested",
                parameter: "threshold",
            },
            responds: Act {
                counters: &["endpoints_throttled"],
                did: "throttled an endpoint",
                parameter: "threshold",
            },
        })
    }

    fn counters(&self) -> &'static [&'static str] {
        &[
            "ports_congested",
            "ports_released",
            "endpoints_throttled",
            "throttled_ps",
        ]
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        let buffer = self.buffer.or(about.output_queue)?;
        let threshold = f64::from(buffer) * self.threshold;
        below_a_packet("threshold", threshold as u64, about)
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let level = |share: f64| match self.buffer {
            Some(flits) => about.flits((f64::from(flits) * share) as u32),
            None => match about.output_queue {
                Some(flits) => format!(
                    "{} for each virtual channel of the port",
                    about.flits((f64::from(flits) * share) as u32)
                ),
                None => "nothing, without output queues".to_string(),
            },
        };
        let mut all = vec![
            ("threshold", format!("more than {}", level(self.threshold))),
            ("release", format!("at most {}", level(self.release))),
        ];
        if let Measure::Periods(clock) = self.measure {
            all.push(("period", about.packet_times(clock.period)));
        }
        all.push(("latency", about.packet_times(self.latency)));
        all
    }

    fn classes(&self) -> Classes {
        Classes::of_data(self.about.acknowledge)
    }

    fn signal_delay(&self) -> Option<Time> {
        Some(self.latency)
    }

    fn on_route(&self, state: &mut State, context: &mut PortContext, packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if !self.watched(&port) {
            return;
        }
        let (high, low) = self.levels(&port);
        let (weight, time) = self.weight(&port, packet);
        let watch = &mut state.watches[port.output as usize];
        let is_new = watch.enter(packet.source, weight);
        let level = self.level(watch, &port);
        if watch.congested {
            watch.drained = watch.drained.saturating_add(time);
            if is_new {
                self.throttle_all(state, actions, port.output);
            }
        } else if level > high {
            watch.congested = true;
            state.congestions += 1;
            watch.drained = now + port.rate.time_of(level - low.min(level));
            watch.alarm = watch.drained;
            actions.wake(watch.alarm);
            self.throttle_all(state, actions, port.output);
        }
    }

    fn on_departure(&self, state: &mut State, context: &mut PortContext, packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if !self.watched(&port) {
            return;
        }
        let (weight, _) = self.weight(&port, packet);
        let watch = &mut state.watches[port.output as usize];
        watch.leave(packet.source, weight);
        if watch.congested && now >= watch.drained && self.is_drained(watch, &port) {
            CodesCc::release_all(state, actions, port.output);
        }
    }

    fn on_port_timer(&self, state: &mut State, context: &mut PortContext) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        let watch = &mut state.watches[port.output as usize];
        if !watch.congested || now != watch.alarm {
            return;
        }
        if now < watch.drained {
            watch.alarm = watch.drained;
            actions.wake(watch.alarm);
        } else if self.is_drained(watch, &port) {
            CodesCc::release_all(state, actions, port.output);
        }
    }

    fn on_delivery(&self, _: &mut State, nic: &mut dyn NicContext, packet: &PacketView) {
        nic.signal(packet.source, DELIVERED, [u64::from(packet.flits), 0]);
    }

    fn absorb_signal(&self, state: &mut State, nic: u32, signal: &Signal) -> bool {
        // Counts by period depend on the time of the signal alone.
        let source = &mut state.sources[nic as usize];
        match (&mut source.ejection, &self.measure) {
            (Ejection::Periods(periods), Measure::Periods(clock)) if signal.kind == DELIVERED => {
                periods.delivered(signal.time, signal.words[0], clock);
                true
            }
            _ => false,
        }
    }

    fn on_signal(&self, state: &mut State, nic: u32, signal: &Signal) {
        let source = &mut state.sources[nic as usize];
        if signal.kind == DELIVERED {
            if let (Ejection::Packets(packets), &Measure::Packets(most)) =
                (&mut source.ejection, &self.measure)
            {
                packets.delivered(signal.time, signal.words[0], most);
            }
            return;
        }
        let port = u64::from(signal.from) << 16 | u64::from(signal.port);
        let before = source.orders.is_empty();
        match signal.kind {
            THROTTLE => {
                let n = signal.words[0] as u32;
                match source.orders.iter_mut().find(|order| order.0 == port) {
                    Some(order) => order.1 = n,
                    None => source.orders.push((port, n)),
                }
                if before {
                    source.since = signal.time;
                    state.throttlings += 1;
                }
            }
            _ => {
                source.orders.retain(|order| order.0 != port);
                if !before && source.orders.is_empty() {
                    let time = signal.time - source.since;
                    state.throttled_ps = state.throttled_ps.saturating_add(time);
                }
            }
        }
    }

    fn ready_at(&self, state: &mut State, nic: u32, _to: EndpointId, now: Time) -> Time {
        let source = &state.sources[nic as usize];
        if source.orders.is_empty() {
            return now;
        }
        let (head, length) = source.last;
        let least = self.spread(length, self.least(source));
        let at = |wait| head.saturating_add(wait);
        if self.limit == Limit::Minimum {
            return at(least).max(now);
        }
        match (&source.ejection, &self.measure) {
            (Ejection::Periods(periods), Measure::Periods(clock)) => {
                let wait = self.spread(length, periods.share(now, clock)).min(least);
                // The rate may differ in the next period.
                let next = (now / clock.period + 1) * clock.period;
                at(wait).min(next).max(now)
            }
            (Ejection::Packets(packets), _) => {
                let measured = self.spread_measured(packets, source.last, now);
                at(measured.unwrap_or(least).min(least)).max(now)
            }
            _ => at(least).max(now),
        }
    }

    fn allowed_rate(&self, state: &mut State, (nic, _): (u32, LinkRate), now: Time) -> f64 {
        let source = &state.sources[nic as usize];
        if source.orders.is_empty() {
            return 1.0;
        }
        let (part, whole) = self.least(source);
        let least = part as f64 / whole as f64;
        let measured = match (&source.ejection, &self.measure) {
            _ if self.limit == Limit::Minimum => 0.0,
            (Ejection::Periods(periods), Measure::Periods(clock)) => {
                let (part, whole) = periods.share(now, clock);
                part as f64 / whole as f64
            }
            (Ejection::Packets(packets), _) => {
                let (flits, time) = packets.known(now);
                self.about.link_time(flits) as f64 / time.max(1) as f64
            }
            _ => 0.0,
        };
        let used = self.used as f64 / ONE as f64;
        least.max(measured).min(1.0) * used
    }

    fn on_sent(&self, state: &mut State, nic: &mut dyn NicContext, packet: &PacketView, _: Time) {
        let head = nic.now();
        let source = &mut state.sources[nic.nic() as usize];
        // On the link that all measures are relative to.
        source.last = (head, self.about.link().time(packet.flits));
        if let Ejection::Packets(packets) = &mut source.ejection {
            packets.sent(head);
        }
    }

    fn counts(&self, state: &State, end: Time) -> Vec<u64> {
        let throttled = (state.sources.iter()).filter(|source| !source.orders.is_empty());
        let open = throttled.map(|source| end.saturating_sub(source.since));
        vec![
            state.congestions,
            state.releases,
            state.throttlings,
            open.fold(state.throttled_ps, Time::saturating_add),
        ]
    }

    fn memory_bytes(&self, state: &State) -> usize {
        let watch = |watch: &Watch| {
            let elsewhere = watch.senders.spilled();
            let senders = watch.senders.capacity() * size_of::<(EndpointId, u32)>();
            size_of::<Watch>() + if elsewhere { senders } else { 0 }
        };
        let source = |source: &SourceState| {
            size_of::<SourceState>()
                + source.ejection.memory_bytes()
                + source.orders.capacity() * 16
        };
        state.watches.iter().map(watch).sum::<usize>()
            + state.sources.iter().map(source).sum::<usize>()
    }
}

impl CodesCc {
    /// Checks a section of the experiment file.
    fn new(section: &Section, about: &About) -> Result<CodesCc, ConfigError> {
        let parameters = Parameters::read(section, about)?;
        let measure = parameters.measure(section, about)?;
        let of_one = |share: f64| (share * ONE as f64).round() as u64;
        Ok(CodesCc {
            about: *about,
            threshold: parameters.threshold,
            release: parameters.release,
            buffer: match parameters.buffer {
                Buffer::Size(size) => {
                    let flits = size.flits(about.flit, u64::from(about.max_packet));
                    Some(u32::try_from(flits).unwrap_or(u32::MAX))
                }
                Buffer::Auto => None,
            },
            limit: parameters.limit,
            others: parameters.cardinality.others(),
            minimum: parameters.minimum.map(of_one),
            used: of_one(1.0 - parameters.headroom),
            measure,
            latency: parameters.latency.0,
            ports: parameters.ports,
            count: parameters.count,
        })
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "codes_cc",
    summary: "Routers throttle all sources of a full port to the rate at which they are delivered.",
    source: "McGlohon et al., PMBS 2021, sections III.A and IV.C",
    examples: &[
        r#"threshold = 0.2, release = 0.05, period = "700 ns", periods = 3, latency = "150 ns""#,
        r#"period = "1 us", ports = "last_hop""#,
        r#"packets = 12, minimum = 0.02, headroom = 0.1"#,
        r#"limit = "minimum", cardinality = "sources", count = "packets""#,
    ],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| Ok(CodesCc::new(section, about)?.into_scheme()),
};

#[cfg(test)]
mod tests;
