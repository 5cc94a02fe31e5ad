//! Keys that are known, and whose values are read with their places.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, de};

/// A value of any type that is read with its place, as a `Given`; here it makes the key a known
/// one.
#[derive(Clone, Debug)]
pub struct Elsewhere;

impl<'de> Deserialize<'de> for Elsewhere {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer).map(|IgnoredAny| Elsewhere)
    }
}

impl JsonSchema for Elsewhere {
    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
