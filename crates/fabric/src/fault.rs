//! Reasons why a part of the network cannot continue.

use thiserror::Error;

use weir_model::LONGEST_MESSAGE;
use weir_workload::tasks::Envelope;

/// Requests of an experiment that cannot be met, and are found only while it runs.
/// All are fatal for the run.
#[derive(Debug, Error)]
pub enum Fault {
    /// A message of an application has too many packets for a scheme that has to tell them apart.
    #[error(
        "the application {job:?} sends a message of {bytes} bytes, which are more than \
         4,294,967,295 packets, too many to count for a scheme that drops packets; make the \
         message smaller or nic.max_packet larger, or choose another congestion.scheme"
    )]
    TooLong {
        /// The workload's name.
        job: String,
        /// Length of the message.
        bytes: u64,
    },
    /// A message of an application is longer than any can be.
    #[error(
        "the application {job:?} sends a message of {bytes} bytes; at most {} are possible: make \
         its messages smaller, or give it fewer tasks where a collective operation puts those of \
         all tasks together",
        LONGEST_MESSAGE / 8
    )]
    Oversized {
        /// The workload's name.
        job: String,
        /// Length of the message, or the largest number if it is longer.
        bytes: u64,
    },
    /// A scheme has given a time that control packets cannot carry.
    #[error(
        "the congestion control tells a source of the workload {job:?} to send more than 281 s \
         after its message was generated, which cannot be said in a packet: its destination is \
         asked for more than its link carries in that time; write a lower load, smaller messages \
         or faster links"
    )]
    GrantTooLate {
        /// The workload's name.
        job: String,
    },
    /// As much waits for a port, in an output queue without limit or of packets that routers send,
    /// as can be counted.
    #[error(
        "{flits} flits wait for port {port} of router {router} at {simulated_ps} ps, and more \
         cannot be counted; write a size if router.output_queue is \"unlimited\", a lower load, or \
         a larger router.flit"
    )]
    QueueFull {
        /// Simulated time, ps.
        simulated_ps: u64,
        /// The router.
        router: u32,
        /// Its port.
        port: u32,
        /// Their number.
        flits: u32,
    },
    /// A task does operations for ever without simulated time passing.
    #[error(
        "task {task} of the application {job:?} has gone through a million iterations or \
         repetitions in no simulated time; write fewer, or give it something to do: time to \
         compute, or messages to other tasks"
    )]
    Idle {
        /// The workload's name.
        job: String,
        /// The task.
        task: u32,
    },
    /// Timers of a scheme expire for ever without simulated time passing.
    #[error(
        "timers of the congestion control \"{scheme}\" have expired {} times at {simulated_ps} ps, \
         and set new ones for the same moment; a timer that sets itself again has to wait",
        Fault::MOST_TIMERS
    )]
    Timers {
        /// The scheme's name.
        scheme: &'static str,
        /// Simulated time, ps.
        simulated_ps: u64,
    },
    /// A packet is at the wrong endpoint.
    #[error(
        "the routing has led a packet for endpoint {to} to endpoint {at}; at the router of its \
         destination it has to leave by the port of that endpoint"
    )]
    Misrouted {
        /// The packet's destination.
        to: u32,
        /// The endpoint that it has come to.
        at: u32,
    },
    /// A packet goes around in circles.
    #[error(
        "a packet for endpoint {to} has visited 255 routers, the last of them router {router}, \
         but no route of its routing visits more than {most}: it goes around in circles"
    )]
    Circles {
        /// The packet's destination.
        to: u32,
        /// The router where it is.
        router: u32,
        /// Most routers of a route, as the routing says.
        most: u32,
    },
    /// Messages between tasks can no longer be told apart.
    #[error(
        "messages from task {from} to task {task} of the application {job:?} have overtaken each \
         other by more than {} places, and cannot be put in order; choose a routing by one path, \
         or send fewer and longer messages",
        Envelope::MOST_AHEAD
    )]
    Overtaken {
        /// The workload's name.
        job: String,
        /// The receiver.
        task: u32,
        /// The sender.
        from: u32,
    },
    /// A message of an application leads out of its plane.
    #[error(
        "the application {job:?} sends a message from endpoint {from} to endpoint {to}, which is \
         in another plane, and no link leads there; let only tasks of a node or of a plane send to \
         each other, or give each task a NIC in each plane"
    )]
    OtherPlane {
        /// The workload's name.
        job: String,
        /// The sender's endpoint.
        from: u32,
        /// The receiver's.
        to: u32,
    },
}

impl Fault {
    /// Timers of a scheme that may expire in one domain at one moment.
    pub(crate) const MOST_TIMERS: u32 = 1 << 24;
}
