//! How variants (topologies, routings, schemes, patterns) announce themselves.
//!
//! A variant is one file that ends in `pub const ENTRY: Entry<…>`, and one line in its folder's `REGISTRY`. The
//! parameter struct in that file is the single source of the experiment file's keys, their defaults, the JSON Schema
//! and what `weir list` prints: doc comments on the struct's fields are the documentation.

use schemars::Schema;

/// One variant of a registry. `F` is the function that builds it from its section of the experiment file.
pub struct Entry<F: 'static> {
    /// The name in the experiment file.
    pub name: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// Where it comes from: a paper with its section, or a model.
    pub source: &'static str,
    /// JSON Schema of its parameters (from the parameter struct by `schemars::schema_for!`).
    pub parameters: fn() -> Schema,
    /// Builds it.
    pub build: F,
}

/// The entry called `name`.
pub fn find<F>(registry: &'static [Entry<F>], name: &str) -> Option<&'static Entry<F>> {
    registry.iter().find(|entry| entry.name == name)
}
