//! Nodes: hosts with several endpoints.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::hostlist::expand;
use weir_model::{EndpointId, Invalid};

use crate::topology::Topology;

/// The endpoints of a network in nodes of equal size.
///
/// The endpoints of a node are [`Nodes::stride`] apart, and numbered by *rail*. With a stride of 1
/// a node is `nics` endpoints in a row. With the number of endpoints of a leaf switch, rail r of
/// every node is at the r-th leaf of a block of `nics` leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    nics: u32,
    stride: u32,
}

impl Nodes {
    /// Every endpoint is a node.
    pub const SINGLE: Nodes = Nodes { nics: 1, stride: 1 };

    /// Nodes of `nics` endpoints that are `stride` apart, of a network of `endpoints`.
    ///
    /// # Errors
    /// If one of them is 0, or the network does not consist of whole nodes.
    pub fn new(nics: u32, stride: u32, endpoints: u32) -> Result<Nodes, Invalid> {
        for (key, value) in [("nics", nics), ("stride", stride)] {
            if value == 0 {
                return Err(Invalid::new(key, "must not be 0", "write 1 or more"));
            }
        }
        let block = u64::from(nics) * u64::from(stride);
        if !u64::from(endpoints).is_multiple_of(block) {
            let message =
                format!("{nics} NICs x a stride of {stride} do not divide {endpoints} endpoints");
            let remedy = "write numbers whose product divides the number of endpoints";
            return Err(Invalid::new("nics", message, remedy));
        }
        Ok(Nodes { nics, stride })
    }

    /// Endpoints of a node.
    pub fn nics(self) -> u32 {
        self.nics
    }

    /// Distance between the numbers of two neighbouring endpoints of a node.
    pub fn stride(self) -> u32 {
        self.stride
    }

    /// The node of an endpoint, from 0.
    pub fn node_of(self, endpoint: EndpointId) -> u32 {
        endpoint / self.block() * self.stride + endpoint % self.stride
    }

    /// The rail of an endpoint: its place in its node, from 0.
    pub fn rail_of(self, endpoint: EndpointId) -> u32 {
        endpoint % self.block() / self.stride
    }

    /// The endpoints of a node, by rail.
    pub fn endpoints(self, node: u32) -> impl Iterator<Item = EndpointId> {
        let first = node / self.stride * self.block() + node % self.stride;
        (0..self.nics).map(move |rail| first + rail * self.stride)
    }

    fn block(self) -> u32 {
        self.nics * self.stride
    }
}

/// Nodes that may have names.
#[derive(Clone, Debug)]
pub struct NamedNodes<'a> {
    /// The nodes.
    pub nodes: Nodes,
    /// Their names, by number; none if they have no names.
    names: Cow<'a, [String]>,
}

impl From<Nodes> for NamedNodes<'_> {
    fn from(nodes: Nodes) -> Self {
        let names = Cow::Borrowed(&[][..]);
        NamedNodes { nodes, names }
    }
}

impl<'a> NamedNodes<'a> {
    /// Nodes with a list of names, as Slurm writes it, in the order of their numbers; without one
    /// the names that the topology has for its endpoints.
    ///
    /// # Errors
    /// If it is no list, has not one name for each node, or has one twice.
    pub fn new(
        nodes: Nodes,
        list: Option<&str>,
        topology: &'a dyn Topology,
    ) -> Result<Self, Invalid> {
        let names = match list {
            Some(list) => Cow::Owned(listed(list, topology.endpoints() / nodes.nics())?),
            None if nodes.nics() == 1 => Cow::Borrowed(topology.endpoint_names()),
            None => return Ok(nodes.into()),
        };
        Ok(NamedNodes { nodes, names })
    }

    /// The endpoints of the nodes of a list of names, node by node, by rail.
    ///
    /// # Errors
    /// A name that no node has, or one that appears twice: the message and the remedy.
    pub fn endpoints(&self, list: &str) -> Result<Vec<EndpointId>, (String, String)> {
        let numbers: HashMap<&str, u32> = self.names.iter().map(String::as_str).zip(0..).collect();
        let mut endpoints = Vec::new();
        let mut seen = HashSet::new();
        for name in expand(list).unwrap_or_default() {
            let Some(&node) = numbers.get(name.as_str()) else {
                let remedy = match numbers.is_empty() {
                    true => "write \"all\", \"rest\" or numbers, or give nodes names: nodes.names",
                    false => "write names as they are in the network's table or in nodes.names",
                };
                return Err((format!("no node is called {name:?}"), remedy.to_string()));
            };
            if !seen.insert(node) {
                let message = format!("node {name:?} is listed twice");
                return Err((message, "list it once".to_string()));
            }
            endpoints.extend(self.nodes.endpoints(node));
        }
        Ok(endpoints)
    }
}

/// The names of a list for this many nodes.
fn listed(list: &str, count: u32) -> Result<Vec<String>, Invalid> {
    let refuse = |what: String| Invalid::new("names", what, "write a name for each node");
    let names = expand(list).ok_or_else(|| refuse(format!("{list:?} is no list")))?;
    if names.len() as u64 != u64::from(count) {
        return Err(refuse(format!("{} names for {count} nodes", names.len())));
    }
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(refuse(format!("{name:?} appears twice"))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_has_one_place_in_one_node() {
        for (nics, stride) in [(1, 1), (4, 1), (1, 4), (3, 8), (8, 6)] {
            let nodes = Nodes::new(nics, stride, 96).expect("it fits");
            let mut seen = vec![false; 96];
            for node in 0..96 / nics {
                for (rail, endpoint) in (0..).zip(nodes.endpoints(node)) {
                    assert_eq!(
                        (nodes.node_of(endpoint), nodes.rail_of(endpoint)),
                        (node, rail)
                    );
                    assert!(!std::mem::replace(&mut seen[endpoint as usize], true));
                }
            }
            assert_eq!(seen, [true; 96]);
        }
    }

    #[test]
    fn rails_are_at_different_leaves() {
        // Leaves of four endpoints: the node 5 is the second one of the second block of two leaves.
        let nodes = Nodes::new(2, 4, 16).expect("it fits");
        assert_eq!(nodes.endpoints(5).collect::<Vec<_>>(), [9, 13]);
    }

    #[test]
    fn parts_of_nodes_are_refused() {
        assert!(Nodes::new(5, 1, 96).is_err() && Nodes::new(4, 5, 96).is_err());
        assert!(Nodes::new(0, 1, 96).is_err() && Nodes::new(1, 0, 96).is_err());
        assert!(Nodes::new(u32::MAX, u32::MAX, 96).is_err());
    }
}
