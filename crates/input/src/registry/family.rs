//! All variants of one kind, and the one that a section chooses.

use std::ops::Deref;

use super::Variant;
use crate::{ConfigError, Section};

/// All variants of one kind of thing. Without `F`: all but the functions that build them.
#[derive(Clone, Debug)]
pub struct Family<F = ()> {
    /// Its name in `weir list`: `topologies`.
    pub name: &'static str,
    /// One of them: `topology`.
    pub one: &'static str,
    /// The section that chooses one, as it is written: `[topology]`.
    pub section: &'static str,
    /// The key in that section that chooses one: `kind`.
    pub key: &'static str,
    /// The variants, in the order of their registry.
    pub variants: Vec<Variant<F>>,
}

impl<F: Copy> Family<F> {
    /// Adds a variant of a program that uses weir as a library: an entry, or
    /// `ENTRY.for_topologies(&["torus"])` for a routing that is made for some topologies only.
    ///
    /// # Errors
    /// If there is a variant of this name (for one of these topologies).
    pub fn add(&mut self, variant: impl Into<Variant<F>>) -> Result<(), ConfigError> {
        let new = variant.into();
        let overlap = |known: &Variant<F>| {
            known.topologies.is_empty()
                || new.topologies.is_empty()
                || known.topologies.iter().any(|one| new.is_for(one))
        };
        if (self.variants.iter()).any(|known| known.name == new.name && overlap(known)) {
            return Err(ConfigError::new(
                format!("there is a {} called {:?} already", self.one, new.name),
                "give the entry another name",
            ));
        }
        self.variants.push(new);
        Ok(())
    }

    /// The variant that `section` chooses.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn choose(&self, section: &Section) -> Result<&Variant<F>, ConfigError> {
        let name = section.kind()?;
        self.variants
            .iter()
            .find(|variant| variant.name == name)
            .ok_or_else(|| section.unknown_kind(self.variants.iter().map(|variant| variant.name)))
    }

    /// The variant that `section` chooses, with its parameters parsed.
    ///
    /// # Errors
    /// If there is none of that name, or the section does not fit its parameters.
    pub fn read(&self, section: Section) -> Result<Chosen<F>, ConfigError> {
        Chosen::new(*self.choose(&section)?, section)
    }

    /// The family without the functions that build its variants.
    pub fn described(&self) -> Family {
        Family {
            name: self.name,
            one: self.one,
            section: self.section,
            key: self.key,
            variants: self.variants.iter().map(Variant::described).collect(),
        }
    }
}

/// A section whose parameters are parsed, and the variant that it chooses.
#[derive(Clone, Debug)]
pub struct Chosen<F> {
    section: Section,
    /// The variant.
    pub variant: Variant<F>,
}

impl<F> Chosen<F> {
    /// Parses the parameters of a variant.
    ///
    /// # Errors
    /// If the section does not fit them.
    pub fn new(variant: Variant<F>, section: Section) -> Result<Chosen<F>, ConfigError> {
        let section = variant.parameters.read(section)?;
        Ok(Chosen { section, variant })
    }
}

impl<F> Deref for Chosen<F> {
    type Target = Section;

    fn deref(&self) -> &Section {
        &self.section
    }
}
