//! The loop over windows: domains run, exchange mail, and agree when to stop.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::crew::Crew;
use super::interleave::{Interleaving, interleave};
use super::pace::Pace;
use super::post_office::PostOffice;
use super::{Agreement, Domain, Share, Transport, TransportError};
use weir_model::{DomainId, NEVER, Time};

/// Beginning, end and length of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Length of a window, ps: at most the lookahead, more than 0.
    pub window: Time,
    /// No event at or after this time is processed; [`NEVER`] runs until nothing is left to do.
    pub end: Time,
    /// Set if mail can take effect sooner than a window ends. Possible on a single rank only.
    pub interleaving: Option<Interleaving>,
}

/// Start of a run: its beginning, or the end of a piece of a window of an earlier run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Everything before this has been simulated, ps.
    pub until: Time,
    /// End of the window of that piece, ps: the same at the end of a window.
    pub closes: Time,
    /// Windows ended so far.
    pub windows: u64,
    /// True if anything moved on any rank in that window so far.
    pub moved: bool,
}

impl Start {
    /// Ends a piece: at the end of its window if nothing is left of that, and at the cut if nothing
    /// is left before it.
    fn close(&mut self, common: Agreement, cut: Option<Time>) {
        let left = self.closes.min(cut.unwrap_or(NEVER));
        if common.next >= left {
            self.until = left;
        }
        self.windows += u64::from(self.until == self.closes);
        self.moved |= common.still == 0;
    }

    /// Opens the window of the next event if the one before has ended.
    fn open(&mut self, next: Time, schedule: Schedule) {
        if self.until == self.closes {
            let begins = next - next % schedule.window;
            self.closes = begins.saturating_add(schedule.window).min(schedule.end);
            self.moved = false;
        }
    }
}

/// Reasons why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end of the schedule.
    Time,
    /// Nothing is left to do.
    Idle,
    /// Some rank asked for it. Everything before this time has been simulated, ps, and nothing
    /// after it.
    Asked(Time, StopReason),
    /// All domains are finished: at the end of the window before this time, ps.
    Finished(Time),
}

/// Reason for which some rank asks a run to stop before its end.
/// If ranks ask for different reasons, the first one of this list is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The wall-clock limit, `run.max_wall`.
    MaxWall,
    /// SIGINT, as Ctrl-C sends it.
    Interrupted,
    /// SIGTERM, as batch systems send it.
    Terminated,
    /// SIGHUP: the terminal is gone.
    HungUp,
    /// SIGUSR1, as batch systems send it some time before the limit.
    Announced,
    /// The limit of memory, `--max-memory`.
    MaxMemory,
}

/// The wish of a rank for the state of the run instead of its end: after all reasons to stop.
const SAVE: u64 = StopReason::ALL.len() as u64;

impl StopReason {
    /// All of them, in their order.
    pub const ALL: [StopReason; 6] = [
        StopReason::MaxWall,
        StopReason::Interrupted,
        StopReason::Terminated,
        StopReason::HungUp,
        StopReason::Announced,
        StopReason::MaxMemory,
    ];

    /// As results and messages name it.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::MaxWall => "max_wall",
            StopReason::Interrupted => "SIGINT",
            StopReason::Terminated => "SIGTERM",
            StopReason::HungUp => "SIGHUP",
            StopReason::Announced => "SIGUSR1",
            StopReason::MaxMemory => "max_memory",
        }
    }

    /// The one that the ranks have agreed on, if any of them asks for one.
    fn agreed(common: Agreement) -> Option<StopReason> {
        let number = usize::try_from(common.go_on).ok()?;
        StopReason::ALL.get(number).copied()
    }
}

/// State of the run after every piece of a window. The same on all ranks except for the moves.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The place that the run has reached, from which it could start.
    pub at: Start,
    /// The next time at which anything happens on any rank; [`NEVER`]: nothing.
    pub next: Time,
    /// Moves of this rank's domains since the start.
    pub moved_here: u64,
    /// Moves of the domain that moved most in each piece, added up: threads do not divide them.
    pub moved_alone: u64,
    /// True if some rank wants the state here, and none wants the end.
    pub save: bool,
    /// True if everything before [`Monitor::cut`] has been simulated here, and nothing after it.
    pub cut: bool,
}

impl Progress {
    /// Speed that the balance of this rank's domains allows on any number of threads, over that of
    /// one.
    pub fn balance(&self) -> f64 {
        match self.moved_alone {
            0 => 1.0,
            alone => self.moved_here as f64 / alone as f64,
        }
    }

    /// A run in which nothing happens before the place that a monitor asks for.
    fn begun(at: Start, next: Time, moved_here: u64) -> Progress {
        Progress {
            at,
            next,
            moved_here,
            moved_alone: 0,
            save: false,
            cut: true,
        }
    }

    /// True if a window ends here. Windows, unlike their pieces, do not depend on the clock.
    pub fn window_ended(&self) -> bool {
        self.at.until == self.at.closes
    }
}

/// Looks after a run from outside, on every rank.
pub trait Monitor<D: Domain, T: Transport + ?Sized> {
    /// Reason why a run does not come to its end: a domain, the transport, or the observer.
    type Error: From<D::Error> + From<TransportError>;

    /// True if this rank wants the run to end here.
    /// Asked after every piece of a window, just before the ranks agree on the next step: all end
    /// there together if one of them wants to.
    fn stop(&mut self) -> Option<StopReason>;

    /// True if this rank wants the state of the run here: then [`Progress::save`] is true on all.
    /// Asked where [`Monitor::stop`] is.
    fn wants_state(&mut self) -> bool {
        false
    }

    /// A time at which a piece of a window ends, ps, with [`Progress::cut`]: the same on all ranks.
    /// It is not if nothing happens before it.
    fn cut(&self) -> Time {
        NEVER
    }

    /// Maximum wall-clock time before the run must react to [`Monitor::stop`]: longer windows are
    /// cut into pieces.
    fn heed_within(&self) -> Duration;

    /// Called on all ranks after every piece of a window with the same facts.
    ///
    /// # Errors
    /// The failure that ends the run; the same on all ranks.
    fn observe(
        &mut self,
        settled: &mut Settled<D>,
        transport: &mut T,
        progress: Progress,
    ) -> Result<(), Self::Error>;
}

/// The part of a run that this rank takes.
pub struct Task<'a> {
    /// Distribution of the domains over the ranks.
    pub share: Share,
    /// The threads that run this rank's domains.
    pub crew: &'a mut Crew,
    /// Beginning, end and length of windows.
    pub schedule: Schedule,
    /// Start of the run.
    pub start: Start,
}

/// Runs the domains of this rank from its start until the end of the schedule, until nothing is
/// left to do on any rank, or until the monitor of some rank asks for the end. Returns why it ended
/// and the place that it has reached.
///
/// A window that takes long is run in pieces, so that the ranks hear of each other in time
/// (`Pace`). The place of the cut depends on the clock and changes no result: a piece is a shorter
/// window.
pub fn run<D, T, M>(
    domains: &mut [D],
    task: Task,
    transport: &mut T,
    neighbours_of: impl Fn(DomainId) -> Vec<DomainId>,
    monitor: &mut M,
) -> Result<(End, Start), M::Error>
where
    D: Domain + Send,
    D::Error: Send,
    T: Transport + ?Sized,
    M: Monitor<D, T>,
{
    let Task {
        share,
        crew,
        schedule,
        start,
    } = task;
    let mut post = PostOffice::new(domains, share, transport.rank(), &neighbours_of);
    let mut pace = Pace::new(schedule.window, monitor.heed_within());
    let mut at = start;
    post.look(domains);
    let (mut moved_before, mut moved_alone, mut backwards) = (post.moved().0, 0, false);
    post.agree_on_neighbours(transport)?;
    let mut common = Agreement {
        next: post.next_event(),
        finished: 0,
        piece: pace.length(),
        ..Agreement::NEUTRAL
    }
    .of_all(transport)?;
    if monitor.cut() <= common.next && common.next < NEVER {
        let progress = Progress::begun(at, common.next, moved_before);
        post.observed(domains, transport, monitor, progress)?;
    }
    loop {
        if let Some(end) = ended(common, schedule, at) {
            post.deliver_all(domains);
            return Ok((end, at));
        }
        at.open(common.next, schedule);
        pace.begin(common.next, common.piece);
        let cut = Some(monitor.cut()).filter(|&cut| common.next < cut);
        let ends = common.next.saturating_add(common.piece);
        at.until = ends.min(at.closes).min(cut.unwrap_or(NEVER));
        if let Some(interleaving) = schedule.interleaving {
            post.deliver_all(domains);
            interleave(&mut post, domains, at.until, interleaving)?;
            post.look(domains);
        } else {
            // In alternating order: the last domains of one piece are still in the cache when they
            // run first in the next.
            post.run(domains, crew, backwards, at.until)?;
        }
        backwards = !backwards;
        let (moved_here, most) = post.moved();
        moved_alone += most;
        let asked = monitor.stop().map(|reason| reason as u64);
        let asked = asked.or_else(|| monitor.wants_state().then_some(SAVE));
        let mine = Agreement {
            next: post.next_event(),
            still: u64::from(moved_here == moved_before),
            go_on: asked.unwrap_or(u64::MAX),
            finished: u64::from(post.finished()),
            piece: pace.end(at.until),
        };
        moved_before = moved_here;
        common = post.hand_over(domains, transport, mine)?;
        let cut = cut.filter(|&cut| common.next >= cut);
        at.close(common, cut);
        let progress = Progress {
            at,
            next: common.next,
            moved_here,
            moved_alone,
            save: common.go_on == SAVE,
            cut: cut.is_some(),
        };
        post.observed(domains, transport, monitor, progress)?;
    }
}

impl<M> PostOffice<M> {
    /// Lets a monitor look at the domains between two pieces.
    fn observed<D: Domain<Mail = M>, T: Transport + ?Sized, O: Monitor<D, T>>(
        &mut self,
        domains: &mut [D],
        transport: &mut T,
        monitor: &mut O,
        progress: Progress,
    ) -> Result<(), O::Error> {
        let mut settled = Settled {
            domains,
            post: self,
        };
        monitor.observe(&mut settled, transport, progress)
    }
}

/// Reason why a run ends at a place: by itself at the end of a window, or because a rank asks for
/// it.
fn ended(common: Agreement, schedule: Schedule, at: Start) -> Option<End> {
    let closed = at.until == at.closes;
    if closed && common.finished == 1 {
        Some(End::Finished(at.until))
    } else if closed && common.next == NEVER {
        Some(End::Idle)
    } else if closed && common.next >= schedule.end {
        Some(End::Time)
    } else {
        StopReason::agreed(common).map(|reason| End::Asked(at.until, reason))
    }
}

/// The domains between two pieces of windows, for a monitor that wants to look into them.
pub struct Settled<'a, D: Domain> {
    domains: &'a mut [D],
    post: &'a mut PostOffice<D::Mail>,
}

impl<D: Domain> Settled<'_, D> {
    /// This rank's domains with all mail delivered. (Mail is otherwise delivered just before a
    /// domain runs.)
    pub fn domains(&mut self) -> &mut [D] {
        self.post.deliver_all(self.domains);
        self.domains
    }
}
