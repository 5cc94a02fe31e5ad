//! SimGrid's time-independent traces.

use super::super::Replay;
use super::super::testing::{read_bytes, read_files, refused, refused_files, replay};
use crate::tasks::collectives::AllreduceBy;
use crate::tasks::ideal::{Ideal, job, once};
use crate::tasks::{Algorithms, Motif, MpiPreset, Script};
use weir_model::NS;

/// Two processes: 0 computes 1,000 operations and sends, 1 posts a nonblocking receive.
const PAIR: &str = "0 init\n1 init\n0 compute 1e3\n0 send 1 7 500\n1 irecv 0 7 500\n1 wait 0 1 7\n\
    0 allreduce 8 0 0\n1 allreduce 8 0 0\n0 finalize\n1 finalize\n";
const RATE: &str = "flops_per_second = 1e9\n";

#[test]
fn actions_follow_each_other() {
    let trace = read_bytes("simgrid", RATE, PAIR.as_bytes()).unwrap();
    assert_eq!(
        trace.coverage.to_string(),
        "3 computations of 1 us in all, 1 sends of 500 bytes, 1 receives of 500 bytes, 1 \
         collective operations, 2 parts in them of 128 bytes in all"
    );
    let run = replay(&trace).finish();
    // 1,000 operations at 1 ns; 500 bytes and the wire; then both exchange 8 doubles.
    assert_eq!(run.messages[0].at, 1_000 * NS);
    let there = 1_000 * NS + 500 + NS;
    assert_eq!(run.messages[2].at, there);
    assert_eq!(run.messages[2].bytes, 64);
    assert_eq!(run.tasks[0].finished(), Some(there + 64 + NS));
}

#[test]
fn a_file_for_each_process_is_the_same_as_one_for_all() {
    let part = |process: &str| -> String {
        let own = |line: &&str| line.starts_with(process);
        let lines: Vec<&str> = PAIR.lines().filter(own).collect();
        lines.join("\n")
    };
    let (a, b) = (part("0"), part("1"));
    let files: [(&str, &[u8]); 3] = [
        ("list", b"# processes\na.ti\n./b.ti\n"),
        ("a.ti", a.as_bytes()),
        ("b.ti", b.as_bytes()),
    ];
    let apart = read_files("simgrid", RATE, &files).unwrap();
    let whole = read_bytes("simgrid", RATE, PAIR.as_bytes()).unwrap();
    assert_eq!(apart.coverage, whole.coverage);
    assert_ne!(apart.sha256, whole.sha256);
    let [apart, whole] = [&apart, &whole].map(|trace| replay(trace).finish().messages);
    assert_eq!(apart, whole);
    let bad = b.replace("1 irecv 0", "1 irecv 5");
    let said = refused_files(
        "simgrid",
        RATE,
        &[files[0], files[1], ("b.ti", bad.as_bytes())],
    );
    assert!(said.contains("b.ti, line 2: there is no task 5"), "{said}");
    let said = refused_files("simgrid", RATE, &files[..2]);
    assert!(said.contains("line 3: there is no file"), "{said}");
    let other: [(&str, &[u8]); 3] = [files[0], ("a.ti", b.as_bytes()), files[2]];
    let said = refused_files("simgrid", RATE, &other);
    assert!(said.contains("in the file of process 0"), "{said}");
}

#[test]
fn in_place_the_root_says_what_the_others_send_or_get() {
    let text = "0 init\n1 init\n0 gather 0 100 0\n1 gather 100 0 0\n0 scatter 60 0 0\n\
        1 scatter 0 60 0\n0 finalize\n1 finalize\n";
    let trace = read_bytes("simgrid", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let sent = run.messages.iter().map(|sent| (sent.from, sent.bytes));
    assert_eq!(sent.collect::<Vec<_>>(), [(1, 100), (0, 60)]);
}

#[test]
fn sizes_have_types() {
    // init with an argument: doubles by default; 1 is int.
    let text = "0 init 1\n1 init 1\n0 send 1 0 10\n0 send 1 0 10 1\n1 recv 0 0 10\n1 recv 0 0 -1\n\
        0 finalize\n1 finalize\n";
    let trace = read_bytes("simgrid", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let sizes: Vec<u64> = run.messages.iter().map(|sent| sent.bytes).collect();
    assert_eq!(sizes, [80, 40]);
}

#[test]
fn sizes_of_their_own_reach_whom_they_should() {
    let text = include_str!("../../../../../tests/traces/mixed.ti");
    let trace = read_bytes("simgrid", RATE, text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    // Process 1 sends 140 bytes to 4 in the alltoallv; in the gatherv to 1 process 4 has 54; 3
    // scatters 7 for each place.
    let between = |from, to, bytes| {
        let all = run.messages.iter();
        all.filter(|sent| (sent.from, sent.to, sent.bytes) == (from, to, bytes))
            .count()
    };
    assert_eq!(between(1, 4, 140), 1);
    assert_eq!(between(4, 1, 54), 1);
    assert_eq!(between(3, 5, 35), 1);
    let by = trace.algorithms(&crate::tasks::Algorithms::default());
    let by: Vec<String> = by.iter().map(ToString::to_string).collect();
    for expected in [
        "1 alltoallv of 6 tasks by ring",
        "1 gatherv of 6 tasks by linear",
        "1 bcast of 6 tasks by binomial",
        "1 reduce_scatter of 6 tasks by pairwise",
        "1 scan of 6 tasks by recursive_doubling",
    ] {
        assert!(by.iter().any(|one| one == expected), "{expected}: {by:?}");
    }
}

#[test]
fn a_wait_finds_the_receive_of_any_source() {
    let text = "0 init\n0 irecv -555 7 640\n0 wait 1 0 7\n0 send 1 8 10\n0 finalize\n\
        1 init\n1 compute 1000\n1 send 0 7 640\n1 recv 0 8 10\n1 finalize\n";
    let trace = read_bytes("simgrid", RATE, text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let answer = run.messages.iter().find(|sent| sent.from == 0).unwrap();
    assert_eq!(answer.at, 1_000 * NS + 640 + NS);
    assert!(!trace.coverage.to_string().contains("ignored"));
}

/// In SimGrid (`AllGatherVArgParser`) a type precedes the displacements, of which each process has
/// one.
#[test]
fn sizes_of_an_allgatherv_have_the_type_before_the_displacements() {
    let sent = |more: &str| {
        let of = |own: usize| {
            let count = 10 * (own + 1);
            format!("{own} init 1\n{own} allgatherv {count} 10 20 30 40{more}\n{own} finalize\n")
        };
        let text: String = (0..4).map(of).collect();
        let trace = read_bytes("simgrid", "", text.as_bytes()).unwrap();
        let run = replay(&trace).finish();
        run.messages.iter().map(|sent| sent.bytes).sum::<u64>()
    };
    // Around the ring each block of 10 to 40 elements goes to three others; type 6 has a byte.
    for more in [" 6", " 6 6", " 6 0 10 30 60", " 6 0 10 30 60 6"] {
        assert_eq!(sent(more), 3 * 100, "{more}");
    }
    for more in ["", " 0 10 30 60"] {
        assert_eq!(sent(more), 3 * 100 * 8, "{more}");
    }
}

#[test]
fn a_sendrecv_sends_and_receives_at_once() {
    let text = "0 init\n0 sendRecv 1000 1 500 1 6 6\n0 barrier\n0 finalize\n\
        1 init\n1 SENDRECV 500 0 1000 0 6 6\n1 barrier\n1 finalize\n";
    let trace = read_bytes("simgrid", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let sent: Vec<_> = run.messages[..2]
        .iter()
        .map(|sent| (sent.from, sent.at, sent.bytes))
        .collect();
    assert_eq!(sent, [(0, 0, 1_000), (1, 0, 500)]);
    // Each waits until its own message has left and the one that it receives has arrived, which
    // takes 1 ns longer.
    let barrier: Vec<u64> = run.messages[2..].iter().map(|sent| sent.at).collect();
    assert_eq!(barrier, [500 + NS, 1_000 + NS]);
    // Type 1 is an int of four bytes; without types they are bytes here.
    let typed = text
        .replace("500 1 6 6", "125 1 6 1")
        .replace("500 0 1000", "125 0 1000")
        .replace("0 6 6", "0 1 6");
    let typed = read_bytes("simgrid", "", typed.as_bytes()).unwrap();
    assert_eq!(typed.coverage, trace.coverage);
    let plain = text.replace(" 6 6", "");
    let plain = read_bytes("simgrid", "", plain.as_bytes()).unwrap();
    assert_eq!(plain.coverage, trace.coverage);
    // Process 0 has no partner.
    let alone = "0 init\n0 sendrecv 10 -666 10 -666\n0 finalize\n";
    let alone = read_bytes("simgrid", "", alone.as_bytes()).unwrap();
    assert_eq!(
        alone.coverage.to_string(),
        "2 messages with nobody (ignored: MPI_PROC_NULL)"
    );
}

#[test]
fn one_file_of_a_set_is_refused_with_the_remedy() {
    let own = |process: u32| format!("{process} init\n{process} compute 5\n{process} finalize\n");
    let texts: Vec<String> = (0..3).map(own).collect();
    let all: Vec<(String, &[u8])> = (texts.iter().zip(0..))
        .map(|(text, process)| (format!("ti{process}.txt"), text.as_bytes()))
        .collect();
    for first in 0..3 {
        let mut files: Vec<(&str, &[u8])> = all
            .iter()
            .map(|(name, text)| (name.as_str(), *text))
            .collect();
        files.rotate_left(first);
        let said = refused_files("simgrid", RATE, &files);
        for part in [
            format!("all its actions are of process {first}"),
            "the names of the files of all processes".to_string(),
        ] {
            assert!(said.contains(&part), "{said:?} lacks {part:?}");
        }
    }
    // A process alone is a trace.
    read_files("simgrid", RATE, &[("ti0.txt", all[0].1)]).unwrap();
    let gap: [(&str, &[u8]); 3] = [
        ("list", b"ti0.txt\nti2.txt\n"),
        ("ti0.txt", all[0].1),
        ("ti2.txt", all[2].1),
    ];
    let said = refused_files("simgrid", RATE, &gap);
    assert!(
        said.contains("ti2.txt, line 1") && said.contains("no task 2"),
        "{said}"
    );
    let gap = [
        ("list", b"ti1.txt\nti0.txt\n".as_slice()),
        ("ti0.txt", all[0].1),
        ("ti1.txt", all[1].1),
    ];
    let said = refused_files("simgrid", RATE, &gap);
    assert!(
        said.contains("an action of process 1 in the file of process 0"),
        "{said}"
    );
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    for (from, to, parts) in [
        (
            "compute 1e3",
            "compute x",
            ["line 3", "`x` is no number", "write a number"],
        ),
        (
            "0 compute",
            "0 calculate",
            ["line 3", "`calculate` is no action", "allreduce"],
        ),
        (
            "compute 1e3",
            "compute -1e3",
            ["line 3", "`-1e3` operations", "0 or more"],
        ),
        (
            "compute 1e3",
            "sleep -1",
            ["line 3", "`-1` is no time", "0 or more"],
        ),
        (
            "send 1 7 500",
            "send 1 7 -500",
            ["line 4", "-500 elements", "0 or more"],
        ),
        (
            "irecv 0 7 500",
            "irecv 0 7 -2",
            ["line 5", "-2 elements", "0 or more"],
        ),
        (
            "send 1 7 500",
            "send -7 7 500",
            ["line 4", "no task -7 among 2", "0 to 1"],
        ),
        (
            "irecv 0 7 500",
            "irecv -7 7 500",
            ["line 5", "no task -7 among 2", "0 to 1"],
        ),
        (
            "irecv 0 7 500",
            "irecv 0 -7 500",
            ["line 5", "`-7` is no tag", "write 0"],
        ),
        (
            "send 1 7 500",
            "send 1 500",
            ["line 4", "a partner, a tag and a size", "older"],
        ),
        (
            "send 1 7 500",
            "send 2 7 500",
            ["line 4", "no task 2 among 2", "0 to 1"],
        ),
        (
            "send 1 7 500",
            "send 1 8 500",
            ["line 5", "with tag 7", "never sent"],
        ),
        (
            "send 1 7 500",
            "send 1 7 500 77",
            ["line 4", "no type `77`", "0 to 59"],
        ),
        (
            "1 allreduce 8 0 0",
            "1 barrier",
            ["line 8", "a barrier of 0 bytes here", "(line 7)"],
        ),
        (
            "1 allreduce 8 0 0",
            "1 allreduce 9 0 0",
            ["line 8", "72 bytes here", "same order"],
        ),
        (
            "1 allreduce 8 0 0\n",
            "",
            ["line 7", "task 1 has no part in this allreduce", "complete"],
        ),
        (
            "1 allreduce 8 0 0",
            "1 allreduce 8",
            ["line 8", "1 arguments", "this action has 2 to 3"],
        ),
        (
            "0 finalize",
            "0 finalize 1 2\n0 barrier",
            ["line 10", "its end already", "behind"],
        ),
        (
            "1 finalize\n",
            "",
            ["process 1 does not end", "`finalize`", "not complete"],
        ),
        (
            "1 wait 0 1 7\n",
            "1 bcast 1 9\n",
            ["line 6", "no task 9", "0 to 1"],
        ),
    ] {
        assert!(PAIR.contains(from), "{from}");
        let said = refused("simgrid", RATE, &PAIR.replacen(from, to, 1));
        for part in parts {
            assert!(
                said.contains(part),
                "{from:?} → {to:?}: {said:?} lacks {part:?}"
            );
        }
    }
    let said = refused("simgrid", "", PAIR);
    assert!(
        said.contains("line 3") && said.contains("flops_per_second = 1e9"),
        "{said}"
    );
    let said = refused("simgrid", "flops_per_second = -1.0\n", PAIR);
    assert!(said.contains("no number of operations"), "{said}");
    let said = refused("simgrid", "", "900000 init\n0 init\n");
    assert!(
        said.contains("a process 900000, and process 1 has no action"),
        "{said}"
    );
}

#[test]
fn sizes_that_do_not_agree_are_refused() {
    let text = include_str!("../../../../../tests/traces/mixed.ti");
    for (from, to, part) in [
        (
            "0 alltoallv 150 0 10",
            "0 alltoallv 150 0 11",
            "sends 11 bytes to task 1, which expects 10",
        ),
        (
            "4 gatherv 54",
            "4 gatherv 55",
            "has 55 bytes in this gatherv, and its root says 54",
        ),
        (
            "2 reducescatter 8 16",
            "2 reducescatter 9 16",
            "reduce_scatter",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let said = refused("simgrid", RATE, &text.replacen(from, to, 1));
        assert!(said.contains(part) && said.contains("line"), "{said}");
    }
}

/// On two trees, whose messages have lanes and which waits for some of them at a time, as well as
/// around a ring.
#[test]
fn an_allreduce_sends_what_that_of_a_script_sends() {
    for (count, by) in [2, 5, 16]
        .into_iter()
        .flat_map(|count| [(count, AllreduceBy::DoubleTree), (count, AllreduceBy::Ring)])
    {
        let lines = |line: &str| (0..count).map(|task| format!("{task} {line}\n")).collect();
        let text: Vec<String> = ["init", "allreduce 300000 0 0", "finalize"]
            .map(lines)
            .into();
        let trace = read_bytes("simgrid", RATE, text.concat().as_bytes()).unwrap();
        for preset in [MpiPreset::Plain, MpiPreset::Nccl] {
            let sent = |motif: Box<dyn Motif>| {
                let mut job = job(motif, count);
                job.algorithms.allreduce = by;
                job.exchange.protocol = preset.protocol();
                let run = Ideal::new(job).finish();
                let mut sent: Vec<_> = (run.messages.iter())
                    .map(|sent| (sent.at, sent.from, sent.to, sent.bytes))
                    .collect();
                sent.sort_unstable();
                (run.now, sent)
            };
            let replayed = Replay::new(trace.clone(), Algorithms::default());
            let script = once(|s: &mut Script| s.allreduce(2_400_000));
            assert_eq!(
                sent(Box::new(replayed)),
                sent(script),
                "{count} {by:?} {preset:?}"
            );
        }
    }
}
