//! Keys of a figure by its kind, and the ranges of its axes.

use super::bound::BoundFile;
use super::keys::FigureKind;
use weir_input::registry::range::ScaleKind;
use weir_input::{ConfigError, Given};
use weir_model::Invalid;

use FigureKind::{Bar, Box, Distribution, Heatmap, Line, Map, Stacked, Ternary, Time};

/// Keys that only some kinds use, with these kinds.
const ONLY: &[(&str, &[FigureKind])] = &[
    ("x", &[Line, Bar, Box, Stacked, Map]),
    ("up", &[Map]),
    ("marks", &[Map]),
    (
        "series",
        &[
            Line,
            Bar,
            Box,
            Stacked,
            Time,
            Distribution,
            Ternary,
            Heatmap,
        ],
    ),
    ("ratio", &[Line, Bar, Box]),
    ("interval", &[Line, Bar, Time]),
    ("x_scale", &[Line, Time, Map]),
    ("y_scale", &[Line, Time, Map]),
    ("x_label", &[Line, Time, Distribution, Map]),
    (
        "y_label",
        &[Line, Bar, Box, Stacked, Time, Distribution, Map],
    ),
    ("x_range", &[Line, Time, Distribution, Heatmap, Map]),
    (
        "y_range",
        &[Line, Bar, Box, Stacked, Time, Distribution, Heatmap, Map],
    ),
];

impl FigureKind {
    /// True if it draws numbers of the table rather than rows of the results.
    pub fn of_the_table(self) -> bool {
        matches!(self, Line | Bar | Box | Stacked | Map)
    }
}

/// Refuses keys that the kind of the figure does not use.
pub(super) fn check_keys(given: &Given, kind: FigureKind) -> Result<(), ConfigError> {
    let vain =
        |(key, kinds): &&(&str, &[FigureKind])| given.get(key).is_some() && !kinds.contains(&kind);
    let Some((key, kinds)) = ONLY.iter().find(vain) else {
        return Ok(());
    };
    let name = |kind: &FigureKind| serde_json::to_string(kind).unwrap_or_default();
    let kinds: Vec<String> = kinds.iter().map(name).collect();
    let message = format!("a figure of kind {} does not use this", name(&kind));
    let remedy = format!("remove it, or choose another kind: {}", kinds.join(", "));
    Err(given.refuse(Invalid::new(*key, message, remedy)))
}

/// A nanosecond in the table.
pub(super) const IN_TABLE: f64 = 1.0;
/// A nanosecond in the rows of a result, which are in picoseconds.
pub(super) const IN_ROWS: f64 = 1e3;

/// Quantity along an axis, as far as its range needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    /// Times. A nanosecond is drawn as this number.
    Times { per_ns: f64 },
    /// Numbers in the unit of what is drawn.
    Numbers,
}

impl Quantity {
    /// The quantity of a metric, or of an axis, of this unit; `per_ns` if it is a time.
    pub(super) fn of(unit: &str, per_ns: f64) -> Quantity {
        match unit {
            "ns" => Quantity::Times { per_ns },
            _ => Quantity::Numbers,
        }
    }

    /// Reads a range of the axis, which is logarithmic or not.
    pub(super) fn range(
        self,
        given: &Given,
        key: &str,
        range: &Option<[BoundFile; 2]>,
        scale: ScaleKind,
    ) -> Result<Option<[f64; 2]>, ConfigError> {
        let Some(bounds) = range else {
            return Ok(None);
        };
        let at = given.get(key).unwrap_or_else(|| given.clone());
        let places = at.items().unwrap_or_default();
        let number = |(bound, at): (&BoundFile, &Given)| match self {
            Quantity::Times { per_ns } => Ok(bound.number(at, "ns")? * per_ns),
            Quantity::Numbers => bound.number(at, ""),
        };
        let numbers = bounds.iter().zip(&places).map(number);
        let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
        let &[from, to] = numbers.as_slice() else {
            return Ok(None);
        };
        if from >= to {
            let remedy = "write [from, to], the smaller first";
            return Err(at.wrong("the range is empty", remedy));
        }
        if scale == ScaleKind::Log && from <= 0.0 {
            let remedy = "begin above 0";
            return Err(at.wrong("0 has no place on a logarithmic axis", remedy));
        }
        Ok(Some([from, to]))
    }
}
