//! The k-ary n-tree: kⁿ endpoints below n levels of kⁿ⁻¹ routers, with k ports down and k ports up
//! (the top routers: k ports down only).
//!
//! Petrini and Vanneschi, "k-ary n-trees: high performance networks for massively parallel
//! architectures", IPPS 1997. It is the tree of Birk and Zdornov, section 4.2, and with
//! `horizontal_width` their modified one. As an extended generalised fat tree: m = (k, …, k), w =
//! (1, k, …, k).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkParams;
use super::tree::{Links, Shape, Tree};
use super::{Build, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Parameters of the k-ary n-tree. A pod is what is below one down port of the top: in a tree of
/// two levels, one leaf router.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Ports down of every router, and ports up of every router below the top; 2 or more.
    pub k: u32,
    /// Levels of routers, 1 or more. With 1 there is a single router with k endpoints.
    pub n: u32,
    /// Links between two neighbouring routers of a logical node, which are the routers that lead
    /// down to the same endpoints. Of the routings, `adaptive_flow` takes them.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub horizontal_width: u32,
    /// The links between endpoints and leaf routers.
    pub terminal: LinkParams,
    /// The links between the routers of a pod. Trees of one or two levels have none, and need no
    /// such section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LinkParams>,
    /// The links between pods and top routers. A tree of one level has none, and needs no such
    /// section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<LinkParams>,
    /// The links between neighbouring routers of a logical node. Needed with `horizontal_width` in
    /// a tree of two levels or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizontal: Option<LinkParams>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
fn is_zero(width: &u32) -> bool {
    *width == 0
}

/// Builds the tree, or names the invalid parameter and the remedy.
pub fn tree(params: &Params) -> Result<Tree, Invalid> {
    let (k, n) = (params.k, params.n);
    if k < 2 {
        return Err(Invalid::new(
            "k",
            format!("{k} is too small"),
            "give 2 or more",
        ));
    }
    // 2³² endpoints cannot be numbered, so 32 is more than enough.
    if !(1..=32).contains(&n) {
        return Err(Invalid::new(
            "n",
            format!("{n} levels cannot be built"),
            "give 1 to 32",
        ));
    }
    let shape = Shape {
        down: vec![k; n as usize],
        up: vec![k; n as usize - 1],
        parallel: Vec::new(),
        width: params.horizontal_width,
        planes: 1,
        levels_key: "n",
        ports_key: "k",
    };
    let links = Links {
        terminal: params.terminal,
        local: params.local,
        global: params.global,
        horizontal: params.horizontal,
    };
    Tree::new(format!("kary_ntree: {k}-ary {n}-tree"), &shape, &links)
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let tree = tree(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(tree))
}

/// Registry entry of the k-ary n-tree.
pub const ENTRY: Entry<Build> = Entry {
    name: "kary_ntree",
    summary: "Fat tree of k^n endpoints below n levels of k^(n-1) routers; the top routers use k \
              ports.",
    source: "Petrini and Vanneschi, IPPS 1997; Birk and Zdornov, section 4.2",
    examples: &[
        r#"k = 4, n = 3, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "50 ns" }"#,
        r#"k = 3, n = 3, horizontal_width = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "50 ns" }, horizontal = { bandwidth = "50 Gbps", latency = "30 ns" }"#,
        r#"k = 4, n = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "50 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
