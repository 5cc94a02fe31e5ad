//! The folded Clos network: a fat tree of equal routers with half of their ports down and half up;
//! those of the top routers all lead down.
//!
//! The bidirectional multistage networks of Pfister et al., HPIDC 2005, section V.A.3. As an
//! extended generalised fat tree with k = radix / 2: m = (k, …, k, pods), w = (1, k, …, k). There
//! are pods·kⁿ⁻¹ endpoints and kⁿ⁻¹ top routers on n levels. With fewer pods than ports, the top
//! routers leave the rest of their ports unused.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkParams;
use super::tree::{Links, Shape, Tree};
use super::{Build, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Parameters of the folded Clos network. A pod is what is below one down port of the top: in a
/// network of two levels, one leaf router.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Ports of every router: even, 4 or more.
    pub radix: u32,
    /// Levels of routers, 1 or more; n levels are 2n - 1 stages of the unfolded network. With 1
    /// there is a single router, with an endpoint at each port.
    pub levels: u32,
    /// Pods below the top routers, from 2 to `radix`. Default: `radix`. With one level: endpoints
    /// of the router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<u32>,
    /// The links between endpoints and leaf routers.
    pub terminal: LinkParams,
    /// The links between the routers of a pod. Networks of one or two levels have none, and need no
    /// such section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LinkParams>,
    /// The links between pods and top routers. A network of one level has none, and needs no such
    /// section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<LinkParams>,
}

/// Builds the network, or names the invalid parameter and the remedy.
pub fn tree(params: &Params) -> Result<Tree, Invalid> {
    let (radix, levels) = (params.radix, params.levels);
    let pods = params.pods.unwrap_or(radix);
    if radix < 4 || !radix.is_multiple_of(2) {
        return Err(Invalid::new(
            "radix",
            format!("is {radix}"),
            "give an even number, 4 or more",
        ));
    }
    // 2³² endpoints cannot be numbered, so 32 is more than enough.
    if !(1..=32).contains(&levels) {
        return Err(Invalid::new(
            "levels",
            format!("{levels} levels cannot be built"),
            "give 1 to 32",
        ));
    }
    if !(2..=radix).contains(&pods) {
        return Err(Invalid::new(
            "pods",
            format!("{pods} pods do not fit below top routers of {radix} ports"),
            format!("give 2 to {radix}, the radix"),
        ));
    }
    let below = levels as usize - 1;
    let mut down = vec![radix / 2; below];
    down.push(pods);
    let shape = Shape {
        down,
        up: vec![radix / 2; below],
        parallel: Vec::new(),
        width: 0,
        planes: 1,
        levels_key: "levels",
        ports_key: "radix",
    };
    let links = Links {
        terminal: params.terminal,
        local: params.local,
        global: params.global,
        horizontal: None,
    };
    Tree::new(
        format!("folded_clos: routers of {radix} ports"),
        &shape,
        &links,
    )
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let tree = tree(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(tree))
}

/// Registry entry of the folded Clos network.
pub const ENTRY: Entry<Build> = Entry {
    name: "folded_clos",
    summary: "Fat tree of equal routers: half the ports lead down and half up, at the top all lead \
              down.",
    source: "Pfister et al., HPIDC 2005, section V.A.3",
    examples: &[
        r#"radix = 8, levels = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "50 ns" }"#,
        r#"radix = 4, levels = 3, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "50 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
