//! Texts in CSV files.

use std::borrow::Cow;

/// A text as a cell of a CSV file: spreadsheets take one that begins with `=`, `+`, `-`, `@`, a tab
/// or a carriage return for a formula, so it gets an apostrophe in front. Numbers, also with a
/// unit, stay as they are.
pub fn cell(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    match formula && !is_quantity(text) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// A number, perhaps followed by a space and a unit of letters.
fn is_quantity(text: &str) -> bool {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    number.parse::<f64>().is_ok() && unit.chars().all(|letter| letter.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_texts_and_numbers_stay() {
        for formula in [
            "=HYPERLINK(\"http://evil\";\"x\")",
            "@SUM(1+1)|cmd",
            "+1+cmd|' /C calc'!A0",
            "-1+1",
            "-a",
            "\t=1",
            "-3 =1",
        ] {
            assert_eq!(cell(formula), format!("'{formula}"));
        }
        for plain in [
            "-3.5", "+1e-9", "-inf", "-3.5 ns", "", "a=b", "0-1", "minimal",
        ] {
            assert_eq!(cell(plain), plain);
        }
    }
}
