//! Configurations of BookSim2. A cycle is 1 ns, a flit 100 bits: a link passes a flit in a cycle.

mod keys;
mod network;
mod text;
mod traffic;

use std::sync::Arc;

use toml::{Table, Value};

use super::configuration::{Configuration, MOST};
use super::toml::{flits, table, text, time, whole};
use traffic::Traffic;
use weir_input::ConfigError;
use weir_input::error::Source;

/// Measured sample periods: BookSim2 ends after three that agree.
const MEASURED: u64 = 3;

/// The experiment, and the entries with their fates.
///
/// # Errors
/// The file is no configuration of BookSim2, a value is none that the key may have, or weir has no
/// such topology.
pub fn convert(source: &Arc<Source>) -> Result<(Table, Configuration), ConfigError> {
    let mut file = Configuration::new(source.clone(), text::entries(source)?, &[keys::KEYS]);
    let network = network::network(&mut file)?;
    let traffic = traffic::traffic(&mut file, &network)?;
    let mut experiment = Table::new();
    let mut put = |key: &str, value: Value| experiment.insert(key.to_string(), value);
    put("preset", text("booksim2"));
    put("topology", network.topology.clone());
    put("routing", network.routing.clone());
    if let Some(queueing) = &network.queueing {
        put("queueing", queueing.clone());
    }
    put("router", router(&mut file, &traffic)?);
    put(
        "nic",
        table([
            ("max_packet", flits(traffic.longest)),
            ("injection_vcs", whole(network.injection_vcs)),
        ]),
    );
    put("workload", Value::Array(traffic.workloads));
    put("run", run(&mut file)?);
    if network.own_ugal {
        without_preset(&mut experiment);
    }
    file.choose("a cycle is 1 ns, a flit 100 bits");
    Ok((experiment, file))
}

/// Writes the preset's routers and NICs out: its `ugal` is that of dragonflies, with other keys.
fn without_preset(experiment: &mut Table) {
    experiment.remove("preset");
    let sections = [
        ("router", "buffer_per", text("vc")),
        ("router", "credit_at", text("crossing")),
        ("router", "arbitration", text("round_robin")),
        ("nic", "acknowledge", Value::Boolean(false)),
    ];
    for (section, key, value) in sections {
        if let Some(Value::Table(section)) = experiment.get_mut(section) {
            section.insert(key.to_string(), value);
        }
    }
}

/// The section `[router]`.
fn router(file: &mut Configuration, traffic: &Traffic) -> Result<Value, ConfigError> {
    let speedup = file.number("internal_speedup", 1.0..=1e6)?;
    let steps = |name| file.number(name, 0.0..=1e6);
    let stages = [
        steps("routing_delay")?,
        steps("vc_alloc_delay")?,
        steps("sw_alloc_delay")?,
        steps("st_prepare_delay")?,
        steps("st_final_delay")?,
    ];
    let [routing, allocation, ..] = stages;
    // The router works `speedup` steps in a cycle, and a flit leaves with a whole cycle.
    let latency = (stages.iter().sum::<f64>() / speedup).ceil();
    let credit = file.number("credit_delay", 0.0..=1e6)?;
    let queue = match file.text("output_buffer_size").parse::<i64>() {
        // At the links' rate nothing waits behind the crossbar.
        Ok(..=-1) if speedup == 1.0 => text("none"),
        Ok(..=-1) => text("unlimited"),
        _ => {
            let size = file.whole("output_buffer_size", 1..=MOST)?;
            let size = size.max(traffic.longest);
            file.instead(
                "output_buffer_size",
                format!("router.output_queue = {size} flits, for each virtual channel"),
            );
            flits(size)
        }
    };
    Ok(table([
        ("flit", text("100 bits")),
        ("latency", time(latency)),
        ("credit_delay", time(credit)),
        ("input_buffer", flits(buffer(file, traffic.longest)?)),
        ("speedup", Value::Float(speedup)),
        ("vc_allocation", time(allocation / speedup)),
        ("route_computation", time(routing / speedup)),
        ("output_queue", queue),
    ]))
}

/// Flits of a virtual channel's buffer: weir moves whole packets, so it holds the longest.
fn buffer(file: &mut Configuration, longest: u64) -> Result<u64, ConfigError> {
    let shared = file.text("buf_size").parse::<i64>();
    let (key, size) = match shared {
        Ok(..=0) => ("vc_buf_size", file.whole("vc_buf_size", 1..=MOST)?),
        _ => {
            let size = file.whole("buf_size", 1..=MOST)? / file.whole("num_vcs", 1..=MOST)?;
            file.instead("vc_buf_size", "buf_size is given");
            ("buf_size", size)
        }
    };
    if size < longest {
        let why = format!("a buffer holds the longest packet: {longest} flits instead of {size}");
        file.instead(key, why);
    }
    Ok(size.max(longest))
}

/// The section `[run]`.
fn run(file: &mut Configuration) -> Result<Value, ConfigError> {
    let period = file.whole("sample_period", 1..=MOST)?;
    let warmup = file.whole("warmup_periods", 0..=MOST)?;
    let most = file.whole("max_samples", 1..=MOST)?;
    let measured = most.saturating_sub(warmup).clamp(1, MEASURED);
    file.choose(format!(
        "run.measure = {measured} periods, and 2 more in run.until, so that their packets arrive"
    ));
    let seed = match file.text("seed").as_str() {
        "time" => {
            file.instead("seed", "a run of weir is repeatable: run.seed = 0");
            0
        }
        _ => file.whole("seed", 0..=u64::from(u32::MAX))?,
    };
    let periods = |count: u64| time((count as f64) * period as f64);
    Ok(table([
        ("until", periods(warmup + measured + 2)),
        ("warmup", periods(warmup)),
        ("measure", periods(measured)),
        ("seed", whole(seed)),
    ]))
}
