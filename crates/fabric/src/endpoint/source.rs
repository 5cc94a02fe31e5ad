use crate::setup::plain::Compiled;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::hosts::Application;
use super::nic::NewMessage;
use crate::domain::FabricDomain;
use crate::event::EventKind;
use weir_model::{EndpointId, Rng, Span, Stamp, Time, stream};
use weir_workload::open::injection::{Clock, Injector};
use weir_workload::open::sizes::Sizes;
use weir_workload::patterns::Pattern;

/// Purposes of random streams.
const SOURCE_STREAM: u64 = 2;

/// One workload, the same for all domains.
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Its number in the experiment file, of which its random streams are made.
    pub number: u16,
    /// The endpoints of its tasks, in task order.
    pub tasks: Arc<[EndpointId]>,
    /// The same, ascending.
    pub members: Arc<[EndpointId]>,
    /// What makes it send.
    pub drive: Drive,
    /// From when on, ps.
    pub start: Time,
    /// Until when, ps.
    pub stop: Time,
    /// Of an application: whether a run to completion does not wait for it.
    pub background: bool,
}

/// What makes endpoints send.
pub enum Drive {
    /// Messages are generated, whatever becomes of them.
    Pattern(Open),
    /// Tasks that wait for each other.
    Motif(Application),
}

/// Open-loop traffic.
pub struct Open {
    /// Who sends to whom.
    pub pattern: Box<dyn Pattern>,
    /// How much.
    pub sizes: Sizes,
    /// When.
    pub injector: Injector,
}

impl Traffic {
    /// From its start to its stop.
    pub fn on(&self) -> Span {
        Span {
            from: self.start,
            to: self.stop,
        }
    }

    /// True if an endpoint generates messages.
    pub fn sends(&self, endpoint: EndpointId) -> bool {
        let Drive::Pattern(open) = &self.drive else {
            return false;
        };
        self.members.binary_search(&endpoint).is_ok() && open.pattern.sends(endpoint)
    }

    /// The application, if it is one.
    pub fn application(&self) -> Option<&Application> {
        match &self.drive {
            Drive::Pattern(_) => None,
            Drive::Motif(application) => Some(application),
        }
    }
}

/// One endpoint that generates messages for one workload.
#[derive(Serialize, Deserialize)]
pub struct Source {
    nic: u32,
    job: u16,
    rng: Rng,
    clock: Clock,
}

impl Source {
    /// The NIC that sends what it generates, as its place in the domain.
    pub fn nic(&self) -> u32 {
        self.nic
    }

    /// True if another one is the same workload's at the same NIC.
    pub fn same_place(&self, other: &Source) -> bool {
        (self.nic, self.job) == (other.nic, other.job)
    }

    /// A source, its first message not generated; None if the workload is no open-loop traffic. Its random numbers depend
    /// on the seed, the workload and the endpoint only.
    pub fn new(
        traffic: &Traffic,
        job: u16,
        nic: u32,
        endpoint: EndpointId,
        seed: u64,
    ) -> Option<Source> {
        let Drive::Pattern(open) = &traffic.drive else {
            return None;
        };
        let number = u64::from(traffic.number);
        let mut rng = stream(seed, &[SOURCE_STREAM, number, u64::from(endpoint)]);
        let clock = open.injector.first(&mut rng, traffic.start);
        Some(Source {
            nic,
            job,
            rng,
            clock,
        })
    }
}

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
        let next = open.injector.next(&mut source.clock, &mut source.rng);
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
