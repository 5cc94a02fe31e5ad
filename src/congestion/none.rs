use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::Build;
use crate::registry::Entry;

/// No congestion control: the baseline. Credits between neighbours are all that holds a source back.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct None {}

pub const ENTRY: Entry<Build> = Entry {
    name: "none",
    summary: "No congestion control: link-level credits alone hold sources back.",
    source: "the baseline of all papers (000 section 4)",
    parameters: || schema_for!(None),
    build: |section| section.parse::<None>().map(|_| ()),
};
