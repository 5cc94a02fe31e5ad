//! `[[failure]]` as it is written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use weir_input::{Duration, Rate};

/// `[[failure]]`: links that are slower or longer than their kind, that make errors, or that are
/// down; from the start of the run or for a part of it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureConfig {
    /// The links. A kind of the topology such as "global", "fabric" (all between routers) or "all":
    /// `count` or `share` of them are drawn at random. Or a list of links, each { router, port } as
    /// in `/data/ports`, { routers = [a, b] } (all links between the two), or { endpoint }.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<FailedLinks>,
    /// Instead of `links`: routers, with all their links. A kind of the topology or "all", of which
    /// `count` or `share` are drawn at random, or a list of numbers as in `/data/routers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routers: Option<FailedRouters>,
    /// Number of links, or of routers, to draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The same as a share of all of the kind, from 0 to 1, rounded to a whole number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Seed of the draw; the run's seed by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Directions that change. "out": only what the named router (the first one of `routers`) or
    /// endpoint sends. Links that are drawn or down change in both.
    #[serde(default)]
    pub direction: Direction,
    /// Links carry nothing. Routing goes around them as far as the network allows.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schemars(extend("default" = false))]
    pub down: bool,
    /// New bandwidth, at most that of the link: "25 Gbps", or a share of the link's, such as 0.25.
    /// Default: as built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<NewBandwidth>,
    /// Time added to the latency of the link, for the whole run. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_latency: Option<Duration>,
    /// Probability that a bit is received wrong. A packet with a wrong bit is sent again by the
    /// link (link-level retry), a round trip of the link later; nothing else passes meanwhile.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_error_rate: Option<f64>,
    /// Time when it begins. Default: from the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Duration>,
    /// Time of the repair. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// Time until all routers know that links went down at `at` or came back at `until`: that in
    /// which tables of routes are made and distributed. Adaptive routing avoids a router's own dead
    /// links at once. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerouted_after: Option<Duration>,
    /// Packets on links that go down at `at`, or that are still sent there: "lost" (counted in
    /// `/data/failures`), or "drained": the links still carry what routers send by them until all
    /// know, as when an operator takes them out of service. Default: "lost".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Stranded>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Packets on links that go down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stranded {
    /// They are lost.
    Lost,
    /// They still arrive.
    Drained,
}

/// Routers that fail.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[serde(expecting = "a kind of routers such as \"all\", or a list of routers such as [3, 9]")]
pub enum FailedRouters {
    /// Routers of a kind, which are drawn.
    Kind(String),
    /// Routers by number.
    Named(Vec<u32>),
}

/// Directions of a link that change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Both directions.
    #[default]
    Both,
    /// The direction away from the named router or endpoint.
    Out,
}

/// Bandwidth of a changed link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NewBandwidth {
    /// As given.
    Rate(Rate),
    /// This share of the bandwidth that the link was built with.
    Share(f64),
}

/// Links that a failure changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FailedLinks {
    /// Links of a kind, which are drawn.
    Kind(String),
    /// Links by name.
    Named(Vec<LinkName>),
}

/// The name of a link: `router` and `port`, or `routers`, or `endpoint`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkName {
    /// A router.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<u32>,
    /// Its port that the link is at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Two routers: all links between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<[u32; 2]>,
    /// An endpoint: its link to its router.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<u32>,
}

const RATES: &str = "a bandwidth such as \"25 Gbps\", or a share of the link's such as 0.25";

struct BandwidthVisitor;

impl de::Visitor<'_> for BandwidthVisitor {
    type Value = NewBandwidth;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(RATES)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<NewBandwidth, E> {
        text.parse().map(NewBandwidth::Rate).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, share: i64) -> Result<NewBandwidth, E> {
        Ok(NewBandwidth::Share(share as f64))
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<NewBandwidth, E> {
        Ok(NewBandwidth::Share(share))
    }
}

impl<'de> Deserialize<'de> for NewBandwidth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BandwidthVisitor)
    }
}

impl JsonSchema for NewBandwidth {
    fn schema_name() -> Cow<'static, str> {
        "NewBandwidth".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Rate>();
        json_schema!({ "anyOf": [rate, { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }] })
    }
}

const LINKS: &str = "a kind of links such as \"global\", or a list of links such as \
                     [{ router = 3, port = 7 }, { routers = [3, 9] }, { endpoint = 12 }]";

struct LinksVisitor;

impl<'de> de::Visitor<'de> for LinksVisitor {
    type Value = FailedLinks;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(LINKS)
    }

    fn visit_str<E: de::Error>(self, kind: &str) -> Result<FailedLinks, E> {
        Ok(FailedLinks::Kind(kind.into()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<FailedLinks, A::Error> {
        let mut list = Vec::new();
        while let Some(name) = items.next_element()? {
            list.push(name);
        }
        match list.is_empty() {
            true => Err(de::Error::custom(format!(
                "the list is empty; write {LINKS}"
            ))),
            false => Ok(FailedLinks::Named(list)),
        }
    }
}

impl<'de> Deserialize<'de> for FailedLinks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinksVisitor)
    }
}

impl JsonSchema for FailedLinks {
    fn schema_name() -> Cow<'static, str> {
        "FailedLinks".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = generator.subschema_for::<Vec<LinkName>>();
        json_schema!({ "anyOf": [{ "type": "string" }, names] })
    }
}
