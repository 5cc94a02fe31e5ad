//! Mail between domains: from the outboxes to the inboxes, within a rank and between ranks.

use super::{Agreement, Domain, EXPECTING, Mail, Share, Transport, TransportError};
use weir_model::{DomainId, NEVER, Time};

/// Addresses of the mail of one domain of this rank: its senders and receivers.
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

/// Mail of a domain of this rank, and its state at the end of a piece of a window.
pub(super) struct Desk<M> {
    /// For each neighbour: mail to be delivered.
    inboxes: Vec<M>,
    /// The neighbours whose mail is to be delivered, ascending.
    full: Vec<usize>,
    /// The neighbours that there is mail for.
    sends: Vec<usize>,
    /// The earliest event in that mail.
    mail: Time,
    /// The next event of the domain.
    next: Time,
    moved: u64,
    finished: bool,
}

impl<M: Mail> Desk<M> {
    fn new(neighbours: usize) -> Desk<M> {
        Desk {
            inboxes: (0..neighbours).map(|_| M::default()).collect(),
            full: Vec::new(),
            sends: Vec::new(),
            mail: NEVER,
            next: NEVER,
            moved: 0,
            finished: false,
        }
    }

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

    /// Takes note of the mail and the state of its domain.
    pub fn look<D: Domain<Mail = M>>(&mut self, domain: &mut D) {
        self.next = domain.next_time();
        self.moved = domain.moved();
        self.finished = domain.finished();
        self.mail = NEVER;
        self.sends.clear();
        for slot in 0..self.inboxes.len() {
            let outbox = domain.outbox(slot);
            if !outbox.is_empty() {
                self.mail = self.mail.min(outbox.earliest());
                self.sends.push(slot);
            }
        }
    }

    /// Delivers the mail that has come, in the order of the senders.
    fn deliver<D: Domain<Mail = M>>(&mut self, domain: &mut D) {
        for step in 0..EXPECTING {
            for &slot in &self.full {
                domain.expect(&self.inboxes[slot], step);
            }
        }
        for slot in self.full.drain(..) {
            let mail = &mut self.inboxes[slot];
            domain.deliver(slot, mail);
            mail.clear();
        }
    }
}

/// Hands the outboxes over: by a swap inside the rank, in one message to each neighbouring rank.
/// Received mail is kept until its receiver runs next, so that it is fresh in the cache then.
pub(super) struct PostOffice<M> {
    around: Vec<Neighbourhood>,
    /// By domain of this rank.
    pub desks: Vec<Desk<M>>,
    first: DomainId,
    /// Ranks that own a neighbour of one of this rank's domains, ascending.
    ranks: Vec<u32>,
    /// True if every rank is a neighbour of every other.
    complete: bool,
    outgoing: Vec<Vec<u8>>,
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
        let desk = |around: &Neighbourhood| Desk::new(around.places.len());
        let desks = around.iter().map(desk).collect();
        PostOffice {
            around,
            desks,
            first: own.start,
            ranks,
            complete: false,
            outgoing,
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

    /// Hands over the outboxes of a window, and the ranks' agreement with them.
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
        mine.next = mine.next.min(self.earliest_mail());
        self.pack(domains, mine);
        self.swap(domains);
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
        for (receiver, (domain, desk)) in domains.iter().zip(&mut self.desks).enumerate() {
            let id = self.first + receiver as DomainId;
            for slot in 0..self.around[receiver].places.len() {
                if remote.peek().is_none() {
                    break;
                }
                if let Place::There(_) = self.around[receiver].places[slot] {
                    let sender = domain.neighbours()[slot];
                    let due = |entry: &Entry| (entry.sender, entry.receiver) == (sender, id);
                    if let Some(entry) = remote.next_if(due) {
                        let (rank, bytes) = (entry.rank, entry.mail.len());
                        let garbled = TransportError::Garbled { rank, bytes };
                        desk.inboxes[slot] = M::decode(entry.mail)
                            .filter(|mail| domain.accepts(slot, mail))
                            .ok_or(garbled)?;
                        desk.full.push(slot);
                    }
                }
            }
            desk.full.sort_unstable();
        }
        Ok(common)
    }

    /// Hands the mail between domains of this rank over. A box is not touched if it is empty: a
    /// domain may have many neighbours and little mail for each.
    fn swap<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
        for (sender, around) in self.around.iter().enumerate() {
            let sends = std::mem::take(&mut self.desks[sender].sends);
            for &slot in &sends {
                if let Place::Here(receiver) = around.places[slot] {
                    let (back, desk) = (around.back[slot], &mut self.desks[receiver]);
                    std::mem::swap(domains[sender].outbox(slot), &mut desk.inboxes[back]);
                    desk.full.push(back);
                }
            }
            self.desks[sender].sends = sends;
        }
    }

    /// The earliest event in any outbox, regardless of the receiver, so that the next window does
    /// not depend on the ranks.
    pub fn earliest_mail(&self) -> Time {
        let mail = self.desks.iter().map(|desk| desk.mail);
        mail.min().unwrap_or(NEVER)
    }

    /// The next event of any domain.
    pub fn next_event(&self) -> Time {
        let next = self.desks.iter().map(|desk| desk.next);
        next.min().unwrap_or(NEVER)
    }

    /// Moves of all domains.
    pub fn moved(&self) -> u64 {
        self.desks.iter().map(|desk| desk.moved).sum()
    }

    /// True if the run needs nothing more from any domain.
    pub fn finished(&self) -> bool {
        self.desks.iter().all(|desk| desk.finished)
    }

    /// Takes note of the mail and the state of all domains.
    pub fn look<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
        let desks = self.desks.iter_mut().zip(domains);
        desks.for_each(|(desk, domain)| desk.look(domain));
    }

    fn pack<D: Domain<Mail = M>>(&mut self, domains: &mut [D], mine: Agreement) {
        for bytes in &mut self.outgoing {
            bytes.clear();
            bytes.extend_from_slice(bytemuck::bytes_of(&mine));
        }
        for (sender, (around, desk)) in self.around.iter().zip(&self.desks).enumerate() {
            for &slot in &desk.sends {
                let Place::There(rank) = around.places[slot] else {
                    continue;
                };
                let receiver = domains[sender].neighbours()[slot];
                let mail = domains[sender].outbox(slot);
                let to = self.ranks.partition_point(|&other| other < rank);
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
        let back = self.around[sender].back[slot];
        let inbox = &mut self.desks[receiver].inboxes[back];
        std::mem::swap(domains[sender].outbox(slot), inbox);
        domains[receiver].deliver(back, inbox);
        inbox.clear();
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
