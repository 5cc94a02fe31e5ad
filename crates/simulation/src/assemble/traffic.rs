//! Patterns and applications on their endpoints.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{
    ApplicationConfig, DriveConfig, Experiment, PatternConfig, ProgramConfig, WorkloadConfig,
};
use weir_fabric::{Application, Drive, Network, Open, TaskNics, Traffic};
use weir_input::ConfigError;
use weir_model::{Bandwidth, EndpointId, Invalid, NEVER, purpose, word};
use weir_network::nodes::NamedNodes;
use weir_network::topology::Place;
use weir_workload::motifs;
use weir_workload::open::injection::Injector;
use weir_workload::open::members::{self, Party};
use weir_workload::open::sizes::Sizes;
use weir_workload::patterns::Members;
use weir_workload::replay::Replay;
use weir_workload::tasks::{Exchange, Job, Mpi, Pace};

pub(super) fn traffic(
    experiment: &Experiment,
    network: &Network,
) -> Result<Vec<Traffic>, ConfigError> {
    let seed = experiment.run.seed;
    let parties: Vec<Party> = (experiment.workloads.iter())
        .map(WorkloadConfig::party)
        .collect();
    let names = experiment
        .nodes
        .as_ref()
        .and_then(|nodes| nodes.names.as_deref());
    let nodes = NamedNodes::new(network.nodes, names, &*network.topology)
        .map_err(|invalid| experiment.file.refuse(invalid.below("nodes")))?;
    let tasks = members::assign(&parties, &network.topology, &nodes, seed)?;
    let workloads = experiment.workloads.iter().zip(tasks).enumerate();
    // Workloads that do not run have their endpoints, and no more.
    let enabled = workloads.filter(|(_, (workload, _))| workload.enabled);
    enabled
        .map(|(number, (workload, tasks))| {
            one_workload(workload, number, tasks, network, experiment)
        })
        .collect()
}

fn one_workload(
    workload: &WorkloadConfig,
    number: usize,
    tasks: Arc<[EndpointId]>,
    network: &Network,
    experiment: &Experiment,
) -> Result<Traffic, ConfigError> {
    let seed = own_seed(experiment.run.seed, &workload.name);
    let background = matches!(&workload.drive, DriveConfig::Motif(job) if job.background);
    let (drive, tasks, stop) = match &workload.drive {
        DriveConfig::Pattern(pattern) => {
            let stop = pattern.stop.map_or(NEVER, |stop| stop.0);
            let drive = open_loop(workload, pattern, &tasks, network, seed)?;
            (Drive::Pattern(drive), tasks, stop)
        }
        DriveConfig::Motif(job) => {
            let iterations = experiment.output.iterations || experiment.output.flows;
            let (application, tasks) =
                application(workload, job, &tasks, network, iterations, seed)?;
            (Drive::Motif(application), tasks, NEVER)
        }
    };
    let (all, each) = match &drive {
        Drive::Motif(application) => (&application.nics.endpoints, application.nics.each),
        Drive::Pattern(_) => (&tasks, 1),
    };
    check_planes(workload, all, each, network)?;
    let members = match all.is_sorted() {
        true => Arc::clone(all),
        false => {
            let mut members = all.to_vec();
            members.sort_unstable();
            members.into()
        }
    };
    Ok(Traffic {
        name: workload.name.clone(),
        number: number as u16,
        tasks,
        members,
        drive,
        start: workload.start.0,
        stop,
        background,
    })
}

/// No packet has to leave its plane: one goes from a NIC of a task to that of the same number of
/// another task. (Tasks whose nodes have a network inside may send to each other or not: the
/// domains check that.)
fn check_planes(
    workload: &WorkloadConfig,
    endpoints: &[EndpointId],
    each: u32,
    network: &Network,
) -> Result<(), ConfigError> {
    let topology = &network.topology;
    let by_pairs = matches!(workload.drive, DriveConfig::Motif(_)) && network.inside.is_some();
    if topology.planes() == 1 || each == 1 && by_pairs {
        return Ok(());
    }
    let (each, planes) = (each as usize, topology.planes());
    for (at, &endpoint) in endpoints.iter().enumerate() {
        let [first, plane] = [endpoints[at % each], endpoint].map(|one| topology.plane_of(one));
        if plane != first {
            return Err(workload.section.refuse(Invalid::new(
                "endpoints",
                format!(
                    "no link leads from endpoint {} in plane {first} to endpoint {endpoint} in \
                     plane {plane}",
                    endpoints[at % each]
                ),
                format!(
                    "choose endpoints of one plane, or give each task of an application a NIC in \
                     each: nodes.nics = {planes}, nodes.stride = {}, and for the workload nics = \
                     {planes}, placement = \"nodes\"; or let tasks with one NIC each send by the \
                     network nodes.inside",
                    topology.plane(0).len()
                ),
            )));
        }
    }
    Ok(())
}

/// A run to completion waits for an application, if there is any: not all of them are in the
/// background.
pub(super) fn check_foreground(
    experiment: &Experiment,
    traffic: &[Traffic],
) -> Result<(), ConfigError> {
    let foreground = |one: &&Traffic| one.application().is_some() && !one.background;
    let behind = traffic.iter().find(|one| one.background);
    let (Some(behind), None) = (behind, traffic.iter().find(foreground)) else {
        return Ok(());
    };
    let section = &experiment.workloads[usize::from(behind.number)].section;
    Err(section.refuse(Invalid::new(
        "background",
        "all applications are in the background: a run to completion would not wait for any",
        "leave `background` out of one, or give run.until a time",
    )))
}

/// The seed of values that are drawn once for a workload.
fn own_seed(seed: u64, name: &str) -> u64 {
    seed ^ (purpose::PATTERN << 32 ^ word(name)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn open_loop(
    workload: &WorkloadConfig,
    config: &PatternConfig,
    tasks: &[EndpointId],
    network: &Network,
    seed: u64,
) -> Result<Open, ConfigError> {
    let about = Members {
        endpoints: tasks,
        topology: &network.topology,
        seed,
        load: config.load,
    };
    let pattern = (config.pattern.variant.build)(&config.pattern, &about)?;
    let flit = network.parameters.flit;
    let refuse = |invalid| workload.section.refuse(invalid);
    let longest = u64::from(network.parameters.max_packet);
    let sizes = Sizes::new(&config.message, flit, longest).map_err(refuse)?;
    let mean = sizes.mean_bits();
    let link = |&task: &EndpointId| network.topology.link_from(Place::Nic(task)).bandwidth;
    let bandwidths: BTreeSet<Bandwidth> = tasks.iter().map(link).collect();
    let injectors = bandwidths.into_iter().map(|bandwidth| {
        let injector = Injector::new(config.injection, config.load, mean, bandwidth, flit);
        injector.map(|injector| (bandwidth, injector))
    });
    let injectors: Result<Vec<_>, Invalid> = injectors.collect();
    Ok(Open {
        pattern,
        sizes,
        injectors: injectors.map_err(refuse)?,
    })
}

/// An application, and the endpoints of its tasks: the first of the endpoints that it may have.
fn application(
    workload: &WorkloadConfig,
    config: &ApplicationConfig,
    endpoints: &Arc<[EndpointId]>,
    network: &Network,
    iterations: bool,
    seed: u64,
) -> Result<(Application, Arc<[EndpointId]>), ConfigError> {
    let nics = task_nics(workload, config, endpoints, network)?;
    let tasks = nics.endpoints.len() as u32 / nics.each;
    if !(1..=motifs::MOST_ITERATIONS).contains(&config.repetitions) {
        let invalid = Invalid::new(
            "repetitions",
            format!("{} repetitions of a program", config.repetitions),
            format!("write a number from 1 to {}", motifs::MOST_ITERATIONS),
        );
        return Err(workload.section.refuse(invalid));
    }
    let mpi: Mpi = config.mpi.parse()?;
    let numbers = nics.endpoints.iter().zip(0..);
    let numbers = numbers.map(|(&at, place): (_, u32)| (at, place / nics.each));
    let firsts: Arc<[EndpointId]> = (0..tasks).map(|task| nics.endpoint(task, 0)).collect();
    let longest = u64::from(network.parameters.max_packet);
    let algorithms = mpi.algorithms();
    let mut motif = match &config.program {
        ProgramConfig::Motif(motif) => (motif.variant.build)(motif, tasks)?,
        ProgramConfig::Trace(config) => Box::new(Replay::new(config.trace.clone(), algorithms)),
    };
    motif.draw(seed);
    let job = Job {
        motif,
        tasks,
        repetitions: config.repetitions,
        iterations,
        timeline: None,
        exchange: Exchange {
            protocol: mpi
                .protocol(network.parameters.flit, longest)
                .map_err(|invalid| config.mpi.refuse(invalid))?,
            seed,
        },
        algorithms,
        pace: pace(workload, config, &firsts, network, seed)?,
    };
    let application = Application {
        job,
        numbers: numbers.collect(),
        nics,
    };
    Ok((application, firsts))
}

/// The speed at which the tasks at these endpoints compute.
fn pace(
    workload: &WorkloadConfig,
    config: &ApplicationConfig,
    firsts: &[EndpointId],
    network: &Network,
    seed: u64,
) -> Result<Pace, ConfigError> {
    let Some(compute) = &config.compute else {
        return Ok(Pace::default());
    };
    let nodes = firsts
        .iter()
        .map(|&endpoint| network.nodes.node_of(endpoint));
    let pace = compute.pace(&nodes.collect::<Vec<_>>(), seed);
    pace.map_err(|invalid| workload.section.refuse(invalid.below("compute")))
}

/// The NICs of each task: the first of the endpoints that the job may have.
fn task_nics(
    workload: &WorkloadConfig,
    config: &ApplicationConfig,
    endpoints: &Arc<[EndpointId]>,
    network: &Network,
) -> Result<TaskNics, ConfigError> {
    let refuse =
        |key, message, remedy| Err(workload.section.refuse(Invalid::new(key, message, remedy)));
    let (each, most) = (config.nics, network.nodes.nics());
    if !(1..=most).contains(&each) {
        let message = format!("{each} NICs of a task on nodes with {most}");
        let remedy = "write 1 to the number of the node's endpoints; [nodes] gives a node several";
        return refuse("nics", message, remedy);
    }
    let there = endpoints.len() as u32;
    let tasks = config.tasks.unwrap_or(there / each);
    if tasks == 0 || tasks.saturating_mul(each) > there {
        let message = match each {
            1 => format!("{tasks} tasks do not fit on {there} endpoints"),
            _ => format!("{tasks} tasks of {each} NICs do not fit on {there} endpoints"),
        };
        return refuse("tasks", message, "write fewer tasks or more endpoints");
    }
    let endpoints: Arc<[EndpointId]> = endpoints[..(tasks * each) as usize].into();
    for (task, own) in endpoints.chunks(each as usize).enumerate() {
        let node = network.nodes.node_of(own[0]);
        let other = own.iter().find(|&&one| network.nodes.node_of(one) != node);
        if let Some(other) = other {
            let message = format!(
                "the endpoints {} and {other} of task {task} are on different nodes",
                own[0]
            );
            let remedy = "write placement = \"nodes\" or \"random_nodes\", or list the endpoints \
                          of each node in a row";
            return refuse("nics", message, remedy);
        }
    }
    let packet = u64::from(network.parameters.max_packet) * u64::from(network.parameters.flit.0);
    Ok(TaskNics {
        endpoints,
        each,
        choice: config.nic_choice,
        least: packet.div_ceil(8),
    })
}

/// Schemes that send packets again, and flows, name the packets of a message by 32 bits. (Of
/// applications, whose messages are not known before they send them, the domains check it.)
pub(super) fn check_lengths(
    experiment: &Experiment,
    traffic: &[Traffic],
    network: &Network,
) -> Result<(), ConfigError> {
    let too_long = |traffic: &Traffic| match &traffic.drive {
        Drive::Pattern(open) => !network.about.countable(open.sizes.largest()),
        Drive::Motif(_) => false,
    };
    match traffic.iter().find(|one| too_long(one)) {
        None => Ok(()),
        Some(Traffic { number, .. }) => Err(experiment.workloads[usize::from(*number)].section.refuse(Invalid::new(
            "message",
            "a message of more than 4,294,967,295 packets, with a scheme or a routing that has to \
             count them",
            "write a smaller message or a larger nic.max_packet, or choose another \
             congestion.scheme or routing",
        ))),
    }
}
