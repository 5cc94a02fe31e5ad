//! The mesh: a torus ([`super::torus`]) without the links that close its rings.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::GridParams;
use super::torus::{Layout, Torus};
use super::{Build, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Parameters of the mesh. A group is a slab: the routers with the same coordinate in the longest
/// dimension. A domain is a block: there are as many blocks as slabs, or more in a large network.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Params(pub GridParams);

/// Builds the mesh, or names the invalid parameter and the remedy.
pub fn mesh(params: &Params) -> Result<Torus, Invalid> {
    Torus::of("mesh", |_| false, Layout::Equal, &params.0)
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let mesh = mesh(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(mesh))
}

/// Registry entry of the mesh.
pub const ENTRY: Entry<Build> = Entry {
    name: "mesh",
    summary: "Routers in any number of dimensions, each linked with its neighbours: a torus with \
              open ends.",
    source: "Dally and Towles, \"Principles and Practices of Interconnection Networks\", chapter 5",
    examples: &[
        r#"sizes = [4, 3], endpoints_per_router = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
        r#"sizes = [2, 3, 3], links_between_routers = [1, 2, 1], terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
