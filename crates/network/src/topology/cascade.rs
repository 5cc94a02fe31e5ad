//! Dragonflies as they are built: groups of rows and columns of routers (Cray XC), or of routers
//! that are all joined (Slingshot), of several sizes, with several links between any two groups.
//!
//! Routers of a group stand row by row. All routers of a row are joined with each other, and all of
//! a column. The global links of a group are at its routers in turn.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::{Cable, Graph, GraphLayout, MOST_ROUTERS};
use super::{Build, LinkParams, Topology, check_size, in_turn};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind, RouterId, TERMINAL};

/// Parameters of the network.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The groups.
    pub groups: Vec<GroupShape>,
    /// Links between two routers of a row. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_links: Option<u32>,
    /// Links between two routers of a column. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_links: Option<u32>,
    /// Links between any two groups. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_links: Option<u32>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links in groups.
    pub local: LinkParams,
    /// The links between groups. One group has none, and needs no such section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<LinkParams>,
}

/// Groups that are alike.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupShape {
    /// Number of groups.
    pub count: u32,
    /// Rows of routers; 1: all routers of a group are joined with each other.
    pub rows: u32,
    /// Routers in a row.
    pub columns: u32,
    /// Endpoints at each router; 0: groups that only pass on.
    pub endpoints_per_router: u32,
}

/// Most routers.
const MOST: u64 = MOST_ROUTERS as u64;

/// Checks all numbers. Returns the number of routers.
fn check(params: &Params) -> Result<u32, Invalid> {
    for (key, value) in [
        ("row_links", params.row_links),
        ("column_links", params.column_links),
        ("global_links", params.global_links),
    ] {
        if let Some(links) = value.filter(|links| !(1..=4_096).contains(links)) {
            let what = format!("is {links}");
            return Err(Invalid::new(key, what, "give from 1 to 4096"));
        }
    }
    let mut routers = 0u64;
    for (place, one) in params.groups.iter().enumerate() {
        let size = u64::from(one.rows) * u64::from(one.columns);
        routers = routers.saturating_add(size.saturating_mul(one.count.into()));
        if size == 0 || one.count == 0 {
            return Err(Invalid::new(
                format!("groups.{place}"),
                "has no routers",
                "give one group, row and column or more",
            ));
        }
    }
    if routers == 0 || routers > MOST {
        let what = format!("{routers} routers");
        return Err(Invalid::new(
            "groups",
            what,
            format!("give from 1 to {MOST}"),
        ));
    }
    if params
        .groups
        .iter()
        .all(|one| one.endpoints_per_router == 0)
    {
        let what = "there are no endpoints";
        let remedy = "give endpoints_per_router = 1 or more for one group at least";
        return Err(Invalid::new("groups", what, remedy));
    }
    Ok(routers as u32)
}

/// Checks the size of the whole before anything is laid out.
fn check_ports(params: &Params) -> Result<(), Invalid> {
    let wide = |links: Option<u32>| u128::from(links.unwrap_or(1));
    let (mut endpoints, mut ports, mut most, mut groups) = (0, 0, 0, 0);
    for one in &params.groups {
        let (rows, columns) = (u128::from(one.rows), u128::from(one.columns));
        let own = u128::from(one.endpoints_per_router);
        let inside =
            wide(params.row_links) * (columns - 1) + wide(params.column_links) * (rows - 1);
        let each = rows * columns * (own + inside);
        let count = u128::from(one.count);
        endpoints += count * rows * columns * own;
        ports += count * each;
        most = most.max(each);
        groups += count;
    }
    let out = wide(params.global_links) * (groups - 1);
    check_size("groups", endpoints, ports + groups * out, most + out)
}

/// The links in a group, whose routers begin with `first`.
fn inside(params: &Params, one: &GroupShape, first: RouterId) -> Vec<Cable> {
    let size = one.rows * one.columns;
    let links = |a: u32, b: u32| {
        let row = a / one.columns == b / one.columns;
        let column = a % one.columns == b % one.columns;
        match (row, column) {
            (true, _) => params.row_links.unwrap_or(1),
            (_, true) => params.column_links.unwrap_or(1),
            _ => 0,
        }
    };
    let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
    let cables = pairs.map(|(a, b)| Cable {
        ends: [first + a, first + b],
        kind: 1,
        links: links(a, b),
    });
    cables.filter(|cable| cable.links > 0).collect()
}

/// The links between groups, from the first router and the size of each. A group's routers take
/// them in turn.
fn between(places: &[(RouterId, u32)], rounds: u32) -> Vec<Cable> {
    let mut taken = vec![0; places.len()];
    let others = places.len() as u32 - 1;
    let mut cables = Vec::new();
    for _ in 0..rounds {
        for (a, b) in (0..places.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let ends = [a, b].map(|group| {
                let (first, size) = places[group];
                taken[group] += 1;
                first + in_turn(taken[group] - 1, size, others)
            });
            cables.push(Cable {
                ends,
                kind: 2,
                links: 1,
            });
        }
    }
    cables
}

/// Builds the network, or names the invalid parameter and the remedy.
pub fn cascade(params: &Params) -> Result<Graph, Invalid> {
    let routers = check(params)?;
    check_ports(params)?;
    let (mut cables, mut homes, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let mut places = Vec::new();
    let all = params.groups.iter();
    let all = all.flat_map(|one| (0..one.count).map(move |_| one));
    for (group, one) in (0..).zip(all) {
        let (first, size) = (groups.len() as RouterId, one.rows * one.columns);
        places.push((first, size));
        cables.append(&mut inside(params, one, first));
        groups.extend((0..size).map(|_| group));
        let own = one.endpoints_per_router;
        homes.extend((0..size).flat_map(|router| (0..own).map(move |_| first + router)));
    }
    let rounds = params.global_links.unwrap_or(1);
    cables.append(&mut between(&places, rounds));
    let local = params.local.check(LinkKind(1), "local")?;
    let global = match &params.global {
        Some(global) => global.check(LinkKind(2), "global")?,
        None if places.len() == 1 => local,
        None => {
            let remedy = "add global = { bandwidth = \"200 Gbps\", latency = \"150 ns\" }";
            return Err(Invalid::new("", "the key `global` is missing", remedy));
        }
    };
    let terminal = params.terminal.check(LinkKind::TERMINAL, TERMINAL)?;
    let count = places.len();
    Graph::laid_out(GraphLayout {
        about: format!("cascade: {count} groups, {rounds} links between any two"),
        kinds: vec![
            (TERMINAL.into(), terminal),
            ("local".into(), local),
            ("global".into(), global),
        ],
        routers,
        homes,
        cables,
        groups: Some(groups),
    })
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let graph = cascade(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(graph))
}

/// Registry entry of dragonflies as built.
pub const ENTRY: Entry<Build> = Entry {
    name: "cascade",
    summary: "Dragonflies as built: groups of rows and columns (Cray XC) or of routers that are \
              all joined (Slingshot), of several sizes, with several links between groups.",
    source: "Faanes et al., \"Cray Cascade\", SC 2012; De Sensi et al., \"An in-depth analysis of \
             the Slingshot interconnect\", SC 2020",
    examples: &[
        concat!(
            r#"groups = [{ count = 3, rows = 2, columns = 2, endpoints_per_router = 3 }], "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"local = { bandwidth = "100 Gbps", latency = "20 ns" }, "#,
            r#"global = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
        concat!(
            r#"groups = [{ count = 2, rows = 1, columns = 3, endpoints_per_router = 3 }, "#,
            r#"{ count = 1, rows = 1, columns = 2, endpoints_per_router = 2 }], global_links = 2, "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"local = { bandwidth = "100 Gbps", latency = "20 ns" }, "#,
            r#"global = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};
