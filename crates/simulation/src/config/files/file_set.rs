//! Files that come with weir, and files of the user instead: those named by `file = "…"` and
//! `preset = "…"`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use weir_input::error::{Origin, Source};
use weir_input::tree::{Node, Value};
use weir_input::{ConfigError, Section, suggest};
use weir_model::Invalid;

/// Set of named files that a key refers to.
pub(in crate::config) struct FileSet<'a> {
    /// The key in its section, for messages.
    pub key: &'a str,
    /// Names and texts of the files that come with weir.
    pub ready: &'static [(&'static str, &'static str)],
    /// The folder of those files.
    pub folder: &'static str,
    /// Word for one of them.
    pub what: &'static str,
    /// Name of the list that has them.
    pub list: &'static str,
}

/// The folder that paths in an experiment file are relative to, and the texts of the files that
/// were read from there.
///
/// A file is read once, however many points of a study name it. Traces are no such texts: they may
/// be large.
#[derive(Clone, Debug, Default)]
pub(in crate::config) struct Folder {
    path: PathBuf,
    /// By the name that the experiment file has for them.
    texts: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Folder {
    /// A folder of which some texts are known, whatever it contains now.
    pub fn new(path: &Path, texts: BTreeMap<String, String>) -> Folder {
        Folder {
            path: path.to_path_buf(),
            texts: Arc::new(Mutex::new(texts)),
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All texts that are known.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let texts = self.texts.lock();
        texts.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The path of a file and its text.
    pub fn read(&self, name: &str) -> Result<(PathBuf, String), (PathBuf, String)> {
        let path = self.path.join(name);
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = texts.get(name) {
            return Ok((path, text.clone()));
        }
        match read(&path) {
            Ok(text) => {
                texts.insert(name.to_string(), text.clone());
                Ok((path, text))
            }
            Err(why) => Err((path, why)),
        }
    }
}

/// The content of a ready file, or of a file whose path is relative to the experiment file.
pub(in crate::config) fn from_file(
    section: &Section,
    name: &str,
    folder: &Folder,
    file_set: &FileSet,
) -> Result<Node, ConfigError> {
    let (shown, text) = if name.contains(['/', '\\']) || name.ends_with(".toml") {
        let (path, text) = folder.read(name).map_err(|(path, why)| {
            section.refuse(Invalid::new(
                file_set.key,
                format!("{} cannot be read: {why}", path.display()),
                format!(
                    "give a path relative to the experiment file, or the name of a {} (see `weir \
                     list {}`)",
                    file_set.what, file_set.list
                ),
            ))
        })?;
        (path.display().to_string(), text)
    } else {
        let ready = file_set.ready.iter().find(|(ready, _)| *ready == name);
        let (_, text) = ready.ok_or_else(|| {
            let names: Vec<&str> = file_set.ready.iter().map(|(name, _)| *name).collect();
            let plural = format!("{}s", file_set.what);
            section.refuse(Invalid::new(
                file_set.key,
                format!("{name:?} is not a {}", file_set.what),
                suggest(name, &plural, &names, '"') + "; or give a path that ends in .toml",
            ))
        })?;
        (format!("{}/{name}.toml", file_set.folder), text.to_string())
    };
    let source = Arc::new(Source { name: shown, text });
    let mut node = Node::parse(&source)?;
    // A key that is missing is missing in that file: errors about the section as a whole point at
    // its beginning.
    node.origin = Origin::File {
        source,
        span: Some(0..0),
    };
    Ok(node)
}

/// The text of `file`, if there is that key.
pub(in crate::config) fn file_name(section: &Section) -> Result<Option<String>, ConfigError> {
    let Some(member) = section.node.get("file") else {
        return Ok(None);
    };
    match &member.value.value {
        Value::String(name) => Ok(Some(name.clone())),
        _ => Err(section.refuse(Invalid::new(
            "file",
            format!(
                "expected a name or a path, got {}",
                member.value.type_name()
            ),
            "write file = \"…\"",
        ))),
    }
}

/// A section without its `file`.
pub(in crate::config) fn without_file(mut node: Node) -> Node {
    if let Value::Table(members) = &mut node.value {
        members.retain(|member| member.key != "file");
    }
    node
}

/// The longest file that is read, in bytes.
/// Files written by people have some kilobytes, and lists for every endpoint of a large network
/// some hundred.
const LONGEST_FILE: u64 = 4 << 20;

/// The text of a file. Others than regular files are not even opened: a pipe may keep its reader
/// waiting for ever, and some devices never end.
pub(in crate::config) fn read(path: &Path) -> Result<String, String> {
    let failure = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        _ => e.to_string(),
    };
    let kind = std::fs::metadata(path).map_err(failure)?.file_type();
    if kind.is_dir() {
        return Err("it is a directory".to_string());
    }
    if !kind.is_file() {
        return Err("it is a pipe or a device, and no file".to_string());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failure)?;
    let read = file.take(LONGEST_FILE + 1).read_to_end(&mut bytes);
    if read.map_err(failure)? as u64 > LONGEST_FILE {
        let most = LONGEST_FILE >> 20;
        return Err(format!("it has more than {most} MiB"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_string())
}
