//! The tables of a result: the rows of all domains in their canonical order.

use super::assemble::Plan;
use crate::fabric::{
    DELIVERED_BITS, DomainReport, INJECTED_BITS, MESSAGE_LATENCY, MESSAGES, NETWORK_LATENCY,
    PACKETS, merge_iterations,
};
use crate::model::{LinkKind, Time};
use crate::trace::{Iterations, JobSeries, Messages, Occupancy, Packets, Ports, Rates, Series};

/// Adds series up bin by bin.
fn add_series<I: Iterator<Item = u64>>(all: impl Iterator<Item = I>, bins: usize) -> Vec<u64> {
    let mut sum = vec![0; bins];
    for series in all {
        for (sum, value) in sum.iter_mut().zip(series) {
            *sum += value;
        }
    }
    sum
}

/// The samples of all domains in one table of `columns` columns, row by row: each domain has values for the columns
/// that it names, sample by sample. Gives the number of rows, too.
fn by_sample<'a>(
    parts: impl Iterator<Item = (&'a [u64], &'a [u64])>,
    columns: usize,
) -> (usize, Vec<u64>) {
    let (mut rows, mut table) = (0, Vec::new());
    for (own, values) in parts.filter(|(own, _)| !own.is_empty()) {
        rows = rows.max(values.len() / own.len());
        table.resize(rows * columns, 0);
        for (row, values) in values.chunks_exact(own.len()).enumerate() {
            for (&column, &value) in own.iter().zip(values) {
                table[row * columns + column as usize] = value;
            }
        }
    }
    (rows, table)
}

pub(super) fn ports(reports: &[DomainReport], flit_bits: u64, simulated: Time) -> Ports {
    let mut rows: Vec<_> = reports.iter().flat_map(|report| &report.ports).collect();
    rows.sort_unstable_by_key(|row| (row[0], row[1]));
    let mut ports = Ports::default();
    for &&[router, port, kind, flits, packets, busy, stalled, peak] in &rows {
        ports.router.push(router as u32);
        ports.port.push(port as u16);
        ports
            .kind
            .push(LinkKind::ALL[kind as usize % LinkKind::ALL.len()]);
        ports.bytes.push(flits * flit_bits / 8);
        ports.packets.push(packets);
        ports.busy_ps.push(busy);
        ports.stalled_ps.push(stalled);
        ports.idle_ps.push(simulated.saturating_sub(busy + stalled));
        ports.peak_occupancy_bytes.push(peak * flit_bits / 8);
    }
    ports
}

pub(super) fn series(reports: &[DomainReport], plan: &Plan, simulated: Time) -> Series {
    let bin_ps = plan.blueprint.recording.bin;
    let bins = simulated.div_ceil(bin_ps) as usize;
    let jobs = plan
        .blueprint
        .traffic
        .iter()
        .enumerate()
        .map(|(number, traffic)| {
            let of = |column: usize| {
                let rows = reports.iter().map(|report| &report.jobs[number].series);
                add_series(
                    rows.map(|rows| rows.iter().map(|words| words[column])),
                    bins,
                )
            };
            let bytes = |bits: Vec<u64>| bits.into_iter().map(|bits| bits / 8).collect();
            JobSeries {
                name: traffic.name.clone(),
                injected_bytes: bytes(of(INJECTED_BITS)),
                delivered_bytes: bytes(of(DELIVERED_BITS)),
                messages: of(MESSAGES),
                message_latency_ps: of(MESSAGE_LATENCY),
                packets: of(PACKETS),
                network_latency_ps: of(NETWORK_LATENCY),
            }
        });
    let names = plan.network().classes.names;
    let ejected = names.iter().enumerate().map(|(class, name)| {
        (
            name.to_string(),
            add_series(
                reports.iter().map(|one| one.ejected[class].iter().copied()),
                bins,
            ),
        )
    });
    Series {
        bin_ps,
        bins,
        jobs: jobs.collect(),
        ejected_flits: ejected.collect(),
    }
}

pub(super) fn occupancy(reports: &[DomainReport], interval: Time, flit_bits: u64) -> Occupancy {
    let routers: usize = reports.iter().map(|report| report.routers.len()).sum();
    let parts = reports
        .iter()
        .map(|one| (&one.routers[..], &one.occupancy[..]));
    let (samples, mut bytes) = by_sample(parts, routers);
    bytes
        .iter_mut()
        .for_each(|held| *held = *held * flit_bits / 8);
    let time_ps = (0..samples as u64)
        .map(|sample| sample * interval)
        .collect();
    Occupancy {
        time_ps,
        routers,
        bytes,
    }
}

/// By time, then in the order in which the endpoints were chosen.
pub(super) fn rates(reports: &[DomainReport], plan: &Plan) -> Rates {
    let rated = &plan.blueprint.rated;
    let parts = reports.iter().map(|one| (&one.rated[..], &one.rates[..]));
    let (samples, share) = by_sample(parts, rated.len());
    let mut table = Rates {
        share: share.into_iter().map(f64::from_bits).collect(),
        ..Rates::default()
    };
    for row in 0..samples as u64 {
        for one in &**rated {
            let chosen = one.task.map(|(job, task)| (u32::from(job), task));
            let (job, task) = chosen.unwrap_or((u32::MAX, u32::MAX));
            table.time_ps.push(row * plan.blueprint.recording.rates);
            table.endpoint.push(one.endpoint);
            table.job.push(job);
            table.task.push(task);
        }
    }
    table
}

/// By job, then number.
pub(super) fn iterations(reports: &[DomainReport]) -> Iterations {
    let mut table = Iterations::default();
    let all = reports.iter().flat_map(|report| &report.iterations);
    for [job, number, begin, end, tasks, ended] in merge_iterations(all.copied()) {
        table.job.push(job as u32);
        table.iteration.push(number as u32);
        table.begin_ps.push(begin);
        table.end_ps.push(end);
        table.tasks.push(tasks);
        table.ended.push(ended);
    }
    table
}

/// By domain, then time, then source and number.
pub(super) fn packets(reports: &[DomainReport]) -> Packets {
    let mut table = Packets::default();
    for report in reports {
        let mut rows = report.packets.clone();
        rows.sort_unstable_by_key(|row| (row[8], row[0], row[1]));
        for [
            source,
            sequence,
            destination,
            job,
            flits,
            routers,
            generated,
            injected,
            delivered,
        ] in rows
        {
            table.source.push(source as u32);
            table.sequence.push(sequence as u32);
            table.destination.push(destination as u32);
            table.job.push(job as u32);
            table.flits.push(flits as u32);
            table.routers.push(routers as u32);
            table.generated_ps.push(generated);
            table.injected_ps.push(injected);
            table.delivered_ps.push(delivered);
        }
    }
    table
}

/// By domain, then time, then source and number.
pub(super) fn messages(reports: &[DomainReport]) -> Messages {
    let mut table = Messages::default();
    for report in reports {
        let mut rows = report.messages.clone();
        rows.sort_unstable_by_key(|row| (row[6], row[0], row[1]));
        for [source, message, destination, job, bits, generated, received] in rows {
            table.source.push(source as u32);
            table.message.push(message as u32);
            table.destination.push(destination as u32);
            table.job.push(job as u32);
            table.bytes.push(bits / 8);
            table.generated_ps.push(generated);
            table.received_ps.push(received);
        }
    }
    table
}
