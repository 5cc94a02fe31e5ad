//! Any value of a TOML file with its place.

use crate::error::Origin;
use crate::tree::{Member, Node, Value, inline};
use crate::{ConfigError, Duration, Section};
use weir_model::Invalid;

/// A value from the user, with its place.
#[derive(Clone, Debug)]
pub struct Given {
    pub(super) node: Node,
    path: String,
}

impl Given {
    pub fn new(node: Node, path: impl Into<String>) -> Given {
        Given {
            node,
            path: path.into(),
        }
    }

    /// The value itself.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The same value as a section, to be read as a typed struct.
    pub fn section(&self) -> Section {
        Section::new(self.node.clone(), self.path.clone())
    }

    /// The elements, if this is a list.
    pub fn items(&self) -> Option<Vec<Given>> {
        let Value::Array(items) = &self.node.value else {
            return None;
        };
        let items = items.iter().enumerate();
        let given = |(index, node): (usize, &Node)| {
            Given::new(node.clone(), format!("{}.{index}", self.path))
        };
        Some(items.map(given).collect())
    }

    /// Keys and values in the order of the file, if this is a table.
    pub fn members(&self) -> Option<Vec<(String, Given)>> {
        let Value::Table(members) = &self.node.value else {
            return None;
        };
        let member = |member: &Member| {
            let path = format!("{}.{}", self.path, member.key);
            (member.key.clone(), Given::new(member.value.clone(), path))
        };
        Some(members.iter().map(member).collect())
    }

    /// The value of a key of this table.
    pub fn get(&self, key: &str) -> Option<Given> {
        let member = self.node.get(key)?;
        Some(Given::new(
            member.value.clone(),
            format!("{}.{key}", self.path),
        ))
    }

    /// The number, if this is one.
    pub fn number(&self) -> Option<f64> {
        match self.node.value {
            Value::Integer(i) => Some(i as f64),
            Value::Float(x) => Some(x),
            _ => None,
        }
    }

    /// The whole number, if this is one.
    pub fn whole(&self) -> Option<i64> {
        match self.node.value {
            Value::Integer(i) => Some(i),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match &self.node.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The length of time, if this is a text that gives one.
    pub fn duration(&self) -> Option<Duration> {
        self.text()?.parse().ok()
    }

    /// A number in the place of this value: whole if this is a whole number and so is `number`.
    pub fn with_number(&self, number: f64) -> Given {
        let whole = number.fract() == 0.0 && number.abs() < 9e15;
        let value = match whole && self.whole().is_some() {
            true => Value::Integer(number as i64),
            false => Value::Float(number),
        };
        self.with(value)
    }

    /// The same number with a decimal point.
    pub fn as_float(&self) -> Given {
        self.with(Value::Float(self.number().unwrap_or_default()))
    }

    fn with(&self, value: Value) -> Given {
        let origin = self.node.origin.clone();
        Given::new(Node { value, origin }, self.path.clone())
    }

    /// A value from a text, without a place in a file.
    ///
    /// # Errors
    /// If the text is no TOML.
    pub fn of_text(toml: &str) -> Result<Given, ConfigError> {
        let section = Section::from_toml(&format!("value = {toml}"))?;
        let node = section.node.get("value").map(|member| member.value.clone());
        Ok(Given::new(node.unwrap_or(section.node), ""))
    }

    /// This table with the members of another replacing its own; tables inside are merged likewise.
    pub fn overlaid(&self, over: &Given) -> Given {
        Given::new(
            self.node.clone().overlaid(over.node.clone()),
            self.path.clone(),
        )
    }

    /// As TOML on one line.
    pub fn toml(&self) -> String {
        inline(&self.node)
    }

    /// Its form in messages to people: a text without quotes, all else as TOML.
    pub fn shown(&self) -> String {
        match self.text() {
            Some(text) => text.to_string(),
            None => inline(&self.node),
        }
    }

    /// One or two words for the type of the value.
    pub fn type_name(&self) -> &'static str {
        self.node.type_name()
    }

    /// Its path in messages: `axis.0.values`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// An error about this value, or about a key below it.
    pub fn refuse(&self, invalid: Invalid) -> ConfigError {
        self.section().refuse(invalid)
    }

    /// An error about this value itself.
    pub fn wrong(&self, message: impl Into<String>, remedy: impl Into<String>) -> ConfigError {
        let section = self.section();
        ConfigError::at(
            self.origin(),
            section.about("", &message.into()),
            remedy.into(),
        )
    }

    fn origin(&self) -> &Origin {
        &self.node.origin
    }
}

impl Section {
    /// The value of a key of this section, as it was written.
    pub fn given(&self, key: &str) -> Option<Given> {
        let member = self.node.get(key)?;
        Some(Given::new(
            member.value.clone(),
            format!("{}.{key}", self.path()),
        ))
    }
}
