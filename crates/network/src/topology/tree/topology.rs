//! The tree as a [`Topology`].

use std::any::Any;

use super::{Level, Place, Tree};
use crate::topology::{Link, Links, Peer, Topology};
use weir_model::{EndpointId, KindName, PortId, RouterId, RouterKind};

impl Topology for Tree {
    fn endpoints(&self) -> u32 {
        self.endpoints
    }

    fn routers(&self) -> u32 {
        self.routers
    }

    fn ports(&self, router: RouterId) -> PortId {
        let place = self.place(router);
        self.levels[place.level].sideways(place.replica).right.end
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let place = self.place(router);
        let level = &self.levels[place.level];
        let port = u32::from(port);
        if port < level.down {
            self.peer_below(place, port)
        } else if port < level.down + level.up {
            self.peer_above(place, port - level.down)
        } else {
            self.peer_beside(place, port as PortId)
        }
    }

    fn link(&self, router: RouterId, port: PortId) -> Link {
        let place = self.place(router);
        let level = &self.levels[place.level];
        let down = u32::from(port) < level.down;
        if let Some(horizontal) = self.horizontal
            && u32::from(port) >= level.down + level.up
        {
            return horizontal;
        }
        // The level of the link's upper end.
        let upper = if down { place.level } else { place.level + 1 };
        if upper == 0 {
            self.terminal
        } else if upper + 1 < self.levels.len() {
            self.local
        } else {
            self.global
        }
    }

    fn link_kinds(&self) -> &[KindName] {
        match self.horizontal {
            Some(_) => Tree::LINK_KINDS,
            None => &Tree::LINK_KINDS[..Tree::HORIZONTAL.index()],
        }
    }

    /// Kinds by number of levels: leaf routers, routers of the levels between, and top routers.
    fn router_kinds(&self) -> &[KindName] {
        const LEAF: KindName = KindName::Borrowed("leaf");
        const TOP: KindName = KindName::Borrowed("top");
        const ALL: &[KindName] = &[LEAF, KindName::Borrowed("inner"), TOP];
        match self.levels.len() {
            1 => const { &[LEAF] },
            2 => const { &[LEAF, TOP] },
            _ => ALL,
        }
    }

    fn router_kind(&self, router: RouterId) -> RouterKind {
        let (level, top) = (self.place(router).level, self.levels.len() - 1);
        RouterKind(if level == top {
            top.min(2)
        } else {
            level.min(1)
        } as u8)
    }

    fn links(&self) -> Vec<Links> {
        let (top, below) = (self.levels.len() - 1, self.levels.len().saturating_sub(2));
        let up = |level: &Level| self.routers_on(level) * u64::from(level.up);
        let local = self.levels[..below].iter().map(up).sum();
        let global = self.levels[below..top].iter().map(up).sum();
        let vertical = [
            (self.terminal, u64::from(self.endpoints)),
            (self.local, local),
            (self.global, global),
        ];
        let horizontal = self.horizontal.map(|link| (link, self.horizontal_links()));
        Links::of(vertical.into_iter().chain(horizontal))
    }

    fn all_ports(&self) -> u64 {
        let ports = |level: &Level| self.routers_on(level) * u64::from(level.down + level.up);
        self.levels.iter().map(ports).sum::<u64>() + 2 * self.horizontal_links()
    }

    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        let leaf = &self.levels[0];
        let place = Place {
            level: 0,
            subtree: endpoint / leaf.down,
            replica: 0,
        };
        (self.router_at(place), (endpoint % leaf.down) as PortId)
    }

    fn planes(&self) -> u32 {
        self.planes
    }

    fn groups(&self) -> u32 {
        self.pods * self.planes
    }

    fn group_of(&self, router: RouterId) -> u32 {
        let (plane, router) = self.in_plane(router);
        let first = self.top().first;
        let pod = if router >= first {
            (router - first) % self.pods
        } else {
            self.by_pod.divide(router)
        };
        plane * self.pods + pod
    }

    fn axes(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[
            KindName::Borrowed("level"),
            KindName::Borrowed("subtree"),
            KindName::Borrowed("replica"),
        ];
        NAMES
    }

    /// Levels count from 1, as [`Tree::level_of`].
    fn coordinates(&self, router: RouterId) -> Vec<u32> {
        let place = self.place(router);
        vec![place.level as u32 + 1, place.subtree, place.replica]
    }

    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        // Up to the first level at which both are below one router, and down again.
        let common = self
            .levels
            .iter()
            .position(|level| a / level.reach == b / level.reach);
        2 * common.unwrap_or(self.levels.len() - 1) as u32 + 1
    }

    fn diameter_routers(&self) -> u32 {
        // Up to the last level whose routers have several children.
        let several = self.levels.iter().rposition(|level| level.children > 1);
        2 * several.unwrap_or(0) as u32 + 1
    }

    fn describe(&self) -> String {
        let horizontal = match self.horizontal_links() {
            0 => String::new(),
            links => format!(", {links} horizontal links"),
        };
        let planes = match self.planes {
            1 => String::new(),
            planes => format!(", {planes} planes"),
        };
        format!(
            "{}: {} endpoints, {} routers on {} levels ({} leaf, {} top), {} pods\
             {horizontal}{planes}",
            self.name,
            self.endpoints,
            self.routers,
            self.levels.len(),
            self.endpoints / self.levels[0].down,
            self.top_routers(),
            self.groups(),
        )
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
