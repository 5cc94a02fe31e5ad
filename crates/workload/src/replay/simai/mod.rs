//! `simai`: the workload text of SimAI and ASTRA-sim: a training step, layer by layer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::MOST_OPERATIONS;
use super::input::Lines;
use super::table::TASKS_IF_GIVEN;
use super::{Build, Builder, Content, Coverage, Fault, Node, Part, Refusal, Scale, TaskGraph};
use crate::tasks::Peer;
use crate::tasks::collectives::Kind;
use weir_input::Section;
use weir_input::registry::{Entry, Keys};
use weir_model::{LONGEST_MESSAGE, Time};

keys! {
    /// A text of the policy HYBRID_TRANSFORMER (also with _FWD_IN_BCKWD). Each task passes through
    /// all layers forwards, then backwards: a computation, its collective operation, and backwards
    /// also the computation of the weights' gradients, whose operation the task does not wait for.
    struct Params {}
}

pub const ENTRY: Entry<Build> = Entry {
    name: "simai",
    summary: "The workload text of SimAI and ASTRA-sim: a training step, layer by layer.",
    source: "SimAI, astra-sim/workload/Workload.cc and system/MockNcclGroup.cc",
    examples: &[
        r#"file = "step.simai""#,
        r#"file = "step.simai", compute = "x 0.5""#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};

/// Limit of operations of all tasks together.
const MOST: u64 = 1 << 28;

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let Params { .. } = section.parse()?;
    let mut lines = Lines::open(path)?;
    let layout = layout(&mut lines)?;
    let mut layers = Vec::new();
    while let Some(words) = next(&mut lines)? {
        if layers.len() as u64 == layout.layers {
            return Err(lines
                .fault(
                    format!("there are more than {} layers", layout.layers),
                    "write their number into the second line",
                )
                .into());
        }
        layers.push(layer(&lines, &words, compute)?);
    }
    if (layers.len() as u64) < layout.layers {
        return Err(lines
            .fault(
                format!(
                    "{} of {} layers are missing",
                    layout.layers - layers.len() as u64,
                    layout.layers
                ),
                "the file is not complete",
            )
            .into());
    }
    let of_a_task = layers.len() as u64 * 7;
    if of_a_task > MOST_OPERATIONS as u64 || of_a_task * u64::from(layout.tasks) > MOST {
        let message = format!(
            "{} layers on {} tasks are too many",
            layers.len(),
            layout.tasks
        );
        return Err(Fault::new(message, "take a smaller model or fewer GPUs").into());
    }
    let tasks = layout.tasks;
    let model = Model {
        layout,
        layers,
        known: Mutex::default(),
    };
    let coverage = model.coverage();
    Ok(Content {
        tasks,
        make: Some(Box::new(move |task| model.task(task))),
        ..Content::new(Vec::new(), coverage, lines.hash())
    })
}

/// The words of the next line that is not empty.
fn next(lines: &mut Lines) -> Result<Option<Vec<String>>, Fault> {
    while lines.advance()? {
        let words: Vec<String> = lines.text()?.split_whitespace().map(String::from).collect();
        if !words.is_empty() {
            return Ok(Some(words));
        }
    }
    Ok(None)
}

/// The first two lines.
struct Layout {
    tasks: u32,
    /// Tasks that share each layer; replicas; replicas that share experts; replicas with the same
    /// experts.
    tensor: u32,
    data: u32,
    expert: u32,
    same_experts: u32,
    pipeline_bytes: u64,
    layers: u64,
}

/// The keys of the first line.
const KEYS: [&str; 9] = [
    "all_gpus",
    "model_parallel_NPU_group",
    "pp",
    "ep",
    "vpp",
    "ga",
    "pp_comm",
    "checkpoints",
    "checkpoint_initiates",
];

/// Refuses a first line with unknown keys, or without the number of GPUs.
fn keys(lines: &Lines, head: &[String]) -> Result<(), Fault> {
    let key = |word: &str| word.trim_end_matches(':').to_string();
    let wrong =
        |word: &&String| word.parse::<u64>().is_err() && !KEYS.contains(&key(word).as_str());
    if let Some(word) = head.iter().skip(1).find(wrong) {
        let message = format!("{word:?} is no key of the header");
        return Err(lines.fault(message, format!("{} are", KEYS.join(", "))));
    }
    if !head.iter().any(|word| key(word) == "all_gpus") {
        let message = "the header does not say how many GPUs there are";
        return Err(lines.fault(message, "write `all_gpus: N` into the first line"));
    }
    Ok(())
}

fn layout(lines: &mut Lines) -> Result<Layout, Fault> {
    let head = next(lines)?.unwrap_or_default();
    let policy = head.first().map_or("", String::as_str);
    if !["HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"].contains(&policy) {
        let message = format!("the policy {policy:?} is not read");
        let remedy = "HYBRID_TRANSFORMER and HYBRID_TRANSFORMER_FWD_IN_BCKWD are";
        return Err(lines.fault(message, remedy));
    }
    keys(lines, &head)?;
    let given = |key: &str| -> Result<Option<u64>, Fault> {
        let at = head
            .iter()
            .position(|word| word.trim_end_matches(':') == key);
        let Some(at) = at else { return Ok(None) };
        let word = head.get(at + 1).map_or("", String::as_str);
        let number = word.parse().map(Some);
        number.map_err(|_| lines.fault(format!("`{key}` is {word:?}"), "write a whole number"))
    };
    let count = |key: &str| -> Result<u32, Fault> {
        match given(key)?.unwrap_or(1) {
            count @ 1..=TASKS_IF_GIVEN => Ok(count as u32),
            count => Err(lines.fault(format!("`{key}` is {count}"), "write 1 to 1,048,576")),
        }
    };
    for key in ["checkpoints", "checkpoint_initiates"] {
        if given(key)?.is_some_and(|count| count > 0) {
            let message = format!("`{key}` is not 0: layers that are computed again are not read");
            return Err(lines.fault(message, "write 0, or those layers twice"));
        }
    }
    let [tasks, tensor, pipeline, expert] =
        ["all_gpus", "model_parallel_NPU_group", "pp", "ep"].map(count);
    let (tasks, tensor, pipeline, expert) = (tasks?, tensor?, pipeline?, expert?);
    let data = tasks / tensor / pipeline;
    if u64::from(data) * u64::from(tensor) * u64::from(pipeline) != u64::from(tasks)
        || !data.is_multiple_of(expert)
        || data == 0
    {
        let message = format!(
            "{tasks} GPUs cannot be divided by {tensor} (tensor), {pipeline} (pipeline) and \
             {expert} (experts)"
        );
        return Err(lines.fault(message, "write numbers that divide `all_gpus`"));
    }
    let pipeline_bytes = given("pp_comm")?.unwrap_or(0);
    let second = next(lines)?.unwrap_or_default();
    let layers = match second.as_slice() {
        [count] => count.parse().ok(),
        _ => None,
    };
    let Some(layers) = layers else {
        return Err(lines.fault("this is no number of layers", "write it as the second line"));
    };
    Ok(Layout {
        tasks,
        tensor,
        data,
        expert,
        same_experts: data / expert,
        pipeline_bytes,
        layers,
    })
}

impl Layout {
    /// Number of tasks in a group.
    fn count(&self, among: Among) -> u32 {
        match among {
            Among::Tensor => self.tensor,
            Among::Data => self.data,
            Among::Expert => self.expert,
            Among::SameExperts => self.same_experts,
        }
    }
}

/// Groups of tasks with operations together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Among {
    Tensor,
    Data,
    Expert,
    SameExperts,
}

/// A collective operation of a layer.
#[derive(Clone, Copy)]
struct Operation {
    kind: Kind,
    among: Among,
    /// Bytes of the whole array.
    bytes: u64,
}

/// A layer: forwards, gradients of the inputs, gradients of the weights.
struct Layer {
    times: [Time; 3],
    operations: [Option<Operation>; 3],
    update: Time,
}

fn layer(lines: &Lines, words: &[String], compute: Scale) -> Result<Layer, Fault> {
    let [_, _, pairs @ .., update] = words else {
        return Err(no_layer(lines));
    };
    if pairs.len() != 9 {
        return Err(no_layer(lines));
    }
    let time = |word: &str| {
        let time: Option<u64> = word.parse().ok();
        let time = time.and_then(|time| compute.of(u128::from(time) * 1_000));
        time.ok_or_else(|| lines.fault(format!("{word:?} is no time"), "write nanoseconds"))
    };
    let operation = |at: usize| {
        let own = if at == 2 { Among::Data } else { Among::Tensor };
        operation(lines, &pairs[3 * at + 1], &pairs[3 * at + 2], own)
    };
    Ok(Layer {
        times: [time(&pairs[0])?, time(&pairs[3])?, time(&pairs[6])?],
        operations: [operation(0)?, operation(1)?, operation(2)?],
        update: time(update)?,
    })
}

fn no_layer(lines: &Lines) -> Fault {
    lines.fault(
        "this is no layer",
        "write twelve words: name, dependency, three times of a computation, an operation and its \
         bytes, and the time of the update",
    )
}

/// An operation; `own` is the group of a name without an addition.
fn operation(
    lines: &Lines,
    name: &str,
    bytes: &str,
    own: Among,
) -> Result<Option<Operation>, Fault> {
    let groups = [
        ("_DP_EP", Among::SameExperts),
        ("_EP", Among::Expert),
        ("", own),
    ];
    let known = groups.iter().find_map(|(end, among)| {
        let kind = match name.strip_suffix(end)? {
            "NONE" => None,
            "ALLREDUCE" => Some(Kind::Allreduce),
            "ALLGATHER" => Some(Kind::Allgather),
            "REDUCESCATTER" => Some(Kind::ReduceScatter),
            "ALLTOALL" => Some(Kind::Alltoall),
            _ => return None,
        };
        Some((kind, *among))
    });
    let Some((kind, among)) = known else {
        let remedy = "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER and ALLTOALL are, also with _EP or \
                      _DP_EP";
        return Err(lines.fault(format!("{name:?} is no operation"), remedy));
    };
    let Some(bytes) = bytes
        .parse()
        .ok()
        .filter(|&bytes| bytes <= LONGEST_MESSAGE / 8)
    else {
        return Err(lines.fault(
            format!("{bytes:?} is no number of bytes"),
            "write a whole number",
        ));
    };
    Ok(kind
        .map(|kind| Operation { kind, among, bytes })
        .filter(|_| bytes > 0))
}

/// Members by the kind of a group and its first task.
type Known = BTreeMap<(Among, Peer), Arc<[Peer]>>;

/// A step of all tasks. Their operations are made when a task needs them, as a few layers and many
/// GPUs are many operations.
struct Model {
    layout: Layout,
    layers: Vec<Layer>,
    /// The members of groups, each list once.
    known: Mutex<Known>,
}

impl Model {
    /// The operations of a task.
    fn task(&self, task: Peer) -> TaskGraph {
        let step = Step {
            model: self,
            task,
            builder: Builder::default(),
            last: None,
            number: 0,
        };
        step.of().build()
    }

    /// The operations of all tasks.
    fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        let Layout {
            tasks,
            pipeline_bytes,
            ..
        } = self.layout;
        let all = u64::from(tasks);
        if pipeline_bytes > 0 {
            let why = "SimAI's simulation of the network has none";
            coverage.ignored("sizes of messages of the pipeline", 1, pipeline_bytes, why);
        }
        for layer in &self.layers {
            for (time, operation) in layer.times.iter().zip(layer.operations) {
                if *time > 0 {
                    coverage.timed("computations", all, time.saturating_mul(all));
                }
                let Some(Operation { kind, among, bytes }) = operation else {
                    continue;
                };
                let name = format!("parts in {}", kind.name());
                let bytes = bytes.saturating_mul(all);
                if self.layout.count(among) < 2 {
                    coverage.ignored(name, all, bytes, "they are of a single task");
                    continue;
                }
                coverage.simulated(name, all, bytes);
                if layer.update > 0 {
                    coverage.timed("updates", all, layer.update.saturating_mul(all));
                }
            }
        }
        coverage
    }

    /// The group of a task, and its place there, as MockNcclGroup.cc has them. (There the groups
    /// with the same experts overlap if there is a pipeline; here they do not.)
    fn group(&self, among: Among, task: Peer) -> (Arc<[Peer]>, u32) {
        let Layout {
            tensor,
            data,
            expert,
            tasks,
            ..
        } = self.layout;
        let count = self.layout.count(among);
        let (inner, outer) = (task % tensor, task / tensor);
        let (first, stride) = match among {
            Among::Tensor => (outer * tensor, 1),
            Among::Data => (task % (tasks / data), tasks / data),
            Among::Expert => (outer / expert * expert * tensor + inner, tensor),
            Among::SameExperts => {
                let block = outer / data * data + outer % expert;
                (block * tensor + inner, tensor * expert)
            }
        };
        let mut known = self
            .known
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let members = known.entry((among, first));
        let members = members.or_insert_with(|| (0..count).map(|at| first + at * stride).collect());
        (members.clone(), (task - first) / stride)
    }
}

/// The operations of a task.
struct Step<'a> {
    model: &'a Model,
    task: Peer,
    builder: Builder,
    /// The operation that the next one waits for.
    last: Option<u32>,
    /// Number of the next collective operation: the same on all tasks.
    number: u32,
}

impl Step<'_> {
    fn of(mut self) -> Builder {
        // What the next step would wait for is waited for at the end.
        for layer in &self.model.layers {
            self.compute(layer.times[0]);
            self.operation(layer, 0);
        }
        for layer in self.model.layers.iter().rev() {
            self.compute(layer.times[1]);
            self.operation(layer, 1);
            self.compute(layer.times[2]);
            let go_on = self.last;
            self.operation(layer, 2);
            self.last = go_on;
        }
        self.builder
    }

    fn after(&mut self, node: Node) {
        let node = self.builder.add(node);
        self.wait(node);
    }

    fn wait(&mut self, node: u32) {
        if let Some(last) = self.last.replace(node) {
            self.builder.requires(node, last);
        }
    }

    fn compute(&mut self, time: Time) {
        if time > 0 {
            self.after(Node::compute(time));
        }
    }

    /// An operation of several tasks, and the time of the update, which follows each of them
    /// (`Layer::call` in SimAI's workload/Layer.cc).
    fn operation(&mut self, layer: &Layer, at: usize) {
        let Some(Operation { kind, among, bytes }) = layer.operations[at] else {
            return;
        };
        self.number += 1;
        let (members, place) = self.model.group(among, self.task);
        let count = members.len() as u64;
        if count < 2 {
            return;
        }
        let share = match kind {
            Kind::Allreduce => bytes,
            _ => bytes / count,
        };
        let part = Part::new(kind, &members, place, 0, share, self.number);
        let node = self.builder.add_collective(part);
        self.wait(node);
        if layer.update > 0 {
            self.after(Node::delay(layer.update));
        }
    }
}

#[cfg(test)]
mod tests;
