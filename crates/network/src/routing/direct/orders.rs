//! Orders of dimensions, as parameters of routings give them, and the virtual networks that packets
//! take them in.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rings::Rings;
use super::steps::{Steps, not_for};
use crate::routing::{Here, Hop, NicChoice, NicRule};
use crate::topology::Topology;
use crate::topology::grid::{Grid, order_letters, parse_order};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid};

/// Maximum number of orders that a routing may choose among: each needs separate virtual channels.
const MOST_ORDERS: usize = 16;

/// Parameters of routings that take the dimensions in one order.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OneOrder {
    /// Order in which packets take the dimensions, such as "yx". Default: x first ("xyz").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Virtual channels of each link. Default: as freedom from deadlock needs, 2 on a torus and 1
    /// elsewhere. More on a torus are divided equally between two classes; a packet takes any of
    /// its class that has room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcs: Option<u8>,
    /// On a torus: deadlock avoidance in rings. "dateline": two classes of virtual
    /// channels, for packets that cross the dateline of a ring and for others. "bubble": one place
    /// stays free in each ring; a packet enters, from its NIC or another dimension, only if the
    /// buffer ahead has room for two. One class of virtual channels is then enough. A buffer has
    /// places of `nic.max_packet`; each packet takes one, however short.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Rings::default()))]
    pub rings: Rings,
}

/// True if the value is the default, which results leave out.
fn is_default(rings: &Rings) -> bool {
    *rings == Rings::default()
}

/// Place where the order of a packet is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChooseAt {
    /// At the first router, when the packet is routed there.
    #[default]
    Router,
    /// In the NIC, when the packet goes to the router.
    Nic,
    /// In the NIC, when the message is generated: its packets wait there for virtual channels of
    /// their own order.
    Generation,
    /// In the NIC, which takes the next packet first and then gives it the next order in turn. The
    /// packet waits until that has room, and all others behind it.
    Strict,
}

/// Parameters of routings that choose among orders of dimensions.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeveralOrders {
    /// The orders of dimensions, one for each virtual network. Default: x first and y first (["xy",
    /// "yx"], ["xyz", "yxz"]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orders: Option<Vec<String>>,
    /// Virtual channels of each link. Default: as freedom from deadlock needs, 2 for each order on
    /// a torus and 1 elsewhere. More are divided equally among orders and, on a torus, two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcs: Option<u8>,
    /// Place where a packet's order is chosen. "router": its first router; packets of all orders
    /// share the queues of the NIC. "nic": the NIC; its link has `nic.injection_vcs` virtual
    /// channels for each order, the injection queues of Yebenes et al., TACO 2019, sections 3.2 and
    /// 5; the next turn goes to any queue pair that has a packet with room. "generation"
    /// (`oblivious` only): the NIC, when the message is generated, from the numbers of message and
    /// packet; a packet whose order has no room blocks its queue pair. "strict" (`oblivious` only):
    /// the NIC, whose next packet gets the next order in turn and waits until that has room; no
    /// other data goes before it. It differs from "nic" where `[queueing]` divides virtual
    /// channels, so that other packets may have room.
    pub choose_at: ChooseAt,
    /// On a torus: deadlock avoidance in rings. "dateline": two classes of virtual
    /// channels, for packets that cross the dateline of a ring and for others. "bubble": one place
    /// stays free in each ring; a packet enters, from its NIC or another dimension, only if the
    /// buffer ahead has room for two. One class of virtual channels is then enough. A buffer has
    /// places of `nic.max_packet`; each packet takes one, however short.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Rings::default()))]
    pub rings: Rings,
}

/// Virtual networks, each with a different order of dimensions. A packet stays in the one chosen at
/// injection; `flight.via` is its number.
pub(super) struct Orders {
    pub steps: Steps,
    orders: Box<[Box<[usize]>]>,
    choose_at: ChooseAt,
}

impl Orders {
    /// A single order, as a section describes it.
    pub fn one(section: &Section, topology: &Arc<dyn Topology>) -> Result<Orders, ConfigError> {
        let OneOrder { order, vcs, rings } = section.parse()?;
        let grid = grid(section, topology)?;
        let order = match order {
            None => (0..grid.dimensions()).collect(),
            Some(letters) => {
                parse_order(&letters, grid, "order").map_err(|invalid| section.refuse(invalid))?
            }
        };
        let steps = Steps::new(section, topology, 1, vcs, rings)?;
        let orders = [order.into_boxed_slice()].into();
        Ok(Orders {
            steps,
            orders,
            choose_at: ChooseAt::Router,
        })
    }

    /// Several orders.
    pub fn several(section: &Section, topology: &Arc<dyn Topology>) -> Result<Orders, ConfigError> {
        let SeveralOrders {
            orders,
            vcs,
            choose_at,
            rings,
        } = section.parse()?;
        let grid = grid(section, topology)?;
        let orders = match orders {
            None => x_and_y_first(grid),
            Some(given) => parse(section, grid, &given)?,
        };
        let steps = Steps::new(section, topology, orders.len(), vcs, rings)?;
        Ok(Orders {
            steps,
            orders,
            choose_at,
        })
    }

    /// All orders, by the number of their virtual network.
    pub fn all(&self) -> &[Box<[usize]>] {
        &self.orders
    }

    /// True if a packet that has just been injected gets its virtual network here.
    pub fn chooses_here(&self, flight: &Flight, here: &dyn Here) -> bool {
        self.choose_at == ChooseAt::Router
            && Steps::is_new(flight)
            && !self.steps.is_home(flight, here)
    }

    /// Choice at NICs, if they choose: `by` this rule when a packet goes to the router.
    pub fn at_nic(&self, by: NicRule) -> Option<NicChoice> {
        let by = match self.choose_at {
            ChooseAt::Router => return None,
            ChooseAt::Nic => by,
            ChooseAt::Generation => NicRule::Numbered,
            ChooseAt::Strict => NicRule::Strict,
        };
        // At most `MOST_ORDERS`.
        let networks = self.orders.len() as u8;
        Some(NicChoice { networks, by })
    }

    /// Refuses choices that do not look at queues: orders must be chosen when packets are sent and
    /// queues can be examined.
    pub fn chosen_by_queues(self, section: &Section) -> Result<Orders, ConfigError> {
        let what = match self.choose_at {
            ChooseAt::Router | ChooseAt::Nic => return Ok(self),
            ChooseAt::Generation => "when a message is generated its packets are in no queue yet",
            ChooseAt::Strict => "orders in turn do not depend on the queues, as they do here",
        };
        Err(section.refuse(Invalid::new(
            "choose_at",
            what,
            "write \"nic\" or \"router\", or choose algorithm = \"oblivious\"",
        )))
    }

    /// Number of virtual networks.
    pub fn count(&self) -> u32 {
        self.orders.len() as u32
    }

    /// The next hop of a packet in its virtual network.
    #[inline]
    pub fn next(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let network = flight.via;
        self.steps
            .next(flight, &self.orders[network as usize], network as u8, here)
    }

    /// One of the next hops of a packet in a virtual network, regardless of backlog.
    pub fn draw(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let order = &self.orders[flight.via as usize];
        self.steps.draw(flight, order, flight.via as u8, here)
    }

    /// The alternatives that are equivalent to the first hop.
    pub fn others(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        let order = &self.orders[flight.via as usize];
        self.steps
            .others(flight, order, flight.via as u8, (first, here), ways);
    }
}

fn grid<'a>(section: &Section, topology: &'a Arc<dyn Topology>) -> Result<&'a Grid, ConfigError> {
    let what = "networks of several dimensions";
    topology
        .as_grid()
        .ok_or_else(|| not_for(section, topology, what))
}

fn x_and_y_first(grid: &Grid) -> Box<[Box<[usize]>]> {
    let x_first: Vec<usize> = (0..grid.dimensions()).collect();
    let mut y_first = x_first.clone();
    match &mut y_first[..] {
        [x, y, ..] => std::mem::swap(x, y),
        _ => return [x_first.into_boxed_slice()].into(),
    }
    [x_first, y_first].map(Vec::into_boxed_slice).into()
}

fn parse(
    section: &Section,
    grid: &Grid,
    given: &[String],
) -> Result<Box<[Box<[usize]>]>, ConfigError> {
    let refuse = |key: &str, what: String, remedy: String| {
        Err(section.refuse(Invalid::new(key, what, remedy)))
    };
    if given.is_empty() || given.len() > MOST_ORDERS {
        let remedy = format!("give from 1 to {MOST_ORDERS}, such as [\"xy\", \"yx\"]");
        return refuse("orders", format!("{} orders", given.len()), remedy);
    }
    let mut orders: Vec<Box<[usize]>> = Vec::new();
    for (place, letters) in given.iter().enumerate() {
        let key = format!("orders.{place}");
        let order = parse_order(letters, grid, &key).map_err(|invalid| section.refuse(invalid))?;
        if orders.iter().any(|known| **known == *order) {
            let what = format!("{:?} is given twice", order_letters(&order));
            return refuse(&key, what, "give each order once".into());
        }
        orders.push(order.into());
    }
    Ok(orders.into())
}
