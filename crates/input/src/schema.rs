//! JSON Schemas of parameters: references of their parts.

use serde_json::Value as Json;

/// `schema`, or the schema that it refers to, below `root`: references followed, and the `T` of an
/// `Option<T>`.
pub(crate) fn definition<'a>(schema: &'a Json, root: &'a Json) -> &'a Json {
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

/// The name of the definition of a parameter, or of its value if the parameter is optional.
pub fn named(schema: &Json) -> Option<&str> {
    reference(schema).or_else(|| alternatives(schema).into_iter().find_map(reference))
}

/// The schemas of which one must hold.
pub fn alternatives(schema: &Json) -> Vec<&Json> {
    let list = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    list.map_or(Vec::new(), |list| list.iter().collect())
}
