use super::kinds::GRANT;
use super::{About, NicContext, times};
use crate::config::{ConfigError, Section};
use crate::model::{Invalid, Origin, Time};

/// Hands out times to send to endpoints: one schedule per endpoint (Jiang et al., SC15, sections 2.2 and 3.2).
///
/// What is granted comes a round trip later than the time that was free when it was granted. If every time were given
/// away, what came late would stand in the queue for as long as the schedule is full. So a little more is booked than is
/// asked for; speculative packets use what is left.
#[derive(Clone, Debug)]
pub struct Scheduler {
    about: About,
    /// How much is booked for each flit that is asked for.
    slack: f64,
    /// Flits booked besides: the reservation's own, where it takes the endpoint's link.
    overhead: u64,
    /// By endpoint: when its link has been given away up to, ps.
    booked: Vec<Time>,
}

impl Scheduler {
    /// Without endpoints. A schedule that books less than is sent would overload its endpoint for ever.
    pub fn new(
        section: &Section,
        about: About,
        slack: f64,
        overhead: u64,
    ) -> Result<Self, ConfigError> {
        if !(1.0..=100.0).contains(&slack) {
            let what = "a schedule has to book at least what is sent";
            let remedy = "give a number from 1 to 100, such as 1.05";
            return Err(section.refuse(Invalid::new("slack", what, remedy)));
        }
        Ok(Scheduler {
            about,
            slack,
            overhead,
            booked: Vec::new(),
        })
    }

    /// Nothing booked for any of `places`.
    pub fn prepare(&mut self, places: usize) {
        self.booked = vec![0; places];
    }

    /// The first free time for so many flits.
    pub fn book(&mut self, place: u32, flits: u64, now: Time) -> Time {
        let booked = &mut self.booked[place as usize];
        let start = now.max(*booked);
        let time = self.about.link_time(flits.saturating_add(self.overhead));
        *booked = start.saturating_add(times(self.slack, time as f64));
        start
    }

    /// Answers a reservation at the endpoint's own NIC.
    pub fn answer(&mut self, nic: &mut dyn NicContext, origin: &Origin) {
        let at = self.book(nic.nic(), origin.flits(), nic.now());
        nic.reply(GRANT, origin.source, origin.with_time(Some(at)));
    }
}
