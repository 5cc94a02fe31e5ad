//! Any extended generalised fat tree XGFT(h; m₁, …, m_h; 1, w₂, …, w_h), with parallel
//! links: tapers, and trees whose routers differ from level to level.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkParams;
use super::tree::{Links, Shape, Tree};
use super::{Build, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Parameters of the tree. Level 1 is that of the leaf routers.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Children of a router, level by level: endpoints of a leaf router, leaf routers below a
    /// router of level 2, … (m₁ to m_h). Their product is the number of endpoints.
    pub down: Vec<u32>,
    /// Parents of a router on each level but the top (w₂ to w_h). Fewer links up than down are a
    /// taper. Empty for a single router.
    pub up: Vec<u32>,
    /// Parallel links to each parent, level by level. Default: 1. Up a packet takes any of them as
    /// the routing chooses, down the one of its destination e: ⌊e / (w₁ ⋯ w_l)⌋ mod their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Vec<u32>>,
    /// Number of planes: equal trees that no link joins, for nodes with a NIC in each. The
    /// endpoints of one follow those of the one before it. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<u32>,
    /// The links between endpoints and leaf routers.
    pub terminal: LinkParams,
    /// The links between the routers of a pod: what is below one child of a top router. Trees of
    /// one or two levels have none, and need no such section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LinkParams>,
    /// The links to top routers. A tree of one level has none, and needs no such section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<LinkParams>,
}

/// Builds the tree, or names the invalid parameter and the remedy.
pub fn tree(params: &Params) -> Result<Tree, Invalid> {
    let levels = params.down.len();
    // 2³² endpoints cannot be numbered, so 32 is more than enough.
    if !(1..=32).contains(&levels) {
        return Err(Invalid::new(
            "down",
            format!("{levels} levels cannot be built"),
            "give 1 to 32 numbers of children",
        ));
    }
    let parallel = params.parallel.clone().unwrap_or(vec![1; levels - 1]);
    for (key, list) in [("up", &params.up), ("parallel", &parallel)] {
        if list.len() + 1 != levels {
            return Err(Invalid::new(
                key,
                format!(
                    "{} numbers for {} levels below the top",
                    list.len(),
                    levels - 1
                ),
                format!("give {}", levels - 1),
            ));
        }
    }
    if params.planes == Some(0) {
        return Err(Invalid::new("planes", "is 0", "give 1 or more"));
    }
    for (key, list) in [
        ("down", &params.down),
        ("up", &params.up),
        ("parallel", &parallel),
    ] {
        if list.contains(&0) {
            return Err(Invalid::new(key, "contains 0", "give numbers from 1 on"));
        }
    }
    let shape = Shape {
        down: params.down.clone(),
        up: params.up.clone(),
        parallel,
        width: 0,
        planes: params.planes.unwrap_or(1),
        levels_key: "down",
        ports_key: "up",
    };
    let links = Links {
        terminal: params.terminal,
        local: params.local,
        global: params.global,
        horizontal: None,
    };
    let listed = |list: &[u32]| {
        let words: Vec<String> = list.iter().map(u32::to_string).collect();
        words.join(", ")
    };
    let name = format!(
        "xgft: {} down, {} up",
        listed(&shape.down),
        listed(&shape.up)
    );
    Tree::new(name, &shape, &links)
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let tree = tree(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(tree))
}

/// Registry entry of extended generalised fat trees.
pub const ENTRY: Entry<Build> = Entry {
    name: "xgft",
    summary: "Any fat tree, by the children and parents of the routers of each level, with \
              parallel links: tapers.",
    source: "Öhring, Ibel, Das, Kumar, \"On generalized fat trees\", IPPS 1995",
    examples: &[
        concat!(
            r#"down = [6, 4], up = [2], parallel = [2], "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"global = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
        concat!(
            r#"down = [4, 2, 3], up = [2, 3], "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"local = { bandwidth = "100 Gbps", latency = "20 ns" }, "#,
            r#"global = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};
