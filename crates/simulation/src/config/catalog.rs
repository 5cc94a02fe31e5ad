//! Names that an experiment file may use: the families of variants, and the files that come with
//! weir.

use weir_input::registry::{Chosen, Family, Variant};
use weir_input::{ConfigError, Section};
use weir_network::{queueing, routing, topology};
use weir_workload::{motifs, patterns, replay};

/// Every family, and the networks that come with weir: the names that an experiment file may use.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// Networks.
    pub topologies: Family<topology::Build>,
    /// Routing algorithms.
    pub routings: Family<routing::Build>,
    /// Queueing schemes.
    pub queueing: Family<queueing::Build>,
    /// Congestion-control schemes.
    pub schemes: Family<weir_congestion::Build>,
    /// Traffic patterns.
    pub patterns: Family<patterns::Build>,
    /// Applications.
    pub motifs: Family<motifs::Build>,
    /// Formats of recorded applications.
    pub traces: Family<replay::Build>,
    /// Ready networks for `topology.file`: name and TOML text.
    pub ready: &'static [(&'static str, &'static str)],
    /// Ready applications for the `file` of a workload: name and TOML text.
    pub ready_workloads: &'static [(&'static str, &'static str)],
    /// Presets: values below an experiment's own keys, by name and TOML text.
    pub presets: &'static [(&'static str, &'static str)],
}

impl Catalog {
    /// The routings that are made for a kind of topology.
    pub fn routings_of(&self, topology: &str) -> impl Iterator<Item = &Variant<routing::Build>> {
        let all = self.routings.variants.iter();
        all.filter(move |variant| variant.is_for(topology))
    }

    /// The routing that `section` chooses for the topology that `topology` chooses, with its
    /// parameters parsed.
    ///
    /// # Errors
    /// If there is none of that name, or not for that topology; the error names the valid ones. If
    /// the section does not fit its parameters.
    pub fn routing(
        &self,
        section: Section,
        topology: &Section,
    ) -> Result<Chosen<routing::Build>, ConfigError> {
        let (name, kind) = (section.kind()?, topology.kind()?);
        let all = || self.routings_of(kind);
        if let Some(variant) = all().find(|variant| variant.name == name) {
            return Chosen::new(*variant, section);
        }
        let names = all().map(|variant| variant.name);
        let elsewhere = self.routings.variants.iter().any(|one| one.name == name);
        Err(match elsewhere {
            true => section.not_for("topology", kind, names),
            false => section.unknown_kind(names),
        })
    }

    /// The families in the order of the experiment file, without the functions that build their
    /// variants.
    pub fn families(&self) -> [Family; 7] {
        [
            self.topologies.described(),
            self.routings.described(),
            self.queueing.described(),
            self.schemes.described(),
            self.patterns.described(),
            self.motifs.described(),
            self.traces.described(),
        ]
    }
}
