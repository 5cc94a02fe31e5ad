//! The unit in which an axis is labelled.

/// A unit for people: values are divided by `factor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Its name; empty for a plain number.
    pub name: String,
    /// Its size in the result's units.
    pub factor: f64,
}

/// The unit in which values of up to `largest` of the result's `unit` are best read.
///
/// Times, bytes and rates get the prefix that fits; `1` is a plain number; counts per second in
/// thousands get one, too; any other unit stays as it is.
pub fn shown(unit: &str, largest: f64) -> Shown {
    let own = TIMES.iter().chain(&BYTES).chain(&RATES);
    let own = own.clone().find(|(name, _)| *name == unit);
    let (steps, base) = match (own, unit) {
        (Some((_, base)), "B" | "kB" | "MB" | "GB" | "TB") => (&BYTES, *base),
        (Some((_, base)), name) if name.ends_with("/s") => (&RATES, *base),
        (Some((_, base)), _) => (&TIMES, *base),
        (None, "us") => (&TIMES, 1e6),
        (None, counted) if counted.ends_with("/s") && counted != "1/s" => {
            return per_second(counted, largest);
        }
        (None, other) => {
            let plain = other == "1";
            return Shown {
                name: if plain {
                    String::new()
                } else {
                    other.to_string()
                },
                factor: 1.0,
            };
        }
    };
    let largest = largest.abs() * base;
    let fits = |&&(_, size): &&(&str, f64)| largest >= size;
    let (name, size) = match steps.iter().rev().find(fits) {
        Some(step) if largest.is_finite() => *step,
        _ => steps[0],
    };
    Shown {
        name: name.to_string(),
        factor: size / base,
    }
}

/// Unit of a count per second: `flits/s` in millions are `Mflits/s`.
fn per_second(unit: &str, largest: f64) -> Shown {
    const STEPS: [(&str, f64); 5] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let fits = |step: &&(&str, f64)| largest.is_finite() && largest.abs() >= step.1;
    let (prefix, factor) = STEPS.iter().rev().find(fits).copied().unwrap_or(STEPS[0]);
    Shown {
        name: format!("{prefix}{unit}"),
        factor,
    }
}

const TIMES: [(&str, f64); 5] = [
    ("ps", 1.0),
    ("ns", 1e3),
    ("µs", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
];
const BYTES: [(&str, f64); 5] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];
const RATES: [(&str, f64); 5] = [
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("TB/s", 1e12),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_has_at_least_one_digit_before_the_point() {
        let name = |unit, largest| shown(unit, largest).name;
        assert_eq!(name("ps", 999.0), "ps");
        assert_eq!(name("ps", 1_000.0), "ns");
        assert_eq!(name("ps", 90e6), "µs");
        assert_eq!(name("ps", 3e15), "s");
        assert_eq!(name("B/s", 12.5e9), "GB/s");
        assert_eq!(name("1", 0.4), "");
        assert_eq!(name("flits", 1e9), "flits");
        assert_eq!(name("flits/s", 3e10), "Gflits/s");
        assert_eq!(name("flits/s", 30.0), "flits/s");
        assert_eq!(shown("B", 2e6).factor, 1e6);
        assert_eq!(
            shown("ns", 2e6),
            Shown {
                name: "ms".into(),
                factor: 1e6
            }
        );
        assert_eq!(
            shown("us", 0.5),
            Shown {
                name: "ns".into(),
                factor: 1e-3
            }
        );
    }

    #[test]
    fn values_that_are_no_numbers_leave_the_unit() {
        for largest in [f64::NAN, f64::INFINITY, 0.0] {
            assert_eq!(shown("ps", largest).name, "ps", "{largest}");
        }
    }
}
