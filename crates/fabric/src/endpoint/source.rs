//! Generates the messages of open-loop traffic.

use crate::setup::plain::Compiled;
use crate::setup::traffic::Drive;

use crate::domain::FabricDomain;
use crate::endpoint::sending::NewMessage;
use crate::state::event::EventKind;
use weir_model::{Stamp, Time};

impl<K: Compiled> FabricDomain<K> {
    /// Schedules the first message of every source.
    pub(crate) fn start_sources(&mut self) {
        for index in 0..self.ends.sources.len() {
            let source = &self.ends.sources[index];
            let (first, job) = (source.clock.time(), usize::from(source.job));
            if first < self.traffic[job].stop {
                self.schedule(EventKind::Generate, index as u32, first);
            }
        }
    }

    /// A source generates a message, and the time of its next one is drawn.
    pub(crate) fn generate(&mut self, index: u32, now: Time) {
        let source = &mut self.ends.sources[index as usize];
        let traffic = &self.traffic[usize::from(source.job)];
        let Drive::Pattern(open) = &traffic.drive else {
            return;
        };
        let from = self.ends.nics[source.nic as usize].id;
        let destination = open.pattern.destination(from, now, &mut source.rng);
        let bits = open.sizes.draw(&mut source.rng);
        let injector = open.injector(self.network.topology.as_ref(), from);
        let next = injector.next(&mut source.clock, &mut source.rng);
        let (nic, job, stop) = (source.nic, source.job, traffic.stop);
        if next < stop {
            self.schedule(EventKind::Generate, index, next);
        }
        if let Some(destination) = destination {
            self.submit(
                NewMessage {
                    nic,
                    destination,
                    bits,
                    job,
                    stamp: Stamp::NONE,
                },
                now,
            );
        }
    }
}
