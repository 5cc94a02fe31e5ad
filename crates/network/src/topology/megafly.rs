//! The Megafly or Dragonfly+: groups of leaf and spine routers, each leaf joined with each spine,
//! and all groups joined with each other by links of their spines.
//!
//! Routers of group g stand one after the other: its leaves, then its spines. The spines take the
//! s·h global links of a group in turn; links d - 1, d - 1 + (G - 1), … lead to the group d further
//! round, as far as there are whole rounds of links to all G - 1 others. The rest is not used. With
//! as many groups as a spine has links, and one more, each spine has one link to each other group.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::{Cable, Graph, GraphLayout, MOST_ROUTERS};
use super::{Build, LinkParams, Topology, check_size, in_turn};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind, RouterId, TERMINAL};

/// Parameters of the Megafly.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Leaf routers of a group.
    pub leaves: u32,
    /// Spine routers of a group.
    pub spines: u32,
    /// Endpoints at each leaf router.
    pub endpoints_per_leaf: u32,
    /// Global links of each spine.
    pub global_links_per_spine: u32,
    /// Parallel links from a leaf to a spine. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_links: Option<u32>,
    /// Groups, 2 or more. Default: the most, spines · global_links_per_spine + 1, of which any two
    /// share one link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// The links between endpoints and leaf routers.
    pub terminal: LinkParams,
    /// The links between leaves and spines.
    pub local: LinkParams,
    /// The links between groups.
    pub global: LinkParams,
}

/// Most of anything that is counted in a group.
const MOST: u32 = 4_096;

/// Checks all numbers. Returns the number of groups.
fn check(params: &Params) -> Result<u32, Invalid> {
    let (leaves, spines, h) = (params.leaves, params.spines, params.global_links_per_spine);
    let (own, locals) = (params.endpoints_per_leaf, params.local_links.unwrap_or(1));
    for (key, value) in [
        ("leaves", leaves),
        ("spines", spines),
        ("endpoints_per_leaf", own),
        ("global_links_per_spine", h),
        ("local_links", locals),
    ] {
        if !(1..=MOST).contains(&value) {
            return Err(Invalid::new(
                key,
                format!("is {value}"),
                format!("give from 1 to {MOST}"),
            ));
        }
    }
    let most = spines * h + 1;
    let groups = params.groups.unwrap_or(most);
    if !(2..=most).contains(&groups)
        || u64::from(groups) * u64::from(leaves + spines) > MOST_ROUTERS as u64
    {
        let what = format!("{groups} groups of {} routers", leaves + spines);
        let remedy = format!("give from 2 to {most} groups, and at most {MOST_ROUTERS} routers");
        return Err(Invalid::new("groups", what, remedy));
    }
    let each = u128::from(leaves) * u128::from(own)
        + u128::from(spines) * (2 * u128::from(leaves) * u128::from(locals) + u128::from(h));
    let endpoints = u128::from(groups) * u128::from(leaves) * u128::from(own);
    check_size("groups", endpoints, u128::from(groups) * each, each)?;
    Ok(groups)
}

/// Builds the network, or names the invalid parameter and the remedy.
pub fn megafly(params: &Params) -> Result<Graph, Invalid> {
    let groups = check(params)?;
    let (leaves, spines, h) = (params.leaves, params.spines, params.global_links_per_spine);
    let (own, locals) = (params.endpoints_per_leaf, params.local_links.unwrap_or(1));
    let size = leaves + spines;
    let wire = |ends: [RouterId; 2], kind, links| Cable { ends, kind, links };
    let mut cables = Vec::new();
    for group in 0..groups {
        let first = group * size;
        for pair in 0..leaves * spines {
            let ends = [first + pair / spines, first + leaves + pair % spines];
            cables.push(wire(ends, 1, locals));
        }
    }
    let rounds = spines * h / (groups - 1);
    let spine = |group: u32, link: u32| group * size + leaves + in_turn(link, spines, groups - 1);
    for round in 0..rounds {
        for (group, distance) in (0..groups).flat_map(|g| (1..groups).map(move |d| (g, d))) {
            let other = (group + distance) % groups;
            // Its way back is link G - 1 - d there.
            let [link, back] =
                [distance - 1, groups - 1 - distance].map(|l| round * (groups - 1) + l);
            if group < other {
                cables.push(wire([spine(group, link), spine(other, back)], 2, 1));
            }
        }
    }
    let homes = (0..groups)
        .flat_map(|group| (0..leaves * own).map(move |endpoint| group * size + endpoint / own));
    Graph::laid_out(GraphLayout {
        about: format!(
            "megafly: {groups} groups of {leaves} leaves and {spines} spines, {rounds} links \
             between any two"
        ),
        kinds: vec![
            (
                TERMINAL.into(),
                params.terminal.check(LinkKind::TERMINAL, TERMINAL)?,
            ),
            ("local".into(), params.local.check(LinkKind(1), "local")?),
            ("global".into(), params.global.check(LinkKind(2), "global")?),
        ],
        routers: groups * size,
        homes: homes.collect(),
        cables,
        groups: Some((0..groups * size).map(|router| router / size).collect()),
    })
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let graph = megafly(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(graph))
}

/// Registry entry of the Megafly.
pub const ENTRY: Entry<Build> = Entry {
    name: "megafly",
    summary: "Megafly or Dragonfly+: groups of leaf and spine routers, joined by links of their \
              spines.",
    source: "Flajslik, Borch, Parker, \"Megafly\", ISC 2018; Shpiner et al., \"Dragonfly+\", \
             HiPINEB 2017",
    examples: &[
        concat!(
            r#"leaves = 2, spines = 2, endpoints_per_leaf = 3, "#,
            r#"global_links_per_spine = 1, "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"local = { bandwidth = "100 Gbps", latency = "20 ns" }, "#,
            r#"global = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
        concat!(
            r#"leaves = 2, spines = 2, endpoints_per_leaf = 3, "#,
            r#"global_links_per_spine = 2, groups = 3, "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"local = { bandwidth = "100 Gbps", latency = "20 ns" }, "#,
            r#"global = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};
