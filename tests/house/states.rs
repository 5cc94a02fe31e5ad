//! State that is saved is saved whole.

use super::source::SRC;

/// Parts of the tree whose types are saved with a run.
const SAVED: [&str; 3] = ["congestion/", "workload/", "model/"];

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
