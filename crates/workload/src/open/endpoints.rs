//! Endpoints named by a workload, and the choice among the free ones.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use weir_network::hostlist::expand;

/// Endpoints that take part in a workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Endpoints {
    /// `"all"`.
    All,
    /// `"rest"`: the endpoints that no other workload names.
    Rest,
    /// `"16..32"`: from the first to the one before the last.
    Range(u32, u32),
    /// `[3, 1, 4]`: in task order.
    List(Vec<u32>),
    /// `"nid[0003-0010,0020]"`: the endpoints of these nodes, in this order, as Slurm writes
    /// them.
    Nodes(String),
    /// `{ count = 60, placement = "random" }`.
    Count {
        /// Number of endpoints.
        count: u32,
        /// Choice among the free endpoints.
        placement: Placement,
        /// Seed of the placement, so that several workloads or runs can share it; None: the run's
        /// seed.
        seed: Option<u64>,
    },
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Count {
    /// Number of endpoints.
    count: u32,
    /// Choice among the free endpoints.
    placement: Placement,
    /// Seed of the placement; the run's seed by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

/// Choice of a number of endpoints among the free ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The first free ones in order: contiguous.
    Linear,
    /// At random, one by one.
    Random,
    /// Groups in random order, each filled in order.
    RandomGroups,
    /// Routers in random order, each filled in order.
    RandomRouters,
    /// Nodes (`[nodes]`) in order, the endpoints of each by rail.
    Nodes,
    /// Nodes in random order.
    RandomNodes,
}

const WHO: &str = "\"all\", \"rest\", a range such as \"16..32\", a list such as [3, 1, 4], \
                   names of nodes such as \"nid[01-16]\", { file = \"hosts.txt\" }, or \
                   { count = 60, placement = \"random\" }";

/// True for a list of names of nodes: with a number or several names, for a word alone is more
/// likely a slip of the pen.
fn names_nodes(text: &str) -> bool {
    let several = text.contains(|c: char| c.is_ascii_digit() || c == ',');
    several && !text.contains("..") && expand(text).is_some()
}

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
                "the range {text:?} is empty: {start} is not below {end}; write the first \
                 endpoint, two dots, and the one after the last"
            ))),
            None if names_nodes(text) => Ok(Endpoints::Nodes(text.to_string())),
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
            Endpoints::Nodes(names) => serializer.serialize_str(names),
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
                { "type": "string", "pattern": r"[0-9,]" },
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
