//! Takes packets in that come from other domains.

use crate::setup::plain::Compiled;

use crate::domain::FabricDomain;
use crate::state::InIndex;
use crate::state::event::EventKind;
use crate::state::mail::post::{PacketMail, SHORT};
use weir_model::PacketIndex;

impl<K: Compiled> FabricDomain<K> {
    /// Takes in packets that are on wires from a neighbouring domain, with the headers that the
    /// scheme has given them.
    pub(crate) fn take_packets(
        &mut self,
        neighbour: usize,
        mail: &mut Vec<PacketMail>,
        headers: &[u64],
    ) {
        let inbox = &mut self.mail.inboxes[neighbour];
        let Some(input) = inbox.entrance else {
            return self.take_into_pool(mail, headers);
        };
        let Some(first) = mail.first() else {
            return;
        };
        let (head, waiting) = (first.packet.head, inbox.first().is_some());
        if mail.len() < SHORT {
            for one in mail.drain(..) {
                inbox.push(one, &mut self.spare);
            }
        } else {
            inbox.take(mail, &mut self.spare);
        }
        if !waiting {
            self.schedule(EventKind::Arrive, input, head);
        }
    }

    fn take_into_pool(&mut self, mail: &[PacketMail], headers: &[u64]) {
        let words = self.pool.header_words();
        for (at, one) in mail.iter().enumerate() {
            let (index, input) = (self.pool.insert(one.packet, one.origin), one.input);
            if K::CC && words > 0 {
                let header = &headers[at * words..][..words];
                self.pool.header_mut(index).copy_from_slice(header);
            }
            self.ports.inputs[input as usize]
                .wire
                .push(&mut self.pool, index);
            self.schedule(EventKind::Arrive, input, one.packet.head);
        }
    }

    /// Takes the packet that arrives on the only wire from a neighbour.
    /// Only the first packet on such a wire has an event.
    pub(crate) fn next_of_inbox(&mut self, neighbour: u32, input: InIndex) -> Option<PacketIndex> {
        let inbox = &mut self.mail.inboxes[neighbour as usize];
        let pool = &mut self.pool;
        let index = inbox.pop(&mut self.spare, |mail| {
            pool.insert(mail.packet, mail.origin)
        })?;
        if let Some(next) = inbox.first() {
            let time = next.packet.head;
            self.schedule(EventKind::Arrive, input, time);
        }
        Some(index)
    }
}
