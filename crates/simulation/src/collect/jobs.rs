//! What a run made of its jobs: when they were over, and the loads and times of their endpoints.

use crate::plan::{Plan, ends};
use weir_fabric::{DomainReport, JobStats, Traffic};
use weir_model::{Bandwidth, Span, Time};
use weir_result::Job;

/// The measurement window and the end of the run.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub window: Span,
    pub simulated: Time,
}

/// What the links of all endpoints, or of some, can carry in a time, in bits.
pub(super) fn capacity(bandwidth: Bandwidth, endpoints: usize, time: Span) -> f64 {
    bandwidth.0 as f64 * endpoints as f64 * time.length() as f64 * 1e-12
}

/// A load; NaN where there is no time to carry anything in.
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
    bandwidth: Bandwidth,
    Ends { window, simulated }: Ends,
) -> Job {
    let traffic = &plan.blueprint.traffic[number];
    let sum = |field: fn(&JobStats) -> u64| -> u64 {
        reports.iter().map(|r| field(&r.jobs[number])).sum()
    };
    let tasks = &traffic.tasks;
    let (senders, receivers) = ends(traffic);
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
    // An application is on until its last task is done; nothing is generated or comes in after that.
    let to = traffic.application().map_or(traffic.stop, |_| finish);
    let on = Span { to, ..traffic.on() }.and(window);
    Job {
        name: traffic.name.clone(),
        start_ps: traffic.start,
        over,
        finish_ps: finish,
        communication_ps: spent.iter().copied().max().unwrap_or(0),
        senders: senders as u64,
        receivers: receivers as u64,
        on_from_ps: on.from,
        on_to_ps: on.to,
        offered_load: share(
            sum(|job| job.generated_bits),
            capacity(bandwidth, senders, on),
        ),
        accepted_load: share(
            sum(|job| job.accepted_bits),
            capacity(bandwidth, receivers, on),
        ),
        bytes_delivered: sum(|job| job.delivered_bits) / 8,
        endpoint: tasks.to_vec(),
        task_finish_ps: finishes
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect(),
        task_communication_ps: spent,
    }
}

/// Time of the last activity of each endpoint of open-loop traffic, and the time from the start to it.
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

/// Finish of each task of an application, and its communication time, up to the end of the run if it was not done.
fn task_times(
    reports: &[DomainReport],
    number: usize,
    tasks: usize,
) -> (Vec<Option<Time>>, Vec<Time>) {
    let (mut finishes, mut spent) = (vec![None; tasks], vec![0; tasks]);
    let rows = reports.iter().flat_map(|report| &report.tasks);
    for &[job, task, finish, communication, done, _] in rows {
        if job == number as u64 {
            finishes[task as usize] = (done != 0).then_some(finish);
            spent[task as usize] = communication;
        }
    }
    (finishes, spent)
}
