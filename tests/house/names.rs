//! A type's name means one thing in a crate.

use std::collections::BTreeMap;

use super::hold;
use super::limits::NAMES_TWICE;
use super::tree::Tree;
use super::tree::scan::tokens;

const TYPES: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

#[test]
fn names_of_types_are_defined_once() {
    let tree = Tree::new();
    let mut defined: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for module in &tree.modules {
        let words = tokens(&module.source.own);
        for (at, word) in words
            .iter()
            .enumerate()
            .filter(|(_, word)| TYPES.contains(&word.text))
        {
            let before = at.checked_sub(1).map_or("", |at| words[at].text);
            if matches!(before, "pub" | ")") && words[at + 1].is_name() {
                let places = defined
                    .entry((module.krate(), words[at + 1].text))
                    .or_default();
                places.push(module.source.place(word.line));
            }
        }
    }
    let twice = defined.into_iter().filter(|(_, places)| places.len() > 1);
    let twice: Vec<String> = twice
        .map(|((_, name), places)| format!("{name}: {}", places.join(", ")))
        .collect();
    hold(&NAMES_TWICE, twice.len(), &twice);
}
