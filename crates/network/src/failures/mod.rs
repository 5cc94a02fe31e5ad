//! `[[failure]]`: links that differ from their kind, and links that are down.
//!
//! A topology is the network as it was built; [`Failures`] holds the links that differ. Buffers,
//! crossbars, loads and parameters of schemes are made for the links as built, and the time of a
//! packet and of a credit on a link depends on the link as it is. [`Outages`] is what routing knows
//! of links that are down.

mod check;
mod choose;
mod config;
mod draw;
mod named;
mod outages;

use std::collections::BTreeMap;

use crate::topology::{Link, Place, Topology};
use weir_model::{Bandwidth, Invalid, LATEST, LinkKind, NEVER, Span, Time};

pub use choose::choose;
pub use config::{
    Direction, FailedLinks, FailedRouters, FailureConfig, LinkName, NewBandwidth, Stranded,
};
pub use outages::{Outages, Seen};

/// One direction of a link that differs from its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Changed {
    /// The link as it is.
    pub link: Link,
    /// Probability that a bit is received wrong.
    pub bit_error_rate: f64,
    /// Number of the `[[failure]]` that changes it, from 0.
    pub failure: usize,
    /// Time in which it differs.
    pub span: Span,
}

/// A time in which one direction of a link carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Down {
    /// Number of the `[[failure]]`, from 0.
    pub failure: usize,
    /// The time.
    pub span: Span,
    /// From its beginning, and from its end, until all routers know, ps.
    pub rerouted_after: Time,
    /// True if what is still sent there is lost.
    pub loses: bool,
}

impl Down {
    /// Time in which routers know of it.
    pub fn known(&self) -> Span {
        let after = |time: Time| match time {
            0 | NEVER => time,
            _ => time.saturating_add(self.rerouted_after),
        };
        Span {
            from: after(self.span.from),
            to: after(self.span.to),
        }
    }
}

/// Links that differ from their kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    links: BTreeMap<Place, Changed>,
    down: BTreeMap<Place, Vec<Down>>,
    counts: BTreeMap<LinkKind, [u64; 2]>,
}

impl Failures {
    /// The direction of a link that begins at a place, if it ever differs.
    pub fn get(&self, from: Place) -> Option<&Changed> {
        self.links.get(&from)
    }

    /// The same, if it differs for the whole run.
    pub fn lasting(&self, from: Place) -> Option<&Changed> {
        let always = Span { from: 0, to: NEVER };
        self.get(from).filter(|changed| changed.span == always)
    }

    /// All directions that differ, by the places where they begin.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &Changed)> {
        self.links.iter().map(|(&from, changed)| (from, changed))
    }

    /// Times in which a direction carries nothing.
    pub fn down_at(&self, from: Place) -> &[Down] {
        self.down.get(&from).map_or(&[], Vec::as_slice)
    }

    /// All directions that are down at some time, by the places where they begin.
    pub fn down(&self) -> impl Iterator<Item = (Place, &[Down])> {
        self.down
            .iter()
            .map(|(&from, down)| (from, down.as_slice()))
    }

    /// True if links are down, make errors, or differ for a part of the run.
    pub fn any_during_run(&self) -> bool {
        let always = Span { from: 0, to: NEVER };
        let differs = |own: &Changed| own.span != always || own.bit_error_rate > 0.0;
        !self.down.is_empty() || self.links.values().any(differs)
    }

    /// Number of links of each kind that differ in one or both directions, and number of links that
    /// are down at some time; kinds without such links are left out.
    pub fn counts(&self) -> impl Iterator<Item = (LinkKind, [u64; 2])> {
        self.counts.iter().map(|(&kind, &counts)| (kind, counts))
    }

    /// Adds a direction that differs.
    fn change(&mut self, topology: &dyn Topology, from: Place, changed: Changed) {
        let other = topology.far_end(from);
        if !other.is_some_and(|other| self.links.contains_key(&other)) {
            self.counts.entry(changed.link.kind).or_default()[0] += 1;
        }
        self.links.insert(from, changed);
    }

    /// Takes both directions of a link down.
    fn take_down(&mut self, topology: &dyn Topology, ends: [Place; 2], down: Down) {
        if !self.down.contains_key(&ends[0]) {
            let kind = topology.link_from(ends[0]).kind;
            self.counts.entry(kind).or_default()[1] += 1;
        }
        for from in ends {
            self.down.entry(from).or_default().push(down);
        }
    }
}

impl FailureConfig {
    /// Time in which it lasts.
    fn span(&self) -> Span {
        Span {
            from: self.at.map_or(0, |at| at.0),
            to: self.until.map_or(NEVER, |until| until.0),
        }
    }

    /// The link as it is in this failure. The key of an error is one of this section.
    fn changed(&self, built: Link) -> Result<Link, Invalid> {
        let bandwidth = match self.bandwidth {
            None => built.bandwidth,
            Some(NewBandwidth::Rate(rate)) => rate.0,
            Some(NewBandwidth::Share(share)) => {
                let bits = (built.bandwidth.0 as f64 * share).round() as u64;
                Bandwidth(bits.clamp(1, built.bandwidth.0))
            }
        };
        if bandwidth > built.bandwidth {
            let [new, own] = [bandwidth, built.bandwidth].map(weir_input::Rate);
            return Err(Invalid::new(
                "bandwidth",
                format!("{new} is more than the {own} of such a link"),
                format!("write at most \"{own}\", or a share such as 0.25"),
            ));
        }
        let added = self.added_latency.map_or(0, |added| added.0);
        let latency = built.latency.saturating_add(added);
        if latency > LATEST {
            return Err(Invalid::new(
                "added_latency",
                "the link would be longer than any run",
                "write a shorter time",
            ));
        }
        Ok(Link {
            bandwidth,
            latency,
            ..built
        })
    }
}
