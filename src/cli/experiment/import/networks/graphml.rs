//! GraphML (Brandes et al. 2002): nodes and edges with attributes that `<key>` elements name.
//!
//! Read are `kind` of nodes (`host` or `endpoint`), and of edges `kind`, `bandwidth` and `latency`
//! as weir writes them, and `LinkSpeedRaw` (bit/s) of the Internet Topology Zoo. A directed edge
//! and its reverse are one link.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use roxmltree::{Document, Node};

use super::super::configuration::unreadable;
use super::network::{HostRule, Link, Network, both_ways, gbps, ns};
use weir_input::ConfigError;
use weir_input::error::Source;
use weir_model::TERMINAL;

/// Attributes of edges that are read.
const READ: [&str; 4] = ["kind", "bandwidth", "latency", "LinkSpeedRaw"];

const REMEDY: &str = "give a file of GraphML";

/// The network of such a file.
pub fn read(source: &Arc<Source>, asked: &HostRule) -> Result<Network, ConfigError> {
    let options = roxmltree::ParsingOptions {
        nodes_limit: 1 << 24,
        ..Default::default()
    };
    let document = Document::parse_with_options(&source.text, options).map_err(|error| {
        let before = source.text.split_inclusive('\n');
        let before = before.take(error.pos().row.saturating_sub(1) as usize);
        let at: usize = before.map(str::len).sum();
        unreadable(
            source,
            at.min(source.text.len()),
            &error.to_string(),
            REMEDY,
        )
    })?;
    let file = File {
        source,
        keys: named(&document, "key")
            .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
            .collect(),
    };
    let mut network = Network::default();
    let of_edges = named(&document, "key").filter(|key| key.attribute("for") == Some("edge"));
    let unknown = of_edges.filter_map(|key| key.attribute("attr.name"));
    network.leave_out(unknown.filter(|name| !READ.contains(name)));
    let mut hosts = HashSet::new();
    for node in named(&document, "node") {
        let id = file.attribute(node, "id")?;
        network.nodes.push(id.to_string());
        let kind = file.value(node, "kind");
        if matches!(kind, Some("host" | "endpoint")) || asked.is_host(id) {
            hosts.insert(id);
        }
    }
    let links = named(&document, "edge").map(|edge| file.link(edge));
    let links = links.collect::<Result<Vec<Link>, ConfigError>>()?;
    let mut graphs = named(&document, "graph");
    let links = match graphs.any(|graph| graph.attribute("edgedefault") == Some("directed")) {
        true => both_ways(links),
        false => links,
    };
    for link in links {
        network.add(link, |name| hosts.contains(name));
    }
    Ok(network)
}

/// The elements of a name.
fn named<'a>(
    document: &'a Document,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'a>> + use<'a> {
    let all = document.descendants();
    all.filter(move |node| node.tag_name().name() == name)
}

struct File<'a> {
    source: &'a Arc<Source>,
    /// The names of attributes by the identifiers of their keys.
    keys: HashMap<&'a str, &'a str>,
}

impl File<'_> {
    fn wrong(&self, node: Node, what: &str) -> ConfigError {
        unreadable(self.source, node.range().start, what, REMEDY)
    }

    /// An attribute that an element must have.
    fn attribute<'n>(&self, node: Node<'n, 'n>, name: &str) -> Result<&'n str, ConfigError> {
        let words = || format!("a {} without {name}", node.tag_name().name());
        let value = node.attribute(name);
        value.ok_or_else(|| self.wrong(node, &words()))
    }

    /// The value of one of the attributes that the file declares.
    fn value<'n>(&self, node: Node<'n, 'n>, name: &str) -> Option<&'n str> {
        let mut data = node.children();
        let own = |data: &Node| {
            let key = data.attribute("key").and_then(|key| self.keys.get(key));
            data.tag_name().name() == "data" && key == Some(&name)
        };
        let text = data.find(own)?.text()?.trim();
        Some(text).filter(|text| !text.is_empty())
    }

    fn link(&self, edge: Node) -> Result<Link, ConfigError> {
        let read = |name: &str, read: fn(&str) -> Option<f64>| {
            let value = self.value(edge, name).map(|text| {
                let value = read(text).filter(|value| *value > 0.0);
                value.ok_or_else(|| {
                    self.wrong(
                        edge,
                        &format!(
                            "no such {name}: {text:?} (with a unit, such as 100 Gbps or 1 us)"
                        ),
                    )
                })
            });
            value.transpose()
        };
        let kind = self.value(edge, "kind");
        let kind = kind.filter(|kind| *kind != TERMINAL && *kind != "link");
        let raw = |text: &str| text.parse::<f64>().ok().map(|bits| bits / 1e9);
        let gbps =
            read("bandwidth", gbps)?.map_or_else(|| read("LinkSpeedRaw", raw), |own| Ok(Some(own)));
        let ends = ["source", "target"].map(|name| self.attribute(edge, name));
        let [from, to] = ends;
        Ok(Link {
            kind: kind.map(String::from),
            gbps: gbps?,
            ns: read("latency", ns)?,
            ..Link::new(from?, to?)
        })
    }
}
