//! Checks a script before it runs: all its expressions are evaluated for every task, and for every
//! round if they depend on it.

use std::collections::HashMap;

use super::{Message, Phase, Place, Script, holds};
use crate::motifs::script::expression::Expression;
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LATEST, LONGEST_MESSAGE};

/// Maximum number of evaluations, which take about a second.
const MOST: u64 = 20_000_000;

/// Tags are below this.
const TAGS: i64 = 1 << 16;

/// Balance of messages: (sender, receiver, tag) → (sends less receives, phase and message).
type Ends = HashMap<(i64, i64, i64), (i64, String)>;

struct Check<'a> {
    section: &'a Section,
    tasks: i64,
}

/// Checks a script for this number of tasks.
///
/// # Errors
/// The first error found.
pub fn check(section: &Section, script: &Script, tasks: u32) -> Result<(), ConfigError> {
    let check = Check {
        section,
        tasks: i64::from(tasks),
    };
    let expressions = || script.phases.iter().flat_map(Phase::expressions);
    let rounds = match expressions().any(Expression::has_step) {
        true => script.rounds,
        false => script.rounds.min(1),
    };
    let work = u64::from(rounds) * u64::from(tasks) * (1 + expressions().count() as u64);
    if work > MOST {
        let message = format!("{work} values of expressions are too many to check");
        let remedy = "write fewer rounds (`repetitions` of the workload repeat them), or \
                      expressions without `step`";
        return Err(section.refuse(Invalid::new("rounds", message, remedy)));
    }
    for step in 0..i64::from(rounds) {
        let mut ends = Ends::new();
        for task in 0..i64::from(tasks) {
            let place = Place {
                task,
                tasks: check.tasks,
                step,
            };
            for (phase, at) in script.phases.iter().zip(0..) {
                check.phase(phase, &format!("phases.{at}"), place, &mut ends)?;
            }
        }
        check.matched(ends, step)?;
    }
    check.collectives(script, rounds)
}

impl Phase {
    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let messages = self.sends.iter().chain(&self.receives);
        let of_messages = messages.flat_map(|one| {
            let optional = [&one.times, &one.tag, &one.when];
            optional.into_iter().flatten().chain([&one.peer])
        });
        let root = self
            .collective
            .iter()
            .filter_map(|(_, _, root)| root.as_ref());
        let own = [&self.when, &self.times].into_iter().flatten();
        own.chain(of_messages).chain(root)
    }
}

impl Check<'_> {
    fn refuse<T>(&self, key: &str, message: String, remedy: &str) -> Result<T, ConfigError> {
        Err(self.section.refuse(Invalid::new(key, message, remedy)))
    }

    /// The value of an expression, which must be in `least..end`.
    fn value(
        &self,
        key: &str,
        expression: &Expression,
        place: Place,
        (least, end): (i64, i64),
    ) -> Result<i64, ConfigError> {
        let (text, Place { task, step, .. }) = (expression.text(), place);
        match expression.value(place) {
            Some(value) if (least..end).contains(&value) => Ok(value),
            Some(value) => self.refuse(
                key,
                format!("{text:?} is {value} for task {task} in round {step}"),
                &format!("it has to be from {least} to {}", end - 1),
            ),
            None => self.refuse(
                key,
                format!(
                    "{text:?} has no value for task {task} in round {step}: it overflows, or \
                         divides by 0"
                ),
                "write it so that it has one for every task, or add a `when`",
            ),
        }
    }

    /// True if a condition holds.
    fn holds(
        &self,
        key: &str,
        when: &Option<Expression>,
        place: Place,
    ) -> Result<bool, ConfigError> {
        if let Some(when) = when {
            self.value(key, when, place, (i64::MIN, i64::MAX))?;
        }
        Ok(holds(when, place))
    }

    fn phase(
        &self,
        phase: &Phase,
        key: &str,
        place: Place,
        ends: &mut Ends,
    ) -> Result<(), ConfigError> {
        if !self.holds(&format!("{key}.when"), &phase.when, place)? {
            return Ok(());
        }
        if let Some(times) = &phase.times {
            self.value(&format!("{key}.times"), times, place, (0, i64::MAX))?;
        }
        if phase.time(place) >= u128::from(LATEST) {
            let message = format!(
                "task {} computes for longer than can be simulated",
                place.task
            );
            return self.refuse(
                &format!("{key}.compute"),
                message,
                "write less than 1,000,000 s",
            );
        }
        for (send, at) in phase.sends.iter().zip(0..) {
            let key = format!("{key}.send.{at}");
            if let Some((to, tag)) = self.message(send, &key, "to", place)? {
                let end = ends.entry((place.task, to, tag)).or_insert((0, key));
                end.0 += 1;
            }
        }
        for (receive, at) in phase.receives.iter().zip(0..) {
            let key = format!("{key}.receive.{at}");
            if let Some((from, tag)) = self.message(receive, &key, "from", place)? {
                let end = ends.entry((from, place.task, tag)).or_insert((0, key));
                end.0 -= 1;
            }
        }
        if let Some((.., Some(root))) = &phase.collective {
            self.value(
                &format!("{key}.collective.root"),
                root,
                place,
                (0, self.tasks),
            )?;
        }
        Ok(())
    }

    /// The other task and the tag, if there is a message.
    fn message(
        &self,
        message: &Message,
        key: &str,
        peer: &str,
        place: Place,
    ) -> Result<Option<(i64, i64)>, ConfigError> {
        if !self.holds(&format!("{key}.when"), &message.when, place)? {
            return Ok(None);
        }
        if let Some(times) = &message.times {
            self.value(&format!("{key}.times"), times, place, (0, i64::MAX))?;
        }
        if message.length(place) > u128::from(LONGEST_MESSAGE / 8) {
            let what = format!("the message of task {} is too long", place.task);
            return self.refuse(&format!("{key}.bytes"), what, "write less");
        }
        let tag = match &message.tag {
            Some(tag) => self.value(&format!("{key}.tag"), tag, place, (0, TAGS))?,
            None => 0,
        };
        let peer = self.value(
            &format!("{key}.{peer}"),
            &message.peer,
            place,
            (0, self.tasks),
        )?;
        Ok(Some((peer, tag)))
    }

    /// Checks that every message of a round has its receive in that round.
    fn matched(&self, ends: Ends, step: i64) -> Result<(), ConfigError> {
        let mut open: Vec<_> = ends
            .into_iter()
            .filter(|(_, (left, _))| *left != 0)
            .collect();
        open.sort_unstable();
        let Some(((from, to, tag), (left, key))) = open.into_iter().next() else {
            return Ok(());
        };
        let what = match left > 0 {
            true => "is sent and not received",
            false => "is received and not sent",
        };
        let message = format!(
            "a message from task {from} to task {to} with tag {tag} {what} in round {step}"
        );
        self.refuse(
            &key,
            message,
            "write a receive for every send, with the same tag",
        )
    }

    /// Checks that all tasks or none reach a collective operation, with the same root.
    fn collectives(&self, script: &Script, rounds: u32) -> Result<(), ConfigError> {
        for (phase, at) in script.phases.iter().zip(0..) {
            let Some((.., root)) = &phase.collective else {
                continue;
            };
            let key = format!("phases.{at}.collective");
            for step in 0..i64::from(rounds) {
                let part = |task: i64| {
                    let tasks = self.tasks;
                    let place = Place { task, tasks, step };
                    let root = root.as_ref().and_then(|root| root.value(place));
                    holds(&phase.when, place).then_some(root)
                };
                if let Some(task) = (1..self.tasks).find(|&task| part(task) != part(0)) {
                    let message = format!("task {task} does otherwise than task 0 in round {step}");
                    let remedy =
                        "all tasks have to take part in a collective operation, with the same root";
                    return self.refuse(&key, message, remedy);
                }
            }
        }
        Ok(())
    }
}
