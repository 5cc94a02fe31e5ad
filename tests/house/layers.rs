//! The order of the modules at the top of a crate. That of the crates is in their manifests, and
//! the compiler holds it.

use std::collections::BTreeMap;

use super::limits::{ORDERS, OTHERS};
use super::tree::{Module, Tree};

/// The names of the top-level modules of its crate that a file names, each with its first line.
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

/// The place of a top-level module in the order of its crate.
fn level(order: &[&str], module: &str) -> usize {
    let place = |wanted: &str| order.iter().position(|name| *name == wanted);
    let level = place(module).or_else(|| place(OTHERS));
    level.unwrap_or_else(|| panic!("{module} has no place in ORDERS (tests/house/limits.rs)"))
}

#[test]
fn modules_know_only_what_is_below_them() {
    let tree = Tree::new();
    let mut wrong = Vec::new();
    for (krate, order) in ORDERS {
        let modules = tree.modules.iter();
        let modules: Vec<_> = modules.filter(|module| module.krate() == *krate).collect();
        assert!(
            !modules.is_empty(),
            "{krate} is gone: remove it from ORDERS"
        );
        for module in modules {
            let Some(own) = module.path.split("::").nth(1) else {
                continue;
            };
            for (other, line) in named(module) {
                if level(order, &other) > level(order, own) {
                    wrong.push(format!(
                        "{} names crate::{other}, which is not below it: move what it needs down",
                        module.source.place(line)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
