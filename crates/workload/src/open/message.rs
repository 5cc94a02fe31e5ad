//! Message sizes as given in an experiment.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use weir_input::Size;

/// Sizes of messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// `"4 flits"`.
    Fixed(Size),
    /// `[{ size = "4 flits", share = 0.5 }, { size = "512 flits", share = 0.5 }]`: shares of the
    /// volume.
    Mix(Vec<(Size, f64)>),
}

impl Message {
    /// Normalises the shares to a sum of 1. Shares whose sum is 1 except for rounding stay as they
    /// are, so that repeating it changes nothing.
    pub fn normalised(self) -> Message {
        match self {
            Message::Mix(parts) => {
                let sum: f64 = parts.iter().map(|(_, share)| share).sum();
                let scale = if (sum - 1.0).abs() < 1e-12 { 1.0 } else { sum };
                Message::Mix(
                    parts
                        .into_iter()
                        .map(|(size, s)| (size, s / scale))
                        .collect(),
                )
            }
            fixed => fixed,
        }
    }
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// Size of these messages.
    size: Size,
    /// Their share of the volume, relative to the other shares.
    share: f64,
}

const SIZES: &str =
    "a size such as \"4 flits\", or a list such as [{ size = \"4 flits\", share = 0.5 }, …]";

struct MessageVisitor;

impl<'de> de::Visitor<'de> for MessageVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(SIZES)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Message, E> {
        text.parse().map(Message::Fixed).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Message, E> {
        Err(E::custom(format!("{number} has no unit; write {SIZES}")))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Message, E> {
        Err(E::custom(format!("{number} has no unit; write {SIZES}")))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Message, A::Error> {
        let mut parts = Vec::new();
        while let Some(Part { size, share }) = items.next_element()? {
            parts.push((size, share));
        }
        match parts.is_empty() {
            true => Err(de::Error::custom(format!(
                "the list is empty; write {SIZES}"
            ))),
            false => Ok(Message::Mix(parts)),
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MessageVisitor)
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Message::Fixed(size) => size.serialize(serializer),
            Message::Mix(parts) => {
                let part = |&(size, share): &(Size, f64)| Part { size, share };
                serializer.collect_seq(parts.iter().map(part))
            }
        }
    }
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        let parts = generator.subschema_for::<Vec<Part>>();
        json_schema!({ "anyOf": [size, parts] })
    }
}
