//! The timelines of a result: the intervals of all domains in their canonical order.

use crate::plan::Plan;
use weir_fabric::{DomainReport, STALLED};
use weir_model::{KindName, PacketKind, Time};
use weir_result::{Timeline, TimelineNumbers};
use weir_workload::timeline::{LeftOut, WORDS};

/// The intervals of tasks by job, task and time, those of links by router, port and time; None if
/// they are not kept.
pub(super) fn tables(
    reports: &[DomainReport],
    plan: &Plan,
    simulated: Time,
    kinds: &[(PacketKind, &'static str)],
) -> Option<Timeline> {
    let span = plan.blueprint.recording.timeline?;
    let tasks = reports.iter().flat_map(|report| &report.task_intervals.0);
    let mut tasks: Vec<_> = tasks.copied().collect();
    tasks.sort_unstable_by_key(|row| (row.job, row.task, row.begin_ps));
    let links = reports.iter().flat_map(|report| &report.link_intervals.0);
    let mut links: Vec<_> = links.copied().collect();
    links.sort_unstable_by_key(|row| (row.router, row.port, row.begin_ps));
    let left_out = |of: fn(&DomainReport) -> &LeftOut| {
        let mut sum = LeftOut::default();
        reports.iter().for_each(|report| sum.merge(of(report)));
        sum
    };
    let of_tasks = left_out(|report| &report.task_intervals.1);
    let of_links = left_out(|report| &report.link_intervals.1);
    let to_ps = span.to.min(simulated);
    Some(Timeline {
        numbers: TimelineNumbers {
            from_ps: span.from.min(to_ps),
            to_ps,
            tasks_left_out: of_tasks.intervals,
            tasks_until_ps: of_tasks.from.unwrap_or(to_ps),
            links_left_out: of_links.intervals,
            links_until_ps: of_links.from.unwrap_or(to_ps),
            routers: (plan.blueprint.links.as_ref()).map_or(0, |one| one.routers.len() as u64),
        },
        tasks: tasks.into_iter().collect(),
        task_words: WORDS.map(KindName::from).to_vec(),
        links: links.into_iter().collect(),
        link_words: link_words(kinds),
    })
}

/// The words of links: stalled, then the kinds of packets by their numbers.
fn link_words(kinds: &[(PacketKind, &'static str)]) -> Vec<KindName> {
    let name = |number: usize| kinds.iter().find(|(kind, _)| kind.index() == number);
    let carried = (0..PacketKind::MOST).map(|number| name(number).map_or("-", |(_, name)| *name));
    let stalled = (STALLED.index() == 0).then_some("stalled");
    stalled
        .into_iter()
        .chain(carried)
        .map(KindName::from)
        .collect()
}
