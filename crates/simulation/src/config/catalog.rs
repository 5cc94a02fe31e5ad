//! Names that an experiment file may use: the families of variants, and the files that come with weir.

use std::sync::Arc;

use schemars::Schema;

use weir_input::registry::{Family, Variant};
use weir_input::{ConfigError, Section};
use weir_workload::replay::Trace;

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
