//! `.topo` files of htsim (ultraethernet/uet-htsim 40ccb05): trees of two or three tiers.
//!
//! A tier has the properties of its links downwards; a link upwards has those of the tier above.
//! Core l of the aggregation switch at place p in its pod is p + l × (aggregation switches of a
//! pod).

use std::collections::HashMap;
use std::sync::Arc;

use super::lines::Line;
use super::network::{HostRule, Link, Network};
use weir_input::ConfigError;
use weir_input::error::Source;

/// Links at most, so that a slip of the pen does not fill the memory.
const MOST: u64 = 1 << 22;

/// Values of the file: those of the whole, then of each tier, by their names in lower case.
type Values = HashMap<String, f64>;

/// The network of such a file.
pub fn read(source: &Arc<Source>, _: &HostRule) -> Result<Network, ConfigError> {
    let mut whole = Values::new();
    let mut tiers: Vec<Values> = Vec::new();
    for line in Line::all(source, '#') {
        let mut words = line.words();
        let key = words.next().unwrap_or_default().to_ascii_lowercase();
        let value = words.next().and_then(|text| text.parse::<f64>().ok());
        let value = value.filter(|value| (0.0..1e12).contains(value));
        let Some(value) = value else {
            return Err(line.wrong("a name without a number", "write lines as `Radix_Down 8`"));
        };
        if key == "tier" {
            if value != tiers.len() as f64 {
                return Err(line.wrong("tiers are not in order", "write Tier 0, Tier 1, Tier 2"));
            }
            tiers.push(Values::new());
            continue;
        }
        tiers.last_mut().unwrap_or(&mut whole).insert(key, value);
    }
    let file = File {
        source,
        whole,
        tiers,
    };
    file.network()
}

struct File<'a> {
    source: &'a Source,
    whole: Values,
    tiers: Vec<Values>,
}

impl File<'_> {
    fn wrong(&self, what: String) -> ConfigError {
        let remedy = "give a .topo file of two or three tiers, as htsim reads it";
        ConfigError::new(format!("{}: {what}", self.source.name), remedy)
    }

    /// A whole number from 1 on.
    fn count(&self, tier: Option<usize>, key: &str) -> Result<u64, ConfigError> {
        let values = tier.map_or(&self.whole, |tier| &self.tiers[tier]);
        let value = values.get(key).copied().unwrap_or_default();
        match value >= 1.0 && value.fract() == 0.0 {
            true => Ok(value as u64),
            false => Err(self.wrong(format!("no {key}{}", of_tier(tier)))),
        }
    }

    /// A ratio of two counts.
    fn ratio(&self, of: u64, by: u64, what: &str) -> Result<u64, ConfigError> {
        match of.is_multiple_of(by) && of > 0 {
            true => Ok(of / by),
            false => Err(self.wrong(format!("{what}: {of} / {by} is not a whole number"))),
        }
    }

    /// A link downwards from a tier.
    fn link(&self, tier: usize, from: String, to: String) -> Result<Link, ConfigError> {
        let value = |key: &str| {
            let value = self.tiers[tier].get(key).copied();
            value
                .filter(|&value| value > 0.0)
                .ok_or_else(|| self.wrong(format!("no {key}{}", of_tier(Some(tier)))))
        };
        Ok(Link {
            gbps: Some(value("downlink_speed_gbps")?),
            ns: Some(value("downlink_latency_ns")?),
            kind: match tier {
                0 => None,
                1 => Some("local".into()),
                _ => Some("global".into()),
            },
            ..Link::new(from, to)
        })
    }

    fn network(&self) -> Result<Network, ConfigError> {
        let nodes = self.count(None, "nodes")?;
        let count = self.tiers.len();
        if !(2..=3).contains(&count) {
            return Err(self.wrong(format!("{count} tiers")));
        }
        let down: Vec<u64> = (0..count)
            .map(|tier| self.count(Some(tier), "radix_down"))
            .collect::<Result<_, _>>()?;
        let up: Vec<u64> = (0..count - 1)
            .map(|tier| self.count(Some(tier), "radix_up"))
            .collect::<Result<_, _>>()?;
        let bundle = |tier: usize| match self.tiers[tier].contains_key("bundle") {
            true => self.count(Some(tier), "bundle"),
            false => Ok(1),
        };
        let leaves = self.ratio(nodes, down[0], "nodes / radix_down of tier 0")?;
        if nodes.max(leaves.saturating_mul(up[0])) > MOST {
            return Err(self.wrong(format!("more than {MOST} links")));
        }
        let mut network = Network::default();
        let latency = self.tiers.iter().any(|tier| {
            tier.get("switch_latency_ns")
                .is_some_and(|&time| time > 0.0)
        });
        if latency {
            let line = "switch_latency_ns: give it as router.latency of the experiment";
            network.chosen.push(line.into());
        }
        for node in 0..nodes {
            let link = self.link(0, format!("n{node}"), format!("t{}", node / down[0]))?;
            network.hosts.push(link);
        }
        // Tier 1: all of a pod's leaves with all of its aggregation switches.
        let per_pod = match count {
            2 => leaves,
            _ => {
                let pod = self.count(None, "podsize")?;
                self.ratio(pod, down[0], "podsize / radix_down of tier 0")?
            }
        };
        let own = bundle(1)?;
        let aggregates = self.ratio(up[0], own, "radix_up of tier 0 / bundle of tier 1")?;
        let pods = self.ratio(leaves, per_pod, "switches of tier 0 / those of a pod")?;
        for leaf in 0..leaves {
            for place in 0..aggregates {
                let above = leaf / per_pod * aggregates + place;
                let mut link = self.link(1, format!("t{leaf}"), format!("a{above}"))?;
                link.count = own as u32;
                network.links.push(link);
            }
        }
        if count == 3 {
            let own = bundle(2)?;
            let cores = self.ratio(up[1], own, "radix_up of tier 1 / bundle of tier 2")?;
            if (pods * aggregates).saturating_mul(up[1]) > MOST {
                return Err(self.wrong(format!("more than {MOST} links")));
            }
            for at in 0..pods * aggregates {
                for turn in 0..cores {
                    let core = at % aggregates + turn * aggregates;
                    let mut link = self.link(2, format!("a{at}"), format!("c{core}"))?;
                    link.count = own as u32;
                    network.links.push(link);
                }
            }
        }
        Ok(network)
    }
}

fn of_tier(tier: Option<usize>) -> String {
    tier.map_or(String::new(), |tier| format!(" of tier {tier}"))
}
