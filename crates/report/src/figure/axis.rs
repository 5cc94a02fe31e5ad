//! Axes: their range, the ticks on it and the words beside it.

use super::units::shown;

/// Layout of values along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios; values of zero and below have no place.
    Log,
}

/// An axis as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// Quantity along it, without the unit.
    pub label: String,
    /// The unit of the values: `ps`, `B`, `B/s`, `1`, or any other, which is shown as it is.
    pub unit: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// In the unit of the values; without it everything that is finite is in sight.
    pub range: Option<[f64; 2]>,
    /// A linear axis without a range begins at zero.
    pub from_zero: bool,
    /// Words instead of numbers: the first is at 0.5, the second at 1.5, and so on.
    /// Empty for numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            unit: unit.into(),
            ..Axis::default()
        }
    }

    /// Things that are numbered from 0, each at its own place.
    pub fn numbered(label: impl Into<String>, count: usize) -> Axis {
        Axis {
            names: (0..count).map(|number| number.to_string()).collect(),
            ..Axis::new(label, "1")
        }
    }

    /// Beginning at zero.
    pub fn from_zero(mut self) -> Axis {
        self.from_zero = true;
        self
    }

    /// A logarithmic axis.
    pub fn log(mut self) -> Axis {
        self.scale = Scale::Log;
        self
    }

    /// The axis with its range, and with about `most` ticks at most.
    pub fn coord(&self, values: impl IntoIterator<Item = f64>, most: usize) -> Coord {
        if !self.names.is_empty() {
            let mut coord = Coord::names(&self.names);
            coord.title = self.label.clone();
            let numbers = self.names.iter().all(|name| name.parse::<u64>().is_ok());
            if numbers && self.names.len() > most {
                // If not all have room, only some at even steps.
                let step = round_step(self.names.len().div_ceil(most.max(1)));
                let mut place = 0;
                coord.ticks.retain(|_| {
                    place += 1;
                    (place - 1) % step == 0
                });
            }
            return coord;
        }
        let log = self.scale == Scale::Log;
        let values: Vec<f64> = values
            .into_iter()
            .filter(|value| value.is_finite())
            .collect();
        let whole = !values.is_empty() && values.iter().all(|value| value.fract() == 0.0);
        let [low, high] = match self.range {
            Some([low, high]) if usable(low, high, log) => [low, high],
            _ => self.span(values),
        };
        let unit = shown(&self.unit, high.abs().max(low.abs()));
        let factor = unit.factor;
        // Between whole numbers there are no ticks, if one of them is in sight.
        let least = match whole && low.ceil() <= high {
            true => 1.0 / factor,
            false => 0.0,
        };
        let Ticks { labelled, minor } = match log {
            true => log_ticks(low / factor, high / factor, most, least),
            false => linear_ticks(low / factor, high / factor, most, least),
        };
        Coord {
            log,
            low,
            high,
            ticks: labelled
                .into_iter()
                .map(|(at, text)| (at * factor, text))
                .collect(),
            minor: minor.into_iter().map(|at| at * factor).collect(),
            title: match (self.label.as_str(), unit.name.as_str()) {
                (label, "") => label.to_string(),
                ("", name) => name.to_string(),
                (label, name) => format!("{label} ({name})"),
            },
        }
    }

    /// A value on it in words: `12.4 µs`.
    pub fn said(&self, value: f64) -> String {
        if let Some(name) = self.names.get(value.floor().max(0.0) as usize) {
            return name.clone();
        }
        if !value.is_finite() {
            return "-".to_string();
        }
        let unit = shown(&self.unit, value);
        // Four digits, and no more noughts than are needed.
        let number = value / unit.factor;
        let number: f64 = format!("{number:.3e}").parse().unwrap_or(number);
        match unit.name.as_str() {
            "" => number.to_string(),
            name => format!("{number} {name}"),
        }
    }

    /// A range that holds all values that have a place on the axis.
    pub(super) fn span(&self, values: impl IntoIterator<Item = f64>) -> [f64; 2] {
        let log = self.scale == Scale::Log;
        let placed = values
            .into_iter()
            .filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (low, high) = placed.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return [if log { 0.1 } else { 0.0 }, 1.0];
        }
        if log {
            return match high / low < 1.5 {
                true => [low / 2.0, high * 2.0],
                false => [low / 1.2, high * 1.2],
            };
        }
        let low = if self.from_zero { low.min(0.0) } else { low };
        if high == low {
            let half = if high == 0.0 { 0.5 } else { high.abs() * 0.1 };
            return match self.from_zero {
                true => [0.0, 1.0],
                false => [low - half, high + half],
            };
        }
        let margin = (high - low) * 0.04;
        let keep_low = self.from_zero && low == 0.0;
        [
            if keep_low { low } else { low - margin },
            if self.from_zero && high == 0.0 {
                high
            } else {
                high + margin
            },
        ]
    }
}

/// The least of 1, 2, 5, 10, 20, … that is no less.
fn round_step(least: usize) -> usize {
    let powers = (0..12).map(|power| 10_usize.pow(power));
    let mut steps = powers.flat_map(|power| [1, 2, 5].map(|factor| factor * power));
    steps.find(|step| *step >= least).unwrap_or(least)
}

fn usable(low: f64, high: f64, log: bool) -> bool {
    low.is_finite() && high.is_finite() && low < high && (!log || low > 0.0)
}

/// An axis with its range and ticks.
#[derive(Clone, Debug)]
pub struct Coord {
    log: bool,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
    minor: Vec<f64>,
    title: String,
}

impl Coord {
    /// Named places instead of numbers: for `names`, the places 0.5, 1.5, … of an axis from 0 to
    /// their number.
    pub fn names(names: &[String]) -> Coord {
        let ticks = names.iter().enumerate();
        Coord {
            log: false,
            low: 0.0,
            high: names.len().max(1) as f64,
            ticks: ticks
                .map(|(i, name)| (i as f64 + 0.5, name.clone()))
                .collect(),
            minor: Vec::new(),
            title: String::new(),
        }
    }

    /// The same axis reversed: from the largest value to the least.
    pub fn reversed(mut self) -> Coord {
        std::mem::swap(&mut self.low, &mut self.high);
        self
    }

    /// Position of a value: 0 at the start of the axis, 1 at its end, outside of these if it is off
    /// the scale. NaN if it has no place.
    pub fn share(&self, value: f64) -> f64 {
        if !self.log {
            return (value - self.low) / (self.high - self.low);
        }
        match value {
            value if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            value if value.is_nan() => f64::NAN,
            // Zero is infinitely far below.
            _ => f64::NEG_INFINITY,
        }
    }

    /// The words beside the axis, with the unit.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The ticks and their labels, in the unit of the values.
    pub fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// Ticks without a label, in the unit of the values.
    pub fn minor(&self) -> &[f64] {
        &self.minor
    }

    /// Its first and its last value.
    pub fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }
}

struct Ticks {
    labelled: Vec<(f64, String)>,
    minor: Vec<f64>,
}

/// Multiples of 1, 2 or 5 times a power of ten, `least` apart or more.
fn linear_ticks(low: f64, high: f64, most: usize, least: f64) -> Ticks {
    let wanted = (high - low) / most.max(2) as f64;
    let power = 10f64.powf(wanted.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .iter()
        .map(|factor| factor * power)
        .find(|step| *step >= wanted * 0.9)
        .unwrap_or(10.0 * power)
        .max(least);
    let slack = 1e-9;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    let mut labelled = Vec::new();
    let mut at = first;
    while at <= last && labelled.len() < 100 {
        labelled.push((at * step, number(at * step, step)));
        at += 1.0;
    }
    Ticks {
        labelled,
        minor: Vec::new(),
    }
}

/// Powers of ten; with 2 and 5 times these if there are few; fewer if there are many. Without
/// powers they are `least` apart or more.
fn log_ticks(low: f64, high: f64, most: usize, least: f64) -> Ticks {
    let decades = (high / low).log10();
    if decades < 0.5 {
        return linear_ticks(low, high, most, least);
    }
    let factors: &[f64] = match decades {
        // Less than a decade may have no power of ten.
        d if d < 1.0 || d < 1.7 && most >= 5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let every = (decades / most.max(2) as f64).ceil().max(1.0) as i32;
    let inside = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
    let mut labelled = Vec::new();
    let mut minor = Vec::new();
    for exponent in low.log10().floor() as i32..=high.log10().ceil() as i32 {
        for factor in 1..10 {
            let value = f64::from(factor) * 10f64.powi(exponent);
            if !inside(value) {
                continue;
            }
            if factors.contains(&f64::from(factor)) && exponent.rem_euclid(every) == 0 {
                labelled.push((value, number(value, value)));
            } else if every == 1 || factor == 1 {
                minor.push(value);
            }
        }
    }
    Ticks { labelled, minor }
}

/// A number with the digits that tell it from its neighbours `step` away.
fn number(value: f64, step: f64) -> String {
    let value = if value.abs() < step * 1e-6 {
        0.0
    } else {
        value
    };
    if value != 0.0 && (value.abs() >= 99_999.5 || step < 0.000_999) {
        let digits = (value.abs().log10().floor() - step.log10().floor()).max(0.0) as usize;
        return format!("{value:.digits$e}");
    }
    let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match decimals {
        0 if value.abs() >= 10_000.0 => grouped(&text),
        _ => text,
    }
}

/// `12345` as `12,345`.
fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let number = digits.parse::<u64>().unwrap_or(0);
    format!("{sign}{}", crate::format::whole(number))
}

#[cfg(test)]
mod tests;
