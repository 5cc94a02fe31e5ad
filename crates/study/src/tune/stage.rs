//! The job files of a search, and the evaluation of its tables.

use super::read::divided;
use super::{SECTION, Setting, Tune};
use crate::dir::same_title;
use crate::metric::names::{CRITERION, SCORE};
use crate::{Study, Table};
use weir_input::ConfigError;
use weir_input::Given;
use weir_input::registry::range::ScaleKind;

/// Beginning of the job files that a search writes.
const WRITTEN: &str = "# Written by `weir tune`";

/// True if two job files are of one search: both were written by one, with the same title.
pub fn same_search(one: &str, other: &str) -> bool {
    [one, other].iter().all(|text| text.starts_with(WRITTEN)) && same_title(one, other)
}

/// The axis of the references.
const REFERENCE: &str = "reference";

impl Tune {
    /// The job file of the references; None if there are none.
    pub fn reference_job(&self) -> Option<String> {
        if self.references.is_empty() {
            return None;
        }
        let value = |(label, given): (&String, &Given)| {
            let set = given.get("set").and_then(|set| set.members());
            let set = set.into_iter().flatten();
            let keys = set.map(|(key, value)| format!(", {key:?} = {}", value.toml()));
            format!("  {{ label = {label:?}{} }},\n", keys.collect::<String>())
        };
        let values = self.references.iter().zip(&self.reference_sets).map(value);
        let axis = format!(
            "axis = [{{ name = {REFERENCE:?}, values = [\n{}] }}]\n",
            values.collect::<String>()
        );
        // Each metric as it is; a better direction is not needed here.
        let plain = |given: &Given| {
            let metric = given
                .get("metric")
                .map(|metric| metric.toml())
                .unwrap_or_default();
            let name = given
                .get("name")
                .map(|name| name.toml())
                .unwrap_or_default();
            format!("  {{ name = {name}, metric = {metric}, goal = \"max\" }},\n")
        };
        let compared = self
            .criteria
            .iter()
            .filter(|one| self.reference_of(one).is_some());
        let criteria = compared.map(plain).collect::<String>();
        Some(format!(
            "{}{axis}criterion = [\n{criteria}]\n\n{}",
            self.head("what settings are compared with"),
            self.resolved
        ))
    }

    /// The job file of all settings so far. `references` is the table of the references.
    ///
    /// # Errors
    /// If something that a criterion compares with was not measured.
    pub fn job(
        &self,
        settings: &[Setting],
        references: Option<(&Study, &Table)>,
    ) -> Result<String, ConfigError> {
        let axes: String = (0..self.parameters.len())
            .map(|at| self.axis(at, settings))
            .collect();
        let only = settings.iter().map(|setting| {
            let pair = |(parameter, &value): (&super::Parameter, &f64)| {
                format!("{} = {}", parameter.key, parameter.literal(value))
            };
            let pairs: Vec<String> = self.parameters.iter().zip(setting).map(pair).collect();
            format!("  {{ {} }},\n", pairs.join(", "))
        });
        let criteria = self.criteria.iter().map(|given| {
            let given = match self.reference_of(given) {
                Some(at) => self.compared(given, at, references)?,
                None => given.clone(),
            };
            Ok(format!("  {},\n", given.toml()))
        });
        let criteria = criteria.collect::<Result<String, ConfigError>>()?;
        Ok(format!(
            "{}axis = [\n{axes}]\nonly = [\n{}]\ncriterion = [\n{criteria}]\nfigure = [\n{}]\n\n{}",
            self.head("all settings so far"),
            only.collect::<String>(),
            self.figures(settings.len()),
            self.resolved
        ))
    }

    fn head(&self, what: &str) -> String {
        let seeds = self
            .seeds
            .as_ref()
            .map(|seeds| format!("seeds = {seeds:?}\n"));
        format!(
            "{WRITTEN}: {what}.\ntitle = {:?}\n{}",
            format!("{}: {} tuned", self.title, self.scheme),
            seeds.unwrap_or_default()
        )
    }

    /// The values of a parameter that occur, ascending.
    fn axis(&self, at: usize, settings: &[Setting]) -> String {
        let parameter = &self.parameters[at];
        let mut values: Vec<f64> = settings.iter().map(|setting| setting[at]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let values: Vec<String> = values
            .into_iter()
            .map(|one| parameter.literal(one))
            .collect();
        let (key, values) = (&parameter.key, values.join(", "));
        format!("  {{ name = {key:?}, key = \"{SECTION}.{key}\", values = [{values}] }},\n")
    }

    /// A criterion that divides by the value of its metric in a reference.
    fn compared(
        &self,
        given: &Given,
        at: usize,
        references: Option<(&Study, &Table)>,
    ) -> Result<Given, ConfigError> {
        let name = given.get("name");
        let name = name.as_ref().and_then(Given::text).unwrap_or_default();
        let column = format!("{CRITERION}.{name}");
        let found = references.and_then(|(study, table)| {
            let index = table.metrics.iter().position(|own| own.name() == column)?;
            let value = study.axes.first()?.values.iter();
            let place = value
                .into_iter()
                .position(|value| value.label == self.references[at])?;
            let rows = table.rows.iter().filter(|row| row.at == [place]);
            let values: Option<Vec<f64>> = rows.map(|row| row.values[index]).collect();
            let values = values.filter(|values| !values.is_empty())?;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            Some((mean, table.metrics[index].unit().to_string()))
        });
        match found {
            Some((mean, unit)) if mean != 0.0 => divided(given, mean, &unit),
            _ => Err(given.refuse(weir_model::Invalid::new(
                "of",
                format!("the reference {:?} has no such number", self.references[at]),
                "look at its log below DIR/references, or choose another metric",
            ))),
        }
    }

    /// The maps of the score and of each criterion; curves if there is only one parameter.
    fn figures(&self, settings: usize) -> String {
        let name = |given: &Given| {
            let name = given.get("name");
            let name = name.as_ref().and_then(Given::text).unwrap_or_default();
            format!("\"{CRITERION}.{name}\"")
        };
        let names: Vec<String> = self.criteria.iter().map(name).collect();
        let word = |scale: ScaleKind| match scale {
            ScaleKind::Linear => "linear",
            ScaleKind::Log => "log",
        };
        let caption = format!("{settings} settings of {}.", self.scheme);
        let Some([x, y]) = self.map else {
            let [parameter] = self.parameters.as_slice() else {
                return String::new();
            };
            let one = |id: &str, title: &str, y: &str| {
                format!(
                    "  {{ id = {id:?}, title = {title:?}, kind = \"line\", x = {:?}, y = {y}, x_scale = {:?}, caption = {caption:?} }},\n",
                    parameter.key,
                    word(parameter.scale),
                )
            };
            return one("score", "Score", "\"score\"")
                + &one(
                    "criteria",
                    "What settings are ranked by",
                    &format!("[{}]", names.join(", ")),
                );
        };
        let marks = self.marks.iter().map(|(label, setting)| {
            let at = [x, y].map(|at| {
                let parameter = &self.parameters[at];
                format!("{} = {}", parameter.key, parameter.literal(setting[at]))
            });
            format!("{{ label = {label:?}, at = {{ {} }} }}", at.join(", "))
        });
        let marks: Vec<String> = marks.collect();
        let one = |id: &str, title: &str, y_metrics: &str| {
            let [across, up] = [x, y].map(|at| &self.parameters[at]);
            format!(
                "  {{ id = {id:?}, title = {title:?}, kind = \"map\", x = {:?}, up = {:?}, y = {y_metrics}, x_scale = {:?}, y_scale = {:?}, \
                 marks = [{}], caption = {caption:?} }},\n",
                across.key,
                up.key,
                word(across.scale),
                word(up.scale),
                marks.join(", "),
            )
        };
        one("score", "Score of the settings", "\"score\"")
            + &one(
                "criteria",
                "What settings are ranked by",
                &format!("[{}]", names.join(", ")),
            )
    }

    /// The score of each setting, the mean of its seeds, and the values of its criteria.
    /// None if nothing was measured.
    pub fn outcomes(&self, settings: &[Setting], study: &Study, table: &Table) -> Vec<Outcome> {
        let column = |name: &str| table.metrics.iter().position(|own| own.name() == name);
        let score = column(SCORE);
        let criteria: Vec<usize> = (0..table.metrics.len())
            .filter(|&at| {
                table.metrics[at]
                    .name()
                    .starts_with(&format!("{CRITERION}."))
            })
            .collect();
        let outcome = |setting: &Setting| {
            let labels = self.parameters.iter().zip(setting);
            let labels: Vec<String> = labels.map(|(own, &value)| own.label(value)).collect();
            let here = |row: &&crate::Row| {
                let own = study.axes.iter().zip(&row.at).zip(&labels);
                own.into_iter()
                    .all(|((axis, &at), label)| same(&axis.values[at].label, label))
            };
            let rows: Vec<_> = table.rows.iter().filter(here).collect();
            let mean = |column: Option<usize>| {
                let values = rows.iter().map(|row| row.values.get(column?).copied()?);
                let values: Vec<f64> = values.collect::<Option<_>>()?;
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            Outcome {
                score: mean(score),
                criteria: criteria.iter().map(|&at| mean(Some(at))).collect(),
                points: rows.iter().map(|row| row.point).collect(),
            }
        };
        settings.iter().map(outcome).collect()
    }

    /// The names and units of the criteria, in the order of an [`Outcome`].
    pub fn criteria(&self, table: &Table) -> Vec<String> {
        let prefix = format!("{CRITERION}.");
        let headers = table.metrics.iter().map(|metric| metric.header());
        headers
            .filter_map(|header| Some(header.strip_prefix(&prefix)?.to_string()))
            .collect()
    }
}

/// Labels of one number: TOML's and ours may differ in a point.
fn same(a: &str, b: &str) -> bool {
    a == b || a.parse::<f64>().is_ok_and(|a| b.parse() == Ok(a))
}

/// Outcome of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The mean score of its seeds; None if one of them has none.
    pub score: Option<f64>,
    /// Its criteria, likewise.
    pub criteria: Vec<Option<f64>>,
    /// Its points in the study.
    pub points: Vec<usize>,
}
