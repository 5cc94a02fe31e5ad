//! A window for each flow, sized by the round-trip times that its acknowledgements bring: more
//! while they are below a target, fewer when they are above (the shape of Swift and of delay-based
//! TCP).

use serde::{Deserialize, Serialize};

use weir::congestion::{Capabilities, NicContext, PacketView, Rules};
use weir::model::codec::SavedMap;
use weir::model::{Classes, EndpointId, NEVER, Origin, PacketKind, Time};

use super::{counted, network, run_under};

/// One flow.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Flow {
    /// Packets that may be under way.
    window: f64,
    under_way: u32,
}

struct RttWindow {
    target: Time,
    most: f64,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// By NIC and destination.
    flows: SavedMap<(u32, EndpointId), Flow>,
    least_rtt: Time,
}

impl State {
    fn flow(&mut self, nic: u32, to: EndpointId) -> &mut Flow {
        let none = Flow {
            window: 1.0,
            under_way: 0,
        };
        self.flows.entry((nic, to)).or_insert(none)
    }
}

impl Rules for RttWindow {
    type State = State;

    fn start(&self, _nics: usize, _outputs: usize) -> State {
        State {
            flows: SavedMap::default(),
            least_rtt: NEVER,
        }
    }

    fn name(&self) -> &'static str {
        "rtt_window"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listens: &[PacketKind::ACK],
            paces: true,
            windows: true,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    /// One word: the time when the packet was sent.
    fn header_words(&self) -> usize {
        1
    }

    fn counters(&self) -> &'static [&'static str] {
        &["least_rtt_ps"]
    }

    /// Domains without a source have none.
    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![if state.least_rtt == NEVER {
            0
        } else {
            state.least_rtt
        }]
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        let flow = state.flow(nic, to);
        if f64::from(flow.under_way) < flow.window.floor() {
            now
        } else {
            NEVER
        }
    }

    fn on_sent(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        _tail: Time,
    ) {
        nic.header()[0] = nic.now();
        state.flow(nic.nic(), packet.destination).under_way += 1;
    }

    fn on_control(
        &self,
        state: &mut State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        _marked: bool,
    ) {
        let rtt = nic.now() - nic.header()[0];
        state.least_rtt = state.least_rtt.min(rtt);
        let (target, most) = (self.target, self.most);
        let flow = state.flow(nic.nic(), origin.source);
        flow.under_way -= 1;
        flow.window = match rtt <= target {
            true => (flow.window + 1.0 / flow.window).min(most),
            false => (flow.window - 0.5).max(1.0),
        };
    }
}

/// From endpoint 0 to endpoint 8 of another group: two or three routers on the path, each known by
/// the zero-load time.
#[test]
fn one_packet_at_a_time_is_one_packet_for_every_round_trip() {
    let flow = network()
        .traffic("fixed_pairs", 1.0)
        .with("endpoints", vec![2i64, 10])
        .with("shared", true)
        .with("injection", "periodic")
        .message("24 flits")
        .set("output.packets", true)
        .until("40 us");
    let outcome = run_under(&flow, |_, _| {
        Ok(RttWindow {
            target: NEVER,
            most: 1.0,
        }
        .into_scheme())
    });
    let packets = outcome.data.packets.as_ref().expect("packets");
    // A data packet and its acknowledgement take the same path: latencies of links and routers, and
    // their own length.
    let first = (0..packets.source.len()).find(|&row| packets.source[row] == 2);
    let first = first.expect("a packet of endpoint 2");
    let there = packets.delivered_ps[first] - packets.injected_ps[first];
    let routers = u64::from(packets.routers[first]);
    let (links, data, ack) = (there - routers * 50_000 - 24_000, 24_000, 1_000);
    let rtt = 2 * (links + routers * 50_000) + data + ack;
    assert!(
        [2, 3, 4].contains(&routers) && links > 100_000,
        "{routers} {links}"
    );
    assert_eq!(counted(&outcome, "least_rtt_ps"), rtt);
    let sent: Vec<u64> = (0..packets.source.len())
        .filter(|&row| packets.source[row] == 2)
        .map(|row| packets.injected_ps[row])
        .collect();
    assert!(sent.len() > 30);
    assert!(
        sent.windows(2).all(|pair| pair[1] - pair[0] == rtt),
        "{sent:?}"
    );
}

#[test]
fn a_window_that_holds_the_round_trip_fills_the_link() {
    let flow = network()
        .traffic("fixed_pairs", 1.0)
        .with("endpoints", vec![2i64, 10])
        .with("shared", true)
        .with("injection", "periodic")
        .message("24 flits")
        .set("run.warmup", "60 us")
        .until("108 us");
    let outcome = run_under(&flow, |_, _| {
        Ok(RttWindow {
            target: 5_000_000,
            most: 64.0,
        }
        .into_scheme())
    });
    // All of the link, except a rounding of the two packets at the edges.
    let accepted = outcome.data.jobs[0].totals.accepted_load;
    assert!((accepted - 1.0).abs() < 1e-6, "{accepted}");
}
