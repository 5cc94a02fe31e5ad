//! Texts of lines, and errors that name one.

use std::sync::Arc;

use super::super::configuration::unreadable;
use weir_input::ConfigError;
use weir_input::error::Source;

/// A line of a text.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    source: &'a Arc<Source>,
    start: usize,
    /// Without comment and blanks at its ends.
    pub text: &'a str,
}

impl<'a> Line<'a> {
    /// The lines of a text that are not empty; comments begin with this character.
    pub fn all(source: &'a Arc<Source>, comment: char) -> impl Iterator<Item = Line<'a>> {
        let mut next = 0;
        let lines = source.text.split_inclusive('\n').map(move |line| {
            let start = next;
            next += line.len();
            let bare = line.split(comment).next().unwrap_or_default();
            let blanks = bare.len() - bare.trim_start().len();
            Line {
                source,
                start: start + blanks,
                text: bare.trim(),
            }
        });
        lines.filter(|line| !line.text.is_empty())
    }

    /// Its words.
    pub fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.text.split_whitespace()
    }

    /// An error in it.
    pub fn wrong(&self, message: &str, remedy: &str) -> ConfigError {
        unreadable(self.source, self.start, message, remedy)
    }
}
