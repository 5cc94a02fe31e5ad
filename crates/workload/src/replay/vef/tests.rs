//! Small VEF traces, valid and invalid.

use super::super::table::Flow;
use super::super::testing::{read_bytes, refused, replay};
use super::write;
use weir_model::NS;

const TRACE: &str = "VEF3 4 3 2 1 1 0\nC0 0 1 2 3\nC1 1 3\n\
    1 0 1 100 0 5 -1\n2 1 2 50 2 10 1\n3 0 2 70 1 20 1\n\
    G0 0 2 0 8 8 3 0 1\nG0 0 2 1 8 8 0 0 -1\nG0 0 2 2 8 8 2 7 2\nG0 0 2 3 8 8 0 0 -1\n\
    G1 1 0 1 600 0 2 1 1\nG1 1 0 3 0 600 0 0 -1\n";

#[test]
fn records_wait_for_what_their_tasks_send_receive_and_finish() {
    let text = TRACE.replace("G0 0 2 0 8 8 3 0 1", "G0 0 2 0 8 8 1 0 3");
    let trace = read_bytes("vef", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let at = |bytes: u64| {
        run.messages
            .iter()
            .find(|sent| sent.bytes == bytes)
            .unwrap()
            .at
    };
    assert_eq!(at(100), 5 * NS);
    let received = 5 * NS + 100 + NS;
    assert_eq!(at(50), received + 10 * NS);
    assert_eq!(at(70), 5 * NS + 100 + 20 * NS);
    assert_eq!(at(600), received + NS);
    let to = run.messages.iter().find(|sent| sent.bytes == 600).unwrap();
    assert_eq!((to.from, to.to), (1, 3));
    assert_eq!(
        trace.coverage.to_string(),
        "3 messages of 220 bytes in all, 2 collective operations, 6 parts in them of 1232 bytes in \
         all, 5 dependencies"
    );
}

#[test]
fn every_collective_operation() {
    for (op, root) in [
        (0, "0 9 9 0"),
        (1, "9 0 0 9"),
        (3, "9 0 0 9"),
        (4, "0 9 9 0"),
    ] {
        let [other_send, other_receive, root_send, root_receive] =
            [0, 1, 2, 3].map(|at| root.split(' ').nth(at).unwrap());
        let text = format!(
            "VEF3 3 0 1 1 0 0\nC0 0 1 2\nG0 0 {op} 0 {other_send} {other_receive} 0 0 -1\n\
             G0 0 {op} 1 {root_send} {root_receive} 0 0 -1\nG0 0 {op} 2 {other_send} {other_receive} 0 0 -1\n"
        );
        let trace = read_bytes("vef", "", text.as_bytes())
            .unwrap_or_else(|error| panic!("{}", error.message));
        assert!(!replay(&trace).finish().messages.is_empty());
    }
    for (op, receive) in [(2, 9), (5, 9), (6, 0), (7, 0), (7, 1)] {
        let part = |task: u32| format!("G0 0 {op} {task} 9 {receive} 0 0 -1\n");
        let text = format!(
            "VEF3 3 0 1 1 0 0\nC0 0 1 2\n{}{}{}",
            part(0),
            part(1),
            part(2)
        );
        let run = replay(&read_bytes("vef", "", text.as_bytes()).unwrap()).finish();
        if op == 7 {
            let bytes = if receive == 0 { 9 } else { 3 };
            assert!(run.messages.iter().all(|sent| sent.bytes == bytes));
        }
    }
}

/// A trace of one operation of four tasks with these sends and receives.
fn one(op: u32, sizes: [(u64, u64); 4]) -> String {
    let parts = sizes
        .iter()
        .zip(0..)
        .map(|((send, receive), task)| format!("G0 0 {op} {task} {send} {receive} 0 0 -1\n"));
    format!(
        "VEF3 4 0 1 1 0 0\nC0 0 1 2 3\n{}",
        parts.collect::<String>()
    )
}

#[test]
fn copies_may_have_different_sizes() {
    let sent = |op, sizes| {
        let trace = read_bytes("vef", "", one(op, sizes).as_bytes()).unwrap();
        let run = replay(&trace).finish();
        let all = run.messages.iter();
        let mut sent: Vec<_> = all.map(|one| (one.from, one.to, one.bytes)).collect();
        sent.sort_unstable();
        sent
    };
    let gather = [(0, 300), (100, 0), (200, 0), (300, 0)];
    assert_eq!(sent(3, gather), [(1, 0, 100), (2, 0, 200), (3, 0, 300)]);
    let scatter = [(0, 100), (0, 200), (9, 0), (0, 300)];
    assert_eq!(sent(4, scatter), [(2, 0, 100), (2, 1, 200), (2, 3, 300)]);
    // Around the ring every task sends on all but the contribution of its successor.
    let each = [100, 200, 300, 400];
    let around = sent(5, each.map(|bytes| (bytes, bytes)));
    for (from, next) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        let own = around.iter().filter(|one| (one.0, one.1) == (from, next));
        assert_eq!(
            own.map(|one| one.2).sum::<u64>(),
            1_000 - each[next as usize]
        );
    }
}

#[test]
fn a_mark_of_sends_only_is_told_of_and_a_unit_takes_time() {
    let text = "VEF3 2 1 1 0 0 1\nC0 0 1\n1 0 1 8 0 0 -1\n";
    let trace = read_bytes("vef", "", text.as_bytes()).unwrap();
    let said = trace.coverage.to_string();
    assert!(said.contains("1 marks of sends only (ignored"), "{said}");
    let said = refused("vef", "unit = \"0 ns\"\n", text);
    assert!(
        said.contains("a unit of no time / write a longer"),
        "{said}"
    );
    let said = refused("vef", "", &text.replace("8 0 0 -1", "8 0 -5 -1"));
    let expected = "line 3: `-5` is no number / write a whole number, 0 or more";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn sizes_that_do_not_agree_are_refused() {
    for (op, sizes, line, values) in [
        (
            0,
            [(64, 0), (0, 64), (0, 64), (0, 128)],
            6,
            ["3 is 128", "0 is 64 (line 3)"],
        ),
        (
            0,
            [(128, 0), (0, 64), (0, 64), (0, 64)],
            4,
            ["1 is 64", "0 is 128 (line 3)"],
        ),
        (
            1,
            [(0, 64), (64, 0), (32, 0), (64, 0)],
            5,
            ["2 is 32", "0 is 64 (line 3)"],
        ),
        (
            2,
            [(8_000, 8_000), (8, 8), (8, 8), (8, 8)],
            4,
            ["1 is 8", "0 is 8000 (line 3)"],
        ),
        (
            7,
            [(100, 0), (100, 0), (300, 0), (100, 0)],
            5,
            ["2 is 300", "0 is 100 (line 3)"],
        ),
        (
            7,
            [(400, 0), (400, 1), (400, 1), (400, 1)],
            4,
            ["1 is 1", "receive of 1 at all"],
        ),
    ] {
        let said = refused("vef", "", &one(op, sizes));
        assert!(
            said.contains(&format!("line {line}: the size of task ")),
            "{said}"
        );
        for value in values {
            assert!(said.contains(value), "{said:?} lacks {value:?}");
        }
    }
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let good = TRACE.replace("G0 0 2 0 8 8 3 0 1", "G0 0 2 0 8 8 1 0 3");
    for (from, to, parts) in [
        ("VEF3", "FEV3", ["line 1", "no header", "VEF3 tasks"]),
        ("C1 1 3\n", "", ["line 3", "communicator C1", "its tasks"]),
        ("C1 1 3", "C1 1 1", ["line 3", "one of them twice", "once"]),
        (
            "2 1 2 50",
            "1 1 2 50",
            ["line 5", "a message 1 already", "different number"],
        ),
        (
            "1 0 1 100",
            "1 0 9 100",
            ["line 4", "no task 9 among 4", "from 0 to 3"],
        ),
        (
            "50 2 10 1",
            "50 2 10 3",
            ["line 5", "task 1 receives no message 3", "its own task"],
        ),
        (
            "50 2 10 1",
            "50 1 10 1",
            ["line 5", "task 1 sends no message 1", "its own task"],
        ),
        (
            "50 2 10 1",
            "50 3 10 7",
            ["line 5", "no part in G7", "its own task"],
        ),
        (
            "50 2 10 1",
            "50 4 10 1",
            ["line 5", "`4` is no kind", "collective finished"],
        ),
        (
            "50 2 10 1",
            "50 2 10",
            ["line 5", "ends with `Dep", "nothing behind"],
        ),
        (
            "3 0 2 70 1 20 1\n",
            "",
            ["says 3 messages", "there are 2", "not complete"],
        ),
        (
            "G1 1 0 3 0 600 0 0 -1\n",
            "",
            ["line 11", "G1 has 1 parts", "each task"],
        ),
        (
            "G1 1 0 3",
            "G1 1 0 2",
            ["line 11", "task 2 is not in", "take part"],
        ),
        (
            "600 0 2 1 1",
            "600 5 2 1 1",
            ["line 11", "who the root is", "alone"],
        ),
        (
            "G1 1 0 3",
            "G1 1 1 3",
            ["line 12", "another operation on line 11", "communicator"],
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let said = refused("vef", "", &good.replacen(from, to, 1));
        for part in parts {
            assert!(said.contains(part), "{to:?}: {said:?} lacks {part:?}");
        }
    }
    let cycle = "VEF3 2 2 1 0 0 0\nC0 0 1\n1 0 1 8 2 0 2\n2 1 0 8 2 0 1\n";
    // Each waits for the other's message: no cycle within a task, but neither can begin.
    let said = refused("vef", "", cycle);
    assert!(said.contains("line 4: a deadlock: task 0 waits"), "{said}");
}

#[test]
fn flows_are_written_and_read_back() {
    let flow = |from, to, bytes, start| Flow {
        from,
        to,
        bytes,
        start,
    };
    let flows = [
        flow(0, 1, 100, 1_499),
        flow(0, 2, 7, 1_500),
        flow(2, 0, 0, 0),
        flow(1, 1, 5, 2_000),
    ];
    let read = |unit: u64| {
        let mut text = Vec::new();
        write(&flows, 4, unit, &mut text).unwrap();
        let trace = read_bytes("vef", &format!("unit = \"{unit} ps\"\n"), &text).unwrap();
        assert_eq!(trace.tasks(), 4);
        let mut run = replay(&trace);
        run.job.exchange.protocol.rendezvous_from = u64::MAX;
        let messages = run.finish().messages;
        let mut sent: Vec<_> = messages
            .iter()
            .map(|one| flow(one.from, one.to, one.bytes, one.at))
            .collect();
        sent.sort_by_key(|one| (one.from, one.start));
        sent
    };
    let mut expected = flows.to_vec();
    expected.sort_by_key(|one| (one.from, one.start));
    assert_eq!(read(1), expected);
    let starts: Vec<u64> = read(1_000).iter().map(|one| one.start).collect();
    assert_eq!(
        starts,
        [1_000, 2_000, 2_000, 0],
        "to the nearest nanosecond"
    );
}
