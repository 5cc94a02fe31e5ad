//! A TOML file before it is read as an experiment: keys can be set in it and taken out of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::load::sections_to_experiment;
use super::shelf::{Folder, read};
use super::{Experiment, sets};
use crate::config::Catalog;
use crate::input::error::{Origin, Source};
use crate::input::tree::{Node, Value, inline};
use crate::input::{ConfigError, Duration, Section};
use crate::model::Invalid;

/// An experiment or job file as it was read, with every key's place in it.
#[derive(Clone, Debug)]
pub struct Document {
    root: Node,
    source: Arc<Source>,
    folder: Folder,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not TOML.
    pub fn read(path: &Path) -> Result<Document, ConfigError> {
        let text = read(path).map_err(|why| {
            ConfigError::new(
                format!(
                    "the experiment file {} cannot be read: {why}",
                    path.display()
                ),
                "give the path of a TOML file that describes an experiment",
            )
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Document::parse(&path.display().to_string(), &text, folder)
    }

    /// A text that calls itself `name` in messages. Paths in it are relative to `folder`.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Document, ConfigError> {
        Document::parse_with(name, text, folder, BTreeMap::new())
    }

    /// The same, with the texts of some files that the text names: these are not read.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse_with(
        name: &str,
        text: &str,
        folder: &Path,
        inputs: BTreeMap<String, String>,
    ) -> Result<Document, ConfigError> {
        let source = Arc::new(Source {
            name: name.into(),
            text: text.into(),
        });
        Ok(Document {
            root: Node::parse(&source)?,
            source,
            folder: Folder::new(folder, inputs),
        })
    }

    /// The texts of the files that it names, as far as they were read: by their names in it.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        self.folder.texts()
    }

    /// The text as it was read.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// Applies the value of a `--set`: `key.path=value`.
    ///
    /// # Errors
    /// If it is not of that form or leads into something that is no table.
    pub fn set(&mut self, given: &str) -> Result<(), ConfigError> {
        sets::apply(&mut self.root, given)
    }

    /// Puts a value at a path of keys (`workload.0.load`), in place of what is there.
    ///
    /// # Errors
    /// At the place of the value: if the path leads into something that is no table.
    pub fn place(&mut self, key: &str, value: &Given) -> Result<(), ConfigError> {
        sets::place_at(&mut self.root, key, value.node.clone())
    }

    /// True if there is a key at the top.
    pub fn has(&self, key: &str) -> bool {
        self.root.get(key).is_some()
    }

    /// Removes and returns the value of a key at the top.
    pub fn take(&mut self, key: &str) -> Option<Given> {
        let Value::Table(members) = &mut self.root.value else {
            return None;
        };
        let at = members.iter().position(|member| member.key == key)?;
        Some(Given {
            node: members.remove(at).value,
            path: key.to_string(),
        })
    }

    /// The names of the workloads, given or by default.
    pub fn workload_names(&self) -> Vec<String> {
        let workloads = self.root.get("workload");
        workloads.map_or(Vec::new(), |member| element_names(&member.value))
    }

    /// The names of the copies of a workload, if there were so many of them.
    pub fn copies_of(&self, workload: &str, count: u64) -> Vec<String> {
        let list = self.root.get("workload").map(|member| &member.value.value);
        let names = match list {
            Some(Value::Array(items)) => sets::names(items),
            _ => Vec::new(),
        };
        let named = workload
            .parse()
            .ok()
            .and_then(|index: usize| names.get(index));
        let name = named.map_or(workload, String::as_str);
        let count = count.min(sets::MOST_NAMES as u64) as u32;
        (0..count)
            .map(|number| sets::copy_name(name, number))
            .collect()
    }

    /// A whole number at a path of keys, if there is one.
    pub fn whole_number(&self, key: &str) -> Option<u64> {
        let mut node = &self.root;
        for part in key.split('.') {
            node = &node.get(part)?.value;
        }
        match node.value {
            Value::Integer(i) => u64::try_from(i).ok(),
            _ => None,
        }
    }

    /// The experiment that the document now describes.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file, line, value and remedy.
    pub fn experiment(&self, catalog: &Catalog) -> Result<Experiment, ConfigError> {
        sections_to_experiment(self.root.clone(), &self.folder, catalog)
    }
}

impl Experiment {
    /// [`Experiment::load`] with the names of `catalog`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file, line, value and remedy.
    pub fn load_with(
        path: &Path,
        sets: &[String],
        catalog: &Catalog,
    ) -> Result<Experiment, ConfigError> {
        let mut document = Document::read(path)?;
        sets.iter().try_for_each(|given| document.set(given))?;
        document.experiment(catalog)
    }

    /// An experiment from a text that calls itself `name` in messages. Paths in it are relative to `folder`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file, line, value and remedy.
    pub fn from_text(
        name: &str,
        text: &str,
        folder: &Path,
        sets: &[String],
        catalog: &Catalog,
    ) -> Result<Experiment, ConfigError> {
        let mut document = Document::parse(name, text, folder)?;
        sets.iter().try_for_each(|given| document.set(given))?;
        document.experiment(catalog)
    }
}

/// A value that somebody wrote, with its place.
#[derive(Clone, Debug)]
pub struct Given {
    pub(super) node: Node,
    path: String,
}

impl Given {
    pub(super) fn new(node: Node, path: impl Into<String>) -> Given {
        Given {
            node,
            path: path.into(),
        }
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
        let member = |member: &crate::input::tree::Member| {
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

    /// The length of time, if this is a text that says one.
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

    /// A value that nobody wrote in a file.
    ///
    /// # Errors
    /// If the text is no TOML.
    pub fn of_text(toml: &str) -> Result<Given, ConfigError> {
        let section = Section::from_toml(&format!("value = {toml}"))?;
        let node = section.node.get("value").map(|member| member.value.clone());
        Ok(Given::new(node.unwrap_or(section.node), ""))
    }

    /// This table with those members of another in the place of its own; tables inside are merged likewise.
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

    /// The names of the elements, if this is a list of workloads.
    pub fn element_names(&self) -> Vec<String> {
        element_names(&self.node)
    }

    /// What people call it: a text without quotes, all else as TOML.
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

    /// How messages call it: `axis.0.values`.
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

fn element_names(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Array(items) => sets::names_of_all(items),
        _ => Vec::new(),
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
