//! Configurations of CODES on ROSS.

mod keys;
mod models;
mod text;
mod traffic;

use std::sync::Arc;

use toml::{Table, Value};

use super::configuration::{Configuration, Entry, Key};
use super::toml::{bytes, table, text, time};
use keys::{LATEST, MODELS, Model};
use weir_input::ConfigError;
use weir_input::error::Source;

/// The experiment, and the entries with their fates.
///
/// # Errors
/// The file is no configuration of CODES, a value is none that the key may have, or weir has no
/// such model.
pub fn convert(source: &Arc<Source>) -> Result<(Table, Configuration), ConfigError> {
    let entries = text::entries(source)?;
    let mut file = Configuration::new(source.clone(), entries, &[keys::COMMON]);
    let (model, tables) = model(&file)?;
    file.set_tables(tables);
    others(&mut file, model, tables);
    tasks(&mut file, model);
    let network = models::network(&mut file, model)?;
    let workload = traffic::workload(&mut file, model, &network)?;
    let mut experiment = Table::new();
    let mut put = |key: &str, value: Value| experiment.insert(key.to_string(), value);
    if model != "simplenet" {
        put("preset", text("codes"));
    }
    put("topology", network.topology);
    put("routing", network.routing);
    put("router", network.router);
    put("nic", nic(&mut file, network.packet)?);
    if let Some(congestion) = network.congestion {
        put("congestion", congestion);
    }
    put("workload", Value::Array(vec![workload]));
    let until = match file.has("PARAMS.end_time") {
        true => time(file.number("PARAMS.end_time", 1.0..=LATEST)?),
        false => text("completion"),
    };
    put("run", table([("until", until)]));
    Ok((experiment, file))
}

/// The model of the only network.
fn model(file: &Configuration) -> Result<Model, ConfigError> {
    const ORDER: &str = "PARAMS.modelnet_order";
    let order = file.entry(ORDER).map_or(&[][..], |entry| &entry.values);
    // Routers are in the list beside their endpoints.
    let networks: Vec<&String> = order
        .iter()
        .filter(|name| !name.ends_with("_router"))
        .collect();
    let remedy = "dragonfly_dally, dragonfly, fattree, torus and simplenet can be imported, one \
                  of them in a file";
    let [network] = networks[..] else {
        let message = match order {
            [] => format!("there is no {ORDER}: the network of CODES is not known"),
            _ => format!("{ORDER} = {}: not one network", order.join(", ")),
        };
        return Err(file.refuse(ORDER, message, remedy));
    };
    let known = MODELS.iter().find(|(name, _)| name == network);
    known.copied().ok_or_else(|| {
        let line = file.entry(ORDER).map_or(0, |entry| entry.line);
        let message = format!("line {line}: {ORDER} = {network} has no counterpart in weir");
        file.refuse(ORDER, message, remedy)
    })
}

/// Says of keys that only other models read that this one does not.
fn others(file: &mut Configuration, model: &str, tables: &[&[Key]]) {
    let has = |tables: &[&[Key]], name: &str| {
        tables
            .iter()
            .any(|table| table.iter().any(|row| row.names(name)))
    };
    let read = |entry: &&Entry| has(tables, &entry.key);
    let elsewhere = |entry: &&Entry| MODELS.iter().any(|(_, tables)| has(tables, &entry.key));
    let unread = file.entries().iter().filter(|entry| !read(entry));
    let names: Vec<String> = unread
        .filter(elsewhere)
        .map(|entry| entry.key.clone())
        .collect();
    for name in names {
        file.instead(&name, format!("no effect: {model} does not read it"));
    }
}

/// Says if several processes are on an endpoint.
fn tasks(file: &mut Configuration, model: &str) {
    let count = |end: &str| {
        let found = file.entries().iter().find(|entry| {
            entry.key.starts_with("LPGROUPS.") && entry.key.ends_with(&format!(".{end}"))
        });
        found.map(|entry| (entry.key.clone(), entry.text()))
    };
    let endpoints = count(&format!("modelnet_{model}"));
    if let (Some((key, tasks)), Some((_, endpoints))) = (count("nw-lp"), endpoints)
        && tasks != endpoints
    {
        file.instead(&key, "no counterpart: an endpoint has one task of a job");
    }
}

/// The section `[nic]`.
fn nic(file: &mut Configuration, packet: u64) -> Result<Value, ConfigError> {
    let scheduler = file.text("PARAMS.modelnet_scheduler");
    let order = match scheduler.as_str() {
        "fcfs" | "fcfs-full" => "fifo",
        "round-robin" => "message",
        _ => {
            file.instead("PARAMS.modelnet_scheduler", "nic.order = \"fifo\" instead");
            "fifo"
        }
    };
    Ok(table([
        ("max_packet", bytes(packet)),
        ("order", text(order)),
        ("acknowledge", Value::Boolean(false)),
    ]))
}
