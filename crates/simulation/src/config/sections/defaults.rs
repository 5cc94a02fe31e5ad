//! Default values of sections, and keys that another type reads.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use weir_input::Duration;

pub(in crate::config) fn at_once() -> Duration {
    Duration(0)
}

pub(in crate::config) fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
pub(in crate::config) fn is_yes(value: &bool) -> bool {
    *value
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
pub(in crate::config) fn is_no(value: &bool) -> bool {
    !*value
}

/// A value that another type reads.
#[derive(Clone, Debug, Default)]
pub(in crate::config) struct Elsewhere;

impl<'de> Deserialize<'de> for Elsewhere {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer).map(|_| Elsewhere)
    }
}

impl JsonSchema for Elsewhere {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}
