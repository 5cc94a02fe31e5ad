//! Estimates the memory of a network from its numbers: nothing is built.

use crate::domain::FabricDomain;
use crate::setup::blueprint::Blueprint;
use crate::setup::plain::Rich;
use crate::setup::traffic::Application;
use crate::setup::traffic::{Drive, Traffic};
use crate::state::Ring;
use crate::state::ends::nic::Nic;
use crate::state::ends::resend::Resends;
use crate::state::ends::source::Source;
use crate::state::ports::wide_port::{MOST_BITS, WidePorts};
use crate::state::{Channel, HeadQueue, Input, Output, Router};
use weir_congestion::Scheme;
use weir_model::LinkKind;
use weir_network::topology::Links;
use weir_workload::tasks::{Op, Script};

/// Number of endpoints or tasks that are examined to estimate all.
const SAMPLES: usize = 256;

/// Outputs on which a scheme is tried.
const OUTPUTS: usize = 1 << 12;

/// Bytes of the event queue of a domain, and of its lists at their least.
const DOMAIN: u64 = 40_000;

/// Bytes that the state of all domains takes before anything is sent, within some percent of the
/// sum of [`Part::memory_bytes`](crate::Part::memory_bytes).
pub fn expected_state(blueprint: &Blueprint, scheme: &dyn Scheme) -> u64 {
    let network = &blueprint.network;
    let topology = &network.topology;
    let classes = u64::from(network.classes.count());
    let nics = u64::from(topology.endpoints());
    let can = scheme.capabilities();
    let own = if can.answers { topology.routers() } else { 0 };
    let ports = topology.all_ports() + u64::from(own);
    let outputs = ports + nics;
    let links = topology.links();
    let buffers = |links: &Links| match links.link.kind {
        LinkKind::TERMINAL => links.count,
        _ => 2 * links.count,
    };
    // Queues of wide ports are made when they are used.
    let is_wide = |links: &&Links| network.channels(links.link.kind) > MOST_BITS;
    let wide_ports = links.iter().filter(is_wide).map(buffers).sum::<u64>();
    let few = links.iter().filter(|links| !is_wide(links));
    let queued = few.map(|links| buffers(links) * u64::from(network.channels(links.link.kind)));
    let queued = queued.sum::<u64>();
    // A link to an endpoint has one channel per class down, besides those of the NIC up.
    let channels = queued + classes * nics;
    let fifos = match network.queueing.by_output() {
        true => 0,
        false => queued,
    };
    let bytes = |count: u64, size: usize| count * size as u64;
    let lists = bytes(u64::from(topology.routers()), size_of::<Router>())
        + bytes(ports, size_of::<Input>())
        + bytes(outputs, size_of::<Output>())
        + bytes(channels, size_of::<Channel>())
        + wide_ports * WidePorts::bytes(classes)
        + bytes(2 * outputs * classes, size_of::<Ring>())
        + bytes(fifos, size_of::<HeadQueue>())
        + bytes(nics, size_of::<Nic>());
    let words = (0..topology.routers()).map(|router| u64::from(network.routing.words(router)));
    let words = bytes(words.sum(), size_of::<u64>());
    let resends = if can.retransmits { nics } else { 0 };
    let scheme = scheme_bytes(scheme, nics, outputs);
    let traffic = blueprint.traffic.iter().map(traffic_bytes).sum::<u64>();
    let domains =
        u64::from(network.partition.domains()) * (DOMAIN + size_of::<FabricDomain<Rich>>() as u64);
    lists + words + bytes(resends, size_of::<Resends>()) + scheme + traffic + domains
}

/// Memory of a scheme's state, from what it prepares for a few outputs.
fn scheme_bytes(scheme: &dyn Scheme, nics: u64, outputs: u64) -> u64 {
    let part = (OUTPUTS as f64 / outputs.max(1) as f64).min(1.0);
    let few = |count: u64| (count as f64 * part).ceil() as usize;
    let tried = scheme.start(few(nics), few(outputs));
    (tried.memory_bytes() as f64 / part) as u64
}

/// Memory of sources, or of tasks with their first operations.
fn traffic_bytes(traffic: &Traffic) -> u64 {
    match &traffic.drive {
        Drive::Pattern(_) => (traffic.senders() * size_of::<Source>() as f64) as u64,
        Drive::Motif(application) => {
            traffic.tasks.len() as u64 * task_bytes(application) + size_of::<Traffic>() as u64
        }
    }
}

/// A task with the operations of the longest of its first parts, or what its process holds instead.
fn task_bytes(application: &Application) -> u64 {
    /// Parts of a program that are examined.
    const PARTS: u32 = 4;
    /// A task as a domain holds it, its place in two tables, and the times that it waits for.
    const TASK: usize = 700;
    let job = &application.job;
    let step = (job.tasks as usize).div_ceil(SAMPLES);
    let mut longest = Vec::new();
    for task in (0..job.tasks).step_by(step) {
        if let Some(bytes) = job.motif.process_bytes(task) {
            longest.push(bytes);
            continue;
        }
        let mut ops: Vec<Op> = Vec::new();
        let mut most = 0;
        for part in 0..PARTS {
            ops.clear();
            let mut script = Script::new(&mut ops, task, job.tasks);
            if !job.motif.part(part, &mut script) {
                break;
            }
            most = most.max(ops.len());
        }
        longest.push(most * size_of::<Op>());
    }
    let mean = longest.iter().sum::<usize>() / longest.len().max(1);
    (TASK + mean) as u64
}

impl Traffic {
    /// Approximate number of endpoints that generate messages: of many, only a sample is examined.
    pub fn senders(&self) -> f64 {
        let count = self.tasks.len();
        let step = count.div_ceil(SAMPLES * 16).max(1);
        let looked = self.tasks.iter().step_by(step);
        let sending = looked.clone().filter(|&&endpoint| self.sends(endpoint));
        sending.count() as f64 * count as f64 / looked.count().max(1) as f64
    }
}
