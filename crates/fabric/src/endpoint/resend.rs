//! Sends packets again: at a time that was given, or once more in the lossy class.

use crate::state::ends::resend::Resend;

use crate::domain::FabricDomain;
use crate::endpoint::sending::{Blocked, blank};
use crate::endpoint::sending::{Sending, turn_of};
use crate::setup::plain::Compiled;
use weir_model::{Classes, Origin, PacketIndex, PacketKind, Time};

impl<K: Compiled> FabricDomain<K> {
    /// A packet that is sent again.
    pub(super) fn again_from(
        &mut self,
        nic: u32,
        output: u32,
        lossy: bool,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let list = &self.ends.resends[nic as usize];
        if !lossy && list.due() > now {
            blocked.again = blocked.again.min(list.due());
            return None;
        }
        let Resend { to, origin } = *list.peek(lossy)?;
        let payload = self.about.payload(origin.message_bits, origin.part);
        let flits = self.about.flit.flits(payload) as u16;
        let class = if lossy {
            Classes::LOSSY
        } else {
            self.fixed.classes.data
        };
        let sending = Sending {
            destination: to,
            class,
            job: origin.job,
            flits,
            control: false,
            turn: turn_of(&origin),
        };
        match self.injection_queue(output, sending, now) {
            Ok(queue) => {
                self.ends.resends[nic as usize].pop(lossy);
                let origin = Origin {
                    source: self.ends.nics[nic as usize].id,
                    kind: PacketKind::DATA.number(),
                    ..origin.with_payload(payload as u32)
                };
                self.records.stats.resent(lossy);
                if self.fixed.can.reserves {
                    let (ring, which) = (
                        &mut self.ends.nics[nic as usize].ring,
                        (origin.job, origin.message, origin.part),
                    );
                    let first = self.ends.sends.sent_withdrawn(nic, ring, to, which);
                    self.begin_message(nic, first, now);
                }
                let packet = blank(to, class, 0, flits, now);
                Some((self.pool.insert(packet, origin), queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }
}
