//! Small workload texts, valid and invalid.

use super::super::testing::{read_bytes, refused, replay};
use weir_model::NS;

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

/// `Layer::call` in SimAI's Layer.cc: each operation is over the update time after its messages.
#[test]
fn the_update_follows_every_operation() {
    let end = |update: u64| {
        let layer = format!("l -1 10 ALLREDUCE 800 20 ALLGATHER 800 30 ALLTOALL 800 {update}\n");
        let trace = read_bytes("simai", "", format!("{HEAD}1\n{layer}").as_bytes()).unwrap();
        let run = replay(&trace).finish();
        run.tasks[0].finished().expect("it ends")
    };
    assert_eq!(end(1_000_000), end(0) + 3 * 1_000_000 * NS);
}

#[test]
fn coverage_has_computations_updates_and_bytes_of_all_tasks() {
    // Eight tasks with 300 ns in three parts, and two operations with updates of 100 ns.
    let layer = "l -1 50 ALLREDUCE 700 100 NONE 0 150 ALLTOALL_EP 50 100\n";
    let trace = read_bytes("simai", "", format!("{HEAD}1\n{layer}").as_bytes()).unwrap();
    assert_eq!(
        trace.coverage.to_string(),
        "24 computations of 2.4 us in all, 8 parts in allreduce of 5600 bytes in all, \
         16 updates of 1.6 us in all, 8 parts in alltoall of 400 bytes in all"
    );
    let alone = HEAD.replace("NPU_group: 2", "NPU_group: 1");
    let text = format!("{alone}1\nl -1 0 ALLREDUCE 700 0 NONE 0 0 NONE 0 100\n");
    let trace = read_bytes("simai", "", text.as_bytes()).unwrap();
    assert_eq!(
        trace.coverage.to_string(),
        "8 parts in allreduce of 5600 bytes in all (ignored: they are of a single task)"
    );
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
        ("all_gpus: 8", "all_gpus:", "`all_gpus` is \"checkpoints:\""),
        (
            "all_gpus: 8",
            "all_gpu: 8",
            "\"all_gpu:\" is no key of the header",
        ),
        (
            "all_gpus: 8",
            "",
            "how many GPUs there are / write `all_gpus: N`",
        ),
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
