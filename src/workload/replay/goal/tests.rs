use super::super::testing::{read_bytes, refused, replay};
use crate::model::NS;

/// A chain: 0 computes, sends to 1, which computes on a second processor meanwhile and sends on.
const CHAIN: &str = "num_ranks 3\n\
    rank 0 {\nc: calc 5\n s1: send 100b to 1 tag 7 cpu 0 nic 1\ns1 requires c\n}\n\
    rank 1 { // comment\nr: recv 100b from 0 tag 7\nc: calc 300 cpu 1 /* of\nlines */\n\
    s: send 200b to 2 tag 70000\ns requires r\ns irequires c\n}\n\
    rank 2 {\nr: recv 200b from -1 tag -1\n}\n";

#[test]
fn operations_start_when_what_they_wait_for_is_over() {
    let trace = read_bytes("goal", "", CHAIN.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    // 5 ns, 100 bytes, 1 ns of wire.
    let first = 5 * NS + 100 + NS;
    assert_eq!(run.messages[0].at, 5 * NS);
    assert_eq!(run.messages[1].at, first);
    assert_eq!(run.tasks[2].finished(), Some(first + 200 + NS));
    // Its second processor computes for longest.
    assert_eq!(run.tasks[1].finished(), Some(300 * NS));
    assert_eq!(run.tasks[1].communicated(), Some(0));
    assert_eq!(
        trace.coverage.to_string(),
        "2 sends of 300 bytes, 2 receives of 300 bytes, 2 computations, 2 dependencies on ends, 1 dependencies on \
         starts, 1 choices of a NIC (ignored: a task has one NIC)"
    );
}

#[test]
fn computation_is_scaled_and_has_a_unit() {
    let keys = "compute = \"x 0.5\"\nunit = \"1 us\"\n";
    let trace = read_bytes("goal", keys, CHAIN.as_bytes()).unwrap();
    assert_eq!(replay(&trace).finish().messages[0].at, 2_500 * NS);
}

#[test]
fn one_processor_does_one_thing_at_a_time() {
    let text = "num_ranks 1\nrank 0 {\na: calc 10\nb: calc 20\nc: calc 40 cpu 1\n}\n";
    let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
    let mut two = replay(&trace);
    two.job.repetitions = 2;
    let run = two.finish();
    assert_eq!(run.tasks[0].finished(), Some(80 * NS));
    let text = text.replace("calc 40 cpu 1", "calc 40");
    let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    assert_eq!(run.tasks[0].finished(), Some(70 * NS));
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let with = |from: &str, to: &str| {
        assert!(CHAIN.contains(from), "{from}");
        refused("goal", "", &CHAIN.replacen(from, to, 1))
    };
    for (from, to, parts) in [
        (
            "to 1 tag 7",
            "to 9999999",
            ["line 4", "no task 9999999", "from 0 to 2"],
        ),
        (
            "to 1 tag 7",
            "to 1 tag 8",
            ["line 8", "from task 0 to task 1 with tag 7", "never sent"],
        ),
        (
            "r: recv 100b from 0 tag 7",
            "r: calc 1",
            ["line 4", "with tag 7", "never received"],
        ),
        (
            "s1 requires c",
            "s1 requires c\nc requires s1",
            ["line", "waits for itself", "cycle"],
        ),
        (
            "s1 requires c",
            "s1 requires d",
            ["line 5", "no label `d`", "above"],
        ),
        (
            "s1 requires c",
            "s1: calc 5",
            ["line 5", "`s1` is there twice", "of its own"],
        ),
        (
            "100b to 1",
            "100 to 1",
            ["line 4", "`100` is no size", "100b"],
        ),
        (
            "calc 300",
            "calc -300",
            ["line 9", "`-300` is no computation", "whole number"],
        ),
        (
            "calc 300",
            "clac 300",
            ["line 9", "`clac` is no operation", "`calc`"],
        ),
        (
            "rank 2",
            "rank 3",
            ["line 15", "no task 3 among 3", "0 to 2"],
        ),
        (
            "rank 2",
            "rank 1",
            ["line 15", "rank 1 has a block", "one block"],
        ),
        (
            "num_ranks 3",
            "num_ranks 4",
            ["there is no rank 3", "not complete", "line"],
        ),
        (
            "num_ranks 3",
            "",
            ["line 2", "before `num_ranks`", "begins with"],
        ),
        ("lines */", "lines", ["comment does not end", "line", "*/"]),
        (
            "cpu 0 nic 1",
            "nic 1 cpu 0",
            ["line 4", "`cpu` is too much", "order"],
        ),
        (
            "cpu 0",
            "cpu 256",
            ["line 4", "no processor 256", "0 to 255"],
        ),
        (
            "from -1 tag -1\n}\n",
            "from -1 tag -1\n",
            ["line 15", "ends within rank 2", "not complete"],
        ),
        (
            "200b to 2",
            "200000000000000000000b to 2",
            ["line 11", "no size", "whole"],
        ),
        (
            "recv 200b from -1 tag -1",
            "calc 1",
            ["line 11", "never received", "complete"],
        ),
    ] {
        let said = with(from, to);
        for part in parts {
            assert!(
                said.contains(part),
                "{from:?} → {to:?}: {said:?} lacks {part:?}"
            );
        }
    }
    assert!(refused("goal", "sha256 = \"00\"\n", CHAIN).contains("another one now"));
}

#[test]
fn a_message_that_is_not_sent_hangs_nobody() {
    // Tags above 16 bits are told apart, and named as in the file where somebody waits.
    let text = "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 70001\nb: send 1b to 1 tag 70002\n}\n\
        rank 1 {\na: recv 1b from 0 tag 70002\nb: recv 1b from 0 tag 70001\nb requires a\n}\n";
    let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
    replay(&trace).finish();
}
