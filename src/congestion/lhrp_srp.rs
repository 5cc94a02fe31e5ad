use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::handshake::Handshakes;
use super::lhrp::Policy;
use super::refusals::{BATCH, Refusals};
use super::scheduler::Scheduler;
use super::{About, AnyScheme, Build, Desk, Port, SLACK, Scheme};
use crate::config::{Duration, Size};
use crate::model::{Classes, EndpointId, Origin, PacketKind, Time};
use crate::registry::Entry;

/// LHRP for small messages and SRP for large ones, with one schedule per endpoint, which the router in front of it
/// holds: reservations end there, and grants begin there. The speculative packets of both are dropped as LHRP's are.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// Messages of this size and more begin with a reservation (SRP), smaller ones do not (LHRP).
    reserve_from: Size,
    /// Flits queued for an endpoint in its router, of all classes, beyond which speculative packets are dropped.
    threshold: Size,
    /// Whether routers before the last drop, too: packets that have been in queues for longer than `timeout`.
    fabric_drop: bool,
    /// With `fabric_drop`: how long a speculative packet may be in queues before the last router; at most 16 us.
    timeout: Duration,
    /// How often a packet of a small message is sent again speculatively after such a loss before it goes with a
    /// reservation, 0 to 200.
    retries: u8,
    /// How much time a schedule books for each flit that is asked for, over the time that it takes; at least 1.
    slack: f64,
    /// The probability with which every router drops a speculative packet, 0 to 1: to test recovery.
    loss: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            reserve_from: Size::Flits(48),
            threshold: Size::Flits(1_000),
            fabric_drop: false,
            timeout: Duration(1_000_000),
            retries: 3,
            slack: SLACK,
            loss: 0.0,
        }
    }
}

/// See [`Parameters`].
#[derive(Clone, Debug)]
pub struct LhrpSrp {
    about: About,
    /// Flits.
    reserve_from: u64,
    policy: Policy,
    large: Handshakes,
    small: Refusals,
    scheduler: Scheduler,
}

impl LhrpSrp {
    fn is_large(&self, bits: u64) -> bool {
        self.about.packets(bits).1 >= self.reserve_from
    }
}

impl Scheme for LhrpSrp {
    const SPECULATES: bool = true;
    const RESERVES: bool = true;
    const LAST_HOP_GRANTS: bool = true;

    fn name(&self) -> &'static str {
        "lhrp_srp"
    }

    fn classes(&self) -> Classes {
        Classes::RESERVED
    }

    fn prepare(&mut self, _nics: usize, outputs: usize) {
        self.scheduler.prepare(outputs);
    }

    fn loss(&self) -> f64 {
        self.policy.loss
    }

    fn begin<D: Desk>(&mut self, desk: &mut D, to: EndpointId, message: &Origin) -> bool {
        let large = self.is_large(message.message_bits);
        if large {
            self.large.begin(desk, to, message);
        }
        large
    }

    fn heard<D: Desk>(&mut self, desk: &mut D, origin: &Origin, _marked: bool) {
        match PacketKind::ALL[usize::from(origin.kind)] {
            PacketKind::Ack => self.large.acknowledged(desk, origin),
            PacketKind::Nack if self.is_large(origin.message_bits) => {
                self.large.lost(desk, origin);
            }
            PacketKind::Nack => self.small.lost(desk, origin),
            PacketKind::Grant if origin.tries == BATCH => self.small.granted(desk, origin),
            PacketKind::Grant => self.large.granted(desk, origin),
            PacketKind::Data | PacketKind::Reservation => {}
        }
    }

    fn allowed(&self, port: &Port) -> Time {
        self.policy.allowed(port)
    }

    /// A large message has a reservation of its own.
    fn refuse(&mut self, port: &Port, origin: &Origin, flits: u16, now: Time) -> Option<Time> {
        if !port.last_hop || self.is_large(origin.message_bits) {
            return None;
        }
        Some(self.scheduler.book(port.output, u64::from(flits), now))
    }

    fn grant(&mut self, port: &Port, flits: u64, now: Time) -> Time {
        self.scheduler.book(port.output, flits, now)
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "lhrp_srp",
    summary: "LHRP for small messages and SRP for large ones, on one schedule in the last router.",
    source: "000 section 6.4",
    parameters: || schema_for!(Parameters),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        let policy = Policy::new(
            section,
            about,
            parameters.threshold,
            parameters.fabric_drop,
            parameters.timeout,
            parameters.loss,
        )?;
        let longest = u64::from(about.max_packet);
        Ok(AnyScheme::LhrpSrp(LhrpSrp {
            about: *about,
            reserve_from: parameters.reserve_from.flits(about.flit, longest),
            policy,
            large: Handshakes::new(*about),
            small: Refusals::new(section, *about, parameters.retries)?,
            scheduler: Scheduler::new(section, *about, parameters.slack, 0)?,
        }))
    },
};
