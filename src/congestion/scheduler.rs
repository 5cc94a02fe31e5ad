use super::{About, Desk};
use crate::model::{Origin, PacketKind, Time};

/// Hands out times to send to endpoints, back to back: one schedule per endpoint (paper 000 sections 2.2 and 3.2).
#[derive(Clone, Debug)]
pub struct Scheduler {
    about: About,
    /// By endpoint: when its link has been given away up to, ps.
    booked: Vec<Time>,
}

impl Scheduler {
    /// Without endpoints.
    pub fn new(about: About) -> Self {
        Scheduler {
            about,
            booked: Vec::new(),
        }
    }

    /// Nothing booked for any of `places`.
    pub fn prepare(&mut self, places: usize) {
        self.booked = vec![0; places];
    }

    /// The first free time for so many flits.
    pub fn book(&mut self, place: u32, flits: u32, now: Time) -> Time {
        let booked = &mut self.booked[place as usize];
        let start = now.max(*booked);
        *booked = start + self.about.link_time(u64::from(flits));
        start
    }

    /// Answers a reservation at the endpoint's own NIC.
    pub fn answer<D: Desk>(&mut self, desk: &mut D, origin: &Origin) {
        let at = self.book(desk.nic(), origin.payload_bits, desk.now());
        desk.reply(PacketKind::Grant, origin.source, origin.with_time(Some(at)));
    }
}
