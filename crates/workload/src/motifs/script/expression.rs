//! Expressions over task and step: integers, with overflow detected in all operations.

mod parse;

use parse::Tree;
pub use parse::Wrong;

/// Notation of expressions and its meaning, for `weir list`.
///
/// The operators are in order of precedence, the highest first.
pub const NOTATION: &[[&str; 2]] = &[
    ["12", "a whole number; there are no others"],
    ["task", "the number of the task, from 0"],
    ["tasks", "the number of tasks"],
    ["step", "the number of the round, from 0"],
    ["width", "a name of `constants`"],
    ["(a)", "what is in parentheses comes first"],
    ["abs(a)", "a without its sign"],
    ["log2(a)", "the largest n with 2 ** n <= a; of a > 0"],
    ["max(a, b)", "the larger one"],
    ["min(a, b)", "the smaller one"],
    ["not(a)", "1 if a is 0, else 0"],
    [
        "xor(a, b)",
        "exclusive or, bit by bit: the other one of a pair is xor(task, 1)",
    ],
    ["-a", "a with the other sign"],
    ["a ** b", "a to the power of b; b is not negative"],
    ["a * b", "the product"],
    [
        "a / b",
        "the quotient, rounded so that the remainder is not negative: -1 / 4 is -1",
    ],
    ["a % b", "the remainder, never negative: -1 % 4 is 3"],
    ["a + b", "the sum"],
    ["a - b", "the difference"],
    ["a == b", "1 if they are equal, else 0"],
    ["a != b", "1 if they differ, else 0"],
    ["a < b", "1 if a is less, else 0; likewise <=, > and >="],
    ["a && b", "1 if neither is 0, else 0"],
    ["a || b", "1 if one of them is not 0, else 0"],
];

/// Names of the variables.
pub const VARIABLES: [&str; 3] = ["task", "tasks", "step"];

/// Values of the variables at a place of a program.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The task.
    pub task: i64,
    /// The number of tasks.
    pub tasks: i64,
    /// The number of the round.
    pub step: i64,
}

/// An expression that has been read.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    tree: Tree,
}

impl Expression {
    /// Reads an expression; `constants` are names with their values.
    ///
    /// # Errors
    /// The error and its position.
    pub fn read(text: &str, constants: &[(String, i64)]) -> Result<Expression, Wrong> {
        Ok(Expression {
            tree: parse::tree(text, constants)?,
            text: text.into(),
        })
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if its value may differ between rounds.
    pub fn has_step(&self) -> bool {
        self.tree.has_step()
    }

    /// Its value; None if it has none.
    pub fn value(&self, place: Place) -> Option<i64> {
        self.tree.value(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLACE: Place = Place {
        task: 3,
        tasks: 8,
        step: 2,
    };

    #[test]
    fn operators_are_those_of_rust() {
        let constants = [("width".to_string(), 4)];
        let value = |text: &str| Expression::read(text, &constants).unwrap().value(PLACE);
        for (text, expected) in [
            ("(task + 1) % tasks", Some(4)),
            ("(task - 5) % tasks", Some(6)),
            ("xor(task, 2 ** step)", Some(7)),
            ("-7 / 4 * 10 + -7 % 4", Some(-19)),
            ("2 ** 10", Some(1_024)),
            ("1 + 2 == 3 && 2 < 1 + 2 || 0", Some(1)),
            ("-(2 ** 2) + (-2) ** 2 - 2 * -3", Some(6)),
            ("1 || 0 && 0", Some(1)),
            ("9223372036854775807 - 1 - task", Some(i64::MAX - 4)),
            ("-9223372036854775807 - 1", Some(i64::MIN)),
            ("abs(-9223372036854775807 - 1)", None),
            ("0 - 9223372036854775807 - 2", None),
            ("1 + 2 * 3 - -4", Some(11)),
            ("task / width", Some(0)),
            ("task % width < width - 1 && task > 0", Some(0)),
            ("not(task == 3) || tasks >= 8", Some(1)),
            (
                "min(task, 2) + max(task, 9) + abs(-1) + log2(tasks)",
                Some(15),
            ),
            ("10 - 3 - 2", Some(5)),
            ("task / 0", None),
            ("9223372036854775807 + task", None),
            ("2 ** 64", None),
            ("2 ** -1", None),
            ("log2(0) * 0", None),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    /// Notation of other languages gets an error that names the equivalent here; no error reveals
    /// internals of the parser.
    #[test]
    fn what_is_wrong_is_said_with_its_place_and_a_remedy() {
        let constants = [("width".to_string(), 4)];
        for (text, at, message, remedy) in [
            ("", 1, "it is empty", "write whole numbers"),
            (
                "task +",
                7,
                "it ends where a value is expected",
                "a number, a name",
            ),
            (
                "(task",
                6,
                "a `)` is missing",
                "close the `(` of character 1",
            ),
            ("task)", 5, "`)` closes nothing", "remove it"),
            (
                "max(task",
                9,
                "a `)` is missing",
                "close the `(` of character 4",
            ),
            ("1.5 * task", 1, "1.5 is no whole number", "15 * a / 10"),
            ("task * .5", 8, "`.` is no part", "whole numbers"),
            (
                "99999999999999999999",
                1,
                "99999999999999999999 is too large",
                "9223372036854775807",
            ),
            ("task task", 6, "`task` follows a value", "an operator"),
            ("task 4", 6, "`4` follows a value", "an operator"),
            ("4 (task)", 3, "`(` follows a value", "an operator"),
            (
                "2 ^ 10",
                3,
                "`^` is no operator",
                "a ** b for a power, xor(a, b)",
            ),
            ("task | 4", 6, "`|` is no operator", "a || b"),
            ("task & 4", 6, "`&` is no operator", "a && b"),
            ("task = 4", 6, "`=` is no operator", "a == b"),
            ("!task", 1, "`!` is no operator", "not(a)"),
            ("task << 2", 6, "`<<` is no operator", "a * 2 ** b"),
            ("task >> 2", 6, "`>>` is no operator", "a / 2 ** b"),
            ("~task", 1, "`~` is no operator", "-1 - a"),
            ("task // 2", 6, "`//` is no operator", "a / b"),
            ("task and 4", 6, "`and` is no operator", "a && b"),
            ("task or 4", 6, "`or` is no operator", "a || b"),
            ("not task", 1, "`not` is a function", "not(a)"),
            ("not", 1, "`not` is a function", "not(a)"),
            ("task mod 4", 6, "`mod` is no operator", "a % b"),
            ("min(task)", 1, "`min` has 2 arguments, not 1", "min(a, b)"),
            ("abs(task, 2)", 1, "`abs` has 1 argument, not 2", "abs(a)"),
            (
                "abs()",
                5,
                "a value is expected, not `)`",
                "a number, a name",
            ),
            ("task min 4", 6, "`min` is a function", "min(a, b)"),
            (
                "sqrt(task)",
                1,
                "there is no function `sqrt`",
                "`abs`, `log2`, `not`, `max`, `min`, `xor`",
            ),
            (
                "mx(task, 1)",
                1,
                "there is no function `mx`",
                "did you mean `max`?",
            ),
            (
                "rank + 1",
                1,
                "\"rank\" is not known",
                "`task`, `tasks`, `step`, `width`",
            ),
            ("tsk + 1", 1, "\"tsk\" is not known", "did you mean `task`?"),
            (
                "width(2)",
                1,
                "there is no function `width`",
                "`abs`, `log2`",
            ),
            ("1 < task < 3", 10, "a second comparison", "a < b && b < c"),
            ("2 ** 3 ** 2", 8, "a second power", "parentheses"),
            (
                "-2 ** 2",
                4,
                "a sign before a power",
                "(-a) ** b or -(a ** b)",
            ),
            ("task, 2", 5, "`,` stands between", "max(a, b)"),
            ("task ? 1 : 2", 6, "`?` is no part", "whole numbers"),
            ("tåsk", 2, "`å` is no part", "whole numbers"),
        ] {
            let wrong = Expression::read(text, &constants).expect_err(text);
            let said = format!("{wrong:?}");
            assert!(
                wrong.message.contains(message),
                "{text}: {said} lacks {message:?}"
            );
            assert!(
                wrong.remedy.contains(remedy),
                "{text}: {said} lacks {remedy:?}"
            );
            assert_eq!(wrong.at, at, "{text}: {said}");
        }
        let deep = "(".repeat(400);
        assert!(Expression::read(&deep, &[]).is_err());
        assert!(
            Expression::read(&"1+".repeat(400), &[])
                .expect_err("long")
                .message
                .contains("500")
        );
    }

    /// Checks that the documented notation is accepted.
    #[test]
    fn every_notation_can_be_read() {
        let constants = ["a", "b", "width"].map(|name| (name.to_string(), 2));
        for [notation, _] in NOTATION {
            Expression::read(notation, &constants).expect(notation);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-+*/%^&|<>=!~()a-z0-9 .,å]{0,40}") {
            if let Ok(expression) = Expression::read(&text, &[]) {
                expression.value(PLACE);
            }
        }
    }
}
