//! Rust code without a compiler: comments, strings and test code are blanked, and tokens remain.
//!
//! Blanked bytes become spaces and line breaks stay, so that places keep their lines.

/// `text` with its comments, strings and character literals blanked.
pub fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match literal_end(bytes, at) {
            Some(end) => {
                blank(&mut code[at..end]);
                at = end;
            }
            None => at += 1,
        }
    }
    String::from_utf8(code).expect("whole characters are blanked")
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

/// The end of the comment, string or character literal that starts at `at`.
fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let length = match rest[0] {
        b'/' if rest.starts_with(b"//") => find(rest, 0, b"\n"),
        b'/' if rest.starts_with(b"/*") => block_comment(rest),
        b'"' => string(rest),
        b'\'' => character(rest)?,
        b'r' | b'b' | b'c' if at == 0 || !is_word(bytes[at - 1]) => raw_string(rest)?,
        _ => return None,
    };
    Some(at + length)
}

pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The place of `needle` from `from` on, or the end.
fn find(bytes: &[u8], from: usize, needle: &[u8]) -> usize {
    let found = bytes[from..]
        .windows(needle.len())
        .position(|part| part == needle);
    found.map_or(bytes.len(), |found| from + found)
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < rest.len() {
        let step = match &rest[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
    }
    at
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// A character literal; None for a lifetime or a label.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some((find(rest, 3, b"'") + 1).min(rest.len()));
    }
    // Bytes that continue a character start with the bits 10.
    let more = rest.iter().skip(2);
    let end = 2 + more.take_while(|byte| **byte & 0xc0 == 0x80).count();
    (rest.get(end) == Some(&b'\'')).then_some(end + 1)
}

/// A raw string with its prefix; None for anything else.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let start = rest.iter().position(|byte| *byte == b'r')?;
    if start > 1 {
        return None;
    }
    let tail = rest[start + 1..].iter();
    let hashes = tail.take_while(|byte| **byte == b'#').count();
    let quote = start + 1 + hashes;
    if rest.get(quote) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    Some((find(rest, quote + 1, &close) + close.len()).min(rest.len()))
}

/// The code without the parts under `#[cfg(test)]`, and the names of the modules under it.
pub fn without_tests(code: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let mut bytes = code.as_bytes().to_vec();
    let mut modules = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(MARK) {
        let start = from + found;
        let end = item_end(code, start + MARK.len());
        let words: Vec<Token> = tokens(&code[start + MARK.len()..end]);
        let name = words.iter().skip_while(|word| word.text != "mod").nth(1);
        modules.extend(name.map(|name| name.text.to_owned()));
        blank(&mut bytes[start..end]);
        from = end;
    }
    let code = String::from_utf8(bytes).expect("whole characters are blanked");
    (code, modules)
}

/// The end of the item that starts at `at`: after its semicolon or its closing brace.
pub fn item_end(code: &str, at: usize) -> usize {
    let mut depth = 0;
    for (place, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth -= 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return place + 1;
                }
            }
            b';' if depth == 0 => return place + 1,
            _ => {}
        }
    }
    code.len()
}

/// A word, `::`, or a single other character.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Counted from 1.
    pub line: usize,
    /// Byte of the code.
    pub at: usize,
}

impl Token<'_> {
    pub fn is_name(&self) -> bool {
        let first = self.text.as_bytes()[0];
        is_word(first) && !first.is_ascii_digit()
    }
}

pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let words = rest.iter().take_while(|byte| is_word(**byte)).count();
        let length = match words {
            0 if rest.starts_with(b"::") => 2,
            0 if !rest[0].is_ascii() => code[at..].chars().next().map_or(1, char::len_utf8),
            words => words.max(1),
        };
        if rest[0] == b'\n' {
            line += 1;
        } else if !rest[0].is_ascii_whitespace() {
            let text = &code[at..at + length];
            found.push(Token { text, line, at });
        }
        at += length;
    }
    found
}

#[test]
fn strings_comments_and_tests_are_not_code() {
    let text = r##"
        let a = "use crate::a; \" {"; // use crate::b; {
        let b = r#"use "crate::c" {"#; /* use /* crate::d */ { */
        let c = ['{', '\'', '"', b'{', 'ß'];
        fn d<'a>(for r: &'a str) {} "##;
    let code = code_of(text);
    assert_eq!(code.len(), text.len());
    let words: Vec<&str> = tokens(&code).iter().map(|token| token.text).collect();
    let expected = "let a = ; let b = ; let c = [ , , , b , ] ; \
                    fn d < ' a > ( for r : & ' a str ) { }";
    assert_eq!(words.join(" "), expected);

    let text =
        "use a; #[cfg(test)] #[path = \"x\"] mod b; #[cfg(test)] mod c { fn d() { } } use e;";
    let (own, modules) = without_tests(&code_of(text));
    let words: Vec<&str> = tokens(&own).iter().map(|token| token.text).collect();
    assert_eq!(words.join(" "), "use a ; use e ;");
    assert_eq!(modules, ["b", "c"]);
}
