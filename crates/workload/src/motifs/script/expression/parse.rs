//! Parser from the text of an expression to its tree.

use super::{Place, VARIABLES};
use weir_input::suggest;

/// Maximum length: longer texts are taken for an error.
const LONGEST: usize = 500;

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Position in characters, from 1.
    pub at: usize,
    /// Error message.
    pub message: String,
    /// Replacement to write.
    pub remedy: String,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Number(i64),
    Task,
    Tasks,
    Step,
    One(One, Box<Tree>),
    Two(Two, Box<[Tree; 2]>),
}

impl Tree {
    /// Its value; None on overflow or division by 0 anywhere in it.
    pub fn value(&self, place: Place) -> Option<i64> {
        match self {
            Tree::Number(number) => Some(*number),
            Tree::Task => Some(place.task),
            Tree::Tasks => Some(place.tasks),
            Tree::Step => Some(place.step),
            Tree::One(apply, inner) => apply(inner.value(place)?),
            Tree::Two(apply, sides) => apply(sides[0].value(place)?, sides[1].value(place)?),
        }
    }

    /// True if it has `step`.
    pub fn has_step(&self) -> bool {
        match self {
            Tree::Step => true,
            Tree::One(_, inner) => inner.has_step(),
            Tree::Two(_, sides) => sides.iter().any(Tree::has_step),
            Tree::Number(_) | Tree::Task | Tree::Tasks => false,
        }
    }
}

type One = fn(i64) -> Option<i64>;
type Two = fn(i64, i64) -> Option<i64>;

/// Binary operators, and their precedence.
const OPERATORS: [(&str, u8, Two); 14] = [
    ("||", 1, |a, b| truth(a != 0 || b != 0)),
    ("&&", 2, |a, b| truth(a != 0 && b != 0)),
    ("==", COMPARED, |a, b| truth(a == b)),
    ("!=", COMPARED, |a, b| truth(a != b)),
    ("<=", COMPARED, |a, b| truth(a <= b)),
    (">=", COMPARED, |a, b| truth(a >= b)),
    ("<", COMPARED, |a, b| truth(a < b)),
    (">", COMPARED, |a, b| truth(a > b)),
    ("+", 4, i64::checked_add),
    ("-", 4, i64::checked_sub),
    ("*", 5, i64::checked_mul),
    ("/", 5, i64::checked_div_euclid),
    ("%", 5, i64::checked_rem_euclid),
    ("**", POWER, |a, b| a.checked_pow(u32::try_from(b).ok()?)),
];
const COMPARED: u8 = 3;
const POWER: u8 = 6;

fn truth(value: bool) -> Option<i64> {
    Some(i64::from(value))
}

/// Functions of one value.
const ONE: [(&str, One); 3] = [
    ("abs", i64::checked_abs),
    ("log2", |a| a.checked_ilog2().map(i64::from)),
    ("not", |a| truth(a == 0)),
];

/// Functions of two values.
const TWO: [(&str, Two); 3] = [
    ("max", |a, b| Some(a.max(b))),
    ("min", |a, b| Some(a.min(b))),
    ("xor", |a, b| Some(a ^ b)),
];

/// Notation of other languages, and its equivalent here.
const ELSEWHERE: [(&str, &str); 13] = [
    (
        "^",
        "write a ** b for a power, xor(a, b) for an exclusive or",
    ),
    ("|", "write a || b; there is no or of bits"),
    ("&", "write a && b; there is no and of bits"),
    ("=", "write a == b to compare"),
    ("!", "write not(a)"),
    ("~", "write -1 - a"),
    ("<<", "write a * 2 ** b"),
    (">>", "write a / 2 ** b"),
    ("//", "write a / b, which is a whole number"),
    ("and", "write a && b"),
    ("or", "write a || b"),
    ("mod", "write a % b"),
    ("div", "write a / b"),
];

const VALUE: &str = "write a number, a name, a function or something in parentheses there";
const WHOLE: &str = "write whole numbers, `task`, `tasks`, `step`, and operators as in \
                     \"(task + 1) % tasks\" (see `weir list script`)";

/// A piece of the text, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word<'a> {
    text: &'a str,
    /// Position in characters, from 1.
    at: usize,
}

impl Word<'_> {
    fn wrong(self, message: impl Into<String>, remedy: impl Into<String>) -> Wrong {
        Wrong {
            at: self.at,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    fn is_name(self) -> bool {
        self.text
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    fn is_number(self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// The tree of an expression; `constants` are names with their values.
pub(super) fn tree(text: &str, constants: &[(String, i64)]) -> Result<Tree, Wrong> {
    if text.len() > LONGEST {
        return Err(Wrong {
            at: LONGEST + 1,
            message: format!("it has more than {LONGEST} characters"),
            remedy: "name parts of it in `constants`, or divide the phase in two".into(),
        });
    }
    let mut reader = Reader {
        words: words(text)?,
        next: 0,
        end: text.chars().count() + 1,
        constants,
    };
    if reader.words.is_empty() {
        let wrong = Word { text: "", at: 1 }.wrong("it is empty", WHOLE);
        return Err(wrong);
    }
    let tree = reader.binary(0)?;
    match reader.peek() {
        None => Ok(tree),
        Some(word) => Err(reader.left_over(word)),
    }
}

/// Cuts a text into names, numbers, operators and parentheses.
fn words(text: &str) -> Result<Vec<Word<'_>>, Wrong> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut at = 1;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            'a'..='z' | 'A'..='Z' | '_' => run(rest, |c| c.is_ascii_alphanumeric() || c == '_'),
            '0'..='9' => run(rest, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.'),
            '(' | ')' | ',' => 1,
            _ => sign(rest).ok_or_else(|| {
                let word = Word { text: "", at };
                word.wrong(format!("`{first}` is no part of an expression"), WHOLE)
            })?,
        };
        let (text, after) = rest.split_at(length);
        if !first.is_whitespace() {
            words.push(Word { text, at });
        }
        at += text.chars().count();
        rest = after;
    }
    Ok(words)
}

fn run(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

/// The length of the operator at the beginning of a text, including operators of other languages.
fn sign(text: &str) -> Option<usize> {
    let own = OPERATORS.iter().map(|(name, ..)| *name);
    let others = ELSEWHERE.iter().map(|(name, _)| *name);
    let all = own.chain(others).filter(|name| text.starts_with(name));
    all.map(str::len).max()
}

struct Reader<'a> {
    words: Vec<Word<'a>>,
    next: usize,
    /// The position after the last character.
    end: usize,
    constants: &'a [(String, i64)],
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self) -> Option<Word<'a>> {
        let word = self.peek();
        self.next += 1;
        word
    }

    /// Takes this word if it is the next.
    fn took(&mut self, text: &str) -> bool {
        let there = self.peek().is_some_and(|word| word.text == text);
        self.next += usize::from(there);
        there
    }

    /// Operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Result<Tree, Wrong> {
        let first = self.peek();
        let mut left = self.value()?;
        let mut last = None;
        while let Some(word) = self.peek() {
            let Some((name, binds, apply)) = OPERATORS.iter().find(|one| one.0 == word.text) else {
                break;
            };
            if *binds < least {
                break;
            }
            if *name == "**" && first.is_some_and(|first| first.text == "-") {
                let remedy = "write (-a) ** b or -(a ** b)";
                return Err(word.wrong("a sign before a power can be read in two ways", remedy));
            }
            if last == Some(*binds) && *binds == POWER {
                let message = "a second power can be read in two ways";
                return Err(word.wrong(message, "write parentheses: a ** (b ** c)"));
            }
            if last == Some(*binds) && *binds == COMPARED {
                let message = "a second comparison would compare with 0 or 1";
                return Err(word.wrong(message, "write a < b && b < c"));
            }
            self.next += 1;
            let right = self.binary(binds + 1)?;
            left = Tree::Two(*apply, Box::new([left, right]));
            last = Some(*binds);
        }
        Ok(left)
    }

    fn value(&mut self) -> Result<Tree, Wrong> {
        let Some(word) = self.take() else {
            let end = Word {
                text: "",
                at: self.end,
            };
            return Err(end.wrong("it ends where a value is expected", VALUE));
        };
        match word.text {
            "(" => {
                let inner = self.binary(0)?;
                self.closed(word)?;
                Ok(inner)
            }
            "-" => Ok(Tree::One(i64::checked_neg, Box::new(self.value()?))),
            _ if word.is_number() => number(word),
            _ if word.is_name() => self.named(word),
            _ => Err(self.misplaced(word)),
        }
    }

    /// The `)` that belongs to `open`.
    fn closed(&mut self, open: Word) -> Result<(), Wrong> {
        if self.took(")") {
            return Ok(());
        }
        match self.peek() {
            Some(word) => Err(self.left_over(word)),
            None => {
                let end = Word {
                    text: "",
                    at: self.end,
                };
                let remedy = format!("close the `(` of character {}", open.at);
                Err(end.wrong("a `)` is missing", remedy))
            }
        }
    }

    /// A name, or a function with its arguments.
    fn named(&mut self, word: Word<'a>) -> Result<Tree, Wrong> {
        let open = self.peek().filter(|next| next.text == "(");
        if let Some(open) = open {
            return self.call(word, open);
        }
        let constant = self.constants.iter().find(|(own, _)| own == word.text);
        match (word.text, constant) {
            ("task", _) => Ok(Tree::Task),
            ("tasks", _) => Ok(Tree::Tasks),
            ("step", _) => Ok(Tree::Step),
            (_, Some((_, value))) => Ok(Tree::Number(*value)),
            _ => Err(self.misplaced(word)),
        }
    }

    fn call(&mut self, word: Word<'a>, open: Word<'a>) -> Result<Tree, Wrong> {
        let one = ONE.iter().find(|(name, _)| *name == word.text);
        let two = TWO.iter().find(|(name, _)| *name == word.text);
        if one.is_none() && two.is_none() {
            let message = format!("there is no function `{}`", word.text);
            return Err(word.wrong(message, suggest(word.text, "functions", &functions(), '`')));
        }
        self.next += 1;
        let mut arguments = vec![self.binary(0)?];
        while self.took(",") {
            arguments.push(self.binary(0)?);
        }
        self.closed(open)?;
        let count = arguments.len();
        match (one, two, <[Tree; 2]>::try_from(arguments)) {
            (_, Some((_, apply)), Ok(both)) => Ok(Tree::Two(*apply, Box::new(both))),
            (Some((_, apply)), _, Err(mut own)) if count == 1 => {
                Ok(Tree::One(*apply, Box::new(own.remove(0))))
            }
            _ => {
                let (wanted, how) = match one {
                    Some(_) => ("1 argument", format!("write {}(a)", word.text)),
                    None => ("2 arguments", format!("write {}(a, b)", word.text)),
                };
                Err(word.wrong(format!("`{}` has {wanted}, not {count}", word.text), how))
            }
        }
    }

    /// The error for a word that cannot be a value.
    fn misplaced(&self, word: Word) -> Wrong {
        if let Some(wrong) = foreign(word) {
            return wrong;
        }
        if word.is_name() {
            let mut names = VARIABLES.to_vec();
            names.extend(self.constants.iter().map(|(name, _)| name.as_str()));
            let message = format!("{:?} is not known", word.text);
            return word.wrong(message, suggest(word.text, "names", &names, '`'));
        }
        word.wrong(format!("a value is expected, not `{}`", word.text), VALUE)
    }

    /// The error for a word that cannot follow a value.
    fn left_over(&self, word: Word) -> Wrong {
        match word.text {
            ")" => word.wrong("`)` closes nothing", "remove it, or open a `(` before"),
            "," => word.wrong(
                "`,` stands between no arguments",
                "write it in a function only, as in max(a, b)",
            ),
            text => foreign(word).unwrap_or_else(|| {
                let message = format!("`{text}` follows a value");
                word.wrong(message, "write an operator between them, such as + or *")
            }),
        }
    }
}

/// The error for a word of another language, or a function without its parentheses.
fn foreign(word: Word) -> Option<Wrong> {
    if let Some((_, remedy)) = ELSEWHERE.iter().find(|(name, _)| *name == word.text) {
        return Some(word.wrong(format!("`{}` is no operator", word.text), *remedy));
    }
    let how = match functions().iter().position(|name| *name == word.text)? {
        at if at < ONE.len() => format!("write {}(a)", word.text),
        _ => format!("write {}(a, b)", word.text),
    };
    Some(word.wrong(format!("`{}` is a function", word.text), how))
}

fn functions() -> Vec<&'static str> {
    let one = ONE.iter().map(|(name, _)| *name);
    one.chain(TWO.iter().map(|(name, _)| *name)).collect()
}

fn number(word: Word) -> Result<Tree, Wrong> {
    let text = word.text;
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map(Tree::Number).map_err(|_| {
            let remedy = format!("the largest number is {}", i64::MAX);
            word.wrong(format!("{text} is too large"), remedy)
        });
    }
    let remedy = "write whole numbers: for 1.5 times a, write 15 * a / 10";
    Err(word.wrong(format!("{text} is no whole number"), remedy))
}

#[cfg(test)]
mod tests {
    use super::super::NOTATION;
    use super::*;

    /// Every operator and function has its line in the notation.
    #[test]
    fn everything_is_documented() {
        let operators = OPERATORS.iter().map(|(name, ..)| format!(" {name}"));
        for name in operators.chain(functions().iter().map(|name| format!("{name}("))) {
            let has = |[notation, meaning]: &[&str; 2]| {
                notation.contains(&name) || meaning.contains(&name)
            };
            assert!(NOTATION.iter().any(has), "{name}");
        }
    }
}
