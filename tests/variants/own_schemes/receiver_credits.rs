//! The receiver hands out credits, one for each packet, at its own pace.
//! This is the shape of ExpressPass (Cho et al., SIGCOMM 2017) and of the receiver-driven
//! transports. A message announces itself by a request.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use weir::congestion::{About, Capabilities, NicContext, PacketView, Rules};
use weir::model::codec::SavedMap;
use weir::model::{Classes, ControlKind, EndpointId, NEVER, Origin, PacketKind, Time};
use weir::simulation::Outcome;

use super::{counted, network, run_under};

/// The pace of credits over that of the packets on the link.
const SLACK: f64 = 1.25;

#[derive(Default, Deserialize, Serialize)]
struct Receiver {
    /// Sources that wait for credits: the content of the request, and the number of packets left.
    asking: VecDeque<(Origin, u64)>,
    /// True if a timer is set.
    running: bool,
}

/// Asks a receiver for as many credits as a message has packets.
const REQUEST: PacketKind = PacketKind::own(0);
/// May be spent on one packet.
const CREDIT: PacketKind = PacketKind::own(1);

struct ReceiverCredits {
    about: About,
    interval: Time,
}

#[derive(Default, Deserialize, Serialize)]
struct State {
    /// By NIC and destination.
    credits: SavedMap<(u32, EndpointId), u64>,
    /// By NIC.
    receivers: SavedMap<u32, Receiver>,
    granted: u64,
    received: u64,
}

impl ReceiverCredits {
    fn new(about: &About) -> Self {
        let packet = about.link_time(u64::from(about.max_packet));
        ReceiverCredits {
            about: *about,
            interval: (packet as f64 * SLACK) as Time,
        }
    }
}

impl Rules for ReceiverCredits {
    type State = State;

    fn start(&self, _nics: usize, _outputs: usize) -> State {
        State::default()
    }

    fn fits(&self, state: &State, _nics: usize, _outputs: usize) -> bool {
        let mut asking = state.receivers.values().flat_map(|one| &one.asking);
        asking.all(|(request, _)| request.source < self.about.endpoints)
    }

    fn name(&self) -> &'static str {
        "receiver_credits"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[REQUEST, CREDIT],
            paces: true,
            windows: true,
            messages: true,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    fn kinds(&self) -> &'static [ControlKind] {
        &[
            ControlKind {
                name: "request",
                class: 1,
                timed: false,
            },
            ControlKind {
                name: "credit",
                class: 1,
                timed: false,
            },
        ]
    }

    fn counters(&self) -> &'static [&'static str] {
        &["granted", "messages_whole"]
    }

    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![state.granted, state.received]
    }

    fn on_submit(&self, _: &mut State, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {
        let (packets, _) = self.about.packets(message.message_bits);
        nic.reply(REQUEST, to, message.with_flits(packets));
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        match state.credits.get(&(nic, to)) {
            Some(1..) => now,
            _ => NEVER,
        }
    }

    fn on_sent(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        _tail: Time,
    ) {
        if let Some(credits) = state.credits.get_mut(&(nic.nic(), packet.destination)) {
            *credits -= 1;
        }
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        if origin.is(CREDIT) {
            *state.credits.entry((nic.nic(), origin.source)).or_default() += 1;
        } else if origin.is(REQUEST) {
            let receiver = state.receivers.entry(nic.nic()).or_default();
            receiver.asking.push_back((*origin, origin.flits()));
            if !std::mem::replace(&mut receiver.running, true) {
                nic.wake(nic.now(), 0);
            }
        }
    }

    fn on_nic_timer(&self, state: &mut State, nic: &mut dyn NicContext, _number: u64) {
        let Some(receiver) = state.receivers.get_mut(&nic.nic()) else {
            return;
        };
        let Some((request, left)) = receiver.asking.pop_front() else {
            receiver.running = false;
            return;
        };
        // In turn: an unfinished source goes to the end again.
        if left > 1 {
            receiver.asking.push_back((request, left - 1));
        }
        let now = nic.now();
        nic.send_at(now, CREDIT, request.source, 1, request);
        nic.wake(now + self.interval, 0);
        state.granted += 1;
    }

    fn on_message_received(&self, state: &mut State, _nic: &mut dyn NicContext, _message: &Origin) {
        state.received += 1;
    }
}

/// Four senders to one endpoint, each with more than its share to send.
#[test]
fn an_incast_gets_as_many_packets_as_credits_and_no_queue() {
    let hot = network()
        .set("nic.acknowledge", false)
        .traffic("hotspot", 0.5)
        .with("endpoints", vec![0i64, 8, 16, 24, 32])
        .with("pattern.source_list", vec![8i64, 16, 24, 32])
        .with("pattern.destination_list", vec![0i64])
        .message("240 flits")
        .set("run.warmup", "50 us")
        .until("150 us");
    let outcome = run_under(&hot, |_, about| {
        Ok(ReceiverCredits::new(about).into_scheme())
    });
    // One packet for each interval.
    let accepted = outcome.data.jobs[0].totals.accepted_load;
    assert!((accepted - 1.0 / SLACK).abs() < 0.001, "{accepted}");
    let intervals = 150_000_000 / 30_000;
    let granted = counted(&outcome, "granted");
    // Its own kinds of packets are in its results, and no other's.
    assert_eq!(counted(&outcome, "packets_credit"), granted);
    let kinds = outcome.data.scheme.counters.iter();
    let kinds = kinds.filter_map(|(name, _)| name.strip_prefix("packets_"));
    assert!(kinds.eq(["data", "request", "credit"]));
    assert!(granted.abs_diff(intervals) < 40, "{granted} of {intervals}");
    assert_eq!(
        counted(&outcome, "messages_whole"),
        outcome.data.summary.messages_received
    );
    // Credits of sources of different distances may arrive together. They are no more than the
    // credits handed out in the longest round trip, of four routers of 50 ns and links of 150 ns in
    // all each way, and a packet of 24 ns.
    let together = (2 * (4 * 50 + 150) + 24) / 30 + 1;
    let peak = hot_link_peak(&outcome);
    assert!(peak <= together * 24 * 100 / 8, "{peak}");
    let free = hot_link_peak(&hot.run());
    assert!(free > 4 * peak, "{free} {peak}");
}

/// The most bytes that waited for endpoint 0.
fn hot_link_peak(outcome: &Outcome) -> u64 {
    let ports = &outcome.data.ports;
    let hot = (0..ports.router.len()).find(|&row| ports.router[row] == 0 && ports.port[row] == 0);
    ports.peak_occupancy_bytes[hot.expect("the port of endpoint 0")]
}
