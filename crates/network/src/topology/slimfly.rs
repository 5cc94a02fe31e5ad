//! The Slim Fly: McKay, Miller and Širáň's graphs, in which no two routers are more than two
//! links apart.
//!
//! For a prime q = 4w + δ with δ = 1 or -1 there are 2 q² routers: (0, x, y) and (1, m, c) with
//! all numbers from 0 to q - 1, which stand one after the other. With a primitive element ξ of the
//! field, (0, x, y) and (0, x, y') are joined if y - y' is one of X, (1, m, c) and (1, m, c') if
//! c - c' is one of X', and (0, x, y) with (1, m, c) if y = m x + c. X are the even powers of ξ
//! and X' the odd ones; for δ = -1 those up to 2w - 2 and their negatives. A router has
//! (3q - δ) / 2 links.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::{Cable, Graph, GraphLayout};
use super::{Build, LinkParams, Topology, check_size};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind, RouterId, TERMINAL};

/// Parameters of the Slim Fly.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// A prime from 3 to 89: 2 q² routers of (3q ± 1) / 2 links.
    pub q: u32,
    /// Endpoints at each router. Default: half of its links, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints_per_router: Option<u32>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links between routers.
    pub link: LinkParams,
}

/// The even powers and the odd ones, as the definition takes them.
fn generators(q: u32) -> [Vec<u32>; 2] {
    let powers = |root: u32| {
        let next = move |power: &u32| Some(power * root % q);
        std::iter::successors(Some(1), next).take(q as usize - 1)
    };
    let is_primitive = |root: &u32| powers(*root).skip(1).all(|power| power != 1);
    let root = (2..q).find(is_primitive).unwrap_or(2);
    let all: Vec<u32> = powers(root).collect();
    let some = |first: usize| -> Vec<u32> {
        let (few, all) = (
            q.div_ceil(4) as usize,
            all.iter().copied().skip(first).step_by(2),
        );
        match q % 4 {
            1 => all.collect(),
            // The powers up to 2w - 2, and their negatives.
            _ => all.take(few).flat_map(|power| [power, q - power]).collect(),
        }
    };
    [some(0), some(1)]
}

/// Builds the network, or names the invalid parameter and the remedy.
pub fn slim_fly(params: &Params) -> Result<Graph, Invalid> {
    let q = params.q;
    if !(3..=89).contains(&q) || (2..q).any(|factor| q.is_multiple_of(factor)) {
        let what = format!("{q} is not a prime from 3 to 89");
        return Err(Invalid::new(
            "q",
            what,
            "give a prime, such as 5, 7, 11, 13, 17 or 19",
        ));
    }
    let [even, odd] = generators(q);
    let router = |half: u32, a: u32, b: u32| -> RouterId { (half * q + a) * q + b };
    let mut cables = Vec::new();
    let mut join = |one: RouterId, other: RouterId| {
        cables.push(Cable {
            ends: [one, other],
            kind: 1,
            links: 1,
        });
    };
    for (half, differences) in [(0, &even), (1, &odd)] {
        for a in 0..q {
            for b in 0..q {
                let further = differences.iter().map(|difference| (b + difference) % q);
                further
                    .filter(|&other| other > b)
                    .for_each(|other| join(router(half, a, b), router(half, a, other)));
            }
        }
    }
    for (x, m, c) in (0..q).flat_map(|x| (0..q * q).map(move |rest| (x, rest / q, rest % q))) {
        join(router(0, x, (m * x + c) % q), router(1, m, c));
    }
    let degree = q + even.len() as u32;
    let endpoints = params.endpoints_per_router.unwrap_or(degree.div_ceil(2));
    if endpoints == 0 || endpoints > 10_000 {
        let what = format!("is {endpoints}");
        return Err(Invalid::new(
            "endpoints_per_router",
            what,
            "give from 1 to 10000",
        ));
    }
    let count = u128::from(2 * q * q);
    let ports = count * u128::from(endpoints + degree);
    check_size(
        "endpoints_per_router",
        count * u128::from(endpoints),
        ports,
        ports,
    )?;
    let homes = 0..2 * q * q * endpoints;
    Graph::laid_out(GraphLayout {
        about: format!("slimfly: q = {q}, {degree} links of a router"),
        kinds: vec![
            (
                TERMINAL.into(),
                params.terminal.check(LinkKind::TERMINAL, TERMINAL)?,
            ),
            ("link".into(), params.link.check(LinkKind(1), "link")?),
        ],
        routers: 2 * q * q,
        homes: homes.map(|endpoint| endpoint / endpoints).collect(),
        cables,
        groups: None,
    })
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let graph = slim_fly(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(graph))
}

/// Registry entry of the Slim Fly.
pub const ENTRY: Entry<Build> = Entry {
    name: "slimfly",
    summary: "Slim Fly: 2 q² routers for a prime q, at most two links apart.",
    source: "Besta and Hoefler, SC 2014; McKay, Miller, Širáň, J. Combin. Theory B 74, 1998",
    examples: &[
        concat!(
            r#"q = 3, "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"link = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
        concat!(
            r#"q = 5, endpoints_per_router = 1, "#,
            r#"terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, "#,
            r#"link = { bandwidth = "100 Gbps", latency = "50 ns" }"#
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};
