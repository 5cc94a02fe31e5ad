use std::time::Duration;

use super::interleave::{Haste, interleave};
use super::pace::Pace;
use super::{Agreement, Domain, Mail, Share, Transport, TransportError};
use crate::model::{DomainId, NEVER, Time};

/// When windows begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Length of a window, ps: at most the lookahead, more than 0.
    pub window: Time,
    /// No event at or after this time is processed; [`NEVER`] runs until nothing is left to do.
    pub end: Time,
    /// Set if mail can take effect sooner than a window ends. Possible on a single rank only.
    pub haste: Option<Haste>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end of the schedule.
    Time,
    /// Nothing is left to do.
    Idle,
    /// Some rank asked for it. Everything before this time has been simulated, ps, and nothing after it.
    Asked(Time, StopReason),
    /// All domains are finished: at the end of the window before this time, ps.
    Finished(Time),
}

/// Why a run ends before its end, as some rank asks for it. Where ranks ask for different reasons, the first one of this
/// list is given.
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
}

impl StopReason {
    /// All of them, in their order.
    pub const ALL: [StopReason; 4] = [
        StopReason::MaxWall,
        StopReason::Interrupted,
        StopReason::Terminated,
        StopReason::HungUp,
    ];

    /// As results and messages name it.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::MaxWall => "max_wall",
            StopReason::Interrupted => "SIGINT",
            StopReason::Terminated => "SIGTERM",
            StopReason::HungUp => "SIGHUP",
        }
    }

    /// The one that the ranks have agreed on, if any of them asks for one.
    fn agreed(common: Agreement) -> Option<StopReason> {
        let number = usize::try_from(common.go_on).ok()?;
        StopReason::ALL.get(number).copied()
    }
}

/// What is seen after every piece of a window. The same on all ranks but for `moved_here`.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Everything before this has been simulated, ps.
    pub until: Time,
    /// Whether a window ends there. Windows, unlike their pieces, do not depend on the clock.
    pub window_ended: bool,
    /// The next time at which anything happens on any rank; [`NEVER`]: nothing.
    pub next: Time,
    /// Whether anything moved on any rank in this window so far.
    pub moved: bool,
    /// Moves of this rank's domains since the start.
    pub moved_here: u64,
    /// Windows ended so far.
    pub windows: u64,
}

/// Looks after a run from outside, on every rank.
pub trait Monitor<D: Domain, T: Transport + ?Sized> {
    /// Whether this rank wants the run to end here. Asked after every piece of a window, just before the ranks agree on
    /// how to go on: all end there together if one of them wants to.
    fn stop(&mut self) -> Option<StopReason>;

    /// How soon the run has to heed [`Monitor::stop`], wall-clock time: longer windows are cut into pieces.
    fn heed_within(&self) -> Duration;

    /// Called on all ranks after every piece of a window with the same facts.
    ///
    /// # Errors
    /// What ends the run; the same on all ranks.
    fn observe(
        &mut self,
        settled: &mut Settled<D>,
        transport: &mut T,
        progress: Progress,
    ) -> Result<(), D::Error>;
}

/// Where the mail of one domain of this rank comes from and goes to.
struct Neighbourhood {
    /// For each neighbour: its place among this rank's domains, or the rank that owns it.
    places: Vec<Place>,
    /// For each neighbour: this domain's place in the neighbour's own list.
    back: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Place {
    Here(usize),
    There(u32),
}

/// Runs the domains of this rank until the end of the schedule, until nothing is left to do on any rank, or until the
/// monitor of some rank asks for the end. Returns why it ended and the number of windows.
///
/// A window that takes long is run in pieces, so that the ranks hear of each other in time (`Pace`). Where it is cut
/// depends on the clock and changes no result: a piece is a shorter window.
pub fn run<D, T>(
    domains: &mut [D],
    share: Share,
    schedule: Schedule,
    transport: &mut T,
    neighbours_of: impl Fn(DomainId) -> Vec<DomainId>,
    monitor: &mut impl Monitor<D, T>,
) -> Result<(End, u64), D::Error>
where
    D: Domain,
    D::Error: From<TransportError>,
    T: Transport + ?Sized,
{
    let mut post = PostOffice::new(domains, share, transport.rank(), &neighbours_of);
    let mut pace = Pace::new(schedule.window, monitor.heed_within());
    let (mut windows, mut moved_before, mut moved) = (0, 0, false);
    // Everything before the first of them is simulated; the second is the end of the window.
    let (mut until, mut closes) = (0, 0);
    post.agree_on_neighbours(transport)?;
    let mut common = Agreement {
        next: earliest(domains),
        finished: 0,
        piece: pace.length(),
        ..Agreement::NEUTRAL
    }
    .of_all(transport)?;
    loop {
        let end = match until == closes {
            true => ended(common, schedule, until),
            false => None,
        };
        let asked = || StopReason::agreed(common).map(|reason| End::Asked(until, reason));
        if let Some(end) = end.or_else(asked) {
            post.deliver_all(domains);
            return Ok((end, windows));
        }
        if until == closes {
            let start = common.next - common.next % schedule.window;
            closes = start.saturating_add(schedule.window).min(schedule.end);
            moved = false;
        }
        pace.begin(common.next, common.piece);
        until = common.next.saturating_add(common.piece).min(closes);
        run_piece(&mut post, domains, until, schedule.haste)?;
        let moved_here: u64 = domains.iter().map(Domain::moved).sum();
        let mine = Agreement {
            next: earliest(domains),
            unmoved: u64::MAX - (moved_here - moved_before),
            go_on: monitor.stop().map_or(u64::MAX, |reason| reason as u64),
            finished: u64::from(domains.iter().all(Domain::finished)),
            piece: pace.end(until),
        };
        moved_before = moved_here;
        common = post.hand_over(domains, transport, mine)?;
        if common.next >= closes {
            // Nothing is left of the window.
            until = closes;
        }
        let window_ended = until == closes;
        windows += u64::from(window_ended);
        moved |= common.unmoved != u64::MAX;
        let progress = Progress {
            until,
            window_ended,
            next: common.next,
            moved,
            moved_here,
            windows,
        };
        let mut settled = Settled {
            domains,
            post: &mut post,
        };
        monitor.observe(&mut settled, transport, progress)?;
    }
}

/// Runs all domains of this rank up to `until`.
fn run_piece<D: Domain>(
    post: &mut PostOffice<D::Mail>,
    domains: &mut [D],
    until: Time,
    haste: Option<Haste>,
) -> Result<(), D::Error> {
    if let Some(haste) = haste {
        post.deliver_all(domains);
        return interleave(post, domains, until, haste);
    }
    for (at, domain) in domains.iter_mut().enumerate() {
        post.deliver(at, domain);
        domain.advance(until)?;
    }
    Ok(())
}

/// Why a run ends by itself at the end of a window.
fn ended(common: Agreement, schedule: Schedule, until: Time) -> Option<End> {
    if common.finished == 1 {
        Some(End::Finished(until))
    } else if common.next == NEVER {
        Some(End::Idle)
    } else if common.next >= schedule.end {
        Some(End::Time)
    } else {
        None
    }
}

/// The domains between two pieces of windows, for a monitor that wants to look into them.
pub struct Settled<'a, D: Domain> {
    domains: &'a mut [D],
    post: &'a mut PostOffice<D::Mail>,
}

impl<D: Domain> Settled<'_, D> {
    /// This rank's domains with all mail delivered. (Mail is otherwise delivered just before a domain runs.)
    pub fn domains(&mut self) -> &mut [D] {
        self.post.deliver_all(self.domains);
        self.domains
    }
}

fn earliest<D: Domain>(domains: &[D]) -> Time {
    domains.iter().map(Domain::next_time).min().unwrap_or(NEVER)
}

/// Hands the outboxes over: by a swap inside the rank, in one message to each neighbouring rank. What has come is
/// kept until its receiver runs next, so that it is fresh in the cache then.
pub(super) struct PostOffice<M> {
    around: Vec<Neighbourhood>,
    /// For each domain of this rank and each of its neighbours: what is to be delivered.
    inboxes: Vec<Vec<M>>,
    first: DomainId,
    /// Ranks that own a neighbour of one of this rank's domains, ascending.
    ranks: Vec<u32>,
    /// Whether every rank is a neighbour of every other.
    complete: bool,
    outgoing: Vec<Vec<u8>>,
}

impl<M: Mail> PostOffice<M> {
    fn new<D: Domain<Mail = M>>(
        domains: &[D],
        share: Share,
        rank: u32,
        neighbours_of: &impl Fn(DomainId) -> Vec<DomainId>,
    ) -> Self {
        let own = share.of(rank);
        let place = |id: DomainId| match own.contains(&id) {
            true => Place::Here((id - own.start) as usize),
            false => Place::There(share.owner(id)),
        };
        let around: Vec<Neighbourhood> = domains
            .iter()
            .map(|domain| Neighbourhood {
                places: domain.neighbours().iter().map(|&id| place(id)).collect(),
                back: domain
                    .neighbours()
                    .iter()
                    .map(|&id| {
                        neighbours_of(id)
                            .binary_search(&domain.id())
                            .unwrap_or(usize::MAX)
                    })
                    .collect(),
            })
            .collect();
        let mut ranks: Vec<u32> = around
            .iter()
            .flat_map(|around| &around.places)
            .filter_map(|place| match place {
                Place::There(rank) => Some(*rank),
                Place::Here(_) => None,
            })
            .collect();
        ranks.sort_unstable();
        ranks.dedup();
        let outgoing = vec![Vec::new(); ranks.len()];
        let inboxes = around
            .iter()
            .map(|around| around.places.iter().map(|_| M::default()).collect())
            .collect();
        PostOffice {
            around,
            inboxes,
            first: own.start,
            ranks,
            complete: false,
            outgoing,
        }
    }

    /// A rank may be a neighbour of all others while those are not neighbours of each other (the top of a tree), and
    /// a reduction needs all ranks or none.
    fn agree_on_neighbours<T: Transport + ?Sized>(
        &mut self,
        transport: &mut T,
    ) -> Result<(), TransportError> {
        let complete = self.ranks.len() + 1 == transport.size() as usize;
        let mut everywhere = [u64::from(complete)];
        transport.min(&mut everywhere)?;
        self.complete = everywhere == [1];
        Ok(())
    }

    /// A message is this rank's agreement and a row of entries. Where every rank is a neighbour the agreements are all there is to agree on;
    /// elsewhere the ranks combine them in a reduction.
    fn hand_over<D, T>(
        &mut self,
        domains: &mut [D],
        transport: &mut T,
        mut mine: Agreement,
    ) -> Result<Agreement, TransportError>
    where
        D: Domain<Mail = M>,
        T: Transport + ?Sized,
    {
        mine.next = mine.next.min(self.earliest_mail(domains));
        self.pack(domains, mine);
        let incoming = transport.exchange(&self.ranks, &self.outgoing)?;
        let mut common = if self.complete {
            mine
        } else {
            mine.of_all(transport)?
        };
        let mut remote: Vec<Entry> = Vec::new();
        for (bytes, &rank) in incoming.iter().zip(&self.ranks) {
            common = common.with(unpack(bytes, rank, &mut remote)?);
        }
        remote.sort_by_key(|entry| (entry.receiver, entry.sender));
        let mut remote = remote.into_iter().peekable();
        for receiver in 0..domains.len() {
            let id = self.first + receiver as DomainId;
            for slot in 0..self.around[receiver].places.len() {
                match self.around[receiver].places[slot] {
                    Place::Here(sender) => {
                        let back = self.around[receiver].back[slot];
                        let outbox = domains[sender].outbox(back);
                        std::mem::swap(outbox, &mut self.inboxes[receiver][slot]);
                    }
                    Place::There(_) => {
                        let sender = domains[receiver].neighbours()[slot];
                        let due = |entry: &Entry| (entry.sender, entry.receiver) == (sender, id);
                        if let Some(entry) = remote.next_if(due) {
                            let (rank, bytes) = (entry.rank, entry.mail.len());
                            let garbled = TransportError::Garbled { rank, bytes };
                            self.inboxes[receiver][slot] = M::decode(entry.mail)
                                .filter(|mail| domains[receiver].accepts(slot, mail))
                                .ok_or(garbled)?;
                        }
                    }
                }
            }
        }
        Ok(common)
    }

    /// The earliest thing in any outbox, whoever gets it, so that the next window does not depend on the ranks.
    fn earliest_mail<D: Domain<Mail = M>>(&self, domains: &mut [D]) -> Time {
        let mut earliest = NEVER;
        for domain in domains {
            for slot in 0..domain.neighbours().len() {
                earliest = earliest.min(domain.outbox(slot).earliest());
            }
        }
        earliest
    }

    fn pack<D: Domain<Mail = M>>(&mut self, domains: &mut [D], mine: Agreement) {
        for bytes in &mut self.outgoing {
            bytes.clear();
            bytes.extend_from_slice(bytemuck::bytes_of(&mine));
        }
        for (sender, around) in self.around.iter().enumerate() {
            for (slot, place) in around.places.iter().enumerate() {
                let Place::There(rank) = place else { continue };
                let receiver = domains[sender].neighbours()[slot];
                let mail = domains[sender].outbox(slot);
                if mail.is_empty() {
                    continue;
                }
                let to = self.ranks.partition_point(|other| other < rank);
                let bytes = &mut self.outgoing[to];
                let head = [self.first + sender as u32, receiver, 0, 0];
                let begin = bytes.len();
                bytes.extend_from_slice(bytemuck::cast_slice(&head));
                mail.encode(bytes);
                let length = (bytes.len() - begin - HEAD) as u64;
                bytes[begin + 8..begin + HEAD].copy_from_slice(&length.to_le_bytes());
                mail.clear();
            }
        }
    }

    /// Delivers the mail of a domain for one of its neighbours on this rank at once. Returns the receiver's place.
    pub(super) fn pass_on<D: Domain<Mail = M>>(
        &mut self,
        domains: &mut [D],
        sender: usize,
        slot: usize,
    ) -> usize {
        let Place::Here(receiver) = self.around[sender].places[slot] else {
            unreachable!("a schedule with haste runs on one rank");
        };
        let back = self.around[sender].back[slot];
        let inbox = &mut self.inboxes[receiver][back];
        std::mem::swap(domains[sender].outbox(slot), inbox);
        domains[receiver].deliver(back, inbox);
        inbox.clear();
        receiver
    }

    /// Delivers what has come for one of this rank's domains, in the order of the senders.
    fn deliver<D: Domain<Mail = M>>(&mut self, at: usize, domain: &mut D) {
        for (slot, mail) in self.inboxes[at].iter_mut().enumerate() {
            if !mail.is_empty() {
                domain.deliver(slot, mail);
                mail.clear();
            }
        }
    }

    fn deliver_all<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
        for (at, domain) in domains.iter_mut().enumerate() {
            self.deliver(at, domain);
        }
    }
}

/// Bytes before the mail of an entry: sender, receiver, length.
const HEAD: usize = 16;

/// Mail of one domain for another in a message between ranks.
struct Entry<'a> {
    sender: DomainId,
    receiver: DomainId,
    mail: &'a [u8],
    rank: u32,
}

/// The agreement at the head of a message; its entries are added to the list.
fn unpack<'a>(
    mut bytes: &'a [u8],
    rank: u32,
    entries: &mut Vec<Entry<'a>>,
) -> Result<Agreement, TransportError> {
    let garbled = TransportError::Garbled {
        rank,
        bytes: bytes.len(),
    };
    let (head, rest) = bytes
        .split_at_checked(size_of::<Agreement>())
        .ok_or_else(|| garbled.clone())?;
    let agreement = bytemuck::pod_read_unaligned(head);
    bytes = rest;
    while !bytes.is_empty() {
        let (head, rest) = bytes
            .split_at_checked(HEAD)
            .ok_or_else(|| garbled.clone())?;
        let word = |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let length = (u64::from(word(8)) | (u64::from(word(12)) << 32)) as usize;
        let (mail, rest) = rest
            .split_at_checked(length)
            .ok_or_else(|| garbled.clone())?;
        let (sender, receiver) = (word(0), word(4));
        entries.push(Entry {
            sender,
            receiver,
            mail,
            rank,
        });
        bytes = rest;
    }
    Ok(agreement)
}
