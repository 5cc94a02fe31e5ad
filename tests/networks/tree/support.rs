//! Trees to test, with the numbers that their definitions give.

use std::sync::Arc;

use proptest::prelude::*;
use weir::config::Section;
use weir::registry::find;
use weir::topology::tree::Tree;
use weir::topology::{self, Topology};

/// Links of three kinds, told apart by their latency.
pub const LINKS: &str = "
[terminal]
bandwidth = \"100 Gbps\"
latency = \"1 ns\"
[local]
bandwidth = \"50 Gbps\"
latency = \"2 ns\"
[global]
bandwidth = \"25 Gbps\"
latency = \"3 ns\"
";

/// A tree to build, with the numbers that its definition gives.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Kary { k: u32, n: u32 },
    Clos { radix: u32, levels: u32, pods: u32 },
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kary { .. } => "kary_ntree",
            Kind::Clos { .. } => "folded_clos",
        }
    }

    pub fn keys(self) -> String {
        match self {
            Kind::Kary { k, n } => format!("k = {k}\nn = {n}\n"),
            Kind::Clos {
                radix,
                levels,
                pods,
            } => {
                format!("radix = {radix}\nlevels = {levels}\npods = {pods}\n")
            }
        }
    }

    pub fn levels(self) -> u32 {
        match self {
            Kind::Kary { n, .. } => n,
            Kind::Clos { levels, .. } => levels,
        }
    }

    /// Ports down of the routers below the top, which have as many up.
    pub fn k(self) -> u32 {
        match self {
            Kind::Kary { k, .. } => k,
            Kind::Clos { radix, .. } => radix / 2,
        }
    }

    /// Ports of a top router.
    pub fn top_ports(self) -> u32 {
        match self {
            Kind::Kary { k, .. } => k,
            Kind::Clos { pods, .. } => pods,
        }
    }

    pub fn endpoints(self) -> u32 {
        self.top_ports() * self.k().pow(self.levels() - 1)
    }

    pub fn pods(self) -> u32 {
        if self.levels() == 1 {
            1
        } else {
            self.top_ports()
        }
    }

    pub fn top_routers(self) -> u32 {
        self.k().pow(self.levels() - 1)
    }

    /// Every level below the top has as many routers as there are leaf routers.
    pub fn routers(self) -> u32 {
        let leaves = self.endpoints() / self.k();
        (self.levels() - 1) * leaves + self.top_routers()
    }

    pub fn build(self) -> Arc<dyn Topology> {
        build(self.name(), &(self.keys() + LINKS)).expect("valid parameters")
    }
}

/// Builds a network from its section as text.
pub fn build(kind: &str, text: &str) -> Result<Arc<dyn Topology>, String> {
    let section = Section::from_toml(text).map_err(|e| e.to_string())?;
    let entry = find(topology::REGISTRY, kind).ok_or("no such kind")?;
    (entry.build)(&section).map_err(|e| e.to_string())
}

/// The tree behind a topology.
pub fn tree(topology: &Arc<dyn Topology>) -> &Tree {
    topology.as_a::<Tree>().expect("a tree")
}

/// Trees of up to `most` endpoints.
pub fn kinds(most: u32) -> impl Strategy<Value = Kind> {
    let kary = (2..=6u32, 1..=5u32).prop_map(|(k, n)| Kind::Kary { k, n });
    let clos = (2..=5u32, 1..=4u32).prop_flat_map(|(half, levels)| {
        (2..=2 * half).prop_map(move |pods| Kind::Clos {
            radix: 2 * half,
            levels,
            pods,
        })
    });
    prop_oneof![kary, clos].prop_filter("small enough", move |kind| kind.endpoints() <= most)
}
