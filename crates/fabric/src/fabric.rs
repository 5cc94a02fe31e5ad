//! The domains of one rank, whichever copy of the fabric they are compiled for.

use std::io::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::domain::FabricDomain;
use crate::fault::Fault;
use crate::record::report::DomainReport;
use crate::record::stall::Wait;
use crate::setup::blueprint::Blueprint;
use crate::setup::fork::Fork;
use crate::setup::network::Network;
use crate::setup::plain::{Compiled, Controlled, Plain, Rich, is_controlled, is_rich};
use crate::state::hosts::JobState;
use crate::state::records::stats::Stats;
use crate::state::records::task_log::TaskStep;
use crate::state::records::watch::Step;
use weir_congestion::Scheme;
use weir_engine::{
    Crew, Domain, End, Monitor, Progress, Schedule, Settled, Share, Start, StopReason, Task,
    Transport, TransportError, run,
};
use weir_model::codec::CodecError;
use weir_model::{DomainId, NEVER, Time};
use weir_workload::tasks::Waiting;

/// A domain between two windows.
pub trait Part {
    /// Its number.
    fn id(&self) -> DomainId;
    /// Packet-hops so far, and packets dropped.
    fn moved(&self) -> u64;
    /// Counters.
    fn stats(&self) -> &Stats;
    /// The steps of watched packets in this domain.
    fn steps(&self) -> &[Step];
    /// Log of the tasks of this domain, if one is kept.
    fn take_task_log(&mut self) -> Vec<TaskStep>;
    /// Packets in queues and on wires. Packets that wait in a NIC to be injected do not count.
    fn packets_in_flight(&self) -> u64;
    /// Messages of which something waits in its NIC.
    fn messages_waiting(&self) -> usize;
    /// Bytes of memory of the state without packets in flight, and of packets in flight.
    fn memory_bytes(&self) -> (usize, usize);
    /// Blocked places, and the places that each of them waits for.
    fn waits(&self) -> Vec<Wait>;
    /// Progress of the tasks of each job in this domain.
    fn job_states(&self) -> &[JobState];
    /// Waiting tasks of a job with the operations they wait for, at most `most` of them.
    fn waiting_tasks(&self, job: u16, most: usize) -> Vec<Waiting>;
    /// The last delivery or end of a task, ps.
    fn last_activity(&self) -> Time;
    /// Counts of a run that ended at `end`.
    fn report(&mut self, end: Time) -> DomainReport;
    /// Writes the state as bytes. Between two pieces of windows only.
    ///
    /// # Errors
    /// If it cannot be written.
    fn save(&self, out: &mut dyn Write) -> Result<(), CodecError>;
    /// Continues from a saved state of the same domain of the same experiment, or of one from which
    /// this one forks. Only for a domain that has just been built.
    ///
    /// # Errors
    /// If the bytes are no such state. The domain is unusable then.
    fn load(&mut self, bytes: &[u8], fork: Option<&Fork>) -> Result<(), CodecError>;
}

/// Makes [`Part`] of the methods of [`FabricDomain`] of the same names.
macro_rules! part {
    (
        $(see $see:ident($($a:ident: $at:ty),*) -> $sr:ty;)*
        $(change $change:ident($($b:ident: $bt:ty),*) -> $cr:ty;)*
    ) => {
        impl<K: Compiled> Part for FabricDomain<K> {
            fn id(&self) -> DomainId {
                Domain::id(self)
            }
            fn moved(&self) -> u64 {
                Domain::moved(self)
            }
            $(fn $see(&self, $($a: $at),*) -> $sr {
                FabricDomain::$see(self, $($a),*)
            })*
            $(fn $change(&mut self, $($b: $bt),*) -> $cr {
                FabricDomain::$change(self, $($b),*)
            })*
        }
    };
}

part! {
    see stats() -> &Stats;
    see steps() -> &[Step];
    see packets_in_flight() -> u64;
    see messages_waiting() -> usize;
    see memory_bytes() -> (usize, usize);
    see waits() -> Vec<Wait>;
    see job_states() -> &[JobState];
    see waiting_tasks(job: u16, most: usize) -> Vec<Waiting>;
    see last_activity() -> Time;
    see save(out: &mut dyn Write) -> Result<(), CodecError>;
    change take_task_log() -> Vec<TaskStep>;
    change report(end: Time) -> DomainReport;
    change load(bytes: &[u8], fork: Option<&Fork>) -> Result<(), CodecError>;
}

/// Domains with all mail delivered.
pub trait Parts {
    /// All of them, in order.
    fn parts(&mut self) -> Vec<&mut dyn Part>;
}

impl<K: Compiled> Parts for Vec<FabricDomain<K>> {
    fn parts(&mut self) -> Vec<&mut dyn Part> {
        self.iter_mut().map(|one| one as &mut dyn Part).collect()
    }
}

impl<K: Compiled> Parts for Settled<'_, FabricDomain<K>> {
    fn parts(&mut self) -> Vec<&mut dyn Part> {
        let domains = self.domains().iter_mut();
        domains.map(|one| one as &mut dyn Part).collect()
    }
}

/// Reasons why a run does not come to its end.
#[derive(Debug, Error)]
pub enum Halt {
    /// A domain cannot continue.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A message between ranks did not come through.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The observer has ended it, and has the reason.
    #[error("the run was ended by its observer")]
    Observer,
}

/// Looks after a run from outside, on every rank: see [`Monitor`].
pub trait Watcher {
    /// Reason why this rank wants the run to end here.
    fn stop(&mut self) -> Option<StopReason>;
    /// True if this rank wants the state of the run here: see [`Monitor::wants_state`].
    fn wants_state(&mut self) -> bool {
        false
    }
    /// A time at which a piece of a window ends, ps: see [`Monitor::cut`].
    fn cut(&self) -> Time {
        NEVER
    }
    /// Maximum wall-clock time before the run must react to that.
    fn heed_within(&self) -> Duration;
    /// Called on all ranks after every piece of a window; false ends the run with
    /// [`Halt::Observer`], on all ranks.
    fn observe(
        &mut self,
        parts: &mut dyn Parts,
        transport: &mut dyn Transport,
        progress: Progress,
    ) -> bool;
}

struct Watched<'a>(&'a mut dyn Watcher);

impl<'t, K: Compiled> Monitor<FabricDomain<K>, dyn Transport + 't> for Watched<'_> {
    type Error = Halt;

    fn stop(&mut self) -> Option<StopReason> {
        self.0.stop()
    }

    fn wants_state(&mut self) -> bool {
        self.0.wants_state()
    }

    fn cut(&self) -> Time {
        self.0.cut()
    }

    fn heed_within(&self) -> Duration {
        self.0.heed_within()
    }

    fn observe(
        &mut self,
        settled: &mut Settled<FabricDomain<K>>,
        transport: &mut (dyn Transport + 't),
        progress: Progress,
    ) -> Result<(), Halt> {
        match self.0.observe(settled, transport, progress) {
            true => Ok(()),
            false => Err(Halt::Observer),
        }
    }
}

/// The domains of one rank, and the threads that run them.
pub struct Fabric {
    domains: Domains,
    share: Share,
    crew: Crew,
    /// Wall-clock time in which they were built.
    pub built: Duration,
}

enum Domains {
    Plain(Vec<FabricDomain<Plain>>),
    Controlled(Vec<FabricDomain<Controlled>>),
    Rich(Vec<FabricDomain<Rich>>),
}

impl Fabric {
    /// The domains of the rank of a transport, before anything has happened; at most `threads`
    /// threads build and run them.
    pub fn new(
        blueprint: &Blueprint,
        scheme: &dyn Scheme,
        transport: &dyn Transport,
        threads: usize,
    ) -> Fabric {
        let begun = Instant::now();
        let share = Share {
            domains: blueprint.network.partition.domains(),
            ranks: transport.size(),
        };
        let ids = share.of(transport.rank());
        let mut crew = Crew::new(threads.min(ids.len()));
        let plan = (blueprint, scheme);
        let domains = match (is_rich(blueprint), is_controlled(scheme)) {
            (true, _) => Domains::Rich(built(ids, plan, &mut crew)),
            (false, true) => Domains::Controlled(built(ids, plan, &mut crew)),
            (false, false) => Domains::Plain(built(ids, plan, &mut crew)),
        };
        Fabric {
            domains,
            share,
            crew,
            built: begun.elapsed(),
        }
    }

    /// Runs from `start` to the end of the schedule.
    /// Returns why it ended and the place that it has reached.
    ///
    /// # Errors
    /// The failure that keeps the run from its end, on any rank.
    pub fn run(
        &mut self,
        network: &Network,
        schedule: Schedule,
        start: Start,
        transport: &mut dyn Transport,
        watcher: &mut dyn Watcher,
    ) -> Result<(End, Start), Halt> {
        let task = Task {
            share: self.share,
            crew: &mut self.crew,
            schedule,
            start,
        };
        let mut watched = Watched(watcher);
        let of = |id| network.neighbours(id);
        match &mut self.domains {
            Domains::Plain(all) => run(all, task, transport, of, &mut watched),
            Domains::Controlled(all) => run(all, task, transport, of, &mut watched),
            Domains::Rich(all) => run(all, task, transport, of, &mut watched),
        }
    }

    /// Takes a last look at every domain, in order, and gives back its memory after that.
    pub fn take_apart(self, look: &mut dyn FnMut(&mut dyn Part)) {
        match self.domains {
            Domains::Plain(all) => all.into_iter().for_each(|mut one| look(&mut one)),
            Domains::Controlled(all) => all.into_iter().for_each(|mut one| look(&mut one)),
            Domains::Rich(all) => all.into_iter().for_each(|mut one| look(&mut one)),
        }
    }

    /// Number of threads that run the domains.
    pub fn threads(&self) -> usize {
        self.crew.size()
    }
}

/// Domains before anything has happened.
fn built<K: Compiled>(
    ids: Range<DomainId>,
    (blueprint, scheme): (&Blueprint, &dyn Scheme),
    crew: &mut Crew,
) -> Vec<FabricDomain<K>> {
    let domain = |at| FabricDomain::new(ids.start + at as DomainId, blueprint, scheme);
    crew.map(ids.len(), domain)
}

impl Parts for Fabric {
    fn parts(&mut self) -> Vec<&mut dyn Part> {
        match &mut self.domains {
            Domains::Plain(all) => all.parts(),
            Domains::Controlled(all) => all.parts(),
            Domains::Rich(all) => all.parts(),
        }
    }
}
