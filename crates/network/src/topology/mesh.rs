//! The mesh: a torus ([`super::torus`]) without the links that close its rings.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::{GridLinks, one};
use super::torus::{Layout, Shape, Torus};
use super::{Build, LinkParams, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Parameters of the mesh. A domain is a slab: the routers with the same coordinate in the longest
/// dimension.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Routers in each dimension, x first; each 2 or more. 1 to 16 dimensions.
    pub sizes: Vec<u32>,
    /// Endpoints at each router, 1 or more.
    #[serde(default = "one")]
    pub endpoints_per_router: u32,
    /// Links between two neighbours, for each dimension. Default: 1 in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_between_routers: Option<Vec<u32>>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links between routers, in every dimension without a separate table.
    pub link: LinkParams,
    /// The links of dimension x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<LinkParams>,
    /// The links of dimension y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<LinkParams>,
    /// The links of dimension z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<LinkParams>,
}

/// Builds the mesh, or names the invalid parameter and the remedy.
pub fn mesh(params: &Params) -> Result<Torus, Invalid> {
    Torus::of(&Shape {
        name: "mesh",
        wraps: false,
        sizes: &params.sizes,
        endpoints_per_router: params.endpoints_per_router,
        links_between_routers: params.links_between_routers.as_ref(),
        layout: Layout::Equal,
        links: GridLinks {
            terminal: params.terminal,
            link: params.link,
            own: [params.x, params.y, params.z],
        },
    })
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let mesh = mesh(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(mesh))
}

/// Registry entry of the mesh.
pub const ENTRY: Entry<Build> = Entry {
    name: "mesh",
    summary: "Routers in any number of dimensions, each linked with its neighbours: a torus with open ends.",
    source: "Dally and Towles, \"Principles and Practices of Interconnection Networks\", chapter 5",
    examples: &[
        r#"sizes = [4, 3], endpoints_per_router = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
        r#"sizes = [2, 3, 3], links_between_routers = [1, 2, 1], terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
