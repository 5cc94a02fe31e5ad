//! Serde over [`Node`], with errors that know the place, the value and the valid alternatives.

use std::fmt::{self, Display};

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::error::Origin;
use super::suggest;
use super::tree::{Member, Node, Value};

/// Reason why a value does not fit its type.
#[derive(Debug)]
pub struct Why {
    pub message: String,
    pub remedy: String,
    /// The innermost key or value that is to blame.
    pub origin: Option<Origin>,
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// A key that its table does not have, and the keys that it has.
    pub unknown: Option<(String, &'static [&'static str])>,
    /// True if its table lacks a key.
    pub lacks: bool,
}

/// The same as one word: the code of every struct that is read hands it on for each of its fields.
#[derive(Debug)]
pub struct Mismatch(pub Box<Why>);

impl Mismatch {
    fn new(message: String, remedy: String) -> Self {
        Mismatch(Box::new(Why {
            message,
            remedy,
            origin: None,
            path: Vec::new(),
            unknown: None,
            lacks: false,
        }))
    }

    #[cold]
    fn within(mut self, key: &str, origin: &Origin) -> Self {
        self.0.path.insert(0, key.to_string());
        self.0.origin.get_or_insert_with(|| origin.clone());
        self
    }
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    /// The text after the first `"; "` of a message is the remedy.
    fn custom<T: Display>(text: T) -> Self {
        let text = text.to_string();
        match text.split_once("; ") {
            Some((message, remedy)) => Mismatch::new(message.to_string(), remedy.to_string()),
            None => Mismatch::new(text, String::new()),
        }
    }

    fn invalid_type(got: Unexpected, expected: &dyn Expected) -> Self {
        let (got_text, expected) = (shown(&got), plain(&expected.to_string()));
        let remedy = match got {
            Unexpected::Str(s) if s.parse::<f64>().is_ok() || s.parse::<bool>().is_ok() => {
                format!("write {s} without quotes")
            }
            _ => format!("write {expected}"),
        };
        Mismatch::new(format!("expected {expected}, got {got_text}"), remedy)
    }

    fn invalid_value(got: Unexpected, expected: &dyn Expected) -> Self {
        Self::invalid_type(got, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let expected = plain(&expected.to_string());
        Mismatch::new(
            format!("expected {expected}, got {length} elements"),
            format!("write {expected}"),
        )
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Mismatch::new(
            format!("{variant:?} is not known here"),
            suggest(variant, "values", expected, '"'),
        )
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let remedy = match field {
            "ranks" | "np" | "processes" => {
                "an experiment is the same on any number of ranks: mpirun -n 4 weir run FILE".into()
            }
            _ => suggest(field, "keys", expected, '`'),
        };
        let mut mismatch = Mismatch::new(format!("unknown key `{field}`"), remedy);
        mismatch.0.unknown = Some((field.to_string(), expected));
        mismatch
    }

    fn missing_field(field: &'static str) -> Self {
        let message = format!("the key `{field}` is missing");
        let mut mismatch = Mismatch::new(message, format!("add `{field} = …`"));
        mismatch.0.lacks = true;
        mismatch
    }

    fn duplicate_field(field: &'static str) -> Self {
        Mismatch::new(
            format!("the key `{field}` is given twice"),
            "remove one of the two".into(),
        )
    }
}

fn shown(got: &Unexpected) -> String {
    match got {
        Unexpected::Bool(b) => b.to_string(),
        Unexpected::Unsigned(n) => n.to_string(),
        Unexpected::Signed(n) => n.to_string(),
        Unexpected::Float(x) => x.to_string(),
        Unexpected::Str(s) => format!("{s:?}"),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// Serde's and Rust's words for a type in the user's words.
fn plain(expected: &str) -> String {
    let range = |low: String, high: String| format!("a whole number from {low} to {high}");
    let zero = || "0".to_string();
    match expected {
        "a boolean" => "true or false".into(),
        "a string" | "string" | "str" => "a text in quotes".into(),
        "a sequence" => "a list".into(),
        "a map" | "map" => "a table".into(),
        "u8" => range(zero(), u8::MAX.to_string()),
        "u16" => range(zero(), u16::MAX.to_string()),
        "u32" => range(zero(), u32::MAX.to_string()),
        "u64" | "usize" => "a whole number that is not negative".into(),
        "i32" => range(i32::MIN.to_string(), i32::MAX.to_string()),
        "i64" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other if other.starts_with("enum ") || other == "variant identifier" => {
            "a name in quotes".into()
        }
        other => other.into(),
    }
}

/// Deserializes a node; `hidden` is a key of a table that the type does not see.
pub struct Reader<'a> {
    pub node: &'a Node,
    pub hidden: Option<&'a str>,
}

impl<'a> Reader<'a> {
    fn new(node: &'a Node) -> Self {
        Reader { node, hidden: None }
    }

    fn list(items: &'a [Node]) -> ListAccess<'a> {
        ListAccess {
            items: items.iter().enumerate(),
        }
    }

    fn table(&self, members: &'a [Member]) -> TableAccess<'a> {
        TableAccess {
            members: members.iter(),
            hidden: self.hidden,
            value: None,
        }
    }

    /// The error that something else was expected. Not generic, so that only one copy is compiled.
    #[cold]
    fn wrong(&self, expected: &dyn Expected) -> Mismatch {
        let date;
        let got = match &self.node.value {
            Value::String(s) => Unexpected::Str(s),
            Value::Integer(i) => Unexpected::Signed(*i),
            Value::Float(x) => Unexpected::Float(*x),
            Value::Boolean(b) => Unexpected::Bool(*b),
            Value::Datetime(d) => {
                date = format!("the date {d}");
                Unexpected::Other(&date)
            }
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        de::Error::invalid_type(got, expected)
    }
}

/// Methods for types that take a value of one sort: no code is made for others.
macro_rules! only {
    ($($value:ident($own:ident) => $visit:ident($given:expr) for $($method:ident)*;)*) => { $($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            match &self.node.value {
                Value::$value($own) => visitor.$visit($given),
                _ => Err(self.wrong(&visitor)),
            }
        }
    )*)* };
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.node.value {
            Value::String(s) => visitor.visit_borrowed_str(s),
            Value::Integer(i) => visitor.visit_i64(*i),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Datetime(_) => Err(self.wrong(&visitor)),
            Value::Array(items) => visitor.visit_seq(Reader::list(items)),
            Value::Table(members) => visitor.visit_map(self.table(members)),
        }
    }

    only! {
        Boolean(b) => visit_bool(*b) for deserialize_bool;
        Integer(i) => visit_i64(*i) for deserialize_i8 deserialize_i16 deserialize_i32
            deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        String(s) => visit_borrowed_str(s) for deserialize_string;
        Array(items) => visit_seq(Reader::list(items)) for deserialize_seq;
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.node.value {
            Value::Integer(i) => visitor.visit_i64(i),
            Value::Float(x) => visitor.visit_f64(x),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.node.value {
            Value::Table(members) => visitor.visit_map(self.table(members)),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match &self.node.value {
            Value::String(s) => {
                let name: StrDeserializer<'_, Mismatch> = s.as_str().into_deserializer();
                visitor.visit_enum(name)
            }
            Value::Table(members) => {
                visitor.visit_enum(MapAccessDeserializer::new(self.table(members)))
            }
            _ => {
                let names: Vec<String> = variants.iter().map(|v| format!("{v:?}")).collect();
                Err(self.wrong(&format!("one of {}", names.join(", ")).as_str()))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 char str bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct ListAccess<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> SeqAccess<'de> for ListAccess<'de> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mismatch> {
        let Some((index, item)) = self.items.next() else {
            return Ok(None);
        };
        seed.deserialize(Reader::new(item))
            .map(Some)
            .map_err(|e| e.within(&index.to_string(), &item.origin))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct TableAccess<'a> {
    members: std::slice::Iter<'a, Member>,
    hidden: Option<&'a str>,
    value: Option<&'a Member>,
}

impl<'de> MapAccess<'de> for TableAccess<'de> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mismatch> {
        let hidden = self.hidden;
        let Some(member) = self
            .members
            .find(|member| Some(member.key.as_str()) != hidden)
        else {
            return Ok(None);
        };
        self.value = Some(member);
        let key: StrDeserializer<'_, Mismatch> = member.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|mut e| {
            e.0.origin.get_or_insert_with(|| member.origin.clone());
            e
        })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mismatch> {
        let Some(member) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(Reader::new(&member.value))
            .map_err(|e| e.within(&member.key, &member.value.origin))
    }
}
