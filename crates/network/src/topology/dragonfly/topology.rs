//! The dragonfly as a [`Topology`].

use std::any::Any;

use super::{Arrangement, Dragonfly};
use crate::topology::{Link, Links, Peer, Topology, count};
use weir_model::{EndpointId, KindName, PortId, RouterId};

impl Topology for Dragonfly {
    fn endpoints(&self) -> u32 {
        self.routers() * self.p
    }

    fn routers(&self) -> u32 {
        self.g * self.a
    }

    fn ports(&self, _: RouterId) -> PortId {
        (self.p + self.a - 1 + self.h) as PortId
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let number = u32::from(port);
        if number < self.p {
            return Peer::Endpoint(router * self.p + number);
        }
        if self.is_global(port) {
            return self.global_peer(router, number - self.first_global);
        }
        let ((group, index), other) = (self.place(router), number - self.p);
        let other = if other < index { other } else { other + 1 };
        Peer::Router(self.router(group, other), self.local_port(other, index))
    }

    fn link(&self, _: RouterId, port: PortId) -> Link {
        if u32::from(port) < self.p {
            self.terminal
        } else if self.is_global(port) {
            self.global
        } else {
            self.local
        }
    }

    fn link_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[
            KindName::Borrowed("terminal"),
            KindName::Borrowed("local"),
            KindName::Borrowed("global"),
        ];
        NAMES
    }

    fn links(&self) -> Vec<Links> {
        let (g, a) = (u64::from(self.g), u64::from(self.a));
        let kinds = [
            (self.terminal, u64::from(self.endpoints())),
            (self.local, g * a * (a - 1) / 2),
            (self.global, g * self.slots.len() as u64 / 2),
        ];
        Links::of(kinds)
    }

    fn all_ports(&self) -> u64 {
        u64::from(self.routers()) * u64::from(self.ports(0))
    }

    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (self.router_of(endpoint), self.terminal_port(endpoint))
    }

    fn groups(&self) -> u32 {
        self.g
    }

    fn group_of(&self, router: RouterId) -> u32 {
        self.by_a.divide(router)
    }

    #[inline]
    fn axes(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[KindName::Borrowed("group"), KindName::Borrowed("index")];
        NAMES
    }

    fn coordinates(&self, router: RouterId) -> Vec<u32> {
        let (group, index) = self.place(router);
        vec![group, index]
    }

    /// Over at most one global link, which is the meaning of "minimal" for dragonflies. Two global
    /// links with no local one between them can visit fewer routers (3 and not 4), but they take
    /// another group's bandwidth and the time of a second long link; no minimal routing takes them.
    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        let (a, b) = (self.router_of(a), self.router_of(b));
        let (group_a, group_b) = (self.group_of(a), self.group_of(b));
        if a == b {
            return 1;
        }
        if group_a == group_b {
            return 2;
        }
        let (at_a, at_b) = (self.links_at(a, group_b), self.links_at(b, group_a));
        if at_a.start.max(at_b.start) < at_a.end.min(at_b.end) {
            2
        } else if at_a.is_empty() && at_b.is_empty() {
            4
        } else {
            3
        }
    }

    /// Over at most one global link, as [`Topology::minimal_routers`]. With fewer links between two
    /// groups than routers in a group, some router on either side has no direct link to the other
    /// group: local, global, local. With more, every router has one, but never one to each router
    /// of the other group.
    fn diameter_routers(&self) -> u32 {
        match self.a {
            1 => 2,
            a if self.links >= a => 3,
            _ => 4,
        }
    }

    fn describe(&self) -> String {
        let arrangement = match self.arrangement {
            Arrangement::Absolute => "absolute",
            Arrangement::Relative => "relative",
            Arrangement::Palmtree => "palmtree",
        };
        let ports = u64::from(self.g) * u64::from(self.a * self.h);
        let used = u64::from(self.g) * self.slots.len() as u64;
        format!(
            "dragonfly: {} groups of {} with {} each ({}, {}), {} between each pair of groups \
             ({arrangement} arrangement), {} of {ports} global ports unused",
            self.g,
            count(self.a, "router"),
            count(self.p, "endpoint"),
            count(self.endpoints(), "endpoint"),
            count(self.routers(), "router"),
            count(self.links, "link"),
            ports - used,
        )
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
