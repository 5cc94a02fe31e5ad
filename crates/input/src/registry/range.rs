//! Sensible ranges of parameters: the range that `weir tune` searches if the user gives none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Variant, schema_json};

/// The scale along which values are spread: of an axis of a figure, or of a parameter that is
/// searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScaleKind {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors.
    Log,
}

/// Key under which the schema of a parameter has its range.
pub const RANGE: &str = "x-range";

/// A range, or why there is none. A parameter struct declares it at each numeric field:
/// `#[schemars(extend("x-range" = shares(0.1, 1.0)))]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Range<Text = &'static str> {
    /// From, to, and the quantity of the numbers.
    Numbers {
        /// The least sensible value.
        from: f64,
        /// The largest.
        to: f64,
        /// Their quantity.
        of: Of,
    },
    /// It is not to be tuned: why.
    Fixed(Text),
}

/// Quantity of the numbers of a range, which decides what the parameter scales with from one
/// network to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// Shares of something; equal steps. Scales with nothing.
    Shares,
    /// Plain numbers; equal factors. Scales with nothing.
    Factors,
    /// Whole numbers; equal factors. Scales with nothing.
    Counts,
    /// Amounts of data in longest packets; equal factors. Scales with the length of packets.
    Packets,
    /// Times that a longest packet takes on an endpoint's link; equal factors. Scales with packets
    /// and bandwidth.
    PacketTimes,
    /// Times of a packet across the network and back; equal factors. Scales with the round trip.
    RoundTrips,
}

impl Of {
    /// Quantity that a parameter of such a range scales with, in words; None: nothing.
    pub fn scales_with(self) -> Option<&'static str> {
        match self {
            Of::Shares | Of::Factors | Of::Counts => None,
            Of::Packets => Some("longest packet"),
            Of::PacketTimes => Some("packet time (longest packet over bandwidth)"),
            Of::RoundTrips => Some("round trip"),
        }
    }

    /// Behind a number of it.
    pub fn unit(self) -> &'static str {
        match self {
            Of::Shares | Of::Factors | Of::Counts => "",
            Of::Packets => " packets",
            Of::PacketTimes => " packet times",
            Of::RoundTrips => " round trips",
        }
    }
}

macro_rules! ranges {
    ($($name:ident $of:ident $doc:literal)*) => { $(
        #[doc = $doc]
        pub const fn $name(from: f64, to: f64) -> Range {
            Range::Numbers { from, to, of: Of::$of }
        }
    )* };
}

ranges! {
    shares Shares "A range of shares."
    factors Factors "A range of plain numbers."
    counts Counts "A range of whole numbers."
    packets Packets "A range of amounts of data."
    packet_times PacketTimes "A range of times that go with those of packets."
    round_trips RoundTrips "A range of times that go with the round trip."
}

impl<F> Variant<F> {
    /// The ranges of its parameters, in the order of their struct.
    pub fn ranges(&self) -> Vec<(String, Range<String>)> {
        let schema = schema_json(self.parameters);
        let properties = schema["properties"].as_object().into_iter().flatten();
        let range = |(key, property): (&String, &Json)| {
            let range = serde_json::from_value(property[RANGE].clone()).ok()?;
            Some((key.clone(), range))
        };
        properties.filter_map(range).collect()
    }
}
