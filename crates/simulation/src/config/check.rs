//! Checks that the types alone cannot make: values that do not fit together.

use std::collections::HashMap;

use super::sections::experiment::{CostConfig, Experiment, NicConfig, RouterConfig};
use super::sections::workload::TrafficSection;
use weir_input::{Buffer, ConfigError, Duration, OutputQueue, Section, Size, Until, suggest};
use weir_model::Invalid;
use weir_workload::open::endpoints::Endpoints;
use weir_workload::open::message::Message;

/// The most flits of a packet: the length of a packet has 16 bits.
const MOST_FLITS: u64 = u16::MAX as u64;

/// The most bits of a packet: its payload is counted in 32 bits.
const MOST_PACKET_BITS: u64 = u32::MAX as u64;

/// The most flits of a buffer: credits have 32 bits.
const MOST_BUFFER_FLITS: u64 = u32::MAX as u64;

/// The values of the sections that every experiment has.
pub(super) fn values(experiment: &Experiment) -> Result<(), ConfigError> {
    let refuse = |invalid| experiment.file.refuse(invalid);
    let longest = longest_packet(&experiment.router, &experiment.nic).map_err(refuse)?;
    buffers("router", &experiment.router, longest).map_err(refuse)?;
    stages("router", &experiment.router).map_err(refuse)?;
    for (kind, router) in &experiment.router_kinds {
        let section = format!("router.{kind}");
        buffers(&section, router, longest).map_err(refuse)?;
        stages(&section, router).map_err(refuse)?;
    }
    if experiment.nic.injection_vcs == 0 {
        return Err(refuse(Invalid::new(
            "nic.injection_vcs",
            "0 virtual channels carry nothing",
            "write 1 or more",
        )));
    }
    run(experiment).map_err(refuse)?;
    if let Some(given) = &experiment.cost {
        cost(given).map_err(refuse)?;
    }
    output(experiment).map_err(refuse)?;
    rates(experiment).map_err(refuse)?;
    workload_times(experiment)?;
    unique_names(experiment)
}

/// The most that a piece of memory, or an access to it, may cost: times all the bytes that can be
/// counted it is still a number.
const MOST_COST: f64 = 1e15;

/// Checks the cost of memory.
fn cost(cost: &CostConfig) -> Result<(), Invalid> {
    for (key, size) in [("memory", cost.memory), ("access", cost.access)] {
        if !matches!(size, Size::Bits(1..)) {
            let remedy = "write a size in bytes, such as \"64 B\"";
            return Err(Invalid::new(
                format!("cost.{key}"),
                format!("is {size}"),
                remedy,
            ));
        }
    }
    for (key, number) in [("area_mm2", cost.area_mm2), ("access_nj", cost.access_nj)] {
        if !(0.0..=MOST_COST).contains(&number) {
            return Err(Invalid::new(
                format!("cost.{key}"),
                format!("is {number:?}"),
                format!("write a number from 0 to {MOST_COST:e}"),
            ));
        }
    }
    Ok(())
}

/// The longest packet in flits.
fn longest_packet(router: &RouterConfig, nic: &NicConfig) -> Result<u64, Invalid> {
    let flit_bits = match router.flit {
        Size::Bits(bits) if bits <= u64::from(u32::MAX) => bits,
        Size::Bits(_) => {
            return Err(Invalid::new(
                "router.flit",
                format!("{} are too large for a flit", router.flit),
                "write at most 500 MB",
            ));
        }
        Size::Flits(_) | Size::Packets(_) => {
            return Err(Invalid::new(
                "router.flit",
                format!(
                    "\"{}\": the size of a flit cannot be counted in flits",
                    router.flit
                ),
                "write it in bits or bytes, for example flit = \"100 bits\"",
            ));
        }
    };
    let packet = nic.max_packet;
    if matches!(packet, Size::Packets(_)) {
        return Err(Invalid::new(
            "nic.max_packet",
            format!("\"{packet}\": the longest packet cannot be counted in packets"),
            "write it in flits, bits or bytes, for example max_packet = \"24 flits\"",
        ));
    }
    let bits = packet.bits(router.flit_size(), 1);
    if bits < flit_bits {
        return Err(Invalid::new(
            "nic.max_packet",
            format!("{packet} ({bits} bits) is less than one flit of {flit_bits} bits"),
            "write at least \"1 flit\"",
        ));
    }
    let flits = packet.flits(router.flit_size(), 1);
    if flits > MOST_FLITS {
        return Err(Invalid::new(
            "nic.max_packet",
            format!(
                "{packet} is {flits} flits of {flit_bits} bits; at most {MOST_FLITS} are possible"
            ),
            "write a smaller max_packet or a larger router.flit",
        ));
    }
    let longest = flits * flit_bits;
    if longest > MOST_PACKET_BITS {
        return Err(Invalid::new(
            "nic.max_packet",
            format!("{packet} is {longest} bits; at most {MOST_PACKET_BITS} are possible"),
            "write a smaller max_packet",
        ));
    }
    Ok(flits)
}

/// `section` is the place of the router's keys.
fn buffers(section: &str, router: &RouterConfig, longest: u64) -> Result<(), Invalid> {
    let input = match router.input_buffer {
        Buffer::Size(size) => Some(("input_buffer", size, "\"auto\"")),
        Buffer::Auto => None,
    };
    let output = match router.output_queue {
        OutputQueue::Size(size) => Some(("output_queue", size, "\"none\" for no queue at all")),
        OutputQueue::None | OutputQueue::Unlimited => None,
    };
    for (key, size, word) in [input, output].into_iter().flatten() {
        let flits = size.flits(router.flit_size(), longest);
        if flits < longest {
            return Err(Invalid::new(
                format!("{section}.{key}"),
                format!(
                    "{size} holds {flits} flits, but the longest packet (nic.max_packet) has \
                     {longest}"
                ),
                format!(
                    "write at least \"{longest} flits\", or {word}, or a smaller nic.max_packet"
                ),
            ));
        }
        if flits > MOST_BUFFER_FLITS {
            return Err(Invalid::new(
                format!("{section}.{key}"),
                format!("{size} is {flits} flits; at most {MOST_BUFFER_FLITS} are possible"),
                format!("write less, or {word}"),
            ));
        }
    }
    Ok(())
}

/// The stages of a router are parts of its latency. `section` is the place of the router's keys.
fn stages(section: &str, router: &RouterConfig) -> Result<(), Invalid> {
    let (route, allocation) = (router.route_computation, router.vc_allocation);
    let together = route.0.saturating_add(allocation.0);
    if together > router.latency.0 {
        let key = if allocation.0 > 0 {
            "vc_allocation"
        } else {
            "route_computation"
        };
        return Err(Invalid::new(
            format!("{section}.{key}"),
            format!(
                "route computation ({route}) and allocation ({allocation}) are parts of the \
                 router's latency, which is {}",
                router.latency
            ),
            format!("write less, or a longer {section}.latency"),
        ));
    }
    Ok(())
}

fn run(experiment: &Experiment) -> Result<(), Invalid> {
    let run = &experiment.run;
    if run.checkpoint_every == Some(Duration(0)) {
        return Err(Invalid::new(
            "run.checkpoint_every",
            "a checkpoint at every moment leaves no time for the run",
            "write a time such as \"10 min\"",
        ));
    }
    let (key, end) = match (run.until, run.at_most) {
        (Until::Completion, None) => return Ok(()),
        (Until::Completion, Some(limit)) => ("run.at_most", limit),
        (Until::Time(until), None) => ("run.until", until),
        (Until::Time(until), Some(_)) => {
            return Err(Invalid::new(
                "run.at_most",
                format!("the run ends at a time already (run.until = {until})"),
                "leave it out, or write until = \"completion\"",
            ));
        }
    };
    if end.0 == 0 {
        let remedy = match run.until {
            Until::Time(_) => "write a time such as \"500 us\", or \"completion\"",
            Until::Completion => "write a time such as \"500 us\"",
        };
        return Err(Invalid::new(key, "a run of 0 ns measures nothing", remedy));
    }
    if run.warmup >= end {
        return Err(Invalid::new(
            "run.warmup",
            format!(
                "{} is not before the end of the run ({key} = {end})",
                run.warmup
            ),
            "write a shorter warmup, or a later end",
        ));
    }
    let measured = |measure: Duration| run.warmup.0.saturating_add(measure.0);
    match run.measure {
        Some(measure) if measured(measure) > end.0 => Err(Invalid::new(
            "run.measure",
            format!(
                "warmup and measure ({} + {measure}) end after the run ({key} = {end})",
                run.warmup
            ),
            format!(
                "write at most \"{}\", or a later end",
                Duration(end.0 - run.warmup.0)
            ),
        )),
        _ => Ok(()),
    }
}

fn output(experiment: &Experiment) -> Result<(), Invalid> {
    if experiment.run.measure == Some(Duration(0)) {
        return Err(Invalid::new(
            "run.measure",
            "a window of 0 ns measures nothing",
            "write a time of more than zero, or leave it out to measure to the end",
        ));
    }
    let intervals = [
        ("output.bin", Some(experiment.output.bin)),
        ("output.occupancy", experiment.output.occupancy),
        (
            "output.rates.interval",
            experiment.output.rates.as_ref().map(|rates| rates.interval),
        ),
    ];
    for (key, interval) in intervals {
        let Some(interval) = interval else { continue };
        if interval.0 == 0 {
            return Err(Invalid::new(
                key,
                "0 ns is no interval",
                "write a time of more than zero, for example \"10 us\"",
            ));
        }
    }
    Ok(())
}

/// Checks the recorded rates: they need an owner, and workloads that exist.
fn rates(experiment: &Experiment) -> Result<(), Invalid> {
    let Some(rates) = &experiment.output.rates else {
        return Ok(());
    };
    let tasks = rates.tasks.values().map(Vec::len).sum::<usize>();
    if tasks + rates.endpoints.len() == 0 {
        return Err(Invalid::new(
            "output.rates",
            "this chooses nobody",
            "name tasks, as in tasks = { storm = [0, 1] }, or endpoints",
        ));
    }
    let names: Vec<&str> = experiment
        .workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    match rates
        .tasks
        .keys()
        .find(|own| !names.contains(&own.as_str()))
    {
        Some(unknown) => Err(Invalid::new(
            format!("output.rates.tasks.{unknown}"),
            format!("there is no workload called {unknown:?}"),
            suggest(unknown, "names", &names, '"'),
        )),
        None => Ok(()),
    }
}

/// A name is one for results.
pub(super) fn name(section: &Section, name: Option<&str>) -> Result<(), ConfigError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match name {
        Some(name) if name.is_empty() || !name.chars().all(plain) => {
            Err(section.refuse(Invalid::new(
                "name",
                format!("{name:?} is not a name for results"),
                "use letters, digits, `_` and `-` only",
            )))
        }
        _ => Ok(()),
    }
}

/// Checks that at least one endpoint takes part.
pub(super) fn endpoints(section: &Section, endpoints: &Endpoints) -> Result<(), ConfigError> {
    match endpoints {
        Endpoints::Count { count: 0, .. } => Err(section.refuse(Invalid::new(
            "endpoints.count",
            "0 endpoints send nothing",
            "write 1 or more",
        ))),
        _ => Ok(()),
    }
}

/// Checks that a task with one NIC has no choice among several.
pub(super) fn nic_choice(section: &Section, nics: u32) -> Result<(), ConfigError> {
    if nics == 1 && section.node.get("nic_choice").is_some() {
        return Err(section.refuse(Invalid::new(
            "nic_choice",
            "a task has one NIC, and no choice",
            "remove it, or write the NICs of a task, for example nics = 2",
        )));
    }
    Ok(())
}

/// Checks one workload by itself.
pub(super) fn workload(section: &Section, given: &TrafficSection) -> Result<(), ConfigError> {
    name(section, given.name.as_deref())?;
    endpoints(section, &given.endpoints)?;
    let refuse = |key: &str, message: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    if !(given.load > 0.0 && given.load.is_finite()) {
        return refuse(
            "load",
            format!("{} is not a load", given.load),
            "write a fraction of the endpoint's link of more than 0, for example 0.4",
        );
    }
    if let Message::Mix(parts) = &given.message {
        for (index, (_, share)) in parts.iter().enumerate() {
            if !(*share > 0.0 && share.is_finite()) {
                return refuse(
                    &format!("message.{index}.share"),
                    format!("{share} is not a share"),
                    "write a number of more than 0; shares are relative to one another",
                );
            }
        }
    }
    match given.stop {
        Some(stop) if stop <= given.start => refuse(
            "stop",
            format!("{stop} is not after the start ({})", given.start),
            "write a later stop or an earlier start",
        ),
        _ => Ok(()),
    }
}

fn workload_times(experiment: &Experiment) -> Result<(), ConfigError> {
    // With an application the run is complete when all of them are, even if other traffic
    // continues.
    let enabled = || experiment.workloads.iter().filter(|one| one.enabled);
    let jobs = enabled().any(|one| one.job().is_some());
    if enabled().next().is_none() {
        return Err(experiment.file.refuse(Invalid::new(
            "workload",
            "no workload is enabled",
            "leave `enabled` away in one of them",
        )));
    }
    for workload in enabled() {
        let endless = workload.pattern().is_some_and(|one| one.stop.is_none());
        match experiment.run.until {
            Until::Completion if endless && !jobs => {
                return Err(workload.section.refuse(Invalid::new(
                    "",
                    format!(
                        "{:?} never stops, so run.until = \"completion\" never comes",
                        workload.name
                    ),
                    "add stop = \"…\", or end the run at a time: until = \"500 us\"",
                )));
            }
            _ => {}
        }
        if let Some(end) = experiment.run.end()
            && workload.start.0 >= end
        {
            let (start, end) = (workload.start, Duration(end));
            return Err(workload.section.refuse(Invalid::new(
                "start",
                format!("{start} is not before the end of the run ({end})"),
                "write an earlier start, or a later end",
            )));
        }
    }
    Ok(())
}

fn unique_names(experiment: &Experiment) -> Result<(), ConfigError> {
    let workloads = &experiment.workloads;
    let mut first_of = HashMap::new();
    for (index, workload) in workloads.iter().enumerate() {
        if let Some(first) = first_of.insert(&workload.name, index) {
            // The default name of one may be the given name of another: point at the one that was
            // given.
            let named = if workload.section.has("name") {
                index
            } else {
                first
            };
            return Err(workloads[named].section.refuse(Invalid::new(
                "name",
                format!(
                    "{:?} is the name of workloads {first} and {index}",
                    workload.name
                ),
                "give every workload a different name",
            )));
        }
    }
    Ok(())
}
