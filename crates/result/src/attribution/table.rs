//! `/data/attribution` in memory.

use weir_model::table::{attributes, columns};
use weir_model::{EndpointId, PortId, RouterId, Time};

/// `/data/attribution`: backlog by owner, place and cause. In bytes times seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribution {
    /// Attributes of the group.
    pub looks: Looks,
    /// `/data/attribution/waits`.
    pub waits: Waits,
    /// `/data/attribution/pressure`.
    pub pressure: Pressure,
    /// `/data/attribution/elsewhere`.
    pub elsewhere: Elsewhere,
}

attributes! {
    /// `/data/attribution`: times at which the ports were examined.
    pub struct Looks {
        interval_ps: Time, "ps", "time between two looks at the ports; twice as much after 512 of \
            them or earlier, and so on";
        bin_ps: Time, "ps", "width of a time bin";
        sources: bool, "1", "1 if senders and receivers are told apart, 0 if not";
    }
}

columns! {
    /// `/data/attribution/waits`: one row per time bin, port and job (or job, source and
    /// destination).
    pub struct Waits of WaitRow {
        time_ps: Time, "ps", "start of the time bin";
        router: RouterId, "1", "router";
        port: PortId, "1", "port of the router";
        nic: u16, "1", "0: what waited in the router to leave by the port; 1: what waited in the \
            NIC behind the port to go to the router";
        job: u32, "1", "index of the job";
        source: EndpointId, "1", "sending endpoint; 4294967295 if senders are not told apart";
        destination: EndpointId, "1", "receiving endpoint; 4294967295 if senders are not told \
            apart";
        full: f64, "B s", "data times the time that it waited for the link, which was full: busy \
            for nine tenths of each of the last two intervals";
        queued: f64, "B s", "the same while the link was not full: for its turn, or for the \
            crossbar";
        starved: f64, "B s", "the same for room in the buffer behind the link";
    }
}

columns! {
    /// `/data/attribution/pressure`: one row per time bin, input and output of a router.
    pub struct Pressure of PressureRow {
        time_ps: Time, "ps", "start of the time bin";
        router: RouterId, "1", "router";
        from_port: PortId, "1", "port by which it had come";
        port: PortId, "1", "port for which it waited";
        waited: f64, "B s", "data times the time that it waited";
    }
}

columns! {
    /// `/data/attribution/elsewhere`: one row per time bin and job, of ports that have no rows in
    /// `waits`.
    pub struct Elsewhere of ElsewhereRow {
        time_ps: Time, "ps", "start of the time bin";
        job: u32, "1", "index of the job";
        queued: f64, "B s", "data times the time that it waited for its turn";
    }
}
