//! `--set key.path=value`: changes to the experiment from the command line.

pub(super) mod fork;

use std::sync::Arc;

use weir_input::error::Origin;
use weir_input::tree::{Member, Node, Value};
use weir_input::{ConfigError, printable, suggest};

const HOW: &str =
    "write `--set key.path=value`, for example `--set run.seed=7` or `--set workload.0.load=0.4`";

/// No key of an experiment file is so deep.
const DEEPEST: usize = 64;

/// Applies one `--set` to the whole file. Keys that no section knows are found later, with all
/// others.
pub(super) fn apply(root: &mut Node, given: &str) -> Result<(), ConfigError> {
    let (path, value) = parsed(given)?;
    place_at(root, &path, value)
}

/// The path of keys of a `--set`, and its value.
pub(super) fn parsed(given: &str) -> Result<(String, Node), ConfigError> {
    let origin = Origin::Set(Arc::from(given));
    let Some((path, value)) = given.split_once('=') else {
        return Err(ConfigError::at(&origin, "there is no `=`", HOW));
    };
    let parts = parts(path, &origin, HOW)?;
    let value = Node::from_set(value.trim(), &origin)?;
    printable::one(path, false, "the path of keys", &origin)?;
    printable::all(&value, path)?;
    Ok((parts.join("."), value))
}

/// Puts `value` at a path of keys below `root`; errors point at the value.
pub(super) fn place_at(root: &mut Node, key: &str, value: Node) -> Result<(), ConfigError> {
    let origin = value.origin.clone();
    let how = "write keys with dots between them, as in \"run.until\" or \"workload.0.load\"";
    let parts = parts(key, &origin, how)?;
    place(root, &parts, 0, value, &origin)
}

/// The keys of a path, from the outermost on: at most [`DEEPEST`].
fn parts<'a>(path: &'a str, origin: &Origin, how: &str) -> Result<Vec<&'a str>, ConfigError> {
    let parts: Vec<&str> = path.split('.').map(str::trim).collect();
    if parts.len() > DEEPEST {
        let message = format!("a path of {} keys is too long", parts.len());
        return Err(ConfigError::at(origin, message, how));
    }
    match parts.iter().any(|part| part.is_empty()) {
        true => {
            let message = format!("{path:?} is not a path of keys");
            Err(ConfigError::at(origin, message, how))
        }
        false => Ok(parts),
    }
}

/// Puts `value` at `parts[depth..]` below `node`.
fn place(
    node: &mut Node,
    parts: &[&str],
    depth: usize,
    value: Node,
    origin: &Origin,
) -> Result<(), ConfigError> {
    let Some(part) = parts.get(depth) else {
        *node = value;
        return Ok(());
    };
    let type_name = node.type_name();
    match &mut node.value {
        Value::Table(members) => {
            let at = members
                .iter()
                .position(|m| m.key == *part)
                .unwrap_or_else(|| {
                    members.push(Member {
                        key: part.to_string(),
                        origin: origin.clone(),
                        value: Node {
                            value: Value::Table(Vec::new()),
                            origin: origin.clone(),
                        },
                    });
                    members.len() - 1
                });
            place(&mut members[at].value, parts, depth + 1, value, origin)
        }
        Value::Array(items) => {
            let at = element(items, part).ok_or_else(|| no_element(items, parts, depth, origin))?;
            place(&mut items[at], parts, depth + 1, value, origin)
        }
        _ => Err(ConfigError::at(
            origin,
            format!(
                "{} is {type_name}: it has no `{part}`",
                parts[..depth].join(".")
            ),
            format!("set {} itself", parts[..depth].join(".")),
        )),
    }
}

/// An element by its index, or by its name, or by the name it gets by default.
fn element(items: &[Node], part: &str) -> Option<usize> {
    match part.parse::<usize>() {
        Ok(index) => Some(index).filter(|&index| index < items.len()),
        Err(_) => names(items).iter().position(|name| name == part),
    }
}

pub(super) fn names(items: &[Node]) -> Vec<String> {
    let name = |(index, item): (usize, &Node)| match item.get("name").map(|m| &m.value.value) {
        Some(Value::String(name)) => name.clone(),
        _ => format!("workload{index}"),
    };
    items.iter().enumerate().map(name).collect()
}

/// The names of the workloads of a list, each copy by its own.
pub(super) fn names_of_all(items: &[Node]) -> Vec<String> {
    let each = names(items).into_iter().zip(items);
    let all = each.flat_map(
        |(name, item)| match item.get("copies").map(|m| &m.value.value) {
            Some(&Value::Integer(count)) => (0..count.clamp(0, MOST_NAMES))
                .map(|number| copy_name(&name, number as u32))
                .collect(),
            _ => vec![name],
        },
    );
    all.collect()
}

/// Name of a copy of a workload.
pub(super) fn copy_name(name: &str, number: u32) -> String {
    format!("{name}-{number}")
}

/// No figure shows more jobs.
pub(super) const MOST_NAMES: i64 = 10_000;

fn no_element(items: &[Node], parts: &[&str], depth: usize, origin: &Origin) -> ConfigError {
    let (list, part) = (parts[..depth].join("."), parts[depth]);
    if list == "workload" && part.parse::<usize>().is_err() {
        let names = names(items);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return ConfigError::at(
            origin,
            format!("there is no workload called {part:?}"),
            suggest(part, "names", &names, '"'),
        );
    }
    let remedy = match items.len() {
        0 => "the list is empty".to_string(),
        count => format!("use an index from 0 to {}", count - 1),
    };
    ConfigError::at(origin, format!("{list} has no element {part:?}"), remedy)
}
