//! `sst_cm`: congestion management of SST, limits from the congested endpoint.

mod parameters;
mod watch;

use std::collections::hash_map::Entry as Slot;

use serde::{Deserialize, Serialize};

use super::{
    About, Act, Actions, Acts, Build, Capabilities, NicContext, PacketView, Port, PortContext,
    Rules, check_threshold, times,
};
use parameters::{Expiry, Parameters, Pauses, Release};
use watch::{EndPort, SourceLimit, Stream};
use weir_input::registry::{Entry, Keys};
use weir_input::{Buffer, ConfigError, Section};
use weir_model::codec::SavedMap;
use weir_model::{Classes, EndpointId, LinkRate, NEVER, Signal, Time};

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct SstCm {
    about: About,
    streams: u32,
    /// Flits.
    threshold: u32,
    pause: f64,
    pauses: Pauses,
    spare: u32,
    /// Longest packet that a time-out counts with, flits.
    mtu: u64,
    /// Time-out per source, in times of that packet: while control is off, and while it is on.
    timeouts: [f64; 2],
    expiry: Expiry,
    release: Release,
    /// Flits.
    smallest: u16,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// By output.
    watches: Vec<Option<Box<EndPort>>>,
    /// By NIC and endpoint, while there is a limit.
    limits: SavedMap<(u32, EndpointId), SourceLimit>,
    /// Number of times that control began and ended at a port, and that a source was paused.
    begun: u64,
    ended: u64,
    paused: u64,
}

impl SstCm {
    fn timeout(&self, port: &Port, on: bool, streams: usize) -> Time {
        let streams = match self.expiry {
            Expiry::Due => streams,
            Expiry::Departures => streams + 1,
        };
        times(self.each(port.rate, on), streams as f64)
    }

    /// Time-out for each source of a port whose link has this rate, ps.
    fn each(&self, link: LinkRate, on: bool) -> f64 {
        self.timeouts[usize::from(on)] * link.time_of(self.mtu) as f64
    }

    /// Postpones the time-out of a source that pauses from `now` on.
    fn puts_off(&self, stream: &mut Stream, now: Time, pause: Time) {
        match self.expiry {
            Expiry::Due => stream.last = now + pause,
            Expiry::Departures if !stream.told => stream.due += pause,
            Expiry::Departures => {}
        }
        stream.told = true;
    }

    /// The pause for the backlog of a port.
    fn pause(&self, port: &Port) -> Time {
        times(self.pause, port.rate.time_of(port.level.into()) as f64)
    }

    /// Counts a packet that has arrived; true if its source was not counted before.
    fn count(&self, watch: &mut EndPort, port: &Port, source: EndpointId, now: Time) -> bool {
        let n = watch.streams.len() + 1;
        match watch.streams.entry(source) {
            Slot::Occupied(stream) => {
                let last = &mut stream.into_mut().last;
                *last = now.max(*last);
                false
            }
            Slot::Vacant(slot) => {
                let due = now + self.timeout(port, watch.on, n);
                slot.insert(Stream {
                    last: now,
                    due: match self.expiry {
                        Expiry::Due => 0,
                        Expiry::Departures => due,
                    },
                    told: false,
                });
                if n == 1 || self.expiry == Expiry::Departures {
                    watch.check = watch.check.min(due);
                }
                true
            }
        }
    }

    /// A source has joined while control is on.
    fn share_anew(
        &self,
        state: &mut State,
        watch: &mut EndPort,
        actions: &mut Actions,
        joining: EndpointId,
        pause: Time,
        now: Time,
    ) {
        let n = watch.streams.len() as u32;
        let all = self.pauses == Pauses::All;
        watch.tell_all(actions, n, if all { pause } else { 0 });
        if !all {
            watch.tell(actions, joining, n, pause);
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each stream is put off by itself"
        )]
        for (&source, stream) in watch.streams.iter_mut() {
            if all || source == joining {
                self.puts_off(stream, now, pause);
                state.paused += 1;
            }
        }
    }

    /// Forgets the sources that are timed out.
    fn expire(&self, state: &mut State, actions: &mut Actions, port: &Port, now: Time) {
        let slot = &mut state.watches[port.output as usize];
        let Some(mut watch) = slot.take_if(|watch| now >= watch.check) else {
            return;
        };
        let before = watch.streams.len();
        let limit = self.timeout(port, watch.on, before);
        let lazy = self.expiry == Expiry::Departures;
        let mut gone = Vec::new();
        watch.streams.retain(|&source, stream| {
            let due = stream.last + limit;
            let stays = stream.due > now || due > now;
            if !stays {
                gone.push(source);
            }
            if lazy && stream.due <= now {
                stream.due = due;
            }
            stays
        });
        let left = watch.streams.len();
        if watch.on && left < before {
            for source in gone {
                watch.tell(actions, source, 0, 0);
            }
            watch.on = left >= self.streams as usize;
            state.ended += u64::from(!watch.on);
            let n = if watch.on { left as u32 } else { 0 };
            watch.tell_all(actions, n, 0);
        }
        let limit = self.timeout(port, watch.on, left);
        let due = |stream: &Stream| match self.expiry {
            Expiry::Due => stream.last + limit,
            Expiry::Departures => stream.due,
        };
        let first = watch.streams.values().map(due).min();
        watch.check = first.map_or(NEVER, |due| due.max(now + 1));
        if watch.on && !lazy {
            watch.alarm = watch.check;
            actions.wake(watch.alarm);
        }
        state.watches[port.output as usize] = Some(watch);
    }
}

impl Rules for SstCm {
    type State = State;

    fn start(&self, _nics: usize, outputs: usize) -> State {
        State {
            watches: vec![None; outputs],
            limits: SavedMap::default(),
            begun: 0,
            ended: 0,
            paused: 0,
        }
    }

    fn fits(&self, state: &State, _nics: usize, outputs: usize) -> bool {
        let mut watches = state.watches.iter().flatten();
        let is_endpoint = |source: &EndpointId| *source < self.about.endpoints;
        state.watches.len() == outputs && watches.all(|watch| watch.streams.keys().all(is_endpoint))
    }

    fn name(&self) -> &'static str {
        "sst_cm"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            paces: true,
            observes: true,
            arrivals: true,
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

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let threshold = format!("{} or more", about.flits(self.threshold));
        // No pause is shorter than that for the threshold.
        let least = times(self.pause, about.link_time(self.threshold.into()) as f64);
        let [idle, active] =
            [false, true].map(|on| about.packet_times(times(self.each(about.link(), on), 1.0)));
        vec![
            ("threshold", threshold),
            ("pause", format!("at least {}", about.packet_times(least))),
            ("timeout", format!("{idle} for each source")),
            (
                "timeout_active",
                format!(
                    "{active} for each source; a source is heard of again one round trip after its \
                     pause, of {} at most in the empty network",
                    about.packet_times(about.longest_trip)
                ),
            ),
            ("smallest", about.flits(self.smallest.into())),
        ]
    }

    fn classes(&self) -> Classes {
        Classes::of_data(self.about.acknowledge)
    }

    fn on_route(&self, state: &mut State, context: &mut PortContext, packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if !port.last_hop {
            return;
        }
        if self.expiry == Expiry::Due {
            self.expire(state, actions, &port, now);
        }
        if packet.flits < self.smallest {
            return;
        }
        let pause = self.pause(&port);
        let mut watch = state.watches[port.output as usize]
            .take()
            .unwrap_or_else(|| {
                Box::new(EndPort {
                    target: packet.destination,
                    streams: SavedMap::default(),
                    check: NEVER,
                    on: false,
                    alarm: NEVER,
                })
            });
        let joins = self.count(&mut watch, &port, packet.source, now);
        let n = watch.streams.len() as u32;
        if watch.on {
            if joins {
                self.share_anew(state, &mut watch, actions, packet.source, pause, now);
            }
        } else if n >= self.streams && port.level >= self.threshold {
            watch.on = true;
            watch.tell_all(actions, n, pause);
            #[expect(
                clippy::iter_over_hash_type,
                reason = "each stream is put off by itself"
            )]
            for stream in watch.streams.values_mut() {
                self.puts_off(stream, now, pause);
            }
            if self.expiry == Expiry::Due {
                watch.alarm = watch.check.max(now + 1);
                actions.wake(watch.alarm);
            }
            state.begun += 1;
            state.paused += u64::from(n);
        }
        state.watches[port.output as usize] = Some(watch);
    }

    fn on_departure(&self, state: &mut State, context: &mut PortContext, _packet: &PacketView) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        if port.last_hop {
            self.expire(state, actions, &port, now);
        }
    }

    fn on_port_timer(&self, state: &mut State, context: &mut PortContext) {
        let (now, port, actions) = (context.now, context.port, &mut *context.actions);
        let Some(watch) = &mut state.watches[port.output as usize] else {
            return;
        };
        if watch.on && watch.alarm == now {
            if now < watch.check {
                watch.alarm = watch.check;
                actions.wake(watch.alarm);
            } else {
                self.expire(state, actions, &port, now);
            }
        }
    }

    fn on_signal(&self, state: &mut State, nic: u32, signal: &Signal) {
        let (target, n) = (
            signal.words[0] as EndpointId,
            (signal.words[0] >> 32) as u32,
        );
        if n == 0 {
            let next = self.ready_at(state, nic, target, signal.time);
            if self.release == Release::AtOnce || next == signal.time {
                state.limits.remove(&(nic, target));
            } else if let Some(limit) = state.limits.get_mut(&(nic, target)) {
                *limit = SourceLimit {
                    n: 0,
                    pause_until: next,
                    last: (0, 0),
                };
            }
            return;
        }
        let limit = state.limits.entry((nic, target)).or_insert(SourceLimit {
            n,
            pause_until: 0,
            last: (0, 0),
        });
        limit.n = n;
        limit.pause_until = limit.pause_until.max(signal.time + signal.words[1]);
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        if state.limits.is_empty() {
            return now;
        }
        let Some(limit) = state.limits.get(&(nic, to)) else {
            return now;
        };
        let (head, length) = limit.last;
        let shares = u64::from(limit.n) + u64::from(self.spare);
        let next = head.saturating_add(length.saturating_mul(shares));
        next.max(limit.pause_until).max(now)
    }

    fn allowed_rate(&self, state: &mut State, (nic, _): (u32, LinkRate), now: Time) -> f64 {
        let own = state.limits.iter().filter(|((own, _), _)| *own == nic);
        let shares = own.map(|(_, limit)| match (limit.pause_until > now, limit.n) {
            (true, _) => 0.0,
            (false, 0) => 1.0,
            (false, _) => 1.0 / (f64::from(limit.n) + f64::from(self.spare)),
        });
        shares.fold(1.0, f64::min)
    }

    fn on_sent(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        tail: Time,
    ) {
        let (head, place) = (nic.now(), (nic.nic(), packet.destination));
        match state.limits.get_mut(&place) {
            Some(limit) if limit.n > 0 => limit.last = (head, tail - head),
            Some(_) => _ = state.limits.remove(&place),
            None => {}
        }
    }

    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![state.begun, state.ended, state.paused]
    }

    fn memory_bytes(&self, state: &State) -> usize {
        let watches = state.watches.iter().flatten();
        let watch = |watch: &EndPort| size_of::<EndPort>() + watch.streams.capacity() * 32;
        state.watches.capacity() * size_of::<usize>()
            + watches.map(|one| watch(one)).sum::<usize>()
            + state.limits.capacity() * 48
    }
}

impl SstCm {
    /// Checks a section of the experiment file.
    fn new(section: &Section, about: &About) -> Result<SstCm, ConfigError> {
        let parameters: Parameters = section.parse()?;
        parameters.check(section)?;
        let active = parameters.timeout_active.unwrap_or(parameters.timeout);
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
            pauses: parameters.pauses,
            spare: parameters.spare,
            mtu,
            timeouts: [parameters.timeout, active],
            expiry: parameters.expiry,
            release: parameters.release,
            smallest: u16::try_from(smallest).unwrap_or(u16::MAX),
        })
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "sst_cm",
    summary: "The last router makes the sources of an incast pause, and then share its endpoint's \
              link.",
    source: "McGlohon et al., PMBS 2021, sections III.B and IV.C",
    examples: &[r#"streams = 3, threshold = "100 flits", smallest = "4 flits""#],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| Ok(SstCm::new(section, about)?.into_scheme()),
};

#[cfg(test)]
#[path = "tests/sst_cm.rs"]
mod tests;
