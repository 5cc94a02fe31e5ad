//! `simai`: the workload text of SimAI and ASTRA-sim: a training step, layer by layer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::MOST_OPERATIONS;
use super::input::Lines;
use super::table::TASKS_IF_GIVEN;
use super::{Build, Builder, Content, Coverage, Fault, Node, Part, Refusal, Scale};
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
    let mut coverage = Coverage::default();
    if layout.pipeline_bytes > 0 {
        let why = "SimAI's simulation of the network has none";
        coverage.ignored("messages of the pipeline", 1, layout.pipeline_bytes, why);
    }
    let mut graphs = Vec::new();
    let mut groups = Groups {
        layout: &layout,
        known: BTreeMap::new(),
    };
    for task in 0..layout.tasks {
        let step = Step {
            task,
            builder: Builder::default(),
            last: None,
            number: 0,
        };
        graphs.push(step.of(&layers, &mut groups, &mut coverage).build());
    }
    Ok(Content::new(graphs, coverage, lines.hash()))
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

fn layout(lines: &mut Lines) -> Result<Layout, Fault> {
    let head = next(lines)?.unwrap_or_default();
    let policy = head.first().map_or("", String::as_str);
    if !["HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"].contains(&policy) {
        let message = format!("the policy {policy:?} is not read");
        let remedy = "HYBRID_TRANSFORMER and HYBRID_TRANSFORMER_FWD_IN_BCKWD are";
        return Err(lines.fault(message, remedy));
    }
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

/// The members of groups, each list once.
struct Groups<'a> {
    layout: &'a Layout,
    known: BTreeMap<(Among, Peer), Arc<[Peer]>>,
}

impl Groups<'_> {
    /// The group of a task, and its place there, as MockNcclGroup.cc has them. (There the groups
    /// with the same experts overlap if there is a pipeline; here they do not.)
    fn of(&mut self, among: Among, task: Peer) -> (Arc<[Peer]>, u32) {
        let Layout {
            tensor,
            data,
            expert,
            same_experts,
            tasks,
            ..
        } = *self.layout;
        let (inner, outer) = (task % tensor, task / tensor);
        let (first, stride, count) = match among {
            Among::Tensor => (outer * tensor, 1, tensor),
            Among::Data => (task % (tasks / data), tasks / data, data),
            Among::Expert => (outer / expert * expert * tensor + inner, tensor, expert),
            Among::SameExperts => {
                let block = outer / data * data + outer % expert;
                (block * tensor + inner, tensor * expert, same_experts)
            }
        };
        let members = self.known.entry((among, first));
        let members = members.or_insert_with(|| (0..count).map(|at| first + at * stride).collect());
        (members.clone(), (task - first) / stride)
    }
}

/// The operations of a task.
struct Step {
    task: Peer,
    builder: Builder,
    /// The operation that the next one waits for.
    last: Option<u32>,
    /// Number of the next collective operation: the same on all tasks.
    number: u32,
}

impl Step {
    fn of(mut self, layers: &[Layer], groups: &mut Groups, coverage: &mut Coverage) -> Builder {
        // What the next step would wait for is waited for at the end.
        for layer in layers {
            self.compute(layer.times[0]);
            self.operation(layer.operations[0], groups, coverage);
        }
        for layer in layers.iter().rev() {
            self.compute(layer.times[1]);
            self.operation(layer.operations[1], groups, coverage);
            self.compute(layer.times[2]);
            let go_on = self.last;
            if self.operation(layer.operations[2], groups, coverage) {
                self.after(Node::delay(layer.update));
                self.last = go_on;
            }
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

    /// True if there is an operation of several tasks.
    fn operation(
        &mut self,
        operation: Option<Operation>,
        groups: &mut Groups,
        coverage: &mut Coverage,
    ) -> bool {
        let Some(Operation { kind, among, bytes }) = operation else {
            return false;
        };
        self.number += 1;
        let (members, place) = groups.of(among, self.task);
        let count = members.len() as u64;
        let name = format!("parts in {}", kind.name());
        if count < 2 {
            coverage.ignored(name, 1, bytes, "they are of a single task");
            return false;
        }
        let share = match kind {
            Kind::Allreduce => bytes,
            _ => bytes / count,
        };
        coverage.simulated(name, 1, bytes);
        let part = Part::new(kind, &members, place, 0, share, self.number);
        let node = self.builder.add_collective(part);
        self.wait(node);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read_bytes, refused, replay};

    const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 \
                        vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0\n";

    /// Layers, without their names, dependencies and updates.
    fn text(layers: &[&str]) -> String {
        let lines = layers.iter().map(|layer| format!("layer -1 {layer} 0\n"));
        format!("{HEAD}{}\n{}", layers.len(), lines.collect::<String>())
    }

    fn sent(layers: &[&str], task: u32) -> Vec<(u32, u64)> {
        let trace = read_bytes("simai", "", text(layers).as_bytes()).unwrap();
        let run = replay(&trace).finish();
        run.sent_by(task)
            .iter()
            .map(|sent| (sent.0, sent.1))
            .collect()
    }

    #[test]
    fn operations_are_those_of_the_groups() {
        // Two tasks of a tensor group, whole arrays of 800 bytes.
        let of = |operation: &str, task| {
            let mut to: Vec<u32> = sent(&[&format!("0 {operation} 800 0 NONE 0 0 NONE 0")], task)
                .into_iter()
                .map(|(to, _)| to)
                .collect();
            to.sort_unstable();
            to.dedup();
            to
        };
        assert_eq!(of("ALLREDUCE", 5), [4]);
        assert_eq!(of("ALLTOALL_EP", 5), [7]);
        assert_eq!(of("ALLTOALL_EP", 0), [2]);
        assert_eq!(of("ALLTOALL_DP_EP", 1), [5]);
        let weights = |task| sent(&["0 NONE 0 0 NONE 0 0 ALLTOALL 800"], task);
        // Four replicas: 1, 3, 5, 7; 200 bytes for each of the others.
        let mut to = weights(3);
        to.sort_unstable();
        assert_eq!(to, [(1, 200), (5, 200), (7, 200)]);
        assert_eq!(sent(&["0 ALLGATHER 800 0 NONE 0 0 NONE 0"], 0), [(1, 400)]);
        assert_eq!(
            sent(&["0 REDUCESCATTER 800 0 NONE 0 0 NONE 0"], 0),
            [(1, 400)]
        );
    }

    #[test]
    fn gradients_of_weights_do_not_hold_up_the_layer_before() {
        // Forwards 1 and 2 us, backwards 30 and 3 us, then 20 and 10 us: 66 us of computation.
        let layers = [
            "1000 NONE 0 10000 NONE 0 20000 ALLREDUCE 1000000",
            "2000 NONE 0 3000 NONE 0 30000 ALLREDUCE 1000000",
        ];
        let trace = read_bytes("simai", "", text(&layers).as_bytes()).unwrap();
        let run = replay(&trace).finish();
        let end = run.tasks[0].finished().expect("it ends");
        // The last operation of four tasks takes twice 3/4 MB at 1 ps a byte, or less; that of the
        // other layer is over before.
        assert!((66_000_000 + 1_000_000..70_000_000).contains(&end), "{end}");
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let good = text(&["0 NONE 0 0 NONE 0 0 NONE 0"]);
        for (from, to, words) in [
            (
                "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                "DATA",
                "line 1: the policy \"DATA\" is not read",
            ),
            ("all_gpus: 8", "all_gpus: 9", "cannot be divided"),
            ("all_gpus: 8", "all_gpus: x", "`all_gpus` is \"x\""),
            ("checkpoints: 0", "checkpoints: 2", "computed again"),
            ("\n1\n", "\n2\n", "1 of 2 layers are missing"),
            ("\n1\n", "\n0\n", "line 3: there are more than 0 layers"),
            ("\n1\n", "\none\n", "line 2: this is no number of layers"),
            (
                "0 NONE 0 0 NONE",
                "0 NONE 0 NONE",
                "line 3: this is no layer",
            ),
            (
                "0 NONE 0 0 NONE",
                "0 SOME 0 0 NONE",
                "\"SOME\" is no operation",
            ),
            ("0 NONE 0 0 NONE", "x NONE 0 0 NONE", "\"x\" is no time"),
            (
                "0 NONE 0 0 NONE",
                "0 NONE -1 0 NONE",
                "\"-1\" is no number of bytes",
            ),
        ] {
            assert!(good.contains(from), "{from}");
            let said = refused("simai", "", &good.replacen(from, to, 1));
            assert!(said.contains(words), "{said:?} lacks {words:?}");
        }
    }
}
