//! Flows and phases of a run: what was measured beside what the fluid model calculates for the ways that flows took.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::fluid::{Fluid, Link, Load};
use super::rows::all_iterations;
use crate::plan::Plan;
use weir_fabric::{DomainReport, IterationRow};
use weir_model::{LinkRate, Time};
use weir_result::{Flows, Job, Phases};

/// A flow that has begun.
struct Flow {
    source: u32,
    message: u32,
    destination: u32,
    bits: u64,
    flits: u64,
    generated: Time,
    started: Time,
    /// None if it has not come.
    received: Option<Time>,
    /// What came in the measurement window: so many bits in so much time, ps.
    measured: Option<(u64, Time)>,
    /// Links, and the flits that each is to carry.
    way: Vec<(Link, u64)>,
}

impl Flow {
    /// How long it was sent, ps.
    fn time(&self) -> Option<Time> {
        Some(self.received?.saturating_sub(self.started).max(1))
    }

    /// Its share per picosecond of what it has to send, in the measurement window; none if fewer than two packets came.
    fn normalised_rate(&self) -> f64 {
        let (bits, time) = self.measured.unwrap_or((0, 1));
        bits as f64 / time.max(1) as f64 / self.bits.max(1) as f64
    }
}

/// Source and number of a message.
type Key = (u32, u32);

/// The tables of flows and of phases.
///
/// `jobs`: the jobs of the run, in their order.
pub(super) fn tables(reports: &[DomainReport], plan: &Plan, jobs: &[Job]) -> (Flows, Phases) {
    let (mut flows, mut phases) = (Flows::default(), Phases::default());
    let iterations = all_iterations(reports);
    for ((job, phase), own) in by_phase(reports, &iterations) {
        let mut own_iterations = iterations.iter().filter(|row| row[0] == u64::from(job));
        let ended = |[.., tasks, ended]: &IterationRow| tasks == ended;
        // A run may end between two flows of a phase.
        let over = jobs[job as usize].over || own_iterations.nth(phase as usize).is_some_and(ended);
        add_phase(
            plan,
            Place { job, phase, over },
            &own,
            &mut flows,
            &mut phases,
        );
    }
    (flows, phases)
}

/// All flows that have begun, by job and phase; in a phase by source, then number.
fn by_phase(
    reports: &[DomainReport],
    iterations: &[IterationRow],
) -> BTreeMap<(u32, u32), Vec<Flow>> {
    let mut ways: FxHashMap<Key, Vec<(Link, u64)>> = FxHashMap::default();
    for &[router, port, source, message, flits] in
        reports.iter().flat_map(|report| &report.flows.hops)
    {
        let link = Link::Port(router as u32, port as u32);
        ways.entry((source as u32, message as u32))
            .or_default()
            .push((link, flits));
    }
    let rows = reports.iter().flat_map(|report| &report.messages);
    let received: FxHashMap<Key, Time> = rows
        .map(|&[source, message, .., received]| ((source as u32, message as u32), received))
        .collect();
    let rates = reports.iter().flat_map(|report| &report.flows.rates);
    let measured: FxHashMap<Key, (u64, Time)> = rates
        .map(|&[source, message, first, last, bits]| {
            ((source as u32, message as u32), (bits, last - first))
        })
        .collect();
    let begins = begins(iterations);
    let mut phases: BTreeMap<(u32, u32), Vec<Flow>> = BTreeMap::new();
    for &[
        source,
        message,
        destination,
        job,
        bits,
        flits,
        generated,
        started,
    ] in reports.iter().flat_map(|report| &report.flows.rows)
    {
        let key = (source as u32, message as u32);
        let mut way = ways.remove(&key).unwrap_or_default();
        complete(&mut way, flits);
        way.push((Link::Source(key.0), flits));
        let own = begins.get(&(job as u32)).map_or(&[][..], Vec::as_slice);
        let phase = own
            .partition_point(|&begin| begin <= generated)
            .saturating_sub(1);
        let flow = Flow {
            source: key.0,
            message: key.1,
            destination: destination as u32,
            bits,
            flits,
            generated,
            started,
            received: received.get(&key).copied(),
            measured: measured.get(&key).copied(),
            way,
        };
        phases
            .entry((job as u32, phase as u32))
            .or_default()
            .push(flow);
    }
    for own in phases.values_mut() {
        own.sort_unstable_by_key(|flow| (flow.source, flow.message));
    }
    phases
}

/// What is not sent goes as what was sent: the first link carries all of it.
fn complete(way: &mut [(Link, u64)], flits: u64) {
    let sent = way.iter().map(|(_, flits)| *flits).max().unwrap_or(0);
    for (_, carried) in way {
        let all = u128::from(*carried) * u128::from(flits) / u128::from(sent.max(1));
        *carried = u64::try_from(all).unwrap_or(u64::MAX);
    }
}

/// When the iterations of each application began, in their order.
fn begins(iterations: &[IterationRow]) -> FxHashMap<u32, Vec<Time>> {
    let mut begins: FxHashMap<u32, Vec<Time>> = FxHashMap::default();
    for [job, _, begin, ..] in iterations {
        begins.entry(*job as u32).or_default().push(*begin);
    }
    begins
}

/// How long flits take on a link.
fn rate(plan: &Plan, link: Link) -> LinkRate {
    let (network, topology) = (plan.network(), &plan.network().topology);
    let link = match link {
        Link::Source(endpoint) => {
            let (router, port) = topology.attachment(endpoint);
            topology.link(router, port)
        }
        Link::Port(router, port) => topology.link(router, port as u16),
    };
    network.rate(&link)
}

/// A phase of a job.
#[derive(Clone, Copy)]
struct Place {
    job: u32,
    phase: u32,
    /// True if no more flows of it will begin.
    over: bool,
}

fn add_phase(
    plan: &Plan,
    Place { job, phase, over }: Place,
    own: &[Flow],
    flows: &mut Flows,
    phases: &mut Phases,
) {
    let mut fluid = Fluid::default();
    for &(link, flits) in own.iter().flat_map(|flow| &flow.way) {
        fluid.add(link, flits, rate(plan, link));
    }
    let loads: Vec<Load> = own
        .iter()
        .map(|flow| fluid.on_way(flow.way.iter().map(|(link, _)| *link)))
        .collect();
    for (flow, load) in own.iter().zip(&loads) {
        let alone = rate(plan, Link::Source(flow.source)).time_of(flow.flits);
        flows.job.push(job);
        flows.phase.push(phase);
        flows.source.push(flow.source);
        flows.destination.push(flow.destination);
        flows.bytes.push(flow.bits / 8);
        flows.generated_ps.push(flow.generated);
        flows.started_ps.push(flow.started);
        flows.received_ps.push(flow.received.unwrap_or(0));
        flows.optimum_ps.push(load.weight);
        let over = |time: Time| alone as f64 / time as f64;
        flows.rate.push(flow.time().map_or(f64::NAN, over));
        flows
            .measured_rate
            .push(alone as f64 * flow.normalised_rate());
        flows.contention.push(load.contention);
    }
    let all = fluid.on_any();
    let begin = own.iter().map(|flow| flow.generated).min().unwrap_or(0);
    let ends: Option<Vec<Time>> = own.iter().map(|flow| flow.received).collect();
    let end = ends
        .filter(|_| over)
        .and_then(|ends| ends.into_iter().max());
    // Normalised rates: of a flow, 1 / its time; calculated, 1 / its largest weight, of which the least is 1 / the largest of all.
    let times: Option<Vec<Time>> = own.iter().map(Flow::time).collect();
    let longest = times
        .filter(|_| over)
        .and_then(|times| times.into_iter().max());
    let slowest = own.iter().map(Flow::normalised_rate).reduce(f64::min);
    let optimum = all.weight.max(1) as f64;
    let sum: u64 = loads.iter().map(|load| load.contention).sum();
    phases.job.push(job);
    phases.phase.push(phase);
    phases.begin_ps.push(begin);
    phases.end_ps.push(end.unwrap_or(0));
    phases.flows.push(own.len() as u64);
    phases.optimum_ps.push(all.weight);
    let stretch = |end: Time| (end - begin) as f64 / optimum;
    phases.stretch.push(end.map_or(f64::NAN, stretch));
    phases
        .rate_ratio
        .push(longest.map_or(f64::NAN, |longest| optimum / longest as f64));
    phases.measured_ratio.push(slowest.unwrap_or(0.0) * optimum);
    phases.contention.push(all.contention);
    phases
        .mean_contention
        .push(sum as f64 / own.len().max(1) as f64);
}
