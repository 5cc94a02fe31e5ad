//! Flows and phases of a run: measured values beside the results of the fluid model for the paths
//! of the flows.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::fluid::{Fluid, Link, Load};
use super::rows::all_iterations;
use crate::plan::Plan;
use weir_fabric::{DomainReport, FlowBegin, Place};
use weir_model::table::IterationRow;
use weir_model::{LinkRate, Time};
use weir_result::{FlowRow, Flows, Job, PhaseRow, Phases};

/// A flow that has begun.
struct Flow {
    begin: FlowBegin,
    /// None if it has not come.
    received: Option<Time>,
    /// Bits that came in the measurement window, and the time in which they were sent, ps.
    measured: Option<(u64, Time)>,
    /// Links, and the flits that each is to carry.
    way: Vec<(Link, u64)>,
}

impl Flow {
    /// Time for which it was sent, ps.
    fn time(&self) -> Option<Time> {
        Some(self.received?.saturating_sub(self.begin.started).max(1))
    }

    /// Fraction of its message that is sent per picosecond, of what comes in the measurement window;
    /// none if fewer than two packets came. (By the times when packets were sent: when they come
    /// depends on how long each waited on its way.)
    fn normalised_rate(&self) -> f64 {
        let (bits, time) = self.measured.unwrap_or((0, 1));
        bits as f64 / time.max(1) as f64 / self.begin.bits.max(1) as f64
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
    for ((job, phase), own) in by_phase(reports) {
        let mut rows = iterations.iter();
        let iteration = rows.find(|row| (row.job, row.iteration) == (job, phase));
        let ended = |row: &IterationRow| row.tasks == row.ended;
        // A run may end between two flows of a phase.
        let over = !jobs[job as usize].is_cut_off() || iteration.is_some_and(ended);
        add_phase(
            plan,
            OnePhase { job, phase, over },
            &own,
            &mut flows,
            &mut phases,
        );
    }
    (flows, phases)
}

/// All flows that have begun, by job and phase; in a phase by source, then number.
fn by_phase(reports: &[DomainReport]) -> BTreeMap<(u32, u32), Vec<Flow>> {
    let mut ways: FxHashMap<Key, Vec<(Link, u64)>> = FxHashMap::default();
    for hop in reports.iter().flat_map(|report| &report.flows.hops) {
        let link = Link::Port(hop.router, hop.port.into());
        let way = ways.entry((hop.source, hop.message)).or_default();
        way.push((link, hop.flits));
    }
    let rows = reports.iter().flat_map(|report| &report.messages);
    let received: FxHashMap<Key, Time> = rows
        .map(|row| ((row.source, row.message), row.received_ps))
        .collect();
    let rates = reports.iter().flat_map(|report| &report.flows.rates);
    let measured: FxHashMap<Key, (u64, Time)> = rates
        .map(|one| ((one.source, one.message), (one.bits, one.last - one.first)))
        .collect();
    let mut phases: BTreeMap<(u32, u32), Vec<Flow>> = BTreeMap::new();
    for begin in reports.iter().flat_map(|report| &report.flows.rows) {
        let key = (begin.source, begin.message);
        let mut way = ways.remove(&key).unwrap_or_default();
        complete(&mut way, begin.flits);
        way.push((Link::Source(begin.source), begin.flits));
        let flow = Flow {
            begin: *begin,
            received: received.get(&key).copied(),
            measured: measured.get(&key).copied(),
            way,
        };
        let phase = (u32::from(begin.job), begin.iteration);
        phases.entry(phase).or_default().push(flow);
    }
    for own in phases.values_mut() {
        own.sort_unstable_by_key(|flow| (flow.begin.source, flow.begin.message));
    }
    phases
}

/// Adds the part that has not come, on the path of the part that was sent. A flow on one path has
/// all of its flits on each link, whatever is on its way when the run ends; one whose packets took
/// several paths has them in proportion, and the first link carries all of it.
fn complete(way: &mut [(Link, u64)], flits: u64) {
    // The ports of a router are one after the other.
    let one_path = way.windows(2).all(|two| !two[0].0.is_beside(two[1].0));
    let sent = way.iter().map(|(_, flits)| *flits).max().unwrap_or(0);
    for (_, carried) in way {
        let share = if one_path { sent } else { *carried };
        let all = u128::from(share) * u128::from(flits) / u128::from(sent.max(1));
        *carried = u64::try_from(all).unwrap_or(u64::MAX);
    }
}

/// Rate of a link.
fn rate(plan: &Plan, link: Link) -> LinkRate {
    let network = plan.network();
    let from = match link {
        Link::Source(endpoint) => Place::Nic(endpoint),
        Link::Port(router, port) => Place::Router(router, port as u16),
    };
    network.rate(&network.link(from))
}

/// A phase of a job.
#[derive(Clone, Copy)]
struct OnePhase {
    job: u32,
    phase: u32,
    /// True if no more flows of it will begin.
    over: bool,
}

fn add_phase(
    plan: &Plan,
    OnePhase { job, phase, over }: OnePhase,
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
        let alone = rate(plan, Link::Source(flow.begin.source)).time_of(flow.begin.flits);
        let over = |time: Time| alone as f64 / time as f64;
        flows.extend([FlowRow {
            job,
            phase,
            source: flow.begin.source,
            destination: flow.begin.destination,
            bytes: flow.begin.bits / 8,
            generated_ps: flow.begin.generated,
            started_ps: flow.begin.started,
            received_ps: flow.received.unwrap_or(0),
            optimum_ps: load.weight,
            rate: flow.time().map_or(f64::NAN, over),
            measured_rate: alone as f64 * flow.normalised_rate(),
            contention: load.contention,
        }]);
    }
    let all = fluid.on_any();
    let begin = own
        .iter()
        .map(|flow| flow.begin.generated)
        .min()
        .unwrap_or(0);
    let ends: Option<Vec<Time>> = own.iter().map(|flow| flow.received).collect();
    let end = ends
        .filter(|_| over)
        .and_then(|ends| ends.into_iter().max());
    // Normalised rates: of a flow, 1 / its time; calculated, 1 / its largest weight, of which the
    // least is 1 / the largest of all.
    let times: Option<Vec<Time>> = own.iter().map(Flow::time).collect();
    let longest = times
        .filter(|_| over)
        .and_then(|times| times.into_iter().max());
    let slowest = own.iter().map(Flow::normalised_rate).reduce(f64::min);
    let optimum = all.weight.max(1) as f64;
    let sum: u64 = loads.iter().map(|load| load.contention).sum();
    let stretch = |end: Time| (end - begin) as f64 / optimum;
    phases.extend([PhaseRow {
        job,
        phase,
        begin_ps: begin,
        end_ps: end.unwrap_or(0),
        flows: own.len() as u64,
        optimum_ps: all.weight,
        stretch: end.map_or(f64::NAN, stretch),
        rate_ratio: longest.map_or(f64::NAN, |longest| optimum / longest as f64),
        measured_ratio: slowest.unwrap_or(0.0) * optimum,
        contention: all.contention,
        mean_contention: sum as f64 / own.len().max(1) as f64,
    }]);
}
