//! Folders, files, functions and lines are small enough to be read.

use std::collections::BTreeMap;

use super::limits::{
    CROWDED_FOLDERS, LONG_FILES, LONG_FUNCTIONS, REGISTRIES, WIDE_LINES, WIDTH, WITHOUT_PURPOSE,
};
use super::tree::scan::{item_end, tokens};
use super::tree::source::{Source, all, folders};
use super::{hold, hold_each};

#[test]
fn folders_are_small() {
    let folders = ["crates", "src", "tests"].into_iter().flat_map(folders);
    let counted = folders.map(|folder| {
        let entries = folder.files.len() + folder.folders.len();
        (folder.path, entries)
    });
    let counted: BTreeMap<String, usize> = counted.collect();
    for registry in REGISTRIES {
        assert!(
            counted.contains_key(*registry),
            "{registry} is gone: remove it from REGISTRIES"
        );
    }
    let others = counted
        .into_iter()
        .filter(|(path, _)| !REGISTRIES.contains(&path.as_str()));
    hold_each(&CROWDED_FOLDERS, &others.collect());
}

#[test]
fn files_are_short() {
    let lines = all().map(|source| (source.path.clone(), source.text.lines().count()));
    hold_each(&LONG_FILES, &lines.collect());
}

/// The lines of each function of a file, by name. Among functions with one name the longest counts.
fn functions(source: &Source) -> BTreeMap<String, usize> {
    let code = &source.code;
    let words = tokens(code);
    let mut found = BTreeMap::new();
    for pair in words.windows(2) {
        // `fn(` is a type.
        if pair[0].text == "fn" && pair[1].is_name() {
            let start = pair[0].at;
            let lines = code[start..item_end(code, start)].lines().count();
            let longest = found.entry(pair[1].text.to_owned()).or_default();
            *longest = lines.max(*longest);
        }
    }
    found
}

#[test]
fn functions_fit_on_a_page() {
    let of = |source: &'static Source| {
        let functions = functions(source).into_iter();
        functions.map(|(name, lines)| (format!("{} fn {name}", source.path), lines))
    };
    hold_each(&LONG_FUNCTIONS, &all().flat_map(of).collect());
}

#[test]
fn lines_are_narrow() {
    let wide = |source: &Source| {
        let lines = source.text.lines();
        lines.filter(|line| line.chars().count() > WIDTH).count()
    };
    let counted = all().map(|source| (wide(source), source));
    let mut counted: Vec<_> = counted.filter(|(count, _)| *count > 0).collect();
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let places = counted
        .iter()
        .map(|(count, source)| format!("{}: {count}", source.path));
    let places: Vec<String> = places.collect();
    hold(
        &WIDE_LINES,
        counted.iter().map(|(count, _)| count).sum(),
        &places,
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let says = |source: &&Source| {
        let lines = source.text.lines();
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("#!["));
        lines.next().is_some_and(|line| line.starts_with("//! "))
    };
    let places = all()
        .filter(|source| !says(source))
        .map(|source| source.path.clone());
    let places: Vec<String> = places.collect();
    hold(&WITHOUT_PURPOSE, places.len(), &places);
}
