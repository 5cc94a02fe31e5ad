//! `weir export --topology`: the network of an experiment for other programs, or as a graph of
//! weir's own.

use std::fmt::Write;

use crate::cli::args::{ExportFormat, ExportOptions};
use crate::cli::experiment::import::{HostRule, Link, Network, file_of};
use crate::cli::process::failure::Failure;
use crate::cli::results::export::refusal::{not_written, wrong_with};
use weir_input::ConfigError;
use weir_network::topology::{Peer, Topology};
use weir_result::{read_header, replace, schema};
use weir_simulation::Plan;
use weir_simulation::config::{Catalog, Document, Experiment};

/// Writes the network of an experiment, or of the experiment of a result.
///
/// # Errors
/// The experiment cannot be run, or the file cannot be written.
pub fn export(
    options: &ExportOptions,
    format: ExportFormat,
    catalog: &Catalog,
) -> Result<String, Failure> {
    if !options.is_whole() {
        return Err(wrong_with(
            "--topology writes the whole network",
            "leave out --job, --unit, --from, --to and --router",
        ));
    }
    let wrong = |error: ConfigError| Failure::wrong(&error);
    let experiment = experiment(options, catalog)?;
    let plan = Plan::new(&experiment, None).map_err(wrong)?;
    let mut network = network(&*plan.network().topology);
    let text = match format {
        ExportFormat::Csv => network.whole_csv(),
        ExportFormat::Dot => dot(&network),
        ExportFormat::Graphml => graphml(&network),
        ExportFormat::Toml => {
            let topology = network.topology(&HostRule::default());
            topology.and_then(|table| file_of(&table)).map_err(wrong)?
        }
        ExportFormat::Goal | ExportFormat::Vef | ExportFormat::Perfetto => {
            return Err(wrong_with(
                "a network is not written in this format",
                "write --format toml, csv, graphml or dot, or a file whose name ends so",
            ));
        }
    };
    replace(&options.file, text.as_bytes()).map_err(|error| not_written(&options.file, &error))?;
    Ok(format!(
        "{}: {} endpoints, {} routers\n",
        options.file.display(),
        network.hosts.len(),
        plan.network().topology.routers(),
    ))
}

fn experiment(options: &ExportOptions, catalog: &Catalog) -> Result<Experiment, Failure> {
    let wrong = |error: ConfigError| Failure::wrong(&error);
    let inside = options.result.join(schema::FILE);
    let path = if inside.is_file() {
        &inside
    } else {
        &options.result
    };
    if path.extension().is_some_and(|ending| ending == "h5") {
        let header = read_header(path).map_err(|error| Failure::bad_input(error.to_string()))?;
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(path);
        return Experiment::from_text(&name, &header.experiment, folder, &[], catalog)
            .map_err(wrong);
    }
    let document = Document::read(path).map_err(wrong)?;
    document.experiment(catalog).map_err(wrong)
}

/// The links of a topology. Endpoints are `e0`, `e1`, …, routers `r0`, `r1`, ….
fn network(topology: &dyn Topology) -> Network {
    let mut network = Network::default();
    for router in 0..topology.routers() {
        for port in 0..topology.ports(router) {
            let link = topology.link(router, port);
            let name = &topology.link_kinds()[usize::from(link.kind.0)];
            let of = |from: String, to: String| Link {
                kind: (**name != *"terminal" && **name != *"link").then(|| name.to_string()),
                gbps: Some(link.bandwidth.0 as f64 / 1e9),
                ns: Some(link.latency as f64 / 1e3),
                ..Link::new(from, to)
            };
            match topology.peer(router, port) {
                Peer::Endpoint(endpoint) => {
                    let link = of(format!("e{endpoint}"), format!("r{router}"));
                    network.hosts.push(link);
                }
                // From the end with the lower number.
                Peer::Router(other, far) if (router, port) < (other, far) => {
                    network
                        .links
                        .push(of(format!("r{router}"), format!("r{other}")));
                }
                Peer::Router(..) | Peer::Unused => {}
            }
        }
    }
    // In the order of the endpoints, whose numbers a graph takes from the order.
    let number = |link: &Link| link.ends[0][1..].parse::<u32>().unwrap_or_default();
    network.hosts.sort_by_key(number);
    network
}

/// In the language of Graphviz.
fn dot(network: &Network) -> String {
    let mut text = String::from("graph weir {\n");
    for host in &network.hosts {
        // Writing into a text cannot fail.
        let _ = writeln!(text, "  {} [kind=endpoint, shape=point]", host.ends[0]);
    }
    for (kind, link) in network.all() {
        let [gbps, ns] = [link.gbps, link.ns].map(Option::unwrap_or_default);
        let [from, to] = &link.ends;
        let like = format!("kind={kind}, bandwidth=\"{gbps} Gbps\", latency=\"{ns} ns\"");
        let _ = writeln!(text, "  {from} -- {to} [{like}]");
    }
    text + "}\n"
}

/// As GraphML.
fn graphml(network: &Network) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (id, of) in [
        ("node", "node"),
        ("kind", "edge"),
        ("bandwidth", "edge"),
        ("latency", "edge"),
    ] {
        let name = if id == "node" { "kind" } else { id };
        let _ = writeln!(
            text,
            "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"string\"/>"
        );
    }
    text.push_str("  <graph edgedefault=\"undirected\">\n");
    let mut seen = std::collections::HashSet::new();
    let ends = network.all().flat_map(|(_, link)| &link.ends);
    for name in ends.filter(|name| seen.insert(name.as_str())) {
        let kind = if name.starts_with('e') {
            "endpoint"
        } else {
            "router"
        };
        let _ = writeln!(
            text,
            "    <node id=\"{name}\"><data key=\"node\">{kind}</data></node>"
        );
    }
    for (kind, link) in network.all() {
        let [gbps, ns] = [link.gbps, link.ns].map(Option::unwrap_or_default);
        let [from, to] = &link.ends;
        let _ = writeln!(
            text,
            "    <edge source=\"{from}\" target=\"{to}\"><data key=\"kind\">{kind}</data>\
             <data key=\"bandwidth\">{gbps} Gbps</data><data key=\"latency\">{ns} ns</data></edge>"
        );
    }
    text + "  </graph>\n</graphml>\n"
}
