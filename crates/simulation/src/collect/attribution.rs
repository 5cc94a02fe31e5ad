//! What is recorded of whose data waits where: how often the ports are looked at, and the tables of a result.

use crate::config::{self, Experiment};
use weir_fabric::{DomainReport, Network, Who, merge_rows};
use weir_model::Time;
use weir_result::Attribution;

use crate::plan::Plan;

/// The ports are looked at once in the time of so many longest packets on the slowest link, at first; later every two and four such
/// times. Not a whole number: traffic goes in steps of packets, and is not to be seen at the same moment of a step each time.
const PACKETS: f64 = 33.236;

/// How often the ports are looked at, ps; 0: never.
pub(crate) fn interval(experiment: &Experiment, network: &Network) -> Time {
    if experiment.output.attribution == config::Attribution::None {
        return 0;
    }
    let links = network.topology.links();
    let longest = network.parameters.max_packet;
    let times = links
        .iter()
        .map(|links| network.rate(&links.link).time(longest));
    let packet = times.max().unwrap_or(0) as f64;
    ((PACKETS * packet) as Time).max(1)
}

/// The tables of what waited: by time, then router, port, and whose it is.
pub(super) fn table(reports: &[DomainReport], plan: &Plan) -> Attribution {
    let recording = plan.blueprint.recording;
    // Domains in which less has happened may have narrower bins.
    let widths = reports.iter().map(|report| report.waits.bin_width);
    let bin_ps = widths.max().unwrap_or(0);
    let mut table = Attribution {
        interval_ps: recording.waits,
        bin_ps,
        sources: recording.waits_by_source,
        ..Attribution::default()
    };
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
    let Attribution {
        waits: to,
        pressure: pressed,
        elsewhere: rest,
        ..
    } = &mut table;
    for ((bin, router, port, nic, who), flits) in waits {
        let Who {
            job,
            source,
            destination,
        } = who;
        to.time_ps.push(bin * bin_ps);
        to.router.push(router);
        to.port.push(port);
        to.nic.push(nic.into());
        to.job.push(job.into());
        to.source.push(source);
        to.destination.push(destination);
        let [full, queued, starved] = flits.map(|flits| flits as f64 * unit);
        to.full.push(full);
        to.queued.push(queued);
        to.starved.push(starved);
    }
    for ((bin, router, from, port), flits) in pressure {
        pressed.time_ps.push(bin * bin_ps);
        pressed.router.push(router);
        pressed.from_port.push(from);
        pressed.port.push(port);
        pressed.waited.push(flits as f64 * unit);
    }
    for ((bin, job), flits) in elsewhere {
        rest.time_ps.push(bin * bin_ps);
        rest.job.push(job.into());
        rest.queued.push(flits as f64 * unit);
    }
    table
}
