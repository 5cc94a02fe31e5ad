//! The parameters of an experiment in a line, and in a table.

use toml::{Table, Value};

use super::format;
use weir_result::Summary;

/// Simulated time, given in ps, with the µ of figures.
pub fn time(ps: f64) -> String {
    if !(0.0..1.8e19).contains(&ps) {
        return "-".to_string();
    }
    format::simulated(ps as u64).replace(" us", " µs")
}

/// The line below a figure: topology, routing, scheme, seed, simulated time, warm-up.
/// `experiment` is the resolved experiment (TOML); values that cannot be read are left out. With a
/// summary, its times are those of the run.
pub fn line(experiment: &str, summary: Option<&Summary>) -> String {
    let table: Table = experiment.parse().unwrap_or_default();
    let mut parts = Vec::new();
    parts.extend(topology(&table));
    let named = [
        ("routing", "algorithm", "routing "),
        ("queueing", "scheme", "queueing "),
        ("congestion", "scheme", "scheme "),
        ("run", "seed", "seed "),
    ];
    for (section, key, before) in named {
        parts.extend(get(&table, section, key).map(|value| format!("{before}{}", plain(value))));
    }
    match summary {
        Some(summary) => {
            parts.push(format!("simulated {}", time(summary.simulated_ps as f64)));
            let (from, to) = (summary.measured_from_ps, summary.measured_to_ps);
            parts.push(format::measured(from, to, |ps| time(ps as f64)));
        }
        None => {
            for (key, before) in [("until", "until "), ("warmup", "warm-up ")] {
                let value = get(&table, "run", key).map(plain);
                parts.extend(value.map(|value| format!("{before}{}", value.replace(" us", " µs"))));
            }
        }
    }
    parts.join(" · ")
}

/// The kind of the network and its numbers.
fn topology(table: &Table) -> Option<String> {
    let topology = table.get("topology")?.as_table()?;
    let kind = plain(topology.get("kind")?);
    let numbers = topology.iter().filter_map(|(key, value)| {
        let value = value.as_integer()?;
        Some(format!("{value} {}", key.replace('_', " ")))
    });
    let numbers: Vec<_> = numbers.collect();
    match numbers.is_empty() {
        true => Some(kind),
        false => Some(format!("{kind} ({})", numbers.join(", "))),
    }
}

fn get<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    table.get(section)?.get(key)
}

/// A value without the quotes of a text.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(table) => {
            let pairs = table
                .iter()
                .map(|(key, value)| format!("{key} {}", plain(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(plain).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

/// Every key of an experiment with its value, section by section: `routing`, `algorithm`, `par`.
pub fn all(experiment: &str) -> Vec<[String; 3]> {
    let table: Table = experiment.parse().unwrap_or_default();
    let mut rows = Vec::new();
    for (section, value) in &table {
        match value {
            Value::Table(keys) => add(&mut rows, section, keys),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let Some(keys) = item.as_table() else {
                        continue;
                    };
                    let name = keys.get("name").map_or(index.to_string(), plain);
                    add(&mut rows, &format!("{section} {name}"), keys);
                }
            }
            other => rows.push([String::new(), section.clone(), plain(other)]),
        }
    }
    rows
}

/// The names of the workloads that are applications, of a resolved experiment.
pub fn applications(experiment: &str) -> Vec<String> {
    let table: Table = experiment.parse().unwrap_or_default();
    let workloads = table.get("workload").and_then(Value::as_array);
    let runs = |one: &&Value| {
        let has = |key: &str| one.get(key).is_some();
        (has("motif") || has("trace")) && one.get("enabled") != Some(&Value::Boolean(false))
    };
    let names = workloads.into_iter().flatten().filter(runs);
    names
        .filter_map(|one| Some(one.get("name")?.as_str()?.to_string()))
        .collect()
}

fn add(rows: &mut Vec<[String; 3]>, section: &str, keys: &Table) {
    for (key, value) in keys.iter().filter(|(key, _)| *key != "name") {
        rows.push([section.to_string(), key.clone(), plain(value)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPERIMENT: &str = "[topology]\nkind = \"dragonfly\"\ngroups = 9\nlocal = { latency = \"5 ns\" }\n\
        [routing]\nalgorithm = \"par\"\n[[workload]]\nname = \"hot\"\nload = 0.5\n[run]\nuntil = \"90 us\"\nseed = 1\n";

    #[test]
    fn a_line_says_what_was_simulated() {
        assert_eq!(
            line(EXPERIMENT, None),
            "dragonfly (9 groups) · routing par · seed 1 · until 90 µs"
        );
        let summary = Summary {
            simulated_ps: 90_000_000,
            measured_from_ps: 5_000_000,
            measured_to_ps: 90_000_000,
            ..Summary::default()
        };
        assert!(
            line(EXPERIMENT, Some(&summary))
                .ends_with("simulated 90.0 µs · measured from 5.00 µs to 90.0 µs")
        );
        let early = Summary {
            measured_to_ps: 3_000_000,
            simulated_ps: 3_000_000,
            ..summary
        };
        let said = line(EXPERIMENT, Some(&early));
        assert!(
            said.ends_with("simulated 3.00 µs · nothing measured: that begins at 5.00 µs"),
            "{said}"
        );
        assert_eq!(line("this is not TOML", None), "");
    }

    #[test]
    fn every_key_has_a_row() {
        let rows = all(EXPERIMENT);
        assert!(
            rows.contains(&["workload hot", "load", "0.5"].map(String::from)),
            "{rows:?}"
        );
        assert!(
            rows.contains(&["topology", "local", "latency 5 ns"].map(String::from)),
            "{rows:?}"
        );
    }
}
