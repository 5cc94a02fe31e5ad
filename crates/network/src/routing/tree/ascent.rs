//! Ways through a fat tree with links that are down: which routers lead to which leaf routers.

use std::sync::Arc;

use crate::failures::Outages;
use crate::routing::Here;
use crate::topology::tree::{Step, Tree};
use crate::topology::{Peer, Topology};
use weir_model::{EndpointId, PortId, RouterId};

/// Ways that work in one state of the links, by router and leaf router.
struct Reach {
    leaves: usize,
    /// The way down works.
    down: Box<[bool]>,
    /// The way down works, or some way up leads to one that does.
    any: Box<[bool]>,
}

impl Reach {
    fn new(tree: &Tree, outages: &Outages, state: u32) -> Reach {
        let leaves = (tree.endpoints() / tree.leaf_endpoints()) as usize;
        let size = tree.routers() as usize * leaves;
        let (mut down, mut any) = (vec![false; size], vec![false; size]);
        let works = |router: RouterId, port: PortId| match tree.peer(router, port) {
            Peer::Router(other, _) if !outages.is_down(state, router, port) => Some(other),
            _ => None,
        };
        let mut by_level: Vec<RouterId> = (0..tree.routers()).collect();
        by_level.sort_by_key(|&router| tree.level_of(router));
        for leaf in 0..leaves {
            let endpoint = leaf as u32 * tree.leaf_endpoints();
            let at = |router: RouterId| router as usize * leaves + leaf;
            for &router in by_level
                .iter()
                .filter(|&&router| tree.is_ancestor(router, endpoint))
            {
                let below = works(router, tree.down_port(router, endpoint));
                let is_leaf = tree.level_of(router) == 1;
                down[at(router)] = is_leaf || below.is_some_and(|below| down[at(below)]);
            }
            for &router in by_level.iter().rev() {
                let mut above = tree.up_ports(router).filter_map(|port| works(router, port));
                any[at(router)] = down[at(router)] || above.any(|above| any[at(above)]);
            }
        }
        Reach {
            leaves,
            down: down.into(),
            any: any.into(),
        }
    }
}

/// The steps of routes through one tree.
pub(super) struct Ascent {
    tree: Tree,
    /// Links that are down, and what follows in each state; None if there are no such links.
    heeded: Option<(Arc<Outages>, Box<[Reach]>)>,
}

impl Ascent {
    pub fn new(tree: Tree) -> Ascent {
        Ascent { tree, heeded: None }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Takes note of links that are down at some time.
    pub fn heed(&mut self, outages: &Arc<Outages>) {
        let states = 0..outages.states() as u32;
        let reach = states.map(|state| Reach::new(&self.tree, outages, state));
        self.heeded = Some((outages.clone(), reach.collect()));
    }

    /// The step of a packet to an endpoint, which goes further up if the way down does not work.
    #[inline(always)]
    pub fn step(&self, destination: EndpointId, here: &dyn Here) -> Step {
        let step = self.tree.step(here.router(), destination);
        match (&self.heeded, &step) {
            (Some((_, reach)), Step::Down(_)) => {
                let reach = &reach[here.links().known as usize];
                self.step_up(reach, destination, here).unwrap_or(step)
            }
            _ => step,
        }
    }

    /// The step up of a packet whose way down does not work, if it can go up.
    #[inline(never)]
    fn step_up(&self, reach: &Reach, destination: EndpointId, here: &dyn Here) -> Option<Step> {
        let router = here.router();
        let leaf = (destination / self.tree.leaf_endpoints()) as usize;
        let place = router as usize * reach.leaves + leaf;
        let came_down = self.tree.up_ports(router).contains(&here.in_port());
        if reach.down[place] || !reach.any[place] || came_down {
            return None;
        }
        Some(self.tree.step_up(router, destination))
    }

    /// The ports up that lead to an endpoint; None if all of them do.
    #[inline(always)]
    pub fn open(&self, destination: EndpointId, here: &dyn Here) -> Option<Vec<PortId>> {
        let (outages, reach) = self.heeded.as_ref()?;
        let (router, state) = (here.router(), here.links().known);
        let reach = &reach[state as usize];
        let leaf = (destination / self.tree.leaf_endpoints()) as usize;
        let leads = |port: &PortId| match self.tree.peer(router, *port) {
            Peer::Router(above, _) => {
                let place = above as usize * reach.leaves + leaf;
                !outages.is_down(state, router, *port) && reach.any[place]
            }
            Peer::Endpoint(_) | Peer::Unused => false,
        };
        let open: Vec<PortId> = self.tree.up_ports(router).filter(leads).collect();
        // Without any, the packet takes its usual port and turns off where the link is down.
        (!open.is_empty()).then_some(open)
    }

    /// The port up that D-mod-k chooses: if it does not lead to the endpoint, one of the ports that
    /// do, in the same way.
    #[inline(always)]
    pub fn fixed(&self, fixed: PortId, destination: EndpointId, here: &dyn Here) -> PortId {
        match self.open(destination, here) {
            Some(open) if !open.contains(&fixed) => {
                let turn = self.tree.turn(here.router(), destination);
                open[turn as usize % open.len()]
            }
            _ => fixed,
        }
    }
}
