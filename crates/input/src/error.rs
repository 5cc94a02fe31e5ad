//! Errors in an input, with place and remedy.

use std::fmt;
use std::io::IsTerminal;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use textwrap::{Options, WordSplitter};

use weir_model::{unprintable, visible};

/// A text that was read: its name for the user, and its content.
#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// Origin of a key or a value.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A place in a file; without a span: that file as a whole.
    File {
        source: Arc<Source>,
        span: Option<Range<usize>>,
    },
    /// The command line: `key.path=value` as it was given to `--set`.
    Set(Arc<str>),
    /// A default.
    Default,
}

/// An error in the input: the problem, its place, and the remedy.
///
/// [`ConfigError::render`] is the whole text, with the file and the line with a marker.
#[derive(Debug)]
pub struct ConfigError {
    /// The problem, with the key and the value: one line, without the place and the remedy.
    pub message: String,
    details: Box<Details>,
}

#[derive(Debug, Default)]
struct Details {
    warning: bool,
    remedy: Option<String>,
    place: Option<Place>,
}

#[derive(Debug)]
struct Place {
    source: Arc<Source>,
    span: Range<usize>,
}

impl ConfigError {
    /// An error without a place in a file: about the command line, or a file that cannot be read.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> ConfigError {
        ConfigError {
            message: message.into(),
            details: Box::new(Details {
                warning: false,
                remedy: Some(remedy.into()).filter(|remedy| !remedy.is_empty()),
                place: None,
            }),
        }
    }

    /// An error about something that came from `origin`.
    pub fn at(
        origin: &Origin,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ConfigError {
        let mut error = ConfigError::new(message, remedy);
        match origin {
            Origin::File {
                source,
                span: Some(span),
            } => {
                error.details.place = Some(Place {
                    source: source.clone(),
                    span: first_line(&source.text, span.start, span.end),
                });
            }
            Origin::File { source, span: None } => {
                error.message = format!("{}: {}", source.name, error.message);
            }
            Origin::Set(given) => {
                error.message = format!("{} (given by `--set {given}`)", error.message);
            }
            Origin::Default => {}
        }
        error
    }

    /// The same as something that can be used, but probably is not meant.
    pub fn as_warning(mut self) -> ConfigError {
        self.details.warning = true;
        self
    }

    /// The remedy.
    pub fn remedy(&self) -> Option<&str> {
        self.details.remedy.as_deref()
    }

    /// The file that is wrong, if the error is about a place in a file.
    pub fn file(&self) -> Option<&str> {
        self.details
            .place
            .as_ref()
            .map(|place| place.source.name.as_str())
    }

    /// The line that is wrong, from 1.
    pub fn line(&self) -> Option<usize> {
        let place = self.details.place.as_ref()?;
        let before = place.source.text.get(..place.span.start)?;
        Some(before.matches('\n').count() + 1)
    }

    /// The whole message as text: the problem, the file, the line with a marker, the remedy.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.details.warning {
            true => Level::WARNING,
            false => Level::ERROR,
        };
        let mut page = vec![Group::with_title(
            level.primary_title(wrapped(&self.message)),
        )];
        let remedy = self.remedy().map(wrapped);
        if let Some(Place { source, span }) = &self.details.place {
            let text = blotted(&source.text);
            let around = AnnotationKind::Visible.span(line_before(&text, span.start)..span.end);
            let here = AnnotationKind::Primary.span(span.clone());
            let file = Snippet::source(text).path(visible(&source.name));
            let problem = page.remove(0).element(file.annotations([around, here]));
            let remedy = remedy.map(|remedy| Level::HELP.message(remedy));
            page.push(problem.elements(remedy));
        } else if let Some(remedy) = remedy {
            page.push(Group::with_title(Level::HELP.secondary_title(remedy)));
        }
        let renderer = match colour {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        renderer.term_width(WIDTH).render(&page)
    }

    /// [`ConfigError::render`] for standard error: in colour if it is a terminal and `NO_COLOR` is
    /// not set.
    pub fn render_for_stderr(&self) -> String {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        self.render(colour)
    }
}

/// A text with unprintable characters replaced by others of the same length, so that places in it
/// stay. The lines of a file shown around an error must not control a terminal.
fn blotted(text: &str) -> String {
    let blot = |letter: char| match (letter, letter.len_utf8()) {
        ('\n' | '\r' | '\t', _) => letter,
        _ if unprintable(letter).is_none() => letter,
        (_, 1) => '?',
        (_, 2) => '\u{bf}',
        _ => '\u{fffd}',
    };
    text.chars().map(blot).collect()
}

/// A span cut to its first line: a marker under a whole table would hide the message.
fn first_line(text: &str, start: usize, end: usize) -> Range<usize> {
    let start = start.min(text.len());
    let end = end.clamp(start, text.len());
    let length = text
        .get(start..end)
        .map_or(0, |part| part.find(['\n', '\r']).unwrap_or(part.len()));
    start..start + length
}

/// The start of the line before that of `place`; the start of that line if it is the first.
fn line_before(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    let ends = before.rmatch_indices('\n').map(|(at, _)| at + 1);
    ends.take(2).last().unwrap_or(0)
}

/// A message in lines that fit into a terminal with the words before them.
fn wrapped(message: &str) -> String {
    // Names with hyphens can be copied.
    let options = Options::new(WIDTH - 12).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(&visible(message), options).join("\n")
}

/// Columns of a message.
const WIDTH: usize = 100;

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.message))
    }
}

impl std::error::Error for ConfigError {}
