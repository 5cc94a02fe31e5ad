//! From a checked experiment to everything a run needs.

mod bubbles;
mod flows;
mod fork;
mod limits;
mod parameters;
mod timeline;
mod traffic;
mod windows;

use std::sync::Arc;

use crate::config::{AllEndpoints, Attribution, Experiment, Receivers};
use crate::plan::Plan;
use crate::warnings::warnings;
use weir_congestion::{About, Scheme};
use weir_engine::Schedule;
use weir_fabric::empty::{IdleTrips, Trips};
use weir_fabric::{
    Blueprint, Inside, Network, Parameters, Rated, Recording, RouterParameters, Traffic, Watched,
    empty, flow_kinds,
};
use weir_input::registry::Chosen;
use weir_input::{ConfigError, Until, suggest};
use weir_model::{EndpointId, Invalid, LATEST, NEVER, Span};
use weir_network::failures::{self, Failures, Outages};
use weir_network::nodes::Nodes;
use weir_network::partition::Partition;
use weir_network::queueing::{Divided, Queueing};
use weir_network::routing::{self, Detours, Routing};
use weir_network::topology::{Link, Topology};

use crate::collect::{attribution, scheme_numbers};
use crate::notes;
use parameters::{
    check_prepared, check_stages, check_steps, parameters, router_parameters, routers,
};
use traffic::{check_foreground, check_lengths, traffic};
use windows::{Windows, quiet_limit};

impl Plan {
    /// Assembles a run. Everything that can be wrong with an experiment is found here, before
    /// anything runs.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place and a remedy.
    pub fn new(
        experiment: &Experiment,
        watched: Option<(EndpointId, u32)>,
    ) -> Result<Plan, ConfigError> {
        let mut plan = Plan::without_fork(experiment, watched)?;
        if let Some(config) = &experiment.fork {
            let base = Plan::without_fork(&config.base, watched)?;
            plan.traces.push(fork::note(config));
            plan.fork = Some(Box::new(fork::plan(config, base, &plan)?));
        }
        Ok(plan)
    }

    fn without_fork(
        experiment: &Experiment,
        watched: Option<(EndpointId, u32)>,
    ) -> Result<Plan, ConfigError> {
        let (network, scheme) = network(experiment)?;
        check_numbers(experiment, scheme.as_ref(), &network)?;
        let network = Arc::new(network);
        let recording = Recording {
            scheme: records(experiment, scheme.as_ref())?,
            ..recording(experiment, &network)
        };
        let mut traffic = traffic(experiment, &network)?;
        let links = timeline::choose(experiment, &network, &mut traffic)?;
        let rated = rated(experiment, &network, &traffic)?;
        let received = received(experiment, &network)?;
        let end = experiment.run.end().unwrap_or(LATEST);
        let completes = experiment.run.until == Until::Completion;
        // Nothing is left to do once all applications are done, unless other traffic never stops.
        let endless = |traffic: &Traffic| match traffic.application() {
            Some(_) => traffic.background,
            None => traffic.stop == NEVER,
        };
        let until_done = completes && traffic.iter().any(endless);
        if completes {
            check_foreground(experiment, &traffic)?;
        }
        let Windows {
            lookahead,
            window,
            interleaving,
        } = Windows::new(&network, scheme.as_ref(), &traffic, until_done);
        let quiet_limit = quiet_limit(&network, window);
        if scheme.capabilities().retransmits || network.flows.managed {
            check_lengths(experiment, &traffic, &network)?;
        }
        let schedule = Schedule {
            window,
            end,
            interleaving,
        };
        let blueprint = Blueprint {
            network,
            traffic: Arc::new(traffic),
            recording,
            schedule,
            rated: rated.into(),
            received: received.into(),
            links,
            seed: experiment.run.seed,
            watched: watched.map_or(Watched::Nothing, |(source, number)| {
                Watched::Packet(source, number)
            }),
            until_done,
        };
        let mut plan = Plan {
            blueprint,
            scheme,
            completes,
            lookahead,
            quiet_limit,
            fork: None,
            warnings: Vec::new(),
            cost: experiment.cost.clone(),
            traces: notes::traces(experiment),
        };
        plan.warnings = warnings(experiment, &plan);
        Ok(plan)
    }
}

fn network(experiment: &Experiment) -> Result<(Network, Box<dyn Scheme>), ConfigError> {
    let Experiment {
        topology,
        routing,
        queueing,
        congestion,
        ..
    } = experiment;
    let topology = (topology.variant.build)(topology)?;
    let (nodes, inside) = nodes(experiment, topology.as_ref())?;
    let (failures, outages) = failures(experiment, topology.as_ref())?;
    let routing = built_routing(routing, &topology, outages.as_ref())?;
    let divided = Divided {
        topology: &topology,
        routing: &*routing,
    };
    let queueing = (queueing.variant.build)(queueing, divided)?;
    let routing = spread(experiment, queueing.as_ref(), routing, &topology)?;
    let parameters = parameters(experiment);
    let routers = routers(experiment, topology.as_ref())?;
    let link = fastest_end(topology.as_ref());
    let usual = router_parameters(&experiment.router);
    let input_buffer = parameters.buffer_flits([&usual, &usual], &link);
    let crossing = |router| routers[topology.router_kind(router).index()].latency;
    let round_trip = empty::round_trip(topology.as_ref(), routing.as_ref(), &crossing);
    let mut about = About {
        flit: parameters.flit,
        max_packet: parameters.max_packet,
        bandwidth: link.bandwidth,
        output_queue: usual.output_flits(&parameters),
        // More is refused with the network.
        input_buffer: u32::try_from(input_buffer).unwrap_or(u32::MAX),
        endpoints: topology.endpoints(),
        acknowledge: parameters.acknowledge,
        round_trip,
        longest_trip: 0,
        trip_spread: 1.0,
        circuits: routing.circuits().is_some(),
    };
    let parts = (topology.as_ref(), routing.as_ref(), &*routers);
    add_trips(&mut about, parts, &parameters);
    let scheme = (congestion.variant.build)(congestion, &about)?;
    let flows = flows::rules(experiment, routing.as_ref(), scheme.as_ref(), &parameters)?;
    let discipline = flows::discipline(experiment, scheme.as_ref())?;
    let mut kinds = scheme.kinds().to_vec();
    kinds.extend(flow_kinds(&flows, scheme.classes()));
    let network = Network {
        classes: scheme.classes(),
        kinds,
        flows,
        discipline,
        partition: Partition::new(topology.as_ref(), nodes),
        nodes,
        inside,
        topology,
        failures,
        outages,
        routing,
        queueing,
        parameters,
        routers,
        about,
        signals: scheme.capabilities().signals,
    };
    check(experiment, &network)?;
    Ok((network, scheme))
}

/// The first of the fastest links of endpoints.
fn fastest_end(topology: &dyn Topology) -> Link {
    let link = |endpoint| {
        let (router, port) = topology.attachment(endpoint);
        topology.link(router, port)
    };
    (1..topology.endpoints()).fold(link(0), |fastest, endpoint| {
        let other = link(endpoint);
        match other.bandwidth > fastest.bandwidth {
            true => other,
            false => fastest,
        }
    })
}

/// Checks that need the whole network.
fn check(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    limits::check(experiment, network)?;
    bubbles::check(experiment, network)?;
    check_prepared(experiment)?;
    check_stages(experiment, network)?;
    check_steps(experiment, network)
}

/// The hosts, and the network inside them.
fn nodes(
    experiment: &Experiment,
    topology: &dyn Topology,
) -> Result<(Nodes, Option<Inside>), ConfigError> {
    let Some(config) = &experiment.nodes else {
        return Ok((Nodes::SINGLE, None));
    };
    let refuse = |invalid: Invalid| experiment.file.refuse(invalid.below("nodes"));
    let nodes = Nodes::new(config.nics, config.stride, topology.endpoints()).map_err(refuse)?;
    let inside = config.inside.map(|inside| Inside {
        bandwidth: inside.bandwidth.0,
        latency: inside.latency.0,
        shared: inside.shared,
    });
    Ok((nodes, inside))
}

/// Adds the trips of packets through the empty network; the round trip is that of heads so far.
fn add_trips(
    about: &mut About,
    (topology, routing, routers): (&dyn Topology, &dyn Routing, &[RouterParameters]),
    parameters: &Parameters,
) {
    // The packet, and a flit that acknowledges it.
    let lengths = about.link_time(u64::from(about.max_packet) + 1);
    about.round_trip = about.round_trip.saturating_add(lengths).min(LATEST);
    let trips = Trips {
        topology,
        routing,
        router: &|router| {
            let own = &routers[topology.router_kind(router).index()];
            (own.latency, own.switching.stores())
        },
        time: &|flits, bandwidth| about.time_on(flits, bandwidth),
        max_packet: about.max_packet.into(),
        back: parameters.control_flags(),
    };
    let IdleTrips { longest, spread } = trips.idle();
    (about.longest_trip, about.trip_spread) = (longest, spread);
}

/// The links that differ from their kind, and the outages among them.
fn failures(
    experiment: &Experiment,
    topology: &dyn Topology,
) -> Result<(Failures, Option<Arc<Outages>>), ConfigError> {
    let chosen = failures::choose(&experiment.failures, topology, experiment.run.seed);
    let failures = chosen.map_err(|invalid| experiment.file.refuse(invalid))?;
    let outages = Outages::new(&failures, topology);
    Ok((failures, outages))
}

/// The routing, around links that are down if there are any.
fn built_routing(
    section: &Chosen<routing::Build>,
    topology: &Arc<dyn Topology>,
    outages: Option<&Arc<Outages>>,
) -> Result<Box<dyn Routing>, ConfigError> {
    let made = (section.variant.build)(section, topology)?;
    let Some(outages) = outages else {
        return Ok(made);
    };
    let detours = Detours::new(made, topology, outages);
    Ok(Box::new(
        detours.map_err(|invalid| section.refuse(invalid))?,
    ))
}

/// The routing over all virtual channels, if the queueing scheme adds some.
fn spread(
    experiment: &Experiment,
    queueing: &dyn Queueing,
    routing: Box<dyn Routing>,
    topology: &Arc<dyn Topology>,
) -> Result<Box<dyn Routing>, ConfigError> {
    let refuse = |invalid| experiment.queueing.refuse(invalid);
    match queueing.spread() {
        None => Ok(routing),
        Some(_) if routing.keeps_bubbles() => Err(refuse(Invalid::new(
            "scheme",
            "packets would change their virtual channel within a ring, and a bubble is kept in each",
            "choose another scheme, or routing.rings = \"dateline\"",
        ))),
        Some(spread) => spread.over(routing, topology).map_err(refuse),
    }
}

fn recording(experiment: &Experiment, network: &Network) -> Recording {
    let run = &experiment.run;
    let to = match (run.measure, run.until) {
        (Some(measure), _) => run.warmup.0.saturating_add(measure.0),
        (None, Until::Time(end)) => end.0,
        (None, Until::Completion) => NEVER,
    };
    Recording {
        window: Span {
            from: run.warmup.0,
            to,
        },
        bin: experiment.output.bin.0,
        occupancy: experiment.output.occupancy.map_or(0, |interval| interval.0),
        rates: (experiment.output.rates.as_ref()).map_or(0, |rates| rates.interval.0),
        waits: attribution::interval(experiment, network),
        waits_by_source: experiment.output.attribution == Attribution::Sources,
        scheme: 0,
        packets: experiment.output.packets,
        messages: experiment.output.messages,
        iterations: experiment.output.iterations || experiment.output.flows,
        iteration_times: experiment.output.iterations,
        flows: experiment.output.flows,
        timeline: timeline::span(experiment),
        tasks: false,
    }
}

/// Refuses a scheme with two numbers of one name in `/data/scheme`, where weir writes some, too.
fn check_numbers(
    experiment: &Experiment,
    scheme: &dyn Scheme,
    network: &Network,
) -> Result<(), ConfigError> {
    let mut names = scheme_numbers(scheme, network);
    names.sort();
    let Some(two) = names.windows(2).find(|two| two[0] == two[1]) else {
        return Ok(());
    };
    let message = format!("{:?} has two counters named {:?}", scheme.name(), two[0]);
    let remedy = "give the counter of the scheme another name";
    Err(experiment
        .congestion
        .refuse(Invalid::new("scheme", message, remedy)))
}

/// A bit for each record of the scheme that is kept.
fn records(experiment: &Experiment, scheme: &dyn Scheme) -> Result<u32, ConfigError> {
    let known = scheme.records();
    let names: Vec<&str> = known.iter().map(|record| record.name).collect();
    let mut kept = 0;
    for (at, name) in experiment.output.scheme.iter().enumerate() {
        let Some(place) = names.iter().position(|known| known == name) else {
            let message = format!("{:?} has no record {name:?}", scheme.name());
            let remedy = match names.is_empty() {
                true => "leave it out: this scheme has none".to_string(),
                false => suggest(name, "records", &names, '"'),
            };
            let invalid = Invalid::new(format!("output.scheme.{at}"), message, remedy);
            return Err(experiment.file.refuse(invalid));
        };
        kept |= 1 << place;
    }
    Ok(kept)
}

/// The endpoints whose allowed rates are recorded: by their numbers, then by workload and task.
/// Workloads that do not run have none.
fn rated(
    experiment: &Experiment,
    network: &Network,
    traffic: &[Traffic],
) -> Result<Vec<Rated>, ConfigError> {
    let Some(rates) = &experiment.output.rates else {
        return Ok(Vec::new());
    };
    let refuse = |key: String, message: String, last: u32| {
        let remedy = format!("write a number from 0 to {last}");
        Err(experiment.file.refuse(Invalid::new(key, message, remedy)))
    };
    let mut list = Vec::new();
    let endpoints = network.topology.endpoints();
    for (at, &endpoint) in rates.endpoints.iter().enumerate() {
        if endpoint >= endpoints {
            let message = format!(
                "endpoint {endpoint} is beyond the network, which has {endpoints} endpoints"
            );
            return refuse(
                format!("output.rates.endpoints.{at}"),
                message,
                endpoints - 1,
            );
        }
        list.push(Rated {
            endpoint,
            task: None,
        });
    }
    for (name, tasks) in &rates.tasks {
        let Some(job) = traffic.iter().position(|one| one.name == *name) else {
            continue;
        };
        let there = &traffic[job].tasks;
        for (at, &task) in tasks.iter().enumerate() {
            let Some(&endpoint) = there.get(task as usize) else {
                let count = there.len();
                let message = format!("{name:?} has {count} tasks, and {task} is none of them");
                let key = format!("output.rates.tasks.{name}.{at}");
                return refuse(key, message, count as u32 - 1);
            };
            let task = Some((job as u16, task));
            list.push(Rated { endpoint, task });
        }
    }
    Ok(list)
}

/// The endpoints whose received payload is recorded, ascending, each once.
fn received(experiment: &Experiment, network: &Network) -> Result<Vec<EndpointId>, ConfigError> {
    let endpoints = network.topology.endpoints();
    let mut list = match &experiment.output.received {
        None => Vec::new(),
        Some(Receivers::Word(AllEndpoints::All)) => (0..endpoints).collect(),
        Some(Receivers::List(list)) => list.clone(),
    };
    if let Some(at) = list.iter().position(|&one| one >= endpoints) {
        let message = format!(
            "endpoint {} is beyond the network, which has {endpoints} endpoints",
            list[at]
        );
        let remedy = format!("write a number from 0 to {}", endpoints - 1);
        let invalid = Invalid::new(format!("output.received.{at}"), message, remedy);
        return Err(experiment.file.refuse(invalid));
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}
