//! Recording of attribution: the interval at which ports are examined, and the tables of a result.

use crate::config::{self, Experiment};
use weir_fabric::{DomainReport, Network, Who, merge_rows};
use weir_model::Time;
use weir_network::topology::Link;
use weir_result::{Attribution, ElsewhereRow, Looks, PressureRow, WaitRow};

use crate::plan::Plan;

/// Interval between two examinations of the ports at first, in times of a longest packet on the
/// slowest link as built; later two and four times that. Not a whole number: traffic proceeds in
/// steps of packets, and is not to be seen at the same moment of a step each time.
const PACKETS: f64 = 33.236;

/// The same in times of a longest packet on the slowest link that differs from its kind. A quarter,
/// so that a few slow links do not make the examination of all others coarse.
const PACKETS_OF_FAILED: f64 = PACKETS / 4.0;

/// Interval at which the ports are examined, ps; 0: never.
pub(crate) fn interval(experiment: &Experiment, network: &Network) -> Time {
    if experiment.output.attribution == config::Attribution::None {
        return 0;
    }
    let links = network.topology.links();
    let time = |link: &Link| network.rate(link).time(network.parameters.max_packet) as f64;
    let built = links.iter().map(|links| PACKETS * time(&links.link));
    let failed = network.failures.iter();
    let failed = failed.map(|(_, changed)| PACKETS_OF_FAILED * time(&changed.link));
    let interval = built.chain(failed).fold(0.0, f64::max);
    (interval as Time).max(1)
}

/// The tables of the backlog: by time, then router, port, and owner.
pub(super) fn table(reports: &[DomainReport], plan: &Plan) -> Attribution {
    let recording = plan.blueprint.recording;
    // Domains in which less has happened may have narrower bins.
    let widths = reports.iter().map(|report| report.waits.bin_width);
    let bin_ps = widths.max().unwrap_or(0);
    // Bytes times seconds of a flit at one sample.
    let bytes = f64::from(plan.network().parameters.flit.0) / 8.0;
    let unit = bytes * recording.waits as f64 * 1e-12;
    let (mut waits, mut pressure, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    for report in reports.iter().map(|report| &report.waits) {
        let wider = (bin_ps / report.bin_width.max(1)).max(1);
        waits.extend(report.waits.iter().map(|row| {
            let key = (row.bin / wider, row.router, row.port, row.nic, row.who);
            (key, row.flits)
        }));
        pressure.extend(report.pressure.iter().map(|row| {
            let key = (row.bin / wider, row.router, row.from, row.to);
            (key, row.flits)
        }));
        elsewhere.extend(
            (report.elsewhere.iter()).map(|&(bin, job, flits)| ((bin / wider, job), flits)),
        );
    }
    merge_rows(&mut waits, |sum, own| {
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    });
    merge_rows(&mut pressure, |sum, own| *sum += own);
    merge_rows(&mut elsewhere, |sum, own| *sum += own);
    let wait = |((bin, router, port, nic, who), flits): ((Time, _, _, bool, Who), [u64; 3])| {
        let [full, queued, starved] = flits.map(|flits| flits as f64 * unit);
        WaitRow {
            time_ps: bin * bin_ps,
            router,
            port,
            nic: nic.into(),
            job: who.job.into(),
            source: who.source,
            destination: who.destination,
            full,
            queued,
            starved,
        }
    };
    let pressed = |((bin, router, from_port, port), flits): ((Time, _, _, _), u64)| PressureRow {
        time_ps: bin * bin_ps,
        router,
        from_port,
        port,
        waited: flits as f64 * unit,
    };
    let rest = |((bin, job), flits): ((Time, u16), u64)| ElsewhereRow {
        time_ps: bin * bin_ps,
        job: job.into(),
        queued: flits as f64 * unit,
    };
    Attribution {
        looks: Looks {
            interval_ps: recording.waits,
            bin_ps,
            sources: recording.waits_by_source,
        },
        waits: waits.into_iter().map(wait).collect(),
        pressure: pressure.into_iter().map(pressed).collect(),
        elsewhere: elsewhere.into_iter().map(rest).collect(),
    }
}
