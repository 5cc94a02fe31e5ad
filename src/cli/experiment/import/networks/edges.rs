//! Lists of edges: the names of two routers on a line, as networkx and merlin's tools for `anytopo`
//! write them (SST elements f782290). Further words of a line are passed over. An edge on
//! several lines is as many links.

use std::sync::Arc;

use super::lines::Line;
use super::network::{HostRule, Link, Network};
use weir_input::ConfigError;
use weir_input::error::Source;

/// The network of a list of edges.
pub fn read(source: &Arc<Source>, asked: &HostRule) -> Result<Network, ConfigError> {
    let mut network = Network::default();
    let is_host = |name: &str| asked.is_host(name);
    for line in Line::all(source, '#') {
        let mut words = line.words();
        let (Some(from), Some(to)) = (words.next(), words.next()) else {
            return Err(line.wrong("no two names", "write the names of two routers on a line"));
        };
        network.add(Link::new(from, to), is_host);
    }
    Ok(network)
}
