//! Expressions over task and step: whole numbers, all operations with their overflow noticed.

use std::str::FromStr;

use exmex::{BinOp, Express, FlatEx, MakeOperators, Operator};

/// A whole number, or none: what overflows or is divided by 0 has no value, and neither has what is made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Whole(Option<i64>);

impl FromStr for Whole {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Whole, Self::Err> {
        text.parse().map(|number| Whole(Some(number)))
    }
}

/// The operators, as in Rust; the remainder is never negative.
#[derive(Clone, Debug)]
struct Operators;

fn binary(
    repr: &'static str,
    prio: i64,
    apply: fn(Whole, Whole) -> Whole,
) -> Operator<'static, Whole> {
    Operator::make_bin(repr, operation(prio, apply))
}

fn operation(prio: i64, apply: fn(Whole, Whole) -> Whole) -> BinOp<Whole> {
    BinOp {
        apply,
        prio,
        is_commutative: false,
    }
}

/// Both have to have a value.
fn both(a: Whole, b: Whole, apply: fn(i64, i64) -> Option<i64>) -> Whole {
    Whole(a.0.zip(b.0).and_then(|(a, b)| apply(a, b)))
}

fn truth(value: bool) -> Option<i64> {
    Some(i64::from(value))
}

impl MakeOperators<Whole> for Operators {
    fn make<'a>() -> Vec<Operator<'a, Whole>> {
        vec![
            binary("||", 0, |a, b| both(a, b, |a, b| truth(a != 0 || b != 0))),
            binary("&&", 1, |a, b| both(a, b, |a, b| truth(a != 0 && b != 0))),
            binary("==", 2, |a, b| both(a, b, |a, b| truth(a == b))),
            binary("!=", 2, |a, b| both(a, b, |a, b| truth(a != b))),
            binary("<=", 2, |a, b| both(a, b, |a, b| truth(a <= b))),
            binary(">=", 2, |a, b| both(a, b, |a, b| truth(a >= b))),
            binary("<", 2, |a, b| both(a, b, |a, b| truth(a < b))),
            binary(">", 2, |a, b| both(a, b, |a, b| truth(a > b))),
            binary("^", 3, |a, b| both(a, b, |a, b| Some(a ^ b))),
            binary("+", 4, |a, b| both(a, b, i64::checked_add)),
            Operator::make_bin_unary(
                "-",
                operation(4, |a, b| both(a, b, i64::checked_sub)),
                |a| Whole(a.0.and_then(i64::checked_neg)),
            ),
            binary("*", 5, |a, b| both(a, b, i64::checked_mul)),
            binary("/", 5, |a, b| both(a, b, i64::checked_div_euclid)),
            binary("%", 5, |a, b| both(a, b, i64::checked_rem_euclid)),
            binary("**", 6, |a, b| {
                both(a, b, |a, b| a.checked_pow(u32::try_from(b).ok()?))
            }),
            binary("min", 6, |a, b| both(a, b, |a, b| Some(a.min(b)))),
            binary("max", 6, |a, b| both(a, b, |a, b| Some(a.max(b)))),
            Operator::make_unary("abs", |a| Whole(a.0.and_then(i64::checked_abs))),
            Operator::make_unary("not", |a| Whole(a.0.and_then(|a| truth(a == 0)))),
            Operator::make_unary("log2", |a| {
                Whole(a.0.and_then(i64::checked_ilog2).map(i64::from))
            }),
        ]
    }
}

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
    /// Of several kilobytes.
    compiled: Box<FlatEx<Whole, Operators>>,
    /// Its variables, in the order in which it wants them.
    variables: Vec<Variable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Task,
    Tasks,
    Step,
    Constant(i64),
}

/// Longer ones are a slip.
const LONGEST: usize = 500;

impl Expression {
    /// Reads an expression; `constants` are names with their values.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, constants: &[(String, i64)]) -> Result<Expression, String> {
        if text.len() > LONGEST {
            return Err(format!("it has more than {LONGEST} characters"));
        }
        let compiled = FlatEx::parse(text).map_err(|error| error.msg().to_string())?;
        let variables = compiled.var_names().iter().map(|name| match name.as_str() {
            "task" => Ok(Variable::Task),
            "tasks" => Ok(Variable::Tasks),
            "step" => Ok(Variable::Step),
            name => match constants.iter().find(|(own, _)| own == name) {
                Some(&(_, value)) => Ok(Variable::Constant(value)),
                None => Err(format!(
                    "{name:?} is not known: `task`, `tasks`, `step` and those of `constants` are"
                )),
            },
        });
        Ok(Expression {
            variables: variables.collect::<Result<_, _>>()?,
            text: text.into(),
            compiled: Box::new(compiled),
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether its value may differ from round to round.
    pub fn has_step(&self) -> bool {
        self.variables.contains(&Variable::Step)
    }

    /// Its value; None if it has none.
    pub fn value(&self, place: Place) -> Option<i64> {
        let mut values = [Whole(None); 16];
        let wanted = values.get_mut(..self.variables.len())?;
        for (value, variable) in wanted.iter_mut().zip(&self.variables) {
            *value = Whole(Some(match *variable {
                Variable::Task => place.task,
                Variable::Tasks => place.tasks,
                Variable::Step => place.step,
                Variable::Constant(value) => value,
            }));
        }
        self.compiled.eval(wanted).ok()?.0
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
            ("task ^ (2 ** step)", Some(7)),
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
        let wrong = |text: &str| Expression::read(text, &constants).map(|_| ()).unwrap_err();
        assert!(wrong("task + peer").contains("\"peer\" is not known"));
        for text in [
            "",
            "task +",
            "(task",
            "1.5",
            "99999999999999999999",
            "task task",
        ] {
            assert!(!wrong(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-+*/%^&|<>=!()a-z0-9 .,]{0,40}") {
            if let Ok(expression) = Expression::read(&text, &[]) {
                expression.value(PLACE);
            }
        }
    }
}
