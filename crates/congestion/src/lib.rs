//! Congestion-control schemes. One file per scheme.
//!
//! A scheme is three small state machines: at the source's NIC, at the ports of routers, and at the
//! destination's NIC. A scheme is written as [`Rules`] over a state. The fabric calls the hooks for
//! the capabilities that the scheme declares ([`Capabilities`]) through [`Scheme`], an object with
//! the rules and the state of a domain.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![deny(clippy::iter_over_hash_type)]

mod codes_cc;
mod context;
mod ecn;
mod fixed_rate;
mod handshake;
mod ib_cca;
mod kinds;
mod lhrp;
mod lhrp_srp;
mod none;
mod record;
mod refusals;
mod rules;
mod saa;
mod scheduler;
mod scheme;
mod smsrp;
mod srp;
mod sst_cm;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod window;

use rustc_hash::FxHashMap;

use kinds::{GRANT, NACK};
use weir_input::registry::Entry;
use weir_input::{ConfigError, Section, Size, TimeSpan};
use weir_model::codec::SavedMap;
use weir_model::{
    Bandwidth, EndpointId, FlitSize, Invalid, LATEST, LinkRate, Origin, Packet, Time,
};

pub use context::{Actions, Control, NicContext, PacketView, Port, PortContext};
pub use record::{Place, Record, RecordColumn};
pub use rules::{Rules, Scheme};
pub use scheme::{
    ABSORBED, Act, Acts, Capabilities, DROPPED_FABRIC, DROPPED_LAST_HOP, FlowRate, HELD_BACK,
    Handshake, MARKED,
};

/// Facts about the network that a scheme may use when it is built.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Bits of a flit.
    pub flit: FlitSize,
    /// The longest packet in flits.
    pub max_packet: u16,
    /// Bandwidth of an endpoint's link: of the fastest one.
    pub bandwidth: Bandwidth,
    /// Flits of one output queue of routers configured as in `[router]`; None if they have none.
    pub output_queue: Option<u32>,
    /// Flits of the input buffer of one virtual channel at an endpoint's port of such a router.
    pub input_buffer: u32,
    /// Endpoints of the network.
    pub endpoints: u32,
    /// Zero-load round trip of a longest packet across the network and of its acknowledgement, ps.
    pub round_trip: Time,
    /// Longest zero-load round trip of a longest packet and its acknowledgement, on any route
    /// between a sample of endpoints, ps.
    pub longest_trip: Time,
    /// Largest ratio of such round trips between the same two endpoints, over all packet lengths
    /// and routes.
    pub trip_spread: f64,
    /// True if data packets are acknowledged.
    pub acknowledge: bool,
    /// True if the routing keeps circuits, so that control packets set them up.
    pub circuits: bool,
}

impl About {
    /// Time that flits take on such a link.
    pub fn link(&self) -> LinkRate {
        LinkRate::new(self.bandwidth, self.flit)
    }

    /// The time that flits take on an endpoint's link, ps, rounded up; [`LATEST`] if it is longer,
    /// which no run is.
    pub fn link_time(&self, flits: u64) -> Time {
        self.time_on(flits, self.bandwidth)
    }

    /// The same on a link of another bandwidth.
    pub fn time_on(&self, flits: u64, bandwidth: Bandwidth) -> Time {
        // 64, 32 and 40 bits.
        let bits = u128::from(flits) * u128::from(self.flit.0);
        let time = bits.saturating_mul(1_000_000_000_000);
        let time = time.div_ceil(u128::from(bandwidth.0.max(1)));
        Time::try_from(time).unwrap_or(LATEST).min(LATEST)
    }

    /// Time that a longest packet takes on an endpoint's link, ps.
    pub fn packet_time(&self) -> Time {
        self.link_time(self.max_packet.into())
    }

    /// Converts a time that may be given in units of this network to ps.
    pub fn time(&self, span: TimeSpan) -> Time {
        span.time(self.packet_time(), self.round_trip)
    }

    /// Text for an amount of data: flits, bytes, and longest packets.
    pub fn flits(&self, flits: u32) -> String {
        let packets = f64::from(flits) / f64::from(self.max_packet);
        let bytes = u64::from(flits) as f64 * f64::from(self.flit.0) / 8.0;
        format!("{flits} flits ({bytes} B, {packets:.1} longest packets)")
    }

    /// Text for a time: ns, and units of this network.
    pub fn packet_times(&self, time: Time) -> String {
        let packets = time as f64 / self.packet_time().max(1) as f64;
        let trips = time as f64 / self.round_trip.max(1) as f64;
        let ns = time as f64 / 1e3;
        format!("{ns} ns ({packets:.2} packet times, {trips:.2} round trips)")
    }

    /// Packets and flits of a message. A message without content is one packet.
    pub fn packets(&self, bits: u64) -> (u64, u64) {
        let bits = bits.max(1);
        let most = u64::from(self.max_packet) * u64::from(self.flit.0);
        let whole = bits / most;
        let rest = bits % most;
        let last = if rest > 0 { self.flit.flits(rest) } else { 0 };
        (
            whole + u64::from(rest > 0),
            whole * u64::from(self.max_packet) + last,
        )
    }

    /// True if the packets of a message can be distinguished by [`Origin::part`].
    pub fn countable(&self, bits: u64) -> bool {
        self.packets(bits).0 <= u64::from(u32::MAX)
    }

    /// Payload bits of one packet of a message.
    pub fn payload(&self, message_bits: u64, part: u32) -> u64 {
        let most = u64::from(self.max_packet) * u64::from(self.flit.0);
        message_bits
            .saturating_sub(u64::from(part) * most)
            .min(most)
    }
}

/// Says that a threshold is below the longest packet, which exceeds it without any congestion.
fn below_a_packet(key: &'static str, threshold: u64, about: &About) -> Option<Invalid> {
    let longest = u64::from(about.max_packet);
    (threshold < longest).then(|| {
        let what = format!("a lone packet of {longest} flits exceeds a threshold of {threshold}");
        Invalid::new(key, what, "raise it to several packets")
    })
}

/// Says that a timeout of speculative packets is less than two packets take on a link: any that
/// waits for another one is dropped.
fn hardly_queues(timeout: Time, about: &About) -> Option<Invalid> {
    (timeout < 2 * about.packet_time()).then(|| {
        let time = about.packet_times(timeout);
        let what = format!("in {time} a packet beside another one is dropped");
        let remedy = match 2 * about.packet_time() < LONGEST_WAIT {
            true => "write \"8 packet times\" or more, which is kept up to 16.7 us",
            false => "queueing times are kept up to 16.7 us only: make `nic.max_packet` shorter",
        };
        Invalid::new("timeout", what, remedy)
    })
}

/// Checks the section of a scheme and builds it.
pub type Build = fn(&Section, &About) -> Result<Box<dyn Scheme>, ConfigError>;

/// All schemes.
pub const REGISTRY: &[Entry<Build>] = &[
    none::ENTRY,
    ecn::ENTRY,
    ib_cca::ENTRY,
    srp::ENTRY,
    smsrp::ENTRY,
    lhrp::ENTRY,
    lhrp_srp::ENTRY,
    codes_cc::ENTRY,
    sst_cm::ENTRY,
    saa::ENTRY,
    window::ENTRY,
    fixed_rate::ENTRY,
];

/// True if several schemes may send control packets of this name.
pub fn is_shared_kind(name: &str) -> bool {
    kinds::IN_ONE_CLASS.iter().any(|kind| kind.name == name)
}

/// The answer of a router that has dropped a packet. It goes to the source, in the name of the
/// destination, with the time to send the packet again if the router can give one.
fn nack(packet: &PacketView, origin: &Origin, time: Option<Time>) -> Control {
    Control {
        kind: NACK,
        to: packet.source,
        from: packet.destination,
        flits: 1,
        origin: origin.with_time(time),
    }
}

/// The answer of a router that has taken a reservation on behalf of its endpoint.
fn grant(packet: &PacketView, origin: &Origin, time: Time) -> Control {
    Control {
        kind: GRANT,
        ..nack(packet, origin, Some(time))
    }
}

/// Bytes of memory that tables of flows hold, one table for each NIC.
fn flow_bytes<T>(nics: &[SavedMap<EndpointId, T>]) -> usize {
    let each = size_of::<EndpointId>() + size_of::<T>();
    let held = |flows: &SavedMap<_, T>| size_of_val(flows) + flows.capacity() * each;
    nics.iter().map(held).sum()
}

/// Approximate bytes of a table: seven of eight slots may be occupied.
fn table_bytes<K, V>(table: &FxHashMap<K, V>) -> usize {
    table.capacity() * (size_of::<(K, V)>() + 1) / 7 * 8
}

/// A multiple of a time, rounded down; [`LATEST`] if it is longer.
fn times(factor: f64, time: f64) -> Time {
    // A cast from a float saturates at the limits of the type.
    ((factor * time) as Time).min(LATEST)
}

/// Refuses a scheme that needs acknowledgements if packets are not acknowledged. `why`: what it
/// needs them for, as in "marks go back with acknowledgements".
///
/// # Errors
///
/// If there are none.
pub fn check_acknowledged(section: &Section, about: &About, why: &str) -> Result<(), ConfigError> {
    if about.acknowledge {
        return Ok(());
    }
    let what = format!("{why}, and there are none");
    Err(section.refuse(Invalid::new("scheme", what, "set nic.acknowledge = true")))
}

/// The longest queueing time that a packet can record, ps.
const LONGEST_WAIT: Time = u16::MAX as Time * Packet::WAIT_UNIT;

/// The words about longer times.
const TOO_LONG: &str = "queueing times are kept up to 16.7 us only";

/// Says that a timeout was cut to the longest time that can be kept.
fn cut_timeout(timeout: Time) -> Option<Invalid> {
    (timeout == LONGEST_WAIT - 1).then(|| {
        let what = format!("{TOO_LONG}, which is less than this on these links");
        Invalid::new("timeout", what, "write a shorter one, or shorter packets")
    })
}

/// Checks the parameters that all schemes with speculative packets share.
///
/// Returns the time that such a packet may be in queues, ps; [`Time::MAX`] without a timeout. A
/// timeout in units of the network is cut to the longest time that can be kept.
fn check_speculation(
    section: &Section,
    about: &About,
    loss: f64,
    timeout: Option<TimeSpan>,
) -> Result<Time, ConfigError> {
    let refuse =
        |key, what: &str, remedy: &str| Err(section.refuse(Invalid::new(key, what, remedy)));
    let why = "the scheme's sources learn from acknowledgements what has arrived";
    check_acknowledged(section, about, why)?;
    if !(0.0..=1.0).contains(&loss) {
        return refuse(
            "loss",
            "this is no probability",
            "give a number from 0 to 1",
        );
    }
    match timeout {
        None => Ok(Time::MAX),
        Some(TimeSpan::Time(time)) if time.0 >= LONGEST_WAIT => {
            refuse("timeout", TOO_LONG, "give a shorter `timeout`")
        }
        Some(TimeSpan::Time(time)) => Ok(time.0),
        Some(relative) => Ok(about.time(relative).min(LONGEST_WAIT - 1)),
    }
}

/// The threshold at the last router in flits.
fn check_threshold(section: &Section, about: &About, size: Size) -> Result<u32, ConfigError> {
    let flits = size.flits(about.flit, u64::from(about.max_packet));
    u32::try_from(flits).map_err(|_| {
        section.refuse(Invalid::new(
            "threshold",
            "this is more than any queue holds",
            "give a size such as \"1000 flits\"",
        ))
    })
}

/// Default number of flit times that a schedule books for each flit, as in the author's earlier
/// public simulator.
const SLACK: f64 = 1.05;
