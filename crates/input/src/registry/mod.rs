//! How variants (topologies, routings, queueing schemes, schemes, patterns) announce themselves.
//!
//! A variant is one file that ends in `pub const ENTRY: Entry<…>`, and one line in its folder's `REGISTRY`. The
//! parameter struct in that file is the single source of the experiment file's keys, their defaults, the JSON Schema
//! and what `weir list` prints: doc comments on the struct's fields are the documentation. Extensions of the schema say what else
//! there is to know of them: named settings ([`preset`]), and how far a number may be moved ([`range`]).

pub mod preset;
pub mod range;

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use schemars::Schema;
use serde_json::Value as Json;

use crate::{ConfigError, Section};

/// One variant of a registry. `F` is the function that builds it from its section of the experiment file.
pub struct Entry<F: 'static> {
    /// The name in the experiment file.
    pub name: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// Where it comes from: a paper with its section, or a model.
    pub source: &'static str,
    /// Parameters under which it does its thing on a small network, as in the inline table `{ … }` of an experiment file, at
    /// least one of them (`""`: the defaults). Tests run them all.
    pub examples: &'static [&'static str],
    /// JSON Schema of its parameters (from the parameter struct by `schemars::schema_for!`).
    pub parameters: fn() -> Schema,
    /// Builds it.
    pub build: F,
}

impl<F> Entry<F> {
    /// The entry without the function that builds it.
    pub fn variant(&self) -> Variant {
        Variant {
            name: self.name,
            summary: self.summary,
            source: self.source,
            examples: self.examples,
            topologies: &[],
            parameters: self.parameters,
        }
    }
}

/// What the documentation and the experiment file need to know of an [`Entry`], whatever it builds.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name in the experiment file.
    pub name: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Parameters under which it does its thing on a small network.
    pub examples: &'static [&'static str],
    /// Of a routing: the kinds of topology that it is made for. Empty: nothing to do with that.
    pub topologies: &'static [&'static str],
    /// JSON Schema of its parameters.
    pub parameters: fn() -> Schema,
}

impl Variant {
    /// Whether it is made for a kind of topology.
    pub fn is_for(&self, topology: &str) -> bool {
        self.topologies.is_empty() || self.topologies.contains(&topology)
    }
}

/// A JSON Schema as JSON. It is made once for each thread: a study has an experiment for each of its points.
pub fn schema_json(parameters: fn() -> Schema) -> Rc<Json> {
    type Known = FxHashMap<fn() -> Schema, Rc<Json>>;
    thread_local! {
        static KNOWN: RefCell<Known> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        let make = || Rc::new(parameters().to_value());
        Rc::clone(known.entry(parameters).or_insert_with(make))
    })
}

/// All variants of one kind of thing.
#[derive(Clone, Debug)]
pub struct Family {
    /// What `weir list` calls them: `topologies`.
    pub name: &'static str,
    /// One of them: `topology`.
    pub one: &'static str,
    /// The section that chooses one, as it is written: `[topology]`.
    pub section: &'static str,
    /// The key in that section that chooses one: `kind`.
    pub key: &'static str,
    /// The variants, in the order of their registry.
    pub variants: Vec<Variant>,
}

impl Family {
    /// The variant that `section` chooses, or the error that there is none of that name.
    pub fn choose(&self, section: &Section) -> Result<&Variant, ConfigError> {
        let name = section.kind()?;
        self.variants
            .iter()
            .find(|variant| variant.name == name)
            .ok_or_else(|| section.unknown_kind(self.variants.iter().map(|variant| variant.name)))
    }
}

/// The entry called `name`.
pub fn find<F>(registry: &'static [Entry<F>], name: &str) -> Option<&'static Entry<F>> {
    registry.iter().find(|entry| entry.name == name)
}

/// The entry that `section` chooses by its `kind`, `algorithm` or `scheme`.
///
/// # Errors
/// If that key is missing, or names no entry; the error points at its line and names the nearest.
pub fn choose<F>(
    section: &Section,
    registry: &'static [Entry<F>],
) -> Result<&'static Entry<F>, ConfigError> {
    find(registry, section.kind()?)
        .ok_or_else(|| section.unknown_kind(registry.iter().map(|entry| entry.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::schema_for;

    const RINGS: &[Entry<fn() -> u8>] = &[Entry {
        name: "ring",
        summary: "A ring.",
        source: "Folklore.",
        examples: &[""],
        parameters: || schema_for!(()),
        build: || 7,
    }];

    #[test]
    fn a_section_chooses_its_entry_or_hears_of_the_nearest() {
        let section = Section::from_toml("kind = \"ring\"").unwrap();
        assert_eq!((choose(&section, RINGS).unwrap().build)(), 7);
        let section = Section::from_toml("\nkind = \"rnig\"").unwrap();
        let error = choose(&section, RINGS).err().unwrap();
        assert_eq!(error.line(), Some(2));
        assert_eq!(
            error.remedy(),
            Some("did you mean \"ring\"? valid kinds: \"ring\"")
        );
    }
}
