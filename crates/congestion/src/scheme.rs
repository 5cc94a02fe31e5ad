//! Capabilities and costs that a scheme declares, and a scheme as the fabric sees it.

use weir_model::{PacketKind, Time};

/// Capabilities of a scheme. Each is independent of the others; the fabric calls only the hooks of
/// declared ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The kinds of control packets that NICs act on: [`super::Rules::on_control`].
    pub listens: &'static [PacketKind],
    /// Routers may mark data packets as they leave, and acknowledgements carry the mark back:
    /// [`super::Rules::mark`]. Packets that may be dropped are never marked.
    pub marks: bool,
    /// Routers write into the headers of data packets as they leave: [`super::Rules::stamp`].
    pub stamps: bool,
    /// Sources may have to wait before they send: [`super::Rules::ready_at`],
    /// [`super::Rules::on_sent`].
    pub paces: bool,
    /// They wait for control packets as well: after each one, and not only after timers, the NIC is
    /// checked again if [`super::Rules::ready_at`] returned [`weir_model::NEVER`].
    pub windows: bool,
    /// Routers may drop packets of the lossy class ([`weir_model::Classes::LOSSY`]), in which new
    /// data is sent: [`super::Rules::timeout`], [`super::Rules::queueing_limit`],
    /// [`super::Rules::on_drop`].
    pub drops: bool,
    /// Sources send packets again. A task's send is complete when all of its message is
    /// acknowledged.
    pub retransmits: bool,
    /// It counts messages by source and destination. So all jobs of a NIC share a queue pair for
    /// each destination, and `nic.order` must be fair.
    pub by_pair: bool,
    /// A hook when a message becomes the first of its queue pair, which may send something before
    /// it: [`super::Rules::on_message`].
    pub reserves: bool,
    /// Hooks when a message is handed to its NIC, when its last packet is sent, and when all of it
    /// has arrived: [`super::Rules::on_submit`], [`super::Rules::on_message_sent`],
    /// [`super::Rules::on_message_received`].
    pub messages: bool,
    /// The kinds of control packets that the last router may take on behalf of the endpoint:
    /// [`super::Rules::intercept`].
    pub intercepts: &'static [PacketKind],
    /// Routers send their own control packets ([`super::PortContext::send`]), by a port of each
    /// that has no link.
    pub answers: bool,
    /// Routers look at data packets that arrive and leave: [`super::Rules::on_route`],
    /// [`super::Rules::on_departure`].
    pub observes: bool,
    /// The last router counts a packet as waiting for its endpoint from its arrival
    /// ([`super::Port::level`], [`super::Rules::on_route`]), not only when it is first in its
    /// queue. This matters if queues hold packets for several outputs.
    pub arrivals: bool,
    /// Destinations look at data packets that arrive: [`super::Rules::on_delivery`].
    pub receives: bool,
    /// Routers and endpoints send signals out of band: [`super::Rules::on_signal`].
    pub signals: bool,
    /// It is told of flows, from a control packet that precedes each on its path to one that
    /// follows it: [`super::Rules::on_flow_start`], [`super::Rules::on_flow_packet`],
    /// [`super::Rules::on_flow_back`], [`super::Rules::on_flow_end`]. Only with routings that lead
    /// all packets of a flow along one path.
    pub announces: bool,
    /// It sets the rates of flows, at which the NIC's discipline (`nic.discipline`) sends them:
    /// [`super::Rules::rate`].
    pub rates: bool,
}

/// A rate: a number of flits per time, both more than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRate {
    /// Flits.
    pub flits: u64,
    /// Time, ps.
    pub time: Time,
}

impl FlowRate {
    /// Flits per picosecond.
    pub fn flits_per_ps(self) -> f64 {
        self.flits as f64 / self.time.max(1) as f64
    }
}

impl Capabilities {
    /// The capabilities of a scheme that does nothing.
    pub const NONE: Capabilities = Capabilities {
        listens: &[],
        marks: false,
        stamps: false,
        paces: false,
        windows: false,
        drops: false,
        retransmits: false,
        by_pair: false,
        reserves: false,
        messages: false,
        intercepts: &[],
        answers: false,
        observes: false,
        arrivals: false,
        receives: false,
        signals: false,
        announces: false,
        rates: false,
    };
}

/// The counters of `/data/scheme` that show that a scheme acts, and the parameter to check if it
/// does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    /// Counters any of which shows it.
    pub counters: &'static [&'static str],
    /// The action, as in "it never marked a packet".
    pub did: &'static str,
    /// The parameter that decides when or how strongly.
    pub parameter: &'static str,
}

impl Act {
    /// A source had to wait.
    const fn holding_back(parameter: &'static str) -> Act {
        Act {
            counters: &[HELD_BACK],
            did: "held a source back",
            parameter,
        }
    }
}

/// Cost of a message besides its packets and their acknowledgements, if nothing is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handshake {
    /// Control packets of one flit from its source to its destination.
    pub asks: u32,
    /// Control packets that come back.
    pub answers: u32,
    /// Bytes that its source keeps for it in a table, from the first of them until all of it is
    /// acknowledged.
    pub kept: usize,
}

/// The two steps of a scheme: it notices congestion, and then acts on traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acts {
    /// Action when it notices congestion.
    pub notices: Act,
    /// Its effect on traffic.
    pub responds: Act,
}

/// Number of times that a NIC looked for a packet to send and found one that had to wait for the
/// scheme: a counter of schemes that name it in their [`Acts`].
pub const HELD_BACK: &str = "held_back";
/// The counter of schemes that mark: packets marked, once for each router.
pub const MARKED: &str = "marked";
/// Counter of schemes that drop: packets dropped before their last router.
pub const DROPPED_FABRIC: &str = "dropped_fabric";
/// Counter of schemes that drop: packets dropped at their last router.
pub const DROPPED_LAST_HOP: &str = "dropped_last_hop";
/// Counter of schemes whose routers take reservations on behalf of endpoints: those taken.
pub const ABSORBED: &str = "reservations_absorbed";

impl Acts {
    /// The steps of a scheme whose routers mark packets and whose sources then wait. Arguments: the
    /// parameters to check.
    pub const fn marking(threshold: &'static str, response: &'static str) -> Acts {
        Acts {
            notices: Act {
                counters: &[MARKED],
                did: "marked a packet",
                parameter: threshold,
            },
            responds: Act::holding_back(response),
        }
    }

    /// The steps of a scheme whose sources wait, with no other sign. Argument: the parameter to
    /// check.
    pub const fn pacing(parameter: &'static str) -> Acts {
        Acts::at_once(Act::holding_back(parameter))
    }

    /// The steps of a scheme whose one action is both.
    pub const fn at_once(act: Act) -> Acts {
        Acts {
            notices: act,
            responds: act,
        }
    }

    /// The steps of a scheme that drops packets. Argument: the parameter to check.
    pub const fn dropping(threshold: &'static str) -> Acts {
        Acts::at_once(Act {
            counters: &[DROPPED_FABRIC, DROPPED_LAST_HOP],
            did: "dropped a packet",
            parameter: threshold,
        })
    }
}
