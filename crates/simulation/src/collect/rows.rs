//! The tables of a result: the rows of all domains in their canonical order.

use crate::plan::Plan;
use weir_fabric::{
    BIN_COUNTS, BehindRow, DELIVERED_BITS, DomainReport, INJECTED_BITS, IterationRow,
    MESSAGE_LATENCY, MESSAGES, MOST_BINS, NETWORK_LATENCY, PACKETS, Series as Binned, add_counts,
    merge_iterations,
};
use weir_model::{EndpointId, KindName, LinkKind, Time};
use weir_network::topology::Peer;
use weir_result::{
    Iterations, JobSeries, Messages, Occupancy, Packets, Ports, Rates, Routers, SchemeColumn,
    SchemeRecord, Series,
};

/// Adds up series with bins of the same or a smaller width than `width`, of which there are `bins` up to the end.
fn add_series<'a, const N: usize>(
    all: impl Iterator<Item = (Time, &'a Binned<N>)>,
    width: Time,
    bins: usize,
) -> Vec<[u64; N]> {
    let mut sum = vec![[0; N]; bins];
    for (own, series) in all {
        let finer = (width / own) as usize;
        for (bin, counts) in series.bins() {
            if let Some(sum) = sum.get_mut(bin / finer) {
                add_counts(sum, counts);
            }
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

/// Flits as bytes. (Flits have fewer than 2³² bits; so many bytes that they are not counted are nowhere.)
fn in_bytes(flits: u64, flit_bits: u64) -> u64 {
    let bytes = u128::from(flits) * u128::from(flit_bits) / 8;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

pub(super) fn ports(reports: &[DomainReport], plan: &Plan, simulated: Time) -> Ports {
    let network = plan.network();
    let topology = &network.topology;
    let flit_bits = u64::from(network.parameters.flit.0);
    let mut rows: Vec<_> = reports.iter().flat_map(|report| &report.ports).collect();
    rows.sort_unstable_by_key(|row| (row[0], row[1]));
    let mut ports = Ports {
        kinds: topology.link_kinds().to_vec(),
        ..Ports::default()
    };
    for &&[router, port, kind, flits, packets, busy, stalled, peak] in &rows {
        ports.router.push(router as u32);
        ports.port.push(port as u16);
        ports.kind.push(LinkKind(kind as u8));
        // There are fewer than 2³¹ of each.
        let [peer_router, peer_port, endpoint] = match topology.peer(router as u32, port as u16) {
            Peer::Router(router, port) => [router as i32, port.into(), -1],
            Peer::Endpoint(endpoint) => [-1, -1, endpoint as i32],
            Peer::Unused => [-1; 3],
        };
        ports.peer_router.push(peer_router);
        ports.peer_port.push(peer_port);
        ports.endpoint.push(endpoint);
        ports.bytes.push(in_bytes(flits, flit_bits));
        ports.packets.push(packets);
        ports.busy_ps.push(busy);
        ports.stalled_ps.push(stalled);
        // It was checked that the sum is no more than that.
        ports.idle_ps.push(simulated - busy - stalled);
        ports.peak_occupancy_bytes.push(in_bytes(peak, flit_bits));
    }
    ports
}

/// What the network's routers are.
pub(super) fn routers(plan: &Plan) -> Routers {
    let topology = &plan.network().topology;
    let all = || 0..topology.routers();
    let mut axes: Vec<(KindName, Vec<u32>)> = Vec::new();
    axes.extend(
        topology
            .axes()
            .iter()
            .map(|name| (name.clone(), Vec::new())),
    );
    for router in all() {
        let place = topology.coordinates(router);
        assert_eq!(place.len(), axes.len(), "a coordinate for each axis");
        let columns = axes.iter_mut().zip(place);
        columns.for_each(|((_, column), coordinate)| column.push(coordinate));
    }
    Routers {
        kinds: topology.router_kinds().to_vec(),
        kind: all().map(|router| topology.router_kind(router)).collect(),
        group: all().map(|router| topology.group_of(router)).collect(),
        domain: all().map(|router| topology.domain_of(router)).collect(),
        axes,
    }
}

pub(super) fn series(reports: &[DomainReport], plan: &Plan, simulated: Time) -> Series {
    // Domains in which less has happened may have finer bins; and nothing may have happened at the end.
    let widths = reports.iter().map(|report| report.bin_width);
    let mut bin_ps = widths.max().unwrap_or(plan.blueprint.recording.bin);
    while simulated.div_ceil(bin_ps) > MOST_BINS {
        bin_ps *= 2;
    }
    let bins = simulated.div_ceil(bin_ps) as usize;
    let jobs = plan
        .blueprint
        .traffic
        .iter()
        .enumerate()
        .map(|(number, traffic)| {
            let parts = reports
                .iter()
                .map(|one| (one.bin_width, &one.jobs[number].series));
            let sum: Vec<[u64; BIN_COUNTS]> = add_series(parts, bin_ps, bins);
            let of = |column: usize| sum.iter().map(|counts| counts[column]).collect();
            let bytes = |column: usize| sum.iter().map(|counts| counts[column] / 8).collect();
            JobSeries {
                name: traffic.name.clone(),
                injected_bytes: bytes(INJECTED_BITS),
                delivered_bytes: bytes(DELIVERED_BITS),
                messages: of(MESSAGES),
                message_latency_ps: of(MESSAGE_LATENCY),
                packets: of(PACKETS),
                network_latency_ps: of(NETWORK_LATENCY),
            }
        });
    let names = plan.network().classes.names;
    let ejected = names.iter().enumerate().map(|(class, name)| {
        let parts = reports
            .iter()
            .map(|one| (one.bin_width, &one.ejected[class]));
        let flits = add_series(parts, bin_ps, bins);
        (name.to_string(), flits.into_flattened())
    });
    let chosen = &plan.blueprint.received;
    let mut received: Vec<(EndpointId, Vec<u64>)> = Vec::with_capacity(chosen.len());
    for report in reports {
        let own = report.endpoints.iter().map(|&id| id as EndpointId);
        let own = own.filter(|id| chosen.binary_search(id).is_ok());
        for (endpoint, series) in own.zip(&report.received) {
            let parts = std::iter::once((report.bin_width, series));
            let bits: Vec<[u64; 1]> = add_series(parts, bin_ps, bins);
            received.push((endpoint, bits.iter().map(|[bits]| bits / 8).collect()));
        }
    }
    received.sort_unstable_by_key(|(endpoint, _)| *endpoint);
    Series {
        bin_ps,
        bins,
        received,
        jobs: jobs.collect(),
        ejected_flits: ejected.collect(),
    }
}

pub(super) fn occupancy(reports: &[DomainReport], flit_bits: u64) -> Occupancy {
    // The same in all domains.
    let intervals = reports.iter().map(|report| report.occupancy_interval);
    let interval = intervals.max().unwrap_or(0);
    let routers: usize = reports.iter().map(|report| report.routers.len()).sum();
    let parts = reports
        .iter()
        .map(|one| (&one.routers[..], &one.occupancy[..]));
    let (samples, mut bytes) = by_sample(parts, routers);
    bytes
        .iter_mut()
        .for_each(|held| *held = in_bytes(*held, flit_bits));
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
    // The same in all domains that have one of these endpoints; 0 in the others.
    let intervals = reports.iter().map(|report| report.rates_interval);
    let interval = intervals.max().unwrap_or(0);
    for row in 0..samples as u64 {
        for one in &**rated {
            let chosen = one.task.map(|(job, task)| (u32::from(job), task));
            let (job, task) = chosen.unwrap_or((u32::MAX, u32::MAX));
            table.time_ps.push(row * interval);
            table.endpoint.push(one.endpoint);
            table.job.push(job);
            table.task.push(task);
        }
    }
    table
}

/// The iterations of all jobs, by job, then number. Tasks that may still begin an iteration count as its tasks, so that
/// it is not taken to be over.
pub(super) fn all_iterations(reports: &[DomainReport]) -> Vec<IterationRow> {
    let all = reports.iter().flat_map(|report| &report.iterations);
    let mut rows = merge_iterations(all.copied());
    let behind = reports.iter().flat_map(|report| &report.behind);
    let behind: Vec<BehindRow> = behind.copied().collect();
    for [job, number, _, _, tasks, _] in &mut rows {
        let may_begin = behind
            .iter()
            .filter(|row| row[0] == *job && row[1] <= *number);
        *tasks += may_begin.map(|row| row[2]).sum::<u64>();
    }
    rows
}

pub(super) fn iterations(reports: &[DomainReport]) -> Iterations {
    let mut table = Iterations::default();
    for [job, number, begin, end, tasks, ended] in all_iterations(reports) {
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

/// The scheme's records that are kept: by time, then domain, then in the order in which they were written.
pub(super) fn records(reports: &[DomainReport], plan: &Plan) -> Vec<SchemeRecord> {
    let kept = plan.blueprint.recording.scheme;
    let all = plan.scheme.records().iter().enumerate();
    let all = all.filter(|(number, _)| kept >> number & 1 == 1);
    all.map(|(number, record)| {
        let names: Vec<_> = record.all_columns().collect();
        let rows = |report: &DomainReport| -> Vec<Vec<u64>> {
            let rows = report.scheme_rows.get(number).into_iter().flatten();
            let rows: Vec<u64> = rows.copied().collect();
            rows.chunks_exact(names.len())
                .map(<[u64]>::to_vec)
                .collect()
        };
        let mut rows: Vec<Vec<u64>> = reports.iter().flat_map(rows).collect();
        rows.sort_by_key(|row| row[0]);
        let columns = names.iter().enumerate().map(|(at, column)| SchemeColumn {
            name: column.name.into(),
            unit: column.unit.into(),
            about: column.about.into(),
            values: rows.iter().map(|row| row[at]).collect(),
        });
        SchemeRecord {
            name: record.name.into(),
            about: record.about.into(),
            columns: columns.collect(),
        }
    })
    .collect()
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
