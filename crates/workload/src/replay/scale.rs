//! Factor of recorded computation times.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use weir_model::{LATEST, Time};

/// Factor of recorded computation times: `"x 0.5"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(f64);

/// Maximum factor; more is taken for a typing error.
const MOST: f64 = 1e6;

impl Default for Scale {
    fn default() -> Scale {
        Scale(1.0)
    }
}

impl Scale {
    /// A time, scaled; None if it is too long to be simulated.
    pub fn of(self, time: u128) -> Option<Time> {
        let time = match self.0 == 1.0 {
            true => time,
            false => (time as f64 * self.0).round() as u128,
        };
        (time < u128::from(LATEST)).then_some(time as Time)
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("x {}", self.0))
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Scale;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a factor such as \"x 0.5\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Scale, E> {
                let factor = text.trim().strip_prefix('x').map(str::trim);
                match factor.and_then(|factor| factor.parse::<f64>().ok()) {
                    Some(factor) if (0.0..=MOST).contains(&factor) => Ok(Scale(factor)),
                    _ => Err(E::custom(format!(
                        "{text:?} is no factor; write \"x 0.5\", with a number from 0 to {MOST}"
                    ))),
                }
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for Scale {
    fn schema_name() -> Cow<'static, str> {
        "ComputeFactor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^x *\d" })
    }
}
