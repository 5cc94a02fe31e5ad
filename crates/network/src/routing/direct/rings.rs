//! Courses along the lines of tori and meshes, one dimension after the other, and the classes of virtual channels that keep packets
//! from waiting for each other round a ring.
//!
//! A packet goes each dimension to its end before it turns into the next, so dependencies lead from one dimension to later ones
//! of its order, and a cycle could only be within one ring. There are two classes of virtual channels there, and which one a
//! packet takes is decided where it turns into the ring: class 0 if its way crosses the *dateline*, the link between the last
//! router and the first, else class 1. Packets of class 1 never take that link. Those of class 0 take it, and k/2 links of a
//! ring of k at most, so none of them takes a link of the half opposite to the dateline: either class has a link that nobody
//! waits for. (Dally and Seitz, 1987, change from one channel to the other at the dateline; deciding at the turn loads the two
//! more evenly, as BookSim2 does.) Lines of a mesh are no rings and have one class.
//!
//! Or packets of a ring may wait for each other, but for a *bubble* ([`Rings::Bubble`]): one class is enough then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::routing::Here;
use crate::topology::torus::{Heading, Torus};
use weir_model::{Flight, PortId, RouterId};

/// The rest of a way along one dimension.
///
/// `flight.phase` is 0 before a packet's first step, then 1 and the dimension that it goes along; `flight.steps` says
/// which way, and its class there.
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

    /// Takes note of it.
    #[inline]
    pub fn remember(self, flight: &mut Flight) {
        flight.phase = self.d as u8 + 1;
        let down = u8::from(self.heading == Heading::Down);
        flight.steps = down * DOWN + self.class * CLASS;
    }
}

/// What keeps packets from waiting for each other all the way round a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rings {
    /// Two classes of virtual channels: packets that cross the dateline of a ring, and those that do not.
    #[default]
    Dateline,
    /// A place that stays free in each ring: a packet enters one, from its NIC or another dimension, only where there is room for two in
    /// the buffer ahead. One class of virtual channels is enough. A buffer has places of `nic.max_packet`, which every packet takes
    /// one of, however short it is.
    Bubble,
}

/// The classes of virtual channels with datelines.
pub(super) fn classes(torus: &Torus) -> u8 {
    1 + u8::from(torus.wraps())
}

/// The port by which a ring goes on that comes in by `in_port`; None if that is an endpoint's.
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

/// The course of a packet from one router to another: on along its dimension, or along the next one of `order` in which it is not there
/// yet, which it then remembers. None if it is there.
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

/// A shortest way along a dimension; which, if both ways round the ring are as long, is drawn.
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
    let class = u8::from(torus.wraps() && !crosses(heading, from, to));
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
