//! Rows of numbers have names: of a `[u64; 6]` two numbers can be swapped, and it compiles.

use super::source::SRC;

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
        "\nDeclare a struct, or a table (src/model/table/mod.rs):\n{}\n",
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
