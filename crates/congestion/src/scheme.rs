use weir_model::{PacketKind, Time};

/// What a scheme does. Each capability is independent of the others, and the fabric asks the hooks of those that are
/// declared only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The kinds of control packets that NICs act on: [`super::Rules::on_control`].
    pub listens: &'static [PacketKind],
    /// Routers may mark data packets as they leave, and acknowledgements carry the mark back:
    /// [`super::Rules::mark`]. Packets that may be dropped are never marked.
    pub marks: bool,
    /// Routers write into the headers of data packets as they leave: [`super::Rules::stamp`].
    pub stamps: bool,
    /// Sources may have to wait before they send: [`super::Rules::ready_at`], [`super::Rules::on_sent`].
    pub paces: bool,
    /// They wait for control packets, too: whenever one has come, the NIC is looked at again, so that
    /// [`super::Rules::ready_at`] may say [`weir_model::NEVER`].
    pub windows: bool,
    /// Routers may drop packets of the lossy class ([`weir_model::Classes::LOSSY`]), in which new data is sent:
    /// [`super::Rules::timeout`], [`super::Rules::queueing_limit`], [`super::Rules::on_drop`].
    pub drops: bool,
    /// Sources send packets again. A task's send is complete when all of its message is acknowledged.
    pub retransmits: bool,
    /// A hook when a message becomes the first of its queue pair, which may send something before it: [`super::Rules::on_message`].
    pub reserves: bool,
    /// Hooks when a message is handed to its NIC, when its last packet is sent, and when all of it has arrived:
    /// [`super::Rules::on_submit`], [`super::Rules::on_message_sent`], [`super::Rules::on_message_received`].
    pub messages: bool,
    /// The kinds of control packets that the last router may take in place of the endpoint: [`super::Rules::intercept`].
    pub intercepts: &'static [PacketKind],
    /// Routers send control packets of their own ([`super::PortContext::send`]), by a port of each that has no link.
    pub answers: bool,
    /// Routers look at data packets that come and leave: [`super::Rules::on_route`], [`super::Rules::on_departure`].
    pub observes: bool,
    /// To the last router a packet waits for its endpoint as soon as it has come ([`super::Port::level`], [`super::Rules::on_route`]), not only when
    /// it is first in its queue, where queues hold packets for several outputs.
    pub arrivals: bool,
    /// Destinations look at data packets that arrive: [`super::Rules::on_delivery`].
    pub receives: bool,
    /// Routers and endpoints send signals out of band: [`super::Rules::on_signal`].
    pub signals: bool,
    /// It is told of flows, from a control packet that goes the way of each before it to one behind it: [`super::Rules::on_flow_start`],
    /// [`super::Rules::on_flow_packet`], [`super::Rules::on_flow_back`], [`super::Rules::on_flow_end`]. Only with routings that lead all packets of a flow one
    /// way.
    pub announces: bool,
    /// It sets the rates of flows, at which the NIC's discipline (`nic.discipline`) sends them: [`super::Rules::rate`].
    pub rates: bool,
}

/// A rate: so many flits in so much time, both more than 0.
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
    /// Of a scheme that does nothing.
    pub const NONE: Capabilities = Capabilities {
        listens: &[],
        marks: false,
        stamps: false,
        paces: false,
        windows: false,
        drops: false,
        retransmits: false,
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

/// What shows in the counters of `/data/scheme` that a scheme acts, and where to look if it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    /// Any of them.
    pub counters: &'static [&'static str],
    /// What was done, as in "it never marked a packet".
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

/// What a message costs besides its packets and their acknowledgements, while nothing is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handshake {
    /// Control packets of one flit from its source to its destination.
    pub asks: u32,
    /// Those that come back.
    pub answers: u32,
    /// Bytes that its source keeps of it from the first of them until all of it is acknowledged, in a table.
    pub kept: usize,
}

/// How a scheme acts: first it notices congestion, then it does something to traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acts {
    /// What it does when it notices congestion.
    pub notices: Act,
    /// What then becomes of traffic.
    pub responds: Act,
}

/// How often a NIC found something to send that had to wait for the scheme: a counter of schemes that name it in their
/// [`Acts`].
pub const HELD_BACK: &str = "held_back";
/// The counter of schemes that mark: packets marked, once for each router.
pub const MARKED: &str = "marked";
/// The counters of schemes that drop: packets dropped before their last router …
pub const DROPPED_FABRIC: &str = "dropped_fabric";
/// … and at it.
pub const DROPPED_LAST_HOP: &str = "dropped_last_hop";

impl Acts {
    /// Of a scheme whose routers mark packets and whose sources then wait: the parameters to look at.
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

    /// Of a scheme whose sources wait and nothing else shows: the parameter to look at.
    pub const fn pacing(parameter: &'static str) -> Acts {
        let held = Act::holding_back(parameter);
        Acts {
            notices: held,
            responds: held,
        }
    }

    /// Of a scheme that drops packets: the parameter to look at.
    pub const fn dropping(threshold: &'static str) -> Acts {
        let drops = Act {
            counters: &[DROPPED_FABRIC, DROPPED_LAST_HOP],
            did: "dropped a packet",
            parameter: threshold,
        };
        Acts {
            notices: drops,
            responds: drops,
        }
    }
}
