//! Values that are either a word or a quantity: `"auto"` or `"128 KiB"`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Duration, Size};

/// Size of an input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The credit round trip of the link plus two longest packets.
    Auto,
    /// As given.
    Size(Size),
}

/// Output queue per virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputQueue {
    /// No output queue: a packet stays in its input buffer until the link takes it.
    None,
    /// As given.
    Size(Size),
    /// Without bound.
    Unlimited,
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At this simulated time.
    Time(Duration),
    /// `"completion"`: when all workloads have stopped and everything has arrived.
    Completion,
}

/// Crossbar speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speedup {
    /// This multiple of the link's bandwidth.
    Times(f64),
    /// Any number of packets leave an input at once, and take no time to cross.
    Infinite,
}

/// A type whose texts are a few words, or else a quantity of type `Quantity`.
trait Worded: Copy + PartialEq + 'static {
    type Quantity: FromStr<Err = String> + fmt::Display + Copy + JsonSchema;
    const NAME: &'static str;
    const WORDS: &'static [(&'static str, Self)];
    const EXAMPLE: &'static str;
    fn quantity(quantity: Self::Quantity) -> Self;
    fn as_quantity(self) -> Option<Self::Quantity>;

    /// `"none", "unlimited" or a quantity such as "16 packets"`.
    fn allowed() -> String {
        let words: Vec<String> = Self::WORDS.iter().map(|(w, _)| format!("{w:?}")).collect();
        format!(
            "{} or a quantity such as {:?}",
            words.join(", "),
            Self::EXAMPLE
        )
    }
}

struct WordOr<T>(PhantomData<T>);

impl<T: Worded> de::Visitor<'_> for WordOr<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&T::allowed())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        if let Some((_, value)) = T::WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(*value);
        }
        let is_word = !text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        text.parse().map(T::quantity).map_err(|e: String| {
            if is_word {
                let names: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
                let near = crate::nearest(text, names);
                let near = near.map_or(String::new(), |word| format!("did you mean {word:?}? "));
                E::custom(format!(
                    "{text:?} is not known here; {near}write {}",
                    T::allowed()
                ))
            } else {
                E::custom(e)
            }
        })
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom(format!(
            "{number} has no unit; write {}",
            T::allowed()
        )))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Err(E::custom(format!(
            "{number} has no unit; write {}",
            T::allowed()
        )))
    }
}

fn write<T: Worded, S: Serializer>(value: T, serializer: S) -> Result<S::Ok, S::Error> {
    match value.as_quantity() {
        Some(quantity) => serializer.collect_str(&quantity),
        None => {
            let word = T::WORDS.iter().find(|(_, v)| *v == value);
            serializer.serialize_str(word.map_or("", |(word, _)| word))
        }
    }
}

fn schema<T: Worded>(generator: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
    let quantity = generator.subschema_for::<T::Quantity>();
    json_schema!({ "anyOf": [{ "type": "string", "enum": words }, quantity] })
}

macro_rules! worded {
    ($type:ident, $quantity:ident, $variant:ident, [$($word:literal => $value:ident),+], $example:literal) => {
        impl Worded for $type {
            type Quantity = $quantity;
            const NAME: &'static str = stringify!($type);
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $type::$value)),+];
            const EXAMPLE: &'static str = $example;
            fn quantity(quantity: $quantity) -> Self {
                $type::$variant(quantity)
            }
            fn as_quantity(self) -> Option<$quantity> {
                match self {
                    $type::$variant(quantity) => Some(quantity),
                    _ => None,
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(WordOr(PhantomData))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write(*self, serializer)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                <$type as Worded>::NAME.into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                schema::<$type>(generator)
            }
        }
    };
}

worded!(Buffer, Size, Size, ["auto" => Auto], "128 KiB");
worded!(OutputQueue, Size, Size, ["none" => None, "unlimited" => Unlimited], "16 packets");
worded!(Until, Duration, Time, ["completion" => Completion], "500 us");

const SPEEDUPS: &str = "a number of at least 1, or \"infinite\"";

struct SpeedupVisitor;

impl de::Visitor<'_> for SpeedupVisitor {
    type Value = Speedup;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(SPEEDUPS)
    }

    fn visit_f64<E: de::Error>(self, times: f64) -> Result<Speedup, E> {
        if times >= 1.0 && times.is_finite() {
            Ok(Speedup::Times(times))
        } else if times < 1.0 {
            Err(E::custom(format!(
                "{times} would make the crossbar slower than the link; write {SPEEDUPS}"
            )))
        } else {
            Err(E::custom(format!(
                "{times} is not a number; write {SPEEDUPS}"
            )))
        }
    }

    fn visit_i64<E: de::Error>(self, times: i64) -> Result<Speedup, E> {
        self.visit_f64(times as f64)
    }

    fn visit_u64<E: de::Error>(self, times: u64) -> Result<Speedup, E> {
        self.visit_f64(times as f64)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Speedup, E> {
        match word {
            "infinite" => Ok(Speedup::Infinite),
            _ => Err(E::custom(format!(
                "{word:?} is not a speedup; write {SPEEDUPS}"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Speedup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpeedupVisitor)
    }
}

impl Serialize for Speedup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Speedup::Times(times) => serializer.serialize_f64(*times),
            Speedup::Infinite => serializer.serialize_str("infinite"),
        }
    }
}

impl JsonSchema for Speedup {
    fn schema_name() -> Cow<'static, str> {
        "Speedup".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "minimum": 1 }, { "const": "infinite" }] })
    }
}
