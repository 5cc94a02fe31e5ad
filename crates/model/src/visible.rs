//! Texts from outside, as they may be printed: without anything that a terminal or a page would
//! obey.

use std::borrow::Cow;

/// Reason why a character cannot be printed; `None` if it can.
///
/// Such characters are control characters, characters that turn the direction of writing, the byte
/// order mark, and two that are no characters at all.
pub fn unprintable(letter: char) -> Option<&'static str> {
    match letter {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some("turns the direction of writing"),
        '\u{fffe}' | '\u{ffff}' => Some("is no character"),
        '\u{feff}' => Some("is a byte order mark"),
        _ if letter.is_control() => Some("is a control character"),
        _ => None,
    }
}

/// The text with unprintable characters written out as `\u001b`; the ends of lines and tabs stay.
/// TOML and JSON read the same text from it inside quotes.
pub fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |letter: char| !matches!(letter, '\n' | '\t') && unprintable(letter).is_some();
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match hidden(letter) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        for (text, shown) in [
            (
                "plain, größer, 漢字 \u{1f600}",
                "plain, größer, 漢字 \u{1f600}",
            ),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\u{1b}[31mred\u{7}", "\\u001b[31mred\\u0007"),
            ("back\rover\u{7f}\u{9b}", "back\\u000dover\\u007f\\u009b"),
            ("\u{202e}desrever\u{2069}", "\\u202edesrever\\u2069"),
            ("\u{ffff}", "\\uffff"),
        ] {
            assert_eq!(visible(text), shown);
            assert_eq!(visible(shown), shown, "once is enough");
        }
    }
}
