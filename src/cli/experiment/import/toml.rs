//! Values of an experiment file, as the `toml` crate writes them.

use toml::{Table, Value};

/// A table of these keys, in this order.
pub fn table<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.map(|(key, value)| (key.to_string(), value));
    Value::Table(Table::from_iter(members))
}

/// A text.
pub fn text(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

/// A whole number; those beyond TOML's are at its limit, which weir refuses everywhere.
pub fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A number of bytes.
pub fn bytes(count: u64) -> Value {
    text(format!("{count} B"))
}

/// A number of flits.
pub fn flits(count: u64) -> Value {
    text(format!("{count} flits"))
}

/// A list of whole numbers.
pub fn wholes(numbers: impl IntoIterator<Item = u64>) -> Value {
    Value::Array(numbers.into_iter().map(whole).collect())
}

/// A time in nanoseconds, rounded to picoseconds, in the largest unit that makes it whole.
pub fn time(ns: f64) -> Value {
    const UNITS: [(f64, &str); 3] = [(1e6, "us"), (1e3, "ns"), (1.0, "ps")];
    let ps = (ns * 1e3).round();
    let fits = |&&(unit, name): &&(f64, &str)| ps % unit == 0.0 && (ps > 0.0 || name == "ns");
    let (unit, name) = UNITS.iter().find(fits).unwrap_or(&UNITS[2]);
    text(format!("{} {name}", ps / unit))
}

/// A kind of links.
pub fn link(bandwidth: &str, latency: Value) -> Value {
    table([("bandwidth", text(bandwidth)), ("latency", latency)])
}
