//! Rows of numbers have names, and state that is saved is saved whole.

use super::tree::source::SRC;

/// The words of a row without names that a line declares.
fn unnamed(line: &str) -> Option<usize> {
    let line: String = line
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let row = match line.contains("type") {
        true => line.split_once("=[u64;")?.1,
        false => line.split_once("Vec<[u64;")?.1,
    };
    row.split_once(']')?.0.parse().ok()
}

#[test]
fn rows_have_named_fields() {
    let mut wrong = Vec::new();
    for source in SRC.iter() {
        for (number, line) in (1..).zip(source.own.lines()) {
            if unnamed(line).is_some_and(|words| words > 3) {
                wrong.push(source.place(number));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "\nDeclare a struct, or a table (crates/model/src/table/mod.rs):\n{}\n",
        wrong.join("\n")
    );
}

#[test]
fn a_row_without_names_is_found() {
    assert_eq!(unnamed("pub type PortRow = [u64; 8];"), Some(8));
    assert_eq!(unnamed("    pub rows: Vec<[u64; 4]>,"), Some(4));
    assert_eq!(unnamed("    events: [u64; 16],"), None);
    assert_eq!(unnamed("type Sums = [u64; Kind::COUNT];"), None);
}

/// Parts of the tree whose types are saved with a run.
const SAVED: [&str; 4] = ["congestion/", "workload/", "model/", "fabric/src/state/"];

/// Ways to leave a field out.
const SKIPS: [&str; 4] = [
    "serde(skip)",
    "serde(skip,",
    "skip_serializing)",
    "skip_deserializing)",
];

#[test]
fn no_field_of_a_state_is_left_out() {
    let saved = |path: &str| SAVED.iter().any(|part| path.contains(part));
    let found: Vec<String> = SRC
        .iter()
        .filter(|source| saved(&source.path))
        .flat_map(|source| {
            let lines = source.code.lines().zip(1..);
            lines
                .filter(|(line, _)| SKIPS.iter().any(|skip| line.contains(skip)))
                .map(|(_, line)| source.place(line))
        })
        .collect();
    assert!(
        found.is_empty(),
        "\nA run that is saved and loaded would go on without these fields:\n{}\n",
        found.join("\n")
    );
}
