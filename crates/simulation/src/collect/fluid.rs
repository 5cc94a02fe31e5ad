//! The fluid model of a phase: flows of given sizes on given paths, at any rates within the
//! capacity of every link.
//!
//! Birk and Zdornov, SYSTOR 2009, section 5.1. The weight of a link is the time that it takes to
//! carry all flows over it. The largest weight of all links is the least time in which all flows
//! can end (theorem 1). The largest weight on the path of a flow is the time in which the flow ends
//! if its rate is its size divided by that weight.

use rustc_hash::FxHashMap;

use weir_model::{LinkRate, Time};

/// A link: of an endpoint to its router, or behind a router's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// The link of an endpoint.
    Source(u32),
    /// The link of a router's port: router, port.
    Port(u32, u32),
}

impl Link {
    /// True if both are links of one router's ports.
    pub fn is_beside(self, other: Link) -> bool {
        matches!((self, other), (Link::Port(one, _), Link::Port(two, _)) if one == two)
    }
}

/// Demand of flows on links.
#[derive(Debug, Default)]
pub struct Fluid {
    /// Flits, flows, and how long flits take.
    links: FxHashMap<Link, (u64, u64, Option<LinkRate>)>,
}

/// Demand on the links of a flow's path, or on all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The largest weight, ps.
    pub weight: Time,
    /// The most flows on a link.
    pub contention: u64,
}

impl Load {
    fn and(self, other: Load) -> Load {
        Load {
            weight: self.weight.max(other.weight),
            contention: self.contention.max(other.contention),
        }
    }
}

impl Fluid {
    /// Adds a flow that sends `flits` flits over a link.
    pub fn add(&mut self, link: Link, flits: u64, rate: LinkRate) {
        let of_link = self.links.entry(link).or_default();
        of_link.0 += flits;
        of_link.1 += 1;
        of_link.2 = Some(rate);
    }

    fn of(&self, (flits, flows, rate): (u64, u64, Option<LinkRate>)) -> Load {
        Load {
            weight: rate.map_or(0, |rate| rate.time_of(flits)),
            contention: flows,
        }
    }

    /// Demand on the links of a flow's path.
    pub fn on_way(&self, links: impl Iterator<Item = Link>) -> Load {
        let known = links.filter_map(|link| self.links.get(&link));
        known.fold(Load::default(), |load, &link| load.and(self.of(link)))
    }

    /// Demand on all links.
    pub fn on_any(&self) -> Load {
        let all = self.links.values();
        all.fold(Load::default(), |load, &link| load.and(self.of(link)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::{Bandwidth, FlitSize};

    fn rate(gbps: u64) -> LinkRate {
        LinkRate::new(Bandwidth(gbps * 1_000_000_000), FlitSize(100))
    }

    /// Figure 1: four flows over the link between two switches, two of them and two more to one
    /// endpoint.
    fn figure_1(capacity: u64) -> (Fluid, Vec<Vec<Link>>) {
        let (between, d1, d2) = (Link::Port(0, 9), Link::Port(1, 1), Link::Port(1, 2));
        let ways = [
            vec![between, d1],
            vec![between, d1],
            vec![between, d2],
            vec![between, d2],
            vec![d2],
            vec![d2],
        ];
        let mut fluid = Fluid::default();
        for (source, way) in ways.iter().enumerate() {
            fluid.add(Link::Source(source as u32), 1_000, rate(100));
            for &link in way {
                let own = if link == between { capacity } else { 100 };
                fluid.add(link, 1_000, rate(own));
            }
        }
        (fluid, ways.to_vec())
    }

    #[test]
    fn the_optimum_of_figure_1_is_four_flows() {
        let (fluid, ways) = figure_1(100);
        assert_eq!(
            fluid.on_any(),
            Load {
                weight: 4_000_000,
                contention: 4
            }
        );
        for way in ways {
            let load = fluid.on_way(way.into_iter());
            assert_eq!((load.weight, load.contention), (4_000_000, 4));
        }
    }

    /// Equation 4: a link of twice the capacity has half the weight.
    #[test]
    fn a_faster_link_weighs_less() {
        let (fluid, ways) = figure_1(200);
        let weights: Vec<Time> = ways
            .into_iter()
            .map(|way| fluid.on_way(way.into_iter()).weight)
            .collect();
        assert_eq!(weights[..2], [2_000_000; 2], "two flows at each end");
        assert_eq!(weights[2..], [4_000_000; 4]);
    }
}
