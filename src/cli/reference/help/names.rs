//! Names that shells complete and that are looked up later, with better errors.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::cli::reference::list::SECTIONS;
use weir_simulation::catalog::catalog;

/// Any text; completions know these.
#[derive(Clone, Copy)]
pub struct Names {
    /// True if families are among them.
    pub families: bool,
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let catalog = catalog();
        let families = catalog.families();
        let mut names: Vec<&'static str> = Vec::new();
        if self.families {
            names.extend(families.iter().map(|family| family.name));
            names.extend(["presets", "metrics"]);
            names.extend(SECTIONS.iter().map(|[name, ..]| *name));
        }
        let variants = families.iter().flat_map(|family| &family.variants);
        names.extend(variants.map(|variant| variant.name));
        let ready = [catalog.ready, catalog.ready_workloads, catalog.presets];
        names.extend(ready.into_iter().flatten().map(|(name, _)| *name));
        names.sort_unstable();
        names.dedup();
        Some(Box::new(names.into_iter().map(PossibleValue::new)))
    }
}
