//! A TOML file before it is read as an experiment: keys can be set in it and taken out of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::files::file_set::{Folder, read};
use super::load::{known_names, sections_to_experiment};
use super::{Experiment, sets};
use crate::config::Catalog;
use weir_input::error::Source;
use weir_input::tree::{Node, Value, inline};
use weir_input::{ConfigError, Given};

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

    /// Puts a value at a path of keys (`workload.0.load`), replacing any existing value.
    ///
    /// # Errors
    /// At the place of the value: if the path leads into something that is no table.
    pub fn place(&mut self, key: &str, value: &Given) -> Result<(), ConfigError> {
        sets::place_at(&mut self.root, key, value.node().clone())
    }

    /// Puts a value at a path of keys from the simulated time `at` on: into `[fork]`.
    ///
    /// # Errors
    /// If there is another fork, or `[fork]` is no table.
    pub fn fork(&mut self, at: &Given, key: &str, value: &Given) -> Result<(), ConfigError> {
        let own = self
            .root
            .get(sets::fork::FORK)
            .and_then(|fork| fork.value.get("at"));
        if own.is_some_and(|own| inline(&own.value) != inline(at.node())) {
            return Err(at.wrong(
                "the experiment forks at another time",
                "write the same time everywhere: a run forks once",
            ));
        }
        sets::fork::put(&mut self.root, at.node().clone(), key, value.node().clone())
    }

    /// Puts the value of a `--set` into `[fork]`, from the simulated time `at` on.
    ///
    /// # Errors
    /// As of [`Document::set`] and [`Document::fork`].
    pub fn fork_set(&mut self, at: &str, given: &str) -> Result<(), ConfigError> {
        let (key, value) = sets::parsed(given)?;
        let at = Node {
            value: Value::String(at.to_string()),
            origin: value.origin.clone(),
        };
        let at = Given::new(at, "--fork-at");
        self.fork(&at, &key, &Given::new(value, key.clone()))
    }

    /// True if there is a key at the top.
    pub fn has(&self, key: &str) -> bool {
        self.root.get(key).is_some()
    }

    /// Checks that everything at the top is a section of an experiment or a key of a job file.
    ///
    /// # Errors
    /// If something is not.
    pub fn check_names(&self) -> Result<(), ConfigError> {
        known_names(&self.root)
    }

    /// Removes and returns the value of a key at the top.
    pub fn take(&mut self, key: &str) -> Option<Given> {
        let Value::Table(members) = &mut self.root.value else {
            return None;
        };
        let at = members.iter().position(|member| member.key == key)?;
        Some(Given::new(members.remove(at).value, key.to_string()))
    }

    /// The names of the workloads, given or by default.
    pub fn workload_names(&self) -> Vec<String> {
        let workloads = self.root.get("workload");
        workloads.map_or(Vec::new(), |member| names_of(&member.value))
    }

    /// The names of the sections `[[workload]]`, each once whatever its copies.
    pub fn workload_sections(&self) -> Vec<String> {
        match self.root.get("workload").map(|member| &member.value.value) {
            Some(Value::Array(items)) => sets::names(items),
            _ => Vec::new(),
        }
    }

    /// The names of the copies of a workload if there were `count` of them.
    pub fn copies_of(&self, workload: &str, count: u64) -> Vec<String> {
        let names = self.workload_sections();
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
        let read = |root| sections_to_experiment(root, &self.folder, catalog);
        let mut root = self.root.clone();
        match sets::fork::take(&mut root) {
            None => read(root),
            Some(section) => {
                let base = read(root.clone())?;
                sets::fork::forked(root, section, base, &read)
            }
        }
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

    /// An experiment from a text that calls itself `name` in messages. Paths in it are relative to
    /// `folder`.
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

/// The names of the elements of a list of workloads; none if this is no such list.
pub fn element_names(given: &Given) -> Vec<String> {
    names_of(given.node())
}

fn names_of(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Array(items) => sets::names_of_all(items),
        _ => Vec::new(),
    }
}
