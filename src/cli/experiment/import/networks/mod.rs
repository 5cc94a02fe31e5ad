//! Networks that other programs describe, as topology files of weir: graphs.
//!
//! Each reader makes a [`Network`] of a text. What a file does not say (rates, latencies) is chosen
//! here, and the topology file says so.

mod anynet;
mod dot;
mod edges;
mod graphml;
mod htsim;
mod ibnetdiscover;
mod lines;
mod network;
mod slurm;

use std::path::Path;
use std::sync::Arc;

use toml::{Table, Value};

use super::configuration::one_line;
use crate::cli::args::Format;
pub use network::{HostRule, Link, Network, file_of};
use weir_input::ConfigError;
use weir_input::error::Source;
use weir_simulation::Plan;
use weir_simulation::config::{Catalog, Experiment};

/// The readers: the name of the program or format, and what makes a network of a text.
type Read = fn(&Arc<Source>, &HostRule) -> Result<Network, ConfigError>;

/// The reader of a format; None if it is the configuration of a simulator.
pub fn reader(format: Format) -> Option<(&'static str, Read)> {
    Some(match format {
        Format::Booksim | Format::Codes => return None,
        Format::Anynet => ("BookSim2 (anynet)", anynet::read),
        Format::Dot => ("DOT", dot::read),
        Format::Edges => ("a list of edges", edges::read),
        Format::Graphml => ("GraphML", graphml::read),
        Format::Htsim => ("htsim", htsim::read),
        Format::Ibnetdiscover => ("ibnetdiscover", ibnetdiscover::read),
        Format::Slurm => ("Slurm", slurm::read),
    })
}

/// The text of a topology file, and what was chosen.
///
/// # Errors
/// The file is no such network, or none that weir can simulate.
pub fn import(
    source: &Arc<Source>,
    (program, read): (&str, Read),
    asked: &HostRule,
    catalog: &Catalog,
) -> Result<(String, Vec<String>), ConfigError> {
    let mut network = read(source, asked)?;
    if let Some(alone) = network.without_links() {
        return Err(ConfigError::new(
            format!("{}: {alone:?} is linked with nothing", source.name),
            "add its links, or remove it",
        ));
    }
    if network.is_empty() {
        return Err(ConfigError::new(
            format!("{} has no links", source.name),
            "give the description of a network",
        ));
    }
    if let Some(prefix) = &asked.prefix {
        let mut ends = network.all().flat_map(|(_, link)| &link.ends);
        if !ends.any(|end| end.starts_with(prefix)) {
            return Err(ConfigError::new(
                format!(
                    "{}: no node has a name that begins with {prefix:?}",
                    source.name
                ),
                "give the beginning of the hosts' names with --hosts",
            ));
        }
    }
    let topology = network.topology(asked)?;
    check(source, &topology, catalog)?;
    let mut text = format!(
        "# {} of {program}, by weir import\n",
        one_line(&source.name)
    );
    text.push_str(&file_of(&topology)?);
    if !network.chosen.is_empty() {
        text.push_str("\n# Not in the file, chosen:\n");
    }
    for line in &network.chosen {
        text.push_str(&format!("#   {}\n", one_line(line)));
    }
    let chosen = network.chosen.iter();
    let chosen = chosen.map(|line| format!("not in the file, chosen: {line}"));
    Ok((text, chosen.collect()))
}

/// Checks that weir can simulate it: what it would refuse is not written.
fn check(source: &Source, topology: &Table, catalog: &Catalog) -> Result<(), ConfigError> {
    let rest = "[routing]\nalgorithm = \"shortest\"\n[[workload]]\nload = 0.1\n\
                message = \"1 flits\"\npattern = { kind = \"uniform\" }\n[run]\nuntil = \"1 us\"\n";
    let topology = Value::Table(topology.clone());
    let text = file_of(&Table::from_iter([("topology".to_string(), topology)]))? + rest;
    let name = format!("{} as a topology", source.name);
    let checked = Experiment::from_text(&name, &text, Path::new(""), &[], catalog);
    checked
        .and_then(|experiment| Plan::new(&experiment, None))
        .map(drop)
}
