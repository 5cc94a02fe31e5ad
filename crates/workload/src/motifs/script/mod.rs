//! `script`: a user-defined program in the experiment file.

mod check;
mod expression;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Build, bytes};
use crate::tasks::collectives::Kind;
use crate::tasks::{Group, Motif, Script as Calls};
use expression::{Expression, NOTATION, Place, VARIABLES};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::{Invalid, LATEST, Time};

/// Rounds of phases. In a phase a task computes, then starts all its receives and sends and waits
/// for them, then takes part in a collective operation. Expressions are whole numbers, or texts
/// with operators over `task`, `tasks`, `step` (the number of the round, from 0) and `constants`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-notation" = NOTATION))]
struct Params {
    /// Repetitions of all phases.
    #[serde(default = "one")]
    rounds: u32,
    /// Names for numbers: { width = 4 }.
    #[serde(default)]
    constants: BTreeMap<String, i64>,
    /// Phases of a task in a round, one after the other.
    phases: Vec<PhaseParams>,
}

fn one() -> u32 {
    1
}

/// A phase.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct PhaseParams {
    /// Which tasks take part, in which rounds: an expression that is not 0. All by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<Formula>,
    /// Repetitions of the phase, one after the other, in each round: an expression from 0 to
    /// 65,536; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<Formula>,
    /// Computation.
    #[serde(skip_serializing_if = "Option::is_none")]
    compute: Option<Duration>,
    /// Factor of its length: an expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Formula>,
    /// Messages to others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    send: Vec<SendParams>,
    /// Messages from others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    receive: Vec<ReceiveParams>,
    /// A collective operation, of all tasks or of groups of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    collective: Option<CollectiveParams>,
}

/// A message to another task.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SendParams {
    /// The task: an expression.
    to: Formula,
    /// Its length.
    bytes: Size,
    /// Factor of its length: an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<Formula>,
    /// Its tag: an expression from 0 to 65,535; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<Formula>,
    /// An expression that is not 0 where the message is sent; always by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<Formula>,
}

/// A message from another task.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReceiveParams {
    /// The task: an expression; or "any", for the first message that arrives with its tag.
    from: Formula,
    /// Its tag: an expression from 0 to 65,535; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<Formula>,
    /// An expression that is not 0 where the message is received; always by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<Formula>,
}

/// A collective operation.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CollectiveParams {
    /// Which.
    kind: CollectiveName,
    /// Bytes of each task (of each pair for an alltoall; of a reduce_scatter, the share of a task).
    #[serde(default = "nothing")]
    bytes: Size,
    /// The root, where there is one: an expression, its place in the group; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<Formula>,
    /// The first task of the group that this task is in: an expression; 0 by default. (A
    /// communicator: `first = "task / 4 * 4"` and `count = 4` are groups of four neighbours.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<Formula>,
    /// Distance from one task of the group to the next: an expression; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stride: Option<Formula>,
    /// Number of tasks of the group: an expression; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<Formula>,
}

/// An expression as written: a string, or a number.
#[derive(Clone, Debug)]
struct Formula(String);

struct FormulaVisitor;

impl de::Visitor<'_> for FormulaVisitor {
    type Value = Formula;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an expression such as \"(task + 1) % tasks\", or a whole number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Formula, E> {
        Ok(Formula(text.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Formula, E> {
        Ok(Formula(number.to_string()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Formula, E> {
        Ok(Formula(number.to_string()))
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FormulaVisitor)
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl JsonSchema for Formula {
    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

fn nothing() -> Size {
    Size::Bits(0)
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CollectiveName {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Allgather,
    ReduceScatter,
    Alltoall,
    Gather,
    Scatter,
}

impl CollectiveName {
    fn kind(self) -> Kind {
        match self {
            CollectiveName::Barrier => Kind::Barrier,
            CollectiveName::Bcast => Kind::Bcast,
            CollectiveName::Reduce => Kind::Reduce,
            CollectiveName::Allreduce => Kind::Allreduce,
            CollectiveName::Allgather => Kind::Allgather,
            CollectiveName::ReduceScatter => Kind::ReduceScatter,
            CollectiveName::Alltoall => Kind::Alltoall,
            CollectiveName::Gather => Kind::Gather,
            CollectiveName::Scatter => Kind::Scatter,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "script",
    summary: "A program of one's own: phases of computation, messages and collectives, with \
              expressions over task and step.",
    source: "the experiment file",
    examples: &[
        r#"rounds = 2, phases = [{ compute = "1 us", send = [{ to = "(task + 1) % tasks", bytes = "20 kB" }], receive = [{ from = "(task - 1) % tasks" }] }]"#,
        r#"phases = [{ collective = { kind = "allreduce", bytes = "1 KiB" } }]"#,
        concat!(
            r#"phases = [{ repeat = 2, collective = { kind = "alltoall", bytes = "2 kB", "#,
            r#"first = "task % 2", stride = 2, count = "(tasks + 1 - task % 2) / 2" } }, "#,
            r#"{ send = [{ to = 0, bytes = "1 kB", when = "task > 0" }] }, "#,
            r#"{ when = "task == 0", repeat = "tasks - 1", receive = [{ from = "any" }] }]"#
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};

/// A program that has been read.
#[derive(Debug)]
struct Script {
    rounds: u32,
    phases: Vec<Phase>,
}

#[derive(Debug)]
struct Phase {
    when: Option<Expression>,
    repeat: Option<Expression>,
    compute: Time,
    times: Option<Expression>,
    sends: Vec<Message>,
    receives: Vec<Message>,
    collective: Option<Operation>,
}

/// A collective operation.
#[derive(Debug)]
struct Operation {
    kind: Kind,
    bytes: u64,
    root: Option<Expression>,
    first: Option<Expression>,
    stride: Option<Expression>,
    count: Option<Expression>,
}

/// A send or a receive.
#[derive(Debug)]
struct Message {
    /// None: any task.
    peer: Option<Expression>,
    /// Length of a send.
    bytes: u64,
    times: Option<Expression>,
    tag: Option<Expression>,
    when: Option<Expression>,
}

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let script = Reader {
        section,
        params: &params,
    }
    .script()?;
    check::check(section, &script, tasks)?;
    Ok(Box::new(script))
}

/// Reads parameters.
struct Reader<'a> {
    section: &'a Section,
    params: &'a Params,
}

impl Reader<'_> {
    fn script(&self) -> Result<Script, ConfigError> {
        let mut constants = self.params.constants.keys();
        if let Some(name) = constants.find(|name| VARIABLES.contains(&name.as_str())) {
            let message = format!("{name:?} means something else in expressions");
            let invalid = Invalid::new("constants", message, "give the constant another name");
            return Err(self.section.refuse(invalid));
        }
        let phases = self.params.phases.iter().enumerate();
        let phases = phases.map(|(at, phase)| self.phase(&format!("phases.{at}"), phase));
        Ok(Script {
            rounds: self.params.rounds,
            phases: phases.collect::<Result<_, _>>()?,
        })
    }

    fn phase(&self, key: &str, phase: &PhaseParams) -> Result<Phase, ConfigError> {
        let sends = phase.send.iter().enumerate().map(|(at, send)| {
            let key = format!("{key}.send.{at}");
            Ok(Message {
                peer: Some(self.expression(&format!("{key}.to"), &send.to)?),
                bytes: bytes(self.section, &format!("{key}.bytes"), send.bytes)?,
                times: self.optional(&format!("{key}.times"), &send.times)?,
                tag: self.optional(&format!("{key}.tag"), &send.tag)?,
                when: self.optional(&format!("{key}.when"), &send.when)?,
            })
        });
        let receives = phase.receive.iter().enumerate().map(|(at, receive)| {
            let key = format!("{key}.receive.{at}");
            Ok(Message {
                peer: match receive.from.0.as_str() {
                    "any" => None,
                    _ => Some(self.expression(&format!("{key}.from"), &receive.from)?),
                },
                bytes: 0,
                times: None,
                tag: self.optional(&format!("{key}.tag"), &receive.tag)?,
                when: self.optional(&format!("{key}.when"), &receive.when)?,
            })
        });
        let collective = phase.collective.as_ref().map(|collective| {
            let key = format!("{key}.collective");
            Ok(Operation {
                kind: collective.kind.kind(),
                bytes: bytes(self.section, &format!("{key}.bytes"), collective.bytes)?,
                root: self.optional(&format!("{key}.root"), &collective.root)?,
                first: self.optional(&format!("{key}.first"), &collective.first)?,
                stride: self.optional(&format!("{key}.stride"), &collective.stride)?,
                count: self.optional(&format!("{key}.count"), &collective.count)?,
            })
        });
        if phase.times.is_some() && phase.compute.is_none() {
            let remedy = "add `compute`, or write it beside the `bytes` of a send";
            let invalid = Invalid::new(
                format!("{key}.times"),
                "there is nothing to multiply",
                remedy,
            );
            return Err(self.section.refuse(invalid));
        }
        Ok(Phase {
            when: self.optional(&format!("{key}.when"), &phase.when)?,
            repeat: self.optional(&format!("{key}.repeat"), &phase.repeat)?,
            compute: phase.compute.map_or(0, |time| time.0),
            times: self.optional(&format!("{key}.times"), &phase.times)?,
            sends: sends.collect::<Result<_, ConfigError>>()?,
            receives: receives.collect::<Result<_, ConfigError>>()?,
            collective: collective.transpose()?,
        })
    }

    fn optional(
        &self,
        key: &str,
        text: &Option<Formula>,
    ) -> Result<Option<Expression>, ConfigError> {
        text.as_ref()
            .map(|text| self.expression(key, text))
            .transpose()
    }

    fn expression(&self, key: &str, formula: &Formula) -> Result<Expression, ConfigError> {
        let text = &formula.0;
        let constants: Vec<(String, i64)> = self.params.constants.clone().into_iter().collect();
        Expression::read(text, &constants).map_err(|why| {
            let message = format!(
                "{text:?} is no expression: {} (at character {})",
                why.message, why.at
            );
            self.section.refuse(Invalid::new(key, message, why.remedy))
        })
    }
}

/// True if an expression is not 0, or missing.
fn holds(when: &Option<Expression>, place: Place) -> bool {
    when.as_ref()
        .is_none_or(|when| when.value(place) != Some(0))
}

/// The value of a checked expression; `usual` if it is missing.
fn value(expression: &Option<Expression>, usual: u64, place: Place) -> u64 {
    let value = expression
        .as_ref()
        .map(|expression| expression.value(place));
    match value {
        None => usual,
        Some(value) => value
            .and_then(|value| u64::try_from(value).ok())
            .unwrap_or(0),
    }
}

impl Phase {
    fn time(&self, place: Place) -> u128 {
        u128::from(self.compute) * u128::from(value(&self.times, 1, place))
    }

    fn write(&self, place: Place, calls: &mut Calls) {
        calls.compute(self.time(place).min(u128::from(LATEST)) as Time);
        let mark = calls.mark();
        for receive in self.receives.iter().filter(|one| holds(&one.when, place)) {
            let from = receive.peer.is_some().then(|| receive.peer(place));
            calls.irecv(from, receive.tag(place));
        }
        for send in self.sends.iter().filter(|one| holds(&one.when, place)) {
            calls.isend(send.peer(place), send.length(place) as u64, send.tag(place));
        }
        calls.wait_all(calls.since(mark));
        if let Some(operation) = &self.collective {
            let (group, root) = operation.members(place);
            calls.collective(operation.kind, group, root, operation.bytes);
        }
    }
}

impl Operation {
    /// The group of a task, and the place of the root in it.
    fn members(&self, place: Place) -> (Group, u32) {
        let value = |given: &Option<Expression>, usual| value(given, usual, place) as u32;
        let group = Group {
            first: value(&self.first, 0),
            stride: value(&self.stride, 1),
            count: value(&self.count, place.tasks as u64),
        };
        (group, value(&self.root, 0))
    }
}

impl Message {
    fn peer(&self, place: Place) -> u32 {
        value(&self.peer, 0, place) as u32
    }

    fn tag(&self, place: Place) -> u32 {
        value(&self.tag, 0, place) as u32
    }

    fn length(&self, place: Place) -> u128 {
        u128::from(self.bytes) * u128::from(value(&self.times, 1, place))
    }
}

impl Motif for Script {
    fn part(&self, part: u32, calls: &mut Calls) -> bool {
        if part >= self.rounds {
            return false;
        }
        let place = Place {
            task: i64::from(calls.task()),
            tasks: i64::from(calls.tasks()),
            step: i64::from(part),
        };
        for phase in self.phases.iter().filter(|phase| holds(&phase.when, place)) {
            for _ in 0..value(&phase.repeat, 1, place) {
                phase.write(place, calls);
            }
        }
        true
    }
}
