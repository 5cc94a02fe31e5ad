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

/// Hands the outboxes over: by a swap inside the rank, in one message to each neighbouring rank.
/// Received mail is kept until its receiver runs next, so that it is fresh in the cache then.
pub(super) struct PostOffice<M> {
    around: Vec<Neighbourhood>,
    /// For each domain of this rank and each of its neighbours: mail to be delivered.
    inboxes: Vec<Vec<M>>,
    /// For each domain of this rank: the neighbours whose mail is to be delivered, ascending.
    full: Vec<Vec<usize>>,
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
        let inboxes = around
            .iter()
            .map(|around| around.places.iter().map(|_| M::default()).collect())
            .collect();
        PostOffice {
            around,
            inboxes,
            full: vec![Vec::new(); domains.len()],
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
        mine.next = mine.next.min(self.earliest_mail(domains));
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
        for (receiver, domain) in domains.iter().enumerate() {
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
                        self.inboxes[receiver][slot] = M::decode(entry.mail)
                            .filter(|mail| domain.accepts(slot, mail))
                            .ok_or(garbled)?;
                        self.full[receiver].push(slot);
                    }
                }
            }
            self.full[receiver].sort_unstable();
        }
        Ok(common)
    }

    /// Hands the mail between domains of this rank over.
    /// A box is checked once in a window, and not touched again if it is empty: a domain may have
    /// many neighbours and little mail for each.
    fn swap<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
        for (sender, around) in self.around.iter().enumerate() {
            for (slot, place) in around.places.iter().enumerate() {
                let Place::Here(receiver) = *place else {
                    continue;
                };
                let outbox = domains[sender].outbox(slot);
                if !outbox.is_empty() {
                    let back = around.back[slot];
                    std::mem::swap(outbox, &mut self.inboxes[receiver][back]);
                    self.full[receiver].push(back);
                }
            }
        }
    }

    /// The earliest event in any outbox, regardless of the receiver, so that the next window does
    /// not depend on the ranks.
    pub fn earliest_mail<D: Domain<Mail = M>>(&self, domains: &mut [D]) -> Time {
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
        let inbox = &mut self.inboxes[receiver][back];
        std::mem::swap(domains[sender].outbox(slot), inbox);
        domains[receiver].deliver(back, inbox);
        inbox.clear();
        receiver
    }

    /// Delivers the mail of one of this rank's domains, in the order of the senders.
    pub fn deliver<D: Domain<Mail = M>>(&mut self, at: usize, domain: &mut D) {
        let mut full = std::mem::take(&mut self.full[at]);
        for step in 0..EXPECTING {
            for &slot in &full {
                domain.expect(&self.inboxes[at][slot], step);
            }
        }
        for slot in full.drain(..) {
            let mail = &mut self.inboxes[at][slot];
            domain.deliver(slot, mail);
            mail.clear();
        }
        self.full[at] = full;
    }

    pub fn deliver_all<D: Domain<Mail = M>>(&mut self, domains: &mut [D]) {
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
