//! The shared half of routings whose packets take the dimensions in an order: dimension order,
//! oblivious and source-adaptive routing.

use std::marker::PhantomData;

use super::orders::Orders;
use crate::routing::{Here, Hop, NicChoice, NicRule, Routing};
use weir_model::{Flight, LinkKind, PortId, RouterId};

/// The choice of a packet's order of dimensions where it is injected.
pub(super) trait OrderChoice: Send + Sync {
    /// The rule of NICs, where `choose_at` leaves the choice to them.
    const AT_NIC: NicRule = NicRule::InTurn;
    /// True if the choice at a router depends on its queues.
    const ADAPTIVE: bool = false;

    /// Words of memory at a router ([`Routing::words`]).
    fn words(_orders: &Orders, _router: RouterId) -> u32 {
        0
    }

    /// The next hop of a packet; of a new packet in the order that is chosen for it here.
    fn route(orders: &Orders, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        orders.next(flight, here)
    }
}

/// A routing with that choice among its orders.
pub(super) struct Ordered<C> {
    orders: Orders,
    choice: PhantomData<C>,
}

impl<C> Ordered<C> {
    pub fn new(orders: Orders) -> Self {
        let choice = PhantomData;
        Ordered { orders, choice }
    }
}

impl<C: OrderChoice> Routing for Ordered<C> {
    fn vcs(&self, kind: LinkKind) -> u8 {
        self.orders.steps.vcs(kind)
    }

    fn orders(&self) -> &[Box<[usize]>] {
        self.orders.all()
    }

    fn choice_at_nic(&self) -> Option<NicChoice> {
        self.orders.at_nic(C::AT_NIC)
    }

    fn words(&self, router: RouterId) -> u32 {
        C::words(&self.orders, router)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        C::route(&self.orders, flight, here)
    }

    fn is_adaptive(&self) -> bool {
        (C::ADAPTIVE && self.choice_at_nic().is_none()) || self.orders.steps.has_spares()
    }

    fn has_alternatives(&self) -> bool {
        self.orders.steps.has_spares()
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        self.orders.others(flight, first, here, ways);
    }

    fn keeps_bubbles(&self) -> bool {
        self.orders.steps.keeps_bubbles()
    }

    fn onward(&self, _: RouterId, in_port: PortId) -> Option<PortId> {
        self.orders.steps.onward(in_port)
    }

    fn max_routers(&self) -> u32 {
        self.orders.steps.max_routers()
    }
}
