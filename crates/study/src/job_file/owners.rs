//! The keys that axes set: no two axes the same, and none that something else sets in vain.

use std::collections::{BTreeSet, HashMap, HashSet};

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
        let mut owners: HashMap<String, &Axis> = HashMap::new();
        for axis in self.axes {
            let mut keys = BTreeSet::new();
            for value in &axis.values {
                let mut own = HashSet::new();
                for key in self.keys(value) {
                    if !own.insert(key.clone()) {
                        let message = format!("the value {:?} sets {key} twice", value.label);
                        return Err(axis.refuse("", message, "name the key once"));
                    }
                    keys.insert(key);
                }
            }
            for key in keys {
                if let Some(other) = owners.get(&key) {
                    let message = format!("the axis `{}` sets {key} too", other.name);
                    return Err(axis.refuse("", message, "let one axis set it"));
                }
                owners.insert(key, axis);
            }
        }
        Ok(())
    }

    fn none_in_vain(self, options: &Options, reduced: Option<&Given>) -> Result<(), ConfigError> {
        for set in &options.sets {
            if let Some(axis) = self.owner(key_of(set)) {
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

    /// No axis has the name of a metric: both are columns of the same table.
    pub fn no_metric(self, jobs: &[String]) -> Result<(), ConfigError> {
        let metric = |axis: &&Axis| Metric::parse(&axis.name, jobs).is_ok();
        self.axes.iter().find(metric).map_or(Ok(()), |axis| {
            let message = format!("the name `{}` is taken: it is a metric", axis.name);
            Err(axis.refuse("name", message, "give the axis another name"))
        })
    }

    /// An axis all of whose values set a key, or the section that it is in, from the beginning of
    /// the run.
    fn owner(self, key: &str) -> Option<&'a Axis> {
        let key = self.by_name(key);
        let above = key.match_indices('.').map(|(at, _)| &key[..at]);
        let places: Vec<&str> = above.chain([key.as_str()]).collect();
        let sets = |value| {
            let mut own = self.keys(value);
            own.any(|own| places.contains(&own.as_str()))
        };
        let mut axes = self.axes.iter().filter(|axis| axis.fork_at.is_none());
        axes.find(|axis| axis.values.iter().all(sets))
    }

    fn keys(self, value: &AxisValue) -> impl Iterator<Item = String> {
        value.sets.iter().map(move |(key, _)| self.by_name(key))
    }

    /// A key with the name of its workload where it has its position.
    fn by_name(self, key: &str) -> String {
        let mut parts: Vec<&str> = key.split('.').map(str::trim).collect();
        if let ["workload", place, ..] = parts.as_mut_slice()
            && let Some(name) = place
                .parse()
                .ok()
                .and_then(|at: usize| self.workloads.get(at))
        {
            *place = name;
        }
        parts.join(".")
    }
}

/// The key of a `--set`.
pub(super) fn key_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}
