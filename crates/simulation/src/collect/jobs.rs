//! Results of the jobs of a run: when they were over, and the loads and times of their endpoints.

use crate::plan::{Plan, bandwidth_of, ends};
use weir_fabric::{DomainReport, JobStats, Traffic};
use weir_model::{EndpointId, Span, Time};
use weir_result::{Job, JobTask, JobTotals};

/// The measurement window and the end of the run.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub window: Span,
    pub simulated: Time,
}

/// Bits that links of this bandwidth together, bit/s, carry in a time.
pub(super) fn capacity(bandwidth: u128, time: Span) -> f64 {
    bandwidth as f64 * time.length() as f64 * 1e-12
}

/// A load; NaN if there is no time to carry anything in.
pub(super) fn share(bits: u64, capacity: f64) -> f64 {
    if capacity > 0.0 {
        bits as f64 / capacity
    } else {
        f64::NAN
    }
}

/// The job of this number.
pub(super) fn one_job(
    reports: &[DomainReport],
    plan: &Plan,
    number: usize,
    Ends { window, simulated }: Ends,
) -> Job {
    let traffic = &plan.blueprint.traffic[number];
    let sum = |field: fn(&JobStats) -> u64| -> u64 {
        reports.iter().map(|r| field(&r.jobs[number])).sum()
    };
    let tasks = &traffic.tasks;
    let [senders, receivers] = ends(traffic);
    let (finishes, spent) = match traffic.application() {
        Some(_) => task_times(reports, number, tasks.len()),
        None => endpoint_times(reports, number, traffic),
    };
    let over = match traffic.application() {
        Some(_) => finishes.iter().all(Option::is_some),
        // All that it will ever generate has arrived.
        None => {
            let (generated, received) = (
                sum(|job| job.messages_generated),
                sum(|job| job.messages_received),
            );
            traffic.stop <= simulated && generated == received
        }
    };
    let last_message = reports.iter().map(|r| r.jobs[number].finish).max();
    // The last task of an application may be done after its last message.
    let last_task = finishes.iter().flatten().max().copied();
    let finish = traffic.application().and(last_task).or(last_message);
    let finish = if over { finish.unwrap_or(0) } else { simulated };
    // An application is on until its last task is done; nothing is generated or comes in after
    // that.
    let to = traffic.application().map_or(traffic.stop, |_| finish);
    let on = Span { to, ..traffic.on() }.and(window);
    let communication = spent.iter().copied().max().unwrap_or(0);
    // A missing time is 0 in the file, which no reader takes for a short one.
    let known = |time: Time| if over { time } else { 0 };
    let load = |bits, endpoints: &[EndpointId]| {
        let topology = plan.network().topology.as_ref();
        let bandwidth = bandwidth_of(topology, endpoints.iter().copied());
        share(bits, capacity(bandwidth, on))
    };
    Job {
        name: traffic.name.clone(),
        totals: JobTotals {
            index: number as u64,
            tasks: tasks.len() as u64,
            start_ps: traffic.start,
            finish_ps: known(finish),
            communication_ps: known(communication),
            bytes_delivered: sum(|job| job.delivered_bits) / 8,
            senders: senders.len() as u64,
            receivers: receivers.len() as u64,
            on_from_ps: on.from,
            on_to_ps: on.to,
            over: Some(over),
            finish_at_least_ps: Some(finish),
            communication_at_least_ps: Some(communication),
            offered_load: load(sum(|job| job.generated_bits), &senders),
            accepted_load: load(sum(|job| job.accepted_bits), &receivers),
        },
        tasks: (tasks.iter().zip(finishes).zip(spent))
            .map(|((&endpoint, finish), spent)| task_row(endpoint, finish, spent))
            .collect(),
    }
}

fn task_row(endpoint: EndpointId, finish: Option<Time>, spent: Time) -> JobTask {
    JobTask {
        endpoint,
        task_finish_ps: finish.unwrap_or(0),
        task_communication_ps: match finish {
            None | Some(0) => 0,
            Some(_) => spent,
        },
        task_communication_at_least_ps: spent,
    }
}

/// Time of the last activity of each endpoint of open-loop traffic, and the time from the start to
/// it.
fn endpoint_times(
    reports: &[DomainReport],
    number: usize,
    traffic: &Traffic,
) -> (Vec<Option<Time>>, Vec<Time>) {
    let mut last = std::collections::HashMap::new();
    for report in reports {
        let times = report.endpoints.iter().zip(&report.jobs[number].last);
        last.extend(times.map(|(&endpoint, &time)| (endpoint as u32, time)));
    }
    let tasks = traffic.tasks.iter();
    let finishes: Vec<Time> = tasks
        .map(|task| last.get(task).copied().unwrap_or(0))
        .collect();
    let spent = finishes.iter().map(|end| end.saturating_sub(traffic.start));
    let spent = spent.collect();
    (finishes.into_iter().map(Some).collect(), spent)
}

/// Finish of each task of an application, and its communication time, up to the end of the run if
/// it was not done.
fn task_times(
    reports: &[DomainReport],
    number: usize,
    tasks: usize,
) -> (Vec<Option<Time>>, Vec<Time>) {
    let (mut finishes, mut spent) = (vec![None; tasks], vec![0; tasks]);
    let rows = reports.iter().flat_map(|report| &report.tasks);
    for row in rows.filter(|row| usize::from(row.job) == number) {
        finishes[row.task as usize] = row.finish;
        spent[row.task as usize] = row.communication;
    }
    (finishes, spent)
}
