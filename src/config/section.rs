use serde::de::DeserializeOwned;

use super::ConfigError;
use crate::model::Invalid;

/// One table of the experiment file, with the place it came from.
#[derive(Clone, Debug)]
pub struct Section {
    table: toml::Table,
    hidden: Vec<String>,
}

impl Section {
    /// A section made from text, for tests and defaults.
    pub fn from_toml(text: &str) -> Result<Section, ConfigError> {
        let table = text.parse().map_err(|e: toml::de::Error| ConfigError {
            message: e.to_string(),
        })?;
        Ok(Section {
            table,
            hidden: vec!["kind".into()],
        })
    }

    /// The parameters as a typed struct (`deny_unknown_fields`; the key that chose the variant is left out).
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        let mut table = self.table.clone();
        for key in &self.hidden {
            table.remove(key);
        }
        T::deserialize(toml::Value::Table(table)).map_err(|e| ConfigError {
            message: e.to_string(),
        })
    }

    /// An error about a key of this section, pointing at its line.
    pub fn refuse(&self, invalid: Invalid) -> ConfigError {
        ConfigError {
            message: format!("{}: {} ({})", invalid.key, invalid.message, invalid.remedy),
        }
    }
}
