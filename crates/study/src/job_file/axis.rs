//! `[[axis]]`: differences between points.

use std::collections::HashSet;

use super::bound::quantity;
use super::keys::{AxisFile, RangeFile};
use weir_input::Given;
use weir_input::{ConfigError, suggest};
use weir_model::Invalid;

/// More values than a study can have.
const MOST: u32 = 100_000;

/// An axis of a study.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Name in figures.
    pub label: String,
    /// The unit of the numbers of its values; empty for plain numbers.
    pub unit: String,
    /// Its values, at least one.
    pub values: Vec<AxisValue>,
    /// Simulated time from which they hold, if that is not the whole run.
    pub(crate) fork_at: Option<Given>,
    given: Given,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub struct AxisValue {
    /// Name in tables and figures.
    pub label: String,
    /// As a number, if all values of the axis are numbers of one unit.
    pub number: Option<f64>,
    /// Keys of the experiment and their values.
    pub(crate) sets: Vec<(String, Given)>,
    quantity: Option<(f64, String)>,
}

impl Axis {
    /// Reads one `[[axis]]`.
    pub(crate) fn read(given: &Given) -> Result<Axis, ConfigError> {
        let section = given.section();
        let file: AxisFile = section.parse()?;
        check_name(given, "name", &file.name)?;
        let values = given
            .get("values")
            .ok_or_else(|| given.wrong("the key `values` is missing", "add `values = [ … ]`"))?;
        let mut values = one_by_one(&values)?
            .iter()
            .map(|value| read_value(value, &file, given))
            .collect::<Result<Vec<_>, _>>()?;
        relabel(&mut values, &file, given)?;
        let unit = number(&mut values);
        unique(&values, given)?;
        Ok(Axis {
            label: file.label.unwrap_or_else(|| file.name.clone()),
            name: file.name,
            unit: unit.unwrap_or_default(),
            values,
            fork_at: file.fork_at.and_then(|_| given.get("fork_at")),
            given: given.clone(),
        })
    }

    /// True if all its values are numbers of one unit.
    pub fn numeric(&self) -> bool {
        self.values.iter().all(|value| value.number.is_some())
    }

    /// The name of a value on a figure: a bare number, `true` or `false` says nothing, and stands
    /// behind the name of the axis, joined by `joint`.
    pub fn said(&self, at: usize, joint: &str) -> String {
        let label = &self.values[at].label;
        match self.numeric() || ["true", "false"].contains(&label.as_str()) {
            true => format!("{}{joint}{label}", self.label),
            false => label.clone(),
        }
    }

    /// The value with the given name: by its label, or as a number.
    pub fn find(&self, given: &Given) -> Result<usize, ConfigError> {
        let shown = given.shown();
        let label = self.values.iter().position(|value| value.label == shown);
        let wanted = given.number().map(|number| (number, String::new()));
        let wanted = wanted.or_else(|| quantity(given.text()?));
        let number = || {
            let (number, unit) = wanted.as_ref()?;
            let same = |value: &AxisValue| {
                let own = value.quantity.as_ref();
                own.is_some_and(|(own, own_unit)| close(*own, *number) && own_unit == unit)
            };
            self.values.iter().position(same)
        };
        label.or_else(number).ok_or_else(|| {
            let labels: Vec<&str> = self.values.iter().map(|v| v.label.as_str()).collect();
            given.wrong(
                format!("{shown:?} is not a value of the axis `{}`", self.name),
                suggest(&shown, "values", &labels, '"'),
            )
        })
    }

    /// Keeps these values only, in the order of the axis.
    pub(crate) fn keep(&mut self, wanted: &[usize]) {
        let mut index = 0;
        self.values.retain(|_| {
            index += 1;
            wanted.contains(&(index - 1))
        });
    }

    /// An error about this axis.
    pub(crate) fn refuse(&self, key: &str, message: String, remedy: &str) -> ConfigError {
        self.given.refuse(Invalid::new(key, message, remedy))
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Names of axes, figures and claims appear in file names and tables.
pub(crate) fn check_name(given: &Given, key: &str, name: &str) -> Result<(), ConfigError> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(good) && !name.starts_with('.') {
        return Ok(());
    }
    Err(given.refuse(Invalid::new(
        key,
        format!("{name:?} is not a name"),
        "use letters, digits, `_`, `-` and `.`, and begin with another than `.`",
    )))
}

/// The values one by one: of a list, or of a range.
fn one_by_one(values: &Given) -> Result<Vec<Given>, ConfigError> {
    let list = match (values.items(), values.members()) {
        (Some(items), _) => items,
        (None, Some(_)) => range(values)?,
        (None, None) => {
            return Err(values.wrong(
                format!("expected a list of values, got {}", values.type_name()),
                "write values = [ … ], or values = { from = …, to = …, step = … }",
            ));
        }
    };
    if list.is_empty() {
        return Err(values.wrong(
            "the axis has no values",
            "give at least one, or remove the axis",
        ));
    }
    Ok(list)
}

fn range(values: &Given) -> Result<Vec<Given>, ConfigError> {
    let RangeFile {
        from,
        to,
        step,
        count,
    } = values.section().parse()?;
    let steps = match (step, count) {
        (Some(step), None) if step > 0.0 && to >= from => {
            let steps = (to - from) / step;
            let none = steps.round() == 0.0 && to > from;
            if none || (steps - steps.round()).abs() > 1e-6 {
                return Err(values.refuse(Invalid::new(
                    "step",
                    format!("steps of {step} do not lead from {from} to {to}"),
                    "choose a step that divides the distance, or give `count`",
                )));
            }
            steps.round()
        }
        (None, Some(count)) if count >= 2 && to > from => f64::from(count - 1),
        (Some(_), Some(_)) => {
            let remedy = "leave one of them out";
            return Err(values.wrong("a range has `step` or `count`, not both", remedy));
        }
        _ => {
            return Err(values.wrong(
                format!("no range from {from} to {to}"),
                "give `from`, a larger `to`, and either `step` (more than 0) or `count` (at least \
                 2)",
            ));
        }
    };
    if steps >= f64::from(MOST) {
        return Err(values.wrong(
            format!("{steps} values are too many"),
            format!("stay below {MOST}"),
        ));
    }
    let ends = ["from", "to", "step"].map(|key| values.get(key));
    let whole = ends.iter().flatten().all(|end| end.whole().is_some());
    let from_given = values.get("from").unwrap_or_else(|| values.clone());
    let one = |index: u32| {
        let exact = from + (to - from) * f64::from(index) / steps.max(1.0);
        // Twelve digits: 0.1 + 0.2 is 0.3 to people.
        let number: f64 = format!("{exact:.11e}").parse().unwrap_or(exact);
        let given = from_given.with_number(number);
        match whole {
            true => given,
            false => given.as_float(),
        }
    };
    Ok((0..=steps as u32).map(one).collect())
}

fn read_value(value: &Given, file: &AxisFile, axis: &Given) -> Result<AxisValue, ConfigError> {
    let (label, sets) = match (&file.key, &file.keys) {
        (Some(key), None) => (value.shown(), vec![(key.clone(), value.clone())]),
        (None, Some(keys)) => together(value, keys, axis)?,
        (None, None) => from_table(value)?,
        (Some(_), Some(_)) => {
            return Err(axis.refuse(Invalid::new(
                "keys",
                "`key` and `keys` are both given",
                "remove one of the two",
            )));
        }
    };
    let number = value.number().map(|number| (number, String::new()));
    // Several values are no number with a unit, whatever their label looks like.
    let named = || value.items().is_none().then(|| quantity(&label)).flatten();
    Ok(AxisValue {
        quantity: number.or_else(named),
        label,
        number: None,
        sets,
    })
}

type Sets = Vec<(String, Given)>;

fn together(value: &Given, keys: &[String], axis: &Given) -> Result<(String, Sets), ConfigError> {
    if keys.is_empty() {
        let invalid = Invalid::new("keys", "the list is empty", "name at least one key");
        return Err(axis.refuse(invalid));
    }
    let Some(items) = value.items() else {
        let sets = keys.iter().map(|key| (key.clone(), value.clone()));
        return Ok((value.shown(), sets.collect()));
    };
    if items.len() != keys.len() {
        return Err(value.wrong(
            format!("{} values for {} keys", items.len(), keys.len()),
            "write a list with one value for each key, or one value for all",
        ));
    }
    let shown: Vec<String> = items.iter().map(Given::shown).collect();
    let sets = keys.iter().cloned().zip(items);
    Ok((shown.join(" / "), sets.collect()))
}

fn from_table(value: &Given) -> Result<(String, Sets), ConfigError> {
    let how = "name the key that the axis changes (`key = \"workload.0.load\"`), or write values \
               as tables: { label = \"…\", \"congestion.scheme\" = \"…\" }";
    let members = value
        .members()
        .ok_or_else(|| value.wrong(format!("expected a table, got {}", value.type_name()), how))?;
    let mut label = None;
    let mut sets = Vec::new();
    for (key, given) in members {
        if key != "label" {
            sets.push((key, given));
            continue;
        }
        let text = given.text().map(str::to_string);
        label = Some(text.ok_or_else(|| given.wrong("expected a text in quotes", how))?);
    }
    // `workload.0.load = …` without quotes is a table of a table.
    if let Some((_, given)) = sets
        .iter()
        .find(|(key, given)| key == "workload" && given.members().is_some())
    {
        return Err(given.wrong(
            "a table in the place of all workloads",
            "put the key in quotes: \"workload.0.load\" = …",
        ));
    }
    let label =
        label.ok_or_else(|| value.wrong("the key `label` is missing", "add label = \"…\""))?;
    Ok((label, sets))
}

fn relabel(values: &mut [AxisValue], file: &AxisFile, given: &Given) -> Result<(), ConfigError> {
    let Some(labels) = &file.labels else {
        return Ok(());
    };
    if labels.len() != values.len() {
        return Err(given.refuse(Invalid::new(
            "labels",
            format!("{} labels for {} values", labels.len(), values.len()),
            "give one for each value",
        )));
    }
    for (value, label) in values.iter_mut().zip(labels) {
        value.label.clone_from(label);
    }
    Ok(())
}

/// Sets the number of all values if they have one unit; returns that unit.
fn number(values: &mut [AxisValue]) -> Option<String> {
    let (_, unit) = values.first()?.quantity.clone()?;
    let same = |value: &AxisValue| value.quantity.as_ref().is_some_and(|(_, u)| *u == unit);
    if !values.iter().all(same) {
        return None;
    }
    for value in values {
        value.number = value.quantity.as_ref().map(|(number, _)| *number);
    }
    Some(unit)
}

fn unique(values: &[AxisValue], given: &Given) -> Result<(), ConfigError> {
    let mut seen = HashSet::new();
    for (index, value) in values.iter().enumerate() {
        if !seen.insert(&value.label) {
            return Err(given.refuse(Invalid::new(
                format!("values.{index}"),
                format!("the value {:?} is given twice", value.label),
                "remove one of the two, or give them different labels",
            )));
        }
        if value.label.is_empty() {
            return Err(given.refuse(Invalid::new(
                format!("values.{index}"),
                "the label is empty",
                "give it a name",
            )));
        }
    }
    Ok(())
}
