//! `[[failure]]`: links that differ from their kind.
//!
//! A topology is the network as it was built; [`Failures`] holds the links that differ. Buffers,
//! crossbars, loads and parameters of schemes are made for the links as built, and the time of a
//! packet and of a credit on a link depends on the link as it is.

mod choose;
mod config;

use std::collections::BTreeMap;

use crate::topology::{Link, Place, Topology};
use weir_model::{Bandwidth, Invalid, LATEST, LinkKind};

pub use choose::choose;
pub use config::{Direction, FailedLinks, FailureConfig, LinkName, NewBandwidth};

/// One direction of a link that differs from its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The link as it is.
    pub link: Link,
    /// Number of the `[[failure]]` that changes it, from 0.
    pub failure: usize,
}

/// Links that differ from their kind.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    links: BTreeMap<Place, Changed>,
    counts: BTreeMap<LinkKind, u64>,
}

impl Failures {
    /// The direction of a link that begins at a place, if it differs.
    pub fn get(&self, from: Place) -> Option<&Changed> {
        self.links.get(&from)
    }

    /// All directions that differ, by the places where they begin.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &Changed)> {
        self.links.iter().map(|(&from, changed)| (from, changed))
    }

    /// Number of links of each kind that differ in one or both directions; kinds without such links
    /// are left out.
    pub fn counts(&self) -> impl Iterator<Item = (LinkKind, u64)> {
        self.counts.iter().map(|(&kind, &count)| (kind, count))
    }

    /// Adds a direction; false if it differs already.
    fn add(&mut self, topology: &dyn Topology, from: Place, changed: Changed) -> bool {
        let other = topology.far_end(from);
        if !other.is_some_and(|other| self.links.contains_key(&other)) {
            *self.counts.entry(changed.link.kind).or_default() += 1;
        }
        self.links.insert(from, changed).is_none()
    }
}

impl FailureConfig {
    /// The link as it is after this failure. The key of an error is one of this section.
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
