//! `training`: steps of training a transformer, with all kinds of parallelism.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Model;
use super::{Build, compute, length, none_is_zero};
use crate::tasks::collectives::Kind;
use crate::tasks::{Group, Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, Time};

/// Training of a transformer, a task per accelerator. Tasks have consecutive numbers in a tensor
/// group; then come the replicas of a stage of the pipeline, then the stages.
///
/// A step: each replica takes its micro batches through the pipeline, one forwards and one
/// backwards in turn (1F1B); a stage sends activations to the next and gradients back. A layer has
/// two collective operations of its tensor group forwards and two backwards, and with experts two
/// alltoalls of its expert group each way. Then replicas combine their gradients. Computation and
/// messages of a task do not overlap. Numbers have 2 bytes, gradients 4.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The model.
    model: Model,
    /// Tasks that share each layer (tensor parallelism).
    tensor: u32,
    /// Stages of the pipeline. Layers are divided as evenly as possible; the first stages have
    /// more.
    pipeline: u32,
    /// Replicas that share the experts of a layer; must divide the number of replicas and of
    /// experts.
    expert: u32,
    /// The tasks of a tensor group share the sequence between layers: allgathers and
    /// reduce-scatters instead of allreduces, and stages send only their share to each other.
    sequence_parallel: bool,
    /// Combination of gradients: `allreduce`; `sharded`: each replica updates a part, by a
    /// reduce-scatter and an allgather (ZeRO 1); `fsdp`: parameters are divided as well, and
    /// gathered for each layer, forwards and backwards (ZeRO 3).
    gradients: Gradients,
    /// Sequences of a micro batch.
    micro_batch: u32,
    /// Micro batches of each replica in a step.
    micro_batches: u32,
    /// Steps.
    steps: u32,
    /// Operations per second that a task reaches.
    flops: f64,
}

/// See [`Params::gradients`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Gradients {
    Allreduce,
    Sharded,
    Fsdp,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            model: Model::default(),
            tensor: 1,
            pipeline: 1,
            expert: 1,
            sequence_parallel: false,
            gradients: Gradients::Sharded,
            micro_batch: 1,
            micro_batches: 8,
            steps: 1,
            flops: 4e14,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "training",
    summary: "Training of a transformer: tensor, pipeline, data and expert parallelism.",
    source: "Narayanan et al., SC 2021 (Megatron-LM): schedule 1F1B, sections 2 and 3; \
             Rajbhandari et al., SC 2020 (ZeRO), section 7",
    examples: &[
        concat!(
            "model = { layers = 4, hidden = 64, feed_forward = 96, keys = 16, vocabulary = 100, ",
            "sequence = 32 }, tensor = 2, pipeline = 2, micro_batches = 3, flops = 1e11"
        ),
        concat!(
            "model = { layers = 2, hidden = 64, feed_forward = 96, keys = 16, vocabulary = 100, ",
            "sequence = 32, experts = 4 }, expert = 2, tensor = 2, sequence_parallel = true, ",
            "micro_batches = 2, gradients = \"fsdp\", flops = 1e11"
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};

/// Bytes of a gradient, and of a parameter.
const GRADIENT: u128 = 4;
const PARAMETER: u128 = 2;

/// Maximum of layers, experts, sequences and micro batches: more are taken for a typing error.
const MOST: u32 = 1 << 16;

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let replicas = replicas(section, &params, tasks)?;
    let Params { model, tensor, .. } = &params;
    let parts = u64::from(params.steps) * (2 * u64::from(params.micro_batches) + 1);
    if parts > u64::from(u32::MAX) {
        let message = format!("{parts} parts of a program are too many");
        return Err(section.refuse(Invalid::new("steps", message, "write fewer steps")));
    }
    let shares = |bytes: u128, among: u32| bytes.div_ceil(u128::from(among.max(1)));
    let tensor_share = |count: u128| shares(count, *tensor);
    let activations = model.activations(params.micro_batch);
    let routed = activations * u128::from(model.active_experts);
    let embedding = tensor_share(model.embedding());
    let lengths = Lengths {
        whole: length(section, "model", activations)?,
        share: length(section, "model", tensor_share(activations))?,
        routed: length(
            section,
            "model",
            shares(tensor_share(routed), params.expert),
        )?,
    };
    let shared = tensor_share(model.shared());
    let of_experts = tensor_share(shares(model.of_experts(), params.expert));
    // The largest of all messages of gradients.
    let most = params.model.layers.div_ceil(params.pipeline);
    let stage = u128::from(most) * (shared + of_experts) + 2 * embedding;
    length(section, "model", GRADIENT * stage)?;
    let work = model.work(params.micro_batch) / f64::from(*tensor);
    let output = 2.0 * f64::from(params.micro_batch) * f64::from(model.sequence);
    let output = output * model.embedding() as f64 / f64::from(*tensor);
    let time = |work: f64| {
        // Of a whole stage backwards, which is the longest.
        compute::time(None, 2.0 * work * f64::from(most), params.flops, "flops")?;
        compute::time(None, work, params.flops, "flops")
    };
    let time = |work| time(work).map_err(|invalid| section.refuse(invalid));
    Ok(Box::new(Training {
        layer: time(work)?,
        output: time(output)?,
        lengths,
        shared,
        of_experts,
        embedding,
        replicas,
        params,
    }))
}

/// Number of replicas of the model. Refuses numbers that do not divide each other.
fn replicas(section: &Section, params: &Params, tasks: u32) -> Result<u32, ConfigError> {
    let Params { model, tensor, .. } = params;
    let refuse = |key: &str, message: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    let own = [
        ("model.active_experts", model.active_experts),
        ("tensor", *tensor),
        ("pipeline", params.pipeline),
        ("expert", params.expert),
        ("micro_batch", params.micro_batch),
        ("micro_batches", params.micro_batches),
    ];
    none_is_zero(section, model.counts().into_iter().chain(own))?;
    let few = [
        ("model.layers", model.layers),
        ("model.experts", model.experts),
        ("micro_batch", params.micro_batch),
        ("micro_batches", params.micro_batches),
    ];
    if let Some((key, count)) = few.into_iter().find(|&(_, count)| count > MOST) {
        let remedy = format!("write at most {MOST}");
        return refuse(key, format!("{count} are too many"), &remedy);
    }
    if params.pipeline > model.layers {
        let message = format!(
            "{} layers cannot be divided among {} stages",
            model.layers, params.pipeline
        );
        return refuse("pipeline", message, "write at most the number of layers");
    }
    let of_a_replica = u64::from(*tensor) * u64::from(params.pipeline);
    if !u64::from(tasks).is_multiple_of(of_a_replica) || tasks == 0 {
        let message =
            format!("{tasks} tasks cannot be divided into replicas of {of_a_replica} tasks");
        let remedy = "let tensor × pipeline divide the number of tasks";
        return refuse("tensor", message, remedy);
    }
    let replicas = tasks / of_a_replica as u32;
    if !replicas.is_multiple_of(params.expert) || !model.experts.is_multiple_of(params.expert) {
        let message = format!(
            "{replicas} replicas, or {} experts, cannot be divided into groups of {}",
            model.experts, params.expert
        );
        let remedy = "let it divide the number of replicas, and of experts";
        return refuse("expert", message, remedy);
    }
    if model.experts == 0 && params.expert > 1 {
        let message = "the model has no experts to share".to_string();
        return refuse(
            "expert",
            message,
            "write model.experts, or leave `expert` out",
        );
    }
    if model.experts > 0 && model.active_experts > model.experts {
        let message = format!("a token cannot go to {} experts", model.active_experts);
        let remedy = format!("write at most {}", model.experts);
        return refuse("model.active_experts", message, &remedy);
    }
    Ok(replicas)
}

struct Training {
    params: Params,
    replicas: u32,
    lengths: Lengths,
    /// Parameters of a layer on a task: all but those of experts; those of experts.
    shared: u128,
    of_experts: u128,
    /// Parameters of the embedding on a task, and as many of the output.
    embedding: u128,
    /// Computation of a layer forwards on a task, ps.
    layer: Time,
    /// Computation of the output forwards on a task, ps.
    output: Time,
}

/// Bytes of messages.
struct Lengths {
    /// Activations of a micro batch.
    whole: u64,
    /// The share of a task of a tensor group.
    share: u64,
    /// Activations from a task to each task of its expert group.
    routed: u64,
}

/// The way through the layers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forwards,
    Backwards,
}

/// A task's place in the grid of tasks.
struct Place {
    tensor: u32,
    replica: u32,
    stage: u32,
}

impl Training {
    fn place(&self, task: u32) -> Place {
        let tensor = self.params.tensor;
        Place {
            tensor: task % tensor,
            replica: task / tensor % self.replicas,
            stage: task / tensor / self.replicas,
        }
    }

    /// The first task of a stage.
    fn first(&self, stage: u32) -> u32 {
        stage * self.params.tensor * self.replicas
    }

    /// The tasks that share the layers of this one.
    fn tensor_group(&self, at: &Place) -> Group {
        Group {
            first: self.first(at.stage) + at.replica * self.params.tensor,
            stride: 1,
            count: self.params.tensor,
        }
    }

    /// The tasks of all replicas with the same parameters.
    fn data_group(&self, at: &Place) -> Group {
        Group {
            first: self.first(at.stage) + at.tensor,
            stride: self.params.tensor,
            count: self.replicas,
        }
    }

    /// The tasks that share the experts of a layer: neighbouring replicas.
    fn expert_group(&self, at: &Place) -> Group {
        let (tensor, expert) = (self.params.tensor, self.params.expert);
        Group {
            first: self.first(at.stage) + at.tensor + at.replica / expert * expert * tensor,
            stride: tensor,
            count: expert,
        }
    }

    /// The tasks with the same experts.
    fn same_experts(&self, at: &Place) -> Group {
        let (tensor, expert) = (self.params.tensor, self.params.expert);
        Group {
            first: self.first(at.stage) + at.tensor + at.replica % expert * tensor,
            stride: tensor * expert,
            count: self.replicas / expert,
        }
    }

    /// Layers of a stage.
    fn layers(&self, stage: u32) -> u32 {
        let (layers, stages) = (self.params.model.layers, self.params.pipeline);
        layers / stages + u32::from(stage < layers % stages)
    }

    /// Two of these follow each other in a layer: after the attention, and after the feed-forward
    /// network.
    fn tensor_operation(&self, group: Group, script: &mut Script) {
        if self.params.sequence_parallel {
            script.collective(Kind::Allgather, group, 0, self.lengths.share);
            script.collective(Kind::ReduceScatter, group, 0, self.lengths.share);
        } else {
            script.collective(Kind::Allreduce, group, 0, self.lengths.whole);
        }
    }

    /// Operations of the replicas on these parameters, with the bytes of each: on all but those of
    /// experts among all replicas, on those of experts among the ones with the same experts. An
    /// allreduce has all of them, other operations the share of a task.
    fn among_replicas(
        &self,
        operations: &[(Kind, u128)],
        [shared, of_experts]: [u128; 2],
        at: &Place,
        script: &mut Script,
    ) {
        let groups = [
            (self.data_group(at), shared),
            (self.same_experts(at), of_experts),
        ];
        for (group, parameters) in groups.into_iter().filter(|(_, count)| *count > 0) {
            for &(kind, bytes) in operations {
                let tasks = match kind {
                    Kind::Allreduce => 1,
                    _ => group.count,
                };
                let length = (bytes * parameters).div_ceil(u128::from(tasks));
                script.collective(kind, group, 0, length as u64);
            }
        }
    }

    /// A micro batch goes through the layers of a stage.
    fn pass(&self, way: Way, at: &Place, script: &mut Script) {
        let (tensor, expert) = (self.tensor_group(at), self.expert_group(at));
        let fsdp = self.params.gradients == Gradients::Fsdp;
        let layer = [self.shared, self.of_experts];
        let cost = if way == Way::Forwards { 1 } else { 2 };
        let last = at.stage + 1 == self.params.pipeline;
        if way == Way::Backwards && last {
            script.compute(2 * self.output);
        }
        for _ in 0..self.layers(at.stage) {
            if fsdp {
                self.among_replicas(&[(Kind::Allgather, PARAMETER)], layer, at, script);
            }
            script.compute(cost * (self.layer / 2));
            self.tensor_operation(tensor, script);
            if self.params.model.experts > 0 {
                script.collective(Kind::Alltoall, expert, 0, self.lengths.routed);
            }
            script.compute(cost * (self.layer - self.layer / 2));
            if self.params.model.experts > 0 {
                script.collective(Kind::Alltoall, expert, 0, self.lengths.routed);
            }
            self.tensor_operation(tensor, script);
            if fsdp && way == Way::Backwards {
                self.among_replicas(&[(Kind::ReduceScatter, GRADIENT)], layer, at, script);
            }
        }
        if way == Way::Forwards && last {
            script.compute(self.output);
        }
    }

    /// The replicas combine the gradients of a step: those of experts with the same experts.
    fn combine(&self, at: &Place, script: &mut Script) {
        let ends = u128::from(at.stage == 0) + u128::from(at.stage + 1 == self.params.pipeline);
        let layers = match self.params.gradients {
            // Done layer by layer.
            Gradients::Fsdp => 0,
            _ => u128::from(self.layers(at.stage)),
        };
        let operations: &[(Kind, u128)] = match self.params.gradients {
            Gradients::Allreduce => &[(Kind::Allreduce, GRADIENT)],
            _ => &[
                (Kind::ReduceScatter, GRADIENT),
                (Kind::Allgather, PARAMETER),
            ],
        };
        let parameters = [
            layers * self.shared + ends * self.embedding,
            layers * self.of_experts,
        ];
        self.among_replicas(operations, parameters, at, script);
    }
}

impl Motif for Training {
    /// A part is a micro batch forwards or backwards, or at the end of a step the combination of
    /// gradients. (A stage waits for what it sends with what it receives next, so that no two
    /// stages wait for each other.)
    fn part(&self, part: u32, script: &mut Script) -> bool {
        let batches = self.params.micro_batches;
        let of_a_step = 2 * batches + 1;
        if part / of_a_step >= self.params.steps {
            return false;
        }
        let at = self.place(script.task());
        let part = part % of_a_step;
        if part == 2 * batches {
            self.combine(&at, script);
            return true;
        }
        // Micro batches that are begun before the first comes back.
        let ahead = (self.params.pipeline - 1 - at.stage).min(batches);
        let last = at.stage + 1 == self.params.pipeline;
        let pairs = ahead..2 * batches - ahead;
        let forwards = part < ahead || pairs.contains(&part) && (part - ahead).is_multiple_of(2);
        let away = self.params.tensor * self.replicas;
        let bytes = match self.params.sequence_parallel {
            true => self.lengths.share,
            false => self.lengths.whole,
        };
        let task = script.task();
        let before = (at.stage > 0).then(|| task - away);
        let after = (!last).then(|| task + away);
        let (way, source, target) = match forwards {
            true => (Way::Forwards, before, after),
            false => (Way::Backwards, after, before),
        };
        // Between the first and the last pair the part before has received it.
        let paired = pairs.contains(&part) && part > ahead;
        if let Some(source) = source.filter(|_| !paired) {
            script.recv(source, 0);
        }
        self.pass(way, &at, script);
        let mark = script.mark();
        if let Some(target) = target {
            // The next of the pairs goes the other way: it comes from where this one goes to.
            if pairs.contains(&part) && pairs.contains(&(part + 1)) {
                script.irecv(target, 0);
            }
            script.isend(target, bytes, 0);
        }
        script.wait_all(script.since(mark));
        true
    }

    fn begins_iteration(&self, part: u32) -> bool {
        part.is_multiple_of(2 * self.params.micro_batches + 1)
    }
}
