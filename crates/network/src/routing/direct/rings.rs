//! Courses along the lines of tori and meshes, one dimension after the other, and the classes of
//! virtual channels that prevent deadlock in rings.
//!
//! A packet goes each dimension to its end before it turns into the next, so dependencies lead from
//! one dimension to later ones of its order, and a cycle could only be within one ring. Rings have
//! two classes of virtual channels. A packet's class is decided where it turns into the ring: class
//! 0 if its way crosses the *dateline*, the link between the last router and the first, else
//! class 1. Packets of class 1 never take that link. Packets of class 0 take it, and at most k/2
//! links of a ring of k, so none of them takes a link of the half opposite to the dateline. Each
//! class therefore has a link that no packet waits for. (Dally and Seitz, 1987, change from one
//! channel to the other at the dateline; deciding at the turn loads the two more evenly, as
//! BookSim2 does.) Lines of a mesh are no rings and have one class.
//!
//! Alternatively a ring keeps a *bubble* ([`Rings::Bubble`]), and one class is enough.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::routing::Here;
use crate::topology::torus::{Heading, Torus};
use weir_model::{Flight, PortId, RouterId};

/// The rest of a way along one dimension.
///
/// `flight.phase` is 0 before a packet's first step, then 1 and the dimension that it goes along;
/// `flight.steps` holds its direction and its class there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    pub d: usize,
    pub heading: Heading,
    /// The class of its virtual channels.
    pub class: u8,
}

const DOWN: u8 = 1;
const CLASS: u8 = 2;

impl Course {
    /// The course that a packet was on.
    #[inline]
    fn of(flight: &Flight) -> Option<Course> {
        let d = flight.phase.checked_sub(1)?;
        let heading = match flight.steps & DOWN {
            0 => Heading::Up,
            _ => Heading::Down,
        };
        Some(Course {
            d: d.into(),
            heading,
            class: flight.steps / CLASS,
        })
    }

    /// Stores it in the flight.
    #[inline]
    pub fn remember(self, flight: &mut Flight) {
        flight.phase = self.d as u8 + 1;
        let down = u8::from(self.heading == Heading::Down);
        flight.steps = down * DOWN + self.class * CLASS;
    }
}

/// Deadlock avoidance in rings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rings {
    /// Two classes of virtual channels: for packets that cross the dateline of a ring, and for
    /// others.
    #[default]
    Dateline,
    /// One place stays free in each ring: a packet enters, from its NIC or another dimension, only
    /// if the buffer ahead has room for two. One class of virtual channels is enough. A buffer has
    /// places of `nic.max_packet`; each packet takes one, however short.
    Bubble,
}

/// The classes of virtual channels with datelines.
pub(super) fn classes(torus: &Torus) -> u8 {
    1 + u8::from(torus.has_rings())
}

/// The port by which the ring that comes in by `in_port` continues; None if that is an endpoint's.
pub(super) fn onward(torus: &Torus, in_port: PortId) -> Option<PortId> {
    let through = |d: usize, from: Heading, to: Heading| {
        let (first, links) = torus.ports_to(d, from);
        let link = in_port.checked_sub(first).filter(|&link| link < links);
        Some(torus.ports_to(d, to).0 + link?)
    };
    (0..torus.grid().dimensions()).find_map(|d| {
        through(d, Heading::Down, Heading::Up).or_else(|| through(d, Heading::Up, Heading::Down))
    })
}

/// The course of a packet from one router to another; None if it has arrived.
///
/// It continues along its dimension, or along the next one of `order` in which it has not arrived,
/// which it then remembers.
#[inline(always)]
pub(super) fn course(
    torus: &Torus,
    way: [RouterId; 2],
    flight: &mut Flight,
    order: &[usize],
    here: &mut dyn Here,
) -> Option<Course> {
    let [at, to] = way;
    if let Some(course) = Course::of(flight)
        && torus.grid().apart(way, course.d)
    {
        return Some(course);
    }
    let next = order.iter().copied().find(|&d| torus.grid().apart(way, d));
    let course = turn(torus, at, to, next?, here);
    course.remember(flight);
    Some(course)
}

/// A shortest way along a dimension; drawn if both ways round the ring are equally long.
fn turn(torus: &Torus, at: RouterId, to: RouterId, d: usize, here: &mut dyn Here) -> Course {
    let (from, to) = (
        torus.grid().coordinate(at, d),
        torus.grid().coordinate(to, d),
    );
    let down = match torus.ways_round(d, from, to) {
        (true, true) => here.pick(2) == 1,
        (_, down) => down,
    };
    let heading = if down { Heading::Down } else { Heading::Up };
    let class = u8::from(torus.is_ring(d) && !crosses(heading, from, to));
    Course { d, heading, class }
}

/// True if the way from one coordinate to another crosses the link between the last and the first.
#[inline]
pub(super) fn crosses(heading: Heading, from: u32, to: u32) -> bool {
    match heading {
        Heading::Up => to < from,
        Heading::Down => to > from,
    }
}
