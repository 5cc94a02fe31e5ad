//! `inference`: a transformer answers prompts, with separate tasks for prompts and for answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Model;
use super::{Build, compute, length, none_is_zero};
use crate::tasks::collectives::Kind;
use crate::tasks::{Group, Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, Time};

/// A transformer that answers prompts, a task per accelerator. Tasks have consecutive numbers in a
/// tensor group. The first groups take prompts (prefill), the others write answers (decode).
///
/// In an iteration each answering group serves a batch of requests: the first group the first ones,
/// and so on. They are dealt to the groups for prompts in turn. A prompt goes through the layers,
/// and the keys and values of each go to the answering group, task by task; it ends with the first
/// token of the answer. When those of its batch are there, an answering group writes another token
/// of each answer at a time. A layer has two allreduces of its tensor group, of the activations of
/// the prompt, or of one token of each answer. Computation for a prompt is limited by operations,
/// for answers by the parameters, and the keys and values of the prompts, that are read from
/// memory. Numbers have 2 bytes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The model, without experts; `sequence` is the length of a prompt.
    model: Model,
    /// Tasks that share each layer (tensor parallelism).
    tensor: u32,
    /// Groups that take prompts, at most one for each request of an iteration.
    prefill: u32,
    /// Requests that an answering group serves at a time.
    batch: u32,
    /// Tokens of an answer; the first comes with the prompt.
    answer: u32,
    /// Keys and values of a layer leave when it is done; otherwise all together at the end.
    layerwise: bool,
    /// Batches of each answering group.
    iterations: u32,
    /// Operations per second that a task reaches.
    flops: f64,
    /// Bytes per second that a task reads from its memory.
    memory: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            model: Model::default(),
            tensor: 1,
            prefill: 1,
            batch: 8,
            answer: 128,
            layerwise: true,
            iterations: 1,
            flops: 4e14,
            memory: 3e12,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "inference",
    summary: "A transformer answers prompts: keys and values go from tasks for prompts to tasks \
              for answers.",
    source: "Zhong et al., OSDI 2024 (DistServe), section 3; Qin et al., FAST 2025 (Mooncake)",
    examples: &[
        concat!(
            "model = { layers = 3, hidden = 64, feed_forward = 96, keys = 16, vocabulary = 100, ",
            "sequence = 32 }, tensor = 2, batch = 2, answer = 3, flops = 1e11, memory = 1e9"
        ),
        concat!(
            "model = { layers = 2, hidden = 64, feed_forward = 96, keys = 16, vocabulary = 100, ",
            "sequence = 32 }, prefill = 2, batch = 3, answer = 2, layerwise = false, ",
            "iterations = 2, flops = 1e11, memory = 1e9"
        ),
    ],
    parameters: Keys::of::<Params>(),
    build,
};

/// Maximum of layers, tokens, requests of an iteration and their products: each is an operation of
/// a program, or several.
const MOST: u64 = 1 << 20;

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    check(section, &params, tasks)?;
    let Params { model, tensor, .. } = &params;
    let share = |bytes: u128| bytes.div_ceil(u128::from(*tensor));
    let cache = length(section, "model", share(model.cache(model.sequence)))?;
    length(
        section,
        "model",
        u128::from(cache) * u128::from(model.layers),
    )?;
    let token = 2 * u128::from(params.batch) * u128::from(model.hidden);
    let answering = tasks / tensor - params.prefill;
    // Of one layer on a task.
    let read = 2 * share(model.shared()) + u128::from(params.batch) * u128::from(cache);
    let time = |key, work: f64, rate| {
        let time = compute::time(None, work, rate, key);
        time.map_err(|invalid| section.refuse(invalid))
    };
    let output = 2 * share(model.embedding());
    Ok(Box::new(Inference {
        answering,
        cache,
        prompt: length(section, "model", model.activations(1))?,
        token: length(section, "model", token)?,
        prompt_layer: time("flops", model.work(1) / f64::from(*tensor), params.flops)?,
        token_layer: time("memory", read as f64, params.memory)?,
        prompt_output: time("flops", output as f64, params.flops)?,
        token_output: time("memory", output as f64, params.memory)?,
        params,
    }))
}

/// Refuses numbers that do not fit.
fn check(section: &Section, params: &Params, tasks: u32) -> Result<(), ConfigError> {
    let Params { model, tensor, .. } = params;
    let refuse = |key: &str, message: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    let own = [
        ("tensor", *tensor),
        ("prefill", params.prefill),
        ("batch", params.batch),
        ("answer", params.answer),
    ];
    none_is_zero(section, model.counts().into_iter().chain(own))?;
    let experts = ["model.experts", "model.active_experts"];
    if let Some(key) = experts.into_iter().find(|key| section.has(key)) {
        return refuse(key, "this motif has no experts".into(), "leave it out");
    }
    if !tasks.is_multiple_of(*tensor) {
        let message = format!("{tasks} tasks are no whole groups of {tensor}");
        return refuse("tensor", message, "let it divide the number of tasks");
    }
    if tasks / tensor <= params.prefill {
        let message = format!("of {} groups none is left for answers", tasks / tensor);
        return refuse(
            "prefill",
            message,
            "write fewer, or give the job more tasks",
        );
    }
    let groups = u64::from(tasks / tensor - params.prefill);
    let requests = groups * u64::from(params.batch);
    if requests < params.prefill.into() {
        let message = format!("{requests} prompts of an iteration leave groups without any");
        return refuse("prefill", message, "write fewer, or a larger batch");
    }
    let layers = u64::from(model.layers);
    for (key, each) in [("answer", params.answer.into()), ("batch", requests)] {
        if u64::saturating_mul(each, layers) > MOST {
            let message = format!("{each} for each of {layers} layers are too many");
            return refuse(key, message, "write less");
        }
    }
    Ok(())
}

struct Inference {
    params: Params,
    /// Groups that write answers.
    answering: u32,
    /// Bytes of the keys and values of a layer on a task, for a prompt.
    cache: u64,
    /// Bytes of activations of a prompt, and of one token of each answer of a batch.
    prompt: u64,
    token: u64,
    /// Time of a layer, and of the output, for a prompt and for a token of each answer.
    prompt_layer: Time,
    token_layer: Time,
    prompt_output: Time,
    token_output: Time,
}

impl Inference {
    /// Requests of an iteration.
    fn requests(&self) -> u32 {
        self.answering * self.params.batch
    }

    /// A layer: two allreduces of the tensor group follow its halves.
    fn layer(&self, time: Time, bytes: u64, group: Group, script: &mut Script) {
        for half in [time / 2, time - time / 2] {
            script.compute(half);
            script.collective(Kind::Allreduce, group, 0, bytes);
        }
    }

    /// The prompts of a group.
    fn take(&self, place: u32, group: Group, script: &mut Script) {
        let Params { model, tensor, .. } = &self.params;
        let layers = model.layers;
        let own = script.task() - group.first;
        for request in (place..self.requests()).step_by(self.params.prefill as usize) {
            let target = (self.params.prefill + request / self.params.batch) * tensor + own;
            let mark = script.mark();
            for _ in 0..layers {
                self.layer(self.prompt_layer, self.prompt, group, script);
                if self.params.layerwise {
                    script.isend(target, self.cache, 0);
                }
            }
            if !self.params.layerwise {
                script.isend(target, self.cache * u64::from(layers), 0);
            }
            script.compute(self.prompt_output);
            script.wait_all(script.since(mark));
        }
    }

    /// The answers of a group to a batch.
    fn answer(&self, place: u32, group: Group, script: &mut Script) {
        let Params { model, tensor, .. } = &self.params;
        let own = script.task() - group.first;
        let parts = if self.params.layerwise {
            model.layers
        } else {
            1
        };
        let mark = script.mark();
        let batch = self.params.batch;
        for request in place * batch..(place + 1) * batch {
            let source = request % self.params.prefill * tensor + own;
            for _ in 0..parts {
                script.irecv(source, 0);
            }
        }
        script.wait_all(script.since(mark));
        for _ in 1..self.params.answer {
            for _ in 0..model.layers {
                self.layer(self.token_layer, self.token, group, script);
            }
            script.compute(self.token_output);
        }
    }
}

impl Motif for Inference {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.params.iterations {
            return false;
        }
        let tensor = self.params.tensor;
        let number = script.task() / tensor;
        let group = Group {
            first: number * tensor,
            stride: 1,
            count: tensor,
        };
        match number.checked_sub(self.params.prefill) {
            None => self.take(number, group, script),
            Some(place) => self.answer(place, group, script),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, run_by_rendezvous, words};

    /// Llama 3 70B with prompts of 4,096 tokens.
    const LARGE: &str = "\
model = { layers = 80, hidden = 8192, feed_forward = 28672, keys = 1024, sequence = 4096 }
tensor = 8
batch = 3
answer = 2";

    #[test]
    fn keys_and_values_have_the_bytes_of_the_model() {
        // A group for prompts and one for answers. 327,680 bytes for each token in all layers.
        let prompt = words(&ops("inference", LARGE, 2, 16));
        let share = 327_680 * 4096 / 80 / 8;
        let sends = prompt.iter().filter(|one| one.starts_with("Isend"));
        assert_eq!(
            sends.collect::<Vec<_>>(),
            vec![&format!("Isend>10={share}"); 3 * 80]
        );
        // Two allreduces in a layer, of 2 bytes for each of 4,096 x 8,192 numbers.
        let count = |words: &[String], word: &str| words.iter().filter(|one| *one == word).count();
        assert_eq!(count(&prompt, "Allreduce=67108864"), 3 * 80 * 2);
        let answer = words(&ops("inference", LARGE, 10, 16));
        assert_eq!(count(&answer, "Irecv<2"), 3 * 80);
        // One token of two: the first comes with the prompt.
        assert_eq!(count(&answer, "Allreduce=49152"), 80 * 2);
    }

    fn small(more: &str) -> String {
        let model = "layers = 4, hidden = 64, feed_forward = 96, keys = 16, vocabulary = 1, \
                     sequence = 32";
        format!("model = {{ {model} }}\nflops = 1e9\nmemory = 1e9\n{more}")
    }

    #[test]
    fn answers_take_the_time_of_reading() {
        // A layer has 2 h² + 2 h k + 3 h f parameters of 2 bytes, and for each of two prompts 32
        // tokens of 2 k numbers of 2 bytes. The output has h parameters. At 1 GB/s a byte takes
        // 1 ns.
        let ran = |answer: u32| {
            let more = format!("batch = 2\nanswer = {answer}");
            run("inference", &small(&more), 2).now
        };
        let (h, k, f) = (64, 16, 96);
        let layer = 2 * (2 * h * h + 2 * h * k + 3 * h * f) + 2 * 32 * 2 * k * 2;
        assert_eq!(ran(12) - ran(2), 10 * (4 * layer + 2 * h) * 1000);
    }

    #[test]
    fn all_tasks_finish_by_rendezvous_too() {
        for (more, tasks) in [
            ("batch = 2\nanswer = 2\niterations = 3", 2),
            ("tensor = 2\nprefill = 2\nbatch = 3\nanswer = 1", 10),
            (
                "prefill = 3\nbatch = 5\nanswer = 3\nlayerwise = false\niterations = 2",
                5,
            ),
        ] {
            let parameters = small(more);
            run("inference", &parameters, tasks);
            run_by_rendezvous("inference", &parameters, tasks);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |more: &str, tasks| refusal("inference", &small(more), tasks);
        assert!(refused("tensor = 3", 8).contains("8 tasks are no whole groups of 3"));
        assert!(refused("prefill = 2", 2).contains("of 2 groups none is left for answers"));
        assert!(refused("prefill = 3\nbatch = 2", 4).contains("leave groups without any"));
        assert!(refused("answer = 0", 2).contains("0 is none at all"));
        assert!(refused("answer = 1000000", 2).contains("too many"));
        assert!(refused("batch = 1000000", 2).contains("too many"));
        assert!(refusal("inference", "memory = 0.0", 2).contains("not a rate"));
        assert!(refusal("inference", "model = { experts = 2 }", 2).contains("no experts"));
        assert!(refusal("inference", "model = { active_experts = 1 }", 2).contains("no experts"));
    }
}
