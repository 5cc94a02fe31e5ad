//! A number with or without a unit, as claims, criteria and figures have it.

use schemars::JsonSchema;
use serde::Deserialize;

use weir_input::{ConfigError, Duration, Given};

/// A bound: a number, or a text with a unit (`"50 ns"`).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a bound; write a number, or a text with a unit such as \"50 ns\""
)]
pub enum BoundFile {
    /// Without a unit.
    Number(f64),
    /// With a unit.
    Quantity(String),
}

impl BoundFile {
    /// The number, which is of this unit; empty: it has none. `at` is its place.
    ///
    /// # Errors
    /// If it is of another unit, or not finite.
    pub(crate) fn number(&self, at: &Given, unit: &str) -> Result<f64, ConfigError> {
        let example = match unit {
            "" => "a number without quotes".to_string(),
            "ns" => "a time, as in \"50 ns\"".to_string(),
            unit => format!("a number with its unit, as in \"100 {unit}\""),
        };
        let (number, own) = match self {
            BoundFile::Number(number) => (*number, String::new()),
            BoundFile::Quantity(text) => quantity(text).ok_or_else(|| {
                at.wrong(format!("{text:?} is no number"), format!("write {example}"))
            })?,
        };
        if own != unit || !number.is_finite() {
            let message = format!("{} has not the unit of what is measured", at.shown());
            return Err(at.wrong(message, format!("write {example}")));
        }
        Ok(number)
    }
}

/// A number with its unit: times in ns, all else as it is written. The unit of a plain number is
/// empty.
pub fn quantity(text: &str) -> Option<(f64, String)> {
    if let Ok(time) = text.parse::<Duration>() {
        return Some((time.0 as f64 / 1e3, "ns".to_string()));
    }
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+')))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.replace('_', "").parse().ok()?;
    number
        .is_finite()
        .then(|| (number, unit.trim().to_string()))
}
