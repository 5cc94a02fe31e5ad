//! The words of GOAL text.

use weir_model::LONGEST_MESSAGE;

/// The words of a line, one after the other. `{`, `}` and `:` are words by themselves.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    /// The line from the next word on.
    pub rest: &'a [u8],
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b':')
}

impl<'a> Words<'a> {
    /// The next one.
    pub fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.trim_ascii_start();
        let end = rest
            .iter()
            .position(|&byte| byte.is_ascii_whitespace() || is_mark(byte));
        let end = match end {
            Some(0) => 1,
            Some(end) => end,
            None => rest.len(),
        };
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The next one, without taking it.
    pub fn peek(mut self) -> Option<&'a [u8]> {
        self.next()
    }
}

/// A word for an error.
pub fn shown(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(40).collect();
    format!("`{}`", weir_model::visible(&text))
}

/// An error and its remedy.
pub type Wrong = (String, String);

/// Refuses.
pub fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Wrong> {
    Err((what.into(), remedy.into()))
}

/// An integer; `what` names it in errors.
pub fn number(word: Option<&[u8]>, what: &str) -> Result<u64, Wrong> {
    let Some(word) = word else {
        return wrong(format!("the line ends where {what} should be"), "write it");
    };
    let text = std::str::from_utf8(word).ok();
    match text.and_then(|text| text.parse::<u64>().ok()) {
        Some(number) => Ok(number),
        None => wrong(
            format!("{} is no {what}", shown(word)),
            "write a whole number",
        ),
    }
}

/// Refuses any other word than this one.
pub fn expect(word: Option<&[u8]>, expected: &str) -> Result<(), Wrong> {
    match word {
        Some(word) if word == expected.as_bytes() => Ok(()),
        Some(word) => wrong(
            format!("{} stands where `{expected}` should", shown(word)),
            format!("write `{expected}`"),
        ),
        None => wrong(
            format!("the line ends where `{expected}` should be"),
            format!("write `{expected}`"),
        ),
    }
}

/// `100b`, or `100 b`.
pub fn bytes(words: &mut Words) -> Result<u64, Wrong> {
    let word = words.next();
    let digits = match word.and_then(|word| word.strip_suffix(b"b")) {
        None if words.peek() == Some(&b"b"[..]) => {
            words.next();
            word
        }
        digits => digits,
    };
    if let (Some(word), None) = (word, digits) {
        return wrong(
            format!("{} is no size", shown(word)),
            "write a number of bytes with a `b`: `100b`",
        );
    }
    match number(digits, "size")? {
        bytes if bytes <= LONGEST_MESSAGE / 8 => Ok(bytes),
        bytes => wrong(
            format!("a message of {bytes} bytes is too long"),
            format!("at most {} are possible", LONGEST_MESSAGE / 8),
        ),
    }
}

/// The line without `// …` and `/* … */`.
pub fn without_comments(line: &[u8], inside: &mut bool, plain: &mut Vec<u8>) {
    plain.clear();
    let mut at = 0;
    while at < line.len() {
        let two = line.get(at..at + 2);
        match (two, *inside) {
            (Some(b"*/"), true) => {
                *inside = false;
                plain.push(b' ');
                at += 2;
            }
            (_, true) => at += 1,
            (Some(b"//"), false) => return,
            (Some(b"/*"), false) => {
                *inside = true;
                at += 2;
            }
            (_, false) => {
                plain.push(line[at]);
                at += 1;
            }
        }
    }
}
