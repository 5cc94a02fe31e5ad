//! Manual and doc comments name things first, in short sentences, in the words of the trade.

use std::collections::BTreeMap;
use std::fs;

use super::limits::{LONG_SENTENCES, OPENING_WORDS, OPENINGS, PHRASES, SENTENCE_WORDS};
use super::tree::source::{all, folders, root};
use super::{Count, hold, judge};

/// A text of the manual or a paragraph of a doc comment, on one line.
struct Text {
    place: String,
    text: String,
}

/// Folders with pages of the manual.
const MANUAL: [&str; 3] = ["docs", "docs/experiment-file", "docs/model"];

/// The pages of the manual: those of its folders, README.md and CONTRIBUTING.md.
fn pages() -> Vec<(String, String)> {
    let docs = folders("docs").into_iter();
    let docs = docs.filter(|folder| MANUAL.contains(&folder.path.as_str()));
    let mut paths: Vec<_> = docs.flat_map(|folder| folder.files).collect();
    assert!(!paths.is_empty(), "no pages in docs");
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    paths.sort();
    let page = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(root()).expect("a path below the root");
        (
            name.display().to_string(),
            fs::read_to_string(path).expect("a page"),
        )
    };
    paths.iter().map(page).collect()
}

/// Text that is collected line by line, each paragraph with the place of its first line.
#[derive(Default)]
struct Paragraphs {
    done: Vec<Text>,
    open: Option<Text>,
}

impl Paragraphs {
    fn add(&mut self, line: &str, place: impl Fn() -> String) {
        let new = || Text {
            place: place(),
            text: String::new(),
        };
        let open = self.open.get_or_insert_with(new);
        open.text.push_str(line);
        open.text.push(' ');
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }
}

/// The paragraphs of a page without its examples. Headings, items and rows of tables are one each.
fn paragraphs_of(path: &str, page: &str) -> Vec<Text> {
    let mut found = Paragraphs::default();
    let mut example = false;
    for (number, line) in (1..).zip(page.lines()) {
        let line = line.trim();
        if line.starts_with("```") {
            example = !example;
            found.end();
        }
        if example || line.is_empty() || line.starts_with("```") {
            found.end();
            continue;
        }
        let numbered = line
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with(". ");
        if numbered
            || ["- ", "* ", "|", "#", "<"]
                .iter()
                .any(|mark| line.starts_with(mark))
        {
            found.end();
        }
        found.add(line, || format!("{path}:{number}"));
        if is_apart(line) {
            found.end();
        }
    }
    found.end();
    found.done
}

/// True for headings, rows of tables and lines of HTML, which hold no sentences.
fn is_apart(line: &str) -> bool {
    ["|", "#", "<", "!["]
        .iter()
        .any(|mark| line.starts_with(mark))
}

/// The paragraphs of doc comments that begin with `mark`.
fn comments(mark: &str) -> Vec<Text> {
    let mut found = Paragraphs::default();
    for source in all() {
        for (number, line) in (1..).zip(source.text.lines()) {
            match line.trim_start().strip_prefix(mark).map(str::trim) {
                Some("") | None => found.end(),
                Some(line) => found.add(line, || source.place(number)),
            }
        }
        found.end();
    }
    found.done
}

/// The sentences of a paragraph. A full stop ends one, unless a small letter follows.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let end = text[start..at].trim_end_matches([')', '"', '*', '_', '`']);
        let next = text[at + 1..].chars().next();
        if end.ends_with(['.', '!', '?']) && !next.is_some_and(char::is_lowercase) {
            found.push(&text[start..at]);
            start = at + 1;
        }
    }
    found.push(&text[start..]);
    found
}

fn words(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

#[test]
fn sentences_of_the_manual_are_short() {
    let mut long = Vec::new();
    for (path, page) in pages() {
        let paragraphs = paragraphs_of(&path, &page).into_iter();
        for paragraph in paragraphs.filter(|paragraph| !is_apart(&paragraph.text)) {
            for sentence in sentences(&paragraph.text) {
                let words = words(sentence);
                if words > SENTENCE_WORDS {
                    let start: String = sentence.chars().take(60).collect();
                    long.push(format!("{}: {words} words: {start}…", paragraph.place));
                }
            }
        }
    }
    hold(&LONG_SENTENCES, long.len(), &long);
}

#[test]
fn doc_comments_name_the_thing_first() {
    let paragraphs = comments("///");
    let opens = |text: &&Text| {
        let word = text
            .text
            .split(|c: char| !c.is_alphanumeric())
            .find(|word| !word.is_empty());
        OPENING_WORDS.contains(&word.unwrap_or_default())
    };
    let opened: Vec<&Text> = paragraphs.iter().filter(opens).collect();
    let mut files = BTreeMap::new();
    for text in &opened {
        let file = text.place.split(':').next().unwrap_or_default();
        *files.entry(file).or_insert(0) += 1;
    }
    let places = files.iter().map(|(file, count)| format!("{file}: {count}"));
    let share = opened.len() * 1000 / paragraphs.len();
    println!("{} of {} paragraphs", opened.len(), paragraphs.len());
    hold(&OPENINGS, share, &places.collect::<Vec<_>>());
}

/// The same text in small letters.
fn small(Text { place, text }: Text) -> Text {
    let text = text.to_lowercase();
    Text { place, text }
}

/// The places of a phrase, as whole words; a place for each time.
fn places(phrase: &str, texts: &[Text]) -> Vec<String> {
    let mut found = Vec::new();
    for Text { place, text } in texts {
        for (at, _) in text.match_indices(phrase) {
            let before = text[..at].chars().next_back();
            let after = text[at + phrase.len()..].chars().next();
            if ![before, after]
                .into_iter()
                .flatten()
                .any(char::is_alphanumeric)
            {
                found.push(place.clone());
            }
        }
    }
    found
}

#[test]
fn worn_phrases_become_fewer() {
    let pages = pages().into_iter();
    let pages = pages.flat_map(|(path, page)| paragraphs_of(&path, &page));
    let pages: Vec<Text> = pages.map(small).collect();
    let comments = comments("///").into_iter().chain(comments("//!"));
    let comments: Vec<Text> = comments.map(small).collect();
    let mut wrong = Vec::new();
    for (phrase, remedy, in_pages, in_comments) in PHRASES {
        for (name, limit, texts) in [
            ("the manual", *in_pages, &pages),
            ("doc comments", *in_comments, &comments),
        ] {
            let places = places(phrase, texts);
            let count = Count {
                name: phrase,
                limit,
                slack: limit / 10,
                remedy,
            };
            println!("{phrase} in {name}: {}", places.len());
            if let Some(what) = judge(&count, places.len()) {
                wrong.push(format!("In {name}: {what} {}", places.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn paragraphs_sentences_and_phrases_are_found() {
    let page = "# A title\n\nOne is e.g. this\nline. Two (\"so\nmany\"). Three?\n\
                - an item\n```\nan example\n```\n";
    let found = paragraphs_of("page.md", page);
    let texts: Vec<&str> = found.iter().map(|text| text.text.trim()).collect();
    let prose = "One is e.g. this line. Two (\"so many\"). Three?";
    assert_eq!(texts, ["# A title", prose, "- an item"]);
    assert_eq!(found[1].place, "page.md:3");
    let all = ["One is e.g. this line.", "Two (\"so many\").", "Three?"];
    assert_eq!(sentences(prose), all);
    assert_eq!(words("Two (\"so many\") – or"), 4);
    assert_eq!(places("so many", &found), ["page.md:3"]);
    assert!(places("o many", &found).is_empty());
}
