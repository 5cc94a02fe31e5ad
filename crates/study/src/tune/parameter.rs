//! A parameter that is searched: its range, and how its values are written.

use serde::Deserialize;
use serde_json::Value as Json;
use weir_congestion::About;
use weir_input::Given;
use weir_input::registry::range::{Of, Range, ScaleKind};
use weir_input::schema::named;
use weir_input::{ConfigError, Duration, Size, TimeSpan};
use weir_model::{Invalid, Time};

/// Quantity of values, which decides how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Whole numbers.
    Whole,
    /// Times, ps.
    Time,
    /// Amounts of data, flits.
    Amount,
}

/// A parameter with its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its key in the scheme's section.
    pub key: String,
    /// Quantity of its values.
    pub kind: Kind,
    /// The least value, in ps or flits if it is a time or an amount of data.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// Equal steps or equal factors.
    pub scale: ScaleKind,
    /// Number of values on the grid, if that is given.
    pub grid: Option<u32>,
}

/// A parameter in the job file, as a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterFile {
    key: String,
    #[serde(default)]
    from: Option<Bound>,
    #[serde(default)]
    to: Option<Bound>,
    #[serde(default)]
    scale: Option<ScaleKind>,
    #[serde(default)]
    grid: Option<u32>,
}

/// A number, or a text with a unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, or a text with a unit such as \"2 packet times\""
)]
enum Bound {
    Number(f64),
    Text(String),
}

/// Declaration of a parameter by its scheme.
pub struct Declared<'a> {
    /// Its range.
    pub range: Option<&'a Range<String>>,
    /// Its schema.
    pub schema: &'a Json,
}

impl Kind {
    /// Quantity of the values of a parameter; None if they are no numbers.
    pub fn of(schema: &Json) -> Option<Kind> {
        match named(schema) {
            Some("TimeSpan" | "Duration") => return Some(Kind::Time),
            Some("Size" | "Allowance" | "Buffer") => return Some(Kind::Amount),
            _ => {}
        }
        let types = match &schema["type"] {
            Json::Array(types) => types.clone(),
            one => vec![one.clone()],
        };
        let is = |name: &str| types.iter().any(|one| one == name);
        match (is("integer"), is("number")) {
            (true, _) => Some(Kind::Whole),
            (_, true) => Some(Kind::Number),
            _ => None,
        }
    }
}

/// Refuses a number of values that is no grid.
pub fn check_grid(grid: Option<u32>, given: &Given) -> Result<(), ConfigError> {
    match grid {
        Some(0 | 1 | 1_001..) => {
            let remedy = "give at least 2 and at most 1000 values";
            Err(given.refuse(Invalid::new("grid", "this makes no grid", remedy)))
        }
        _ => Ok(()),
    }
}

/// A number to three digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

impl Parameter {
    /// With the range that its scheme declares.
    pub fn declared(key: &str, declared: &Declared, about: &About) -> Option<Parameter> {
        let &Range::Numbers { from, to, of } = declared.range? else {
            return None;
        };
        let unit = match of {
            Of::Shares | Of::Factors | Of::Counts => 1.0,
            Of::Packets => f64::from(about.max_packet),
            Of::PacketTimes => about.packet_time() as f64,
            Of::RoundTrips => about.round_trip as f64,
        };
        Some(Parameter {
            key: key.to_string(),
            kind: Kind::of(declared.schema)?,
            from: from * unit,
            to: to * unit,
            scale: match of {
                Of::Shares => ScaleKind::Linear,
                _ => ScaleKind::Log,
            },
            grid: None,
        })
    }

    /// A parameter of a job file: a name, or a table with its own range.
    /// `declared` finds the scheme's declaration of a key.
    pub fn read<'a>(
        given: &Given,
        about: &About,
        declared: impl Fn(&Given, &str) -> Result<Declared<'a>, ConfigError>,
    ) -> Result<Parameter, ConfigError> {
        if let Some(key) = given.text() {
            let found = declared(given, key)?;
            return Parameter::declared(key, &found, about).ok_or_else(|| {
                let why = match found.range {
                    Some(Range::Fixed(why)) => format!("`{key}` declares no range: {why}"),
                    _ => format!("`{key}` declares no range"),
                };
                let remedy =
                    format!("write {{ key = \"{key}\", from = …, to = … }}, or another parameter");
                given.wrong(why, remedy)
            });
        }
        let file: ParameterFile = given.section().parse()?;
        let at = given.get("key").unwrap_or_else(|| given.clone());
        let found = declared(&at, &file.key)?;
        let Some(kind) = Kind::of(found.schema) else {
            let message = format!("the values of `{}` are no numbers", file.key);
            return Err(at.wrong(message, "name another parameter"));
        };
        let usual = Parameter::declared(&file.key, &found, about);
        let bound = |key: &str, bound: &Option<Bound>, usual: Option<f64>| match (bound, usual) {
            (Some(bound), _) => {
                let at = given.get(key).unwrap_or_else(|| given.clone());
                kind.value(&at, bound, about)
            }
            (None, Some(usual)) => Ok(usual),
            (None, None) => Err(given.refuse(Invalid::new(
                "",
                format!("`{}` declares no range, and `{key}` is missing", file.key),
                format!("add {key} = …"),
            ))),
        };
        let from = bound("from", &file.from, usual.as_ref().map(|own| own.from))?;
        let to = bound("to", &file.to, usual.as_ref().map(|own| own.to))?;
        let scale = usual.map_or(ScaleKind::Linear, |own| own.scale);
        let parameter = Parameter {
            key: file.key,
            kind,
            from,
            to,
            scale: file.scale.unwrap_or(scale),
            grid: file.grid,
        };
        parameter.check(given)?;
        Ok(parameter)
    }

    fn check(&self, given: &Given) -> Result<(), ConfigError> {
        let refuse = |key: &str, message: String, remedy: &str| {
            Err(given.refuse(Invalid::new(key, message, remedy)))
        };
        let words = |value: f64| self.label(self.rounded(value));
        if let Some(wrong) = [self.from, self.to]
            .into_iter()
            .find(|end| !end.is_finite())
        {
            let key = if self.from.is_finite() { "to" } else { "from" };
            return refuse(
                key,
                format!("{wrong} is no end of a range"),
                "write a number",
            );
        }
        if self.from >= self.to {
            let message = format!(
                "the range from {} to {} is empty",
                words(self.from),
                words(self.to)
            );
            return refuse("to", message, "write the smaller number first");
        }
        if self.scale == ScaleKind::Log && self.from <= 0.0 {
            let message = "equal factors do not lead away from 0".to_string();
            return refuse("from", message, "give more than 0, or scale = \"linear\"");
        }
        if self.scale == ScaleKind::Log && !(self.to / self.from).is_finite() {
            let message = "this range has no factor that is a number".to_string();
            return refuse("to", message, "write a smaller one");
        }
        check_grid(self.grid, given)
    }

    /// The value of a share of the range, 0 to 1, as it is run.
    pub fn value(&self, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        let value = match self.scale {
            ScaleKind::Linear => self.from + (self.to - self.from) * share,
            ScaleKind::Log => self.from * (self.to / self.from).powf(share),
        };
        // Three digits may be beyond an end.
        self.rounded(value).clamp(self.from, self.to)
    }

    /// The share of the range at which a value lies.
    pub fn share(&self, value: f64) -> f64 {
        match self.scale {
            ScaleKind::Linear => (value - self.from) / (self.to - self.from),
            ScaleKind::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    fn rounded(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Number => rounded(value),
            Kind::Whole | Kind::Time => rounded(value).round(),
            Kind::Amount => rounded(value).round().max(1.0),
        }
    }

    /// A value in words.
    pub fn label(&self, value: f64) -> String {
        match self.kind {
            Kind::Number => value.to_string(),
            Kind::Whole => format!("{value:.0}"),
            Kind::Time => Duration(value as Time).to_string(),
            Kind::Amount => format!("{value:.0} flits"),
        }
    }

    /// A value as TOML.
    pub fn literal(&self, value: f64) -> String {
        match self.kind {
            Kind::Number => format!("{value:?}"),
            Kind::Whole => self.label(value),
            Kind::Time | Kind::Amount => format!("{:?}", self.label(value)),
        }
    }

    /// A value from the user, exactly.
    pub fn given(&self, given: &Given, about: &About) -> Result<f64, ConfigError> {
        let bound = match (given.number(), given.text()) {
            (Some(number), _) => Bound::Number(number),
            (None, Some(text)) => Bound::Text(text.to_string()),
            (None, None) => {
                let message = format!("expected a value of `{}`", self.key);
                return Err(given.wrong(message, "write a number, or a text with a unit"));
            }
        };
        self.kind.value(given, &bound, about)
    }
}

impl Kind {
    /// Value from the user, in ps or flits if it is a time or an amount of data.
    fn value(self, at: &Given, bound: &Bound, about: &About) -> Result<f64, ConfigError> {
        let no = |error: String| at.wrong(error, "");
        match (self, bound) {
            (Kind::Number, Bound::Number(number)) => Ok(*number),
            (Kind::Whole, Bound::Number(number)) if number.fract() == 0.0 => Ok(*number),
            (Kind::Time, Bound::Text(text)) => {
                let span: TimeSpan = text.parse().map_err(no)?;
                Ok(about.time(span) as f64)
            }
            (Kind::Amount, Bound::Text(text)) => {
                let size: Size = text.parse().map_err(no)?;
                Ok(size.flits(about.flit, about.max_packet.into()) as f64)
            }
            _ => {
                let (what, example) = match self {
                    Kind::Number => ("a number", "0.5"),
                    Kind::Whole => ("a whole number", "5"),
                    Kind::Time => ("a length of time", "\"2 packet times\""),
                    Kind::Amount => ("an amount of data", "\"4 packets\""),
                };
                Err(at.wrong(
                    format!("expected {what}"),
                    format!("write, for example, {example}"),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(kind: Kind, from: f64, to: f64, scale: ScaleKind) -> Parameter {
        Parameter {
            key: "x".into(),
            kind,
            from,
            to,
            scale,
            grid: None,
        }
    }

    #[test]
    fn values_have_three_digits_and_their_unit() {
        let time = parameter(Kind::Time, 1_000.0, 1_000_000.0, ScaleKind::Log);
        let labels = [0.0, 0.5, 1.0].map(|share| time.label(time.value(share)));
        assert_eq!(labels, ["1 ns", "31.6 ns", "1 us"]);
        assert_eq!(time.literal(time.value(0.5)), "\"31.6 ns\"");
        assert!((time.share(time.value(0.5)) - 0.5).abs() < 1e-3);
        let share = parameter(Kind::Number, 0.0, 1.0, ScaleKind::Linear);
        assert_eq!(
            share.literal(share.value(1.0)),
            "1.0",
            "a number with a point"
        );
        assert_eq!(share.literal(share.value(1.0 / 3.0)), "0.333");
        let whole = parameter(Kind::Whole, 1.0, 128.0, ScaleKind::Log);
        let labels = [0.0, 0.5, 1.0, 2.0].map(|share| whole.label(whole.value(share)));
        assert_eq!(labels, ["1", "11", "128", "128"]);
        let amount = parameter(Kind::Amount, 0.4, 64.0, ScaleKind::Linear);
        assert_eq!(
            amount.literal(amount.value(0.0)),
            "\"1 flits\"",
            "no amount is none"
        );
    }
}
