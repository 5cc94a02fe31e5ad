//! `weir schema`: the JSON Schema of the experiment file, for editors.

use schemars::schema_for;
use serde_json::{Map, Value as Json, json};

use weir_input::registry::{Family, Variant, preset};
use weir_simulation::config::{Catalog, PRESET, fixed_sections};
use weir_workload::tasks::Mpi;

/// JSON Schema (draft 2020-12) of a whole experiment file. Every variant of every registry is in
/// it.
pub fn schema(catalog: &Catalog) -> Json {
    let (mut sections, mut definitions) = fixed_sections();
    let mut take = |name: &str| sections.remove(name).unwrap_or_default();
    let (router, nic, nodes, failure, run, output, cost, fork, workload, job) = (
        take("router"),
        take("nic"),
        take("nodes"),
        take("failure"),
        take("run"),
        take("output"),
        take("cost"),
        take("fork"),
        take("workload"),
        take("job"),
    );
    let mut topologies = variants(&catalog.topologies, &mut definitions);
    topologies.push(file("A ready network", catalog.ready));
    let routings = variants(&catalog.routings, &mut definitions);
    let queueing = variants(&catalog.queueing, &mut definitions);
    let schemes = variants(&catalog.schemes, &mut definitions);
    let patterns = variants(&catalog.patterns, &mut definitions);
    if let Some(workload) = definitions.get_mut("TrafficSection") {
        let documentation = workload["properties"]["pattern"]["description"].take();
        workload["properties"]["pattern"] =
            json!({ "description": documentation, "oneOf": patterns });
    }
    jobs(catalog, &mut definitions);
    let ready = file("A ready application", catalog.ready_workloads);
    let (study, definitions_of_study) = weir_study::schemas();
    definitions.extend(definitions_of_study);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "weir experiment",
        "type": "object",
        "properties": {
            PRESET: presets(catalog),
            "topology": { "description": "The network.", "oneOf": topologies },
            // Two topologies may each have a routing of the same name.
            "routing": { "description": "Which way packets take.", "anyOf": routings },
            "queueing": {
                "description": "Which queue of the next input buffer a packet joins; virtual \
                                output queues at the switch by default.",
                "oneOf": queueing,
            },
            "router": router,
            "nic": nic,
            "nodes": nodes,
            "congestion": { "description": "Congestion control; none by \
                                            default.", "oneOf": schemes },
            "failure": { "type": "array", "items": failure },
            "workload": { "type": "array", "minItems": 1, "items": { "anyOf": [workload, job, ready] } },
            "run": run,
            "output": output,
            "cost": cost,
            "fork": fork,
        },
        "allOf": routings_of_topologies(catalog),
        "required": ["topology", "workload", "run"],
        // A preset may have a routing.
        "anyOf": [{ "required": ["routing"] }, { "required": [PRESET] }],
        "additionalProperties": false,
        "$defs": definitions,
    });
    // A job file is an experiment with more keys.
    if let Json::Object(properties) = &mut schema["properties"] {
        properties.extend(study);
    }
    schema
}

/// One preset or several.
fn presets(catalog: &Catalog) -> Json {
    let names: Vec<&str> = catalog.presets.iter().map(|(name, _)| *name).collect();
    let one = named(&names);
    json!({
        "description": "Values that lie under the keys of this file: the name of a preset (`weir \
                        list presets`), the path of a file beside the experiment that ends in \
                        .toml, or a list of them, of which the later ones win. What this file says \
                        itself goes before.",
        "anyOf": [one, { "type": "array", "items": one }],
    })
}

/// For each kind of topology the names of its routings. (The kind of a ready network is not known
/// here.)
fn routings_of_topologies(catalog: &Catalog) -> Vec<Json> {
    let topologies = catalog.topologies.variants.iter();
    let rule = |topology: &str| {
        let names = catalog.routings_of(topology).map(|one| one.name);
        let names: Vec<&str> = names.collect();
        json!({
            "if": { "properties": { "topology": {
                "properties": { "kind": { "const": topology } }, "required": ["kind"],
            } } },
            "then": { "properties": { "routing": { "properties": { "algorithm": { "enum": names } } } } },
        })
    };
    topologies.map(|one| rule(one.name)).collect()
}

/// Fills in the schemas of an application's `motif` and `mpi`.
fn jobs(catalog: &Catalog, definitions: &mut Map<String, Json>) {
    let mut motifs = variants(&catalog.motifs, definitions);
    let names = catalog.motifs.variants.iter().map(|variant| variant.name);
    motifs.push(json!({ "enum": names.collect::<Vec<&str>>() }));
    let traces = variants(&catalog.traces, definitions);
    let mut mpi = schema_for!(Mpi).to_value();
    if let Json::Object(own) = mpi["$defs"].take() {
        definitions.extend(own);
    }
    if let Some(mpi) = mpi.as_object_mut() {
        mpi.remove("$defs");
        mpi.remove("$schema");
    }
    if let Some(job) = definitions.get_mut("ApplicationSection") {
        let documentation = job["properties"]["motif"]["description"].take();
        job["properties"]["motif"] = json!({ "description": documentation, "anyOf": motifs });
        let documentation = job["properties"]["trace"]["description"].take();
        job["properties"]["trace"] = json!({ "description": documentation, "anyOf": traces });
        job["oneOf"] = json!([{ "required": ["motif"] }, { "required": ["trace"] }]);
        let documentation = job["properties"]["mpi"]["description"].take();
        mpi["description"] = documentation;
        job["properties"]["mpi"] = mpi;
    }
}

/// `file = "…"`: something ready or a path, and any keys to change.
fn file(what: &str, ready: &[(&str, &str)]) -> Json {
    let names: Vec<&str> = ready.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object",
        "description": format!("{what}, or a file beside the experiment; other keys replace those \
                                of the file."),
        "properties": {
            "file": named(&names),
        },
        "required": ["file"],
    })
}

/// The name of something that comes with weir, or a path.
fn named(names: &[&str]) -> Json {
    json!({ "anyOf": [{ "enum": names }, { "type": "string", "pattern": "[/\\\\]|\\.toml$" }] })
}

/// One schema per variant; the definitions they refer to are added to `definitions`.
fn variants<F: Copy>(family: &Family<F>, definitions: &mut Map<String, Json>) -> Vec<Json> {
    let family = &family.described();
    let dispatch = family.key.rsplit('.').next().unwrap_or(family.key);
    let schemas = family.variants.iter();
    schemas
        .map(|variant| one_variant(variant, family, dispatch, definitions))
        .collect()
}

fn one_variant(
    variant: &Variant,
    family: &Family,
    dispatch: &str,
    definitions: &mut Map<String, Json>,
) -> Json {
    let mut schema = (variant.parameters.schema)().to_value();
    let own = match schema["$defs"].take() {
        Json::Object(own) => own,
        _ => Map::new(),
    };
    // Two variants may have definitions of the same name: each gets its own, unless they are the
    // same.
    let mut renamed = Map::new();
    for (name, definition) in &own {
        if definitions
            .get(name)
            .is_some_and(|known| known != definition)
        {
            let topology = variant.topologies.first().map(|kind| format!("{kind}."));
            let topology = topology.unwrap_or_default();
            let new = format!("{}.{}.{topology}{name}", family.one, variant.name);
            renamed.insert(name.clone(), Json::String(format!("#/$defs/{new}")));
        }
    }
    for (name, mut definition) in own {
        refer(&mut definition, &renamed);
        let name = match renamed.get(&name).and_then(Json::as_str) {
            Some(new) => new.trim_start_matches("#/$defs/").to_string(),
            None => name,
        };
        definitions.insert(name, definition);
    }
    refer(&mut schema, &renamed);
    let mut properties = Map::new();
    properties.insert(dispatch.to_string(), json!({ "const": variant.name }));
    let presets = variant.presets();
    if !presets.is_empty() {
        let names: Vec<&str> = presets.iter().map(|one| one.name.as_str()).collect();
        let words = presets
            .iter()
            .map(|one| format!("`{}`: {} ({}).", one.name, one.summary, one.values));
        let words: Vec<String> = words.collect();
        let description = format!("Values for what is not said here. {}", words.join(" "));
        let property = json!({ "enum": names, "description": description });
        properties.insert(preset::KEY.to_string(), property);
    }
    if let Json::Object(parameters) = schema["properties"].take() {
        properties.extend(parameters);
    }
    let mut required = vec![json!(dispatch)];
    if let Json::Array(keys) = schema["required"].take() {
        required.extend(keys);
    }
    let mut schema = json!({
        "type": "object",
        "title": variant.name,
        "description": format!("{} ({})", variant.summary, variant.source),
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if !variant.topologies.is_empty() {
        // A word of our own, which validators pass over: for the manual.
        schema["x-topologies"] = json!(variant.topologies);
    }
    schema
}

/// Replaces references to renamed definitions.
fn refer(schema: &mut Json, renamed: &Map<String, Json>) {
    match schema {
        Json::Object(map) => {
            if let Some(Json::String(target)) = map.get_mut("$ref")
                && let Some(Json::String(new)) = renamed.get(target.trim_start_matches("#/$defs/"))
            {
                target.clone_from(new);
            }
            map.values_mut().for_each(|inner| refer(inner, renamed));
        }
        Json::Array(items) => items.iter_mut().for_each(|inner| refer(inner, renamed)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use std::collections::HashSet;
    use weir_input::registry::Keys;
    use weir_simulation::catalog::catalog;

    mod one {
        #[derive(Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        pub struct Wire {
            pub length: u32,
        }
    }

    #[derive(Clone, Deserialize, Serialize, JsonSchema)]
    struct Wire {
        width: f64,
    }

    #[derive(Clone, Deserialize, Serialize, JsonSchema)]
    struct First {
        wire: one::Wire,
    }

    #[derive(Clone, Deserialize, Serialize, JsonSchema)]
    struct Second {
        wire: Wire,
        spare: Option<Wire>,
    }

    fn references(schema: &Json, found: &mut HashSet<String>) {
        match schema {
            Json::Object(map) => {
                if let Some(Json::String(target)) = map.get("$ref") {
                    found.insert(target.clone());
                }
                map.values().for_each(|inner| references(inner, found));
            }
            Json::Array(items) => items.iter().for_each(|inner| references(inner, found)),
            _ => {}
        }
    }

    fn assert_whole(schema: &Json) {
        let mut found = HashSet::new();
        references(schema, &mut found);
        assert!(!found.is_empty());
        for target in found {
            let name = target.strip_prefix("#/$defs/").expect("a local reference");
            assert!(
                schema["$defs"].get(name).is_some(),
                "{target} is not defined"
            );
        }
    }

    #[test]
    fn every_registered_variant_is_in_it() {
        let schema = schema(&catalog());
        let text = schema.to_string();
        let again: Json = serde_json::from_str(&text).expect("JSON");
        assert_eq!(again, schema);
        assert_whole(&schema);
        for family in catalog().families() {
            for variant in &family.variants {
                let constant = format!("{{\"const\":{:?}}}", variant.name);
                assert!(text.contains(&constant), "{} is missing", variant.name);
            }
        }
        for key in [
            "input_buffer",
            "max_packet",
            "until",
            "occupancy",
            "injection",
        ] {
            assert!(text.contains(&format!("\"{key}\":")), "{key}");
        }
    }

    #[test]
    fn definitions_of_the_same_name_stay_apart() {
        let mut catalog = catalog();
        let topology = catalog.topologies.variants[0];
        let variant = |name, parameters| Variant {
            name,
            parameters,
            ..topology
        };
        catalog.topologies.variants = vec![
            variant("first", Keys::of::<First>()),
            variant("second", Keys::of::<Second>()),
        ];
        let minimal = catalog.routings.variants[0];
        let routing = |topologies, parameters| Variant {
            topologies,
            parameters,
            ..minimal
        };
        catalog.routings.variants = vec![
            routing(&["first"] as &[&str], Keys::of::<First>()),
            routing(&["second"], Keys::of::<Second>()),
        ];
        let schema = schema(&catalog);
        assert_whole(&schema);
        let routings = &schema["properties"]["routing"]["anyOf"];
        for (routing, topology) in [(0, "first"), (1, "second")] {
            assert_eq!(routings[routing]["x-topologies"], json!([topology]));
            let target = routings[routing]["properties"]["wire"]["$ref"].as_str();
            let target = target.unwrap().trim_start_matches("#/$defs/");
            let own = ["length", "width"][routing];
            assert!(schema["$defs"][target]["properties"].get(own).is_some());
        }
        let wires = |index: usize| {
            let variant = &schema["properties"]["topology"]["oneOf"][index];
            let target = variant["properties"]["wire"]["$ref"].as_str().unwrap();
            schema["$defs"][target.trim_start_matches("#/$defs/")]["properties"].clone()
        };
        assert!(wires(0).get("length").is_some());
        assert!(wires(1).get("width").is_some());
    }
}
