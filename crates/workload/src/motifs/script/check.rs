//! Checks a script before it runs: all its expressions are evaluated for every task, and for every
//! round if they depend on it.

use std::collections::{BTreeMap, HashMap};

use super::{Message, Operation, Phase, Place, Script, holds};
use crate::motifs::script::expression::Expression;
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LATEST, LONGEST_MESSAGE};

/// Maximum number of evaluations, which take about a second.
const MOST: u64 = 20_000_000;

/// Tags are below this.
const TAGS: i64 = 1 << 16;

/// Maximum number of repetitions of a phase in a round.
const REPEATED: i64 = 1 << 16;

/// The sender of a message to a receive from any task.
const ANY: i64 = -1;

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
            let optional = [&one.peer, &one.times, &one.tag, &one.when];
            optional.into_iter().flatten()
        });
        let of_collective = self.collective.iter().flat_map(|one| {
            let optional = [&one.root, &one.first, &one.stride, &one.count];
            optional.into_iter().flatten()
        });
        let own = [&self.when, &self.repeat, &self.times].into_iter();
        own.flatten().chain(of_messages).chain(of_collective)
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
        let repeated = match &phase.repeat {
            Some(repeat) => {
                self.value(&format!("{key}.repeat"), repeat, place, (0, REPEATED + 1))?
            }
            None => 1,
        };
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
                end.0 += repeated;
            }
        }
        for (receive, at) in phase.receives.iter().zip(0..) {
            let key = format!("{key}.receive.{at}");
            if let Some((from, tag)) = self.message(receive, &key, "from", place)? {
                let end = ends.entry((from, place.task, tag)).or_insert((0, key));
                end.0 -= repeated;
            }
        }
        match &phase.collective {
            Some(operation) => self.members(operation, &format!("{key}.collective"), place),
            None => Ok(()),
        }
    }

    /// Checks the group of a collective operation and the root in it.
    fn members(&self, operation: &Operation, key: &str, place: Place) -> Result<(), ConfigError> {
        let value = |name: &str, given: &Option<Expression>, usual: i64, range| match given {
            Some(given) => self.value(&format!("{key}.{name}"), given, place, range),
            None => Ok(usual),
        };
        let first = value("first", &operation.first, 0, (0, self.tasks))?;
        let stride = value("stride", &operation.stride, 1, (1, self.tasks.max(2)))?;
        let count = value("count", &operation.count, self.tasks, (1, self.tasks + 1))?;
        value("root", &operation.root, 0, (0, count))?;
        let last = first + stride * (count - 1);
        let (group, _) = operation.members(place);
        if last >= self.tasks || group.place(place.task as u32).is_none() {
            let message = format!(
                "task {} is not in its group of {count} tasks from {first} to {last} in round {}",
                place.task, place.step
            );
            let remedy = "write `first`, `stride` and `count` so that every task is in its group";
            return self.refuse(key, message, remedy);
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
        let peer = match &message.peer {
            Some(task) => self.value(&format!("{key}.{peer}"), task, place, (0, self.tasks))?,
            None => ANY,
        };
        Ok(Some((peer, tag)))
    }

    /// Checks that every message of a round has its receive in that round.
    fn matched(&self, ends: Ends, step: i64) -> Result<(), ConfigError> {
        let mut open: Vec<_> = ends
            .into_iter()
            .filter(|(_, (left, _))| *left != 0)
            .collect();
        open.sort_unstable();
        // What is sent goes to the receives from any task first, which are the first of the list.
        let mut any: BTreeMap<(i64, i64), (i64, String)> = BTreeMap::new();
        for ((from, to, tag), (left, key)) in open {
            if from == ANY {
                any.insert((to, tag), (-left, key));
                continue;
            }
            let taken = any.get_mut(&(to, tag)).map_or(0, |(places, _)| {
                let taken = left.clamp(0, *places);
                *places -= taken;
                taken
            });
            if left != taken {
                return self.unmatched([from, to, tag, step], left > 0, &key);
            }
        }
        let mut left = any.into_iter().filter(|(_, (places, _))| *places > 0);
        match left.next() {
            Some(((to, tag), (_, key))) => self.unmatched([ANY, to, tag, step], false, &key),
            None => Ok(()),
        }
    }

    fn unmatched(
        &self,
        [from, to, tag, step]: [i64; 4],
        sent: bool,
        key: &str,
    ) -> Result<(), ConfigError> {
        let what = match sent {
            true => "is sent and not received",
            false => "is received and not sent",
        };
        let from = match from {
            ANY => "any task".to_string(),
            from => format!("task {from}"),
        };
        let message =
            format!("a message from {from} to task {to} with tag {tag} {what} in round {step}");
        self.refuse(
            key,
            message,
            "write a receive for every send, with the same tag",
        )
    }

    /// Checks that all tasks of a group reach a collective operation, as often, with the same root.
    fn collectives(&self, script: &Script, rounds: u32) -> Result<(), ConfigError> {
        for (phase, at) in script.phases.iter().zip(0..) {
            let Some(operation) = &phase.collective else {
                continue;
            };
            let key = format!("phases.{at}.collective");
            for step in 0..i64::from(rounds) {
                let tasks = self.tasks;
                let part = |task: i64| {
                    let place = Place { task, tasks, step };
                    let times = super::value(&phase.repeat, 1, place);
                    let part = (operation.members(place), times);
                    (holds(&phase.when, place) && times > 0).then_some(part)
                };
                for task in 0..tasks {
                    let Some(mine) = part(task) else { continue };
                    let ((group, _), _) = mine;
                    // Members agree if each agrees with the next one.
                    let next = group
                        .place(task as u32)
                        .map_or(0, |at| (at + 1) % group.count);
                    let next = i64::from(group.member(next));
                    if part(next) != Some(mine) {
                        let message =
                            format!("task {next} does otherwise than task {task} in round {step}");
                        let remedy = "all tasks of a group have to take part in a collective \
                                      operation, with the same root";
                        return self.refuse(&key, message, remedy);
                    }
                }
            }
        }
        Ok(())
    }
}
