//! TOML values that remember their origin.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Origin, Source};

/// A value and its origin.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub origin: Origin,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Vec<Member>),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub struct Member {
    pub key: String,
    pub origin: Origin,
    pub value: Node,
}

impl Node {
    /// Reads the value of a `--set`: TOML if it is TOML, else a string.
    pub fn from_set(text: &str, origin: &Origin) -> Result<Node, ConfigError> {
        match DeValue::parse(text) {
            Ok(value) => node(value.into_inner(), origin.clone(), &|_| origin.clone()),
            Err(_) => Ok(Node {
                value: Value::String(text.to_string()),
                origin: origin.clone(),
            }),
        }
    }

    /// The values of a struct, in the order of its fields, except fields that are None.
    ///
    /// # Errors
    /// If it has something that TOML does not: a number of more than 63 bits, a key that is no
    /// text.
    pub fn written<T: Serialize>(value: &T) -> Result<Node, ConfigError> {
        toml::Value::try_from(value).map(Node::from).map_err(|why| {
            let message = format!("{} cannot be written: {why}", std::any::type_name::<T>());
            ConfigError::new(
                message,
                "this is a mistake in the struct of these parameters",
            )
        })
    }

    /// A default value, without a place in a file.
    pub fn default(value: Value) -> Node {
        Node {
            value,
            origin: Origin::Default,
        }
    }

    /// The same value as a default, without a place in a file.
    pub fn forgotten(self) -> Node {
        self.placed(&Origin::Default)
    }

    /// The same value with all of it at one place.
    pub fn placed(self, origin: &Origin) -> Node {
        let place = |node: Node| node.placed(origin);
        let value = match self.value {
            Value::Array(items) => Value::Array(items.into_iter().map(place).collect()),
            Value::Table(members) => {
                let member = |one: Member| Member {
                    key: one.key,
                    origin: origin.clone(),
                    value: place(one.value),
                };
                Value::Table(members.into_iter().map(member).collect())
            }
            other => other,
        };
        Node {
            value,
            origin: origin.clone(),
        }
    }

    /// The members, if this is a table.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Table(members) => members,
            _ => &[],
        }
    }

    /// The member called `key`.
    pub fn get(&self, key: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.key == key)
    }

    /// One word for the type of this value.
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::String(_) => "a text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// This table with the members of `over` replacing its own; tables inside are merged likewise.
    pub fn overlaid(mut self, over: Node) -> Node {
        let (Value::Table(mine), Value::Table(theirs)) = (&mut self.value, over.value) else {
            return self;
        };
        for member in theirs {
            match mine.iter_mut().find(|m| m.key == member.key) {
                Some(old) => {
                    let both_tables = matches!(old.value.value, Value::Table(_))
                        && matches!(member.value.value, Value::Table(_));
                    if both_tables {
                        old.value = old.value.clone().overlaid(member.value);
                    } else {
                        *old = member;
                    }
                }
                None => mine.push(member),
            }
        }
        self
    }
}

impl From<toml::Value> for Node {
    fn from(value: toml::Value) -> Node {
        Node::default(match value {
            toml::Value::String(s) => Value::String(s),
            toml::Value::Integer(i) => Value::Integer(i),
            toml::Value::Float(x) => Value::Float(x),
            toml::Value::Boolean(b) => Value::Boolean(b),
            toml::Value::Datetime(d) => Value::Datetime(d.to_string()),
            toml::Value::Array(items) => Value::Array(items.into_iter().map(Node::from).collect()),
            toml::Value::Table(table) => {
                let member = |(key, value): (String, _)| Member::default(&key, Node::from(value));
                Value::Table(table.into_iter().map(member).collect())
            }
        })
    }
}

impl Member {
    /// A member with a default value.
    pub fn default(key: &str, value: Node) -> Member {
        Member {
            key: key.to_string(),
            origin: Origin::Default,
            value,
        }
    }
}

type At<'a> = &'a dyn Fn(Range<usize>) -> Origin;

pub(super) fn members(table: DeTable<'_>, at: At) -> Result<Vec<Member>, ConfigError> {
    let mut found = Vec::new();
    for (key, value) in table {
        let start = key.span().start;
        let key_origin = at(key.span());
        let origin = at(value.span());
        let member = Member {
            key: key.into_inner().into_owned(),
            origin: key_origin,
            value: node(value.into_inner(), origin, at)?,
        };
        found.push((start, member));
    }
    // The parser sorts by name; the order of the file is the better one for messages.
    found.sort_by_key(|(start, _)| *start);
    Ok(found.into_iter().map(|(_, member)| member).collect())
}

fn node(value: DeValue<'_>, origin: Origin, at: At) -> Result<Node, ConfigError> {
    let too_large = |text: &dyn std::fmt::Display| {
        ConfigError::at(
            &origin,
            format!("the number {text} is too large for TOML"),
            "write a number of at most 64 bits",
        )
    };
    let value = match value {
        // Lines of a text end alike on all systems.
        DeValue::String(s) => Value::String(s.replace("\r\n", "\n")),
        DeValue::Integer(i) => {
            Value::Integer(i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| too_large(&i))?)
        }
        DeValue::Float(x) => Value::Float(x.as_str().parse().map_err(|_| too_large(&x))?),
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Datetime(d) => Value::Datetime(d.to_string()),
        DeValue::Array(items) => {
            let mut nodes = Vec::new();
            for item in items {
                let span = item.span();
                nodes.push(node(item.into_inner(), at(span), at)?);
            }
            Value::Array(nodes)
        }
        DeValue::Table(table) => Value::Table(members(table, at)?),
    };
    Ok(Node { value, origin })
}

pub(super) fn syntax_error(source: &Arc<Source>, error: &toml::de::Error) -> ConfigError {
    let origin = Origin::File {
        source: source.clone(),
        span: error.span(),
    };
    let message = error.message().trim().replace('\n', ", ");
    ConfigError::at(
        &origin,
        format!("not valid TOML: {message}"),
        "see https://toml.io for the notation: `[section]`, then lines of `key = value`, texts in \
         double quotes",
    )
}

/// A key as TOML: bare if it may be.
pub fn key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) {
        key.to_string()
    } else {
        toml::Value::String(key.to_string()).to_string()
    }
}

/// A value as TOML on one line.
pub fn inline(node: &Node) -> String {
    match &node.value {
        Value::String(s) => toml::Value::from(s.as_str()).to_string(),
        Value::Integer(i) => i.to_string(),
        Value::Float(x) => toml::Value::from(*x).to_string(),
        Value::Boolean(b) => b.to_string(),
        Value::Datetime(d) => d.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(members) if members.is_empty() => "{}".into(),
        Value::Table(members) => {
            let pairs: Vec<String> = members
                .iter()
                .map(|member| format!("{} = {}", key(&member.key), inline(&member.value)))
                .collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}
