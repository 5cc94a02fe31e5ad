//! Which keys a section may have, by the schema of what it describes.

use std::rc::Rc;

use serde_json::Value as Json;

use weir_input::registry::{Family, Variant, schema_json};
use weir_input::section::DISPATCH;
use weir_input::tree::{Node, Value};
use weir_input::{ConfigError, Section, suggest};

/// The schema of a variant's parameters as JSON.
pub(super) fn schema_of(variant: &Variant) -> Rc<Json> {
    schema_json(variant.parameters)
}

/// `schema`, or what it refers to, below `root`: references followed, and the `T` of an
/// `Option<T>`.
pub(super) fn definition<'a>(schema: &'a Json, root: &'a Json) -> &'a Json {
    if let Some(name) = reference(schema) {
        return &root["$defs"][name];
    }
    match alternatives(schema).as_slice() {
        [one, null] if null["type"] == "null" => definition(one, root),
        _ => schema,
    }
}

/// The name of the definition that a schema refers to.
pub fn reference(schema: &Json) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The name of the definition of a parameter, or of what it is if it is there.
pub fn named(schema: &Json) -> Option<&str> {
    reference(schema).or_else(|| alternatives(schema).into_iter().find_map(reference))
}

/// The schemas of which one must hold.
pub fn alternatives(schema: &Json) -> Vec<&Json> {
    let list = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    list.map_or(Vec::new(), |list| list.iter().collect())
}

/// Refuses keys of a section that the variant which it chooses does not know.
pub(super) fn variant(section: &Section, family: &Family) -> Result<(), ConfigError> {
    parameters(section, family, family.choose(section)?)
}

/// No key that the variant does not know.
pub(super) fn parameters(
    section: &Section,
    family: &Family,
    variant: &Variant,
) -> Result<(), ConfigError> {
    let schema = schema_of(variant);
    let dispatch = family.key.rsplit('.').next();
    let see = format!(" (see `weir list {} {}`)", family.name, variant.name);
    known_keys(section, &section.node, &schema, &schema, "", dispatch, &see)
}

/// Refuses keys that a schema without additional properties does not name.
pub(super) fn known_keys(
    section: &Section,
    node: &Node,
    schema: &Json,
    root: &Json,
    path: &str,
    dispatch: Option<&str>,
    see: &str,
) -> Result<(), ConfigError> {
    let schema = definition(schema, root);
    let none = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let closed = schema["additionalProperties"] == Json::Bool(false);
    for member in node.members() {
        if Some(member.key.as_str()) == dispatch {
            continue;
        }
        match properties.get(&member.key) {
            Some(inner) => {
                let path = [path, &member.key].join(if path.is_empty() { "" } else { "." });
                known_keys(section, &member.value, inner, root, &path, None, see)?;
            }
            None if closed => {
                let valid: Vec<&str> = dispatch
                    .into_iter()
                    .chain(properties.keys().map(String::as_str))
                    .collect();
                let elsewhere = DISPATCH.iter().any(|(key, _)| *key == member.key);
                let inside = properties.iter().find(|(_, inner)| {
                    definition(inner, root)["properties"][&member.key].is_object()
                });
                let remedy = match (dispatch, inside) {
                    // What chooses the variant in another section.
                    (Some(own), _) if elsewhere => format!("did you mean `{own}`?"),
                    (_, Some((table, _))) => {
                        format!("did you mean `{table}.{}`?", member.key)
                    }
                    _ => suggest(&member.key, "keys", &valid, '`'),
                };
                return Err(ConfigError::at(
                    &member.origin,
                    section.about(path, &format!("unknown key `{}`", member.key)),
                    remedy + see,
                ));
            }
            None => {}
        }
    }
    Ok(())
}

/// The text of a node; None if it is something else.
pub(super) fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
