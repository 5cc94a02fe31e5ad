//! `[[workload]]`: who sends how much, when, and in which pattern.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::application::ApplicationConfig;
use super::{Duration, Section, Size};

/// One `[[workload]]`.
#[derive(Clone, Debug)]
pub struct WorkloadConfig {
    /// Its name in results; `workload0`, `workload1`, … by default. Unique.
    pub name: String,
    /// Who takes part.
    pub endpoints: Endpoints,
    /// Whether these endpoints may also belong to other workloads.
    pub shared: bool,
    /// Whether it runs; if not it only keeps its endpoints.
    pub enabled: bool,
    /// When it begins to send.
    pub start: Duration,
    /// What makes it send.
    pub drive: DriveConfig,
    /// The whole section, for errors about its keys.
    pub section: Section,
}

/// What makes a workload send.
#[derive(Clone, Debug)]
pub enum DriveConfig {
    /// Open-loop traffic of one pattern.
    Pattern(PatternConfig),
    /// An application.
    Motif(ApplicationConfig),
}

/// Open-loop traffic of one pattern.
#[derive(Clone, Debug)]
pub struct PatternConfig {
    /// When it stops; None: at the end of the run.
    pub stop: Option<Duration>,
    /// Payload that each sender generates, as a fraction of its link; more than 0, above 1 is allowed.
    pub load: f64,
    /// Sizes of messages; the shares of a mix sum up to 1.
    pub message: Message,
    /// When messages are generated.
    pub injection: Injection,
    /// The section of the pattern: `pattern = { kind = "uniform", … }`.
    pub pattern: Section,
}

impl WorkloadConfig {
    /// The pattern, if it is open-loop traffic.
    pub fn pattern(&self) -> Option<&PatternConfig> {
        match &self.drive {
            DriveConfig::Pattern(pattern) => Some(pattern),
            DriveConfig::Motif(_) => None,
        }
    }

    /// The application, if it is one.
    pub fn job(&self) -> Option<&ApplicationConfig> {
        match &self.drive {
            DriveConfig::Pattern(_) => None,
            DriveConfig::Motif(job) => Some(job),
        }
    }
}

/// `[[workload]]` of a pattern as it is written.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrafficSection {
    /// Its name in results: letters, digits, `_` and `-`. `workload0`, `workload1`, … by default.
    #[serde(default)]
    pub name: Option<String>,
    /// Who takes part: "all", "rest" (those that no other workload names), "16..32" (16 to 31), a list in task
    /// order, { file = "hosts.txt" } (such a list, as text), or { count, placement, seed }.
    #[serde(default = "all")]
    pub endpoints: Endpoints,
    /// Whether these endpoints may also belong to other workloads.
    #[serde(default)]
    pub shared: bool,
    /// Whether it runs. One that does not keeps its endpoints, so that the others are where they were: a baseline. It is not
    /// in the results.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// How many of it there are, each on endpoints of its own: `name-0`, `name-1`, … Only one, called `name`, by default.
    #[serde(default, skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `copies` a known key; it is read with the list"
    )]
    pub copies: Option<u32>,
    /// When it begins to send.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// When it stops; at the end of the run by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Payload that each sender generates, as a fraction of its link; more than 0, above 1 is allowed.
    pub load: f64,
    /// Size of the messages, or a list of { size, share }: shares of the volume.
    pub message: Message,
    /// When messages are generated.
    #[serde(default = "bernoulli")]
    pub injection: Injection,
    /// Which endpoint sends to which: { kind = "…", … }.
    #[serde(skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `pattern` a known key; it is read as a section"
    )]
    pub pattern: Elsewhere,
}

fn all() -> Endpoints {
    Endpoints::All
}

pub(super) fn at_once() -> Duration {
    Duration(0)
}

pub(super) fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
pub(super) fn is_yes(value: &bool) -> bool {
    *value
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
pub(super) fn is_no(value: &bool) -> bool {
    !*value
}

fn bernoulli() -> Injection {
    Injection::Bernoulli
}

/// A value that another type reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Elsewhere;

impl<'de> Deserialize<'de> for Elsewhere {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        de::IgnoredAny::deserialize(deserializer).map(|_| Elsewhere)
    }
}

impl JsonSchema for Elsewhere {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// Which endpoints take part in a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Endpoints {
    /// `"all"`.
    All,
    /// `"rest"`: those that no other workload names.
    Rest,
    /// `"16..32"`: from the first to the one before the last.
    Range(u32, u32),
    /// `[3, 1, 4]`: in task order.
    List(Vec<u32>),
    /// `{ count = 60, placement = "random" }`.
    Count {
        /// How many.
        count: u32,
        /// Which.
        placement: Placement,
        /// Seed of the placement, so that several workloads or runs can share it; None: the run's seed.
        seed: Option<u64>,
    },
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Count {
    /// How many endpoints.
    count: u32,
    /// Which ones.
    placement: Placement,
    /// Seed of the placement; the run's seed by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

/// How a number of endpoints is chosen among those that are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The first free ones in order.
    Linear,
    /// At random, one by one.
    Random,
    /// Groups in random order, each filled in order.
    RandomGroups,
    /// Routers in random order, each filled in order.
    RandomRouters,
}

/// Sizes of messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// `"4 flits"`.
    Fixed(Size),
    /// `[{ size = "4 flits", share = 0.5 }, { size = "512 flits", share = 0.5 }]`: shares of the volume.
    Mix(Vec<(Size, f64)>),
}

impl Message {
    /// With shares that sum up to 1. Shares that do so already, but for rounding, stay as they are: so doing it
    /// again changes nothing.
    pub(super) fn normalised(self) -> Message {
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

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// Size of these messages.
    size: Size,
    /// Their share of the volume, relative to the other shares.
    share: f64,
}

/// When an endpoint generates messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Injection {
    /// In each flit time with the same chance.
    Bernoulli,
    /// After exponentially distributed times.
    Poisson,
    /// After equal times, from a random phase.
    Periodic,
}

const WHO: &str = "\"all\", \"rest\", a range such as \"16..32\", a list such as [3, 1, 4], { file = \"hosts.txt\" }, or { count = 60, \
                   placement = \"random\" }";

struct EndpointsVisitor;

impl<'de> de::Visitor<'de> for EndpointsVisitor {
    type Value = Endpoints;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(WHO)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Endpoints, E> {
        match text {
            "all" => return Ok(Endpoints::All),
            "rest" => return Ok(Endpoints::Rest),
            _ => {}
        }
        let range = text
            .split_once("..")
            .and_then(|(start, end)| Some((start.trim().parse().ok()?, end.trim().parse().ok()?)));
        match range {
            Some((start, end)) if start < end => Ok(Endpoints::Range(start, end)),
            Some((start, end)) => Err(E::custom(format!(
                "the range {text:?} is empty: {start} is not below {end}; write the first endpoint, two dots, and \
                 the one after the last"
            ))),
            None => Err(E::custom(format!(
                "{text:?} names no endpoints; write {WHO}"
            ))),
        }
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Endpoints, A::Error> {
        let mut list: Vec<u32> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(endpoint) = items.next_element()? {
            if !seen.insert(endpoint) {
                return Err(de::Error::custom(format!(
                    "endpoint {endpoint} is listed twice; list every endpoint once"
                )));
            }
            list.push(endpoint);
        }
        match list.is_empty() {
            true => Err(de::Error::custom(format!("the list is empty; write {WHO}"))),
            false => Ok(Endpoints::List(list)),
        }
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Endpoints, A::Error> {
        let Count {
            count,
            placement,
            seed,
        } = Count::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Endpoints::Count {
            count,
            placement,
            seed,
        })
    }
}

impl<'de> Deserialize<'de> for Endpoints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EndpointsVisitor)
    }
}

impl Serialize for Endpoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Endpoints::All => serializer.serialize_str("all"),
            Endpoints::Rest => serializer.serialize_str("rest"),
            Endpoints::Range(start, end) => serializer.collect_str(&format_args!("{start}..{end}")),
            Endpoints::List(list) => list.serialize(serializer),
            &Endpoints::Count {
                count,
                placement,
                seed,
            } => Count {
                count,
                placement,
                seed,
            }
            .serialize(serializer),
        }
    }
}

impl JsonSchema for Endpoints {
    fn schema_name() -> Cow<'static, str> {
        "Endpoints".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<u32>>();
        let count = generator.subschema_for::<Count>();
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": ["all", "rest"] },
                { "type": "string", "pattern": r"^\d+\.\.\d+$" },
                list,
                {
                    "type": "object",
                    "properties": { "file": { "type": "string" } },
                    "required": ["file"],
                    "additionalProperties": false,
                },
                count,
            ]
        })
    }
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
