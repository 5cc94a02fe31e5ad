//! The names that a file defines, imports and mentions.

use std::collections::HashSet;

use super::scan::{Token, tokens};

/// A leaf of a `use` declaration.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub path: Vec<String>,
    /// The name by which the file knows it; `*` for all names of a module.
    pub name: String,
    /// `pub use`, also with a scope.
    pub public: bool,
    pub line: usize,
}

/// A path of two or more names outside of `use` declarations, or a macro's name with its `!`.
#[derive(Debug, PartialEq)]
pub struct Mention {
    pub path: Vec<String>,
    pub line: usize,
}

#[derive(Default)]
pub struct Uses {
    pub imports: Vec<Import>,
    pub mentions: Vec<Mention>,
    /// Macros that are called by name alone.
    pub calls: Vec<Mention>,
    /// Items at the top level of the file.
    pub defined: HashSet<String>,
    /// Macros that are defined in the file.
    pub macros: HashSet<String>,
}

const ITEMS: [&str; 9] = [
    "fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod",
];

impl Uses {
    pub fn of(code: &str) -> Self {
        let tokens = tokens(code);
        let mut uses = Uses::default();
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].text);
            let next = tokens.get(at + 1).map_or("", |token| token.text);
            match tokens[at].text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "use" if next != "<" => {
                    let public = matches!(before(1), "pub" | ")");
                    at = uses.declaration(&tokens, at + 1, public);
                    continue;
                }
                "macro_rules" => {
                    let name = tokens[at + 2].text.to_owned();
                    uses.macros.insert(name.clone());
                    uses.defined.insert(name);
                    at += 3;
                    continue;
                }
                word if depth == 0 && ITEMS.contains(&word) => {
                    // `mod name;` is a child, not an item; `mod name { … }` is part of the file.
                    let child = word == "mod" && tokens.get(at + 2).is_some_and(|t| t.text == ";");
                    if !child && next != "fn" {
                        uses.defined.insert(next.to_owned());
                    }
                }
                _ if tokens[at].is_name() && !matches!(before(1), "::" | "." | "'") => {
                    at = uses.mention(&tokens, at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        uses
    }

    /// Reads the declaration whose path starts at `at`; gives the place after its semicolon.
    fn declaration(&mut self, tokens: &[Token], at: usize, public: bool) -> usize {
        let end = at + tokens[at..].iter().position(|t| t.text == ";").unwrap_or(0);
        let mut reader = Reader {
            tokens: &tokens[..end],
            at,
            public,
            imports: &mut self.imports,
        };
        reader.tree(&[]);
        end + 1
    }

    /// Reads the path that starts at `at`; gives the place after it.
    fn mention(&mut self, tokens: &[Token], at: usize) -> usize {
        let mut path = vec![tokens[at].text.to_owned()];
        let mut next = at + 1;
        while let [colons, name, ..] = &tokens[next..] {
            if colons.text != "::" || !name.is_name() {
                break;
            }
            path.push(name.text.to_owned());
            next += 2;
        }
        let line = tokens[at].line;
        // `pub(in crate::fabric)` says who may use an item.
        let scope = at >= 2 && tokens[at - 1].text == "in" && tokens[at - 2].text == "(";
        let after = |more: usize| tokens.get(next + more).map_or("", |token| token.text);
        if path.len() > 1 {
            if !scope {
                self.mentions.push(Mention { path, line });
            }
        } else if after(0) == "!" && matches!(after(1), "(" | "[" | "{") {
            self.calls.push(Mention { path, line });
        }
        next
    }
}

/// Reads the tree of a `use` declaration.
struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    public: bool,
    imports: &'a mut Vec<Import>,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }

    fn tree(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        if self.peek() == "::" {
            self.at += 1;
        }
        loop {
            match self.peek() {
                "{" => return self.branches(&path),
                "*" => {
                    self.at += 1;
                    return self.leaf(path, "*", line);
                }
                name => path.push(name.to_owned()),
            }
            self.at += 1;
            if self.peek() != "::" {
                break;
            }
            self.at += 1;
        }
        if path.last().is_some_and(|name| name == "self") && path.len() > 1 {
            path.pop();
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.peek() == "as" {
            name = self.tokens[self.at + 1].text.to_owned();
            self.at += 2;
        }
        self.leaf(path, &name, line);
    }

    fn branches(&mut self, prefix: &[String]) {
        self.at += 1;
        while !matches!(self.peek(), "}" | "") {
            self.tree(prefix);
            if self.peek() == "," {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn leaf(&mut self, path: Vec<String>, name: &str, line: usize) {
        let import = Import {
            path,
            name: name.to_owned(),
            public: self.public,
            line,
        };
        self.imports.push(import);
    }
}

#[test]
fn trees_of_names_are_read() {
    let uses = Uses::of(
        "pub(super) use a::{b::{self, C as D}, e::*};
         use crate::{f, g};
         pub(in crate::x) fn h() -> k::L { for m in crate::n::O { q!(r.s::<T>()) } }",
    );
    let imports = uses.imports.iter().map(|import| {
        let public = if import.public { "pub " } else { "" };
        format!("{public}{} = {}", import.name, import.path.join("::"))
    });
    let expected = [
        "pub b = a::b",
        "pub D = a::b::C",
        "pub * = a::e",
        "f = crate::f",
        "g = crate::g",
    ];
    assert_eq!(imports.collect::<Vec<_>>(), expected);
    let mentions = uses.mentions.iter().map(|mention| mention.path.join("::"));
    assert_eq!(mentions.collect::<Vec<_>>(), ["k::L", "crate::n::O"]);
    assert_eq!(uses.calls[0].path, ["q"]);
    assert!(uses.defined.contains("h"));
}
