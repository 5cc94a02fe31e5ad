//! Times that follow from the links and routers of a network.

use super::{Network, RouterParameters};
use crate::Switching;
use weir_input::OutputQueue;
use weir_model::{DomainId, Time};
use weir_network::topology::Place;

impl Network {
    /// Time by which it is known in advance that a head or a credit will be on a link between
    /// routers, ps. No packet is shorter than `shortest` flits.
    ///
    /// If input queues feed the links, a head is on the link one router latency after it was let
    /// across. The credit of its place in the input buffer comes back no sooner than all of it has
    /// left for a link. An output queue gives no notice.
    pub fn settled_before(&self, shortest: u64) -> Time {
        let least = |of: fn(&RouterParameters) -> Time| self.routers.iter().map(of).min();
        let head = least(|router| match router.output_queue {
            OutputQueue::None => router.latency,
            _ => 0,
        });
        let links = self.topology.links().into_iter();
        let lengths = links.map(|links| self.rate(&links.link).time_of(shortest));
        let credit = least(|router| router.credit_delay).zip(lengths.min());
        let credit = credit.map(|(delay, length)| delay.saturating_add(length));
        head.zip(credit)
            .map_or(0, |(head, credit)| head.min(credit))
    }

    /// Length of a time step of routers with [`Switching::TimeSteps`], ps; 0 if there are none: the
    /// time of the longest packet on the slowest link, the longest latency of a link, the longest
    /// latency of a router or delay of a credit, and 1 ps. So a packet that leaves with one step
    /// has come, and its place is free, before the next begins, on links as built: its credit goes
    /// back over the link before.
    pub fn step(&self) -> Time {
        let stepped = (self.routers.iter()).any(|one| one.switching == Switching::TimeSteps);
        if !stepped {
            return 0;
        }
        let ways = (self.routers.iter()).map(|one| one.latency.max(one.credit_delay));
        let links = self.topology.links();
        let lengths = links.iter().map(|links| links.link.latency);
        let (way, length) = (ways.max().unwrap_or(0), lengths.max().unwrap_or(0));
        let step = self.longest_packet().saturating_add(length);
        step.saturating_add(way).saturating_add(1)
    }

    /// The time of the longest packet on the slowest link as built, ps.
    pub fn longest_packet(&self) -> Time {
        let (links, flits) = (self.topology.links(), self.parameters.max_packet.into());
        let times = links
            .iter()
            .map(|links| self.rate(&links.link).time_of(flits));
        times.max().unwrap_or(0)
    }

    /// The time that the wheel of a domain's events is to cover at least, ps: three delays, or a
    /// time step.
    pub fn horizon(&self, domain: DomainId) -> Time {
        (2 * self.longest_latency(domain) + self.longest_crossing()).max(self.step())
    }

    /// The latencies of all links of a domain, ps.
    fn latencies(&self, domain: DomainId) -> impl Iterator<Item = Time> + '_ {
        let routers = self.partition.routers(domain).iter();
        routers.flat_map(move |&router| {
            let ports = 0..self.topology.ports(router);
            ports.map(move |port| self.link(Place::Router(router, port)).latency)
        })
    }

    /// The least latency of any link as built, and the longest of any, ps.
    pub fn latency_range(&self) -> (Time, Time) {
        let links = self.topology.links();
        let latencies = || links.iter().map(|links| links.link.latency);
        let failed = self.failures.iter().map(|(_, own)| own.link.latency);
        (
            latencies().min().unwrap_or(1),
            latencies().chain(failed).max().unwrap_or(1),
        )
    }

    /// The longest latency of any link of a domain, for the size of its event wheel.
    pub fn longest_latency(&self, domain: DomainId) -> Time {
        self.latencies(domain).max().unwrap_or(1)
    }
}
