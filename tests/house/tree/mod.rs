//! The modules of all crates without unit tests, and the files that define the names in their
//! paths.
//!
//! A path is followed through child modules and `use` declarations to the file with the item, as
//! the compiler does it. Three things are approximate. Items that a macro makes count as those of
//! the file where the path ends. An import inside a function counts for its whole file. Calls of
//! methods are not seen, because they need no path.

pub mod scan;
pub mod source;
mod uses;

use std::collections::{HashMap, HashSet};

use source::{SRC, Source};
use uses::{Import, Uses};

pub struct Module {
    pub source: &'static Source,
    /// Such as `weir_fabric::router`.
    pub path: String,
    pub uses: Uses,
}

pub struct Tree {
    pub modules: Vec<Module>,
    by_path: HashMap<String, usize>,
}

/// The end of a path.
#[derive(Clone, Copy, PartialEq)]
pub enum Target {
    /// A module itself.
    Module(usize),
    /// An item in the file of a module.
    Item(usize),
}

/// Longer chains of `use` declarations are circles.
const LONGEST: usize = 16;

impl Tree {
    pub fn new() -> Self {
        let hidden = test_modules();
        let kept = SRC.iter().filter(|source| !is_test(source, &hidden));
        // The program has one file beside the library.
        let kept = kept.filter(|source| source.path != "src/main.rs");
        let modules: Vec<Module> = kept.map(Module::of).collect();
        let paths = modules.iter().map(|module| module.path.clone());
        let by_path = paths.zip(0..).collect();
        Tree { modules, by_path }
    }

    /// The file that a path in the file of `from` leads to; None for crates of others.
    pub fn find(&self, from: usize, path: &[String]) -> Option<Target> {
        self.resolve(from, path, 0)
    }

    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        if depth > LONGEST {
            return None;
        }
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(self.by_path[self.modules[from].krate()], rest, depth),
            name if name.starts_with("weir_") => self.walk(*self.by_path.get(name)?, rest, depth),
            "self" => self.walk(from, rest, depth),
            "super" => {
                let supers = path.iter().take_while(|name| *name == "super").count();
                let start = self.above(from, supers)?;
                self.walk(start, &path[supers..], depth)
            }
            name => {
                let module = &self.modules[from];
                let known = self.child(from, name).is_some()
                    || module.uses.defined.contains(name)
                    || module.import(name).is_some();
                known.then(|| self.walk(from, path, depth))?
            }
        }
    }

    fn walk(&self, start: usize, path: &[String], depth: usize) -> Option<Target> {
        let mut at = start;
        for (place, name) in path.iter().enumerate() {
            let last = place + 1 == path.len();
            let uses = &self.modules[at].uses;
            let import = self.modules[at].import(name);
            let child = self.child(at, name);
            let item = uses.defined.contains(name) || import.is_some();
            at = match (child, import) {
                (Some(child), _) if !(last && item) => child,
                _ if uses.defined.contains(name) => return Some(Target::Item(at)),
                (_, Some(import)) => match self.resolve(at, &import.path, depth + 1)? {
                    Target::Module(module) => module,
                    item => return Some(item),
                },
                _ => return Some(Target::Item(self.through_globs(at, name, depth))),
            };
        }
        Some(Target::Module(at))
    }

    /// The file that defines `name`: a module that `at` imports with `*`, also through others, or
    /// else `at` itself.
    fn through_globs(&self, at: usize, name: &str, depth: usize) -> usize {
        if depth > LONGEST {
            return at;
        }
        let imports = self.modules[at].uses.imports.iter();
        for import in imports.filter(|import| import.name == "*") {
            let Some(Target::Module(module)) = self.resolve(at, &import.path, depth + 1) else {
                continue;
            };
            if self.modules[module].uses.defined.contains(name) {
                return module;
            }
            let found = self.through_globs(module, name, depth + 1);
            if found != module {
                return found;
            }
        }
        at
    }

    fn child(&self, module: usize, name: &str) -> Option<usize> {
        let path = format!("{}::{name}", self.modules[module].path);
        self.by_path.get(&path).copied()
    }

    /// The module `levels` above another one.
    fn above(&self, module: usize, levels: usize) -> Option<usize> {
        let mut path = self.modules[module].path.as_str();
        for _ in 0..levels {
            path = path.rsplit_once("::")?.0;
        }
        self.by_path.get(path).copied()
    }

    /// True if `inner` is below `outer`.
    pub fn is_below(&self, inner: usize, outer: usize) -> bool {
        let rest = self.modules[inner]
            .path
            .strip_prefix(&self.modules[outer].path);
        rest.is_some_and(|rest| rest.starts_with("::"))
    }
}

impl Module {
    fn of(source: &'static Source) -> Self {
        Module {
            source,
            path: source.module(),
            uses: Uses::of(&source.own),
        }
    }

    /// The crate that it belongs to, such as `weir_fabric`.
    pub fn krate(&self) -> &str {
        self.path.split("::").next().unwrap_or_default()
    }

    fn import(&self, name: &str) -> Option<&Import> {
        self.uses.imports.iter().find(|import| import.name == name)
    }
}

/// Paths of the modules that exist in builds of unit tests only.
fn test_modules() -> HashSet<String> {
    let of = |source: &Source| {
        let module = source.module();
        let names = source.test_modules.iter();
        let paths = names.map(|name| format!("{module}::{name}"));
        paths.collect::<Vec<_>>()
    };
    SRC.iter().flat_map(of).collect()
}

/// True for a tests.rs, for a folder tests/, and for all below a `mod` under `#[cfg(test)]`.
fn is_test(source: &Source, hidden: &HashSet<String>) -> bool {
    let module = source.module();
    let mut above = module.as_str();
    while let Some((parent, name)) = above.rsplit_once("::") {
        if name == "tests" || hidden.contains(above) {
            return true;
        }
        above = parent;
    }
    false
}
