use super::About;
use super::context::{NicContext, PacketView, Port, PortContext};
use super::record::Record;
use weir_model::{
    Classes, ControlKind, EndpointId, FlowStep, Invalid, Origin, PacketKind, Signal, Time,
};

/// What a scheme does. Each capability is independent of the others, and the fabric asks the hooks of those that are
/// declared only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The kinds of control packets that NICs act on: [`Scheme::on_control`].
    pub listens: &'static [PacketKind],
    /// Routers may mark data packets as they leave, and acknowledgements carry the mark back:
    /// [`Scheme::mark`]. Packets that may be dropped are never marked.
    pub marks: bool,
    /// Routers write into the headers of data packets as they leave: [`Scheme::stamp`].
    pub stamps: bool,
    /// Sources may have to wait before they send: [`Scheme::ready_at`], [`Scheme::on_sent`].
    pub paces: bool,
    /// They wait for control packets, too: whenever one has come, the NIC is looked at again, so that
    /// [`Scheme::ready_at`] may say [`weir_model::NEVER`].
    pub windows: bool,
    /// Routers may drop packets of the lossy class ([`Classes::LOSSY`]), in which new data is sent:
    /// [`Scheme::timeout`], [`Scheme::queueing_limit`], [`Scheme::on_drop`].
    pub drops: bool,
    /// Sources send packets again. A task's send is complete when all of its message is acknowledged.
    pub retransmits: bool,
    /// A hook when a message becomes the first of its queue pair, which may send something before it: [`Scheme::on_message`].
    pub reserves: bool,
    /// Hooks when a message is handed to its NIC, when its last packet is sent, and when all of it has arrived:
    /// [`Scheme::on_submit`], [`Scheme::on_message_sent`], [`Scheme::on_message_received`].
    pub messages: bool,
    /// The kinds of control packets that the last router may take in place of the endpoint: [`Scheme::intercept`].
    pub intercepts: &'static [PacketKind],
    /// Routers send control packets of their own ([`PortContext::send`]), by a port of each that has no link.
    pub answers: bool,
    /// Routers look at data packets that come and leave: [`Scheme::on_route`], [`Scheme::on_departure`].
    pub observes: bool,
    /// To the last router a packet waits for its endpoint as soon as it has come ([`Port::level`], [`Scheme::on_route`]), not only when
    /// it is first in its queue, where queues hold packets for several outputs.
    pub arrivals: bool,
    /// Destinations look at data packets that arrive: [`Scheme::on_delivery`].
    pub receives: bool,
    /// Routers and endpoints send signals out of band: [`Scheme::on_signal`].
    pub signals: bool,
    /// It is told of flows, from a control packet that goes the way of each before it to one behind it: [`Scheme::on_flow_start`],
    /// [`Scheme::on_flow_packet`], [`Scheme::on_flow_back`], [`Scheme::on_flow_end`]. Only with routings that lead all packets of a flow one
    /// way.
    pub announces: bool,
    /// It sets the rates of flows, at which the NIC's discipline (`nic.discipline`) sends them: [`Scheme::rate`].
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

/// A congestion-control scheme, with the state that it keeps in one domain: a state machine at the sources' NICs, one at
/// the ports of routers, and one at the destinations' NICs.
///
/// A scheme knows no topology: it sees ports, queues, packets, its own timers and what it has written into headers. Every
/// hook may depend on the scheme's state and its arguments only, so that results are the same on any number of ranks.
/// Hooks whose capability is not declared ([`Scheme::capabilities`]) are never called.
#[allow(unused_variables)]
pub trait Scheme: CloneScheme + Send + Sync {
    /// The name in the experiment file.
    fn name(&self) -> &'static str;
    /// What it does; the same whenever it is asked.
    fn capabilities(&self) -> Capabilities;
    /// The traffic classes.
    fn classes(&self) -> Classes;
    /// The kinds of control packets that it sends besides acknowledgements: [`PacketKind::own`] gives their numbers.
    fn kinds(&self) -> &'static [ControlKind] {
        &[]
    }
    /// Names of what [`Scheme::counts`] counts.
    fn counters(&self) -> &'static [&'static str] {
        &[]
    }
    /// What the scheme has counted in its domain, in the order of [`Scheme::counters`].
    fn counts(&self) -> Vec<u64> {
        Vec::new()
    }
    /// Tables that it writes where they are asked for.
    fn records(&self) -> &'static [Record] {
        &[]
    }
    /// How its counters show that it acts. None: it acts on every message, or never.
    fn acts(&self) -> Option<Acts> {
        None
    }
    /// What parameters come to that are relative to the network: key, value.
    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// A parameter of it that holds back even a lone flow of an idle network, so that the network is not used: what is wrong and
    /// what to do about it.
    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        None
    }
    /// Words of the header that travels with every data packet and back with its acknowledgement. All
    /// are 0 when a packet is made, also when it is sent again.
    fn header_words(&self) -> usize {
        0
    }
    /// Called once, before anything else, with the numbers of NICs and outputs of the domain.
    fn start(&mut self, nics: usize, outputs: usize) {}
    /// The probability with which every router drops a packet that it may drop, to test recovery.
    fn loss(&self) -> f64 {
        0.0
    }
    /// What a message of so many bits exchanges before it is sent, for those who say what a run will take.
    fn handshake(&self, message_bits: u64) -> Handshake {
        Handshake::default()
    }
    /// Bytes of memory that the state of the scheme holds beyond its own size.
    fn memory_bytes(&self) -> usize {
        0
    }

    /// At a source: a message has been handed to the NIC, which looks at its queues afterwards.
    fn on_submit(&mut self, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {}
    /// At a source: the last packet of a message is sent now.
    fn on_message_sent(&mut self, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {}
    /// At a destination: all of a message has arrived; `message.source` has sent it.
    fn on_message_received(&mut self, nic: &mut dyn NicContext, message: &Origin) {}
    /// At a source: a message has become the first of its queue pair, and nothing of it is sent.
    fn on_message(&mut self, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {}
    /// At a source: when the queue pair of a NIC and a destination may send its next packet. [`weir_model::NEVER`], for
    /// a scheme that declares `windows`: not before a control packet or a timer.
    fn ready_at(&mut self, nic: u32, to: EndpointId, now: Time) -> Time {
        now
    }
    /// At a source: the rate of the flow of a NIC to a destination; None: as fast as its link.
    fn rate(&mut self, nic: u32, to: EndpointId, now: Time) -> Option<FlowRate> {
        None
    }
    /// At a source: a message begins as a flow. The header as the hook leaves it goes with the control packet that goes before it.
    fn on_flow_start(&mut self, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {}
    /// At a port: a control packet leaves on the way of its flow, with its header. At [`FlowStep::Start`] the flow is new to the link, at
    /// [`FlowStep::End`] all of it has gone by.
    fn on_flow_packet(&mut self, port: &Port, step: FlowStep, header: &mut [u64]) {}
    /// At a source: such a control packet has come back from the destination, with the header that it arrived there with. After
    /// [`FlowStep::Start`] the flow may send.
    fn on_flow_back(&mut self, nic: &mut dyn NicContext, to: EndpointId, step: FlowStep) {}
    /// At a source: the last packet of a flow is sent. The header as the hook leaves it goes with the control packet behind it.
    fn on_flow_end(&mut self, nic: &mut dyn NicContext, to: EndpointId, message: &Origin) {}
    /// At a source: a queue pair sends a new packet now; its tail leaves at `tail`.
    fn on_sent(&mut self, nic: &mut dyn NicContext, packet: &PacketView, tail: Time) {}
    /// At a source: the share of its link's bandwidth at which a NIC may inject, from 0 to 1; of a scheme that limits
    /// destinations one by one, to the one that it limits most. For records only.
    fn allowed_rate(&mut self, nic: u32, now: Time) -> f64 {
        1.0
    }
    /// At a NIC: a control packet has come. `origin` says which packet of this NIC (or, of a reservation, of the sender)
    /// it is about; `origin.source` is the sender. `marked`: of an acknowledgement, that the data packet was marked.
    fn on_control(&mut self, nic: &mut dyn NicContext, origin: &Origin, marked: bool) {}
    /// At a destination: a data packet has arrived.
    fn on_delivery(&mut self, nic: &mut dyn NicContext, packet: &PacketView) {}
    /// At a NIC: the time that the scheme has asked for ([`NicContext::wake`]). The NIC looks at its queues afterwards.
    fn on_nic_timer(&mut self, nic: &mut dyn NicContext, number: u64) {}

    /// At a port: a data packet has come to the router and will leave by the port, whose level counts it.
    fn on_route(&mut self, port: &mut PortContext, packet: &PacketView) {}
    /// At a port: a data packet has begun to leave, and the level does not count it any more.
    fn on_departure(&mut self, port: &mut PortContext, packet: &PacketView) {}
    /// The level of a port ([`Port::level`]) below which nothing is ever marked, so that [`Scheme::mark`] is not asked.
    fn mark_from(&self) -> u32 {
        0
    }
    /// At a port: whether a data packet that leaves is to be marked. `room`: there is a buffer for another longest packet
    /// behind the link.
    fn mark(&mut self, port: &Port, packet: &PacketView, room: bool) -> bool {
        false
    }
    /// At a port: writes into the header of a data packet that leaves at `now`.
    fn stamp(&mut self, port: &Port, packet: &PacketView, header: &mut [u64], now: Time) {}
    /// At a port: the time that the scheme has asked for ([`PortContext::wake`]); earlier ones that it asked for come, too.
    fn on_port_timer(&mut self, port: &mut PortContext) {}
    /// The time that a packet of the lossy class may spend in queues before a router drops it, ps; [`Time::MAX`]: never. It is the same at
    /// all ports, so that it is asked once.
    fn timeout(&self) -> Time {
        Time::MAX
    }
    /// At a port to an endpoint: that time there, which may depend on the port; 0: the packet is dropped now.
    fn queueing_limit(&self, port: &Port) -> Time {
        self.timeout()
    }
    /// At a port: a packet of the lossy class is dropped. What is to become of it is up to the scheme: a negative
    /// acknowledgement to its source, its header to its destination (trimming), or nothing.
    fn on_drop(&mut self, port: &mut PortContext, packet: &PacketView, origin: &Origin) {}
    /// At the last router: a control packet is about to wait for its endpoint. True if the router takes it instead.
    fn intercept(&mut self, port: &mut PortContext, packet: &PacketView, origin: &Origin) -> bool {
        false
    }

    /// How long signals are under way, ps; None: as long as a packet without length on a shortest way through an empty
    /// network.
    fn signal_delay(&self) -> Option<Time> {
        None
    }
    /// A signal has been sent to a NIC and will take effect at `signal.time`. True to take it in now: allowed only if its
    /// effect depends on nothing but its time, and counts from then on.
    fn absorb_signal(&mut self, nic: u32, signal: &Signal) -> bool {
        false
    }
    /// A signal takes effect at a NIC, which looks at its queues afterwards.
    fn on_signal(&mut self, nic: u32, signal: &Signal) {}
}

/// A copy of a scheme for another domain.
pub trait CloneScheme {
    /// A copy.
    fn clone_scheme(&self) -> Box<dyn Scheme>;
}

impl<T: Scheme + Clone + 'static> CloneScheme for T {
    fn clone_scheme(&self) -> Box<dyn Scheme> {
        Box::new(self.clone())
    }
}
