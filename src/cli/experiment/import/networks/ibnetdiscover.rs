//! Output of InfiniBand's `ibnetdiscover`, and the network files of `ibsim`: a block for each
//! switch and adapter with a line for each of its ports,
//!
//! ```text
//! Switch 36 "S-0002c9020046c588"   # "Infiniscale-IV" base port 0 lid 2 lmc 0
//! [1] "H-0002c90300293e1e"[1](2c90300293e1f)   # "ip-211 mlx4_0" lid 6 4xQDR
//! ```
//!
//! A link is on the lines of both its ends. The endpoints are the ports of adapters.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::lines::Line;
use super::network::{HostRule, Link, Network};
use weir_input::ConfigError;
use weir_input::error::Source;

/// Rate of the data of one lane, Gbps: the signalling rate less its code (8b/10b up to QDR).
const LANES: [(&str, f64); 10] = [
    ("SDR", 2.0),
    ("DDR", 4.0),
    ("QDR", 8.0),
    ("FDR10", 10.0),
    ("FDR", 13.6364),
    ("EDR", 25.0),
    ("HDR", 50.0),
    ("NDR", 100.0),
    ("XDR", 200.0),
    ("GDR", 400.0),
];

/// Switches contain nodes that reduce data; nothing is sent to them from outside.
const INSIDE: &str = "Aggregation Node";

const REMEDY: &str = "give the output of ibnetdiscover, or a network file of ibsim";

/// Type of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Switch,
    Adapter,
}

/// One end of a link: the node and its port.
type Port<'a> = (&'a str, u32);

/// The network of such a file.
pub fn read(source: &Arc<Source>, _: &HostRule) -> Result<Network, ConfigError> {
    let mut nodes: HashMap<&str, Node> = HashMap::new();
    let mut inside: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<[Port; 2]> = HashSet::new();
    let mut lines: Vec<(Port, Port, Line)> = Vec::new();
    let mut links: Vec<([Port; 2], Option<f64>)> = Vec::new();
    let mut at = "";
    // Comments hold names and rates.
    for line in Line::all(source, '\0') {
        let (text, comment) = line.text.split_once('#').unwrap_or((line.text, ""));
        let wrong = |what: &str| line.wrong(what, REMEDY);
        let first = text.split_whitespace().next().unwrap_or_default();
        let node = match first.to_ascii_lowercase().as_str() {
            "switch" => Some(Node::Switch),
            "ca" | "hca" | "rt" => Some(Node::Adapter),
            _ => None,
        };
        if let Some(node) = node {
            at = quoted(text).ok_or_else(|| wrong("a node without a name in quotes"))?;
            if nodes.insert(at, node).is_some() {
                return Err(wrong(&format!("{at:?} is there twice")));
            }
            if comment.contains(INSIDE) {
                inside.insert(at);
            }
            continue;
        }
        // Identifiers of the node that follows, as `vendid=0x2c9`.
        if text.trim().is_empty() || !text.starts_with('[') {
            continue;
        }
        let port = port(text).ok_or_else(|| wrong("no number of a port"))?;
        let peer = quoted(text).ok_or_else(|| wrong("no name of a neighbour in quotes"))?;
        let behind = text.rsplit('"').next().unwrap_or_default().trim();
        let far = self::port(behind).ok_or_else(|| wrong("no port of the neighbour"))?;
        if at.is_empty() {
            return Err(wrong("a port before the first node"));
        }
        let mut ends = [(at, port), (peer, far)];
        lines.push((ends[0], ends[1], line));
        ends.sort_unstable();
        if seen.insert(ends) {
            links.push((ends, rate(comment)));
        }
    }
    both_ends(&nodes, &lines)?;
    Ok(network(&nodes, &inside, links))
}

/// Checks that a link between two nodes of the file is on the lines of both.
fn both_ends(nodes: &HashMap<&str, Node>, lines: &[(Port, Port, Line)]) -> Result<(), ConfigError> {
    let there: HashSet<(Port, Port)> = lines.iter().map(|&(near, far, _)| (near, far)).collect();
    for (near, far, line) in lines {
        let what = match nodes.get(far.0) {
            Some(_) if there.contains(&(*far, *near)) => continue,
            Some(_) => format!("port {} of {:?} does not lead back here", far.1, far.0),
            // Lists of parts of a network may leave out adapters.
            None if !far.0.starts_with("S-") => continue,
            None => format!("the file has no switch {:?}", far.0),
        };
        return Err(line.wrong(&what, "give the whole output"));
    }
    Ok(())
}

fn network(
    nodes: &HashMap<&str, Node>,
    inside: &HashSet<&str>,
    links: Vec<([Port; 2], Option<f64>)>,
) -> Network {
    let mut network = Network::default();
    let is_adapter = |name: &str| nodes.get(name) != Some(&Node::Switch);
    // Adapters of several ports that are in use are as many endpoints.
    let mut ports: HashMap<&str, u32> = HashMap::new();
    for &(name, _) in links.iter().flat_map(|(ends, _)| ends) {
        *ports.entry(name).or_default() += 1;
    }
    let mut left_out = 0;
    for (ends, gbps) in links {
        if ends.iter().any(|(name, _)| inside.contains(name)) {
            left_out += 1;
            continue;
        }
        let [a, b] = ends.map(|(name, port)| match is_adapter(name) && ports[name] > 1 {
            true => format!("{name}/{port}"),
            false => name.to_string(),
        });
        let link = Link {
            gbps,
            ..Link::new(a, b)
        };
        network.attach(link, ends.map(|(name, _)| is_adapter(name)));
    }
    if left_out > 0 {
        let line = format!("left out: {left_out} nodes inside of switches that reduce data");
        network.chosen.push(line);
    }
    network
}

/// The text in the first quotes.
fn quoted(text: &str) -> Option<&str> {
    let (_, after) = text.split_once('"')?;
    let (inside, _) = after.split_once('"')?;
    Some(inside).filter(|name| !name.is_empty())
}

/// The number in brackets at the beginning.
fn port(text: &str) -> Option<u32> {
    let (number, _) = text.strip_prefix('[')?.split_once(']')?;
    number.parse().ok()
}

/// The rate that a comment names, as `4xNDR`, Gbps.
fn rate(comment: &str) -> Option<f64> {
    let (width, speed) = comment.split_whitespace().last()?.split_once('x')?;
    let width: u32 = width.parse().ok()?;
    let (_, lane) = LANES.iter().find(|(name, _)| *name == speed)?;
    Some(f64::from(width) * lane)
}
