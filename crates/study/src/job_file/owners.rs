//! The keys that axes set: no two axes the same, and none that something else sets in vain.

use std::collections::HashSet;

use super::super::metric::Metric;
use super::axis::{Axis, AxisValue};
use super::keys::Options;
use weir_input::{ConfigError, Given};

/// The axes of a study, and the names of its workloads in their order.
#[derive(Clone, Copy)]
pub(super) struct Owners<'a> {
    axes: &'a [Axis],
    workloads: &'a [String],
}

impl<'a> Owners<'a> {
    pub fn new(axes: &'a [Axis], workloads: &'a [String]) -> Owners<'a> {
        Owners { axes, workloads }
    }

    /// Names of axes are unique. No key is set by two axes, or twice by a value of one. No `--set`
    /// is undone by an axis, and no `set` of `[reduced]`.
    pub fn check(self, options: &Options, reduced: Option<&Given>) -> Result<(), ConfigError> {
        self.distinct()?;
        self.none_in_vain(options, reduced)
    }

    fn distinct(self) -> Result<(), ConfigError> {
        let mut names = HashSet::from(["point", "hash", "state", "seed"]);
        for axis in self.axes {
            if !names.insert(axis.name.as_str()) {
                let message = format!("the name `{}` is taken", axis.name);
                return Err(axis.refuse(
                    "name",
                    message,
                    "give each axis its own name; point, hash, state and seed are columns of the \
                     table",
                ));
            }
        }
        for (index, axis) in self.axes.iter().enumerate() {
            for value in &axis.values {
                let mut own = HashSet::new();
                for key in self.keys(value) {
                    let before = self.axes[..index].iter();
                    if let Some(other) = before.clone().find(|other| self.sets(other, &key)) {
                        let message = format!("the axis `{}` sets {key} too", other.name);
                        return Err(axis.refuse("", message, "let one axis set it"));
                    }
                    if own.contains(&key) {
                        let message = format!("the value {:?} sets {key} twice", value.label);
                        return Err(axis.refuse("", message, "name the key once"));
                    }
                    own.insert(key);
                }
            }
        }
        Ok(())
    }

    fn none_in_vain(self, options: &Options, reduced: Option<&Given>) -> Result<(), ConfigError> {
        for set in &options.sets {
            let key = set.split('=').next().unwrap_or_default().trim();
            if let Some(axis) = self.owner(key) {
                let message = format!(
                    "--set {set}: the axis `{}` sets this key at every point",
                    axis.name
                );
                let remedy = "change the values of the axis in the job file";
                return Err(ConfigError::new(message, remedy));
            }
        }
        let members = reduced.and_then(|given| given.get("set")?.members());
        for (key, value) in members.unwrap_or_default() {
            if let Some(axis) = self.owner(&key) {
                let message = format!("the axis `{}` sets {key} at every point", axis.name);
                let remedy = "leave it out, or write `axis` to keep some values";
                return Err(value.wrong(message, remedy));
            }
        }
        Ok(())
    }

    /// A metric may be a column of the table beside the axes.
    pub fn no_metric(self, jobs: &[String]) -> Result<(), ConfigError> {
        let metric = |axis: &&Axis| Metric::parse(&axis.name, jobs).is_ok();
        self.axes.iter().find(metric).map_or(Ok(()), |axis| {
            let message = format!("the name `{}` is taken: it is a metric", axis.name);
            Err(axis.refuse("name", message, "give the axis another name"))
        })
    }

    /// The axis that sets a key, or the section that it is in.
    fn owner(self, key: &str) -> Option<&'a Axis> {
        let key = self.by_name(key);
        let above = key.match_indices('.').map(|(at, _)| &key[..at]);
        let mut places = above.chain([key.as_str()]);
        places.find_map(|place| self.axes.iter().find(|axis| self.sets(axis, place)))
    }

    fn sets(self, axis: &Axis, key: &str) -> bool {
        axis.values
            .iter()
            .flat_map(|value| self.keys(value))
            .any(|own| own == key)
    }

    fn keys(self, value: &AxisValue) -> impl Iterator<Item = String> {
        value.sets.iter().map(move |(key, _)| self.by_name(key))
    }

    /// A key with the name of its workload where it has its position.
    fn by_name(self, key: &str) -> String {
        let named = || {
            let place = key.strip_prefix("workload.")?;
            let (index, rest) = place.split_once('.').unwrap_or((place, ""));
            let name = self.workloads.get(index.parse::<usize>().ok()?)?;
            Some(format!("workload.{name}.{rest}"))
        };
        named().unwrap_or_else(|| key.to_string())
    }
}
