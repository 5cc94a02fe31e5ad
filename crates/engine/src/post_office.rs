//! Mail between domains: from the outboxes to the inboxes, within a rank and between ranks.

use std::collections::BTreeMap;

use super::crew::Crew;
use super::{Agreement, Domain, EXPECTING, Mail, Share, Transport, TransportError};
use weir_model::{DomainId, NEVER, Time};

/// Addresses of the mail of one domain of this rank: its senders and receivers.
struct Neighbourhood {
    /// For each neighbour: its place among this rank's domains, or the rank that owns it.
    places: Vec<Place>,
    /// For each neighbour: this domain's place in the neighbour's own list.
    back: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Place {
    Here(u32),
    There(u32),
}

/// Mail of a domain of this rank, and its state at the end of a piece of a window.
pub(super) struct Desk<M> {
    /// Mail to be delivered, with the place of its sender among the neighbours: ascending.
    comes: Vec<(usize, M)>,
    /// Mail to be handed over, with the place of its receiver.
    goes: Vec<(usize, M)>,
    /// The earliest event in that.
    mail: Time,
    /// The next time at which the domain has anything to do without mail.
    wakes: Time,
    /// Its next event.
    next: Time,
    moved: u64,
    finished: bool,
}

impl<M> Default for Desk<M> {
    fn default() -> Self {
        Desk {
            comes: Vec::new(),
            goes: Vec::new(),
            mail: NEVER,
            wakes: 0,
            next: NEVER,
            moved: 0,
            finished: false,
        }
    }
}

impl<M: Mail> Desk<M> {
    /// Runs its domain up to a time, with the mail that has come.
    ///
    /// # Errors
    /// If the domain cannot go on.
    pub fn run<D: Domain<Mail = M>>(
        &mut self,
        domain: &mut D,
        until: Time,
    ) -> Result<(), D::Error> {
        domain.prepare();
        self.deliver(domain);
        domain.advance(until)?;
        self.look(domain);
        Ok(())
    }

    /// Takes the mail of its domain, and takes note of its state.
    pub fn look<D: Domain<Mail = M>>(&mut self, domain: &mut D) {
        self.wakes = domain.wakes();
        self.next = domain.next_time();
        self.moved = domain.moved();
        self.finished = domain.finished();
        while let Some((slot, mail)) = domain.take_mail() {
            self.mail = self.mail.min(mail.earliest());
            self.goes.push((slot, mail));
        }
    }

    /// Delivers the mail that has come, in the order of the senders.
    fn deliver<D: Domain<Mail = M>>(&mut self, domain: &mut D) {
        for step in 0..EXPECTING {
            for (_, mail) in &self.comes {
                domain.expect(mail, step);
            }
        }
        for (slot, mut mail) in self.comes.drain(..) {
            domain.deliver(slot, &mut mail);
            mail.clear();
            domain.reuse(mail);
        }
    }
}

/// Hands mail over: inside the rank as it is, and in one message to each neighbouring rank.
/// Received mail is kept until its receiver runs next, so that it is fresh in the cache then.
pub(super) struct PostOffice<M> {
    around: Vec<Neighbourhood>,
    /// By domain of this rank.
    desks: Vec<Desk<M>>,
    /// The same by domain, side by side: most windows concern few of many domains. The next time at
    /// which each has anything to do (0 if mail has come for it), its next event, its moves, and
    /// whether it is finished.
    wakes: Vec<Time>,
    next: Vec<Time>,
    moved: Vec<u64>,
    finished: Vec<bool>,
    /// The domains that ran last, ascending.
    ran: Vec<u32>,
    /// The earliest event in the mail that they have sent, regardless of the receiver, so that the
    /// next window does not depend on the ranks.
    mail: Time,
    totals: Totals,
    first: DomainId,
    /// Ranks that own a neighbour of one of this rank's domains, ascending.
    ranks: Vec<u32>,
    /// True if every rank is a neighbour of every other.
    complete: bool,
    outgoing: Vec<Vec<u8>>,
}

/// Sums over the domains of this rank.
#[derive(Clone, Copy, Default)]
struct Totals {
    /// Moves.
    moved: u64,
    /// The most moves of one domain when they ran last.
    most: u64,
    /// Number of domains that are not finished.
    unfinished: usize,
}

impl<M: Mail> PostOffice<M> {
    /// For the domains of a rank; nothing is in it yet.
    pub fn new<D: Domain<Mail = M>>(
        domains: &[D],
        share: Share,
        rank: u32,
        neighbours_of: &impl Fn(DomainId) -> Vec<DomainId>,
    ) -> Self {
        let own = share.of(rank);
        let place = |id: DomainId| match own.contains(&id) {
            true => Place::Here(id - own.start),
            false => Place::There(share.owner(id)),
        };
        // Each list is long, and takes long to make.
        let mut others: BTreeMap<DomainId, Vec<DomainId>> = BTreeMap::new();
        let mut back = |id: DomainId, of: DomainId| {
            let list = match place(id) {
                Place::Here(at) => domains[at as usize].neighbours(),
                Place::There(_) => others.entry(id).or_insert_with(|| neighbours_of(id)),
            };
            list.binary_search(&of).map_or(u32::MAX, |at| at as u32)
        };
        let around = domains.iter().map(|domain| {
            let neighbours = || domain.neighbours().iter();
            Neighbourhood {
                places: neighbours().map(|&id| place(id)).collect(),
                back: neighbours().map(|&id| back(id, domain.id())).collect(),
            }
        });
        let around: Vec<Neighbourhood> = around.collect();
        let places = around.iter().flat_map(|around| &around.places);
        let mut ranks: Vec<u32> = places
            .filter_map(|place| match place {
                Place::There(rank) => Some(*rank),
                Place::Here(_) => None,
            })
            .collect();
        ranks.sort_unstable();
        ranks.dedup();
        PostOffice {
            around,
            desks: domains.iter().map(|_| Desk::default()).collect(),
            wakes: vec![0; domains.len()],
            next: vec![NEVER; domains.len()],
            moved: vec![0; domains.len()],
            finished: vec![false; domains.len()],
            ran: Vec::new(),
            mail: NEVER,
            totals: Totals {
                unfinished: domains.len(),
                ..Totals::default()
            },
            first: own.start,
            outgoing: vec![Vec::new(); ranks.len()],
            ranks,
            complete: false,
        }
    }

    /// A rank may be a neighbour of all others while those are not neighbours of each other (the
    /// top of a tree), and a reduction needs all ranks or none.
    pub fn agree_on_neighbours<T: Transport + ?Sized>(
        &mut self,
        transport: &mut T,
    ) -> Result<(), TransportError> {
        let complete = self.ranks.len() + 1 == transport.size() as usize;
        let mut everywhere = [u64::from(complete)];
        transport.min(&mut everywhere)?;
        self.complete = everywhere == [1];
        Ok(())
    }

    /// Hands over the mail of a window, and the ranks' agreement with it.
    /// A message is this rank's agreement and a row of entries. If every rank is a neighbour, the
    /// agreements in the messages suffice; otherwise the ranks combine them in a reduction.
    pub fn hand_over<D, T>(
        &mut self,
        domains: &mut [D],
        transport: &mut T,
        mut mine: Agreement,
    ) -> Result<Agreement, TransportError>
    where
        D: Domain<Mail = M>,
        T: Transport + ?Sized,
    {
        mine.next = mine.next.min(self.mail);
        for bytes in &mut self.outgoing {
            bytes.clear();
            bytes.extend_from_slice(bytemuck::bytes_of(&mine));
        }
        let ran = std::mem::take(&mut self.ran);
        for &sender in &ran {
            self.send(sender as usize, &mut domains[sender as usize]);
        }
        self.ran = ran;
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
        for entry in remote {
            let (rank, bytes) = (entry.rank, entry.mail.len());
            let taken = self.take_in(domains, &entry);
            taken.ok_or(TransportError::Garbled { rank, bytes })?;
        }
        Ok(common)
    }

    /// Hands the mail of one domain over. That of a message between ranks goes into the message.
    fn send<D: Domain<Mail = M>>(&mut self, sender: usize, domain: &mut D) {
        let desk = &mut self.desks[sender];
        if desk.goes.is_empty() {
            return;
        }
        desk.mail = NEVER;
        let mut goes = std::mem::take(&mut desk.goes);
        let around = &self.around[sender];
        for (slot, mut mail) in goes.drain(..) {
            match around.places[slot] {
                Place::Here(receiver) => {
                    let comes = &mut self.desks[receiver as usize].comes;
                    comes.push((around.back[slot] as usize, mail));
                    self.wakes[receiver as usize] = 0;
                }
                Place::There(rank) => {
                    let to = self.ranks.partition_point(|&other| other < rank);
                    let ends = [self.first + sender as u32, domain.neighbours()[slot]];
                    pack(&mut self.outgoing[to], ends, &mail);
                    mail.clear();
                    domain.reuse(mail);
                }
            }
        }
        self.desks[sender].goes = goes;
    }

    /// Takes in the mail of a domain of another rank; None if it makes no sense.
    fn take_in<D: Domain<Mail = M>>(&mut self, domains: &[D], entry: &Entry) -> Option<()> {
        let receiver = entry.receiver.checked_sub(self.first)? as usize;
        let domain = domains.get(receiver)?;
        let slot = domain.neighbours().binary_search(&entry.sender).ok()?;
        let mail = M::decode(entry.mail).filter(|mail| domain.accepts(slot, mail))?;
        // Mail of this rank has come in the order of its senders already.
        let comes = &mut self.desks[receiver].comes;
        let place = comes.partition_point(|(before, _)| *before < slot);
        comes.insert(place, (slot, mail));
        self.wakes[receiver] = 0;
        Some(())
    }

    /// Runs the domains up to a time that have anything to do before it, from the last one if
    /// `backwards`.
    ///
    /// # Errors
    /// If a domain cannot go on.
    pub fn run<D>(
        &mut self,
        domains: &mut [D],
        crew: &mut Crew,
        backwards: bool,
        until: Time,
    ) -> Result<(), D::Error>
    where
        D: Domain<Mail = M> + Send,
        D::Error: Send,
    {
        let wakes = self.wakes.iter().zip(0..);
        let woken = wakes.filter(|&(&wakes, _)| wakes < until);
        self.ran.clear();
        self.ran.extend(woken.map(|(_, place)| place));
        let run = |_, domain: &mut D, desk: &mut Desk<M>| desk.run(domain, until);
        let done = crew.each(&self.ran, (domains, &mut self.desks), backwards, run);
        self.settle();
        debug_assert!(self.mail >= until, "before {until} ps");
        done
    }

    /// The next event of any domain.
    pub fn next_event(&self) -> Time {
        self.next.iter().copied().min().unwrap_or(NEVER)
    }

    /// Moves of all domains, and the most of any domain since they ran last.
    pub fn moved(&self) -> (u64, u64) {
        (self.totals.moved, self.totals.most)
    }

    /// True if the run needs nothing more from any domain.
    pub fn finished(&self) -> bool {
        self.totals.unfinished == 0
    }

    /// Takes the mail of all domains, and takes note of their states.
    pub fn look<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
        self.ran.clear();
        self.ran.extend(0..domains.len() as u32);
        let desks = self.desks.iter_mut().zip(domains);
        desks.for_each(|(desk, domain)| desk.look(domain));
        self.settle();
    }

    /// Takes note of the states of the domains that ran.
    fn settle(&mut self) {
        (self.mail, self.totals.most) = (NEVER, 0);
        for &place in &self.ran {
            let place = place as usize;
            let desk = &self.desks[place];
            (self.wakes[place], self.next[place]) = (desk.wakes, desk.next);
            self.mail = self.mail.min(desk.mail);
            let moved = desk.moved - std::mem::replace(&mut self.moved[place], desk.moved);
            self.totals.moved += moved;
            self.totals.most = self.totals.most.max(moved);
            let before = std::mem::replace(&mut self.finished[place], desk.finished);
            self.totals.unfinished += usize::from(before);
            self.totals.unfinished -= usize::from(desk.finished);
        }
    }

    /// Delivers the mail of a domain for one of its neighbours on this rank at once. Returns the
    /// receiver's place.
    pub fn pass_on<D: Domain<Mail = M>>(
        &mut self,
        domains: &mut [D],
        sender: usize,
        slot: usize,
    ) -> usize {
        let Place::Here(receiver) = self.around[sender].places[slot] else {
            unreachable!("a schedule with interleaving runs on one rank");
        };
        let (receiver, back) = (receiver as usize, self.around[sender].back[slot]);
        let mut mail = domains[sender].take_mail_for(slot);
        domains[receiver].deliver(back as usize, &mut mail);
        mail.clear();
        domains[sender].reuse(mail);
        receiver
    }

    pub fn deliver_all<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
        let desks = self.desks.iter_mut().zip(domains);
        desks.for_each(|(desk, domain)| desk.deliver(domain));
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

/// Appends an entry to a message.
fn pack<M: Mail>(bytes: &mut Vec<u8>, [sender, receiver]: [DomainId; 2], mail: &M) {
    let begin = bytes.len();
    bytes.extend_from_slice(bytemuck::cast_slice(&[sender, receiver, 0, 0]));
    mail.encode(bytes);
    let length = (bytes.len() - begin - HEAD) as u64;
    bytes[begin + 8..begin + HEAD].copy_from_slice(&length.to_le_bytes());
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
