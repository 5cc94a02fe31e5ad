//! Horizontal links: between the routers of a logical node (Birk and Zdornov, section 4.2, the
//! modified k-ary n-tree).
//!
//! The replicas of a subtree are in a row, and each has `width` links to the one before it, on its
//! left, and to the one after it, on its right. All of them reach the same endpoints by going down,
//! so a packet that is above its destination may go to another replica before it goes down.

use std::ops::Range;

use super::{Level, Links, Place, Tree};
use crate::topology::{Link, Peer};
use weir_model::{Invalid, PortId, RouterId};

/// A router among those of its logical node, and its ports to its neighbours there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sideways {
    /// Its place in the row, from 0.
    pub place: u32,
    /// Routers in the row.
    pub routers: u32,
    /// Ports to the one before it; empty for the first.
    pub left: Range<PortId>,
    /// Ports to the one after it; empty for the last.
    pub right: Range<PortId>,
}

impl Links {
    /// The horizontal links, if any level has them.
    pub(super) fn horizontal(&self, levels: &[Level]) -> Result<Option<Link>, Invalid> {
        let name = &Tree::LINK_KINDS[Tree::HORIZONTAL.index()];
        match self.horizontal {
            Some(params) => params.check(Tree::HORIZONTAL, name).map(Some),
            None if levels.iter().all(|level| level.width == 0) => Ok(None),
            None => Err(Invalid::new(
                "",
                format!("the key `{name}` is missing: a tree with horizontal_width has such links"),
                format!("add {name} = {{ bandwidth = \"100 Gbps\", latency = \"50 ns\" }}"),
            )),
        }
    }
}

impl Level {
    /// The ports of a replica to its neighbours.
    pub(super) fn sideways(&self, replica: u32) -> Sideways {
        let first = self.down + self.up;
        let left = if replica > 0 { self.width } else { 0 };
        let right = if replica + 1 < self.replicas {
            self.width
        } else {
            0
        };
        let [first, middle, end] =
            [first, first + left, first + left + right].map(|at| at as PortId);
        Sideways {
            place: replica,
            routers: self.replicas,
            left: first..middle,
            right: middle..end,
        }
    }
}

impl Tree {
    /// The position of `router` among the routers of its logical node, and its ports to its
    /// neighbours there.
    pub fn sideways(&self, router: RouterId) -> Sideways {
        let place = self.place(router);
        self.levels[place.level].sideways(place.replica)
    }

    /// Number of horizontal links.
    pub fn horizontal_links(&self) -> u64 {
        let links = |level: &Level| {
            let nodes = u64::from(self.endpoints / level.reach);
            nodes * u64::from(level.width) * u64::from(level.replicas - 1)
        };
        self.levels.iter().map(links).sum()
    }

    /// Maximum number of routers of a logical node with horizontal links; 1 if there are no such
    /// links.
    pub fn longest_row(&self) -> u32 {
        let rows = self.levels.iter().filter(|level| level.width > 0);
        rows.map(|level| level.replicas).max().unwrap_or(1)
    }

    /// Levels that have horizontal links.
    pub fn horizontal_levels(&self) -> u32 {
        self.levels.iter().filter(|level| level.width > 0).count() as u32
    }

    pub(super) fn peer_beside(&self, place: Place, port: PortId) -> Peer {
        let level = &self.levels[place.level];
        let own = level.sideways(place.replica);
        if own.left.contains(&port) {
            let replica = place.replica - 1;
            let there = level.sideways(replica).right.start + (port - own.left.start);
            Peer::Router(self.router_at(Place { replica, ..place }), there)
        } else if own.right.contains(&port) {
            let replica = place.replica + 1;
            let there = level.sideways(replica).left.start + (port - own.right.start);
            Peer::Router(self.router_at(Place { replica, ..place }), there)
        } else {
            Peer::Unused
        }
    }
}
