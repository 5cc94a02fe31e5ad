//! Points of two sweeps by their values on the axes, without the seed.

use std::collections::HashSet;

use super::comparison::letter;
use crate::job_file::Study;
use crate::job_file::axis::Axis;
use crate::outcome::table::Row;
use weir_input::ConfigError;

/// Rules by which the points of two sweeps with the same axes match.
pub(super) struct Places<'a> {
    studies: [&'a Study; 2],
    /// Axes on which points match: their places in each study.
    axes: Vec<[usize; 2]>,
    /// Axes on which each sweep has a single value, and another one than the other.
    fixed: Vec<[usize; 2]>,
}

/// The runs of a point.
pub(super) struct Place<'a> {
    /// Values on the axes, the same for equal values.
    pub key: Vec<String>,
    /// Names of the axes, and labels.
    pub labels: Vec<(String, String)>,
    /// Both in words.
    pub name: String,
    /// One for each seed.
    pub rows: Vec<&'a Row>,
}

impl<'a> Places<'a> {
    /// The rules for two studies, which are called by these names in messages.
    ///
    /// # Errors
    /// If they do not have the same axes.
    pub fn of(
        first: &'a Study,
        other: &'a Study,
        names: [&str; 2],
    ) -> Result<Places<'a>, ConfigError> {
        let studies = [first, other];
        let axes = studies.map(|study| study.axes.iter().map(|axis| axis.name.as_str()));
        let [own, theirs] = axes.map(|names| names.collect::<Vec<&str>>());
        let [set, other_set] = [&own, &theirs].map(|names| names.iter().collect::<HashSet<_>>());
        if set != other_set {
            let [a, b] = [&own, &theirs].map(|names| match names.is_empty() {
                true => "none".to_string(),
                false => names.join(", "),
            });
            return Err(ConfigError::new(
                format!(
                    "{} and {} have different axes ({a} and {b}): no point of one has a partner in \
                     the other",
                    names[0], names[1]
                ),
                "compare sweeps with the same axes; an axis may have a single value",
            ));
        }
        let mut places = Places {
            studies,
            axes: Vec::new(),
            fixed: Vec::new(),
        };
        for (at, name) in own.iter().enumerate() {
            let there = theirs.iter().position(|other| other == name).unwrap_or(at);
            let pair = [at, there];
            let [a, b] = [0, 1].map(|side| &studies[side].axes[pair[side]]);
            let single = a.values.len() == 1 && b.values.len() == 1;
            match single && key(a, 0) != key(b, 0) {
                true => places.fixed.push(pair),
                false => places.axes.push(pair),
            }
        }
        Ok(places)
    }

    /// The rows of a side, point by point in the order of the table.
    pub fn rows<'r>(&self, side: usize, rows: &'r [Row]) -> Vec<Place<'r>> {
        let mut places: Vec<Place> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for row in rows {
            let axes = || {
                let axes = self.axes.iter().map(|pair| pair[side]);
                axes.map(|axis| (&self.studies[side].axes[axis], row.at[axis]))
            };
            let key: Vec<String> = axes().map(|(axis, value)| key(axis, value)).collect();
            let place = *known.entry(key.clone()).or_insert(places.len());
            if place == places.len() {
                let labels: Vec<(String, String)> = axes()
                    .map(|(axis, value)| (axis.name.clone(), axis.values[value].label.clone()))
                    .collect();
                places.push(Place {
                    key,
                    name: name(&labels),
                    labels,
                    rows: Vec::new(),
                });
            }
            places[place].rows.push(row);
        }
        places
    }

    /// A remark on axes that are left out.
    pub fn remark(&self, other: usize) -> Option<String> {
        let axis = |pair: &[usize; 2]| {
            let [a, b] = [0, 1].map(|side| &self.studies[side].axes[pair[side]]);
            format!(
                "{}: {} and {}",
                a.name, a.values[0].label, b.values[0].label
            )
        };
        let axes: Vec<String> = self.fixed.iter().map(axis).collect();
        (!axes.is_empty()).then(|| {
            format!(
                "Points of A and {} match without the axis on which each has one value ({}).",
                letter(other),
                axes.join("; ")
            )
        })
    }
}

/// A value of an axis, in the same words for equal numbers of one unit.
fn key(axis: &Axis, value: usize) -> String {
    let own = &axis.values[value];
    match own.number {
        Some(number) => format!("{number} {}", axis.unit),
        None => own.label.clone(),
    }
}

/// `routing=minimal load=0.3`.
pub(super) fn name(labels: &[(String, String)]) -> String {
    let words = labels.iter().map(|(axis, label)| format!("{axis}={label}"));
    match labels.is_empty() {
        true => "the only point".to_string(),
        false => words.collect::<Vec<_>>().join(" "),
    }
}
