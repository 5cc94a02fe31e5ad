//! `topology.conf` of Slurm's tree plugin: switches with the switches and nodes below them. It has
//! neither rates nor parallel links.

use std::sync::Arc;

use super::lines::Line;
use super::network::{HostRule, Link, Network};
use weir_input::ConfigError;
use weir_input::error::Source;
use weir_network::hostlist::expand;

/// The network of such a file.
pub fn read(source: &Arc<Source>, _: &HostRule) -> Result<Network, ConfigError> {
    let mut network = Network::default();
    for line in Line::all(source, '#') {
        let mut own: Vec<String> = Vec::new();
        let (mut below, mut nodes) = (Vec::new(), Vec::new());
        for word in line.words() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let list = match key.to_ascii_lowercase().as_str() {
                "switchname" => &mut own,
                "switches" => &mut below,
                "nodes" => &mut nodes,
                "linkspeed" => continue,
                _ => {
                    let remedy = "write SwitchName=…, Switches=…, Nodes=…";
                    return Err(line.wrong(&format!("{key:?} is not a key"), remedy));
                }
            };
            let remedy = "write names as in a[1,3-5],b";
            *list = expand(value)
                .ok_or_else(|| line.wrong(&format!("{value:?} is no list of names"), remedy))?;
        }
        let [switch] = &own[..] else {
            return Err(line.wrong("not one SwitchName", "name one switch on each line"));
        };
        let hosts = nodes.into_iter().map(|node| Link::new(node, switch));
        network.hosts.extend(hosts);
        let links = below.into_iter().map(|other| Link::new(other, switch));
        network.links.extend(links);
    }
    Ok(network)
}
