//! DOT, the language of Graphviz, as far as networks need it.
//!
//! Read are `kind` of nodes (`host` or `endpoint`), and `kind`, `bandwidth` and `latency` of edges.
//! An arrow and its reverse are one link. (Parsers of others: one has a license that weir cannot
//! take over, the other takes longer to compile than the rest of `weir import`.)

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::super::configuration::unreadable;
use super::network::{HostRule, Link, Network, both_ways, gbps, ns};
use weir_input::ConfigError;
use weir_input::error::Source;

/// Maximum number of links: more than the largest machines have.
const MOST_LINKS: usize = 1 << 24;

/// Subgraphs inside one another.
const DEEPEST: usize = 64;

/// Attributes of edges that are read.
const READ: [&str; 3] = ["kind", "bandwidth", "latency"];

const REMEDY: &str = "give a graph in the language of Graphviz";

/// Attributes by their names.
type Attributes = HashMap<String, String>;

/// The network of a graph.
pub fn read(source: &Arc<Source>, asked: &HostRule) -> Result<Network, ConfigError> {
    let mut reader = Reader {
        source,
        at: 0,
        links: Vec::new(),
        hosts: HashSet::new(),
        nodes: Vec::new(),
        unknown: BTreeSet::new(),
    };
    let directed = reader.graph()?;
    let links = match directed {
        true => both_ways(reader.links),
        false => reader.links,
    };
    let mut network = Network {
        nodes: reader.nodes,
        ..Network::default()
    };
    network.leave_out(reader.unknown.iter().map(String::as_str));
    for link in links {
        network.add(link, |name| {
            reader.hosts.contains(name) || asked.is_host(name)
        });
    }
    Ok(network)
}

/// A word of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name, number or text, without quotes.
    Id(String),
    /// The same without quotes in the text: it may be a word of the language.
    Word(String),
    /// `{ } [ ] = ; , :`, and `-` for both kinds of edges.
    Mark(char),
    End,
}

/// Attributes of all nodes and edges that follow.
#[derive(Clone, Default)]
struct Defaults {
    nodes: Attributes,
    edges: Attributes,
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    at: usize,
    links: Vec<Link>,
    hosts: HashSet<String>,
    nodes: Vec<String>,
    /// Attributes of edges that are not read.
    unknown: BTreeSet<String>,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> ConfigError {
        unreadable(
            self.source,
            self.at.min(self.source.text.len()),
            what,
            REMEDY,
        )
    }

    /// Reads everything; true if its edges are arrows.
    fn graph(&mut self) -> Result<bool, ConfigError> {
        let mut word = self.next()?;
        if self.is(&word, "strict") {
            word = self.next()?;
        }
        let directed = self.is(&word, "digraph");
        if !directed && !self.is(&word, "graph") {
            return Err(self.wrong("neither graph nor digraph"));
        }
        if let Token::Id(_) | Token::Word(_) = self.peek()? {
            self.next()?;
        }
        self.expect('{')?;
        self.statements(&mut Defaults::default(), 0)?;
        match self.next()? {
            Token::End => Ok(directed),
            _ => Err(self.wrong("something behind the graph")),
        }
    }

    /// Statements up to the closing brace; the nodes in them.
    fn statements(&mut self, own: &mut Defaults, depth: usize) -> Result<Vec<String>, ConfigError> {
        if depth > DEEPEST {
            return Err(self.wrong("too many subgraphs inside one another"));
        }
        let mut nodes = Vec::new();
        loop {
            match self.peek()? {
                Token::Mark('}') => {
                    self.next()?;
                    return Ok(nodes);
                }
                Token::Mark(';' | ',') => drop(self.next()?),
                Token::End => return Err(self.wrong("a `{` without its `}`")),
                word if ["graph", "node", "edge"]
                    .iter()
                    .any(|name| self.is(&word, name)) =>
                {
                    self.next()?;
                    let given = self.attributes()?;
                    match &word {
                        Token::Word(name) if name.eq_ignore_ascii_case("node") => {
                            own.nodes.extend(given);
                        }
                        Token::Word(name) if name.eq_ignore_ascii_case("edge") => {
                            own.edges.extend(given);
                        }
                        _ => {}
                    }
                }
                _ => self.statement(own, depth, &mut nodes)?,
            }
        }
    }

    /// A node, edges, or an attribute of the graph.
    fn statement(
        &mut self,
        own: &mut Defaults,
        depth: usize,
        nodes: &mut Vec<String>,
    ) -> Result<(), ConfigError> {
        let mut ends = vec![self.end(own, depth)?];
        if self.peek()? == Token::Mark('=') {
            self.next()?;
            self.next()?;
            return Ok(());
        }
        while self.peek()? == Token::Mark('-') {
            self.next()?;
            ends.push(self.end(own, depth)?);
        }
        let given = self.attributes()?;
        if let [single] = &ends[..] {
            self.nodes.extend(single.iter().cloned());
            let kind = given.get("kind").or(own.nodes.get("kind"));
            if kind.is_some_and(|kind| kind == "host" || kind == "endpoint") {
                self.hosts.extend(single.iter().cloned());
            }
        }
        let mut all = own.edges.clone();
        all.extend(given);
        if ends.len() > 1 {
            let unknown = all.keys().filter(|name| !READ.contains(&name.as_str()));
            self.unknown.extend(unknown.cloned());
        }
        for pair in ends.windows(2) {
            if self.links.len() + pair[0].len() * pair[1].len() > MOST_LINKS {
                return Err(self.wrong(&format!("more than {MOST_LINKS} links")));
            }
            for from in &pair[0] {
                for to in &pair[1] {
                    let link = self.link(from, to, &all)?;
                    self.links.push(link);
                }
            }
        }
        nodes.extend(ends.into_iter().flatten());
        Ok(())
    }

    fn link(&self, from: &str, to: &str, given: &Attributes) -> Result<Link, ConfigError> {
        let read = |name: &str, read: fn(&str) -> Option<f64>| match given.get(name) {
            Some(text) => read(text).map(Some).ok_or_else(|| {
                self.wrong(&format!("{name} = {text:?} of the edge before is not one"))
            }),
            None => Ok(None),
        };
        let kind = given
            .get("kind")
            .filter(|kind| *kind != "terminal" && *kind != "link");
        Ok(Link {
            kind: kind.cloned(),
            gbps: read("bandwidth", gbps)?,
            ns: read("latency", ns)?,
            ..Link::new(from, to)
        })
    }

    /// One end of edges: a node, or all nodes of a subgraph.
    fn end(&mut self, own: &Defaults, depth: usize) -> Result<Vec<String>, ConfigError> {
        let mut word = self.next()?;
        if self.is(&word, "subgraph") {
            word = self.next()?;
            if let Token::Id(_) | Token::Word(_) = word {
                word = self.next()?;
            }
        }
        match word {
            Token::Mark('{') => self.statements(&mut own.clone(), depth + 1),
            Token::Id(name) | Token::Word(name) => {
                // A port, and a point of the compass.
                while self.peek()? == Token::Mark(':') {
                    self.next()?;
                    self.next()?;
                }
                Ok(vec![name])
            }
            _ => Err(self.wrong("no name of a node")),
        }
    }

    /// Lists of attributes in brackets, if there are any.
    fn attributes(&mut self) -> Result<Attributes, ConfigError> {
        let mut all = Attributes::new();
        while self.peek()? == Token::Mark('[') {
            self.next()?;
            loop {
                match self.next()? {
                    Token::Mark(']') => break,
                    Token::Mark(';' | ',') => {}
                    Token::Id(name) | Token::Word(name) => {
                        self.expect('=')?;
                        let (Token::Id(value) | Token::Word(value)) = self.next()? else {
                            return Err(self.wrong("an attribute without a value"));
                        };
                        all.insert(name, value);
                    }
                    _ => return Err(self.wrong("a `[` without its `]`")),
                }
            }
        }
        Ok(all)
    }

    fn is(&self, token: &Token, word: &str) -> bool {
        matches!(token, Token::Word(own) if own.eq_ignore_ascii_case(word))
    }

    fn expect(&mut self, mark: char) -> Result<(), ConfigError> {
        match self.next()? {
            Token::Mark(own) if own == mark => Ok(()),
            _ => Err(self.wrong(&format!("no `{mark}` where it must be"))),
        }
    }

    fn peek(&mut self) -> Result<Token, ConfigError> {
        let at = self.at;
        let token = self.next();
        self.at = at;
        token
    }

    fn next(&mut self) -> Result<Token, ConfigError> {
        self.skip()?;
        let text = &self.source.text[self.at..];
        let Some(first) = text.chars().next() else {
            return Ok(Token::End);
        };
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let (token, length) = match first {
            '{' | '}' | '[' | ']' | '=' | ';' | ',' | ':' => (Token::Mark(first), 1),
            '-' if text.starts_with("->") || text.starts_with("--") => (Token::Mark('-'), 2),
            '"' => {
                let inside = &text[1..];
                let mut last = ' ';
                let end = inside.find(|c: char| {
                    let ends = c == '"' && last != '\\';
                    last = if last == '\\' { ' ' } else { c };
                    ends
                });
                let end = end.ok_or_else(|| self.wrong("a text without its end"))?;
                (Token::Id(inside[..end].replace("\\\"", "\"")), end + 2)
            }
            '<' => {
                let mut open = 0;
                let end = text.find(|c: char| {
                    open += i32::from(c == '<') - i32::from(c == '>');
                    open == 0
                });
                let end = end.ok_or_else(|| self.wrong("a `<` without its `>`"))?;
                (Token::Id(text[..=end].to_string()), end + 1)
            }
            _ if plain(first) || first == '-' => {
                let rest = &text[first.len_utf8()..];
                let length = rest.find(|c: char| !plain(c)).unwrap_or(rest.len());
                let word = &text[..first.len_utf8() + length];
                (Token::Word(word.to_string()), word.len())
            }
            _ => return Err(self.wrong("a character that has no meaning here")),
        };
        self.at += length;
        Ok(token)
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) -> Result<(), ConfigError> {
        loop {
            let text = &self.source.text[self.at..];
            let line = || text.find('\n').unwrap_or(text.len());
            self.at += match text.as_bytes() {
                [b'#', ..] | [b'/', b'/', ..] => line(),
                [b'/', b'*', ..] => match text.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(self.wrong("a comment without its end")),
                },
                _ => match text.len() - text.trim_start().len() {
                    0 => return Ok(()),
                    blanks => blanks,
                },
            };
        }
    }
}
