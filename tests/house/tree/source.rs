//! The files of the source tree, read once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::scan::{code_of, without_tests};

/// One file with Rust code.
pub struct Source {
    /// From the root of the repository, with `/`.
    pub path: String,
    pub text: String,
    /// The text with comments and strings blanked.
    pub code: String,
    /// The code with unit tests blanked.
    pub own: String,
    /// Names of modules that exist in builds of unit tests only.
    pub test_modules: Vec<String>,
}

impl Source {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a file of text");
        let code = code_of(&text);
        let (own, test_modules) = without_tests(&code);
        Source {
            path: relative(path),
            text,
            code,
            own,
            test_modules,
        }
    }

    /// The name of its module, such as `weir_fabric::router`.
    pub fn module(&self) -> String {
        let path = self.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, path) = path.split_once("src/").expect("a file of a crate");
        let krate = match folder.trim_start_matches("crates/").trim_end_matches('/') {
            "" => "weir".to_owned(),
            name => format!("weir_{name}"),
        };
        match path {
            "lib" => krate,
            path => format!("{krate}::{}", path.replace('/', "::")),
        }
    }

    /// `path:line`, as editors and compilers write it.
    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }
}

/// All Rust files of all crates, by path.
pub static SRC: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut all = sources("crates");
    all.extend(sources("src"));
    all
});
/// All Rust files of tests/, by path.
pub static TESTS: LazyLock<Vec<Source>> = LazyLock::new(|| sources("tests"));

pub fn all() -> impl Iterator<Item = &'static Source> {
    SRC.iter().chain(TESTS.iter())
}

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).expect("a path below the root");
    path.to_str().expect("UTF-8").to_owned()
}

fn sources(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    for folder in folders(folder) {
        let files = folder.files.iter();
        let rust = files.filter(|file| file.extension().is_some_and(|end| end == "rs"));
        found.extend(rust.map(|file| Source::read(file)));
    }
    assert!(!found.is_empty(), "no Rust files in {folder}");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// One folder with its content.
pub struct Folder {
    /// From the root of the repository.
    pub path: String,
    pub files: Vec<PathBuf>,
    pub folders: Vec<PathBuf>,
}

/// `top` and all folders below it, without hidden files and leftovers of programs.
pub fn folders(top: &str) -> Vec<Folder> {
    let mut found = Vec::new();
    let mut left = vec![root().join(top)];
    while let Some(path) = left.pop() {
        let entries = fs::read_dir(&path).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        let kept = entries.filter(|entry| !is_left_behind(entry));
        let (folders, files): (Vec<_>, Vec<_>) = kept.partition(|entry| entry.is_dir());
        left.extend(folders.iter().cloned());
        let path = relative(&path);
        found.push(Folder {
            path,
            files,
            folders,
        });
    }
    found
}

fn is_left_behind(entry: &Path) -> bool {
    let name = entry.file_name().expect("a name").to_string_lossy();
    let endings = [".orig", ".pyc", ".snap.new", ".proptest-regressions"];
    // Links are for archives of a crate: what they lead to is looked at where it is.
    name.starts_with('.')
        || entry.is_symlink()
        || name == "__pycache__"
        || endings.iter().any(|ending| name.ends_with(ending))
}
