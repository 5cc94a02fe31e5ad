//! Synthetic traffic, which is in the configuration or on the command line of CODES.

use toml::Value;

use super::super::configuration::{Configuration, MOST};
use super::super::toml::{bytes, table, text, time, wholes};
use super::keys::LATEST;
use super::models::CodesNetwork;
use weir_input::ConfigError;

/// Endpoints of a permutation that is written out.
const LISTED: u64 = 65_536;

/// The workload: the file's, or the default of the synthetic programs of CODES.
///
/// # Errors
/// A number is none.
pub fn workload(
    file: &mut Configuration,
    model: &str,
    network: &CodesNetwork,
) -> Result<Value, ConfigError> {
    let given = file
        .entries()
        .iter()
        .any(|entry| entry.key.starts_with("WORKLOAD."));
    if !given {
        file.choose("the workload, which CODES has on its command line: its synthetic traffic");
    }
    let payload = match (model, file.has("WORKLOAD.payload_size")) {
        ("fattree", false) => 512,
        _ => file.whole("WORKLOAD.payload_size", 1..=MOST)?,
    };
    let interval = file.number("WORKLOAD.arrival_time", 1e-3..=LATEST)?;
    let messages = file.whole("WORKLOAD.num_messages", 1..=MOST)?;
    // Its dragonflies send at equal intervals, the others at random ones.
    let injection = if network.group.is_some() {
        "periodic"
    } else {
        "poisson"
    };
    let load = payload as f64 / (interval * network.rate);
    Ok(table([
        ("pattern", pattern(file, network)),
        ("load", Value::Float(load)),
        ("message", bytes(payload)),
        ("injection", text(injection)),
        ("stop", time(interval * messages as f64)),
    ]))
}

fn pattern(file: &mut Configuration, network: &CodesNetwork) -> Value {
    const KEY: &str = "WORKLOAD.traffic";
    let name = file.text(KEY);
    let further = match (name.as_str(), network.group) {
        ("uniform", _) => return table([("kind", text("uniform"))]),
        ("rand_perm", _) => {
            file.instead(KEY, "\"permutation\": partners stay the same");
            return table([("kind", text("permutation"))]);
        }
        ("nearest_neighbor", _) => 1,
        ("nearest_group", Some(group)) => group,
        _ => 0,
    };
    let endpoints = network.endpoints;
    if endpoints > LISTED || further % endpoints.max(1) == 0 {
        file.instead(KEY, "no counterpart: \"uniform\" instead");
        return table([("kind", text("uniform"))]);
    }
    let to = (0..endpoints).map(|task| (task + further) % endpoints);
    table([("kind", text("permutation")), ("list", wholes(to))])
}
