//! Files that need each other in a circle cannot be understood, tested or moved one at a time.
//!
//! A file needs another one if a path in it leads to an item there (`tree.rs` says how that is
//! found). Two things do not count: a module's re-exports of its children (`pub use`), and the
//! lines of a registry, which name the entries of the variants.

use std::collections::BTreeMap;

use super::judge;
use super::limits::{CYCLES, CYCLES_OF_EQUALS, PAIRS_IN_CYCLES};
use super::tree::{Target, Tree};

/// For each file the files that it needs, with the first line that says so.
type Needs = Vec<BTreeMap<usize, usize>>;

/// Names by which a registry knows its variants.
const ENTRIES: [&str; 2] = ["ENTRY", "ROUTINGS"];

/// The files that each file needs. `inner`: also those of modules inside its own.
fn needs(tree: &Tree, inner: bool) -> Needs {
    let modules = 0..tree.modules.len();
    let kept = |from: usize, to: usize| to != from && (inner || !tree.is_below(to, from));
    let macros = macros(tree);
    let of = |from: usize| {
        let paths = imported(tree, from).into_iter();
        let paths = paths.chain(mentioned(tree, from));
        let paths = paths.chain(called(tree, from, &macros));
        let mut needed = BTreeMap::new();
        for (to, line) in paths.filter(|(to, _)| kept(from, *to)) {
            needed.entry(to).or_insert(line);
        }
        needed
    };
    modules.map(of).collect()
}

/// The files with the items that a file imports, with lines.
fn imported(tree: &Tree, from: usize) -> Vec<(usize, usize)> {
    let imports = tree.modules[from].uses.imports.iter();
    let found = imports.filter_map(|import| {
        let to = match tree.find(from, &import.path)? {
            Target::Item(to) => to,
            Target::Module(to) if import.name == "*" => to,
            // The paths that begin with the module's name tell which of its files are needed.
            Target::Module(_) => return None,
        };
        let passed_on = import.public && tree.is_below(to, from);
        (!passed_on).then_some((to, import.line))
    });
    found.collect()
}

/// The files with the items that a file names by their paths, with lines.
fn mentioned(tree: &Tree, from: usize) -> Vec<(usize, usize)> {
    let mentions = tree.modules[from].uses.mentions.iter();
    let found = mentions.filter_map(|mention| {
        let (Target::Item(to) | Target::Module(to)) = tree.find(from, &mention.path)?;
        let last = mention.path.last().map_or("", String::as_str);
        let entry = ENTRIES.contains(&last) && tree.is_below(to, from);
        (!entry).then_some((to, mention.line))
    });
    found.collect()
}

/// The file that defines each macro. No two have the same name.
fn macros(tree: &Tree) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for (module, index) in tree.modules.iter().zip(0..) {
        let names = module.uses.macros.iter();
        found.extend(names.map(|name| (name.as_str(), index)));
    }
    found
}

/// The files with the macros that a file calls by name alone, with lines.
fn called(tree: &Tree, from: usize, macros: &BTreeMap<&str, usize>) -> Vec<(usize, usize)> {
    let calls = tree.modules[from].uses.calls.iter();
    let found = calls.filter_map(|call| Some((*macros.get(call.path[0].as_str())?, call.line)));
    found.collect()
}

/// Groups of two or more files of which each needs each other one, if only through others.
fn circles(needs: &Needs) -> Vec<Vec<usize>> {
    let files = 0..needs.len();
    let reach: Vec<Vec<bool>> = files.clone().map(|from| reached(needs, from)).collect();
    let circle = |file: usize| -> Vec<usize> {
        let both = |other: &usize| reach[file][*other] && reach[*other][file];
        files.clone().filter(both).collect()
    };
    let found = files.clone().map(|file| (file, circle(file)));
    // Each circle once, at its first file.
    let found = found.filter(|(file, circle)| circle.len() > 1 && circle[0] == *file);
    found.map(|(_, circle)| circle).collect()
}

/// Marks the files that `from` needs, if only through others.
fn reached(needs: &Needs, from: usize) -> Vec<bool> {
    let mut reached = vec![false; needs.len()];
    let mut left = vec![from];
    while let Some(file) = left.pop() {
        for next in needs[file].keys() {
            if !std::mem::replace(&mut reached[*next], true) {
                left.push(*next);
            }
        }
    }
    reached
}

/// The files of a circle, each with the lines that bind it to others of the circle.
fn describe(tree: &Tree, needs: &Needs, circle: &[usize]) -> String {
    let mut lines = vec![format!("{} files:", circle.len())];
    for &file in circle {
        let source = tree.modules[file].source;
        for (to, line) in needs[file].iter().filter(|(to, _)| circle.contains(to)) {
            let to = &tree.modules[*to].source.path;
            lines.push(format!("  {} needs {to}", source.place(*line)));
        }
    }
    lines.join("\n")
}

/// Finds circles and describes each of them.
fn described(tree: &Tree, inner: bool) -> (Vec<Vec<usize>>, Vec<String>) {
    let needs = needs(tree, inner);
    let circles = circles(&needs);
    let places = circles.iter().map(|circle| describe(tree, &needs, circle));
    let places = places.collect();
    (circles, places)
}

#[test]
fn files_do_not_need_each_other_in_a_circle() {
    let tree = Tree::new();
    let (circles, places) = described(&tree, true);
    let (equals, at) = described(&tree, false);
    println!("of equals:\n{}", at.join("\n"));
    let pairs = |circle: &Vec<usize>| circle.len() * (circle.len() - 1) / 2;
    let counts = [
        // First, because two circles that become one are fewer.
        (&PAIRS_IN_CYCLES, circles.iter().map(pairs).sum()),
        (&CYCLES, circles.len()),
        (&CYCLES_OF_EQUALS, equals.len()),
    ];
    println!("{}", places.join("\n"));
    for (count, now) in &counts {
        println!("{}: {now}", count.name);
    }
    let wrong = counts.iter().filter_map(|(count, now)| judge(count, *now));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn circles_are_found() {
    let needs: Needs = [vec![1], vec![2], vec![0, 3], vec![4], vec![]]
        .into_iter()
        .map(|to: Vec<usize>| to.into_iter().map(|to| (to, 1)).collect())
        .collect();
    assert_eq!(circles(&needs), [[0, 1, 2]]);
}
