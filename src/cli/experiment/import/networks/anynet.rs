//! The network files of BookSim2's `anynet` (commit 28f4329): on each line a router or node and
//! what it is linked with, each perhaps with a latency in cycles, otherwise 1. A link that is named
//! on one side counts for both.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::lines::Line;
use super::network::{HostRule, Link, Network};
use weir_input::ConfigError;
use weir_input::error::Source;

const REMEDY: &str = "write `router 0 node 0 router 1 5`: pairs of a word and a number, and \
                      perhaps a latency";

/// The network of such a file. A cycle is 1 ns, as for the other configurations of BookSim2.
pub fn read(source: &Arc<Source>, _: &HostRule) -> Result<Network, ConfigError> {
    let mut network = Network::default();
    let mut seen: HashMap<[String; 2], Option<f64>> = HashMap::new();
    for line in Line::all(source, '#') {
        let mut words = line.words().peekable();
        let mut first: Option<String> = None;
        while let Some(word) = words.next() {
            let number = words.next().and_then(|text| text.parse::<u32>().ok());
            let (Some(number), "router" | "node") = (number, word) else {
                return Err(line.wrong(&format!("{word:?} is not followed as it must be"), REMEDY));
            };
            let name = format!("{}{number}", if word == "node" { "n" } else { "r" });
            let Some(from) = &first else {
                first = Some(name);
                continue;
            };
            let mut link = Link::new(from, name);
            let cycles = words.next_if(|text| text.parse::<u32>().is_ok());
            let given = cycles.and_then(|text| text.parse::<u32>().ok());
            link.ns = given.map(|cycles| f64::from(cycles.max(1)));
            let mut ends = link.ends.clone();
            ends.sort_unstable();
            match seen.entry(ends) {
                Entry::Vacant(slot) => {
                    slot.insert(link.ns);
                    network.add(link, |name| name.starts_with('n'));
                }
                Entry::Occupied(other) if link.ns.is_some() && link.ns != *other.get() => {
                    let [from, to] = &link.ends;
                    let what = format!("{from} and {to} have another latency on their other line");
                    return Err(line.wrong(&what, "give a link one latency, the same both ways"));
                }
                Entry::Occupied(_) => {}
            }
        }
    }
    // BookSim2's own default.
    let all = network.hosts.iter_mut().chain(&mut network.links);
    all.for_each(|link| link.ns = link.ns.or(Some(1.0)));
    network.chosen.push("a cycle: 1 ns".into());
    Ok(network)
}
