use rustc_hash::FxHashMap;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::{
    About, Actions, Build, Capabilities, NicContext, PacketView, Port, PortContext, Scheme,
};
use crate::config::{Buffer, ConfigError, Duration, Section};
use crate::model::{Classes, EndpointId, Invalid, Signal, Time};
use crate::registry::Entry;

/// The congestion control of the simulator CODES, after HPE Cray's patents: a router whose port holds too much throttles
/// all endpoints that have packets there, until the port has drained. A throttled endpoint injects at the rate at which
/// the network has lately delivered its packets, and at 1/N of its link at least, where N counts the endpoints that the
/// port throttles and the one that they send to: the paper's 99 senders go down to one-hundredth. All signals (throttling,
/// release, deliveries) go out of band.
///
/// Choices of ours where the paper is silent: when another endpoint joins those that a port throttles, all are told
/// the new N; an endpoint that several ports throttle keeps the largest N; orders are counted by port, not by router.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// A port is congested when more than this share of `buffer` waits for it.
    threshold: f64,
    /// It is not congested any more when no more than this share of `buffer` waits, and the time is over that draining
    /// it to there takes.
    release: f64,
    /// What the two are shares of: "auto" is all output queues of the port, otherwise a size.
    buffer: Buffer,
    /// Endpoints count what is delivered of theirs over periods of this length … All of them together should see many
    /// packets even at 1/N: a share that is rounded to whole packets and then not less than 1/N is above 1/N in the mean, and
    /// the queue grows. (The paper gives no length. With 10 µs, as in the authors' public code, 5 periods see 3 packets of 4 KiB
    /// at 1/100 of 25 GB/s, and 99 sources send 1.2 times what one endpoint takes.)
    period: Duration,
    /// … and take the mean of so many.
    periods: u32,
    /// How long all signals are under way. Less than the least latency between domains (groups, pods) is exact on one
    /// rank, and refused on several.
    latency: Duration,
    /// The ports that are watched: "all" ports of routers, or those of the "last_hop", which endpoints are attached to.
    ports: Ports,
}

/// Which ports are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Ports {
    /// All of them.
    All,
    /// Those that endpoints are attached to.
    LastHop,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            threshold: 0.3,
            release: 0.1,
            buffer: Buffer::Auto,
            period: Duration(500_000_000),
            periods: 5,
            latency: Duration(0),
            ports: Ports::All,
        }
    }
}

/// Kinds of notices.
const THROTTLE: u16 = 0;
const RELEASE: u16 = 1;
const DELIVERED: u16 = 2;

/// An endpoint with packets at a port, or one that the port throttles.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    /// No more than wait at the port ([`Port::level`]).
    flits: u32,
    throttled: bool,
}

/// A port of a router.
#[derive(Clone, Debug, Default)]
struct Watch {
    senders: FxHashMap<EndpointId, Sender>,
    congested: bool,
    /// How many it throttles.
    throttled: u32,
    /// When it may be drained at the earliest.
    drained: Time,
    /// The alarm that counts.
    alarm: Time,
}

/// An endpoint as a source.
#[derive(Clone, Debug, Default)]
struct Source {
    /// The ports that throttle it, and how many others with it.
    orders: Vec<(u64, u32)>,
    /// A ring of periods: which one (from 1), and the flits delivered in it.
    delivered: Vec<(u64, u64)>,
    /// When its last packet began to leave, and how long that took.
    last: (Time, Time),
    /// Since when it has been throttled.
    since: Time,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
pub struct CodesCc {
    about: About,
    threshold: f64,
    release: f64,
    /// Flits; None: the port's own output queues.
    buffer: Option<u32>,
    period: Time,
    periods: u32,
    latency: Time,
    ports: Ports,
    /// Flits that a link carries in all periods that are looked at.
    full: u64,
    watches: Vec<Watch>,
    sources: Vec<Source>,
    /// Times that a port became congested, and that one was released.
    congestions: u64,
    releases: u64,
    /// Time that endpoints were throttled in all, ps (the largest number if it is more); times that one was.
    throttled_ps: u64,
    throttlings: u64,
}

impl CodesCc {
    /// The flits at which a port is congested, and those at which it is not any more.
    fn levels(&self, port: &Port) -> (u32, u32) {
        let buffer = f64::from(self.buffer.unwrap_or(port.capacity));
        (
            (buffer * self.threshold) as u32,
            (buffer * self.release) as u32,
        )
    }

    fn watched(&self, port: &Port) -> bool {
        port.last_hop || self.ports == Ports::All
    }

    /// Tells all that a port throttles how many share what is behind it: themselves and their destination. (With the
    /// destination they send a little less than it takes, and the port drains.)
    fn throttle_all(actions: &mut Actions, watch: &Watch) {
        for (&to, sender) in &watch.senders {
            if sender.throttled {
                actions.signal(to, THROTTLE, [u64::from(watch.throttled) + 1, 0]);
            }
        }
    }

    fn release_all(&mut self, actions: &mut Actions, output: u32) {
        let watch = &mut self.watches[output as usize];
        watch.congested = false;
        watch.throttled = 0;
        self.releases += 1;
        watch.senders.retain(|&to, sender| {
            if std::mem::take(&mut sender.throttled) {
                actions.signal(to, RELEASE, [0, 0]);
            }
            sender.flits > 0
        });
    }

    /// The share of its link that a throttled source may use, as a fraction. `now` is in a period that does not count yet.
    fn share(&self, source: &Source, now: Time) -> (u64, u64) {
        let present = now / self.period + 1;
        let counts = present.saturating_sub(u64::from(self.periods))..present;
        let bins = source.delivered.iter();
        let flits: u64 = bins
            .filter(|(period, _)| counts.contains(period) && *period > 0)
            .map(|&(_, flits)| flits)
            .sum();
        let most = source.orders.iter().map(|&(_, n)| n).max().unwrap_or(1);
        if flits >= self.full {
            (1, 1)
        } else if u128::from(flits) * u128::from(most) < u128::from(self.full) {
            (1, u64::from(most))
        } else {
            (flits, self.full)
        }
    }
}

impl Scheme for CodesCc {
    fn name(&self) -> &'static str {
        "codes_cc"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            paces: true,
            observes: true,
            receives: true,
            signals: true,
            ..Capabilities::NONE
        }
    }

    fn counters(&self) -> &'static [&'static str] {
        &[
            "ports_congested",
            "ports_released",
            "endpoints_throttled",
            "throttled_ps",
        ]
    }

    fn classes(&self) -> Classes {
        Classes::of_data(self.about.acknowledge)
    }

    fn start(&mut self, nics: usize, outputs: usize) {
        self.watches = vec![Watch::default(); outputs];
        self.sources = vec![Source::default(); nics];
    }

    fn signal_delay(&self) -> Option<Time> {
        Some(self.latency)
    }

    fn on_route(&mut self, context: &mut PortContext, packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if !self.watched(&port) {
            return;
        }
        let (high, low) = self.levels(&port);
        let watch = &mut self.watches[port.output as usize];
        let sender = watch.senders.entry(packet.source).or_default();
        sender.flits += u32::from(packet.flits);
        if watch.congested {
            let more = self.about.link_time(u64::from(packet.flits));
            watch.drained = watch.drained.saturating_add(more);
            if !std::mem::replace(&mut sender.throttled, true) {
                watch.throttled += 1;
                Self::throttle_all(actions, watch);
            }
        } else if port.level > high {
            watch.congested = true;
            self.congestions += 1;
            let above = u64::from(port.level - low.min(port.level));
            watch.drained = now + self.about.link_time(above);
            watch.alarm = watch.drained;
            actions.wake(watch.alarm);
            for sender in watch.senders.values_mut() {
                sender.throttled = true;
            }
            watch.throttled = watch.senders.len() as u32;
            Self::throttle_all(actions, watch);
        }
    }

    fn on_departure(&mut self, context: &mut PortContext, packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if !self.watched(&port) {
            return;
        }
        let (_, low) = self.levels(&port);
        let watch = &mut self.watches[port.output as usize];
        if let Some(sender) = watch.senders.get_mut(&packet.source) {
            sender.flits -= u32::from(packet.flits);
            if sender.flits == 0 && !sender.throttled {
                watch.senders.remove(&packet.source);
            }
        }
        if watch.congested && now >= watch.drained && port.level <= low {
            self.release_all(actions, port.output);
        }
    }

    fn on_port_timer(&mut self, context: &mut PortContext) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        let (_, low) = self.levels(&port);
        let watch = &mut self.watches[port.output as usize];
        if !watch.congested || now != watch.alarm {
            return;
        }
        if now < watch.drained {
            watch.alarm = watch.drained;
            actions.wake(watch.alarm);
        } else if port.level <= low {
            self.release_all(actions, port.output);
        }
    }

    fn on_delivery(&mut self, nic: &mut dyn NicContext, packet: &PacketView) {
        nic.signal(packet.source, DELIVERED, [u64::from(packet.flits), 0]);
    }

    fn absorb_signal(&mut self, nic: u32, signal: &Signal) -> bool {
        if signal.kind != DELIVERED {
            return false;
        }
        let ring = &mut self.sources[nic as usize].delivered;
        if ring.is_empty() {
            // Those that count, the present one, and those up to a signal that is sent now.
            let ahead = self.latency / self.period + 2;
            // At most 1,000 and 10,002: both are checked.
            ring.resize(self.periods as usize + ahead as usize, (0, 0));
        }
        let period = signal.time / self.period + 1;
        let place = (period % ring.len() as u64) as usize;
        if ring[place].0 != period {
            ring[place] = (period, 0);
        }
        ring[place].1 += signal.words[0];
        true
    }

    fn on_signal(&mut self, nic: u32, signal: &Signal) {
        let source = &mut self.sources[nic as usize];
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
                    self.throttlings += 1;
                }
            }
            _ => {
                source.orders.retain(|order| order.0 != port);
                if !before && source.orders.is_empty() {
                    let time = signal.time - source.since;
                    self.throttled_ps = self.throttled_ps.saturating_add(time);
                }
            }
        }
    }

    fn ready_at(&mut self, nic: u32, _to: EndpointId, now: Time) -> Time {
        let source = &self.sources[nic as usize];
        if source.orders.is_empty() {
            return now;
        }
        let (part, whole) = self.share(source, now);
        let (head, length) = source.last;
        let wait = u128::from(length) * u128::from(whole) / u128::from(part);
        let ready = head.saturating_add(Time::try_from(wait).unwrap_or(Time::MAX));
        if ready <= now {
            return now;
        }
        // The rate may be another one in the next period.
        ready.min((now / self.period + 1) * self.period)
    }

    fn allowed_rate(&mut self, nic: u32, now: Time) -> f64 {
        let source = &self.sources[nic as usize];
        if source.orders.is_empty() {
            return 1.0;
        }
        let (part, whole) = self.share(source, now);
        part as f64 / whole as f64
    }

    fn on_sent(&mut self, nic: &mut dyn NicContext, _packet: &PacketView, tail: Time) {
        let head = nic.now();
        self.sources[nic.nic() as usize].last = (head, tail - head);
    }

    fn counts(&self) -> Vec<u64> {
        vec![
            self.congestions,
            self.releases,
            self.throttlings,
            self.throttled_ps,
        ]
    }

    fn memory_bytes(&self) -> usize {
        let watch = |watch: &Watch| size_of::<Watch>() + watch.senders.capacity() * 16;
        let source = |source: &Source| {
            size_of::<Source>() + source.delivered.capacity() * 16 + source.orders.capacity() * 16
        };
        self.watches.iter().map(watch).sum::<usize>()
            + self.sources.iter().map(source).sum::<usize>()
    }
}

impl CodesCc {
    /// Checks a section of the experiment file.
    fn new(section: &Section, about: &About) -> Result<CodesCc, ConfigError> {
        let parameters: Parameters = section.parse()?;
        let refuse = |key, what: &str, remedy| Err(section.refuse(Invalid::new(key, what, remedy)));
        let Parameters {
            threshold, release, ..
        } = parameters;
        if !(threshold > 0.0 && threshold.is_finite()) {
            let what = "the threshold is not above 0";
            return refuse("threshold", what, "give a share such as 0.3");
        }
        if !(0.0..=threshold).contains(&release) {
            let what = "a port is released at no more than the threshold at which it is congested";
            return refuse(
                "release",
                what,
                "give a share from 0 to `threshold`, such as 0.1",
            );
        }
        if parameters.period.0 == 0 {
            let what = "a period has to have a length";
            return refuse("period", what, "give a time such as \"500 us\"");
        }
        if !(1..=1_000).contains(&parameters.periods) {
            let what = "this many periods cannot be averaged";
            return refuse("periods", what, "give a number from 1 to 1000");
        }
        if parameters.latency.0 / parameters.period.0 > 10_000 {
            let what = "signals are under way for more than 10,000 periods";
            return refuse(
                "latency",
                what,
                "give a shorter latency or a longer `period`",
            );
        }
        let buffer = match parameters.buffer {
            Buffer::Size(size) => {
                let flits = size.flits(about.flit, u64::from(about.max_packet));
                Some(u32::try_from(flits).unwrap_or(u32::MAX))
            }
            // Half of all is what an unlimited queue calls itself.
            Buffer::Auto if about.output_queue.is_none_or(|flits| flits >= u32::MAX / 2) => {
                let what =
                    "the routers' output queues are what the shares are of, and they have no size";
                return refuse("buffer", what, "give a size such as \"64 KiB\"");
            }
            Buffer::Auto => None,
        };
        let span = u128::from(parameters.period.0) * u128::from(parameters.periods);
        // 60 bits and 10, times 64.
        let bits = span.saturating_mul(u128::from(about.bandwidth.0)) / 1_000_000_000_000;
        Ok(CodesCc {
            about: *about,
            threshold,
            release,
            buffer,
            period: parameters.period.0,
            periods: parameters.periods,
            latency: parameters.latency.0,
            ports: parameters.ports,
            full: u64::try_from(bits / u128::from(about.flit.0))
                .map_or(u64::MAX, |full| full.max(1)),
            watches: Vec::new(),
            sources: Vec::new(),
            congestions: 0,
            releases: 0,
            throttled_ps: 0,
            throttlings: 0,
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
    ],
    parameters: || schema_for!(Parameters),
    build: |section, about| Ok(Box::new(CodesCc::new(section, about)?)),
};

#[cfg(test)]
#[path = "tests/codes_cc.rs"]
mod tests;
