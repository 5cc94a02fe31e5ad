//! The source's part of SRP: a reservation for each message, speculation until the grant or the
//! first loss, and the rest at the granted time.

use serde::{Deserialize, Serialize};

use super::kinds::RESERVATION;
use super::{About, Handshake, NicContext, table_bytes};
use weir_model::codec::SavedMap;
use weir_model::{EndpointId, NEVER, Origin, Time};

/// A message from its reservation until all of it is acknowledged.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Open {
    /// The granted time; [`NEVER`] until the grant is here.
    granted: Time,
    /// Packets that wait for the grant. Usually none; a source past saturation has very many of
    /// these messages.
    held: Option<Box<Held>>,
    /// Packets that are not acknowledged. Longer messages are refused ([`About::countable`]).
    missing: u32,
}

/// Packets of a message by their place in it.
type Held = Vec<u32>;

/// NIC, destination and number of the message.
type Key = (u32, EndpointId, u32);

/// The open messages of a domain's NICs.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Handshakes {
    open: SavedMap<Key, Open>,
}

impl Handshakes {
    /// Cost of each message: a reservation, a grant, and its entry among the open ones.
    pub const EACH: Handshake = Handshake {
        asks: 1,
        answers: 1,
        kept: size_of::<(Key, Open)>(),
    };

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let held = self.open.values().filter_map(|open| open.held.as_ref());
        let held = held.map(|held| held.capacity());
        table_bytes(&self.open) + held.sum::<usize>() * size_of::<u32>()
    }

    /// Requests a time for a whole message.
    pub fn begin(
        &mut self,
        about: &About,
        nic: &mut dyn NicContext,
        to: EndpointId,
        message: &Origin,
    ) {
        let (packets, flits) = about.packets(message.message_bits);
        let open = Open {
            granted: NEVER,
            held: None,
            missing: packets as u32,
        };
        self.open.insert((nic.nic(), to, message.message), open);
        nic.reply(RESERVATION, to, message.with_flits(flits));
    }

    /// A packet has arrived at its destination. A message is closed when all have, and its grant is
    /// here. True if it was the last packet of one of these messages.
    pub fn acknowledged(&mut self, nic: &mut dyn NicContext, origin: &Origin) -> bool {
        let key = (nic.nic(), origin.source, origin.message);
        let Some(open) = self.open.get_mut(&key) else {
            return false;
        };
        open.missing -= 1;
        let last = open.missing == 0;
        if last && open.granted != NEVER {
            self.open.remove(&key);
        }
        last
    }

    /// A grant has arrived: all packets of the message that are not under way are sent at its time.
    pub fn granted(&mut self, nic: &mut dyn NicContext, origin: &Origin) {
        let key = (nic.nic(), origin.source, origin.message);
        let Some(open) = self.open.get_mut(&key) else {
            return;
        };
        let at = origin.time().unwrap_or(0);
        open.granted = at;
        let held = open.held.take();
        let done = open.missing == 0;
        let rest = nic.withdraw(origin);
        for part in held.into_iter().flat_map(|held| *held).chain(rest) {
            nic.resend(at, false, origin.source, Origin { part, ..*origin });
        }
        if done {
            self.open.remove(&key);
        }
    }

    /// A packet was dropped: no more speculation with this message. False if the message is not one
    /// of these.
    pub fn lost(&mut self, nic: &mut dyn NicContext, origin: &Origin) -> bool {
        let Some(open) = self
            .open
            .get_mut(&(nic.nic(), origin.source, origin.message))
        else {
            return false;
        };
        if open.granted == NEVER {
            let held = open.held.get_or_insert_default();
            held.push(origin.part);
            held.extend(nic.withdraw(origin));
        } else {
            nic.resend(open.granted, false, origin.source, *origin);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Seen, about, origin};
    use super::*;
    use weir_model::PacketKind;

    /// Open messages pile up at a source past saturation, and are most of the memory of such a run.
    #[test]
    fn open_messages_are_counted_as_memory() {
        let (mut open, about) = (Handshakes::default(), about(4, 64));
        let none = open.memory_bytes();
        let mut nic = Seen::at(0);
        for message in 0..1_000 {
            open.begin(&about, &mut nic, 7, &origin(PacketKind::ACK, 7, message));
        }
        let entry = Handshakes::EACH.kept;
        let held = open.memory_bytes() - none;
        assert!((1_000 * entry..3_000 * entry).contains(&held), "{held}");
    }
}
