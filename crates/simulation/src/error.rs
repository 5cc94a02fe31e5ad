//! Reasons why a valid run did not come to its end.

use thiserror::Error;

use weir_engine::TransportError;
use weir_fabric::{Deadlock, Fault, Halt};
use weir_input::Duration;
use weir_model::program::exit;
use weir_model::{LATEST, Time};

/// Remedy if long sends wait for receives that their tasks have not come to.
const POSTED_LATE: &str = "long messages wait for their receives: start the receives before the \
                           sends, or raise mpi.rendezvous_from of the workload above their size";

/// Remedy if messages are missing.
const UNMATCHED: &str = "complete the program: each receive needs a send with its tag, and a \
                         receive from any task may have taken the message of another";

/// Reasons why a valid run did not come to its end. All are fatal for the run.
#[derive(Debug, Error)]
pub enum RunError {
    /// Packets are in flight and can never move again.
    #[error("the network is deadlocked, as seen at {}: {deadlock}", Duration(*simulated_ps))]
    Deadlocked {
        /// Simulated time when it was noticed.
        simulated_ps: u64,
        /// The cycle.
        deadlock: Deadlock,
    },
    /// The tasks of an application wait for each other, or for messages that are never sent.
    #[error(
        "the application {job:?} hangs, as seen at {}: {tasks} of its tasks wait for ever, with no \
         message on its way and nothing to compute: {}{}; {}",
        Duration(*simulated_ps),
        waiting.join("; "),
        if *tasks > waiting.len() as u64 { "; …" } else { "" },
        if *rendezvous { POSTED_LATE } else { UNMATCHED }
    )]
    Hung {
        /// Simulated time when it was noticed.
        simulated_ps: u64,
        /// The workload's name.
        job: String,
        /// Tasks that are not done.
        tasks: u64,
        /// The first of them with the operations they wait for; empty on ranks other than 0.
        waiting: Vec<String>,
        /// True if one of those waits for the receive of a long message.
        rendezvous: bool,
    },
    /// Nothing is left to happen but packets are in flight, and no cycle explains it.
    #[error(
        "nothing moves, as seen at {}, while {in_flight} packets are in flight or wait at their \
         sources, and no deadlock explains it; does a scheme of your own hold them back for ever \
         (`ready_at`; the capabilities `windows` and `listens`), or does a topology of your own \
         have links that do not lead back? Otherwise this is a defect of weir, please report it \
         with the experiment file",
        Duration(*simulated_ps)
    )]
    Stuck {
        /// Simulated time when it was noticed.
        simulated_ps: u64,
        /// Packets in flight.
        in_flight: u64,
    },
    /// A run to completion has reached the end of time.
    #[error(
        "the run is not complete at {} s of simulated time, which is the latest there is; end it \
         at a time (run.until), or write shorter times",
        LATEST / 1_000_000_000_000
    )]
    Endless,
    /// More payload than can be counted.
    #[error(
        "the messages or packets of this run may have more than 2^64 bits together, which cannot \
         be counted; end it earlier (run.until), or write smaller messages and a smaller \
         nic.max_packet"
    )]
    Uncounted,
    /// A count does not come out.
    #[error(
        "conservation is violated: {0}; does a motif of your own send what no task receives? \
         Otherwise this is a defect of weir, please report it with the experiment file"
    )]
    Conservation(String),
    /// A part of the network cannot continue.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// No checkpoint can be loaded.
    #[error("{0}; --force starts anew, and replaces the checkpoints")]
    Checkpoint(String),
    /// A checkpoint cannot be read or removed now, and may be whole.
    #[error("{0}; mend that and start the same command again, or write elsewhere with --out")]
    Unreachable(String),
    /// The run ended before it forked.
    #[error(
        "the run is complete before {} ns of simulated time, when it forks; write an earlier \
         fork.at",
        *.0 as f64 / 1e3
    )]
    NoFork(Time),
    /// The state of the base cannot go on with the values after the fork.
    #[error(
        "the run cannot go on with the values of [fork] set: {0}; leave the keys of such state \
         as they are, or run the two as separate experiments"
    )]
    Fork(String),
    /// A message between ranks did not come through.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl RunError {
    /// The error of a run that was halted; `own` is the error of its observer.
    pub(crate) fn of(halt: Halt, own: Option<RunError>) -> RunError {
        match (own, halt) {
            (Some(error), _) => error,
            (None, Halt::Fault(fault)) => fault.into(),
            (None, Halt::Transport(error)) => error.into(),
            (None, Halt::Observer) => unreachable!("an observer that ends a run says why"),
        }
    }

    /// The [exit code](exit) of the process. "Bad input" stands for all that a user can mend.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::Deadlocked { .. } | RunError::Stuck { .. } | RunError::Hung { .. } => {
                exit::STALLED
            }
            RunError::Fault(_)
            | RunError::Endless
            | RunError::Uncounted
            | RunError::NoFork(_)
            | RunError::Fork(_)
            | RunError::Checkpoint(_) => exit::BAD_INPUT,
            RunError::Conservation(_) | RunError::Transport(_) | RunError::Unreachable(_) => {
                exit::FAILED
            }
        }
    }
}
