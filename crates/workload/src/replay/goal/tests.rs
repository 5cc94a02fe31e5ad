//! GOAL schedules.

use super::super::testing::{read_bytes, refused, replay};
use weir_model::NS;

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
    // Its second processor computes longest.
    assert_eq!(run.tasks[1].finished(), Some(300 * NS));
    assert_eq!(run.tasks[1].communicated(), Some(0));
    assert_eq!(
        trace.coverage.to_string(),
        "2 sends of 300 bytes in all, 2 receives of 300 bytes in all, 2 computations of 305 ns in \
         all, 2 dependencies on ends, 1 dependencies on starts, 1 choices of a NIC (ignored: a \
         task has one NIC)"
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
fn a_byte_order_mark_is_passed_over() {
    let text = "\u{feff}num_ranks 1\nrank 0 {\na: calc 10\n}\n";
    let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    assert_eq!(run.tasks[0].finished(), Some(10 * NS));
}

#[test]
fn a_packed_file_is_refused_with_the_name_of_its_program() {
    for (first, program) in [(&b"\x1f\x8b"[..], "gzip"), (b"PK\x03\x04", "zip")] {
        let error = read_bytes("goal", "", first).expect_err("it is packed");
        let text = error.render(false);
        assert!(text.contains(&format!("packed by {program}")), "{text}");
    }
}

#[test]
fn marks_need_no_space_around_them() {
    let spaced = "num_ranks 2\nrank 0 {\nl0: send 8000b to 1\nl1: recv 7000b from 1\n}\n\
        rank 1 {\nl0: recv 8000b from 0\nl1: send 7000b to 0\nl1 requires l0\n}\n";
    let expected = read_bytes("goal", "", spaced.as_bytes()).unwrap();
    for (from, to) in [
        (" {", "{"),
        (": ", ":"),
        (": ", " :"),
        ("000b", "000 b"),
        ("requires l0\n}", "requires l0}"),
        ("from 1\n}", "from 1}"),
        ("{\n", "{"),
    ] {
        let text = spaced.replace(from, to);
        assert_ne!(text, spaced);
        let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
        assert_eq!(trace.coverage, expected.coverage, "{text}");
        let [one, other] = [&trace, &expected].map(|trace| replay(trace).finish().messages);
        assert_eq!(one, other, "{text}");
    }
    // The place is that of the operation even if its block ends on the same line.
    let said = refused("goal", "", "num_ranks 1\nrank 0{a: send 1b to 0}\n");
    assert!(said.contains("line 2: the message from task 0"), "{said}");
}

#[test]
fn comments_at_the_head_say_what_the_schedule_lacks() {
    let head = "// coverage: 3 MPI_Allreduce of 96 bytes ignored: nobody knows\n\
        // coverage: 4 parts in scan\n// some other comment\n\
        \x20 // coverage: 2 sends of 7 bytes ignored: why not\n";
    let trace = read_bytes("goal", "", format!("{head}{CHAIN}").as_bytes()).unwrap();
    let said = trace.coverage.to_string();
    for part in [
        "4 sends of 307 bytes in all (2 ignored: why not)",
        "3 MPI_Allreduce of 96 bytes in all (ignored: nobody knows)",
        "4 parts in scan",
    ] {
        assert!(said.contains(part), "{said:?} lacks {part:?}");
    }
    let numbers = trace.coverage.numbers();
    let expected = ("MPI_Allreduce_ignored_bytes".to_string(), 96);
    assert!(numbers.contains(&expected), "{numbers:?}");
    let plain = read_bytes("goal", "", CHAIN.as_bytes()).unwrap();
    let [one, other] = [&trace, &plain].map(|trace| replay(trace).finish().messages);
    assert_eq!(one, other);
    // Elsewhere they are ordinary comments.
    let after = format!("{CHAIN}// coverage: 3 MPI_Allreduce\n");
    let trace = read_bytes("goal", "", after.as_bytes()).unwrap();
    assert_eq!(trace.coverage, plain.coverage);
}

#[test]
fn a_head_that_is_not_understood_is_refused() {
    let long = "x".repeat(300);
    for said in [
        "",
        "x",
        "3",
        "-3 sends",
        "+3 sends",
        "3 se\u{7f}nds",
        "3 sends of -1 bytes",
        "3 sends ignored:  ",
        &format!("3 {long}"),
        &format!("3 sends ignored: {long}"),
    ] {
        let text = format!("// one\n// coverage: {said}\n{CHAIN}");
        let said = refused("goal", "", &text);
        assert!(
            said.contains("line 2") && said.contains("COUNT KIND"),
            "{said}"
        );
    }
    let counted = refused(
        "goal",
        "",
        &format!("// coverage: 3 sends of 9 bytes\n{CHAIN}"),
    );
    assert!(
        counted.contains("line 1") && counted.contains("itself has"),
        "{counted}"
    );
    let many: String = (0..200)
        .map(|at| format!("// coverage: 1 kind {at}\n"))
        .collect();
    let said = refused("goal", "", &format!("{many}{CHAIN}"));
    assert!(
        said.contains("line 101") && said.contains("more than 100"),
        "{said}"
    );
}

#[test]
fn what_is_missing_at_the_end_is_told_of_at_the_last_line() {
    let text = CHAIN.replace("num_ranks 3", "num_ranks 4");
    let said = refused("goal", "", &text);
    let place = format!("line {}: there is no rank 3", text.lines().count());
    assert!(said.contains(&place), "{said}");
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
            ["line 5", "`s1` is given twice", "different label"],
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
    // Tags above 16 bits are distinguished, and errors name them as in the file.
    let text = "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 70001\nb: send 1b to 1 tag 70002\n}\n\
        rank 1 {\na: recv 1b from 0 tag 70002\nb: recv 1b from 0 tag 70001\nb requires a\n}\n";
    let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
    replay(&trace).finish();
}

#[test]
fn who_waits_is_told_with_the_tag_of_the_file() {
    for tag in [65_535u32, 65_536, 70_000, 1_000_003, u32::MAX - 1] {
        // The receive of anything takes the message that is meant for the second one.
        let text = format!(
            "num_ranks 3\nrank 0 {{\na: recv 8b from -1 tag -1\nb: recv 4b from 1 tag {tag}\n\
             b requires a\n}}\nrank 1 {{\nsend 4b to 0 tag {tag}\n}}\n\
             rank 2 {{\nc: calc 1000\na: send 8b to 0 tag 5\na requires c\n}}\n"
        );
        let trace = read_bytes("goal", "", text.as_bytes()).unwrap();
        let waiting = replay(&trace).run().tasks[0].waiting().unwrap();
        let expected = format!("task 0 waits for a message from task 1 with tag {tag}");
        assert_eq!(waiting.to_string(), expected);
    }
}

const TEXT: &str = include_str!("../../../../../tests/traces/mixed.goal");
const BINARY: &[u8] = include_bytes!("../../../../../tests/traces/mixed.goal.bin");

#[test]
fn the_binary_form_is_the_same_schedule() {
    let [text, binary] =
        [TEXT.as_bytes(), BINARY].map(|content| read_bytes("goal", "", content).unwrap());
    assert_eq!(text.coverage, binary.coverage);
    assert_eq!(text.tasks(), binary.tasks());
    for task in 0..text.tasks() {
        let (one, other) = (text.graph(task), binary.graph(task));
        assert_eq!(one.nodes, other.nodes);
        assert_eq!(one.degrees(), other.degrees());
        assert_eq!(one.tags, other.tags);
    }
    let [text, binary] = [&text, &binary].map(|trace| replay(trace).finish().messages);
    assert_eq!(text, binary);
}

#[test]
fn damage_of_the_binary_form_is_refused_with_its_byte() {
    let refuse = |content: &[u8]| {
        let error = read_bytes("goal", "", content).expect_err("damaged");
        error.message
    };
    for cut in [9, 13, 100, 210, BINARY.len() - 1] {
        let said = refuse(&BINARY[..cut]);
        assert!(said.contains("byte "), "{cut}: {said}");
    }
    // 12 ranks, then a table of 16 bytes for each from byte 14, then rank 0: 5 nodes, its first
    // ones, nodes of 39 bytes.
    let rank = 14 + 12 * 16;
    let roots = u32::from_le_bytes(BINARY[rank + 4..rank + 8].try_into().unwrap()) as usize;
    let node = rank + 8 + 4 * roots;
    for (at, value, parts) in [
        (8, 255, ["byte 8", "a table of 255 ranks"]),
        (14, 0, ["byte ", "should begin here"]),
        (15, 255, ["byte 14", "ends before it begins"]),
        (rank, 200, ["byte 206", "200 operations"]),
        (rank + 8, 9, ["byte 214", "operation 9 among 5"]),
        (node, 7, ["byte ", "waits for 7 others"]),
        (node + 4, 9, ["byte ", "no kind 9 of operations"]),
        (node + 5, 99, ["byte ", "no task 99 among 12"]),
        (node + 16, 255, ["byte ", "too long"]),
        (node + 21, 77, ["byte ", "processor 77"]),
        (node + 23, 77, ["byte ", "77 others from place 0"]),
        (node + 5 * 39, 77, ["byte 421", "operation 77 among 5"]),
    ] {
        let mut bytes = BINARY.to_vec();
        bytes[at] = value;
        let said = refuse(&bytes);
        for part in parts {
            assert!(said.contains(part), "{at}: {said:?} lacks {part:?}");
        }
    }
    let said = refuse(&[BINARY, b"more"].concat());
    assert!(said.contains("4 bytes behind the last rank"), "{said}");
}

#[test]
fn what_can_never_finish_is_refused() {
    // Both receive before they send.
    let both = "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n\
        rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n";
    let said = refused("goal", "", both);
    for part in [
        "line 3: a deadlock",
        "task 0 waits for a message from task 1 (line 3)",
        "task 1 waits for a message from task 0 (line 8)",
        "wait for each other",
    ] {
        assert!(said.contains(part), "{said:?} lacks {part:?}");
    }
    // Nonblocking, neither waits.
    let good = both.replace("b requires a", "b irequires a");
    replay(&read_bytes("goal", "", good.as_bytes()).unwrap()).finish();
    // A second round of the same tags: the first message is not the second.
    let second = "num_ranks 2\nrank 0 {\na: send 1b to 1\nb: recv 1b from 1\nb requires a\nc: recv 1b from 1\nc requires b\n\
        d: send 1b to 1\nd requires c\n}\nrank 1 {\na: send 1b to 0\nb: recv 1b from 0\nb requires a\nc: recv 1b from 0\nc requires b\n\
        d: send 1b to 0\nd requires c\n}\n";
    let said = refused("goal", "", second);
    assert!(said.contains("line 6: a deadlock"), "{said}");
    // Receives of anything can complete in some order.
    let open = both.replace("from 1", "from -1");
    read_bytes("goal", "", open.as_bytes()).unwrap();
}

#[test]
fn a_deadlock_that_another_order_would_avoid_is_left_to_the_run() {
    // One of two receives of the same messages completes at once; the file does not determine
    // which.
    let text = "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: recv 1b from 1\ns: send 1b to 1\ns requires b\n}\n\
        rank 1 {\na: send 1b to 0\nr: recv 1b from 0\nb: send 1b to 0\nb requires r\n}\n";
    read_bytes("goal", "", text.as_bytes()).unwrap();
    // If they are posted one after the other, it does.
    let text = text.replace("s: send", "b irequires a\ns: send");
    assert!(refused("goal", "", &text).contains("a deadlock"));
}
