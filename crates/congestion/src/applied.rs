//! A scheme at work in one domain: its rules with their state, behind one object for all schemes.

use std::sync::Arc;

use super::context::{NicContext, PacketView, Port, PortContext};
use super::record::Record;
use super::scheme::{Acts, Capabilities, FlowRate, Handshake};
use super::{About, Rules};
use weir_model::codec::{self, CodecError};
use weir_model::{Classes, ControlKind, EndpointId, FlowStep, Invalid, Origin, Signal, Time};

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

            /// Goes on from a state that was saved by the same scheme in the same domain.
            ///
            /// # Errors
            ///
            /// If the bytes are no such state. The present one is kept then.
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
        fn header_words() -> usize;
        fn loss() -> f64;
        fn handshake(message_bits: u64) -> Handshake;
        fn mark_from() -> u32;
        fn timeout() -> Time;
        fn signal_delay() -> Option<Time>;
    }
    looks {
        fn counts() -> Vec<u64>;
        fn memory_bytes() -> usize;
        fn queueing_limit(port: &Port) -> Time;
    }
    hooks {
        fn on_submit(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_message_sent(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_message_received(nic: &mut dyn NicContext, message: &Origin);
        fn on_message(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn ready_at(nic: u32, to: EndpointId, now: Time) -> Time;
        fn rate(nic: u32, to: EndpointId, now: Time) -> Option<FlowRate>;
        fn on_flow_start(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_flow_packet(port: &Port, step: FlowStep, header: &mut [u64]);
        fn on_flow_back(nic: &mut dyn NicContext, to: EndpointId, step: FlowStep);
        fn on_flow_end(nic: &mut dyn NicContext, to: EndpointId, message: &Origin);
        fn on_sent(nic: &mut dyn NicContext, packet: &PacketView, tail: Time);
        fn allowed_rate(nic: u32, now: Time) -> f64;
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
