//! A change of the public names shows in review: they are what programs that extend weir see.

use std::collections::BTreeMap;

use super::tree::scan::{Token, tokens};
use super::tree::{Module, Tree};

const ITEMS: [&str; 9] = [
    "const", "enum", "fn", "mod", "static", "struct", "trait", "type", "use",
];

/// A public item at the top level of a file: its kind and name, or the whole path of a `pub use`.
struct Item {
    kind: String,
    name: String,
}

fn items(module: &Module) -> Vec<Item> {
    let words = tokens(&module.source.own);
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate() {
        match word.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "pub" if depth == 0 => found.extend(item(&words[at + 1..])),
            _ => {}
        }
    }
    found
}

/// The item behind a `pub`; None for `pub(crate)` and the like.
fn item(words: &[Token]) -> Option<Item> {
    // Behind `pub const fn`, `pub unsafe trait` and so on.
    let first = words
        .iter()
        .position(|word| !["unsafe", "async"].contains(&word.text))?;
    let at = match (words[first].text, words[first + 1].text) {
        ("const", "fn") => first + 1,
        _ => first,
    };
    let kind = words[at].text;
    if !ITEMS.contains(&kind) {
        return None;
    }
    let name = match kind {
        "use" => {
            let path = words[at + 1..].iter().take_while(|word| word.text != ";");
            let words = path.map(|word| match word.text {
                "as" => " as ",
                text => text,
            });
            words.collect::<String>()
        }
        _ => words[at + 1].text.to_owned(),
    };
    let kind = kind.to_owned();
    Some(Item { kind, name })
}

/// Adds the names of a module and of the public modules in it.
fn add(tree: &BTreeMap<&str, &Module>, path: &str, names: &mut Vec<String>) {
    let Some(module) = tree.get(path) else {
        return;
    };
    let mut items = items(module);
    items.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    for Item { kind, name } in items {
        if kind == "mod" {
            add(tree, &format!("{path}::{name}"), names);
        } else {
            names.push(format!("{path} {kind} {name}"));
        }
    }
}

#[test]
fn public_names_are_the_known_ones() {
    let all = Tree::new();
    let by_path = all
        .modules
        .iter()
        .map(|module| (module.path.as_str(), module));
    let by_path: BTreeMap<&str, &Module> = by_path.collect();
    let mut names = Vec::new();
    for krate in by_path.keys().filter(|path| !path.contains("::")) {
        add(&by_path, krate, &mut names);
    }
    insta::assert_snapshot!(names.join("\n"));
}
