//! Weights of the queues of minimal and nonminimal paths.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// Factors of the measures of a minimal and a nonminimal path in their comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Each by the links between routers on its path.
    #[default]
    Hops,
    /// The nonminimal one by this, the minimal one by 1.
    Times(u32),
}

const WEIGHTS: &str = "a whole number, or \"hops\"";

struct WeightVisitor;

impl de::Visitor<'_> for WeightVisitor {
    type Value = Weight;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(WEIGHTS)
    }

    fn visit_i64<E: de::Error>(self, times: i64) -> Result<Weight, E> {
        let times = u32::try_from(times);
        times.map(Weight::Times).map_err(|_| {
            E::custom(format!(
                "a weight is from 0 to {}; write {WEIGHTS}",
                u32::MAX
            ))
        })
    }

    fn visit_u64<E: de::Error>(self, times: u64) -> Result<Weight, E> {
        self.visit_i64(i64::try_from(times).unwrap_or(i64::MAX))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Weight, E> {
        match word {
            "hops" => Ok(Weight::Hops),
            _ => Err(E::custom(format!(
                "{word:?} is not a weight; write {WEIGHTS}"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WeightVisitor)
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Weight::Times(times) => serializer.serialize_u32(*times),
            Weight::Hops => serializer.serialize_str("hops"),
        }
    }
}

impl JsonSchema for Weight {
    fn schema_name() -> Cow<'static, str> {
        "Weight".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                { "type": "string", "const": "hops" },
            ]
        })
    }
}
