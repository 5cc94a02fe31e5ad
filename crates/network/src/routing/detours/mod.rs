//! Ways around links that are down, for every routing on every topology.
//!
//! A packet keeps to its routing for as long as the next link works. Where it does not, the packet
//! changes to the *detours*: the last virtual channel of each link, which nothing else uses. From
//! there on it goes up and down in an order of all routers, to its destination: up*/down* routing
//! (Schroeder et al., "Autonet: a high-speed, self-configuring local area network using
//! point-to-point links", IEEE JSAC 9(8), 1991). Detours cannot deadlock, since nothing goes up
//! after it has gone down, and no packet leaves them but at its destination. So the network cannot
//! deadlock if the routing alone cannot: of all dependencies between the two, none leads back.
//!
//! The order is that of a breadth-first search over links that are never down, the same for the
//! whole run. So packets that know different states of the network cannot wait for each other in a
//! cycle. A way has the fewest links of all that keep to the order. A packet keeps the state
//! that it began its detour in.
//!
//! A routing leads from endpoint to endpoint. What a router without endpoints sends itself (to the
//! source of a packet that was dropped on a detour) may begin where the routing leads nobody, and
//! goes on the detours from there.

mod masked;
mod table;

use std::sync::{Arc, OnceLock};

use super::{Circuits, Here, Hop, NicChoice, Routing};
use crate::failures::{Outages, Seen};
use crate::topology::{Peer, Topology};
use masked::Masked;
use table::{Order, Table};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// `flight.phase` on a detour: it has not gone down yet.
const UP: u8 = 0;
/// `flight.phase` on a detour: it has gone down.
const DOWN: u8 = 1;
/// `flight.via` on a detour whose state is that of its second router. Otherwise it is the state.
const NEXT: u32 = u32::MAX;

/// The tables of a state of the links, one for each router that packets go to, made when the first
/// one does.
type Tables = Box<[OnceLock<Table>]>;

/// A routing that goes around links that are down.
pub struct Detours {
    inner: Box<dyn Routing>,
    topology: Arc<dyn Topology>,
    outages: Arc<Outages>,
    order: Order,
    /// The routers with endpoints.
    homes: Box<[bool]>,
    /// By state.
    tables: Box<[OnceLock<Tables>]>,
}

impl Detours {
    /// A routing in a network with links that are down at some time.
    ///
    /// # Errors
    /// Routings whose packets keep to circuits or virtual networks, which a detour would leave.
    pub fn new(
        mut inner: Box<dyn Routing>,
        topology: &Arc<dyn Topology>,
        outages: &Arc<Outages>,
    ) -> Result<Detours, Invalid> {
        let what = match (inner.circuits(), inner.choice_at_nic()) {
            (Some(_), _) => Some("keeps paths of flows"),
            (_, Some(_)) => Some("has virtual networks that NICs choose"),
            _ if inner.orders().len() > 1 => Some("has virtual networks"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(Invalid::new(
                "algorithm",
                format!("this routing {what}, and cannot go around links that are down"),
                "choose another routing, or bandwidth = 0.1 instead of down = true",
            ));
        }
        inner.heed(outages);
        let mut homes = vec![false; topology.routers() as usize];
        for endpoint in 0..topology.endpoints() {
            homes[topology.attachment(endpoint).0 as usize] = true;
        }
        Ok(Detours {
            homes: homes.into(),
            inner,
            topology: topology.clone(),
            outages: outages.clone(),
            order: Order::new(topology.as_ref(), outages),
            tables: (0..outages.states()).map(|_| OnceLock::new()).collect(),
        })
    }

    /// The router as the routing sees it.
    fn masked<'a>(&'a self, here: &'a mut dyn Here) -> Masked<'a> {
        Masked::new(&self.outages, self.inner.is_adaptive(), here)
    }

    /// True if two endpoints can reach each other in a state: their links work, and some way keeps
    /// to the order.
    pub fn connects(&self, state: u32, from: u32, to: u32) -> bool {
        let [(router, port), (there, last)] = [from, to].map(|one| self.topology.attachment(one));
        !self.outages.is_down(state, router, port)
            && !self.outages.is_down(state, there, last)
            && (router == there || self.table(state, there).has_way(router))
    }

    /// The ways to a router in a state.
    fn table(&self, state: u32, to: RouterId) -> &Table {
        let routers = self.topology.routers();
        let empty = || (0..routers).map(|_| OnceLock::new()).collect();
        let tables = self.tables[state as usize].get_or_init(empty);
        let topology = self.topology.as_ref();
        tables[to as usize]
            .get_or_init(|| Table::new(topology, &self.outages, &self.order, state, to))
    }

    /// The next hop of a packet on a detour in a state.
    fn detour(&self, flight: &Flight, router: RouterId, state: u32, down: bool) -> Hop {
        let (there, port) = self.topology.attachment(flight.destination);
        if router == there {
            return match self.outages.is_down(state, router, port) {
                true => Hop::NOWHERE,
                false => Hop { port, vc: 0 },
            };
        }
        match self.table(state, there).next(router, down) {
            None => Hop::NOWHERE,
            Some(port) => Hop {
                port,
                vc: self.inner.vcs(self.topology.link(router, port).kind),
            },
        }
    }

    /// The first hop of a detour of a packet that cannot go by a port, and the state that the
    /// detour keeps to: that which all routers know, or if they do not know of the port yet, the
    /// state as it is.
    fn turn_off(
        &self,
        flight: &Flight,
        router: RouterId,
        (seen, port): (Seen, PortId),
    ) -> (Hop, u32) {
        let state = match self.outages.is_down(seen.known, router, port) {
            true => seen.known,
            false => seen.actual,
        };
        (self.detour(flight, router, state, false), state)
    }

    /// The state of a detour that began at the router before this one: the one whose way leads
    /// here.
    fn begun_in(&self, flight: &Flight, here: &dyn Here) -> u32 {
        let Seen { known, actual } = here.links();
        match self.topology.peer(here.router(), here.in_port()) {
            Peer::Router(before, port) => {
                match self.detour(flight, before, known, false).port == port {
                    true => known,
                    false => actual,
                }
            }
            _ => known,
        }
    }

    /// Records that a packet leaves by a port on its detour.
    fn go(&self, flight: &mut Flight, router: RouterId, port: PortId) {
        if port < self.topology.ports(router)
            && let Peer::Router(next, _) = self.topology.peer(router, port)
        {
            flight.phase = if self.order.is_down(router, next) {
                DOWN
            } else {
                UP
            };
        }
    }

    /// Records that a packet begins its detour by a hop, in a state.
    fn begin(&self, flight: &mut Flight, router: RouterId, hop: Hop, state: u32) -> Hop {
        flight.flags |= Flight::DETOUR;
        flight.via = state;
        self.go(flight, router, hop.port);
        hop
    }

    /// True if a hop is on a detour.
    fn is_detour(&self, router: RouterId, hop: Hop) -> bool {
        hop != Hop::NOWHERE
            && matches!(self.topology.peer(router, hop.port), Peer::Router(..))
            && hop.vc == self.inner.vcs(self.topology.link(router, hop.port).kind)
    }

    /// The routing's ways beside `first` that are left; the last is an escape.
    fn left(&self, flight: &Flight, first: Hop, here: &mut Masked<'_>) -> Vec<Hop> {
        let mut ways = Vec::new();
        self.inner.alternatives(flight, first, here, &mut ways);
        let escape = ways.last().copied().unwrap_or(first);
        let router = here.router();
        ways.retain(|way| !here.is_down(way.port));
        if here.is_down(escape.port) {
            match self.turn_off(flight, router, (here.seen(), escape.port)).0 {
                // The others may lead nowhere, too.
                Hop::NOWHERE => ways = vec![Hop::NOWHERE],
                hop => ways.push(hop),
            }
        }
        ways
    }
}

impl Routing for Detours {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => self.inner.vcs(kind),
            // A routing with that many is refused for its buffers.
            _ => self.inner.vcs(kind).saturating_add(1),
        }
    }

    fn orders(&self) -> &[Box<[usize]>] {
        self.inner.orders()
    }

    fn choice_at_nic(&self) -> Option<NicChoice> {
        self.inner.choice_at_nic()
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let router = here.router();
        if flight.flags & Flight::DETOUR != 0 {
            // Its second router, or a number from a damaged file.
            if flight.via as usize >= self.tables.len() {
                flight.via = self.begun_in(flight, here);
            }
            let hop = self.detour(flight, router, flight.via, flight.phase == DOWN);
            self.go(flight, router, hop.port);
            return hop;
        }
        let is_own = here.in_port() >= self.topology.ports(router);
        let mut here = self.masked(here);
        if is_own && !self.homes[router as usize] {
            let known = here.seen().known;
            let hop = self.detour(flight, router, known, false);
            let (hop, state) = match here.is_down(hop.port) {
                true => self.turn_off(flight, router, (here.seen(), hop.port)),
                false => (hop, known),
            };
            return self.begin(flight, router, hop, state);
        }
        let hop = self.inner.route(flight, &mut here);
        if !here.is_down(hop.port) {
            return hop;
        }
        if self.inner.has_alternatives() {
            // Recorded when the packet leaves.
            return self.left(flight, hop, &mut here)[0];
        }
        let (hop, state) = self.turn_off(flight, router, (here.seen(), hop.port));
        self.begin(flight, router, hop, state)
    }

    fn has_detours(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        self.inner.max_routers() + self.order.longest()
    }

    fn is_adaptive(&self) -> bool {
        self.inner.is_adaptive()
    }

    fn words(&self, router: RouterId) -> u32 {
        self.inner.words(router)
    }

    fn circuits(&self) -> Option<Circuits> {
        self.inner.circuits()
    }

    fn one_way(&self) -> bool {
        self.inner.one_way() && self.outages.states() == 1
    }

    fn keeps_bubbles(&self) -> bool {
        self.inner.keeps_bubbles()
    }

    fn onward(&self, router: RouterId, in_port: PortId) -> Option<PortId> {
        self.inner.onward(router, in_port)
    }

    fn has_alternatives(&self) -> bool {
        self.inner.has_alternatives()
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        if flight.flags & Flight::DETOUR != 0 || self.is_detour(here.router(), first) {
            return;
        }
        let mut here = self.masked(here);
        let left = self.left(flight, first, &mut here);
        // Nothing comes behind the escape.
        if left.last() != Some(&first) {
            let others = left
                .into_iter()
                .filter(|way| ![first, Hop::NOWHERE].contains(way));
            ways.extend(others);
        }
    }

    fn take(&self, flight: &mut Flight, router: RouterId, hop: Hop) {
        if flight.flags & Flight::DETOUR != 0 {
            return;
        }
        if !self.is_detour(router, hop) {
            return self.inner.take(flight, router, hop);
        }
        flight.flags |= Flight::DETOUR;
        flight.via = NEXT;
        self.go(flight, router, hop.port);
    }
}
