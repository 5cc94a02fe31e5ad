//! JSON Schemas of the sections that every experiment has.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json};

use super::application::ApplicationSection;
use super::experiment::{CostConfig, NicConfig, OutputConfig, RouterConfig, RunConfig};
use super::nodes::NodesConfig;
use super::workload::TrafficSection;
use crate::config::sets::fork::ForkSection;
use weir_network::failures::FailureConfig;

/// The schemas of `[router]`, `[nic]`, `[nodes]`, `[run]`, `[output]`, `[cost]`, `[fork]`, one
/// `[[failure]]` and one `[[workload]]` by name (`workload` of a pattern, `job` of an application),
/// and their `$defs`. The pattern of a workload is any table; so are motif and mpi of a job.
pub fn fixed_sections() -> (Map<String, Json>, Map<String, Json>) {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut sections = Map::new();
    let mut add = |name: &str, schema: schemars::Schema| {
        sections.insert(name.to_string(), schema.to_value());
    };
    add("router", generator.subschema_for::<RouterConfig>());
    add("nic", generator.subschema_for::<NicConfig>());
    add("nodes", generator.subschema_for::<NodesConfig>());
    add("run", generator.subschema_for::<RunConfig>());
    add("output", generator.subschema_for::<OutputConfig>());
    add("cost", generator.subschema_for::<CostConfig>());
    add("fork", generator.subschema_for::<ForkSection>());
    add("failure", generator.subschema_for::<FailureConfig>());
    add("workload", generator.subschema_for::<TrafficSection>());
    add("job", generator.subschema_for::<ApplicationSection>());
    let mut definitions = generator.take_definitions(true);
    if let Some(router) = definitions.get_mut("RouterConfig") {
        router["additionalProperties"] = of_one_kind(router);
    }
    (sections, definitions)
}

/// Permitted content of a table in `[router]`, by the schema of `[router]`: all but the keys
/// that are for all kinds.
fn of_one_kind(router: &Json) -> Json {
    let mut own = router.clone();
    own["description"] = "What is different for routers of this kind.".into();
    if let Some(properties) = own["properties"].as_object_mut() {
        for (key, _) in RouterConfig::FOR_ALL {
            properties.remove(key);
        }
        // Keys that are left out are as in [router], whatever the default there.
        for property in properties.values_mut().filter_map(Json::as_object_mut) {
            property.remove("default");
        }
    }
    own
}
