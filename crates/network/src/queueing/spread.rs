//! A routing with several virtual channels for each of another routing's.
//!
//! Channels c · count to c · count + count - 1 of a link stand for channel c of the routing.
//! Packets that wait for each other in a cycle of them would wait for each other in a cycle of the
//! routing's channels, so freedom from deadlock is preserved. [`crate::routing::analysis`] walks
//! this routing.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::routing::{Circuits, Here, Hop, Load, NicChoice, Routing, pass_on};
use crate::topology::{Peer, Topology};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// Choice of a packet's virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The one with most room when the packet is routed; while it waits, any that has room.
    MostFree,
    /// A random one.
    Random,
}

/// Number of virtual channels that stand for each of the routing's, and the choice among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Number of channels, at least 1.
    pub count: u8,
    /// Choice among them.
    pub choice: Choice,
}

/// The routing with its channels spread.
struct Spreading {
    topology: Arc<dyn Topology>,
    routing: Box<dyn Routing>,
    spread: Spread,
}

impl Spread {
    /// The routing with this number of virtual channels for each of its channels.
    ///
    /// # Errors
    /// If a link would have more than 255; the key is `count`.
    pub fn over(
        self,
        routing: Box<dyn Routing>,
        topology: &Arc<dyn Topology>,
    ) -> Result<Box<dyn Routing>, Invalid> {
        let kinds = 0..topology.link_kinds().len();
        let most = kinds
            .map(|kind| routing.vcs(LinkKind(kind as u8)))
            .max()
            .unwrap_or(1);
        if most.checked_mul(self.count).is_none() {
            return Err(Invalid::new(
                "count",
                format!(
                    "{} virtual channels for each of the routing's {most}",
                    self.count
                ),
                format!(
                    "at most 255 are possible: write a number up to {}",
                    255 / most.max(1)
                ),
            ));
        }
        Ok(Box::new(Spreading {
            topology: Arc::clone(topology),
            routing,
            spread: self,
        }))
    }
}

impl Spreading {
    /// Number of channels that stand for each channel of a hop; 1 on links to endpoints.
    fn count(&self, router: RouterId, port: PortId) -> u8 {
        // An invalid port is detected elsewhere.
        if port >= self.topology.ports(router) {
            return 1;
        }
        match self.topology.peer(router, port) {
            Peer::Router(..) => self.spread.count,
            _ => 1,
        }
    }

    /// The hop with the packet's choice among the channels that stand for the routing's.
    fn chosen(&self, hop: Hop, here: &mut dyn Here) -> Hop {
        let count = self.count(here.router(), hop.port);
        if count == 1 {
            return hop;
        }
        let drawn = here.pick(count.into()) as u8;
        let of = |number: u8| copy(hop, count, number % count);
        match self.spread.choice {
            Choice::Random => of(drawn),
            Choice::MostFree => {
                let mut best = of(drawn);
                let mut most = here.load(best).free;
                for other in (1..count).map(|more| of(drawn + more)) {
                    let free = here.load(other).free;
                    if free > most {
                        (best, most) = (other, free);
                    }
                }
                best
            }
        }
    }

    /// The routing's own hop.
    fn own(&self, router: RouterId, hop: Hop) -> Hop {
        let vc = hop.vc / self.count(router, hop.port);
        Hop { vc, ..hop }
    }
}

/// Channel `number` of the `count` that stand for a hop's channel. An invalid channel stays
/// invalid.
fn copy(hop: Hop, count: u8, number: u8) -> Hop {
    let vc = hop
        .vc
        .checked_mul(count)
        .and_then(|vc| vc.checked_add(number));
    Hop {
        vc: vc.unwrap_or(u8::MAX),
        ..hop
    }
}

impl Routing for Spreading {
    fn vcs(&self, kind: LinkKind) -> u8 {
        // Larger numbers are refused when it is built.
        self.routing.vcs(kind).saturating_mul(self.spread.count)
    }

    fn orders(&self) -> &[Box<[usize]>] {
        self.routing.orders()
    }

    fn choice_at_nic(&self) -> Option<NicChoice> {
        self.routing.choice_at_nic()
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let hop = self.routing.route(flight, &mut Narrow { of: self, here });
        self.chosen(hop, here)
    }

    fn max_routers(&self) -> u32 {
        self.routing.max_routers()
    }

    fn is_adaptive(&self) -> bool {
        self.spread.choice == Choice::MostFree || self.routing.is_adaptive()
    }

    fn words(&self, router: RouterId) -> u32 {
        self.routing.words(router)
    }

    fn has_alternatives(&self) -> bool {
        self.spread.choice == Choice::MostFree || self.routing.has_alternatives()
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        let own = self.own(here.router(), first);
        let mut hops = vec![own];
        if self.routing.has_alternatives() {
            let mut narrow = Narrow { of: self, here };
            self.routing
                .alternatives(flight, own, &mut narrow, &mut hops);
        }
        match self.spread.choice {
            Choice::Random => {
                for &hop in &hops[1..] {
                    ways.push(self.chosen(hop, here));
                }
            }
            Choice::MostFree => {
                for &hop in &hops {
                    let count = self.count(here.router(), hop.port);
                    let all = (0..count).map(|number| copy(hop, count, number));
                    ways.extend(all.filter(|&way| way != first));
                }
            }
        }
    }

    fn take(&self, flight: &mut Flight, router: RouterId, hop: Hop) {
        self.routing.take(flight, router, self.own(router, hop));
    }

    fn circuits(&self) -> Option<Circuits> {
        self.routing.circuits()
    }

    /// Packets of a flow take any of several virtual channels.
    fn one_way(&self) -> bool {
        false
    }
}

/// The routing's view: each of its channels holds the sum of the channels that stand for it.
struct Narrow<'a> {
    of: &'a Spreading,
    here: &'a mut dyn Here,
}

impl Here for Narrow<'_> {
    pass_on!(router in_port source job pick backlog queue recall remember flows circuit);
    pass_on!(keep_circuit max_packet links);

    fn load(&mut self, hop: Hop) -> Load {
        let count = self.of.count(self.here.router(), hop.port);
        let mut sum = self.here.load(copy(hop, count, 0));
        for number in 1..count {
            let Load { used, queued, free } = self.here.load(copy(hop, count, number));
            sum.used = sum.used.saturating_add(used);
            sum.queued = sum.queued.saturating_add(queued);
            sum.free = sum.free.saturating_add(free);
        }
        sum
    }
}
