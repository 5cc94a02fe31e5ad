//! `window`: a congestion window for each flow, as of TCP, by round-trip times since nothing is lost.

use rustc_hash::FxHashMap;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::{About, Acts, Build, Capabilities, NicContext, PacketView, Scheme, flow_bytes};
use crate::config::{ConfigError, Section};
use crate::model::{Classes, EndpointId, Invalid, NEVER, Origin, PacketKind, Time};
use crate::registry::Entry;
use crate::registry::range::{counts, factors};

/// Each flow (what a NIC sends to one destination) has a window: packets that may be under way without acknowledgement. It grows by a
/// packet for each window of acknowledgements, and is halved, once for each round trip, when a round trip took `patience` times the
/// shortest one that the flow has seen (additive increase, multiplicative decrease; implicit notification, since a lossless network drops nothing
/// that could tell).
///
/// Birk and Zdornov, section 3.2, say that it must fail where a few packets fill the round trip; they give no parameters. Ours: it begins with
/// one packet.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// The largest window in packets: 1 or more. With 1 it never changes.
    #[schemars(extend("x-range" = counts(1.0, 64.0)))]
    most: u32,
    /// A round trip of so many times the shortest is congestion: more than 1.
    #[schemars(extend("x-range" = factors(1.2, 8.0)))]
    patience: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            most: 16,
            patience: 2.0,
        }
    }
}

/// A flow at its source.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Packets that may be under way.
    window: f64,
    under_way: u32,
    shortest: Time,
    /// What was sent before has been answered for.
    since: Time,
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
struct Window {
    parameters: Parameters,
    /// By NIC.
    flows: Vec<FxHashMap<EndpointId, Flow>>,
    /// How often a window was halved.
    halvings: u64,
}

impl Window {
    fn flow(&mut self, nic: u32, to: EndpointId) -> &mut Flow {
        let new = Flow {
            window: 1.0,
            under_way: 0,
            shortest: NEVER,
            since: 0,
        };
        self.flows[nic as usize].entry(to).or_insert(new)
    }
}

impl Scheme for Window {
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

    /// When the packet was sent.
    fn header_words(&self) -> usize {
        1
    }

    fn counters(&self) -> &'static [&'static str] {
        &["halvings"]
    }

    fn counts(&self) -> Vec<u64> {
        vec![self.halvings]
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::pacing("most"))
    }

    fn start(&mut self, nics: usize, _: usize) {
        self.flows = vec![FxHashMap::default(); nics];
    }

    fn memory_bytes(&self) -> usize {
        flow_bytes(&self.flows)
    }

    fn ready_at(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        match self.flows[nic as usize].get(&to) {
            Some(flow) if flow.under_way >= flow.window as u32 => NEVER,
            _ => now,
        }
    }

    fn on_sent(&mut self, nic: &mut dyn NicContext, packet: &PacketView, _: Time) {
        nic.header()[0] = nic.now();
        self.flow(nic.nic(), packet.destination).under_way += 1;
    }

    fn on_control(&mut self, nic: &mut dyn NicContext, origin: &Origin, _: bool) {
        let (now, sent) = (nic.now(), nic.header()[0]);
        let Parameters { most, patience } = self.parameters;
        let flow = self.flow(nic.nic(), origin.source);
        let trip = now - sent;
        flow.under_way -= 1;
        flow.shortest = flow.shortest.min(trip);
        if trip as f64 <= patience * flow.shortest as f64 {
            flow.window = (flow.window + 1.0 / flow.window).min(f64::from(most));
        } else if sent >= flow.since {
            let before = flow.window;
            flow.window = (flow.window / 2.0).max(1.0);
            flow.since = now;
            self.halvings += u64::from(before > 1.0);
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "window",
    summary: "A congestion window for each flow, as of TCP, that is halved when round trips become long.",
    source: "Birk and Zdornov, SYSTOR 2009, section 3.2; Chiu and Jain, Computer Networks and ISDN Systems 17(1), 1989",
    examples: &["", "most = 1"],
    parameters: || schema_for!(Parameters),
    build,
};

fn build(section: &Section, about: &About) -> Result<Box<dyn Scheme>, ConfigError> {
    let parameters: Parameters = section.parse()?;
    let refuse = |key: &str, what: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, what, remedy)))
    };
    if !about.acknowledge {
        return refuse(
            "scheme",
            "windows wait for acknowledgements, and there are none".into(),
            "set nic.acknowledge = true",
        );
    }
    if parameters.most == 0 {
        let what = "a window of 0 packets sends nothing".into();
        return refuse("most", what, "write 1 or more");
    }
    if !(parameters.patience > 1.0 && parameters.patience.is_finite()) {
        let what = format!("{} times the shortest round trip", parameters.patience);
        return refuse("patience", what, "write a number above 1");
    }
    Ok(Box::new(Window {
        parameters,
        flows: Vec::new(),
        halvings: 0,
    }))
}
