//! A scheme as rules that never change, over a state that can be saved; and both together behind
//! one object for all schemes.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::About;
use super::context::{NicContext, PacketView, Port, PortContext};
use super::record::Record;
use super::scheme::{Acts, Capabilities, FlowRate, Handshake};
use weir_model::codec::{self, CodecError};
use weir_model::{
    Classes, ControlKind, EndpointId, FlowStep, Invalid, LinkRate, Origin, Signal, Time,
};

/// The rules of a congestion-control scheme: a state machine at the sources' NICs, one at the ports
/// of routers, and one at the destinations' NICs.
///
/// The type that implements it holds parameters, which never change. Everything that a hook may
/// change is in [`Rules::State`], of which each domain has one. A run can therefore be saved and
/// resumed at any time.
///
/// A scheme knows no topology: it sees ports, queues, packets, its own timers and what it has
/// written into headers. Every hook may depend on its state and its arguments only, so that results
/// are the same on any number of ranks. Hooks whose capability is not declared
/// ([`Rules::capabilities`]) are never called.
#[allow(unused_variables)]
pub trait Rules: Send + Sync + 'static {
    /// The state of one domain, as plain data. Its hash maps are
    /// [`weir_model::codec::SavedMap`]s, so that equal states are saved as equal bytes.
    type State: Serialize + DeserializeOwned + Send + Sync;

    /// The name in the experiment file.
    fn name(&self) -> &'static str;
    /// The hooks that it uses; the same at every call.
    fn capabilities(&self) -> Capabilities;
    /// The traffic classes: [`Classes::of_data`] of a scheme that adds none to those of data and of
    /// acknowledgements, if there are any; [`Classes::PLAIN`] if it needs acknowledgements anyway.
    fn classes(&self) -> Classes;
    /// The kinds of control packets that it sends besides acknowledgements:
    /// [`PacketKind::own`](weir_model::PacketKind::own) gives their numbers.
    fn kinds(&self) -> &'static [ControlKind] {
        &[]
    }
    /// Names of what [`Rules::counts`] counts.
    fn counters(&self) -> &'static [&'static str] {
        &[]
    }
    /// The counts of one domain at the end of the run, in the order of [`Rules::counters`].
    fn counts(&self, state: &Self::State, end: Time) -> Vec<u64> {
        Vec::new()
    }
    /// Tables that it writes if requested.
    fn records(&self) -> &'static [Record] {
        &[]
    }
    /// The counters that show that it acts. None: it acts on every message, or never.
    fn acts(&self) -> Option<Acts> {
        None
    }
    /// Key and absolute value of each parameter that is given relative to the network.
    fn effective(&self, about: &About) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// A parameter that limits even a lone flow in an idle network, so that the network is
    /// underused. Says what is wrong and what to do about it.
    fn idle_limit(&self, about: &About) -> Option<Invalid> {
        None
    }
    /// Parameters that have no effect as given, or less than they say: why, and what to do about
    /// it. Users are told of what they wrote.
    fn useless(&self) -> Vec<Invalid> {
        Vec::new()
    }
    /// Words of the header that travels with every data packet and back with its acknowledgement.
    /// All are 0 when a packet is made, also when it is sent again.
    fn header_words(&self) -> usize {
        0
    }
    /// The probability with which every router drops a packet that it may drop, to test recovery.
    fn loss(&self) -> f64 {
        0.0
    }
    /// The control packets that a message of this length exchanges before it is sent; forecasts of
    /// a run's size use it.
    fn handshake(&self, message_bits: u64) -> Handshake {
        Handshake::default()
    }
    /// Bytes of memory that a state holds beyond its own size.
    fn memory_bytes(&self, state: &Self::State) -> usize {
        0
    }

    /// The state of a domain of this size, before anything has happened.
    fn start(&self, nics: usize, outputs: usize) -> Self::State;
    /// True if a state read from a file can belong to a domain of this size. Each table has the
    /// length that [`Rules::start`] gives it, and each number used as an index or an address is
    /// valid.
    fn fits(&self, state: &Self::State, nics: usize, outputs: usize) -> bool {
        true
    }
    /// The scheme of these rules, as registries and `simulation::Own` take it.
    fn into_scheme(self) -> Box<dyn Scheme>
    where
        Self: Sized,
    {
        Box::new(Applied::new(Arc::new(self), 0, 0))
    }

    /// At a source: a message has been handed to the NIC, which looks at its queues afterwards.
    fn on_submit(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
    }
    /// At a source: the last packet of a message is sent now.
    fn on_message_sent(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
    }
    /// At a destination: all of a message has arrived; `message.source` has sent it.
    fn on_message_received(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        message: &Origin,
    ) {
    }
    /// At a source: a message has become the first of its queue pair, and nothing of it is sent.
    fn on_message(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
    }
    /// At a source: the time at which the queue pair of a NIC and a destination may send its next
    /// packet; the NIC asks again then, and may ask at any time. [`weir_model::NEVER`]: not before
    /// a timer of the NIC, a control packet of its flow or, for a scheme that declares `windows`,
    /// any control packet.
    fn ready_at(&self, state: &mut Self::State, nic: u32, to: EndpointId, now: Time) -> Time {
        now
    }
    /// At a source: the rate of the flow of a NIC, which is given with its link, to a destination;
    /// None: as fast as the link.
    fn rate(
        &self,
        state: &mut Self::State,
        nic: (u32, LinkRate),
        to: EndpointId,
        now: Time,
    ) -> Option<FlowRate> {
        None
    }
    /// At a source: a message begins as a flow. The header as the hook leaves it goes with the
    /// control packet that precedes it.
    fn on_flow_start(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
    }
    /// At a port: a control packet leaves along the path of its flow, with its header. At
    /// [`FlowStep::Start`] the flow is new to the link; at [`FlowStep::End`] all of it has passed.
    fn on_flow_packet(
        &self,
        state: &mut Self::State,
        port: &Port,
        step: FlowStep,
        header: &mut [u64],
    ) {
    }
    /// At a source: such a control packet has come back from the destination, with the header that
    /// it had on arrival there. After [`FlowStep::Start`] the flow may send.
    fn on_flow_back(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        step: FlowStep,
    ) {
    }
    /// At a source: the last packet of a flow is sent. The header as the hook leaves it goes with
    /// the control packet behind it.
    fn on_flow_end(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
    }
    /// At a source: a queue pair sends a new packet now; its tail leaves at `tail`.
    fn on_sent(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        packet: &PacketView,
        tail: Time,
    ) {
    }
    /// At a source: the share of its link's bandwidth at which a NIC may inject, from 0 to 1. For a
    /// scheme that limits each destination separately, the lowest limit. For records only.
    fn allowed_rate(&self, state: &mut Self::State, nic: (u32, LinkRate), now: Time) -> f64 {
        1.0
    }
    /// At a NIC: a control packet has arrived. `origin` names its subject: a packet of this NIC or,
    /// for a reservation, of the sender. `origin.source` is the sender. `marked`, for an
    /// acknowledgement: the data packet was marked.
    fn on_control(
        &self,
        state: &mut Self::State,
        nic: &mut dyn NicContext,
        origin: &Origin,
        marked: bool,
    ) {
    }
    /// At a destination: a data packet has arrived.
    fn on_delivery(&self, state: &mut Self::State, nic: &mut dyn NicContext, packet: &PacketView) {}
    /// At a NIC: a timer that the scheme set expires ([`NicContext::wake`]). The NIC looks at its
    /// queues afterwards.
    fn on_nic_timer(&self, state: &mut Self::State, nic: &mut dyn NicContext, number: u64) {}

    /// At a port: a data packet has arrived at the router and will leave by the port, whose level
    /// counts it.
    fn on_route(&self, state: &mut Self::State, port: &mut PortContext, packet: &PacketView) {}
    /// At a port: a data packet has begun to leave, by it or by another port that it may take
    /// instead, and the level no longer counts it.
    fn on_departure(&self, state: &mut Self::State, port: &mut PortContext, packet: &PacketView) {}
    /// The level of a port ([`Port::level`]) below which nothing is ever marked, so that
    /// [`Rules::mark`] is not asked.
    fn mark_from(&self) -> u32 {
        0
    }
    /// At a port: true if a data packet that leaves is to be marked. `room`: there is a buffer for
    /// another longest packet behind the link.
    fn mark(&self, state: &mut Self::State, port: &Port, packet: &PacketView, room: bool) -> bool {
        false
    }
    /// At a port: writes into the header of a data packet that leaves at `now`.
    fn stamp(
        &self,
        state: &mut Self::State,
        port: &Port,
        packet: &PacketView,
        header: &mut [u64],
        now: Time,
    ) {
    }
    /// At a port: a timer that the scheme set expires ([`PortContext::wake`]). Earlier timers of
    /// the port fire as well.
    fn on_port_timer(&self, state: &mut Self::State, port: &mut PortContext) {}
    /// The time that a packet of the lossy class may spend in queues before a router drops it, ps;
    /// [`Time::MAX`]: never. It is the same at all ports, so it is requested only once.
    fn timeout(&self) -> Time {
        Time::MAX
    }
    /// At a port to an endpoint: that time there, which may depend on the port; 0: the packet is
    /// dropped now.
    fn queueing_limit(&self, state: &Self::State, port: &Port) -> Time {
        self.timeout()
    }
    /// At a port: a packet of the lossy class is dropped. The scheme decides what follows: a
    /// negative acknowledgement to its source, its header to its destination (trimming), or
    /// nothing.
    fn on_drop(
        &self,
        state: &mut Self::State,
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) {
    }
    /// At the last router: a control packet is about to be queued for its endpoint. True if the
    /// router takes it instead.
    fn intercept(
        &self,
        state: &mut Self::State,
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) -> bool {
        false
    }

    /// The delay of signals, ps; None: that of a packet without length on a shortest path through
    /// an empty network.
    fn signal_delay(&self) -> Option<Time> {
        None
    }
    /// A signal has been sent to a NIC and will take effect at `signal.time`. True if it is
    /// absorbed now: allowed only if its effect depends on nothing but its time, and counts from
    /// then on.
    fn absorb_signal(&self, state: &mut Self::State, nic: u32, signal: &Signal) -> bool {
        false
    }
    /// A signal takes effect at a NIC, which looks at its queues afterwards.
    fn on_signal(&self, state: &mut Self::State, nic: u32, signal: &Signal) {}
}

/// Rules with the state of one domain.
pub(super) struct Applied<R: Rules> {
    pub(super) rules: Arc<R>,
    pub(super) state: R::State,
    nics: usize,
    outputs: usize,
}

impl<R: Rules> Applied<R> {
    /// In a domain of this size, before anything has happened.
    pub(super) fn new(rules: Arc<R>, nics: usize, outputs: usize) -> Applied<R> {
        let state = rules.start(nics, outputs);
        Applied {
            rules,
            state,
            nics,
            outputs,
        }
    }
}

/// Makes [`Scheme`] and its only implementation of a list of the methods of [`Rules`]: `fixed` ones
/// ask the rules alone, `looks` see the state, `hooks` change it.
macro_rules! scheme {
    (
        fixed { $(fn $fixed:ident($($a:ident: $at:ty),*) -> $ar:ty;)* }
        looks { $(fn $look:ident($($b:ident: $bt:ty),*) -> $br:ty;)* }
        hooks { $(fn $hook:ident($($c:ident: $ct:ty),*) $(-> $cr:ty)?;)* }
    ) => {
        /// A congestion-control scheme, with the state that it keeps in one domain. To make one,
        /// write [`Rules`] ([`Rules::into_scheme`]).
        pub trait Scheme: Send + Sync {
            /// The same scheme in a domain of this size, before anything has happened.
            fn start(&self, nics: usize, outputs: usize) -> Box<dyn Scheme>;

            /// The state as bytes.
            ///
            /// # Errors
            ///
            /// If the state cannot be written.
            fn save(&self) -> Result<Vec<u8>, CodecError>;

            /// Resumes from a state that was saved by the same scheme in the same domain.
            ///
            /// # Errors
            ///
            /// If the bytes are not such a state. The present state is kept then.
            fn load(&mut self, bytes: &[u8]) -> Result<(), CodecError>;

            $(
                #[doc = concat!("See [`Rules::", stringify!($fixed), "`].")]
                fn $fixed(&self, $($a: $at),*) -> $ar;
            )*
            $(
                #[doc = concat!("See [`Rules::", stringify!($look), "`].")]
                fn $look(&self, $($b: $bt),*) -> $br;
            )*
            $(
                #[doc = concat!("See [`Rules::", stringify!($hook), "`].")]
                fn $hook(&mut self, $($c: $ct),*) $(-> $cr)?;
            )*
        }

        impl<R: Rules> Scheme for Applied<R> {
            fn start(&self, nics: usize, outputs: usize) -> Box<dyn Scheme> {
                Box::new(Applied::new(self.rules.clone(), nics, outputs))
            }

            fn save(&self) -> Result<Vec<u8>, CodecError> {
                codec::encode(&(self.nics, self.outputs, &self.state))
            }

            fn load(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
                let (nics, outputs, state) = codec::decode(bytes)?;
                if (nics, outputs) != (self.nics, self.outputs)
                    || !self.rules.fits(&state, nics, outputs)
                {
                    let name = self.rules.name();
                    return Err(CodecError::new(format!("no state of {name:?} in this domain")));
                }
                self.state = state;
                Ok(())
            }

            $(
                fn $fixed(&self, $($a: $at),*) -> $ar {
                    self.rules.$fixed($($a),*)
                }
            )*
            $(
                fn $look(&self, $($b: $bt),*) -> $br {
                    self.rules.$look(&self.state, $($b),*)
                }
            )*
            $(
                fn $hook(&mut self, $($c: $ct),*) $(-> $cr)? {
                    self.rules.$hook(&mut self.state, $($c),*)
                }
            )*
        }
    };
}

scheme! {
    fixed {
        fn name() -> &'static str;
        fn capabilities() -> Capabilities;
        fn classes() -> Classes;
        fn kinds() -> &'static [ControlKind];
        fn counters() -> &'static [&'static str];
        fn records() -> &'static [Record];
        fn acts() -> Option<Acts>;
        fn effective(about: &About) -> Vec<(&'static str, String)>;
        fn idle_limit(about: &About) -> Option<Invalid>;
        fn useless() -> Vec<Invalid>;
        fn header_words() -> usize;
        fn loss() -> f64;
        fn handshake(message_bits: u64) -> Handshake;
        fn mark_from() -> u32;
        fn timeout() -> Time;
        fn signal_delay() -> Option<Time>;
    }
    looks {
        fn counts(end: Time) -> Vec<u64>;
        fn memory_bytes() -> usize;
        fn queueing_limit(port: &Port) -> Time;
    }
    hooks {
        fn on_submit(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_message_sent(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_message_received(nic: &mut dyn NicContext, message: &Origin);
        fn on_message(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn ready_at(nic: u32, to: EndpointId, now: Time) -> Time;
        fn rate(nic: (u32, LinkRate), to: EndpointId, now: Time) -> Option<FlowRate>;
        fn on_flow_start(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_flow_packet(port: &Port, step: FlowStep, header: &mut [u64]);
        fn on_flow_back(nic: &mut dyn NicContext, to: EndpointId, step: FlowStep);
        fn on_flow_end(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_sent(nic: &mut dyn NicContext, packet: &PacketView, tail: Time);
        fn allowed_rate(nic: (u32, LinkRate), now: Time) -> f64;
        fn on_control(nic: &mut dyn NicContext, origin: &Origin, marked: bool);
        fn on_delivery(nic: &mut dyn NicContext, packet: &PacketView);
        fn on_nic_timer(nic: &mut dyn NicContext, number: u64);
        fn on_route(port: &mut PortContext, packet: &PacketView);
        fn on_departure(port: &mut PortContext, packet: &PacketView);
        fn mark(port: &Port, packet: &PacketView, room: bool) -> bool;
        fn stamp(port: &Port, packet: &PacketView, header: &mut [u64], now: Time);
        fn on_port_timer(port: &mut PortContext);
        fn on_drop(port: &mut PortContext, packet: &PacketView, origin: &Origin);
        fn intercept(port: &mut PortContext, packet: &PacketView, origin: &Origin) -> bool;
        fn absorb_signal(nic: u32, signal: &Signal) -> bool;
        fn on_signal(nic: u32, signal: &Signal);
    }
}
