//! An order of the values along an axis, as the bound of a claim.

use super::axis::Axis;
use super::selection::Selection;
use weir_input::{ConfigError, Given};
use weir_model::Invalid;

/// A direction along these values of an axis, which is kept but for the slack (a fraction).
#[derive(Clone, Debug)]
pub(crate) struct Trend {
    pub(crate) axis: usize,
    pub(crate) values: Vec<usize>,
    pub(crate) rising: bool,
    pub(crate) slack: f64,
    /// All values have to be there, and equal is not enough.
    pub(crate) strict: bool,
}

impl Trend {
    /// Refuses an order whose values are not all selected, or that names one twice; and a direction
    /// with fewer than two selected.
    pub(crate) fn check(
        &self,
        given: &Given,
        axes: &[Axis],
        selection: &Selection,
    ) -> Result<(), ConfigError> {
        let axis = &axes[self.axis];
        let selected = selection.on(self.axis);
        let refuse = |key: &str, message: String, remedy: &str| {
            Err(given.refuse(Invalid::new(key, message, remedy)))
        };
        let is_there = |value: &&usize| selected.is_none_or(|selected| selected.contains(value));
        if !self.strict {
            return match self.values.iter().filter(is_there).count() {
                0 | 1 => {
                    let message = format!("one value of `{}` has no direction", axis.name);
                    refuse(
                        "where",
                        message,
                        "select two or more, or leave the axis out",
                    )
                }
                _ => Ok(()),
            };
        }
        for (index, value) in self.values.iter().enumerate() {
            let name = format!("{}={}", axis.name, axis.values[*value].label);
            if !is_there(&value) {
                let message = format!("{name} is part of the order, and not selected");
                return refuse("where", message, "leave out the axis of the order");
            }
            if self.values[..index].contains(value) {
                let message = format!("{name} is named twice");
                return refuse("order.values", message, "name each value once");
            }
        }
        Ok(())
    }
}
