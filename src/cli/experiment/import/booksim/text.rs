//! The text of a BookSim2 configuration: `key = value;`, comments from `//` to the end of a line,
//! lists in braces.

use std::sync::Arc;

use super::super::configuration::{Entry, unreadable};
use weir_input::ConfigError;
use weir_input::error::Source;

/// All entries.
///
/// # Errors
/// At the place where the text is no configuration.
pub fn entries(source: &Arc<Source>) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    let mut rest = Rest { source, at: 0 };
    while rest.skip() {
        let start = rest.at;
        let key = rest.take(|character| character.is_alphanumeric() || "_-./".contains(character));
        if key.is_empty() {
            return Err(rest.wrong("no key of BookSim2", "write `key = value;`"));
        }
        rest.expect('=')?;
        rest.skip();
        let value = rest.value()?;
        let span = start..rest.at;
        rest.expect(';')?;
        let line = source.text[..start].matches('\n').count() + 1;
        entries.push(Entry::new(key, vec![value], line, span));
    }
    Ok(entries)
}

/// The members of a list in braces, or the value itself.
pub fn members(value: &str) -> Vec<String> {
    let value = value.trim();
    let inner = value
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let mut members = vec![String::new()];
    let mut depth = 0i64;
    for character in inner.unwrap_or(value).chars() {
        depth += i64::from("{(".contains(character)) - i64::from("})".contains(character));
        match (character, members.last_mut()) {
            (',', _) if depth == 0 && inner.is_some() => members.push(String::new()),
            (_, Some(last)) => last.push(character),
            (_, None) => {}
        }
    }
    members
}

/// The text from a place on.
struct Rest<'a> {
    source: &'a Arc<Source>,
    at: usize,
}

impl Rest<'_> {
    fn text(&self) -> &str {
        &self.source.text[self.at..]
    }

    /// Skips white space and comments; true if something follows.
    fn skip(&mut self) -> bool {
        loop {
            let text = self.text();
            let spaces = text.len() - text.trim_start().len();
            let comment = match text[spaces..].starts_with("//") {
                true => text[spaces..].find('\n').unwrap_or(text.len() - spaces),
                false => 0,
            };
            if spaces + comment == 0 {
                return !text.is_empty();
            }
            self.at += spaces + comment;
        }
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let text = self.text();
        let end = text.find(|character| !belongs(character));
        let taken = text[..end.unwrap_or(text.len())].to_string();
        self.at += taken.len();
        taken
    }

    fn expect(&mut self, character: char) -> Result<(), ConfigError> {
        self.skip();
        if !self.text().starts_with(character) {
            let message = format!("`{character}` is missing here");
            return Err(self.wrong(&message, "write `key = value;`"));
        }
        self.at += character.len_utf8();
        Ok(())
    }

    /// A value up to its semicolon: a list in braces may have white space.
    fn value(&mut self) -> Result<String, ConfigError> {
        let mut depth = 0i64;
        let mut value = String::new();
        let mut end = self.at;
        for (at, character) in self.text().char_indices() {
            depth += i64::from("{(".contains(character)) - i64::from("})".contains(character));
            let over = character == ';' || (depth == 0 && character.is_whitespace());
            if over || depth < 0 {
                break;
            }
            end = self.at + at + character.len_utf8();
            if character.is_control() && !character.is_whitespace() {
                self.at += at;
                return Err(self.wrong("a control character", "remove it"));
            }
            if !character.is_whitespace() {
                value.push(character);
            }
        }
        if value.is_empty() {
            return Err(self.wrong("a value is missing here", "write `key = value;`"));
        }
        if depth > 0 {
            return Err(self.wrong("a list without its end", "close its braces"));
        }
        self.at = end;
        Ok(value)
    }

    fn wrong(&self, message: &str, remedy: &str) -> ConfigError {
        unreadable(self.source, self.at, message, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::configuration::read_with;
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String, usize)>, String> {
        read_with(entries, text)
    }

    #[test]
    fn entries_have_their_lines() {
        let text = "// k = 3;\nk=8 ; n = 2; // two\nclasses = 2;\nrate\n= {0.1,\n {1,2}};";
        let entry = |key: &str, value: &str, line| (key.to_string(), value.to_string(), line);
        let expected = vec![
            entry("k", "8", 2),
            entry("n", "2", 2),
            entry("classes", "2", 3),
            entry("rate", "{0.1,{1,2}}", 4),
        ];
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn members_of_lists() {
        assert_eq!(members("{0.1,{1,2},f(3,4)}"), ["0.1", "{1,2}", "f(3,4)"]);
        assert_eq!(members("7"), ["7"]);
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for text in [
            "k",
            "k = ",
            "k = 8",
            "= 8;",
            "k = {1,2;",
            "k = 8 9;",
            "k = \u{1};",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
