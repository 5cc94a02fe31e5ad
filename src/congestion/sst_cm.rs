use std::collections::hash_map::Entry as Slot;

use rustc_hash::FxHashMap;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::{
    About, Act, Actions, Acts, Build, Capabilities, NicContext, PacketView, Port, PortContext,
    Scheme, check_threshold, times,
};
use crate::config::{Buffer, ConfigError, Section, Size};
use crate::model::{Classes, EndpointId, Invalid, NEVER, Signal, Time};
use crate::registry::Entry;

/// The congestion management of the simulator SST: the last router counts, for each of its endpoints, the data that waits
/// for it and the sources that send to it. When both are too many it tells each of these sources to pause, and then to
/// send to that endpoint (and no other) at 1/N of its link, where N is the number of sources. Signals take the time of an
/// empty network.
///
/// Choices of ours where the paper is silent: a source that joins while control is on pauses as well, by what waits
/// then; nothing is expected of a source before its pause is over (the pause may be longer than the time-out, and control
/// would end before it has begun); a time-out is looked at when it is over, not only when the port sends.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// So many sources or more make an incast …
    streams: u32,
    /// … if so much or more waits in the last router.
    threshold: Size,
    /// The pause, as a multiple of the time that what waits takes on the endpoint's link.
    pause: f64,
    /// A source counts no more when nothing has come from it for so many times N times the time of `mtu` on the link.
    timeout: f64,
    /// The longest packet that sources are reckoned to send: "auto" is nic.max_packet.
    mtu: Buffer,
    /// Shorter packets do not make their sender one of the sources.
    smallest: Size,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            streams: 8,
            threshold: Size::Bits(32 * 1024 * 8),
            pause: 4.0,
            timeout: 1.5,
            mtu: Buffer::Auto,
            smallest: Size::Bits(128 * 8),
        }
    }
}

/// The kind of signal: the first word holds the endpoint that congestion is about, and N (0: no limit) in the upper half;
/// the second one how long to pause, ps.
const LIMIT: u16 = 0;

/// The port of an endpoint.
#[derive(Clone, Debug)]
struct Watch {
    /// The endpoint.
    target: EndpointId,
    /// When a packet of a source came last, or (if that is later) when its pause will be over.
    streams: FxHashMap<EndpointId, Time>,
    /// Before this time no source can be timed out.
    check: Time,
    /// Whether sources are limited.
    on: bool,
    /// The alarm that counts.
    alarm: Time,
}

impl Watch {
    fn tell(&self, actions: &mut Actions, to: EndpointId, n: u32, pause: Time) {
        actions.signal(
            to,
            LIMIT,
            [u64::from(self.target) | u64::from(n) << 32, pause],
        );
    }

    fn tell_all(&self, actions: &mut Actions, n: u32, pause: Time) {
        for &to in self.streams.keys() {
            self.tell(actions, to, n, pause);
        }
    }
}

/// What holds a source back from one endpoint.
#[derive(Clone, Copy, Debug)]
struct Limit {
    n: u32,
    pause_until: Time,
    /// When its last packet to there began to leave, and how long that took.
    last: (Time, Time),
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
pub struct SstCm {
    about: About,
    streams: u32,
    /// Flits.
    threshold: u32,
    pause: f64,
    /// The time-out of one source alone, ps.
    timeout: f64,
    /// Flits.
    smallest: u16,
    watches: Vec<Option<Box<Watch>>>,
    /// By NIC and endpoint, while there is a limit.
    limits: FxHashMap<(u32, EndpointId), Limit>,
    /// Times that control began and ended at a port, and that a source was paused.
    begun: u64,
    ended: u64,
    pauses: u64,
}

impl SstCm {
    fn timeout(&self, streams: usize) -> Time {
        times(self.timeout, streams as f64)
    }

    /// The pause for what waits at a port.
    fn pause(&self, port: &Port) -> Time {
        times(
            self.pause,
            self.about.link_time(u64::from(port.level)) as f64,
        )
    }

    /// Forgets the sources that are timed out.
    fn expire(&mut self, actions: &mut Actions, port: &Port, now: Time) {
        let slot = &mut self.watches[port.output as usize];
        let Some(mut watch) = slot.take_if(|watch| now >= watch.check) else {
            return;
        };
        let (before, limit) = (watch.streams.len(), self.timeout(watch.streams.len()));
        let mut gone = Vec::new();
        watch.streams.retain(|&source, &mut last| {
            let stays = last + limit > now;
            if !stays {
                gone.push(source);
            }
            stays
        });
        let left = watch.streams.len();
        if watch.on && left < before {
            for source in gone {
                watch.tell(actions, source, 0, 0);
            }
            watch.on = left >= self.streams as usize;
            self.ended += u64::from(!watch.on);
            let n = if watch.on { left as u32 } else { 0 };
            watch.tell_all(actions, n, 0);
        }
        let first = watch.streams.values().min();
        watch.check = first.map_or(NEVER, |last| (last + self.timeout(left)).max(now + 1));
        if watch.on {
            watch.alarm = watch.check;
            actions.wake(watch.alarm);
        }
        self.watches[port.output as usize] = Some(watch);
    }
}

impl Scheme for SstCm {
    fn name(&self) -> &'static str {
        "sst_cm"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            paces: true,
            observes: true,
            signals: true,
            ..Capabilities::NONE
        }
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts {
            notices: Act {
                counters: &["incasts_begun"],
                did: "saw an incast",
                parameter: "threshold",
            },
            responds: Act {
                counters: &["pauses"],
                did: "paused a source",
                parameter: "pause",
            },
        })
    }

    fn counters(&self) -> &'static [&'static str] {
        &["incasts_begun", "incasts_ended", "pauses"]
    }

    fn classes(&self) -> Classes {
        Classes::of_data(self.about.acknowledge)
    }

    fn start(&mut self, _nics: usize, outputs: usize) {
        self.watches = vec![None; outputs];
    }

    fn on_route(&mut self, context: &mut PortContext, packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if !port.last_hop {
            return;
        }
        self.expire(actions, &port, now);
        if packet.flits < self.smallest {
            return;
        }
        let pause = self.pause(&port);
        let alone = self.timeout(1);
        let watch = self.watches[port.output as usize].get_or_insert_with(|| {
            Box::new(Watch {
                target: packet.destination,
                streams: FxHashMap::default(),
                check: NEVER,
                on: false,
                alarm: NEVER,
            })
        });
        let last = watch.streams.entry(packet.source);
        let joins = matches!(last, Slot::Vacant(_));
        let last = last.or_insert(now);
        *last = now.max(*last);
        let n = watch.streams.len() as u32;
        if n == 1 {
            watch.check = now + alone;
        }
        if watch.on {
            if joins {
                watch.tell_all(actions, n, 0);
                watch.tell(actions, packet.source, n, pause);
                watch.streams.insert(packet.source, now + pause);
                self.pauses += 1;
            }
        } else if n >= self.streams && port.level >= self.threshold {
            watch.on = true;
            watch.tell_all(actions, n, pause);
            for last in watch.streams.values_mut() {
                *last = now + pause;
            }
            watch.alarm = watch.check.max(now + 1);
            actions.wake(watch.alarm);
            self.begun += 1;
            self.pauses += u64::from(n);
        }
    }

    fn on_departure(&mut self, context: &mut PortContext, _packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if port.last_hop {
            self.expire(actions, &port, now);
        }
    }

    fn on_port_timer(&mut self, context: &mut PortContext) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        let Some(watch) = &mut self.watches[port.output as usize] else {
            return;
        };
        if watch.on && watch.alarm == now {
            if now < watch.check {
                watch.alarm = watch.check;
                actions.wake(watch.alarm);
            } else {
                self.expire(actions, &port, now);
            }
        }
    }

    fn on_signal(&mut self, nic: u32, signal: &Signal) {
        let (target, n) = (
            signal.words[0] as EndpointId,
            (signal.words[0] >> 32) as u32,
        );
        if n == 0 {
            self.limits.remove(&(nic, target));
            return;
        }
        let limit = self.limits.entry((nic, target)).or_insert(Limit {
            n,
            pause_until: 0,
            last: (0, 0),
        });
        limit.n = n;
        limit.pause_until = limit.pause_until.max(signal.time + signal.words[1]);
    }

    fn ready_at(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        if self.limits.is_empty() {
            return now;
        }
        let Some(limit) = self.limits.get(&(nic, to)) else {
            return now;
        };
        let (head, length) = limit.last;
        let next = head.saturating_add(length.saturating_mul(u64::from(limit.n)));
        next.max(limit.pause_until).max(now)
    }

    fn allowed_rate(&mut self, nic: u32, now: Time) -> f64 {
        let own = self.limits.iter().filter(|((own, _), _)| *own == nic);
        let shares = own.map(|(_, limit)| match limit.pause_until > now {
            true => 0.0,
            false => 1.0 / f64::from(limit.n),
        });
        shares.fold(1.0, f64::min)
    }

    fn on_sent(&mut self, nic: &mut dyn NicContext, packet: &PacketView, tail: Time) {
        let head = nic.now();
        if let Some(limit) = self.limits.get_mut(&(nic.nic(), packet.destination)) {
            limit.last = (head, tail - head);
        }
    }

    fn counts(&self) -> Vec<u64> {
        vec![self.begun, self.ended, self.pauses]
    }

    fn memory_bytes(&self) -> usize {
        let watches = self.watches.iter().flatten();
        let watch = |watch: &Watch| size_of::<Watch>() + watch.streams.capacity() * 16;
        self.watches.capacity() * size_of::<usize>()
            + watches.map(|one| watch(one)).sum::<usize>()
            + self.limits.capacity() * 48
    }
}

impl SstCm {
    /// Checks a section of the experiment file.
    fn new(section: &Section, about: &About) -> Result<SstCm, ConfigError> {
        let parameters: Parameters = section.parse()?;
        let refuse = |key, what: &str, remedy| Err(section.refuse(Invalid::new(key, what, remedy)));
        if parameters.streams == 0 {
            let what = "no sources make no incast";
            return refuse("streams", what, "give a number of 1 or more, such as 8");
        }
        if !(0.0..=1e6).contains(&parameters.pause) {
            let what = "this is no multiple of a time";
            return refuse("pause", what, "give a number of 0 or more, such as 4.0");
        }
        if !(parameters.timeout > 0.0 && parameters.timeout <= 1e6) {
            let what = "this is no multiple of a time";
            return refuse("timeout", what, "give a number above 0, such as 1.5");
        }
        let longest = u64::from(about.max_packet);
        let mtu = match parameters.mtu {
            Buffer::Auto => longest,
            Buffer::Size(size) => size.flits(about.flit, longest).max(1),
        };
        let smallest = parameters.smallest.flits(about.flit, longest);
        Ok(SstCm {
            about: *about,
            streams: parameters.streams,
            threshold: check_threshold(section, about, parameters.threshold)?,
            pause: parameters.pause,
            timeout: parameters.timeout * about.link_time(mtu) as f64,
            smallest: u16::try_from(smallest).unwrap_or(u16::MAX),
            watches: Vec::new(),
            limits: FxHashMap::default(),
            begun: 0,
            ended: 0,
            pauses: 0,
        })
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "sst_cm",
    summary: "The last router makes the sources of an incast pause, and then share its endpoint's link.",
    source: "McGlohon et al., PMBS 2021, sections III.B and IV.C",
    examples: &[r#"streams = 3, threshold = "100 flits", smallest = "4 flits""#],
    parameters: || schema_for!(Parameters),
    build: |section, about| Ok(Box::new(SstCm::new(section, about)?)),
};

#[cfg(test)]
#[path = "tests/sst_cm.rs"]
mod tests;
