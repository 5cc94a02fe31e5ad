//! `ecn`: explicit congestion notification in the manner of InfiniBand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::{REACTIONS, Record};
use super::{
    About, Acts, Build, Capabilities, NicContext, PacketView, Port, Rules, below_a_packet,
    check_acknowledged, table_bytes, times,
};
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{packet_times, round_trips, shares};
use weir_input::registry::{Entry, Keys};
use weir_input::{Buffer, TimeSpan};
use weir_model::codec::SavedMap;
use weir_model::{Classes, EndpointId, Invalid, LATEST, Origin, PacketKind, Time};

/// Explicit congestion notification in the manner of InfiniBand. A router marks a packet that
/// leaves by an output for which much is queued; the destination's acknowledgement carries the mark
/// back; the source then leaves a delay between packets to that destination, which grows with each
/// mark and shrinks with time. The delay outlives the queue pair: forgetting it whenever the pair
/// runs empty would do nothing against messages of one packet.
///
/// The defaults are those of the paper (`preset = "jiang2015"`) in packet times of its network, 24
/// ns: with longer packets, or slower links, a step of 24 ns would slow nobody.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
struct Parameters {
    /// Share of `buffer` queued for an output beyond which packets are marked, more than 0. Only
    /// where the next buffer has room for the packet: congestion begins there. Packets of a port
    /// that waits for room farther on are victims, as in `ib_cca` with `victim_mask = "none"`.
    #[schemars(extend("x-range" = shares(0.1, 1.0)))]
    threshold: f64,
    /// Buffer that `threshold` refers to, in flits or packets. "auto": the output queue of one
    /// virtual channel, or one longest packet without output queues.
    buffer: Buffer,
    /// Delay that each mark adds between packets to its destination, from the tail of one to the
    /// head of the next; the first delay begins with its mark.
    #[schemars(extend("x-range" = packet_times(0.25, 64.0)))]
    increment: TimeSpan,
    /// Period after which the delay shrinks.
    #[schemars(extend("x-range" = packet_times(1.0, 64.0)))]
    decrement_timer: TimeSpan,
    /// Amount by which it shrinks each time.
    #[schemars(extend("x-range" = packet_times(0.01, 1.0)))]
    decrement: TimeSpan,
    /// The longest delay; without limit by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = packet_times(10.0, 1_000.0)))]
    max_delay: Option<TimeSpan>,
    /// Minimum time between two increments of one delay; marks that come sooner are ignored. By
    /// default every mark counts, as in the paper's table. With one round trip, packets under way
    /// at the same time count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = round_trips(0.25, 4.0)))]
    min_interval: Option<TimeSpan>,
}

const PRESETS: &[Preset] = &[Preset {
    name: "jiang2015",
    summary: "the paper's, made for packets of 24 ns (2,400 bits at 100 Gb/s)",
    values: r#"threshold = 0.5, increment = "24 ns", decrement_timer = "96 ns", decrement = "1 ns""#,
}];

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            threshold: 0.5,
            buffer: Buffer::Auto,
            increment: TimeSpan::PacketTimes(1_000_000),
            decrement_timer: TimeSpan::PacketTimes(4_000_000),
            decrement: TimeSpan::PacketTimes(40_000),
            max_delay: None,
            min_interval: None,
        }
    }
}

/// The delay of one queue pair.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Pace {
    /// Between a tail and the next head, ps, at time `since`.
    delay: Time,
    /// Time up to which it has been shrunk.
    since: Time,
    /// Time at which the last tail left.
    tail: Time,
    /// Time up to which marks are ignored.
    deaf: Time,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Ecn {
    /// Flits beyond which packets are marked.
    threshold: u32,
    increment: Time,
    timer: Time,
    decrement: Time,
    max_delay: Time,
    min_interval: Time,
}

#[derive(Default, Deserialize, Serialize)]
struct State {
    /// By NIC and destination, while the delay is not 0.
    paces: SavedMap<(u32, EndpointId), Pace>,
}

impl Ecn {
    fn shrink(&self, pace: &mut Pace, now: Time) {
        let steps = now.saturating_sub(pace.since) / self.timer;
        pace.since += steps * self.timer;
        pace.delay = pace
            .delay
            .saturating_sub(steps.saturating_mul(self.decrement));
    }
}

impl Rules for Ecn {
    type State = State;

    fn start(&self, _nics: usize, _outputs: usize) -> State {
        State::default()
    }

    fn name(&self) -> &'static str {
        "ecn"
    }

    fn records(&self) -> &'static [Record] {
        REACTIONS
    }

    fn memory_bytes(&self, state: &State) -> usize {
        table_bytes(&state.paces)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[PacketKind::ACK],
            marks: true,
            paces: true,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let threshold = format!("more than {}", about.flits(self.threshold));
        let longest = match self.max_delay {
            LATEST => "without limit".to_string(),
            delay => about.packet_times(delay),
        };
        // Delay that marks on every packet can sustain: each adds a step, and one packet goes per
        // delay.
        let timers = self.timer as f64 / self.decrement as f64;
        let sustained = times(timers, self.increment as f64);
        let mut all = vec![
            ("threshold", threshold),
            (
                "increment",
                format!(
                    "{}; marks on every packet sustain delays of {}",
                    about.packet_times(self.increment),
                    about.packet_times(sustained)
                ),
            ),
            ("decrement_timer", about.packet_times(self.timer)),
            ("decrement", about.packet_times(self.decrement)),
            ("max_delay", longest),
        ];
        if self.min_interval > 0 {
            all.push(("min_interval", about.packet_times(self.min_interval)));
        }
        all
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        below_a_packet("threshold", self.threshold.into(), about)
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::marking("threshold", "increment"))
    }

    fn mark_from(&self) -> u32 {
        self.threshold.saturating_add(1)
    }

    /// Only ports that are roots of congestion mark; a victim port, whose packets wait for room at
    /// the next router, does not.
    fn mark(&self, _: &mut State, port: &Port, _packet: &PacketView, room: bool) -> bool {
        room && port.level > self.threshold
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        let Some(mut pace) = state.paces.get(&(nic, to)).copied() else {
            return now;
        };
        self.shrink(&mut pace, now);
        if pace.delay == 0 {
            if pace.deaf <= now {
                state.paces.remove(&(nic, to));
            }
            return now;
        }
        state.paces.insert((nic, to), pace);
        // The delay shrinks while the source waits: k times before the wait is over, or once more,
        // which ends it.
        let wait = (pace.tail + pace.delay).saturating_sub(pace.since);
        let k = wait / self.timer.saturating_add(self.decrement);
        let over = |k: Time| {
            let shrunk = pace.since.saturating_add(k.saturating_mul(self.timer));
            let less = k.saturating_mul(self.decrement);
            shrunk.max(pace.tail + pace.delay.saturating_sub(less))
        };
        now.max(over(k).min(over(k + 1)))
    }

    fn on_sent(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        tail: Time,
    ) {
        if let Some(pace) = state.paces.get_mut(&(nic.nic(), packet.destination)) {
            pace.tail = tail;
        }
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        marked: bool,
    ) {
        if !marked || !origin.is(PacketKind::ACK) {
            return;
        }
        let (key, now) = ((nic.nic(), origin.source), nic.now());
        let none = Pace {
            delay: 0,
            since: now,
            tail: now,
            deaf: 0,
        };
        let mut pace = state.paces.get(&key).copied().unwrap_or(none);
        if now < pace.deaf {
            return;
        }
        self.shrink(&mut pace, now);
        pace.deaf = now + self.min_interval;
        pace.delay = (pace.delay + self.increment).min(self.max_delay);
        state.paces.insert(key, pace);
        nic.record(0, &[origin.source.into(), pace.delay]);
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "ecn",
    summary: "Explicit congestion notification: routers mark, acknowledgements tell, sources leave \
              gaps.",
    source: "Jiang et al., SC15, section 4 and Table 1, in the manner of InfiniBand \
             (doi:10.1145/2807591.2807600)",
    examples: &["", r#"min_interval = "1.3 us""#],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        let refuse = |key, what: &str, remedy| Err(section.refuse(Invalid::new(key, what, remedy)));
        check_acknowledged(section, about, "marks go back with acknowledgements")?;
        if !(parameters.threshold > 0.0 && parameters.threshold.is_finite()) {
            let what = "the threshold is not above 0";
            return refuse("threshold", what, "give a share such as 0.5");
        }
        let timer = about.time(parameters.decrement_timer);
        if timer == 0 {
            let what = "the timer has no length";
            return refuse("decrement_timer", what, "give a time such as \"96 ns\"");
        }
        if about.time(parameters.decrement) == 0 {
            let what = "delays never shrink";
            return refuse("decrement", what, "give a time such as \"24 ns\"");
        }
        let capacity = match parameters.buffer {
            Buffer::Auto => u64::from(about.output_queue.unwrap_or(u32::from(about.max_packet))),
            Buffer::Size(size) => size.flits(about.flit, u64::from(about.max_packet)),
        };
        let rules = Ecn {
            threshold: (capacity as f64 * parameters.threshold) as u32,
            increment: about.time(parameters.increment),
            timer,
            decrement: about.time(parameters.decrement),
            // The sum of a delay, an increment and a tail is then still a valid time.
            max_delay: parameters
                .max_delay
                .map_or(LATEST, |delay| about.time(delay)),
            min_interval: (parameters.min_interval).map_or(0, |interval| about.time(interval)),
        };
        Ok(rules.into_scheme())
    },
};

#[cfg(test)]
mod tests {
    use super::super::Scheme;
    use super::super::rules::Applied;
    use super::super::testing::{Seen, origin, packet};
    use super::*;

    fn ecn() -> Applied<Ecn> {
        ecn_of(0)
    }

    fn ecn_of(min_interval: Time) -> Applied<Ecn> {
        let rules = Ecn {
            threshold: 192,
            increment: 24_000,
            timer: 96_000,
            decrement: 1_000,
            max_delay: LATEST,
            min_interval,
        };
        Applied::new(rules.into(), 2, 0)
    }

    #[test]
    fn each_mark_adds_a_step_and_time_takes_steps_away() {
        let (mut ecn, mut desk) = (ecn(), Seen::at(1_000_000));
        let ack = origin(PacketKind::ACK, 7, 0);
        ecn.on_control(&mut desk, &ack, false);
        assert_eq!(ecn.ready_at(0, 7, 1_000_000), 1_000_000);
        ecn.on_control(&mut desk, &ack, true);
        ecn.on_control(&mut desk, &ack, true);
        desk.now = 1_000_000;
        ecn.on_sent(&mut desk, &packet(7), 1_010_000);
        // Two steps of 24 ns after the tail; other destinations and other NICs go on.
        assert_eq!(ecn.ready_at(0, 7, 1_010_000), 1_010_000 + 48_000);
        assert_eq!(ecn.ready_at(0, 8, 1_010_000), 1_010_000);
        assert_eq!(ecn.ready_at(1, 7, 1_010_000), 1_010_000);
        // 10 timers later the delay is 38 ns, and after 48 timers nothing is left.
        desk.now = 1_950_000;
        ecn.on_sent(&mut desk, &packet(7), 1_960_000);
        assert_eq!(ecn.ready_at(0, 7, 1_960_000), 1_960_000 + 38_000);
        let later = 1_000_000 + 48 * 96_000;
        assert_eq!(ecn.ready_at(0, 7, later), later);
        assert!(ecn.state.paces.is_empty());
    }

    #[test]
    fn a_step_that_takes_all_away_ends_the_wait() {
        let (timer, decrement) = (10_000_000, 1_000_000_000);
        let rules = Ecn {
            increment: 100_000_000,
            timer,
            decrement,
            ..Ecn::clone(&ecn().rules)
        };
        let (mut ecn, mut desk) = (Applied::new(rules.into(), 2, 0), Seen::at(1_000_000));
        ecn.on_control(&mut desk, &origin(PacketKind::ACK, 7, 0), true);
        ecn.on_sent(&mut desk, &packet(7), 1_010_000);
        assert_eq!(ecn.ready_at(0, 7, 1_010_000), 1_000_000 + timer);
    }

    #[test]
    fn marks_that_come_too_soon_are_ignored() {
        let (mut ecn, mut desk) = (ecn_of(5_000_000), Seen::at(1_000_000));
        let ack = origin(PacketKind::ACK, 7, 0);
        ecn.on_control(&mut desk, &ack, true);
        // After 48 timers nothing would be left of two steps. Nothing is left of one step after 24,
        // but the entry still exists.
        desk.now = 5_999_999;
        ecn.on_control(&mut desk, &ack, true);
        assert_eq!(ecn.ready_at(0, 7, 5_999_999), 5_999_999);
        desk.now = 6_000_000;
        ecn.on_control(&mut desk, &ack, true);
        ecn.on_sent(&mut desk, &packet(7), 6_010_000);
        assert_eq!(ecn.ready_at(0, 7, 6_010_000), 6_010_000 + 24_000);
    }

    #[test]
    fn a_root_marks_and_a_victim_does_not() {
        let port = |level| Port {
            output: 0,
            last_hop: false,
            level,
            capacity: 384,
            rate: weir_model::LinkRate::instant(),
        };
        assert!(ecn().mark(&port(193), &packet(7), true));
        assert!(!ecn().mark(&port(193), &packet(7), false));
        assert!(!ecn().mark(&port(192), &packet(7), true));
    }
}
