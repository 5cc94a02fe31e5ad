//! Named settings of a variant: the values of a paper or of another simulator, which `preset = "…"`
//! chooses.

use serde::{Deserialize, Serialize};

use super::{Variant, schema_json};

/// The key of a section that chooses one.
pub const KEY: &str = "preset";

/// Key under which the schema of a variant's parameters lists its presets.
pub const PRESETS: &str = "x-presets";

/// Values for some of the parameters of a variant. Keys that the user writes go before them. A
/// parameter struct declares its presets: `#[schemars(extend("x-presets" = PRESETS))]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preset<Text = &'static str> {
    /// Value of `preset` that chooses it: author and year of the paper, or another simulator.
    pub name: Text,
    /// Source and purpose of the values.
    pub summary: Text,
    /// The values as in the inline table `{ … }` of an experiment file.
    pub values: Text,
}

impl<F> Variant<F> {
    /// Its presets.
    pub fn presets(&self) -> Vec<Preset<String>> {
        let schema = schema_json(self.parameters);
        // The declared value is a list of `Preset`; a schema without it has none.
        serde_json::from_value(schema[PRESETS].clone()).unwrap_or_default()
    }
}
