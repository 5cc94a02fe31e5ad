//! Puts the reports of all domains together on rank 0, checks that nothing was lost, and makes the
//! result of them.

pub(super) mod attribution;
pub(super) mod cost;
mod counters;
mod fluid;
mod jobs;
mod phases;
mod rows;
mod timeline;

use serde::{Deserialize, Serialize};
use weir_fabric::{DomainReport, Fabric, JobStats, Network, Step, TaskStep, Totals};

use crate::error::RunError;
use crate::notes::{inaction, losses, notes};
use crate::plan::{Plan, Warning, bandwidth_of};
pub use counters::{counts_as_nothing, scheme_numbers};
use counters::{kinds, scheme};
use jobs::{Ends, capacity, one_job, share};
use weir_engine::{End, Transport, gather};
use weir_model::table::{Attributes, Summary};
use weir_model::{Histogram, Outstanding, Span, Time};
use weir_result::schema::{ITERATION, LATENCY_CLASSES};
use weir_result::{Data, Latency, Scheme};

/// Facts about the run that may differ between runs.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Events processed.
    pub events: u64,
    /// Bytes held by the state of all domains, without packets.
    pub memory_state: u64,
    /// Bytes held for packets and mail.
    pub memory_packets: u64,
    /// Sum of the ranks' peak resident memory, bytes.
    pub peak_memory_bytes: u64,
    /// Host of each rank.
    pub hosts: Vec<String>,
}

/// Data that rank 0 has of a run that is over.
pub struct Collected {
    /// The measurements.
    pub data: Data,
    /// Facts about this run that may differ between runs.
    pub facts: Facts,
    /// The paths of watched packets: by packet, in order.
    pub steps: Vec<Step>,
    /// Log of tasks, by domain, in order; empty for a domain if it is not kept.
    pub tasks: Vec<Vec<TaskStep>>,
}

/// Report of one rank to rank 0 at the end of a run.
#[derive(Default, Serialize, Deserialize)]
pub struct RankReport {
    domains: Vec<DomainReport>,
    /// Those of watched packets here.
    steps: Vec<Step>,
    /// Log of tasks, by domain.
    tasks: Vec<Vec<TaskStep>>,
    peak_memory_bytes: u64,
    host: String,
}

impl RankReport {
    /// Report of the domains of this rank, which end here: their memory is needed for the tables.
    pub fn new(fabric: Fabric, simulated: Time) -> RankReport {
        let mut report = RankReport {
            host: crate::machine::host(),
            ..RankReport::default()
        };
        fabric.take_apart(&mut |part| {
            report.steps.extend_from_slice(part.steps());
            report.tasks.push(part.take_task_log());
            report.domains.push(part.report(simulated));
        });
        crate::machine::give_memory_back();
        report.peak_memory_bytes = crate::machine::peak_memory_bytes();
        report
    }
}

/// Collects on rank 0; None on the others.
pub fn collect(
    mine: RankReport,
    plan: &Plan,
    simulated: Time,
    end: End,
    transport: &mut dyn Transport,
) -> Result<Option<Collected>, RunError> {
    let Some(ranks) = gather(transport, mine)? else {
        return Ok(None);
    };
    let (mut list, mut steps, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
    let mut tasks = Vec::new();
    let mut peak_memory_bytes = 0;
    for mut rank in ranks {
        if end != End::Idle {
            (rank.domains.iter_mut()).for_each(|report| take_back_losses(report, simulated));
        }
        list.extend(rank.domains);
        steps.extend(rank.steps);
        tasks.extend(rank.tasks);
        hosts.push(rank.host);
        peak_memory_bytes += rank.peak_memory_bytes;
    }
    // Numbers come again after 2³² packets: by packet, then time, a packet's steps are together.
    steps.sort_by_key(|step| (step.packet, step.left));
    check(&list, end)?;
    check_ports(&list, simulated)?;
    check_payload(&list, plan)?;
    let facts = Facts {
        events: list.iter().map(|report| report.totals.events).sum(),
        memory_state: list.iter().map(|report| report.totals.memory_state).sum(),
        memory_packets: list.iter().map(|report| report.totals.memory_packets).sum(),
        peak_memory_bytes,
        hosts,
    };
    Ok(Some(Collected {
        data: merge(&list, plan, simulated),
        facts,
        steps,
        tasks,
    }))
}

/// Packets that an outage after the end of the run would lose are still on their way.
fn take_back_losses(report: &mut DomainReport, simulated: Time) {
    let all = report.failing.iter_mut().map(|one| &mut one.counts);
    for counts in all.filter(|counts| counts.last_outage.begins >= simulated) {
        let packets = counts.last_outage.lost;
        counts.lost -= packets;
        report.totals.tally.lost -= packets;
        report.summary.packets_dropped -= packets;
        report.summary.packets_in_flight += packets;
    }
}

/// The totals that domains have counted.
fn summary(reports: &[DomainReport]) -> Summary {
    let mut summary = Summary::default();
    (reports.iter()).for_each(|report| summary.merge(&report.summary));
    summary
}

/// Nothing is lost: packets, messages, and (when all is quiet) credits.
fn check(reports: &[DomainReport], end: End) -> Result<(), RunError> {
    let sum = |field: fn(&Totals) -> u64| -> u64 {
        reports.iter().map(|report| field(&report.totals)).sum()
    };
    let Summary {
        packets_injected: injected,
        packets_delivered: delivered,
        packets_dropped: dropped,
        packets_in_flight: in_flight,
        messages_generated: generated,
        messages_received: received,
        ..
    } = summary(reports);
    let absorbed = sum(|t| t.tally.absorbed);
    if injected != delivered + dropped + absorbed + in_flight {
        return Err(RunError::Conservation(format!(
            "{injected} packets injected, {delivered} delivered, {dropped} dropped, \
             {absorbed} taken by routers, {in_flight} in flight"
        )));
    }
    let waiting = sum(|t| t.messages_waiting);
    if received + waiting > generated {
        return Err(RunError::Conservation(format!(
            "{generated} messages generated, but {received} received and {waiting} still to be sent"
        )));
    }
    if end != End::Idle {
        return Ok(());
    }
    let lost = sum(|t| t.tally.lost_by_failures());
    // Messages may wait for ever for an answer that was lost.
    if in_flight > 0 || waiting > 0 && lost == 0 {
        return Err(RunError::Stuck {
            simulated_ps: reports.iter().map(|r| r.last_delivery).max().unwrap_or(0),
            in_flight: in_flight + waiting,
        });
    }
    let mut tasks = reports.iter().flat_map(|report| &report.tasks);
    if let Some(one) = tasks.find(|task| task.unclaimed > 0 && lost == 0) {
        return Err(RunError::Conservation(format!(
            "task {} of workload {} never received {} of its messages",
            one.task, one.job, one.unclaimed
        )));
    }
    if generated != received && lost == 0 {
        return Err(RunError::Conservation(format!(
            "{generated} messages generated and {received} received, but the network is idle"
        )));
    }
    if lost == 0 && reports.iter().any(|report| report.flows_left) {
        let what = "the network is idle, but routers keep ways of flows";
        return Err(RunError::Conservation(what.into()));
    }
    let mut missing = reports.iter().flat_map(|report| &report.credits_missing);
    match missing.next() {
        Some(one) => Err(RunError::Conservation(format!(
            "the network is idle but router {} port {} queue {} lacks {} flits of credit",
            one.router, one.port, one.queue, one.flits
        ))),
        None => Ok(()),
    }
}

/// No port was busy and stalled for longer than the run.
fn check_ports(reports: &[DomainReport], simulated: Time) -> Result<(), RunError> {
    let mut rows = reports.iter().flat_map(|report| &report.ports);
    let wrong = rows.find(|port| {
        let left = simulated.checked_sub(port.busy);
        left.is_none_or(|left| left < port.stalled)
    });
    match wrong {
        Some(one) => Err(RunError::Conservation(format!(
            "router {} port {} was busy for {} ps and stalled for {} ps of {simulated} ps",
            one.router, one.port, one.busy, one.stalled
        ))),
        None => Ok(()),
    }
}

/// No sum of bits is too large for its 64 bits: those of flits and payload cannot be if all packets
/// there were, each time that one was counted, had the greatest length.
fn check_payload(reports: &[DomainReport], plan: &Plan) -> Result<(), RunError> {
    let parameters = &plan.network().parameters;
    let longest = u128::from(parameters.max_packet) * u128::from(parameters.flit.0);
    let packets = reports.iter().map(|report| {
        let all = &report.summary;
        let ends = u128::from(all.packets_injected) + u128::from(all.packets_delivered);
        ends + u128::from(all.packet_hops)
    });
    let jobs = reports.iter().flat_map(|report| &report.jobs);
    let generated: u128 = jobs.map(|job| u128::from(job.generated_bits)).sum();
    match (packets.sum::<u128>() * longest).max(generated) < u128::from(u64::MAX) {
        true => Ok(()),
        false => Err(RunError::Uncounted),
    }
}

fn merge(reports: &[DomainReport], plan: &Plan, simulated: Time) -> Data {
    let recording = plan.blueprint.recording;
    let topology = &plan.network().topology;
    let window = Span {
        to: recording.window.to.min(simulated),
        ..recording.window
    };
    let bandwidth = bandwidth_of(topology.as_ref(), 0..topology.endpoints());
    let sum = |field: fn(&Totals) -> u64| -> u64 {
        reports.iter().map(|report| field(&report.totals)).sum()
    };
    let jobs = &plan.blueprint.traffic;
    let all = || reports.iter().flat_map(|report| &report.jobs);
    let generated = all().map(|job| job.generated_bits).sum();
    let everyone = capacity(bandwidth, window);
    let mut data = Data {
        summary: Summary {
            simulated_ps: simulated,
            measured_from_ps: window.from,
            measured_to_ps: window.to,
            bytes_delivered: sum(|t| t.delivered_bits) / 8,
            endpoints: u64::from(topology.endpoints()),
            endpoint_bandwidth: (bandwidth / u128::from(topology.endpoints().max(1))) as u64,
            offered_load: share(generated, everyone),
            accepted_load: share(sum(|t| t.accepted_bits), everyone),
            ..summary(reports)
        },
        scheme: Scheme {
            name: plan.scheme.name().into(),
            records: rows::records(reports, plan),
            ..scheme(plan.scheme.as_ref(), plan.network(), reports, everyone)
        },
        ..Data::default()
    };
    let ends = Ends { window, simulated };
    data.latency.extend(latencies("", all(), ends));
    for (number, traffic) in jobs.iter().enumerate() {
        let stats: Vec<&JobStats> = reports.iter().map(|report| &report.jobs[number]).collect();
        let (name, stats) = (&traffic.name, || stats.iter().copied());
        data.latency
            .extend(latencies(&format!("job.{name}."), stats(), ends));
        if recording.iteration_times && traffic.application().is_some() {
            data.latency
                .push((format!("job.{name}.{ITERATION}"), iteration(stats())));
        }
        data.jobs.push(one_job(reports, plan, number, ends));
    }
    let flit_bits = u64::from(plan.network().parameters.flit.0);
    data.ports = rows::ports(reports, plan, simulated);
    add_network(&mut data, plan.network());
    data.failures = rows::failures(reports, plan.network(), simulated);
    data.series = rows::series(reports, plan, simulated);
    data.occupancy = (recording.occupancy > 0).then(|| rows::occupancy(reports, flit_bits));
    data.rates = (recording.rates > 0).then(|| rows::rates(reports, plan));
    data.iterations =
        (recording.iterations).then(|| rows::all_iterations(reports).into_iter().collect());
    if recording.flows {
        let (flows, phases) = phases::tables(reports, plan, &data.jobs);
        (data.flows, data.phases) = (Some(flows), Some(phases));
    }
    data.attribution = (recording.waits > 0).then(|| attribution::table(reports, plan));
    data.packets = recording.packets.then(|| rows::packets(reports));
    data.messages = recording.messages.then(|| rows::messages(reports));
    data.timeline = timeline::tables(reports, plan, simulated, &kinds(plan.network()));
    data.cost = (plan.cost.as_ref()).map(|one| cost::cost(one, plan.network(), &data.ports));
    data.notes = plan.warnings.iter().filter_map(Warning::note).collect();
    data.notes.extend(plan.traces.iter().cloned());
    let awaited = jobs
        .iter()
        .filter(|one| one.application().is_some() && !one.background);
    let awaited: Vec<&str> = awaited.map(|one| one.name.as_str()).collect();
    data.notes.extend(notes(&data, &awaited));
    data.notes
        .extend(losses([sum(|t| t.tally.lost), sum(|t| t.tally.cut_off)]));
    data.notes
        .extend(plan.scheme.acts().and_then(|acts| inaction(&acts, &data)));
    data.summary.notes = data.notes.len() as u64;
    data
}

/// Adds the tables about the network itself.
fn add_network(data: &mut Data, network: &Network) {
    let topology = network.topology.as_ref();
    data.link_kinds = topology.link_kinds().to_vec();
    data.routers = rows::routers(network);
    data.router_kinds = topology.router_kinds().to_vec();
    data.axes = rows::axes(topology);
}

/// The classes of latencies of all jobs or of one.
fn latencies<'a>(
    prefix: &str,
    all: impl Iterator<Item = &'a JobStats> + Clone,
    ends: Ends,
) -> [(String, Latency); 4] {
    let network = Latency {
        arrived: merged(all.clone().flat_map(|job| job.network.by_sending())),
        missing: merged(all.clone().map(|job| &job.network_missing)),
    };
    let arrived = |of: fn(&JobStats) -> [&Histogram; 2]| merged(all.clone().flat_map(of)).into();
    let classes = [
        network,
        arrived(|job| job.network.by_arrival()),
        message(all.clone(), ends),
        arrived(|job| job.message.by_arrival()),
    ];
    let mut names = LATENCY_CLASSES.iter();
    classes.map(|latency| {
        let name = names.next().copied().unwrap_or_default();
        (format!("{prefix}{name}"), latency)
    })
}

/// Durations of the iterations of a job's tasks.
fn iteration<'a>(all: impl Iterator<Item = &'a JobStats> + Clone) -> Latency {
    Latency {
        arrived: merged(all.clone().map(|job| &job.iteration)),
        missing: merged(all.map(|job| &job.iteration_missing)),
    }
}

/// The latencies of messages, and how old those are that have not arrived.
fn message<'a>(all: impl Iterator<Item = &'a JobStats> + Clone, ends: Ends) -> Latency {
    let mut missing = Outstanding::default();
    all.clone()
        .for_each(|job| missing.merge(&job.message_missing));
    let since = |time: Time| time.saturating_sub(ends.window.from);
    Latency {
        arrived: merged(all.flat_map(|job| job.message.by_sending())),
        missing: missing.ages(since(ends.simulated), since(ends.window.to)),
    }
}

fn merged<'a>(all: impl Iterator<Item = &'a Histogram>) -> Histogram {
    let mut sum = Histogram::default();
    all.for_each(|histogram| sum.merge(histogram));
    sum
}
