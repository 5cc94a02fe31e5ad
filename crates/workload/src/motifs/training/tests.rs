//! Messages of a step are those of the papers' formulas, and the pipeline has the textbook's idle
//! time.

use super::super::testing::{ops, refusal, run, run_by_rendezvous, words};

/// Llama 3.1 405B on 16,384 accelerators: 8 tensor, 16 stages, 128 replicas.
const LARGE: &str = "\
model = { layers = 126, hidden = 16384, feed_forward = 53248, keys = 1024 }
tensor = 8
pipeline = 16
sequence_parallel = true
micro_batches = 16";

#[test]
fn parameters_are_those_of_the_published_models() {
    let model = |layers, hidden, feed_forward, experts| super::Model {
        layers,
        hidden,
        feed_forward,
        experts,
        ..Default::default()
    };
    let all = |model: &super::Model| {
        u128::from(model.layers) * (model.shared() + model.of_experts()) + 2 * model.embedding()
    };
    let billions = |model: &super::Model| (all(model) as f64 / 1e8).round() / 10.0;
    assert_eq!(billions(&model(32, 4096, 14336, 0)), 8.0);
    assert_eq!(billions(&model(80, 8192, 28672, 0)), 70.6);
    assert_eq!(billions(&model(126, 16384, 53248, 0)), 405.8);
    // Mixtral 8x7B has a vocabulary of 32,000 words.
    let mixtral = super::Model {
        vocabulary: 32_000,
        ..model(32, 4096, 14336, 8)
    };
    assert_eq!(billions(&mixtral), 46.7);
}

#[test]
fn a_step_of_a_large_model_has_the_bytes_of_the_formulas() {
    // The first task of the sixth stage, which has 8 of the 126 layers.
    let task = 5 * 8 * 128;
    let all = words(&ops("training", LARGE, task, 16_384));
    let count = |word: &str| all.iter().filter(|one| *one == word).count();
    // 2 bytes for each of 8,192 × 16,384 numbers, divided among 8 tasks: two allgathers and two
    // reduce-scatters forwards, as many backwards, in 8 layers and 16 micro batches.
    let share = 2 * 8192 * 16_384 / 8;
    assert_eq!(share, 33_554_432);
    assert_eq!(count(&format!("Allgather={share}")), 8 * 16 * 4);
    assert_eq!(count(&format!("ReduceScatter={share}")), 8 * 16 * 4);
    // Activations to the next stage, gradients to the one before.
    assert_eq!(count(&format!("Isend>{}={share}", task + 1024)), 16);
    assert_eq!(count(&format!("Isend>{}={share}", task - 1024)), 16);
    // 8 layers of 2 h² + 2 h k + 3 h f parameters, an eighth of each, for each of 128 replicas 4
    // bytes as gradients and 2 as parameters.
    let (h, k, f) = (16_384_u64, 1024, 53_248);
    let parameters = 2 * h * h + 2 * h * k + 3 * h * f;
    assert_eq!(
        all.iter().filter(|one| one.contains("Scatter")).count(),
        8 * 16 * 4 + 1
    );
    assert_eq!(count(&format!("ReduceScatter={}", 4 * parameters / 128)), 1);
    assert_eq!(count(&format!("Allgather={}", 2 * parameters / 128)), 1);
}

/// A small model whose messages take next to no time beside its computation.
fn small(more: &str) -> String {
    let model = "layers = 8, hidden = 64, feed_forward = 96, keys = 16, vocabulary = 1, \
                 sequence = 32";
    format!("model = {{ {model}{more}")
}

#[test]
fn the_pipeline_idles_as_in_the_textbook() {
    // With p stages and m micro batches a step takes m + p - 1 times one micro batch forwards and
    // backwards (Narayanan et al., 2021, section 2.2.1). The output, though of one word, makes the
    // last stage longer by up to 0.2%.
    let step = |stages: u32, batches: u32| {
        let more =
            format!(" }}\npipeline = {stages}\nmicro_batches = {batches}\nflops = 1e6\nsteps = 2");
        let ran = run("training", &small(&more), stages);
        ran.now as f64 / 2.0
    };
    let alone = step(1, 1);
    for (stages, batches) in [(2, 1), (2, 8), (4, 2), (4, 8), (8, 3), (8, 16)] {
        let expected = f64::from(batches + stages - 1) * alone / f64::from(stages);
        let ratio = step(stages, batches) / expected;
        assert!((1.0..1.002).contains(&ratio), "{stages} {batches}: {ratio}");
    }
}

#[test]
fn all_tasks_finish_by_rendezvous_too() {
    let layouts = [
        (" }\ntensor = 2\npipeline = 4\nmicro_batches = 3", 16),
        (" }\npipeline = 8\nmicro_batches = 2\nsteps = 2", 8),
        (" }\ntensor = 3\npipeline = 2\nsequence_parallel = true", 12),
        (
            ", experts = 4 }\nexpert = 2\npipeline = 2\ngradients = \"fsdp\"",
            8,
        ),
        (
            ", experts = 8 }\nexpert = 4\ntensor = 2\ngradients = \"allreduce\"",
            16,
        ),
    ];
    for (more, tasks) in layouts {
        let parameters = small(more);
        run("training", &parameters, tasks);
        run_by_rendezvous("training", &parameters, tasks);
    }
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let refused = |more: &str, tasks| refusal("training", &small(more), tasks);
    assert!(refused(" }\ntensor = 3", 8).contains("8 tasks cannot be divided into replicas of 3"));
    assert!(refused(" }\npipeline = 9", 9).contains("8 layers cannot be divided among 9 stages"));
    assert!(refused(", experts = 4 }\nexpert = 3", 9).contains("groups of 3"));
    assert!(refused(" }\nexpert = 2", 8).contains("no experts to share"));
    assert!(refused(", experts = 1 }", 2).contains("a token cannot go to 2 experts"));
    assert!(refused(" }\nmicro_batches = 0", 2).contains("write 1 or more"));
    assert!(refused(" }\nflops = 0.0", 2).contains("not a rate"));
    assert!(refused(" }\nsteps = 1000000\nmicro_batches = 65536", 2).contains("write fewer steps"));
    let huge = "model = { hidden = 4000000000, feed_forward = 4000000000, layers = 65536 }";
    assert!(refusal("training", huge, 2).contains("a message would have"));
}
