use thiserror::Error;

use crate::engine::TransportError;
use crate::fabric::Deadlock;

/// Why a run that was well asked for did not come to its end. All are fatal for the run.
#[derive(Debug, Error)]
pub enum RunError {
    /// Packets are in flight and can never move again.
    #[error("the network is deadlocked at {simulated_ps} ps: {deadlock}")]
    Deadlocked {
        /// When it was noticed.
        simulated_ps: u64,
        /// The cycle; empty on ranks other than 0.
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
        /// Tasks that are not done; 0 on ranks other than 0.
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
            RunError::TooLong { .. } => 2,
            RunError::Conservation(_) | RunError::Transport(_) => 1,
        }
    }
}
