//! The resolved experiment: canonical TOML with every default filled in.

use serde::Serialize;
use serde_json::Value as Json;

use super::application::{ApplicationSection, ProgramConfig};
use super::defaults::Elsewhere;
use super::experiment::Experiment;
use super::keys::{alternatives, definition, reference, schema_of, text as text_of};
use super::workload::{DriveConfig, TrafficSection, WorkloadConfig};
use crate::config::Catalog;
use weir_input::registry::{Family, Variant, schema_json};
use weir_input::tree::{Member, Node, Value, inline, key};
use weir_input::{Allowance, Duration, Rate, Section, Size, TimeSpan};

/// The whole experiment as text. Sections and keys in the order of their types; loading it gives the same text again.
pub(super) fn text(experiment: &Experiment, catalog: &Catalog) -> String {
    let mut text = String::new();
    let mut add = |header: &str, node: &Node| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(header);
        text.push('\n');
        for member in node.members() {
            text.push_str(&format!(
                "{} = {}\n",
                key(&member.key),
                inline(&member.value)
            ));
        }
    };
    add(
        "[topology]",
        &variant(&experiment.topology, &catalog.topologies),
    );
    add("[routing]", &routing(experiment, catalog));
    add(
        "[queueing]",
        &variant(&experiment.queueing, &catalog.queueing),
    );
    add("[router]", &typed(&experiment.router));
    for (kind, router) in &experiment.router_kinds {
        let mut own = typed(router);
        if let Value::Table(members) = &mut own.value {
            members.retain(|member| member.key != "flit");
        }
        add(&format!("[router.{}]", key(kind)), &own);
    }
    add("[nic]", &typed(&experiment.nic));
    add(
        "[congestion]",
        &variant(&experiment.congestion, &catalog.schemes),
    );
    for config in &experiment.workloads {
        add("[[workload]]", &workload(config, catalog));
    }
    add("[run]", &typed(&experiment.run));
    add("[output]", &typed(&experiment.output));
    if let Some(cost) = &experiment.cost {
        add("[cost]", &typed(cost));
    }
    text
}

fn typed<T: Serialize>(value: &T) -> Node {
    // The structs of this room have text keys and plain values: they always have a JSON form.
    let json = serde_json::to_value(value).unwrap_or_default();
    Node::from_json(&json).unwrap_or(Node::default(Value::Table(Vec::new())))
}

fn workload(config: &WorkloadConfig, catalog: &Catalog) -> Node {
    let (mut node, more) = match &config.drive {
        DriveConfig::Pattern(one) => (
            typed(&TrafficSection {
                name: Some(config.name.clone()),
                endpoints: config.endpoints.clone(),
                shared: config.shared,
                enabled: config.enabled,
                copies: None,
                start: config.start,
                stop: one.stop,
                load: one.load,
                message: one.message.clone(),
                injection: one.injection,
                pattern: Elsewhere,
            }),
            vec![("pattern", variant(&one.pattern, &catalog.patterns))],
        ),
        DriveConfig::Motif(job) => {
            let schema = schema_json(catalog.mpi);
            let node = typed(&ApplicationSection {
                name: Some(config.name.clone()),
                endpoints: Some(config.endpoints.clone()),
                // A trace says it.
                tasks: job.tasks.filter(|_| job.program.trace().is_none()),
                placement: None,
                placement_seed: None,
                shared: config.shared,
                enabled: config.enabled,
                copies: None,
                start: config.start,
                repetitions: job.repetitions,
                background: job.background,
                mpi: Elsewhere,
                motif: Elsewhere,
                trace: Elsewhere,
            });
            let mpi = complete(&job.mpi.node, &schema, &schema);
            let program = match &job.program {
                ProgramConfig::Motif(motif) => ("motif", variant(motif, &catalog.motifs)),
                ProgramConfig::Trace(trace) => ("trace", variant(&trace.section, &catalog.traces)),
            };
            (node, vec![("mpi", mpi), program])
        }
    };
    if let Value::Table(members) = &mut node.value {
        members.extend(
            more.into_iter()
                .map(|(key, node)| Member::default(key, node)),
        );
    }
    node
}

/// `[routing]`, whose parameters are those of a routing for this topology.
fn routing(experiment: &Experiment, catalog: &Catalog) -> Node {
    let section = &experiment.routing;
    let chosen = catalog.routing(section, &experiment.topology);
    with_parameters(section, &catalog.routings, chosen.ok())
}

/// A section with the key that chooses the variant first, then all parameters in the order of their struct.
fn variant(section: &Section, family: &Family) -> Node {
    with_parameters(section, family, family.choose(section).ok())
}

fn with_parameters(section: &Section, family: &Family, variant: Option<&Variant>) -> Node {
    let dispatch = family.key.rsplit('.').next().unwrap_or(family.key);
    let (chosen, parameters): (Vec<Member>, Vec<Member>) = section
        .node
        .members()
        .iter()
        .cloned()
        .partition(|member| member.key == dispatch);
    let parameters = Node::default(Value::Table(parameters));
    let schema = variant.map(schema_of).unwrap_or_default();
    let completed = complete(&parameters, &schema, &schema);
    let mut members = chosen;
    if let Value::Table(parameters) = completed.value {
        members.extend(parameters);
    }
    Node::default(Value::Table(members))
}

/// `node` with the defaults of its schema, and quantities and numbers in their one form.
fn complete(node: &Node, schema: &Json, root: &Json) -> Node {
    if let Value::String(text) = &node.value
        && let Some(text) = quantity(text, schema, root)
    {
        return Node::default(Value::String(text));
    }
    let schema = definition(schema, root);
    let value = match &node.value {
        Value::Integer(i) if schema["type"] == "number" => Value::Float(*i as f64),
        Value::Array(items) => {
            let item = list_item(schema, root);
            Value::Array(
                items
                    .iter()
                    .map(|node| complete(node, item, root))
                    .collect(),
            )
        }
        Value::Table(members) => Value::Table(complete_table(members, schema, root)),
        other => other.clone(),
    };
    Node::default(value)
}

/// The schema of the elements of a list, also where a list is one of several possibilities.
fn list_item<'a>(schema: &'a Json, root: &'a Json) -> &'a Json {
    let lists = alternatives(schema)
        .into_iter()
        .map(|s| definition(s, root));
    let mut items = lists.chain([schema]).map(|s| &s["items"]);
    items.find(|item| !item.is_null()).unwrap_or(&Json::Null)
}

fn complete_table(members: &[Member], schema: &Json, root: &Json) -> Vec<Member> {
    let schema = table_schema(members, schema, root);
    let none = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let mut completed = Vec::new();
    for (key, property) in properties {
        let given = members.iter().find(|member| member.key == *key);
        let node = match given {
            Some(member) => Some(member.value.clone()),
            None => Node::from_json(&property["default"]),
        };
        if let Some(node) = node {
            completed.push(Member::default(key, complete(&node, property, root)));
        }
    }
    let rest = members
        .iter()
        .filter(|member| !properties.contains_key(&member.key));
    completed.extend(rest.cloned());
    completed
}

/// Of several possible tables, the one that fits the members: it has all their keys, and its constants agree.
fn table_schema<'a>(members: &[Member], schema: &'a Json, root: &'a Json) -> &'a Json {
    let fits = |candidate: &&Json| {
        candidate["properties"].is_object()
            && members.iter().all(|member| {
                let property = &candidate["properties"][&member.key];
                let constant = property["const"].as_str();
                !property.is_null() && constant.is_none_or(|c| text_of(&member.value) == Some(c))
            })
    };
    let candidates = alternatives(schema)
        .into_iter()
        .map(|s| definition(s, root));
    candidates.into_iter().find(fits).unwrap_or(schema)
}

/// The one form of a quantity such as "0.1 us", if the schema allows for one and this is one.
fn quantity(text: &str, schema: &Json, root: &Json) -> Option<String> {
    match reference(schema) {
        Some("Duration") => text.parse::<Duration>().ok().map(|d| d.to_string()),
        Some("TimeSpan") => text.parse::<TimeSpan>().ok().map(|s| s.to_string()),
        Some("Rate") => text.parse::<Rate>().ok().map(|r| r.to_string()),
        Some("Allowance") => text.parse::<Allowance>().ok().map(|s| s.to_string()),
        Some("Size") => text.parse::<Size>().ok().map(|s| s.to_string()),
        Some(name) => quantity(text, &root["$defs"][name], root),
        None => alternatives(schema)
            .into_iter()
            .find_map(|s| quantity(text, s, root)),
    }
}
