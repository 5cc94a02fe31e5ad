//! Endpoints that generate messages.

use crate::setup::traffic::{Drive, Traffic};
use serde::{Deserialize, Serialize};

use weir_model::{EndpointId, Rng, Time, purpose, stream, word};
use weir_network::topology::Topology;
use weir_workload::open::injection::Clock;

/// One endpoint that generates messages for one workload.
#[derive(Clone, Serialize, Deserialize)]
pub struct Source {
    /// The NIC that sends its messages, as its place in the domain.
    pub nic: u32,
    /// The workload.
    pub job: u16,
    pub rng: Rng,
    /// Time when the next message is generated.
    pub clock: Clock,
}

impl Source {
    /// True if another one is the same workload's at the same NIC.
    pub fn same_place(&self, other: &Source) -> bool {
        (self.nic, self.job) == (other.nic, other.job)
    }

    /// A source that starts at `start`, its first message not generated; None if the workload is no
    /// open-loop traffic. Its random numbers depend on the seed, the workload's
    /// name and the endpoint only.
    pub fn new(
        (traffic, topology): (&Traffic, &dyn Topology),
        (job, nic): (u16, u32),
        endpoint: EndpointId,
        start: Time,
        seed: u64,
    ) -> Option<Source> {
        let Drive::Pattern(open) = &traffic.drive else {
            return None;
        };
        let name = [purpose::SOURCE, word(&traffic.name), u64::from(endpoint)];
        let mut rng = stream(seed, &name);
        let clock = open.injector(topology, endpoint).first(&mut rng, start);
        Some(Source {
            nic,
            job,
            rng,
            clock,
        })
    }
}
