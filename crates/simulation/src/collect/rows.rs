//! The tables of a result: the rows of all domains in their canonical order.

use crate::plan::Plan;
use rustc_hash::FxHashMap;
use weir_fabric::{
    BinCounts, Counts, DomainReport, FailingCounts, MOST_BINS, Network, Place, PortCounts,
    Series as Binned, add_counts, merge_iterations,
};
use weir_model::table::{IterationRow, Messages, Packets};
use weir_model::{EndpointId, KindName, Span, Time};
use weir_network::topology::{Link, Peer, Topology};
use weir_result::{
    ChangedLinkRow, ChangedLinks, JobBin, Occupancy, PortRow, Ports, RateRow, Rates, RouterRow,
    Routers, SchemeColumn, SchemeRecord, Series,
};

/// Adds up series with bins of the same or a smaller width than `width`, of which there are `bins`
/// up to the end.
fn add_series<'a, T: Counts>(
    all: impl Iterator<Item = (Time, &'a Binned<T>)>,
    width: Time,
    bins: usize,
) -> Vec<T> {
    let mut sum = vec![T::default(); bins];
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

/// The samples of all domains in one table of `columns` columns, row by row: each domain has values
/// for the columns that it names, sample by sample. Returns the number of rows, too.
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

/// Flits as bytes. (Flits have fewer than 2³² bits; a number of bytes too large to count does not
/// occur.)
fn in_bytes(flits: u64, flit_bits: u64) -> u64 {
    let bytes = u128::from(flits) * u128::from(flit_bits) / 8;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

pub(super) fn ports(reports: &[DomainReport], plan: &Plan, simulated: Time) -> Ports {
    let network = plan.network();
    let topology = &network.topology;
    let flit_bits = u64::from(network.parameters.flit.0);
    let mut rows: Vec<_> = reports.iter().flat_map(|report| &report.ports).collect();
    rows.sort_unstable_by_key(|port| (port.router, port.port));
    let row = |port: &PortCounts| {
        // There are fewer than 2³¹ of each.
        let [peer_router, peer_port, endpoint] = match topology.peer(port.router, port.port) {
            Peer::Router(router, port) => [router as i32, port.into(), -1],
            Peer::Endpoint(endpoint) => [-1, -1, endpoint as i32],
            Peer::Unused => [-1; 3],
        };
        let built = topology.link(port.router, port.port);
        PortRow {
            router: port.router,
            port: port.port,
            kind: port.kind,
            peer_router,
            peer_port,
            endpoint,
            bandwidth: built.bandwidth.0,
            latency_ps: built.latency,
            bytes: in_bytes(port.flits, flit_bits),
            packets: port.packets,
            busy_ps: port.busy,
            stalled_ps: port.stalled,
            // It was checked that the sum is no more than that.
            idle_ps: simulated - port.busy - port.stalled,
            peak_occupancy_bytes: in_bytes(port.peak, flit_bits),
        }
    };
    rows.into_iter().map(row).collect()
}

/// The directions of links that differ from their kind or are down: by router, port, then NIC.
pub(super) fn failures(
    reports: &[DomainReport],
    network: &Network,
    simulated: Time,
) -> Option<ChangedLinks> {
    let topology = &network.topology;
    let counts = reports.iter().flat_map(|report| &report.failing);
    let counts: FxHashMap<Place, FailingCounts> = counts
        .map(|failing| (failing.place, failing.counts))
        .collect();
    let row = |from: Place, link: Link, (failure, span): (usize, Span)| {
        let ((router, port), nic) = match from {
            Place::Nic(endpoint) => (topology.attachment(endpoint), 1),
            Place::Router(router, port) => ((router, port), 0),
        };
        let built = topology.link_from(from);
        ChangedLinkRow {
            router,
            port,
            nic,
            kind: link.kind,
            // A file of fewer than 2³² bytes has fewer.
            failure: failure as u32,
            bandwidth: link.bandwidth.0,
            built_bandwidth: built.bandwidth.0,
            latency_ps: link.latency,
            added_latency_ps: link.latency - built.latency,
            bit_error_rate: 0.0,
            down: 0,
            from_ps: span.from,
            until_ps: span.to.min(simulated.max(span.from)),
            packets_lost: 0,
            retries: 0,
        }
    };
    let of = |from: Place| counts.get(&from).copied().unwrap_or_default();
    let changed = network
        .failures
        .iter()
        .map(|(from, changed)| ChangedLinkRow {
            bit_error_rate: changed.bit_error_rate,
            retries: of(from).retries,
            ..row(from, changed.link, (changed.failure, changed.span))
        });
    let down = network.failures.down().flat_map(|(from, all)| {
        // The packets of a link are those of its first outage.
        all.iter()
            .enumerate()
            .map(move |(at, down)| ChangedLinkRow {
                down: 1,
                packets_lost: if at == 0 { of(from).lost } else { 0 },
                ..row(from, topology.link_from(from), (down.failure, down.span))
            })
    });
    let mut rows: Vec<_> = changed.chain(down).collect();
    rows.sort_by_key(|row| {
        (
            row.router,
            row.port,
            row.nic,
            row.down,
            row.from_ps,
            row.failure,
        )
    });
    (!rows.is_empty()).then(|| rows.into_iter().collect())
}

/// The network's routers.
pub(super) fn routers(network: &Network) -> Routers {
    let topology = &network.topology;
    let row = |router| RouterRow {
        router,
        kind: topology.router_kind(router),
        group: topology.group_of(router),
        domain: network.partition.domain_of(router),
    };
    (0..topology.routers()).map(row).collect()
}

/// The coordinates of all routers on each axis of the network.
pub(super) fn axes(topology: &dyn Topology) -> Vec<(KindName, Vec<u32>)> {
    let names = topology.axes().iter().cloned();
    let mut axes: Vec<_> = names.map(|name| (name, Vec::new())).collect();
    for router in 0..topology.routers() {
        let place = topology.coordinates(router);
        assert_eq!(place.len(), axes.len(), "a coordinate for each axis");
        let columns = axes.iter_mut().zip(place);
        columns.for_each(|((_, column), coordinate)| column.push(coordinate));
    }
    axes
}

pub(super) fn series(reports: &[DomainReport], plan: &Plan, simulated: Time) -> Series {
    // Domains in which less has happened may have finer bins; and nothing may have happened at the
    // end.
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
            let sum = add_series(parts, bin_ps, bins).into_iter();
            let bins = sum.map(|bin: BinCounts| JobBin {
                injected_bytes: bin.injected_bits / 8,
                delivered_bytes: bin.delivered_bits / 8,
                messages: bin.messages,
                message_latency_ps: bin.message_latency,
                packets: bin.packets,
                network_latency_ps: bin.network_latency,
            });
            (traffic.name.clone(), bins.collect())
        });
    let names = plan.network().classes.names;
    let ejected = names.iter().enumerate().map(|(class, name)| {
        let parts = reports
            .iter()
            .map(|one| (one.bin_width, &one.ejected[class]));
        let flits = add_series(parts, bin_ps, bins);
        (name.to_string(), flits)
    });
    let chosen = &plan.blueprint.received;
    let mut received: Vec<(EndpointId, Vec<u64>)> = Vec::with_capacity(chosen.len());
    for report in reports {
        let own = report.endpoints.iter().map(|&id| id as EndpointId);
        let own = own.filter(|id| chosen.binary_search(id).is_ok());
        for (endpoint, series) in own.zip(&report.received) {
            let parts = std::iter::once((report.bin_width, series));
            let bits: Vec<u64> = add_series(parts, bin_ps, bins);
            received.push((endpoint, bits.iter().map(|bits| bits / 8).collect()));
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
    // The same in all domains that have one of these endpoints; 0 in the others.
    let intervals = reports.iter().map(|report| report.rates_interval);
    let interval = intervals.max().unwrap_or(0);
    let times = (0..samples as u64).map(|row| row * interval);
    let rows = times.flat_map(|time| rated.iter().map(move |one| (time, one)));
    let rows = rows.zip(share).map(|((time_ps, one), share)| {
        let chosen = one.task.map(|(job, task)| (u32::from(job), task));
        let (job, task) = chosen.unwrap_or((u32::MAX, u32::MAX));
        RateRow {
            time_ps,
            endpoint: one.endpoint,
            job,
            task,
            share: f64::from_bits(share),
        }
    });
    rows.collect()
}

/// The iterations of all jobs, by job, then number. Tasks that may still begin an iteration count
/// as its tasks, so that it is not taken to be over.
pub(super) fn all_iterations(reports: &[DomainReport]) -> Vec<IterationRow> {
    let all = reports.iter().flat_map(|report| &report.iterations);
    let mut rows = merge_iterations(all.copied());
    let behind = reports.iter().flat_map(|report| &report.behind);
    let behind: Vec<_> = behind.collect();
    for row in &mut rows {
        let may_begin = behind.iter().filter(|tasks| {
            u32::from(tasks.job) == row.job && tasks.next <= u64::from(row.iteration)
        });
        row.tasks += may_begin.map(|tasks| tasks.tasks).sum::<u64>();
    }
    rows
}

/// By domain, then time, then source and number.
pub(super) fn packets(reports: &[DomainReport]) -> Packets {
    let mut table = Packets::default();
    for report in reports {
        let mut rows = report.packets.clone();
        rows.sort_unstable_by_key(|row| (row.delivered_ps, row.source, row.sequence));
        table.extend(rows);
    }
    table
}

/// The scheme's records that are kept: by time, then domain, then in the order in which they were
/// written.
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
        rows.sort_unstable_by_key(|row| (row.received_ps, row.source, row.message));
        table.extend(rows);
    }
    table
}
