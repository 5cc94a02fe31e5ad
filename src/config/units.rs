use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::model::{Bandwidth, FlitSize, Time};

/// A length of simulated time: `"50 ns"`, `"1.5 us"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub Time);

/// A bandwidth: `"100 Gbps"`, `"25 GB/s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Bandwidth);

/// An amount of data. Flits and packets are resolved when the flit and the longest packet are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// `"100 bits"`, `"2 KiB"`.
    Bits(u64),
    /// `"1000 flits"`.
    Flits(u64),
    /// `"16 packets"`: of the greatest length.
    Packets(u64),
}

impl Size {
    /// The size in bits.
    pub fn bits(self, flit: FlitSize, max_packet_flits: u64) -> u64 {
        match self {
            Size::Bits(bits) => bits,
            Size::Flits(flits) => flits * u64::from(flit.0),
            Size::Packets(packets) => packets * max_packet_flits * u64::from(flit.0),
        }
    }

    /// The size in whole flits, rounded up.
    pub fn flits(self, flit: FlitSize, max_packet_flits: u64) -> u64 {
        match self {
            Size::Bits(bits) => bits.div_ceil(u64::from(flit.0)),
            Size::Flits(flits) => flits,
            Size::Packets(packets) => packets * max_packet_flits,
        }
    }
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .ok_or_else(|| format!("{text:?} has no unit"))?;
    let number = text[..end].replace('_', "");
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text:?} is not a number with a unit"))?;
    Ok((number, text[end..].trim()))
}

impl FromStr for Duration {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text)?;
        let ps = match unit {
            "ps" => 1.0,
            "ns" => 1e3,
            "us" | "µs" => 1e6,
            "ms" => 1e9,
            "s" => 1e12,
            _ => return Err(format!("{unit:?} is not a unit of time")),
        };
        Ok(Duration((number * ps).round() as Time))
    }
}

impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text)?;
        let bps = match unit {
            "Gbps" | "Gb/s" => 1e9,
            "GB/s" => 8e9,
            _ => return Err(format!("{unit:?} is not a unit of bandwidth")),
        };
        Ok(Rate(Bandwidth((number * bps).round() as u64)))
    }
}

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text)?;
        Ok(match unit {
            "flits" | "flit" => Size::Flits(number as u64),
            "packets" | "packet" => Size::Packets(number as u64),
            "bits" | "bit" => Size::Bits(number as u64),
            "B" | "bytes" => Size::Bits(8 * number as u64),
            "KiB" => Size::Bits((8192.0 * number) as u64),
            _ => return Err(format!("{unit:?} is not a unit of data")),
        })
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Gbps", self.0.0 as f64 / 1e9)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Bits(n) => write!(f, "{n} bits"),
            Size::Flits(n) => write!(f, "{n} flits"),
            Size::Packets(n) => write!(f, "{n} packets"),
        }
    }
}

macro_rules! text_quantity {
    ($type:ident, $what:literal, $example:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "description": $what, "examples": [$example] })
            }
        }
    };
}

text_quantity!(Duration, "a length of time with its unit", "50 ns");
text_quantity!(Rate, "a bandwidth with its unit", "100 Gbps");
text_quantity!(Size, "an amount of data with its unit", "128 KiB");
