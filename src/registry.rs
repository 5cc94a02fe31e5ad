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
use std::sync::Arc;

use rustc_hash::FxHashMap;
use schemars::Schema;
use serde_json::Value as Json;

use crate::config::{ConfigError, Section};
use crate::workload::replay::Trace;

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

/// Every family, and the networks that come with weir. What the experiment file may name.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// Networks.
    pub topologies: Family,
    /// Routing algorithms.
    pub routings: Family,
    /// Queueing schemes.
    pub queueing: Family,
    /// Congestion-control schemes.
    pub schemes: Family,
    /// Traffic patterns.
    pub patterns: Family,
    /// Applications.
    pub motifs: Family,
    /// Formats of recorded applications.
    pub traces: Family,
    /// Ready networks for `topology.file`: name and TOML text.
    pub ready: &'static [(&'static str, &'static str)],
    /// Ready applications for the `file` of a workload: name and TOML text.
    pub ready_workloads: &'static [(&'static str, &'static str)],
    /// Presets: what lies under an experiment's own keys, by name and TOML text.
    pub presets: &'static [(&'static str, &'static str)],
    /// JSON Schema of an application's `mpi`.
    pub mpi: fn() -> Schema,
    /// Reads the recorded application that a section names.
    pub read_trace: fn(&Section) -> Result<Arc<Trace>, ConfigError>,
}

impl Catalog {
    /// The routings that are made for a kind of topology.
    pub fn routings_of(&self, topology: &str) -> impl Iterator<Item = &Variant> {
        let all = self.routings.variants.iter();
        all.filter(move |variant| variant.is_for(topology))
    }

    /// The routing that `section` chooses for the topology that `topology` chooses.
    ///
    /// # Errors
    /// If there is none of that name, or not for that topology; the error names those that are.
    pub fn routing(&self, section: &Section, topology: &Section) -> Result<&Variant, ConfigError> {
        let (name, kind) = (section.kind()?, topology.kind()?);
        let all = || self.routings_of(kind);
        if let Some(variant) = all().find(|variant| variant.name == name) {
            return Ok(variant);
        }
        let names = all().map(|variant| variant.name);
        let elsewhere = self.routings.variants.iter().any(|one| one.name == name);
        Err(match elsewhere {
            true => section.not_for("topology", kind, names),
            false => section.unknown_kind(names),
        })
    }

    /// The families in the order of the experiment file.
    pub fn families(&self) -> [&Family; 7] {
        [
            &self.topologies,
            &self.routings,
            &self.queueing,
            &self.schemes,
            &self.patterns,
            &self.motifs,
            &self.traces,
        ]
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
