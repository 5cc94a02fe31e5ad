//! Routers stamp the lengths of their queues and the load of their links into the headers of
//! packets. The source sets its window so that the fullest link is used to a share of `ETA` (the
//! shape of HPCC: Li et al., SIGCOMM 2019, section 3).

use serde::{Deserialize, Serialize};

use weir::congestion::{About, Capabilities, NicContext, PacketView, Port, Rules};
use weir::model::codec::SavedMap;
use weir::model::{Classes, EndpointId, NEVER, Origin, PacketKind, Time};

use super::{counted, network, run_under};

/// Share of the fullest link that is to be used.
const ETA: f64 = 0.9;
/// Time from which the longest queue counts, ps.
const SETTLED: Time = 200_000_000;
/// Hops that are stamped.
const HOPS: usize = 6;

/// A stamp of a hop: time, flits that waited, flits sent until then, and the output.
type Stamp = [u64; 4];

/// The header: hops, then the stamps.
const WORDS: usize = 1 + 4 * HOPS;

#[derive(Default, Deserialize, Serialize)]
struct Flow {
    /// Flits that may be under way.
    window: f64,
    /// The window that the round trip began with.
    reference: f64,
    /// Smoothed use of the fullest link.
    used: f64,
    last: Vec<Stamp>,
    under_way: u64,
    sent: u64,
    acknowledged: u64,
    update_at: u64,
}

struct QueueStamps {
    about: About,
    /// Base round-trip time, ps.
    base: Time,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// By NIC and destination.
    flows: SavedMap<(u32, EndpointId), Flow>,
    /// By output: flits sent.
    sent: Vec<u64>,
    longest_queue: u64,
}

impl QueueStamps {
    fn new(about: &About, base: Time) -> Self {
        QueueStamps {
            about: *about,
            base,
        }
    }

    /// Flits that a link carries in a base round-trip time.
    fn full(&self) -> f64 {
        self.base as f64 / self.about.link_time(1) as f64
    }
}

impl Rules for QueueStamps {
    type State = State;

    fn start(&self, _nics: usize, outputs: usize) -> State {
        State {
            flows: SavedMap::default(),
            sent: vec![0; outputs],
            longest_queue: 0,
        }
    }

    fn fits(&self, state: &State, _nics: usize, outputs: usize) -> bool {
        state.sent.len() == outputs
    }

    fn name(&self) -> &'static str {
        "queue_stamps"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[PacketKind::ACK],
            stamps: true,
            paces: true,
            windows: true,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    fn header_words(&self) -> usize {
        WORDS
    }

    fn counters(&self) -> &'static [&'static str] {
        &["longest_queue"]
    }

    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![state.longest_queue]
    }

    fn stamp(
        &self,
        state: &mut State,
        port: &Port,
        packet: &PacketView,
        header: &mut [u64],
        now: Time,
    ) {
        let sent = &mut state.sent[port.output as usize];
        let hop = header[0] as usize;
        let stamp = [now, u64::from(port.level), *sent, u64::from(port.output)];
        // On a longer path only the first hops are known.
        if let Some(place) = header.get_mut(1 + 4 * hop..5 + 4 * hop) {
            place.copy_from_slice(&stamp);
            header[0] += 1;
        }
        *sent += u64::from(packet.flits);
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        let full = self.full();
        let flow = state.flows.entry((nic, to)).or_insert_with(|| Flow {
            window: full,
            reference: full,
            ..Flow::default()
        });
        match (flow.under_way as f64) < flow.window {
            true => now,
            false => NEVER,
        }
    }

    fn on_sent(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        _tail: Time,
    ) {
        if let Some(flow) = state.flows.get_mut(&(nic.nic(), packet.destination)) {
            flow.under_way += u64::from(packet.flits);
            flow.sent += 1;
        }
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        let header = nic.header();
        let hops = header[0] as usize;
        let stamps: Vec<Stamp> = header[1..1 + 4 * hops]
            .chunks_exact(4)
            .map(|words| [words[0], words[1], words[2], words[3]])
            .collect();
        let longest = stamps.iter().map(|stamp| stamp[1]).max();
        if stamps.iter().all(|stamp| stamp[0] >= SETTLED) {
            state.longest_queue = state.longest_queue.max(longest.unwrap_or(0));
        }
        let (base, full) = (self.base as f64, self.full());
        let flits = self.about.flit.flits(u64::from(origin.payload_bits));
        let Some(flow) = state.flows.get_mut(&(nic.nic(), origin.source)) else {
            return;
        };
        flow.under_way -= flits;
        flow.acknowledged += 1;
        if flow.last.len() == hops {
            flow.measure(&stamps, base, full);
            // The additional increment of each round trip is small against the window.
            let increment = full * (1.0 - ETA) / 16.0;
            flow.window = (flow.reference / (flow.used / ETA).max(0.05) + increment).min(full);
            if flow.acknowledged > flow.update_at {
                flow.reference = flow.window;
                flow.update_at = flow.sent;
            }
        }
        flow.last = stamps;
    }
}

impl Flow {
    /// Updates with the stamps of a packet's hops: the use of the fullest link, smoothed over a
    /// round trip.
    fn measure(&mut self, stamps: &[Stamp], base: f64, full: f64) {
        let hops = self.last.iter().zip(stamps).map(|(old, new)| {
            let time = (new[0] - old[0]).max(1) as f64;
            let queue = old[1].min(new[1]) as f64 / full;
            let rate = (new[2] - old[2]) as f64 / full * base / time;
            (queue + rate, time)
        });
        let (used, time) = hops.fold(
            (0.0, base),
            |most, hop| if hop.0 > most.0 { hop } else { most },
        );
        let weight = time.min(base) / base;
        self.used = self.used * (1.0 - weight) + used * weight;
    }
}

/// Many to one: the link to the endpoint is used to about `ETA`, its queue nearly empty after the
/// beginning.
#[test]
fn the_hot_link_is_used_to_the_share_that_is_aimed_at() {
    let hot = network()
        .traffic("hotspot", 0.5)
        .with("endpoints", vec![0i64, 8, 16, 24, 32])
        .with("pattern.source_list", vec![8i64, 16, 24, 32])
        .with("pattern.destination_list", vec![0i64])
        .message("24 flits")
        .set("run.warmup", "200 us")
        .until("400 us");
    let outcome = run_under(&hot, |_, about| {
        Ok(QueueStamps::new(about, 600_000).into_scheme())
    });
    let accepted = outcome.data.jobs[0].totals.accepted_load;
    assert!((accepted - ETA).abs() < 0.05, "{accepted}");
    let free = run_under(&hot, |_, about| {
        Ok(QueueStamps::new(about, 600_000_000).into_scheme())
    });
    let (limited, unlimited) = (
        counted(&outcome, "longest_queue"),
        counted(&free, "longest_queue"),
    );
    assert!(limited * 2 < unlimited, "{limited} {unlimited}");
}
