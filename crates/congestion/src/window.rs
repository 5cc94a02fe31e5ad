//! `window`: a congestion window per flow, as in TCP, driven by round-trip times since nothing is
//! lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    About, Acts, Build, Capabilities, NicContext, PacketView, Rules, Scheme, check_acknowledged,
    flow_bytes,
};
use weir_input::registry::range::{counts, factors};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::codec::SavedMap;
use weir_model::{Classes, EndpointId, Invalid, NEVER, Origin, PacketKind, Time};

/// Each flow (all packets that a NIC sends to one destination) has a window: packets that may be
/// under way without acknowledgement. It starts at one packet and doubles in each round trip (slow
/// start), until a round trip takes `patience` times the shortest one that the flow has seen. Then,
/// and whenever that happens again, it is halved, at most once per round trip; otherwise it grows
/// by a packet for each window of acknowledgements. (Additive increase, multiplicative decrease;
/// notification is implicit, since a lossless network drops no packets.)
///
/// Birk and Zdornov, section 3.2, say that it must fail where a few packets fill the round trip;
/// they give no parameters. Ours: an idle network is filled after some round trips, and an incast
/// of many short flows is seen before it is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// Largest window in packets, 1 or more. 1: it never changes. Default: the number of longest
    /// packets that fills the longest round trip of the empty network twice. Shorter packets count
    /// as much, so that small messages fill less of the link.
    #[schemars(extend("x-range" = counts(1.0, 64.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u32>,
    /// Ratio to the shortest round trip from which a round trip is congestion: more than 1.
    /// Default: twice the largest ratio of round trips between the same two endpoints of the empty
    /// network, whose packets differ in length and in route.
    #[schemars(extend("x-range" = factors(1.2, 8.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    patience: Option<f64>,
}

/// A flow at its source.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Flow {
    /// Packets that may be under way.
    window: f64,
    /// True before the first sign of congestion.
    slow_start: bool,
    under_way: u32,
    shortest: Time,
    /// Packets sent before this time do not halve the window again.
    since: Time,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Window {
    most: u32,
    patience: f64,
}

#[derive(Deserialize, Serialize)]
struct State {
    /// By NIC.
    flows: Vec<SavedMap<EndpointId, Flow>>,
    /// Number of times that a window was halved.
    halvings: u64,
}

impl State {
    fn flow(&mut self, nic: u32, to: EndpointId) -> &mut Flow {
        let new = Flow {
            window: 1.0,
            slow_start: true,
            under_way: 0,
            shortest: NEVER,
            since: 0,
        };
        self.flows[nic as usize].entry(to).or_insert(new)
    }
}

impl Rules for Window {
    type State = State;

    fn start(&self, nics: usize, _outputs: usize) -> State {
        State {
            flows: vec![SavedMap::default(); nics],
            halvings: 0,
        }
    }

    fn fits(&self, state: &State, nics: usize, _outputs: usize) -> bool {
        state.flows.len() == nics
    }

    fn name(&self) -> &'static str {
        ENTRY.name
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

    /// One word: the time at which the packet was sent.
    fn header_words(&self) -> usize {
        1
    }

    fn counters(&self) -> &'static [&'static str] {
        &["halvings"]
    }

    fn counts(&self, state: &State, _: Time) -> Vec<u64> {
        vec![state.halvings]
    }

    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        let (time, packet) = (about.longest_trip, about.packet_time().max(1));
        let needs = time as f64 / packet as f64;
        vec![
            (
                "most",
                format!(
                    "{} packets; {needs:.1} fill the longest round trip of the empty network",
                    self.most
                ),
            ),
            (
                "patience",
                format!(
                    "{:.2} times the shortest round trip; those of the empty network differ by \
                     {:.2}",
                    self.patience, about.trip_spread
                ),
            ),
        ]
    }

    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        let needs = needed(about);
        if self.most < needs {
            let what = format!(
                "a window of {} packets leaves links of an idle network idle: {needs} fill its \
                 longest round trip",
                self.most
            );
            return Some(Invalid::new(
                "most",
                what,
                "leave it out, or write that many or more",
            ));
        }
        (self.patience <= about.trip_spread).then(|| {
            let (own, spread) = (self.patience, about.trip_spread);
            let what = format!(
                "{own} times the shortest round trip is no congestion here: in the empty network \
                 round trips between two endpoints differ by {spread:.2}"
            );
            Invalid::new("patience", what, "leave it out, or write more than that")
        })
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::pacing("most"))
    }

    fn memory_bytes(&self, state: &State) -> usize {
        flow_bytes(&state.flows)
    }

    fn ready_at(&self, state: &mut State, nic: u32, to: EndpointId, now: Time) -> Time {
        match state.flows[nic as usize].get(&to) {
            Some(flow) if flow.under_way >= flow.window as u32 => NEVER,
            _ => now,
        }
    }

    fn on_sent(&self, state: &mut State, nic: &mut dyn NicContext, packet: &PacketView, _: Time) {
        nic.header()[0] = nic.now();
        state.flow(nic.nic(), packet.destination).under_way += 1;
    }

    fn on_control(&self, state: &mut State, nic: &mut dyn NicContext, origin: &Origin, _: bool) {
        let (now, sent) = (nic.now(), nic.header()[0]);
        let (most, patience) = (self.most, self.patience);
        let flow = state.flow(nic.nic(), origin.source);
        let trip = now - sent;
        flow.under_way -= 1;
        flow.shortest = flow.shortest.min(trip);
        if trip as f64 <= patience * flow.shortest as f64 {
            let more = match flow.slow_start {
                true => 1.0,
                false => 1.0 / flow.window,
            };
            flow.window = (flow.window + more).min(f64::from(most));
        } else if sent >= flow.since {
            let before = flow.window;
            flow.window = (flow.window / 2.0).max(1.0);
            flow.slow_start = false;
            flow.since = now;
            state.halvings += u64::from(before > 1.0);
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "window",
    summary: "A congestion window for each flow, as of TCP, that is halved when round trips become \
              long.",
    source: "Birk and Zdornov, SYSTOR 2009, section 3.2; Chiu and Jain, Computer Networks and ISDN \
             Systems 17(1), 1989",
    examples: &["", "most = 1"],
    parameters: Keys::of::<Parameters>(),
    build,
};

fn build(section: &Section, about: &About) -> Result<Box<dyn Scheme>, ConfigError> {
    let parameters: Parameters = section.parse()?;
    let refuse = |key: &str, what: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, what, remedy)))
    };
    check_acknowledged(section, about, "windows wait for acknowledgements")?;
    let most = (parameters.most).unwrap_or(needed(about).saturating_mul(2));
    let patience = (parameters.patience).unwrap_or(2.0 * about.trip_spread);
    if most == 0 {
        let what = "a window of 0 packets sends nothing".into();
        return refuse("most", what, "write 1 or more");
    }
    if !(patience > 1.0 && patience.is_finite()) {
        let what = format!("{patience} times the shortest round trip");
        return refuse("patience", what, "write a number above 1");
    }
    Ok(Window { most, patience }.into_scheme())
}

/// Number of longest packets that fill the longest round trip of the empty network.
fn needed(about: &About) -> u32 {
    let packets = about.longest_trip.div_ceil(about.packet_time().max(1));
    u32::try_from(packets).unwrap_or(u32::MAX).max(1)
}
