//! Selection of points: axis = value, or a list of values.

use super::axis::Axis;
use weir_input::Given;
use weir_input::{ConfigError, suggest};
use weir_model::Invalid;

/// Some of the points of a study: the points whose value on every axis named is one of the given
/// values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Index of the axis, indices of its values in the order in which they are written.
    pub axes: Vec<(usize, Vec<usize>)>,
}

impl Selection {
    /// Reads a table of axes and values.
    pub(crate) fn read(given: &Given, axes: &[Axis]) -> Result<Selection, ConfigError> {
        let members = given.members().ok_or_else(|| {
            given.wrong(
                format!("expected a table, got {}", given.type_name()),
                "write { axis = value, … }",
            )
        })?;
        let mut chosen = Vec::new();
        for (name, given) in members {
            let axis = axis_named(&given, axes, &name)?;
            let values = given.items().unwrap_or_else(|| vec![given.clone()]);
            if values.is_empty() {
                return Err(given.wrong("no value is given", "give at least one"));
            }
            let found = values.iter().map(|value| axes[axis].find(value));
            chosen.push((axis, found.collect::<Result<Vec<_>, _>>()?));
        }
        Ok(Selection { axes: chosen })
    }

    /// The same points in a study that has kept some values of its axes; None if it has none of
    /// them.
    pub(crate) fn within(&self, whole: &[Axis], kept: &[Axis]) -> Option<Selection> {
        let place = |axis: usize, value: &usize| {
            let label = &whole[axis].values[*value].label;
            let values = &kept[axis].values;
            values.iter().position(|value| &value.label == label)
        };
        let axes = self.axes.iter().map(|(axis, values)| {
            let values: Vec<usize> = values.iter().filter_map(|v| place(*axis, v)).collect();
            (!values.is_empty()).then_some((*axis, values))
        });
        let axes = axes.collect::<Option<_>>()?;
        Some(Selection { axes })
    }

    /// Reads the key `key` of `given`; everything if it is not there.
    pub(crate) fn of(given: &Given, key: &str, axes: &[Axis]) -> Result<Selection, ConfigError> {
        match given.get(key) {
            Some(given) => Selection::read(&given, axes),
            None => Ok(Selection::default()),
        }
    }

    /// Reads the key `where` of a reference: one value for each axis that is named.
    pub(crate) fn elsewhere(at: &Given, axes: &[Axis]) -> Result<Vec<(usize, usize)>, ConfigError> {
        let one = |(axis, values): (usize, Vec<usize>)| match values.as_slice() {
            [value] => Ok((axis, *value)),
            _ => Err(at.refuse(Invalid::new(
                "where",
                format!("several values of the axis `{}`", axes[axis].name),
                "name one value to compare with",
            ))),
        };
        let selection = Selection::of(at, "where", axes)?;
        selection.axes.into_iter().map(one).collect()
    }

    /// True if a point at these places (an index into the values of each axis) is one of them.
    pub fn has(&self, at: &[usize]) -> bool {
        self.axes
            .iter()
            .all(|(axis, values)| values.contains(&at[*axis]))
    }

    /// The values chosen on an axis, if it is named.
    pub fn on(&self, axis: usize) -> Option<&[usize]> {
        let (_, values) = self.axes.iter().find(|(own, _)| *own == axis)?;
        Some(values)
    }
}

/// The index of the axis called `name`; `given` is the place of the name.
pub(crate) fn axis_named(given: &Given, axes: &[Axis], name: &str) -> Result<usize, ConfigError> {
    axes.iter()
        .position(|axis| axis.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            given.wrong(
                format!("there is no axis `{name}`"),
                suggest(name, "axes", &names, '`'),
            )
        })
}
