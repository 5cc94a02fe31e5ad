use thiserror::Error;

use crate::engine::TransportError;
use crate::fabric::Deadlock;
use crate::model::{LATEST, LONGEST_MESSAGE};
use crate::workload::tasks::Envelope;

/// Why a run that was well asked for did not come to its end. All are fatal for the run.
#[derive(Debug, Error)]
pub enum RunError {
    /// Packets are in flight and can never move again.
    #[error("the network is deadlocked at {simulated_ps} ps: {deadlock}")]
    Deadlocked {
        /// When it was noticed.
        simulated_ps: u64,
        /// The cycle.
        deadlock: Deadlock,
    },
    /// The tasks of an application wait for each other, or for messages that nobody sends.
    #[error(
        "the application {job:?} hangs at {simulated_ps} ps: {tasks} of its tasks wait for ever, with no message on its \
         way and nothing to compute: {}{}",
        waiting.join("; "),
        if *tasks > waiting.len() as u64 { "; …" } else { "" }
    )]
    Hung {
        /// When it was noticed.
        simulated_ps: u64,
        /// The workload's name.
        job: String,
        /// Tasks that are not done.
        tasks: u64,
        /// The first of them and what they wait for; empty on ranks other than 0.
        waiting: Vec<String>,
    },
    /// Nothing is left to happen but packets are in flight, and no cycle explains it.
    #[error(
        "nothing moves at {simulated_ps} ps while {in_flight} packets are in flight, and no deadlock explains it; \
         this is a defect of weir, please report it with the experiment file"
    )]
    Stuck {
        /// When it was noticed.
        simulated_ps: u64,
        /// Packets in flight.
        in_flight: u64,
    },
    /// A message of an application has too many packets for a scheme that has to tell them apart.
    #[error(
        "the application {job:?} sends a message of {bytes} bytes, which are more than 4,294,967,295 packets, too many to \
         count for a scheme that drops packets; make the message smaller or nic.max_packet larger, or choose another \
         congestion.scheme"
    )]
    TooLong {
        /// The workload's name.
        job: String,
        /// Length of the message.
        bytes: u64,
    },
    /// A message of an application is longer than any can be.
    #[error(
        "the application {job:?} sends a message of {bytes} bytes; at most {} are possible: make its messages smaller, or \
         give it fewer tasks where a collective operation puts those of all tasks together",
        LONGEST_MESSAGE / 8
    )]
    Oversized {
        /// The workload's name.
        job: String,
        /// Length of the message, or the largest number if it is longer.
        bytes: u64,
    },
    /// A run to completion has reached the end of time.
    #[error(
        "the run is not complete at {} s of simulated time, which is the latest there is; end it at a time (run.until), \
         or write shorter times",
        LATEST / 1_000_000_000_000
    )]
    Endless,
    /// A scheme has given a time that control packets cannot carry.
    #[error(
        "the congestion control tells a source of the workload {job:?} to send more than 281 s after its message was \
         generated, which cannot be said in a packet: its destination is asked for more than its link carries in that \
         time; write a lower load, smaller messages or faster links"
    )]
    GrantTooLate {
        /// The workload's name.
        job: String,
    },
    /// An output queue without limit holds as much as can be counted.
    #[error(
        "an output queue at port {port} of router {router} holds {flits} flits at {simulated_ps} ps, and more cannot be \
         counted, though router.output_queue is \"unlimited\"; write a size, a lower load, or a larger router.flit"
    )]
    QueueFull {
        /// When.
        simulated_ps: u64,
        /// The router.
        router: u32,
        /// Its port.
        port: u32,
        /// What is in the queue.
        flits: u32,
    },
    /// A task goes on and on in no time.
    #[error(
        "task {task} of the application {job:?} has gone through a million iterations or repetitions in no simulated time; \
         write fewer, or give it something to do: time to compute, or messages to other tasks"
    )]
    Idle {
        /// The workload's name.
        job: String,
        /// The task.
        task: u32,
    },
    /// Messages between tasks can no longer be told apart.
    #[error(
        "messages from task {from} to task {task} of the application {job:?} have overtaken each other by more than {} \
         places, and cannot be put in order; choose a routing by one path, or send fewer and longer messages",
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
    /// More payload than can be counted.
    #[error(
        "the messages or packets of this run may have more than 2^64 bits together, which cannot be counted; end it earlier \
         (run.until), or write smaller messages and a smaller nic.max_packet"
    )]
    Uncounted,
    /// A count does not come out.
    #[error(
        "conservation is violated: {0}; this is a defect of weir, please report it with the experiment file"
    )]
    Conservation(String),
    /// A message between ranks did not come through.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl RunError {
    /// The exit code of the process: 4 for a stall, 2 for what a user can mend, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::Deadlocked { .. } | RunError::Stuck { .. } | RunError::Hung { .. } => 4,
            RunError::TooLong { .. }
            | RunError::Oversized { .. }
            | RunError::Endless
            | RunError::Uncounted
            | RunError::Idle { .. }
            | RunError::Overtaken { .. }
            | RunError::GrantTooLate { .. }
            | RunError::QueueFull { .. } => 2,
            RunError::Conservation(_) | RunError::Transport(_) => 1,
        }
    }
}
