//! A configuration of another simulator: its entries, the table of keys that it may have, and the
//! fate of each entry.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use weir_input::ConfigError;
use weir_input::error::{Origin, Source};
use weir_model::visible;

/// Largest whole number that a key may have, where nothing else bounds it.
pub const MOST: u64 = 1_000_000_000;

/// Longest value that lists show, characters.
const SHOWN: usize = 60;

/// One `key = value` of the file.
pub struct Entry {
    /// Its name, with the section before it where there are any: `PARAMS.packet_size`.
    pub key: String,
    /// The value: one, or the members of a list.
    pub values: Vec<String>,
    /// Line, from 1.
    pub line: usize,
    /// The bytes of the file, from the key to the end of the value.
    pub span: Range<usize>,
    /// The reason why it is not taken over, or the other value that is.
    instead: Option<String>,
}

impl Entry {
    /// An entry whose fate the table says.
    pub fn new(key: String, values: Vec<String>, line: usize, span: Range<usize>) -> Entry {
        Entry {
            key,
            values,
            line,
            span,
            instead: None,
        }
    }

    /// The value as one text.
    pub fn text(&self) -> String {
        self.values.join(", ")
    }
}

/// The fate of a key.
#[derive(Clone, Copy)]
pub enum Fate {
    /// It becomes these keys of weir.
    To(&'static str),
    /// With this value it is as in weir, and with others it has no counterpart, for this reason.
    Only(&'static str, &'static str),
    /// It has no counterpart, or no effect in weir, for this reason.
    No(&'static str),
}

/// A key that the simulator knows.
pub struct Key {
    pub name: &'static str,
    /// Value that the simulator takes if the file has none.
    pub default: &'static str,
    pub fate: Fate,
}

impl Key {
    /// True if it is the key of this name; `SECTION.*` is all keys of a section.
    pub fn names(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(section) => name.starts_with(section),
            None => self.name == name,
        }
    }
}

/// A row of a table of keys.
pub const fn key(name: &'static str, default: &'static str, fate: Fate) -> Key {
    Key {
        name,
        default,
        fate,
    }
}

/// A file that was read, and what becomes of it.
pub struct Configuration {
    source: Arc<Source>,
    entries: Vec<Entry>,
    tables: &'static [&'static [Key]],
    /// Values that weir needs and the file cannot give.
    chosen: Vec<String>,
}

/// The lists beside an experiment.
pub struct Lists {
    /// Entries that were taken over: place and entry, and the keys of weir.
    pub taken: Vec<String>,
    /// Entries that were not, or not as they are, and values that were chosen.
    pub others: Vec<String>,
}

impl Configuration {
    /// Entries of `source`; their keys are in one of the tables, or unknown.
    pub fn new(
        source: Arc<Source>,
        entries: Vec<Entry>,
        tables: &'static [&'static [Key]],
    ) -> Configuration {
        Configuration {
            source,
            entries,
            tables,
            chosen: Vec::new(),
        }
    }

    /// The tables of keys that the model in the file reads, if it is known after the entries.
    pub fn set_tables(&mut self, tables: &'static [&'static [Key]]) {
        self.tables = tables;
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a key: the last, which counts in both simulators.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == name)
    }

    /// True if the file has the key.
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    fn row(&self, name: &str) -> Option<&'static Key> {
        let mut keys = self.tables.iter().flat_map(|table| table.iter());
        keys.find(|key| key.names(name))
    }

    /// The value of a key, or the simulator's default.
    pub fn text(&self, name: &str) -> String {
        let given = self.entry(name).map(Entry::text);
        let default = self.row(name).map_or("", |key| key.default);
        given.unwrap_or_else(|| default.to_string())
    }

    /// The same as a whole number.
    ///
    /// # Errors
    /// At the entry: it is none, or not in `range`.
    pub fn whole(&self, name: &str, range: RangeInclusive<u64>) -> Result<u64, ConfigError> {
        let text = self.text(name);
        let number = text.trim().parse::<u64>().ok();
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                let [low, high] = [range.start(), range.end()];
                self.wrong(name, &format!("a whole number from {low} to {high}"))
            })
    }

    /// The same as a number.
    ///
    /// # Errors
    /// At the entry: it is none, or not in `range`.
    pub fn number(&self, name: &str, range: RangeInclusive<f64>) -> Result<f64, ConfigError> {
        let number = self.text(name).trim().parse::<f64>().ok();
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                let [low, high] = [range.start(), range.end()];
                self.wrong(name, &format!("a number from {low} to {high}"))
            })
    }

    /// An error at the entry of a key, whose value is not as `expected`.
    pub fn wrong(&self, name: &str, expected: &str) -> ConfigError {
        let value = shortened(&self.text(name));
        let remedy = format!("give {expected}");
        if !self.has(name) && value.is_empty() {
            let file = &self.source.name;
            return ConfigError::new(format!("{file} has no {name}"), remedy);
        }
        self.refuse(name, format!("{name} = {value}: not {expected}"), remedy)
    }

    /// An error at the entry of a key.
    pub fn refuse(&self, name: &str, message: String, remedy: impl Display) -> ConfigError {
        let span = self.entry(name).map(|entry| entry.span.clone());
        let source = self.source.clone();
        ConfigError::at(&Origin::File { source, span }, message, remedy.to_string())
    }

    /// Says of an entry that it is not taken over as it is, and why or what is instead. Of a key
    /// that the file does not have, it says the same of the simulator's default.
    pub fn instead(&mut self, name: &str, why: impl Display) {
        let value = self.text(name);
        match self
            .entries
            .iter_mut()
            .rev()
            .find(|entry| entry.key == name)
        {
            Some(entry) => {
                let before = entry.instead.take().map(|before| format!("{before}; "));
                entry.instead = Some(format!("{}{why}", before.unwrap_or_default()));
            }
            None => self
                .chosen
                .push(format!("{name} = {}, by default: {why}", shortened(&value))),
        }
    }

    /// Says what was chosen because the file cannot say it.
    pub fn choose(&mut self, what: impl Display) {
        self.chosen.push(what.to_string());
    }

    /// All entries of the file, each in one of two lists, and the values that were chosen.
    pub fn lists(&self) -> Lists {
        let mut lists = Lists {
            taken: Vec::new(),
            others: Vec::new(),
        };
        for (at, entry) in self.entries.iter().enumerate() {
            let value = shortened(&entry.text());
            let place = format!("line {}: {} = {value}", entry.line, entry.key);
            let later = self.entries[at + 1..]
                .iter()
                .find(|later| later.key == entry.key);
            let (taken, fate) = match later {
                Some(later) => (false, format!("given again on line {}", later.line)),
                None => self.fate(entry),
            };
            let list = match taken {
                true => &mut lists.taken,
                false => &mut lists.others,
            };
            let sign = if taken { " -> " } else { ": " };
            list.push(format!("{place}{sign}{fate}"));
        }
        let chosen = self.chosen.iter().map(|what| format!("chosen: {what}"));
        lists.others.extend(chosen);
        lists
    }

    fn fate(&self, entry: &Entry) -> (bool, String) {
        if let Some(why) = &entry.instead {
            return (false, why.clone());
        }
        let Some(row) = self.row(&entry.key) else {
            return (false, "unknown key".to_string());
        };
        match row.fate {
            Fate::To(keys) => (true, keys.to_string()),
            Fate::Only(value, _) if same(value, &entry.text()) => (true, "as in weir".to_string()),
            Fate::Only(_, why) | Fate::No(why) => (false, format!("no counterpart: {why}")),
        }
    }
}

/// True if two values are the same text or number.
fn same(one: &str, other: &str) -> bool {
    let numbers = (one.trim().parse::<f64>(), other.trim().parse::<f64>());
    one == other || matches!(numbers, (Ok(one), Ok(other)) if one == other)
}

/// The beginning of a text, on one line and printable.
fn shortened(text: &str) -> String {
    let text = one_line(text);
    let short: String = text.chars().take(SHOWN).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    format!("{short}{rest}")
}

/// A text on one line, and printable: a comment of TOML.
pub fn one_line(text: &str) -> String {
    visible(text).replace(|character: char| character.is_control(), " ")
}

/// An error at some bytes of the file.
pub fn unreadable(source: &Arc<Source>, at: usize, message: &str, remedy: &str) -> ConfigError {
    let end = source.text[at..].chars().next().map_or(0, char::len_utf8);
    let origin = Origin::File {
        source: source.clone(),
        span: Some(at..at + end),
    };
    ConfigError::at(&origin, message, remedy)
}

/// Key, value and line of each entry that a reader finds in a text, for its tests.
#[cfg(test)]
pub fn read_with(
    entries: fn(&Arc<Source>) -> Result<Vec<Entry>, ConfigError>,
    text: &str,
) -> Result<Vec<(String, String, usize)>, String> {
    let source = Arc::new(Source {
        name: "a".to_string(),
        text: text.to_string(),
    });
    let entries = entries(&source).map_err(|error| error.message.clone())?;
    let parts = |entry: Entry| (entry.key.clone(), entry.text(), entry.line);
    Ok(entries.into_iter().map(parts).collect())
}
