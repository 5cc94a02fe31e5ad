//! The metrics that a figure draws: their values, names and units.

use super::names::{common, distinct, words};
use weir_study::{Figure, FigureY, Metric, Ratio, Row, Study, Table};

/// The metrics of a figure with their names in the legend.
pub(super) struct Drawn<'a> {
    pub(super) metric: &'a Metric,
    pub(super) name: String,
    /// Quantity of its axis; empty for a ratio.
    pub(super) unit: &'a str,
    column: Option<usize>,
    over: Option<Over<'a>>,
}

/// Divisor of a value.
pub(super) struct Over<'a> {
    column: Option<usize>,
    at: &'a [(usize, usize)],
    /// In words.
    name: String,
}

pub(super) fn drawn<'a>(study: &Study, table: &Table, wanted: &'a Figure) -> Vec<Drawn<'a>> {
    let metrics: Vec<&Metric> = wanted
        .y
        .iter()
        .filter_map(|y| match y {
            FigureY::Metric(metric) => Some(metric),
            FigureY::Rows(_) => None,
        })
        .collect();
    let names: Vec<String> = metrics.iter().map(|one| one.name().to_string()).collect();
    let names = distinct(&names);
    let pairs = metrics.into_iter().zip(names);
    pairs
        .map(|(metric, name)| Drawn {
            column: table.column(metric),
            unit: match wanted.ratio {
                Some(_) => "",
                None => metric.unit(),
            },
            over: wanted
                .ratio
                .as_ref()
                .map(|ratio| over((study, table), metric, ratio)),
            metric,
            name,
        })
        .collect()
}

/// A place on some axes, in words.
pub(super) fn place(study: &Study, at: impl IntoIterator<Item = (usize, usize)>) -> String {
    let words = at.into_iter().map(|(axis, value)| {
        let axis = &study.axes[axis];
        format!("{} {}", axis.label, axis.values[value].label)
    });
    words.collect::<Vec<_>>().join(", ")
}

fn over<'a>((study, table): (&Study, &Table), own: &Metric, ratio: &'a Ratio) -> Over<'a> {
    let place = place(study, ratio.at.iter().copied());
    let metric = ratio.metric.as_ref();
    let name = metric.map_or("that".into(), |metric| words(metric.name()));
    Over {
        column: table.column(metric.unwrap_or(own)),
        at: &ratio.at,
        name: match place.is_empty() {
            true => name,
            false => format!("{name} at {place}"),
        },
    }
}

impl Drawn<'_> {
    /// The number of a row. None if it was not measured, or has nothing to be compared with.
    fn value(&self, table: &Table, row: &Row) -> Option<f64> {
        let own = value(row, self.column)?;
        let Some(over) = &self.over else {
            return Some(own);
        };
        let mut there = row.at.clone();
        for (axis, value) in over.at {
            there[*axis] = *value;
        }
        let mut rows = table.rows.iter();
        let other = rows.find(|other| other.at == there && other.seed == row.seed)?;
        let ratio = own / value(other, over.column)?;
        Some(ratio).filter(|ratio| ratio.is_finite())
    }

    /// Those of rows that have one.
    pub(super) fn values(&self, table: &Table, rows: &[&Row]) -> Vec<f64> {
        let values = rows.iter().filter_map(|row| self.value(table, row));
        values.collect()
    }
}

/// The units of the metrics, each once: each has separate panels.
pub(super) fn units(drawn: &[Drawn]) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    for one in drawn {
        if !units.iter().any(|own| own == one.unit) {
            units.push(one.unit.to_string());
        }
    }
    units
}

/// Name of a metric on the axis: in words if it is the only one, else as in the legend.
fn label(one: &Drawn) -> String {
    let own = match one.name == one.metric.name() {
        true => words(one.metric.name()),
        false => one.name.clone(),
    };
    match &one.over {
        Some(over) => format!("{own} over {}", over.name),
        None => own,
    }
}

/// Label of the axis of some metrics: their common part, if the legend has the rest.
pub(super) fn quantity(own: &[&Drawn]) -> String {
    let [first, others @ ..] = own else {
        return String::new();
    };
    if others.is_empty() {
        return label(first);
    }
    let parts: Vec<Vec<&str>> = own
        .iter()
        .map(|one| one.metric.name().split('.').collect())
        .collect();
    let shared = |place: usize| {
        parts
            .iter()
            .all(|own| own.get(place) == parts[0].get(place))
    };
    let alike = parts.iter().all(|own| own.len() == parts[0].len());
    let same = match alike {
        // Where they differ, each is named by the rest.
        true => {
            let places = parts[0].iter().enumerate();
            let parts: Vec<Option<&str>> = places
                .map(|(place, part)| shared(place).then_some(*part))
                .collect();
            common(&parts)
        }
        false => String::new(),
    };
    let own_names = || {
        own.iter()
            .map(|one| label(one))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let text = match same.is_empty() {
        true => own_names(),
        false => same.clone(),
    };
    match &first.over {
        Some(over) if !same.is_empty() => format!("{text} over {}", over.name),
        _ => text,
    }
}

pub(super) fn value(row: &Row, column: Option<usize>) -> Option<f64> {
    row.values.get(column?).copied().flatten()
}
