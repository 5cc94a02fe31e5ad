//! Registry of variants (topologies, routings, queueing schemes, schemes, patterns).
//!
//! A variant is one file that ends in `pub const ENTRY: Entry<…>`, and one line in its folder's
//! `REGISTRY`. The parameter struct in that file is the single source of the experiment file's
//! keys, their defaults, the JSON Schema and the output of `weir list`: doc comments on the
//! struct's fields are the documentation. Extensions of the schema hold the rest: named settings
//! ([`preset`]), and the range of a number ([`range`]).
//!
//! A [`Family`] holds all variants of a kind. It reads a section: finds the variant that the
//! section chooses, and parses its parameters, once.

pub mod family;
pub mod keys;
pub mod preset;
pub mod range;

pub use family::{Chosen, Family};
pub use keys::{Keys, schema_json};

use crate::{ConfigError, Section};

/// One variant of a registry. `F` is the function that builds it from its section of the experiment
/// file.
#[derive(Clone, Copy, Debug)]
pub struct Entry<F: 'static> {
    /// The name in the experiment file.
    pub name: &'static str,
    /// One-sentence description.
    pub summary: &'static str,
    /// Its source: a paper with its section, or a model.
    pub source: &'static str,
    /// Parameters under which it does its thing on a small network, as in the inline table `{ … }`
    /// of an experiment file, at least one of them (`""`: the defaults). Tests run them all.
    pub examples: &'static [&'static str],
    /// Its parameters: `Keys::of::<P>()` for the parameter struct `P`.
    pub parameters: Keys,
    /// Builds it. The parameters are `section.parse::<P>()`.
    pub build: F,
}

impl<F: Copy> Entry<F> {
    /// The entry as a family lists it.
    pub fn variant(&self) -> Variant<F> {
        self.for_topologies(&[])
    }

    /// The entry of a routing that is made for some kinds of topology only.
    pub fn for_topologies(&self, topologies: &'static [&'static str]) -> Variant<F> {
        Variant {
            name: self.name,
            summary: self.summary,
            source: self.source,
            examples: self.examples,
            topologies,
            parameters: self.parameters,
            build: self.build,
        }
    }
}

impl<F: Copy> From<Entry<F>> for Variant<F> {
    fn from(entry: Entry<F>) -> Variant<F> {
        entry.variant()
    }
}

/// An [`Entry`] in its [`Family`]. Without `F`: all but the function that builds it.
#[derive(Clone, Copy, Debug)]
pub struct Variant<F = ()> {
    /// The name in the experiment file.
    pub name: &'static str,
    /// One-sentence description.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Parameters under which it does its thing on a small network.
    pub examples: &'static [&'static str],
    /// For a routing: the kinds of topology that it is made for. Empty: not applicable.
    pub topologies: &'static [&'static str],
    /// Its parameters.
    pub parameters: Keys,
    /// Builds it.
    pub build: F,
}

impl<F> Variant<F> {
    /// True if it is made for a kind of topology.
    pub fn is_for(&self, topology: &str) -> bool {
        self.topologies.is_empty() || self.topologies.contains(&topology)
    }

    /// The variant without the function that builds it.
    pub fn described(&self) -> Variant {
        Variant {
            name: self.name,
            summary: self.summary,
            source: self.source,
            examples: self.examples,
            topologies: self.topologies,
            parameters: self.parameters,
            build: (),
        }
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
    use crate::Duration;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    const RINGS: &[Entry<fn() -> u8>] = &[Entry {
        name: "ring",
        summary: "A ring.",
        source: "Folklore.",
        examples: &[""],
        parameters: Keys::of::<()>(),
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

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    struct Shape {
        routers: u32,
        latency: Duration,
        chord: Option<Duration>,
    }

    impl Default for Shape {
        fn default() -> Self {
            Shape {
                routers: 8,
                latency: Duration(5_000),
                chord: None,
            }
        }
    }

    fn rings() -> Family<fn() -> u8> {
        let ring = Entry {
            parameters: Keys::of::<Shape>(),
            ..RINGS[0]
        };
        Family {
            name: "topologies",
            one: "topology",
            section: "[topology]",
            key: "kind",
            variants: vec![ring.variant()],
        }
    }

    #[test]
    fn parameters_are_parsed_once_and_written_with_their_defaults() {
        let section = Section::from_toml("latency = \"0.02 us\"\nkind = \"ring\"").unwrap();
        let chosen = rings().read(section).unwrap();
        let shape = Shape {
            latency: Duration(20_000),
            ..Shape::default()
        };
        assert_eq!(chosen.parse::<Shape>().unwrap(), shape);
        let written = crate::tree::inline(&chosen.written());
        let all = "{ kind = \"ring\", routers = 8, latency = \"20 ns\" }";
        assert_eq!(written, all);
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest() {
        let section = Section::from_toml("kind = \"ring\"\nrooters = 3").unwrap();
        let section = section.choosing_by("kind", Some("topologies"));
        let error = rings().read(section).err().unwrap();
        assert_eq!(error.line(), Some(2));
        assert_eq!(error.message, "unknown key `rooters`");
        let remedy = error.remedy().unwrap();
        assert!(remedy.starts_with("did you mean `routers`?"), "{remedy}");
        assert!(
            remedy.ends_with(" (see `weir list topologies ring`)"),
            "{remedy}"
        );
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Hub {
        spokes: u32,
        rim: Duration,
        #[serde(default)]
        axle: u32,
    }

    #[test]
    fn all_missing_keys_are_named_at_once() {
        let mut family = rings();
        family.variants[0] = Entry {
            parameters: Keys::of::<Hub>(),
            ..RINGS[0]
        }
        .variant();
        let refusal = |text: &str| {
            let section = Section::from_toml(text).unwrap();
            let section = section.choosing_by("kind", Some("topologies"));
            let error = family.read(section).err().unwrap();
            (error.message.clone(), error.remedy().unwrap().to_string())
        };
        let (message, remedy) = refusal("kind = \"ring\"");
        assert_eq!(message, "the keys `spokes` and `rim` are missing");
        assert_eq!(remedy, "add them (see `weir list topologies ring`)");
        let (message, remedy) = refusal("kind = \"ring\"\nspokes = 3");
        assert_eq!(message, "the key `rim` is missing");
        assert_eq!(remedy, "add `rim = …` (see `weir list topologies ring`)");
    }

    #[test]
    fn a_name_is_refused_where_it_exists() {
        let other = |name| Entry { name, ..RINGS[0] };
        let mut family = rings();
        let error = family.add(other("ring")).unwrap_err();
        assert_eq!(error.message, "there is a topology called \"ring\" already");
        family
            .add(other("star").for_topologies(&["a", "b"]))
            .unwrap();
        family.add(other("star").for_topologies(&["c"])).unwrap();
        assert!(
            family
                .add(other("star").for_topologies(&["b", "d"]))
                .is_err()
        );
        assert!(family.add(other("star")).is_err());
        assert_eq!(family.variants.len(), 3);
    }
}
