//! Conservative, windowed, parallel discrete-event simulation.
//! The engine knows no networks: it moves domains and the mail between them.
//!
//! Every domain runs a whole window alone; then the mail of the window is handed over. A window is
//! no longer than the lookahead: the minimum delay before an event in one domain can affect
//! another. So nothing that happens in a window can reach another domain within it. Windows lie on
//! a fixed grid of simulated time and empty ones are skipped; one that takes long is run in pieces.
//!
//! The behaviour of a domain depends on its own state and its mail only, and mail is delivered in
//! the order of its senders. So a run gives the same bits on any number of ranks.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![deny(clippy::iter_over_hash_type)]

mod agreement;
mod crew;
mod interleave;
mod pace;
mod post_office;
mod queue;
mod run;
mod share;
mod transport;

pub use agreement::Agreement;
pub use crew::Crew;
pub use interleave::Interleaving;
pub use queue::{EventKey, EventQueue};
pub use run::{End, Monitor, Progress, Schedule, Settled, Start, StopReason, Task, run};
pub use share::Share;
pub use transport::{Local, Threads, Transport, TransportError, broadcast, gather};

use weir_model::{DomainId, Time};

/// Mail from one domain to another in one window.
pub trait Mail: Default + Send {
    /// True if there is nothing to deliver.
    fn is_empty(&self) -> bool;
    /// The earliest time at which anything in it takes effect; [`weir_model::NEVER`] if it is
    /// empty.
    fn earliest(&self) -> Time;
    /// Appends itself to a message between ranks.
    fn encode(&self, bytes: &mut Vec<u8>);
    /// The inverse of [`Mail::encode`]; None if the bytes make no sense.
    fn decode(bytes: &[u8]) -> Option<Self>;
    /// Forgets its content but keeps its memory.
    fn clear(&mut self);
}

impl<M: Mail> Mail for Box<M> {
    fn is_empty(&self) -> bool {
        M::is_empty(self)
    }

    fn earliest(&self) -> Time {
        M::earliest(self)
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        M::encode(self, bytes);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        M::decode(bytes).map(Box::new)
    }

    fn clear(&mut self) {
        M::clear(self);
    }
}

/// Number of times that [`Domain::expect`] is called for mail.
pub const EXPECTING: u32 = 3;

/// A part of the model that is simulated as one unit.
pub trait Domain {
    /// Mail between domains.
    type Mail: Mail;
    /// Reason why a domain cannot continue.
    type Error;

    /// Its number.
    fn id(&self) -> DomainId;
    /// The domains it exchanges mail with, ascending; symmetric.
    fn neighbours(&self) -> &[DomainId];
    /// The time of its next event; [`weir_model::NEVER`] if it has none.
    fn next_time(&self) -> Time;
    /// Processes all events before `until`.
    fn advance(&mut self, until: Time) -> Result<(), Self::Error>;
    /// The next time at which it has anything to do without mail: at most that of its next event.
    /// It does not run in a window before it.
    fn wakes(&self) -> Time {
        self.next_time()
    }
    /// Takes the mail for any neighbour that has some, with its position in
    /// [`Domain::neighbours`].
    fn take_mail(&mut self) -> Option<(usize, Self::Mail)>;
    /// Takes the mail for a neighbour, which may be empty.
    fn take_mail_for(&mut self, neighbour: usize) -> Self::Mail;
    /// Takes empty mail back, whose memory may be used again.
    fn reuse(&mut self, mail: Self::Mail) {
        drop(mail);
    }
    /// True if mail that came from another rank is valid here: its indices name places of this
    /// domain that this neighbour may write to.
    fn accepts(&self, neighbour: usize, mail: &Self::Mail) -> bool;
    /// Announces that mail will be delivered next, and then the domain advances: its state may be
    /// fetched into the cache.
    fn prepare(&self) {}
    /// Announces mail that will be delivered next, with that of other neighbours.
    /// The places that it will be written to may be fetched into the cache, in [`EXPECTING`] steps.
    fn expect(&self, mail: &Self::Mail, step: u32) {
        let _ = (mail, step);
    }
    /// Takes in the mail of a neighbour, which may be left with anything in it. Called in the order
    /// of the senders' numbers.
    fn deliver(&mut self, neighbour: usize, mail: &mut Self::Mail);
    /// A neighbour whose mail has to be delivered before the end of the window, and has not been
    /// named yet. Asked only if the schedule has [`Schedule::interleaving`].
    fn urgent(&mut self) -> Option<usize> {
        None
    }
    /// True if the run needs nothing more from this domain, though there may be more to do.
    /// The run ends when this is true for all domains.
    fn finished(&self) -> bool {
        false
    }
    /// Moves so far (packet-hops), for progress and for deadlock detection.
    fn moved(&self) -> u64;
}
