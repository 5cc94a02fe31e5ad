//! Nodes: hosts with several endpoints.

use weir_model::{EndpointId, Invalid};

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
