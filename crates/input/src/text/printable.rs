//! Checks that texts of a file or of the command line can be printed: names and labels appear in
//! tables, figures and messages.

use std::sync::Arc;

use toml::de::DeTable;

use crate::error::{ConfigError, Origin, Source};
use crate::tree::{Node, Value, members, syntax_error};
use weir_model::unprintable;

/// Keys of texts that may have several lines.
const SEVERAL_LINES: [&str; 4] = ["caption", "says", "links", "ways"];

/// Keys of names, and of lists of names.
const NAMES: [&str; 4] = ["name", "label", "labels", "id"];

/// Maximum length of a name, characters.
const LONGEST_NAME: usize = 1_000;

impl Node {
    /// Reads a whole TOML text.
    pub fn parse(source: &Arc<Source>) -> Result<Node, ConfigError> {
        let table = DeTable::parse(&source.text).map_err(|e| syntax_error(source, &e))?;
        let origin = |span| Origin::File {
            source: source.clone(),
            span: Some(span),
        };
        let members = members(table.into_inner(), &origin)?;
        let root = Node {
            value: Value::Table(members),
            origin: Origin::File {
                source: source.clone(),
                span: None,
            },
        };
        all(&root, "")?;
        Ok(root)
    }
}

/// Checks that all texts and keys in `node`, found at `path`, can be printed.
///
/// # Errors
/// Located at the text: names the character that cannot be printed.
pub fn all(node: &Node, path: &str) -> Result<(), ConfigError> {
    let below = |key: &str| match path {
        "" => key.to_string(),
        path => format!("{path}.{key}"),
    };
    match &node.value {
        Value::String(text) => {
            let mut keys = path.rsplit('.');
            let key = keys.next().unwrap_or_default();
            let names = [key, keys.next().unwrap_or_default()];
            let length = text.chars().count();
            if length > LONGEST_NAME && names.iter().any(|key| NAMES.contains(key)) {
                return Err(ConfigError::at(
                    &node.origin,
                    format!("{path}: this name has {length} characters"),
                    format!("write at most {LONGEST_NAME}: names stand in tables and figures"),
                ));
            }
            one(text, SEVERAL_LINES.contains(&key), path, &node.origin)
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| all(item, &below(&index.to_string()))),
        Value::Table(members) => members.iter().try_for_each(|member| {
            let path = below(&member.key);
            one(&member.key, false, &path, &member.origin)?;
            all(&member.value, &path)
        }),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => Ok(()),
    }
}

/// Checks that one text can be printed.
pub fn one(
    text: &str,
    several_lines: bool,
    path: &str,
    origin: &Origin,
) -> Result<(), ConfigError> {
    let mut letters = text.chars();
    let bad = letters.find_map(|letter| {
        let fine = several_lines && matches!(letter, '\n' | '\t');
        let what = unprintable(letter).filter(|_| !fine)?;
        Some((letter, what))
    });
    match bad {
        None => Ok(()),
        Some((letter, what)) => Err(ConfigError::at(
            origin,
            format!(
                "{path}: the text {text:?} has the character U+{:04X}, which {what}",
                u32::from(letter)
            ),
            "remove it: texts stand in tables, figures and messages (only `caption`, `says` and \
             `links` and `ways` of a graph may have several lines)",
        )),
    }
}
