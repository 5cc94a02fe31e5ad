//! Numbers and lines for people.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use weir_model::visible;
use weir_result::Summary;

/// Units that stay on the line of their number.
const UNITS: [&str; 20] = [
    "ps", "ns", "us", "µs", "ms", "s", "min", "h", "d", "%", "B", "kB", "MB", "GB", "KiB", "MiB",
    "GiB", "TiB", "Gbps", "GB/s",
];

/// A space at which no line is broken.
const UNBROKEN: char = '\u{a0}';

/// A whole number with commas: `1,234,567`.
pub fn whole(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits with a prefix: `9.53 M`, `850`, `1.20 G`. No prefix below a thousand.
pub fn scaled(value: f64) -> String {
    let steps = ["", " k", " M", " G", " T", " P", " E"];
    let (value, step) = reduce(value, 1e3, steps.len());
    format!("{}{}", digits(value, step), steps[step])
}

/// Bytes with a binary prefix: `1.50 GiB`.
pub fn bytes(value: u64) -> String {
    let steps = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (value, step) = reduce(value as f64, 1024.0, steps.len());
    format!("{} {}", digits(value, step), steps[step])
}

/// Simulated time, given in ps: `12.5 us`.
pub fn simulated(ps: u64) -> String {
    let steps = ["ps", "ns", "us", "ms", "s"];
    let (value, step) = reduce(ps as f64, 1e3, steps.len());
    format!("{} {}", digits(value, step), steps[step])
}

/// The measurement window, given in ps; `shown` writes a time.
pub fn measured(from: u64, to: u64, shown: impl Fn(u64) -> String) -> String {
    match from < to {
        true => format!("measured from {} to {}", shown(from), shown(to)),
        false => format!("nothing measured: that begins at {}", shown(from)),
    }
}

/// Wall-clock time, given in seconds: `850 ms`, `12.3 s`, `4 min 05 s`, `3 h 07 min`.
pub fn wall(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".to_string();
    }
    if seconds < 0.9995 {
        return format!("{:.0} ms", seconds * 1e3);
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..3_600 => format!("{} min {:02} s", whole / 60, whole % 60),
        3_600..172_800 => format!("{} h {:02} min", whole / 3_600, whole / 60 % 60),
        _ => format!("{} d {:02} h", whole / 86_400, whole / 3_600 % 24),
    }
}

/// A fraction in per cent: `39.8 %`, `< 0.1 %`; `-` if it is none.
pub fn percent(fraction: f64) -> String {
    match fraction * 100.0 {
        share if !share.is_finite() => "-".to_string(),
        share if share > 0.0 && share < 0.05 => "< 0.1 %".to_string(),
        share => format!("{share:.1} %"),
    }
}

/// A unit in which the largest of some times still has at most five digits before the point: its
/// name and length in ps. One unit for a whole table makes its numbers comparable.
pub fn common_unit(largest_ps: u64) -> (&'static str, f64) {
    match largest_ps {
        0..100_000_000 => ("ns", 1e3),
        100_000_000..100_000_000_000 => ("us", 1e6),
        100_000_000_000..100_000_000_000_000 => ("ms", 1e9),
        _ => ("s", 1e12),
    }
}

/// A time in a unit, with at least three digits unless it is 0; `-` if it is none.
pub fn in_unit(ps: f64, unit_ps: f64) -> String {
    match ps / unit_ps {
        value if !value.is_finite() => "-".to_string(),
        value if value == 0.0 || value >= 9.995 => format!("{value:.1}"),
        value if value >= 0.9995 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// Five significant digits.
pub fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 1e15 || size != 0.0 && size < 1e-5 => return format!("{value:.4e}"),
        0.0 => 0,
        _ if value == value.trunc() && value.abs() < 1e9 => 0,
        size => (4 - size.log10().floor() as i32).max(0) as usize,
    };
    format!("{value:.digits$}")
}

/// Divides by `base` while the number would show more than three digits before the point.
fn reduce(mut value: f64, base: f64, steps: usize) -> (f64, usize) {
    let mut step = 0;
    while value >= 999.5 && step + 1 < steps {
        value /= base;
        step += 1;
    }
    (value, step)
}

/// Three digits; a small count stays whole.
fn digits(value: f64, step: usize) -> String {
    if step == 0 && value == value.trunc() {
        format!("{value:.0}")
    } else if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Breaks `text` at spaces into lines of at most `width` characters; `indent` goes before all but
/// the first. A word longer than a line is cut.
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let options = Options::new(width).subsequent_indent(indent);
    broken(text, options)
}

/// The lines of a text, broken at spaces as `options` say, but not between a number and its unit.
/// Any white space counts as one space; a text without words has no lines.
pub fn broken(text: &str, options: Options) -> Vec<String> {
    let mut joined = String::new();
    for word in text.split_whitespace() {
        if !joined.is_empty() {
            let number = joined.ends_with(|end: char| end.is_ascii_digit());
            let unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']));
            joined.push(if number && unit { UNBROKEN } else { ' ' });
        }
        joined.push_str(word);
    }
    if joined.is_empty() {
        return Vec::new();
    }
    let options = options
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(&joined, options).into_iter();
    lines.map(|line| line.replace(UNBROKEN, " ")).collect()
}

/// At most `width` characters; the middle of a longer text is replaced by `..`.
pub fn shorten(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width || width < 4 {
        return text.chars().take(width).collect();
    }
    let head = (width - 2).div_ceil(2);
    let tail = width - 2 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}..{end}")
}

/// Number of the messages that are MPI's protocol, if any are.
pub fn protocol(summary: &Summary) -> String {
    let generated = summary.protocol_messages_generated;
    match generated.zip(summary.protocol_messages_received) {
        Some((generated, received)) if generated > 0 => format!(
            " ({} and {} of them of MPI's protocol)",
            whole(generated),
            whole(received)
        ),
        _ => String::new(),
    }
}

/// The messages inside nodes, if nodes have a network.
pub fn inside_nodes(summary: &Summary) -> String {
    match summary.inside_messages.zip(summary.inside_bytes) {
        Some((messages, length)) => format!(
            "; {} messages with {} inside nodes",
            whole(messages),
            bytes(length)
        ),
        None => String::new(),
    }
}

/// Text for HTML and XML, which have no control characters.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in visible(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_and_a_unit() {
        assert_eq!(whole(0), "0");
        assert_eq!(whole(999), "999");
        assert_eq!(whole(1_000), "1,000");
        assert_eq!(whole(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(scaled(9_531_234.0), "9.53 M");
        assert_eq!(scaled(999_600.0), "1.00 M");
        assert_eq!(scaled(0.0), "0");
        assert_eq!(bytes(1_536 * 1_024 * 1_024), "1.50 GiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(simulated(12_500_000), "12.5 us");
        assert_eq!(simulated(40_000_000), "40.0 us");
        assert_eq!(simulated(7), "7 ps");
        assert_eq!(simulated(3_600_000_000_000_000), "3600 s");
        assert_eq!(percent(0.3984), "39.8 %");
        assert_eq!(percent(f64::NAN), "-");
    }

    #[test]
    fn wall_time_reads_like_a_clock() {
        assert_eq!(wall(0.0123), "12 ms");
        assert_eq!(wall(0.9999), "1.0 s");
        assert_eq!(wall(59.99), "1 min 00 s");
        assert_eq!(wall(245.0), "4 min 05 s");
        assert_eq!(wall(11_220.0), "3 h 07 min");
        assert_eq!(wall(200_000.0), "2 d 07 h");
        assert_eq!(wall(f64::INFINITY), "?");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let text = "one two three fourteen fifteen a_word_that_is_longer_than_any_line end";
        for width in 5..40 {
            let lines = wrap(text, width, "  ");
            assert!(
                lines.iter().all(|line| line.chars().count() <= width),
                "{lines:?}"
            );
            let joined: String = lines.concat().split_whitespace().collect();
            assert_eq!(
                joined,
                text.split_whitespace().collect::<String>(),
                "{width}"
            );
        }
    }

    #[test]
    fn white_space_is_a_space_and_no_words_are_no_lines() {
        assert_eq!(wrap(" a  b\n\tc ", 20, ""), ["a b c"]);
        assert!(wrap("", 20, "").is_empty() && wrap(" \n", 20, "  ").is_empty());
    }

    #[test]
    fn a_number_and_its_unit_stay_together() {
        assert_eq!(
            wrap("until 40 µs, then", 10, ""),
            ["until", "40 µs,", "then"]
        );
        assert_eq!(wrap("until 40 days", 10, ""), ["until 40", "days"]);
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(shorten("nearest_neighbour_64", 12), "neare..ur_64");
        assert_eq!(shorten("short", 12), "short");
        assert_eq!(shorten("größere_Namen", 8).chars().count(), 8);
    }
}
