//! The numbers behind a figure, as text.

use std::fmt::Write;

use weir_study::cell;

/// Rows of texts under a line of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns, with units.
    pub head: Vec<String>,
    /// As long as `head`, each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<T: ToString>(head: &[T]) -> Table {
        Table {
            head: head.iter().map(T::to_string).collect(),
            rows: Vec::new(),
        }
    }

    /// As comma-separated values (RFC 4180, with plain line feeds).
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let fields: Vec<_> = row.iter().map(|field| csv_field(field)).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}", fields.join(","));
        }
        text
    }
}

/// A field of a CSV file, in quotes if it needs them.
pub fn csv_field(text: &str) -> String {
    let text = cell(text);
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let mut table = Table::new(&["name", "latency, mean (ps)"]);
        table.rows.push(vec!["a \"b\"".into(), "1.5".into()]);
        assert_eq!(
            table.csv(),
            "name,\"latency, mean (ps)\"\n\"a \"\"b\"\"\",1.5\n"
        );
        let mut table = Table::new(&["-x", "value"]);
        table.rows.push(vec!["=1+\"a\"".into(), "-3.5".into()]);
        assert_eq!(table.csv(), "'-x,value\n\"'=1+\"\"a\"\"\",-3.5\n");
    }
}
