//! Schedules that grant sources times to send.

use super::kinds::GRANT;
use super::record::{Place, Record, RecordColumn, column};
use super::{NicContext, PacketView, PortContext, grant, nack, times};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, LinkRate, Origin, Time};

const COLUMNS: &[RecordColumn] = &[
    column("source", "1", "the endpoint that may send"),
    column("flits", "1", "how much was asked for, or dropped"),
    column("granted_ps", "ps", "the time that it was given"),
    column(
        "wait_ps",
        "ps",
        "from the row's time to the time that was given: how far the schedule is full",
    ),
];

/// Record of the grants of endpoint schedules.
pub const AT_ENDPOINTS: &[Record] = &[Record {
    name: "grants",
    about: "A destination has answered a reservation.",
    place: Place::Endpoint,
    columns: COLUMNS,
}];

/// Record of the grants of schedules at the last router.
pub const AT_PORTS: &[Record] = &[Record {
    name: "grants",
    about: "The last router before an endpoint has given a time to send: for a packet that it \
            dropped, or to a reservation.",
    place: Place::Port,
    columns: COLUMNS,
}];

/// Grants endpoints times to send: one schedule per endpoint (Jiang et al., SC15, sections 2.2 and
/// 3.2).
///
/// Granted packets arrive a round trip later than the time that was free when it was granted. If
/// the schedule granted every time, late packets would stay queued as long as the schedule is full.
/// It therefore books a little more than is requested; speculative packets use the rest.
///
/// The schedules themselves are a table by NIC or output: the time up to which a link is booked,
/// ps.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// Time booked for each requested flit, in flit times.
    slack: f64,
    /// Flits booked in addition: the reservation itself, if it takes the endpoint's link.
    overhead: u64,
}

impl Scheduler {
    /// Checks `slack`: a schedule that books less than is sent would overload its endpoint for
    /// ever.
    pub fn new(section: &Section, slack: f64, overhead: u64) -> Result<Self, ConfigError> {
        if !(1.0..=100.0).contains(&slack) {
            let what = "a schedule has to book at least what is sent";
            let remedy = "give a number from 1 to 100, such as 1.05";
            return Err(section.refuse(Invalid::new("slack", what, remedy)));
        }
        Ok(Scheduler { slack, overhead })
    }

    /// The first free time for this number of flits.
    fn book(&self, booked: &mut Time, link: LinkRate, flits: u64, now: Time) -> Time {
        let start = now.max(*booked);
        let time = link.time_of(flits.saturating_add(self.overhead));
        *booked = start.saturating_add(times(self.slack, time as f64));
        start
    }

    /// The first free time for this number of a source's flits, at a port of the last router.
    fn book_at(
        &self,
        booked: &mut [Time],
        port: &mut PortContext,
        source: EndpointId,
        flits: u64,
    ) -> Time {
        let own = &mut booked[port.port.output as usize];
        let at = self.book(own, port.port.rate, flits, port.now);
        port.record(0, &[source.into(), flits, at, at - port.now]);
        at
    }

    /// Refuses a packet that a port of the last router has dropped, with the time to send it again.
    pub fn refuse_at(
        &self,
        booked: &mut [Time],
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) {
        let time = self.book_at(booked, port, packet.source, packet.flits.into());
        port.send(nack(packet, origin, Some(time)));
    }

    /// Answers a reservation at a port of the last router, on behalf of the endpoint.
    pub fn answer_at(
        &self,
        booked: &mut [Time],
        port: &mut PortContext,
        packet: &PacketView,
        origin: &Origin,
    ) {
        let time = self.book_at(booked, port, origin.source, origin.flits());
        port.send(grant(packet, origin, time));
    }

    /// Answers a reservation at the endpoint's own NIC.
    pub fn answer(&self, booked: &mut [Time], nic: &mut dyn NicContext, origin: &Origin) {
        let (now, flits) = (nic.now(), origin.flits());
        let at = self.book(&mut booked[nic.nic() as usize], nic.link(), flits, now);
        nic.record(0, &[origin.source.into(), flits, at, at - now]);
        nic.reply(GRANT, origin.source, origin.with_time(Some(at)));
    }
}
