//! Timelines that a run records.

use crate::config::{AllRouters, ChosenRouters, Experiment, TimelineConfig};
use weir_fabric::{Drive, LinkTimelines, Network, Traffic};
use weir_input::{ConfigError, suggest};
use weir_model::{Invalid, NEVER, Span};
use weir_network::topology::Peer;
use weir_workload::timeline::Limits;

/// Intervals of tasks, and of links, that are kept at most.
const MOST_INTERVALS: u64 = 1 << 22;

/// Part of the run of which timelines are kept, if any are.
pub(super) fn span(experiment: &Experiment) -> Option<Span> {
    let config = experiment.output.timeline.as_ref()?;
    Some(Span {
        from: config.from.map_or(0, |from| from.0),
        to: config.to.map_or(NEVER, |to| to.0),
    })
}

/// Gives the tasks of the chosen applications their timelines, and chooses the links that have one.
///
/// # Errors
/// If a chosen part of the run, job or router does not exist.
pub(super) fn choose(
    experiment: &Experiment,
    network: &Network,
    traffic: &mut [Traffic],
) -> Result<Option<LinkTimelines>, ConfigError> {
    let (Some(config), Some(span)) = (&experiment.output.timeline, span(experiment)) else {
        return Ok(None);
    };
    let refuse = |key: String, message: String, remedy: String| {
        let key = format!("output.timeline{key}");
        Err(experiment.file.refuse(Invalid::new(key, message, remedy)))
    };
    if span.length() == 0 {
        let message = format!(
            "ends before it begins, or has no length ({})",
            times(config)
        );
        return refuse(
            ".to".into(),
            message,
            "write a later time, or leave it out".into(),
        );
    }
    let names: Vec<&str> = experiment.workloads.iter().map(|one| &*one.name).collect();
    for (at, name) in config.jobs.iter().flatten().enumerate() {
        let key = format!(".jobs.{at}");
        let Some(place) = names.iter().position(|known| known == name) else {
            let message = format!("there is no workload called {name:?}");
            return refuse(key, message, suggest(name, "names", &names, '"'));
        };
        if experiment.workloads[place].job().is_none() {
            let message = format!("{name:?} is no application: it has no tasks that wait");
            return refuse(key, message, "leave it out".into());
        }
    }
    give(config, span, traffic);
    let routers = network.topology.routers();
    let chosen = match &config.routers {
        None => return Ok(None),
        Some(ChosenRouters::Word(AllRouters::All)) => (0..routers).collect(),
        Some(ChosenRouters::List(list)) => {
            if let Some(at) = list.iter().position(|&one| one >= routers) {
                let one = list[at];
                let message =
                    format!("router {one} is beyond the network, which has {routers} routers");
                let remedy = format!("write a number from 0 to {}", routers - 1);
                return refuse(format!(".routers.{at}"), message, remedy);
            }
            let mut list = list.clone();
            list.sort_unstable();
            list.dedup();
            list
        }
    };
    Ok(links(network, chosen, span))
}

fn times(config: &TimelineConfig) -> String {
    let time = |time: Option<weir_input::Duration>| time.map_or("-".into(), |one| one.to_string());
    format!("from {} to {}", time(config.from), time(config.to))
}

fn share(of: usize) -> u64 {
    (MOST_INTERVALS / of.max(1) as u64).max(1)
}

fn give(config: &TimelineConfig, span: Span, traffic: &mut [Traffic]) {
    let chosen = |name: &String| config.jobs.as_ref().is_none_or(|jobs| jobs.contains(name));
    let with = traffic.iter_mut().filter(|one| chosen(&one.name));
    let mut with: Vec<&mut Traffic> = with.filter(|one| one.application().is_some()).collect();
    let most = share(with.iter().map(|one| one.tasks.len()).sum());
    for one in &mut with {
        if let Drive::Motif(application) = &mut one.drive {
            application.job.timeline = Some(Limits { span, most });
        }
    }
}

/// The timelines of these routers' links; None without routers.
fn links(network: &Network, routers: Vec<u32>, span: Span) -> Option<LinkTimelines> {
    let topology = &network.topology;
    let used = |&router: &u32| {
        let ports = 0..topology.ports(router);
        ports
            .filter(|&port| topology.peer(router, port) != Peer::Unused)
            .count()
    };
    let most = share(routers.iter().map(used).sum());
    (!routers.is_empty()).then(|| LinkTimelines {
        routers: routers.into(),
        limits: Limits { span, most },
    })
}
