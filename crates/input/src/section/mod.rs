//! One table of an experiment file: its keys as a typed struct, and errors at their places.

use std::any::Any;
use std::sync::Arc;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ConfigError;
use super::deserialize::{Mismatch, Reader, Why};
use super::error::{Origin, Source};
use super::schema::definition;
use super::suggest;
use super::tree::{Member, Node, Value};
use serde_json::Value as Json;
use weir_model::Invalid;

/// The keys that choose a variant, and the names of the variants in `weir list`.
pub const DISPATCH: [(&str, &str); 4] = [
    ("kind", "kinds"),
    ("algorithm", "algorithms"),
    ("scheme", "schemes"),
    ("format", "formats"),
];

/// One table of the experiment file, with the place it came from.
#[derive(Clone, Debug)]
pub struct Section {
    pub node: Node,
    path: String,
    dispatch: Option<&'static str>,
    list: Option<&'static str>,
    typed: Option<Arc<Typed>>,
}

/// The parameters of a section, parsed.
#[derive(Debug)]
struct Typed {
    value: Box<dyn Any + Send + Sync>,
    written: Node,
}

impl Section {
    /// A section made from text, for tests and defaults.
    /// The text is the content of the section, without its header.
    ///
    /// The key that chooses the variant is `kind`, `algorithm` or `scheme`, whichever the text has.
    pub fn from_toml(text: &str) -> Result<Section, ConfigError> {
        let source = Arc::new(Source {
            name: "section".into(),
            text: text.into(),
        });
        let mut node = Node::parse(&source)?;
        node.origin = Origin::File {
            source,
            span: Some(0..0),
        };
        let present = DISPATCH.iter().find(|(key, _)| node.get(key).is_some());
        let dispatch = present.map_or("kind", |(key, _)| key);
        Ok(Section::new(node, "").choosing_by(dispatch, None))
    }

    /// A section that chooses no variant. `path` is how messages and `--set` call it.
    pub fn new(node: Node, path: impl Into<String>) -> Section {
        Section {
            node,
            path: path.into(),
            dispatch: None,
            list: None,
            typed: None,
        }
    }

    /// The section with the key that chooses its variant, and the name by which `weir list` lists
    /// the variants.
    pub fn choosing_by(mut self, dispatch: &'static str, list: Option<&'static str>) -> Section {
        self.dispatch = Some(dispatch);
        self.list = list;
        self
    }

    /// The parameters as a typed struct (`deny_unknown_fields`; the key that chose the variant is
    /// left out).
    ///
    /// # Errors
    /// At the place of the first key or value that does not fit.
    pub fn parse<T: DeserializeOwned + Clone + 'static>(&self) -> Result<T, ConfigError> {
        let typed = self.typed.as_ref();
        match typed.and_then(|typed| typed.value.downcast_ref::<T>()) {
            Some(known) => Ok(known.clone()),
            None => self.read().map_err(|mismatch| self.mismatch(mismatch)),
        }
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, Mismatch> {
        T::deserialize(Reader {
            node: &self.node,
            hidden: self.dispatch,
        })
    }

    /// The section with its parameters parsed, for [`Section::parse`] and [`Section::written`].
    pub(super) fn typed<T>(mut self) -> Result<Section, ConfigError>
    where
        T: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static,
    {
        let value: T = self.read().map_err(|mut mismatch| {
            let schema = schema_for!(T).to_value();
            if let Some((key, known)) = mismatch.0.unknown.take() {
                mismatch.0.remedy = self.about_unknown(&key, known, &mismatch.0.path, &schema);
            } else if mismatch.0.lacks {
                self.name_all_missing(&mut mismatch.0, &schema);
            }
            self.mismatch(mismatch)
        })?;
        self.typed = Some(Arc::new(Typed {
            written: Node::written(&value)?,
            value: Box::new(value),
        }));
        Ok(self)
    }

    fn mismatch(&self, Mismatch(why): Mismatch) -> ConfigError {
        let key = why.path.join(".");
        let origin = why.origin.as_ref().unwrap_or(&self.node.origin);
        ConfigError::at(origin, self.about(&key, &why.message), why.remedy)
    }

    /// Remedy for a key that the table at `path` does not have.
    fn about_unknown(&self, key: &str, known: &[&str], path: &[String], root: &Json) -> String {
        let dispatch = self.dispatch.filter(|_| path.is_empty());
        let table = table_at(path, root);
        let inside = known.iter().find(|table_key| {
            let inner = &definition(table, root)["properties"][table_key];
            definition(inner, root)["properties"][key].is_object()
        });
        let remedy = match (dispatch, inside) {
            // The key that chooses the variant in another section.
            (Some(own), _) if DISPATCH.iter().any(|(other, _)| *other == key) => {
                format!("did you mean `{own}`?")
            }
            (_, Some(table)) => format!("did you mean `{table}.{key}`?"),
            _ => {
                let valid: Vec<&str> = dispatch.into_iter().chain(known.iter().copied()).collect();
                suggest(key, "keys", &valid, '`')
            }
        };
        remedy + &self.see_variant()
    }

    /// Names every key that the table of `why` lacks, not only the first.
    fn name_all_missing(&self, why: &mut Why, root: &Json) {
        let required = definition(table_at(&why.path, root), root)["required"].as_array();
        let mut path = why.path.iter();
        let given = path.try_fold(&self.node, |node, part| child(node, part));
        let missing = required.into_iter().flatten().filter_map(Json::as_str);
        let missing = missing.filter(|key| given.is_some_and(|table| table.get(key).is_none()));
        if let [others @ .., last] = &missing.collect::<Vec<_>>()[..]
            && !others.is_empty()
        {
            why.message = format!(
                "the keys `{}` and `{last}` are missing",
                others.join("`, `")
            );
            why.remedy = "add them".to_string();
        }
        why.remedy += &self.see_variant();
    }

    /// The section with all parameters of its type, in their order and in their one form, behind
    /// the key that chooses the variant.
    pub fn written(&self) -> Node {
        let Some(typed) = &self.typed else {
            return self.node.clone().forgotten();
        };
        let dispatch = self.dispatch.and_then(|key| self.node.get(key)).cloned();
        let members = dispatch.into_iter().chain(typed.written.members().to_vec());
        Node::default(Value::Table(members.collect()))
    }

    /// The value of the key that chooses the variant (`kind`, `algorithm` or `scheme`).
    pub fn kind(&self) -> Result<&str, ConfigError> {
        let key = self.dispatch.unwrap_or("kind");
        match self.node.get(key) {
            Some(Member {
                value:
                    Node {
                        value: Value::String(name),
                        ..
                    },
                ..
            }) => Ok(name),
            Some(member) => Err(ConfigError::at(
                &member.value.origin,
                self.about(
                    key,
                    &format!("expected a name, got {}", member.value.type_name()),
                ),
                format!("write {key} = \"…\"{}", self.see_list()),
            )),
            None => Err(self.misspelt(key).unwrap_or_else(|| {
                ConfigError::at(
                    &self.node.origin,
                    self.about("", &format!("the key `{key}` is missing")),
                    format!("add {key} = \"…\"{}", self.see_list()),
                )
            })),
        }
    }

    /// The error that a key of this section is called almost like `key`, which is missing; None if
    /// no key is.
    pub fn misspelt(&self, key: &str) -> Option<ConfigError> {
        // Parameters of variants are keys of the section, too: only a typing error is told from
        // them.
        let slip = |member: &&Member| {
            member.key.len() > 3 && strsim::damerau_levenshtein(&member.key, key) <= 2
        };
        let member = self.node.members().iter().find(slip)?;
        Some(ConfigError::at(
            &member.origin,
            self.about("", &format!("unknown key `{}`", member.key)),
            format!("did you mean `{key}`?{}", self.see_list()),
        ))
    }

    /// The error that the variant this section chooses does not exist, with the nearest of `names`
    /// and all of them.
    pub fn unknown_kind<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> ConfigError {
        let key = self.dispatch.unwrap_or("kind");
        let plural = DISPATCH
            .iter()
            .find(|(name, _)| *name == key)
            .map_or("names", |(_, plural)| plural);
        let names: Vec<&str> = names.into_iter().collect();
        match self.kind() {
            Ok(given) => self.refuse(Invalid::new(
                key,
                format!("{given:?} is not known"),
                suggest(given, plural, &names, '"') + &self.see_list(),
            )),
            Err(error) => error,
        }
    }

    /// The error that the variant chosen by this section is not made for the variant `other` of
    /// another section (whose kind is `what`). It lists the `names` of the variants that are.
    pub fn not_for<'a>(
        &self,
        what: &str,
        other: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> ConfigError {
        let given = match self.kind() {
            Ok(given) => given,
            Err(error) => return error,
        };
        let names: Vec<String> = names.into_iter().map(|name| format!("{name:?}")).collect();
        let remedy = match names.is_empty() {
            true => format!("there is none for {other:?}: choose another {what}"),
            false => format!("{other:?} has {}{}", names.join(", "), self.see_list()),
        };
        let key = self.dispatch.unwrap_or("kind");
        let message = format!("{given:?} is not made for {what} {other:?}");
        self.refuse(Invalid::new(key, message, remedy))
    }

    /// An error about a key of this section, pointing at its line.
    ///
    /// `invalid.key` may lead into tables and lists with dots. If it is not in the file (a
    /// default), the error points at the innermost table that is.
    pub fn refuse(&self, invalid: Invalid) -> ConfigError {
        let origin = self.origin_of(&invalid.key);
        let message = self.about(&invalid.key, &invalid.message);
        ConfigError::at(origin, message, invalid.remedy)
    }

    /// True if the user wrote this key (dots lead inwards), rather than leaving it to its default.
    pub fn has(&self, key: &str) -> bool {
        let mut node = &self.node;
        key.split('.').all(|part| match child(node, part) {
            Some(inner) => {
                node = inner;
                true
            }
            None => false,
        })
    }

    /// Content that the user wrote, as TOML on one line.
    pub fn text(&self) -> String {
        super::tree::inline(&self.node)
    }

    /// Path of this section in messages: `topology`, `workload.0.pattern`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The origin of the innermost value that `key` leads to.
    fn origin_of(&self, key: &str) -> &Origin {
        let mut node = &self.node;
        let mut origin = &node.origin;
        for part in key.split('.') {
            match child(node, part) {
                Some(inner) => node = inner,
                None => break,
            }
            if !matches!(node.origin, Origin::Default) {
                origin = &node.origin;
            }
        }
        origin
    }

    /// `message`, led by the key's full path.
    pub fn about(&self, key: &str, message: &str) -> String {
        let path = [self.path.as_str(), key];
        let path: Vec<&str> = path.into_iter().filter(|part| !part.is_empty()).collect();
        match path.as_slice() {
            [] => message.to_string(),
            path => format!("{}: {message}", path.join(".")),
        }
    }

    fn see_variant(&self) -> String {
        match (self.list, self.kind()) {
            (Some(list), Ok(variant)) => format!(" (see `weir list {list} {variant}`)"),
            _ => String::new(),
        }
    }

    fn see_list(&self) -> String {
        match self.list {
            Some(list) => format!(" (see `weir list {list}`)"),
            None => String::new(),
        }
    }
}

/// The schema of the table that `path` leads to.
fn table_at<'a>(path: &[String], root: &'a Json) -> &'a Json {
    let inner = |schema, key| &definition(schema, root)["properties"][key];
    path.iter().fold(root, inner)
}

fn child<'a>(node: &'a Node, part: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Table(_) => node.get(part).map(|member| &member.value),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
