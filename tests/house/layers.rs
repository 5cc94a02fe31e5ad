//! Which top-level modules of src/ may know which: the arrows of docs/design.md.

use std::collections::BTreeMap;

use super::limits::{KNOWS_ONLY, ORDER};
use super::tree::{Module, Tree};

/// The names of the top-level modules that a file names, each with its first line.
fn named(module: &Module) -> BTreeMap<String, usize> {
    let uses = &module.uses;
    let imports = uses.imports.iter();
    let imports = imports.map(|import| (&import.path, import.line));
    let mentions = uses.mentions.iter();
    let mentions = mentions.map(|mention| (&mention.path, mention.line));
    let mut found = BTreeMap::new();
    for (path, line) in imports.chain(mentions) {
        if let Some(name) = top(&module.path, path) {
            found.entry(name).or_insert(line);
        }
    }
    found
}

/// The top-level module that a path in `module` leads to; None if the path starts elsewhere.
fn top(module: &str, path: &[String]) -> Option<String> {
    let levels: Vec<&str> = module.split("::").collect();
    let supers = path.iter().take_while(|name| *name == "super").count();
    match (path[0].as_str(), supers) {
        ("crate", _) => path.get(1).cloned(),
        (_, supers) if supers > 0 && supers + 1 == levels.len() => path.get(supers).cloned(),
        _ => None,
    }
}

fn level(module: &str) -> usize {
    let level = ORDER.iter().position(|name| *name == module);
    level.unwrap_or_else(|| {
        panic!(
            "src/{module} has no place in ORDER (tests/house/limits.rs): put it where it belongs"
        )
    })
}

fn may_know(module: &str, other: &str) -> bool {
    let only = KNOWS_ONLY.iter().find(|(name, _)| *name == module);
    module == other
        || level(other) < level(module) && only.is_none_or(|(_, only)| only.contains(&other))
}

#[test]
fn folders_know_only_what_is_below_them() {
    let tree = Tree::new();
    let mut against = BTreeMap::new();
    for module in &tree.modules {
        let Some(own) = module.path.split("::").nth(1) else {
            continue;
        };
        let named = named(module).into_iter();
        for (other, line) in named.filter(|(other, _)| !may_know(own, other)) {
            against.insert(
                (module.source.path.as_str(), other),
                module.source.place(line),
            );
        }
    }
    let wrong: Vec<String> = (against.iter())
        .map(|((_, module), place)| {
            format!("{place} names crate::{module}, which is not below it: move what it needs down")
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
