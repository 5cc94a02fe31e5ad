//! The links between groups of a dragonfly that are left when others are down.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::failures::{Outages, Seen};
use crate::routing::Here;
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;
use weir_model::{PortId, RouterId};

/// The links between groups that are left.
pub(super) struct OpenLinks {
    dragonfly: Dragonfly,
    outages: Arc<Outages>,
    /// By state: pairs of groups between which no link is left, in both orders.
    apart: Box<[FxHashSet<(u32, u32)>]>,
}

impl OpenLinks {
    pub fn new(dragonfly: &Dragonfly, outages: &Arc<Outages>) -> OpenLinks {
        let mut open = OpenLinks {
            dragonfly: dragonfly.clone(),
            outages: outages.clone(),
            apart: Box::default(),
        };
        let apart = |state: u32| {
            // Other links of a router lead to its own group, or to endpoints.
            let ports = outages
                .down(state)
                .filter(|&(_, port)| dragonfly.is_global(port));
            let pairs = ports.flat_map(|(router, port)| {
                let from = dragonfly.group_of(router);
                let mut links = dragonfly.links_of(router);
                let to = links.find(|&(_, own)| own == port).map(|(to, _)| to);
                to.map(|to| (from, to))
            });
            let none_left = |&(from, to): &(u32, u32)| {
                let mut links = 0..dragonfly.links_between_groups();
                !links.any(|link| open.is_left(state, from, to, link))
            };
            pairs.filter(none_left).collect()
        };
        let apart = (0..outages.states() as u32).map(apart).collect();
        open.apart = apart;
        open
    }

    /// The end of a link in its first group.
    fn end(&self, from: u32, to: u32, link: u32) -> (RouterId, PortId) {
        let (index, port) = self.dragonfly.global_link(from, to, link);
        (self.dragonfly.router(from, index), port)
    }

    fn is_left(&self, state: u32, from: u32, to: u32, link: u32) -> bool {
        let (router, port) = self.end(from, to, link);
        !self.outages.is_down(state, router, port)
    }

    /// True if a link is left between two groups that differ.
    pub fn joins(&self, one: u32, two: u32, seen: Seen) -> bool {
        !self.apart[seen.known as usize].contains(&(one, two))
    }

    /// A random group with links to these two that are left; None if there is none.
    pub fn third_group(&self, one: u32, two: u32, here: &mut dyn Here) -> Option<u32> {
        let apart = &self.apart[here.links().known as usize];
        let leads = |third: &u32| {
            ![one, two].contains(third)
                && !apart.contains(&(one, *third))
                && !apart.contains(&(*third, two))
        };
        let groups = || (0..self.dragonfly.groups()).filter(leads);
        match groups().count() {
            0 => None,
            count => groups().nth(here.pick(count as u32) as usize),
        }
    }

    /// One of several links from a place to a group that are left, and that this router can reach.
    /// `choose`: among all links to it; otherwise among those of this router, if it has any. None
    /// if there is none.
    pub fn draw_link(
        &self,
        (router, group): (RouterId, u32),
        to: u32,
        choose: bool,
        here: &mut dyn Here,
    ) -> Option<u32> {
        let state = here.links().known;
        let (_, index) = self.dragonfly.place(router);
        let leads = |link: &u32| {
            let (exit, _) = self.end(group, to, *link);
            let near = exit == router || {
                let (_, other) = self.dragonfly.place(exit);
                let port = self.dragonfly.local_port(index, other);
                !self.outages.is_down(state, router, port)
            };
            near && self.is_left(state, group, to, *link)
        };
        let mut links: Vec<u32> = match choose {
            true => Vec::new(),
            false => self.dragonfly.links_at(router, to).filter(leads).collect(),
        };
        if links.is_empty() {
            links = (0..self.dragonfly.links_between_groups())
                .filter(leads)
                .collect();
        }
        match links.len() {
            0 => None,
            1 => Some(links[0]),
            several => Some(links[here.pick(several as u32) as usize]),
        }
    }
}
