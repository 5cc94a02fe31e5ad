use std::sync::Arc;

use super::domain::FabricDomain;
use super::nic::NewMessage;
use crate::congestion::Scheme;
use crate::model::{EndpointId, Rng, Time, stream};
use crate::workload::injection::{Clock, Injector};
use crate::workload::patterns::Pattern;
use crate::workload::sizes::Sizes;

/// Purposes of random streams.
const SOURCE_STREAM: u64 = 2;

/// One workload, the same for all domains.
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// The endpoints of its tasks, in task order.
    pub tasks: Arc<[EndpointId]>,
    /// The same, ascending.
    pub members: Arc<[EndpointId]>,
    /// Who sends to whom.
    pub pattern: Box<dyn Pattern>,
    /// How much.
    pub sizes: Sizes,
    /// When.
    pub injector: Injector,
    /// From when on, ps.
    pub start: Time,
    /// Until when, ps.
    pub stop: Time,
}

impl Traffic {
    /// True if an endpoint generates messages.
    pub fn sends(&self, endpoint: EndpointId) -> bool {
        self.members.binary_search(&endpoint).is_ok() && self.pattern.sends(endpoint)
    }
}

/// One endpoint that generates messages for one workload.
pub struct Source {
    nic: u32,
    job: u16,
    rng: Rng,
    clock: Clock,
}

impl Source {
    /// A source and the time of its first message. Its random numbers depend on the seed, the workload and the
    /// endpoint only.
    pub fn new(
        traffic: &Traffic,
        job: u16,
        nic: u32,
        endpoint: EndpointId,
        seed: u64,
    ) -> (Source, Time) {
        let mut rng = stream(seed, &[SOURCE_STREAM, u64::from(job), u64::from(endpoint)]);
        let clock = traffic.injector.first(&mut rng, traffic.start);
        let first = clock.time();
        (
            Source {
                nic,
                job,
                rng,
                clock,
            },
            first,
        )
    }
}

impl<S: Scheme> FabricDomain<S> {
    /// A source generates a message, and the time of its next one is drawn.
    pub(super) fn generate(&mut self, index: u32, now: Time) {
        let source = &mut self.sources[index as usize];
        let traffic = &self.traffic[usize::from(source.job)];
        let from = self.nics[source.nic as usize].id;
        let destination = traffic.pattern.destination(from, now, &mut source.rng);
        let bits = traffic.sizes.draw(&mut source.rng);
        let next = traffic.injector.next(&mut source.clock, &mut source.rng);
        let (nic, job, stop) = (source.nic, source.job, traffic.stop);
        self.schedule_generation(index, next, stop);
        if let Some(destination) = destination {
            self.submit(
                NewMessage {
                    nic,
                    destination,
                    bits,
                    job,
                },
                now,
            );
        }
    }
}
