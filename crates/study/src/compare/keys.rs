//! Differences of experiments, key by key.

use std::collections::{HashMap, HashSet};

use toml::{Table, Value};

use super::comparison::KeyChange;

/// Every key of an experiment with its value.
pub(super) type Keys = Vec<(String, String)>;

/// Every key of a resolved experiment (TOML) with its value, in the order of the text. Elements of
/// a list have their names in it, as in `workload.hot.load`, or else their numbers.
pub(super) fn flat(experiment: &str) -> Keys {
    let table: Table = experiment.parse().unwrap_or_default();
    let mut all = Vec::new();
    add_table(&mut all, "", &table);
    all
}

/// The keys of several experiments as one list: a key with several values has all of them, in the
/// order of the experiments.
pub(super) fn merged<'a>(experiments: impl IntoIterator<Item = &'a Keys>) -> Keys {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (key, value) in experiments.into_iter().flatten() {
        let place = *places.entry(key).or_insert(all.len());
        match all.get_mut(place) {
            None => all.push((key.clone(), vec![value])),
            Some((_, values)) if !values.contains(&&**value) => values.push(value),
            Some(_) => {}
        }
    }
    let joined = all
        .into_iter()
        .map(|(key, values)| (key, values.join(", ")));
    joined.collect()
}

fn add_table(all: &mut Keys, above: &str, table: &Table) {
    for (key, value) in table {
        let path = match above {
            "" => key.clone(),
            above => format!("{above}.{key}"),
        };
        add(all, path, value);
    }
}

fn add(all: &mut Keys, path: String, value: &Value) {
    match value {
        Value::Table(table) if !table.is_empty() => add_table(all, &path, table),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_table) => {
            for (name, item) in names(items).into_iter().zip(items) {
                add(all, format!("{path}.{name}"), item);
            }
        }
        Value::String(text) => all.push((path, text.clone())),
        other => all.push((path, other.to_string())),
    }
}

/// Names of the elements of a list; their numbers if not all have a name that no other has.
fn names(items: &[Value]) -> Vec<String> {
    let own = items.iter().map(|item| item.get("name")?.as_str());
    let own: Option<Vec<&str>> = own.collect();
    let distinct = |names: &Vec<&str>| names.iter().collect::<HashSet<_>>().len() == names.len();
    match own.filter(distinct) {
        Some(names) => names.into_iter().map(str::to_string).collect(),
        None => (0..items.len()).map(|number| number.to_string()).collect(),
    }
}

/// The keys whose values differ, in the order of the first experiment, and the number of keys that
/// are the same in all.
pub(super) fn differences(all: &[impl AsRef<[(String, String)]>]) -> (Vec<KeyChange>, usize) {
    let differs = |change: &KeyChange| change.values.iter().any(|own| *own != change.values[0]);
    let (different, same): (Vec<KeyChange>, Vec<KeyChange>) =
        changes(all).into_iter().partition(differs);
    (different, same.len())
}

/// All keys with their values in each experiment, in the order of the first.
pub(super) fn changes(all: &[impl AsRef<[(String, String)]>]) -> Vec<KeyChange> {
    let by_key: Vec<HashMap<&str, &str>> = all
        .iter()
        .map(|own| {
            let own = own.as_ref().iter();
            own.map(|(key, value)| (&**key, &**value)).collect()
        })
        .collect();
    let mut seen = HashSet::new();
    let keys = all.iter().flat_map(|own| own.as_ref()).map(|(key, _)| key);
    let keys = keys.filter(|key| seen.insert(*key));
    let change = |key: &String| KeyChange {
        key: key.clone(),
        values: (by_key.iter())
            .map(|own| own.get(&**key).map(|value| value.to_string()))
            .collect(),
    };
    keys.map(change).collect()
}

/// Remarks if `which`, which has other values of these keys, has another network or workload than
/// A.
pub(super) fn remarks<'a>(keys: impl Iterator<Item = &'a str> + Clone, which: &str) -> Vec<String> {
    let changed = |below: &str| keys.clone().any(|key| key.starts_with(below));
    let subjects = [("topology.", "network"), ("workload.", "workload")];
    let changed = subjects.iter().filter(|(below, _)| changed(below));
    changed
        .map(|(_, what)| format!("{which} has another {what} than A."))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_set_and_elements_go_by_name() {
        let one = "a = 1\n[topology]\nkind = \"torus\"\nlink = { latency = \"5 ns\" }\n\
                   [[workload]]\nname = \"hot\"\nload = 0.5\n[[workload]]\nname = \"cold\"\nload = 0.1\n";
        let other = "a = 1\n[topology]\nkind = \"torus\"\nlink = { latency = \"6 ns\" }\n\
                     [[workload]]\nname = \"cold\"\nload = 0.1\nextra = [1, 2]\n";
        let (different, same) = differences(&[flat(one), flat(other)]);
        let found: Vec<(&str, Vec<Option<&str>>)> = different
            .iter()
            .map(|one| (&*one.key, one.values.iter().map(Option::as_deref).collect()))
            .collect();
        assert_eq!(
            found,
            [
                ("topology.link.latency", vec![Some("5 ns"), Some("6 ns")]),
                ("workload.hot.name", vec![Some("hot"), None]),
                ("workload.hot.load", vec![Some("0.5"), None]),
                ("workload.cold.extra", vec![None, Some("[1, 2]")]),
            ]
        );
        assert_eq!(same, 4, "a, kind, name and load of cold");
    }

    #[test]
    fn several_experiments_have_one_list() {
        let all = ["a = 1\nb = 2\n", "a = 1\nb = 3\nc = 4\n"].map(flat);
        let pairs = [("a", "1"), ("b", "2, 3"), ("c", "4")];
        assert_eq!(
            merged(&all),
            pairs.map(|(key, value)| (key.to_string(), value.to_string()))
        );
    }
}
