//! Quantities with units: read exactly, written exactly and in short form.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::nearest;
use weir_model::{Bandwidth, FlitSize, LATEST, Time};

/// A length of time in whole picoseconds: `"50 ns"`, `"1.5 us"`. May be zero; at most
/// `"1000000 s"`.
///
/// Units: ps, ns, us (or µs), ms, s, min, h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub Time);

/// A bandwidth in whole bits per second, more than zero: `"100 Gbps"`, `"25 GB/s"`.
///
/// Units: bps, kbps, Mbps, Gbps, Tbps (or b/s, Gb/s, Gbit/s …); B/s, kB/s, MB/s, GB/s, TB/s; KiB/s,
/// MiB/s, GiB/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Bandwidth);

/// An amount of data, more than zero. Flits and packets are resolved when the flit and the longest
/// packet are known.
///
/// Units: bit(s); B or byte(s), kB, MB, GB, KiB, MiB, GiB; flit(s); packet(s).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// `"100 bits"`, `"2 KiB"`.
    Bits(u64),
    /// `"1000 flits"`.
    Flits(u64),
    /// `"16 packets"`: of the greatest length.
    Packets(u64),
}

/// An amount of data that may be none: a margin, a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance(pub Size);

impl Size {
    /// The size in bits; `u64::MAX` if it is more than that.
    pub fn bits(self, flit: FlitSize, max_packet_flits: u64) -> u64 {
        let flit = u64::from(flit.0);
        match self {
            Size::Bits(bits) => bits,
            Size::Flits(flits) => flits.saturating_mul(flit),
            Size::Packets(packets) => packets
                .saturating_mul(max_packet_flits)
                .saturating_mul(flit),
        }
    }

    /// The size in whole flits, rounded up; `u64::MAX` if it is more than that.
    pub fn flits(self, flit: FlitSize, max_packet_flits: u64) -> u64 {
        match self {
            Size::Bits(bits) => bits.div_ceil(u64::from(flit.0.max(1))),
            Size::Flits(flits) => flits,
            Size::Packets(packets) => packets.saturating_mul(max_packet_flits),
        }
    }
}

/// A unit: its name, how much of the base unit it is, and whether numbers are written with it (else
/// only read).
type Unit = (&'static str, u64, bool);

/// Times in picoseconds.
const TIMES: &[Unit] = &[
    ("ps", 1, true),
    ("ns", 1_000, true),
    ("us", 1_000_000, true),
    ("µs", 1_000_000, false),
    ("μs", 1_000_000, false),
    ("ms", 1_000_000_000, true),
    ("s", 1_000_000_000_000, true),
    ("min", 60_000_000_000_000, true),
    ("h", 3_600_000_000_000_000, true),
];

/// Bandwidths in bits per second.
const RATES: &[Unit] = &[
    ("bps", 1, true),
    ("kbps", 1_000, true),
    ("Mbps", 1_000_000, true),
    ("Gbps", 1_000_000_000, true),
    ("Tbps", 1_000_000_000_000, true),
    ("B/s", 8, true),
    ("kB/s", 8_000, true),
    ("MB/s", 8_000_000, true),
    ("GB/s", 8_000_000_000, true),
    ("TB/s", 8_000_000_000_000, true),
    ("KiB/s", 8 << 10, true),
    ("MiB/s", 8 << 20, true),
    ("GiB/s", 8 << 30, true),
    ("b/s", 1, false),
    ("kb/s", 1_000, false),
    ("Mb/s", 1_000_000, false),
    ("Gb/s", 1_000_000_000, false),
    ("Tb/s", 1_000_000_000_000, false),
    ("bit/s", 1, false),
    ("kbit/s", 1_000, false),
    ("Mbit/s", 1_000_000, false),
    ("Gbit/s", 1_000_000_000, false),
    ("Tbit/s", 1_000_000_000_000, false),
];

/// Amounts of data in bits.
const BITS: &[Unit] = &[
    ("bits", 1, true),
    ("bit", 1, false),
    ("B", 8, true),
    ("byte", 8, false),
    ("bytes", 8, false),
    ("kB", 8_000, true),
    ("MB", 8_000_000, true),
    ("GB", 8_000_000_000, true),
    ("KiB", 8 << 10, true),
    ("MiB", 8 << 20, true),
    ("GiB", 8 << 30, true),
];

/// Words for a kind of quantity in messages.
struct Words {
    /// "a length of time".
    what: &'static str,
    /// "time", of which it is a unit.
    unit_of: &'static str,
    /// A value that is right.
    example: &'static str,
    /// The smallest amount.
    base: &'static str,
    /// The largest value in the base unit, and its text.
    most: (u64, &'static str),
}

const TIME: Words = Words {
    what: "a length of time",
    unit_of: "time",
    example: "50 ns",
    base: "picoseconds",
    most: (LATEST, "1000000 s"),
};
const RATE: Words = Words {
    what: "a bandwidth",
    unit_of: "bandwidth",
    example: "100 Gbps",
    base: "bits per second",
    most: (u64::MAX, "18446744073709551615 bps"),
};
const SIZE: Words = Words {
    what: "an amount of data",
    unit_of: "data",
    example: "128 KiB",
    base: "bits",
    most: (u64::MAX, "18446744073709551615 bits"),
};

/// A decimal number, exactly: `digits` over 10 to the power of `places`.
struct Decimal {
    digits: u128,
    places: u32,
}

impl Decimal {
    /// At most 30 digits, so that multiplying by a unit cannot go wrong unnoticed.
    fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction_given = text.contains('.');
        if whole.is_empty() || (fraction_given && fraction.is_empty()) {
            return None;
        }
        let digits: String = [whole, fraction].concat().replace('_', "");
        let places = fraction.replace('_', "").len();
        if digits.is_empty() || digits.len() > 30 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Decimal {
            digits: digits.parse().ok()?,
            places: places as u32,
        })
    }
}

/// The number and the unit of a text such as `1.5 us`, or the error in it.
fn split<'a>(text: &'a str, words: &Words) -> Result<(Decimal, &'a str), String> {
    let Words { what, example, .. } = words;
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(format!(
            "{text:?} is negative; write {what} such as {example:?}"
        ));
    }
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
    let number = Decimal::parse(number).ok_or_else(|| {
        format!(
            "{text:?} is not {what}; write a decimal number and a unit, for example {example:?}"
        )
    })?;
    if unit.is_empty() {
        return Err(format!(
            "{text:?} has no unit; write {what} with its unit, for example {example:?}"
        ));
    }
    Ok((number, unit))
}

/// `number` in the base unit: exact, or the error in it.
fn scale(number: &Decimal, factor: u64, text: &str, words: &Words) -> Result<u64, String> {
    let (most, most_text) = words.most;
    let too_large = || format!("{text:?} is too large; at most {most_text:?} is possible");
    let product = number
        .digits
        .checked_mul(u128::from(factor))
        .ok_or_else(too_large)?;
    let divisor = 10u128.pow(number.places);
    if product % divisor != 0 {
        return Err(format!(
            "{text:?} is not a whole number of {}; round it to one",
            words.base
        ));
    }
    let value = u64::try_from(product / divisor).map_err(|_| too_large())?;
    match value <= most {
        true => Ok(value),
        false => Err(too_large()),
    }
}

/// The unit that is meant by something that is none. Bits and bytes are told apart: `GBps` is GB/s,
/// not an eighth of it.
fn meant<'a>(unit: &str, names: &[&'a str]) -> Option<&'a str> {
    let spelt = unit.replace("Bps", "B/s");
    if let Some(name) = names.iter().find(|name| **name == spelt) {
        return Some(name);
    }
    let of_bytes = |name: &str| name.contains('B') || name.to_lowercase().contains("byte");
    let alike = names.iter().filter(|name| of_bytes(name) == of_bytes(unit));
    nearest(unit, alike.copied())
}

fn unknown_unit(unit: &str, names: &[&str], words: &Words) -> String {
    let close = meant(unit, names);
    let close = close.map_or(String::new(), |name| format!("did you mean {name}? "));
    format!(
        "{unit:?} is not a unit of {}; {close}units: {}",
        words.unit_of,
        names.join(", ")
    )
}

fn parse(text: &str, units: &[Unit], words: &Words) -> Result<u64, String> {
    let (number, unit) = split(text, words)?;
    match units.iter().find(|(name, ..)| *name == unit) {
        Some(&(_, factor, _)) => scale(&number, factor, text, words),
        None => {
            let names: Vec<&str> = units.iter().map(|(name, ..)| *name).collect();
            Err(unknown_unit(unit, &names, words))
        }
    }
}

fn more_than_zero(value: u64, text: &str, words: &Words) -> Result<u64, String> {
    match value {
        0 => Err(format!(
            "{text:?} is zero; write {} of more than zero, for example {:?}",
            words.what, words.example
        )),
        value => Ok(value),
    }
}

impl FromStr for Duration {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse(text, TIMES, &TIME).map(Duration)
    }
}

impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bps = more_than_zero(parse(text, RATES, &RATE)?, text, &RATE)?;
        Ok(Rate(Bandwidth(bps)))
    }
}

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let size = Size::or_zero(text)?;
        let (Size::Bits(count) | Size::Flits(count) | Size::Packets(count)) = size;
        more_than_zero(count, text, &SIZE).map(|_| size)
    }
}

impl FromStr for Allowance {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Size::or_zero(text).map(Allowance)
    }
}

impl Size {
    fn or_zero(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text, &SIZE)?;
        let whole = |make: fn(u64) -> Size, base| {
            let words = Words {
                base,
                most: (u64::MAX, "18446744073709551615"),
                ..SIZE
            };
            scale(&number, 1, text, &words).map(make)
        };
        match unit {
            "flit" | "flits" => whole(Size::Flits, "flits"),
            "packet" | "packets" => whole(Size::Packets, "packets"),
            "b" => Err(format!(
                "{text:?}: b could be bits or bytes; write `bits` or `B`"
            )),
            _ => match BITS.iter().find(|(name, ..)| *name == unit) {
                Some(&(_, factor, _)) => scale(&number, factor, text, &SIZE).map(Size::Bits),
                None => {
                    let mut names: Vec<&str> = BITS.iter().map(|(name, ..)| *name).collect();
                    names.extend(["flits", "packets"]);
                    Err(unknown_unit(unit, &names, &SIZE))
                }
            },
        }
    }
}

/// The exact text of `value` in the unit that needs the shortest number; among equals the first
/// without a fraction.
fn shortest(value: u64, units: &[Unit]) -> String {
    let mut best: Option<(usize, bool, String)> = None;
    for &(name, factor, written) in units {
        let Some(number) = decimal(value, factor).filter(|_| written) else {
            continue;
        };
        let fraction = number.contains('.');
        let rank = (number.len(), fraction);
        if best
            .as_ref()
            .is_none_or(|(len, frac, _)| rank < (*len, *frac))
        {
            best = Some((rank.0, rank.1, format!("{number} {name}")));
        }
    }
    best.map_or_else(|| value.to_string(), |(_, _, text)| text)
}

/// `value / factor` as a decimal number, if 15 places are enough to write it exactly.
fn decimal(value: u64, factor: u64) -> Option<String> {
    let (whole, mut rest) = (value / factor, u128::from(value % factor));
    let mut text = whole.to_string();
    if rest > 0 {
        text.push('.');
    }
    for _ in 0..15 {
        if rest == 0 {
            break;
        }
        rest *= 10;
        let digit = rest / u128::from(factor);
        rest %= u128::from(factor);
        text.push(char::from(b'0' + digit as u8));
    }
    (rest == 0).then_some(text)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // The usual way to write no time at all.
            0 => f.write_str("0 ns"),
            ps => f.write_str(&shortest(ps, TIMES)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortest(self.0.0, RATES))
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Bits(n) => f.write_str(&shortest(*n, BITS)),
            Size::Flits(n) => write!(f, "{n} {}", if *n == 1 { "flit" } else { "flits" }),
            Size::Packets(n) => write!(f, "{n} {}", if *n == 1 { "packet" } else { "packets" }),
        }
    }
}

/// Reads a quantity from a text; a bare number gets a separate message.
struct Quantity<T> {
    words: &'static Words,
    make: fn(&str) -> Result<T, String>,
}

impl<T> Quantity<T> {
    fn bare<E: de::Error>(&self, number: impl fmt::Display) -> E {
        E::custom(format!(
            "{number} has no unit; write {} with its unit in quotes, for example {:?}",
            self.words.what, self.words.example
        ))
    }
}

impl<T> de::Visitor<'_> for Quantity<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Words { what, example, .. } = self.words;
        write!(f, "{what} with its unit in quotes, for example {example:?}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.make)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Err(self.bare(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Err(self.bare(number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Err(self.bare(number))
    }
}

macro_rules! text_quantity {
    ($type:ident, $words:ident) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Quantity {
                    words: &$words,
                    make: str::parse::<$type>,
                })
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        // `config::resolve` recognises these schemas by their names and writes such values in their
        // shortest form.
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat_words(&$words),
                    "examples": [$words.example],
                })
            }
        }
    };
}

fn concat_words(words: &Words) -> String {
    format!("{} with its unit", words.what)
}

mod time_span;
pub(crate) mod words;
pub use time_span::TimeSpan;

text_quantity!(Duration, TIME);
text_quantity!(Rate, RATE);
text_quantity!(Size, SIZE);
text_quantity!(Allowance, SIZE);

#[cfg(test)]
mod tests;
