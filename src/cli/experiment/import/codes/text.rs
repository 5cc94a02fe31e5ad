//! The text of a CODES configuration: sections in braces, in them `key="value";` and lists
//! `key=("a", "b");`. Comments: from `#` or `//` to the end of a line, and `/* … */`.

use std::sync::Arc;

use super::super::configuration::{Entry, unreadable};
use weir_input::ConfigError;
use weir_input::error::Source;

/// Sections inside one another.
const DEEPEST: usize = 16;

/// All entries; keys are named with their sections: `LPGROUPS.MODELNET_GRP.repetitions`.
///
/// # Errors
/// At the place where the text is no configuration.
pub fn entries(source: &Arc<Source>) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    let mut sections: Vec<String> = Vec::new();
    let mut rest = Rest { source, at: 0 };
    while rest.skip()? {
        let start = rest.at;
        if rest.accept('}') {
            if sections.pop().is_none() {
                rest.at = start;
                return Err(rest.wrong("a `}` without its `{`", "remove it"));
            }
            continue;
        }
        let name = rest.name()?;
        rest.skip()?;
        if rest.accept('{') {
            sections.push(name);
            if sections.len() > DEEPEST {
                return Err(rest.wrong("too many sections inside one another", "close some"));
            }
            continue;
        }
        rest.expect('=')?;
        let values = rest.values()?;
        let span = start..rest.at;
        rest.expect(';')?;
        let line = source.text[..start].matches('\n').count() + 1;
        sections.push(name);
        entries.push(Entry::new(sections.join("."), values, line, span));
        sections.pop();
    }
    match sections.last() {
        Some(open) => {
            let message = format!("the section {open} has no end");
            Err(ConfigError::new(
                format!("{}: {message}", source.name),
                "close it with `}`",
            ))
        }
        None => Ok(entries),
    }
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
    fn skip(&mut self) -> Result<bool, ConfigError> {
        loop {
            let text = self.text();
            let line = || text.find('\n').unwrap_or(text.len());
            let skipped = match text.as_bytes() {
                [b'#', ..] | [b'/', b'/', ..] => line(),
                [b'/', b'*', ..] => match text.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(self.wrong("a comment without its end", "write `*/`")),
                },
                _ => text.len() - text.trim_start().len(),
            };
            if skipped == 0 {
                return Ok(!text.is_empty());
            }
            self.at += skipped;
        }
    }

    fn accept(&mut self, character: char) -> bool {
        let found = self.text().starts_with(character);
        self.at += if found { character.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, character: char) -> Result<(), ConfigError> {
        self.skip()?;
        match self.accept(character) {
            true => Ok(()),
            false => {
                let message = format!("`{character}` is missing here");
                Err(self.wrong(&message, "write `key=\"value\";`"))
            }
        }
    }

    fn name(&mut self) -> Result<String, ConfigError> {
        let text = self.text();
        let belongs =
            |character: char| character.is_ascii_alphanumeric() || "_-@.".contains(character);
        let end = text.find(|character| !belongs(character));
        let name = text[..end.unwrap_or(text.len())].to_string();
        if name.is_empty() {
            return Err(self.wrong("no key or section of CODES", "write `key=\"value\";`"));
        }
        self.at += name.len();
        Ok(name)
    }

    /// A text in quotes, or a list of them in parentheses.
    fn values(&mut self) -> Result<Vec<String>, ConfigError> {
        self.skip()?;
        if !self.accept('(') {
            return Ok(vec![self.quoted()?]);
        }
        let mut values = Vec::new();
        loop {
            self.skip()?;
            values.push(self.quoted()?);
            self.skip()?;
            if self.accept(')') {
                return Ok(values);
            }
            self.expect(',')?;
        }
    }

    fn quoted(&mut self) -> Result<String, ConfigError> {
        self.expect('"')?;
        let start = self.at;
        let end = self.text().find(['"', '\n']);
        let Some(end) = end.filter(|&end| self.text()[end..].starts_with('"')) else {
            return Err(self.wrong("a text without its end", "close its quotes"));
        };
        let value = self.text()[..end].to_string();
        if let Some(control) = value.find(|character: char| character.is_control()) {
            self.at = start + control;
            return Err(self.wrong("a control character", "remove it"));
        }
        self.at += end + 1;
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
    fn keys_have_sections_and_lines() {
        let text =
            "A { # a\n B\n{ x=\"1\";}\n y = ( \"2\" , \"3\" ); /* z=\"4\";\n */ }\nz=\"5\"; //";
        let entry = |key: &str, value: &str, line| (key.to_string(), value.to_string(), line);
        let expected = vec![
            entry("A.B.x", "1", 3),
            entry("A.y", "2, 3", 4),
            entry("z", "5", 6),
        ];
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        let deep = "a{".repeat(100_000);
        let texts = [
            "A {",
            "}",
            "x",
            "x=",
            "x=1;",
            "x=\"1;",
            "x=\"1\"",
            "x=(\"1\";",
            "x=(\"1\"\"2\");",
            "/* x",
            "\u{1}",
            "x=\"\u{1}\";",
            &deep,
        ];
        for text in texts {
            assert!(read(text).is_err(), "{text:.20}");
        }
    }
}
