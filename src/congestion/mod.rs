//! Congestion-control schemes. One file per scheme.
//!
//! A scheme is three small state machines: at the source's NIC, at the ports of routers, and at the destination's NIC.
//! The fabric asks it through the hooks of [`Scheme`], which it is compiled for: what a scheme does not use costs
//! nothing. A scheme knows no topology: it sees ports, queues, packets and its own timers.

mod codes_cc;
mod ecn;
mod handshake;
mod lhrp;
mod lhrp_srp;
mod none;
mod refusals;
mod scheduler;
mod smsrp;
mod srp;
mod sst_cm;
#[cfg(test)]
mod testing;

use crate::config::{ConfigError, Section, Size};
use crate::model::{
    Bandwidth, Classes, EndpointId, FlitSize, Invalid, LATEST, Notice, Origin, Packet, PacketKind,
    Time,
};
use crate::registry::Entry;

/// What a scheme may know of the network when it is built.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Bits of a flit.
    pub flit: FlitSize,
    /// The longest packet in flits.
    pub max_packet: u16,
    /// Bandwidth of an endpoint's link.
    pub bandwidth: Bandwidth,
    /// Flits of one output queue; None if routers have none.
    pub output_queue: Option<u32>,
    /// Whether data packets are acknowledged.
    pub acknowledge: bool,
}

impl About {
    /// The time that flits take on an endpoint's link, ps, rounded up; [`LATEST`] if it is longer, which no run is.
    pub fn link_time(&self, flits: u64) -> Time {
        // 64, 32 and 40 bits.
        let bits = u128::from(flits) * u128::from(self.flit.0);
        let time = bits.saturating_mul(1_000_000_000_000);
        let time = time.div_ceil(u128::from(self.bandwidth.0.max(1)));
        Time::try_from(time).unwrap_or(LATEST).min(LATEST)
    }

    /// Packets and flits of a message. One without content is a packet, too.
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

    /// Whether the packets of a message can be told apart by [`Origin::part`].
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

/// An output of a router, as a scheme sees it.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Its number in the domain, for state of the scheme's own.
    pub output: u32,
    /// Whether an endpoint is behind it.
    pub last_hop: bool,
    /// Flits that wait in this router for it, in input and output queues, of all classes.
    pub level: u32,
    /// Flits that its output queues hold, of one traffic class; 0 if routers have none.
    pub capacity: u32,
}

/// A data packet that passes by, as a scheme sees it.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// Who has sent it.
    pub source: EndpointId,
    /// Whom it is for.
    pub destination: EndpointId,
    /// Its length.
    pub flits: u16,
}

/// What a scheme wants to say out of band, and when it wants to be asked again: its hooks write it down, the fabric
/// carries it out.
#[derive(Debug, Default)]
pub struct Dispatch {
    /// To whom, what kind, what.
    pub notices: Vec<(EndpointId, u16, [u64; 2])>,
    /// When to call [`Scheme::alarm`] about the port that the hook was about.
    pub alarm: Option<Time>,
}

impl Dispatch {
    /// Tells an endpoint something.
    pub fn tell(&mut self, to: EndpointId, kind: u16, words: [u64; 2]) {
        self.notices.push((to, kind, words));
    }

    /// Asks to be called again, at `time` or (if that is over) at once.
    pub fn wake(&mut self, time: Time) {
        self.alarm = Some(time);
    }
}

/// The desk at which a scheme works at a NIC: what it can see and do there.
pub trait Desk {
    /// Simulated time, ps.
    fn now(&self) -> Time;
    /// The NIC's number in its domain, for state of the scheme's own.
    fn nic(&self) -> u32;
    /// Sends a control packet of one flit to an endpoint. `origin` says about what: its `source` is set to this
    /// endpoint and its `kind` to `kind`.
    fn reply(&mut self, kind: PacketKind, to: EndpointId, origin: Origin);
    /// Sends a data packet again, at `at` or later; `origin` names it by message and part. `lossy`: routers may drop it.
    fn resend(&mut self, at: Time, lossy: bool, to: EndpointId, origin: Origin);
    /// Takes a message that is not wholly sent out of its queue pair: the parts that are left.
    fn withdraw(&mut self, to: EndpointId, message: u32) -> std::ops::Range<u32>;
}

/// A congestion-control scheme, with the state that it keeps in one domain.
#[allow(unused_variables)]
pub trait Scheme: Clone + Send + Sync + 'static {
    /// Sources learn from control packets: [`Scheme::heard`] is told.
    const LISTENS: bool = true;
    /// Routers may mark packets: [`Scheme::mark`] is asked.
    const MARKS: bool = false;
    /// Sources may have to wait: [`Scheme::ready_at`] is asked.
    const PACES: bool = false;
    /// New data is sent in a class of its own ([`Classes::LOSSY`]) from which routers may drop: [`Scheme::allowed`] and
    /// [`Scheme::refuse`] are asked, and routers send packets of their own.
    const SPECULATES: bool = false;
    /// Messages begin with a reservation: [`Scheme::begin`] is asked.
    const RESERVES: bool = false;
    /// The last router takes reservations instead of the endpoint.
    const LAST_HOP_GRANTS: bool = false;
    /// Routers and endpoints tell sources things out of band: [`Scheme::routed`], [`Scheme::left`], [`Scheme::alarm`],
    /// [`Scheme::delivered`] and [`Scheme::told`] are called.
    const NOTIFIES: bool = false;

    /// Names of what [`Scheme::counts`] counts.
    const COUNTERS: &'static [&'static str] = &[];

    /// The name in the experiment file.
    fn name(&self) -> &'static str;
    /// What the scheme has counted in its domain, in the order of [`Scheme::COUNTERS`].
    fn counts(&self) -> Vec<u64> {
        Vec::new()
    }
    /// The traffic classes.
    fn classes(&self) -> Classes;
    /// Called once, before anything else, with the numbers of NICs and outputs of the domain.
    fn prepare(&mut self, nics: usize, outputs: usize) {}
    /// The probability with which every router drops a packet that it may drop, to test recovery.
    fn loss(&self) -> f64 {
        0.0
    }

    /// Whether a packet that leaves a router by a port is to be marked. `room`: there is a buffer for another longest
    /// packet behind the link.
    fn mark(&self, port: &Port, room: bool) -> bool {
        false
    }

    /// When the queue pair of a NIC and a destination may send its next packet.
    fn ready_at(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        now
    }
    /// The share of its link's bandwidth at which a NIC may inject, from 0 to 1; of a scheme that limits destinations one by
    /// one, to the one that it limits most. For records only.
    fn allowed_rate(&mut self, nic: u32, now: Time) -> f64 {
        1.0
    }
    /// A queue pair has sent a packet, from `head` to `tail`.
    fn sent(&mut self, nic: u32, to: EndpointId, head: Time, tail: Time) {}
    /// A message is about to be sent. True if a reservation goes first.
    fn begin<D: Desk>(&mut self, desk: &mut D, to: EndpointId, message: &Origin) -> bool {
        false
    }
    /// A control packet has come to a NIC. `origin` tells about which packet of this NIC (or, of a reservation, of the
    /// sender) it is; `origin.source` is the sender. `marked`: of an acknowledgement, that the data packet was marked.
    fn heard<D: Desk>(&mut self, desk: &mut D, origin: &Origin, marked: bool) {}

    /// The time that a packet of the lossy class may spend in queues before a port drops it, ps; 0: it is dropped now.
    fn allowed(&self, port: &Port) -> Time {
        Time::MAX
    }
    /// A port has dropped a packet of so many flits. The time to send it again, if the router can give one.
    fn refuse(&mut self, port: &Port, origin: &Origin, flits: u16, now: Time) -> Option<Time> {
        None
    }
    /// The last router has taken a reservation for the endpoint behind a port: when to send.
    fn grant(&mut self, port: &Port, flits: u64, now: Time) -> Time {
        now
    }

    /// How long notices are under way, ps; None: as long as a packet without length on a shortest way through an empty
    /// network.
    fn notice_delay(&self) -> Option<Time> {
        None
    }
    /// A data packet has come to a router and will leave it by a port; `port.level` counts it.
    fn routed(&mut self, dispatch: &mut Dispatch, port: &Port, packet: &Passing, now: Time) {}
    /// A data packet has begun to leave by a port; `port.level` does not count it any more.
    fn left(&mut self, dispatch: &mut Dispatch, port: &Port, packet: &Passing, now: Time) {}
    /// The time that the scheme has asked for ([`Dispatch::wake`]); earlier ones that it asked for come, too.
    fn alarm(&mut self, dispatch: &mut Dispatch, port: &Port, now: Time) {}
    /// A data packet is at its endpoint.
    fn delivered(&mut self, dispatch: &mut Dispatch, packet: &Passing, now: Time) {}
    /// A notice has been sent to a NIC; it takes effect at `notice.time`. True if the scheme has taken it in: it counts it
    /// by its time only, and looks at times that are over only.
    fn taken_early(&mut self, nic: u32, notice: &Notice) -> bool {
        false
    }
    /// A notice takes effect at a NIC.
    fn told(&mut self, nic: u32, notice: &Notice) {}
    /// Bytes of memory that the state of the scheme holds beyond its own size.
    fn memory_bytes(&self) -> usize {
        0
    }
}

/// Checks the section of a scheme and builds it.
pub type Build = fn(&Section, &About) -> Result<AnyScheme, ConfigError>;

/// Something to be done with a scheme, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<S: Scheme>(self, scheme: &S) -> Self::Output;
}

/// The registry: a line per scheme, its module and its type.
macro_rules! schemes {
    ($($module:ident :: $scheme:ident,)*) => {
        /// A scheme, whichever it is.
        #[derive(Clone)]
        pub enum AnyScheme {
            $(
                #[doc = concat!("The scheme of `", stringify!($module), "`.")]
                $scheme($module::$scheme),
            )*
        }

        /// All schemes.
        pub const REGISTRY: &[Entry<Build>] = &[$($module::ENTRY,)*];

        impl AnyScheme {
            /// Does something that is compiled for each scheme.
            pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(AnyScheme::$scheme(scheme) => visitor.visit(scheme),)*
                }
            }
        }
    };
}

schemes! {
    none::NoControl,
    ecn::Ecn,
    srp::Srp,
    smsrp::Smsrp,
    lhrp::Lhrp,
    lhrp_srp::LhrpSrp,
    codes_cc::CodesCc,
    sst_cm::SstCm,
}

impl AnyScheme {
    /// The traffic classes.
    pub fn classes(&self) -> Classes {
        struct Ask;
        impl Visitor for Ask {
            type Output = Classes;
            fn visit<S: Scheme>(self, scheme: &S) -> Classes {
                scheme.classes()
            }
        }
        self.visit(Ask)
    }

    /// Names of what the scheme counts itself.
    pub fn counters(&self) -> &'static [&'static str] {
        struct Ask;
        impl Visitor for Ask {
            type Output = &'static [&'static str];
            fn visit<S: Scheme>(self, _: &S) -> &'static [&'static str] {
                S::COUNTERS
            }
        }
        self.visit(Ask)
    }

    /// Whether the scheme talks out of band, and if so the delay ([`Scheme::notice_delay`]).
    pub fn notices(&self) -> Option<Option<Time>> {
        struct Ask;
        impl Visitor for Ask {
            type Output = Option<Option<Time>>;
            fn visit<S: Scheme>(self, scheme: &S) -> Option<Option<Time>> {
                S::NOTIFIES.then(|| scheme.notice_delay())
            }
        }
        self.visit(Ask)
    }

    /// The name in the experiment file.
    pub fn name(&self) -> &'static str {
        struct Ask;
        impl Visitor for Ask {
            type Output = &'static str;
            fn visit<S: Scheme>(self, scheme: &S) -> &'static str {
                scheme.name()
            }
        }
        self.visit(Ask)
    }
}

/// A multiple of a time, rounded down; [`LATEST`] if it is longer.
fn times(factor: f64, time: f64) -> Time {
    // A cast from a float stops at the ends of the type.
    ((factor * time) as Time).min(LATEST)
}

/// The longest queueing time that a packet can remember, ps.
const LONGEST_WAIT: Time = u16::MAX as Time * Packet::WAIT_UNIT;

/// Checks what all schemes with speculative packets share.
fn check_speculation(
    section: &Section,
    about: &About,
    loss: f64,
    timeout: Option<Time>,
) -> Result<(), ConfigError> {
    let refuse =
        |key, what: &str, remedy: &str| Err(section.refuse(Invalid::new(key, what, remedy)));
    if !about.acknowledge {
        let what =
            "the scheme's sources learn from acknowledgements what has arrived, and there are none";
        return refuse("scheme", what, "set nic.acknowledge = true");
    }
    if !(0.0..=1.0).contains(&loss) {
        return refuse(
            "loss",
            "this is no probability",
            "give a number from 0 to 1",
        );
    }
    match timeout {
        Some(time) if time >= LONGEST_WAIT => refuse(
            "timeout",
            "queueing times are kept up to 16 us only",
            "give a shorter `timeout`",
        ),
        _ => Ok(()),
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

/// What a schedule books for each flit by default. The author's earlier public simulator has the same.
const SLACK: f64 = 1.05;
