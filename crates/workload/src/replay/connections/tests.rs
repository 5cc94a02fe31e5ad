//! Connection matrices, and what is wrong with them.

use super::super::testing::{read_bytes, refused, replay};
use weir_model::NS;

const MATRIX: &str = "Nodes 4\nConnections 3\n0->1 id 1 start 500 size 100 recv_done_trigger 7\n\
    1->2 trigger 7 size 200 prio 3\n3->2 start 0 size 300\ntrigger id 7 oneshot\n";

#[test]
fn connections_start_at_their_times_and_by_triggers() {
    let trace = read_bytes("connections", "", MATRIX.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let mut sent: Vec<_> = run
        .messages
        .iter()
        .map(|sent| (sent.from, sent.at))
        .collect();
    sent.sort_unstable();
    assert_eq!(sent, [(0, 500), (1, 500 + 100 + NS), (3, 0)]);
    assert_eq!(
        trace.coverage.to_string(),
        "1 priorities (ignored: messages have none), 3 messages of 600 bytes in all, 1 triggers"
    );
}

#[test]
fn spellings_of_other_versions_are_read() {
    let sent = |text: &str| {
        let trace = read_bytes("connections", "", text.as_bytes()).unwrap();
        let run = replay(&trace).finish();
        let mut sent: Vec<_> = run
            .messages
            .iter()
            .map(|sent| (sent.at, sent.bytes))
            .collect();
        sent.sort_unstable();
        sent
    };
    // The number of a message may be left out.
    let numbered = "Nodes 2\nConnections 2\nTriggers 0\n0->1 id 1 msg 1 start 5 size 40\n\
        0->1 id 1 msg 2 start 5 size 40\n";
    assert_eq!(sent(numbered), [(5, 40), (5, 40)]);
    let plain = numbered.replace("msg 1", "msg").replace("msg 2", "msg");
    assert_eq!(sent(&plain), [(5, 40), (5, 40)]);
    let decimal = |start: &str| sent(&format!("Nodes 2\n0->1 start {start} size 40\n"));
    assert_eq!(decimal("1500.75"), [(1_501, 40)]);
    assert_eq!(decimal("1500.25"), [(1_500, 40)]);
    assert_eq!(decimal("1.5e3"), [(1_500, 40)]);
    // One event and one message: it does not matter that the trigger may fire again.
    let again = MATRIX.replace("oneshot", "multishot");
    assert_eq!(sent(&again), sent(MATRIX));
}

#[test]
fn a_receive_fires_its_trigger_when_its_own_message_is_there() {
    // The second line's message leaves first, and takes 1 ns and 1 ps a byte.
    let text = "Nodes 3\n0->1 start 50000 size 100 recv_done_trigger 7\n0->1 start 0 size 300\n\
        1->2 trigger 7 size 200\ntrigger id 7 oneshot\n";
    let trace = read_bytes("connections", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let last = run.messages.iter().find(|sent| sent.from == 1).unwrap();
    assert_eq!(last.at, 50_000 + 100 + NS);
}

#[test]
fn a_barrier_of_several_messages_starts_several() {
    let text = "Nodes 2\n0->1 start 0 size 100 send_done_trigger 7\n\
        0->1 start 0 size 300 send_done_trigger 7\n0->1 trigger 7 size 10\n\
        0->1 trigger 7 size 20\ntrigger id 7 barrier count 2\ntrigger id 8 oneshot\n";
    let trace = read_bytes("connections", "", text.as_bytes()).unwrap();
    let run = replay(&trace).finish();
    let later: Vec<_> = run
        .messages
        .iter()
        .filter(|sent| sent.bytes < 100)
        .collect();
    let both = run
        .messages
        .iter()
        .map(|sent| sent.bytes)
        .filter(|&bytes| bytes >= 100);
    // Both have left when the longer one has, or the second of them behind the first.
    let left = [300, both.sum()];
    assert!(
        later.iter().all(|sent| left.contains(&sent.at)),
        "{:?}",
        later[0].at
    );
    assert_eq!(later[0].at, later[1].at);
    assert_eq!(
        trace.coverage.to_string(),
        "4 messages of 430 bytes in all, 2 triggers (1 ignored: they start no message)"
    );
}

/// The matrix with one change is refused with these words.
fn assert_refused(from: &str, to: &str, parts: &[&str]) {
    assert!(MATRIX.contains(from));
    let said = refused("connections", "", &MATRIX.replacen(from, to, 1));
    for part in parts {
        assert!(said.contains(part), "{to:?}: {said:?} lacks {part:?}");
    }
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    for (from, to, parts) in [
        ("0->1", "0->9", ["line 3", "no task 9", "from 0 to 3"]),
        ("0->1", "0=>1", ["line 3", "no statement", "src->dst"]),
        (
            "Connections 3",
            "Connections 4",
            ["Connections 4", "there are 3", "not complete"],
        ),
        (
            "Nodes 4\n",
            "",
            ["line 2", "before the number of nodes", "`Nodes N`"],
        ),
        (
            "Nodes 4",
            "Nodes 100000",
            ["line 1", "`Nodes 100000` with 3 connections", "1 to 65584"],
        ),
    ] {
        assert_refused(from, to, &parts);
    }
}

#[test]
fn numbers_and_keys_that_do_not_fit_are_refused_with_their_line() {
    for (from, to, parts) in [
        (
            "start 0",
            "start 0 start 500",
            ["line 5", "`start` is written twice", "once"],
        ),
        (
            "start 0",
            "start 0 trigger 7",
            ["line 5", "`start` and with `trigger`", "one of them"],
        ),
        (
            "start 0",
            "start 0 send_done_trigger 9",
            ["line 5", "no trigger 9", "`trigger id 9 oneshot`"],
        ),
        (
            "trigger id",
            "Nodes 2\ntrigger id",
            ["line 6", "number 4 was given before", "once"],
        ),
        ("size 300", "", ["line 5", "never ends", "`size`"]),
        (
            "start 0 ",
            "",
            ["line 5", "when the connection starts", "`trigger N`"],
        ),
        (
            "Nodes 4",
            "Nodes 4\nTriggers 2",
            ["`Triggers 2`, and there are 1", "not complete", ""],
        ),
        (
            "Nodes 4",
            "Nodes 4\nFailures 1",
            ["line 2", "failures of links", "`Failures 0`"],
        ),
        (
            "start 500",
            "start -500",
            ["line 3", "`start`: `-500` is no time", "0 or more"],
        ),
        (
            "size 100",
            "size -100",
            ["line 3", "`size`: `-100` is no number", "whole number"],
        ),
        (
            "start 500",
            "msg starts 500",
            ["line 3", "`starts` is not known", "`msg`"],
        ),
        (
            "prio 3",
            "color 3",
            ["line 4", "`color` is not known", "`prio`"],
        ),
        (
            "prio 3",
            "prio",
            ["line 4", "`prio` has no value", "write it"],
        ),
    ] {
        assert_refused(from, to, &parts);
    }
}

#[test]
fn triggers_that_say_nothing_sensible_are_refused() {
    for (from, to, parts) in [
        (
            "trigger 7 size",
            "trigger 8 size",
            ["line 4", "no trigger 8", "oneshot"],
        ),
        (
            "recv_done",
            "send_done",
            ["line 4", "fired by task 0", "recv_done_trigger"],
        ),
        (
            "oneshot",
            "barrier count 2",
            ["line 4", "2 events, and there are 1", "barrier counts"],
        ),
        (
            "oneshot",
            "bishot",
            ["line 6", "`bishot` is not known", "barrier count"],
        ),
        (
            "oneshot",
            "barrier count 0",
            ["line 6", "0 events fires before any", "from 1 on"],
        ),
        (
            "oneshot",
            "oneshot\ntrigger id 7 barrier count 2",
            ["line 7", "trigger 7 has been described", "its own number"],
        ),
    ] {
        assert_refused(from, to, &parts);
    }
    let circle = "Nodes 4\n0->1 trigger 1 size 640 recv_done_trigger 2\n\
        1->0 trigger 2 size 640 recv_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n";
    let said = refused("connections", "", circle);
    assert!(
        said.contains("line 3: a deadlock: task 0 waits for a message from task 1"),
        "{said}"
    );
    let own = circle
        .replace("1->0", "0->2")
        .replace("recv_done", "send_done");
    let said = refused("connections", "", &own);
    assert!(said.contains("line 2") || said.contains("line 3"), "{said}");
    assert!(said.contains("waits for itself"), "{said}");
    let two = MATRIX.replace("start 0 size", "trigger 7 size");
    let said = refused("connections", "", &two.replace("oneshot", "multishot"));
    for part in [
        "line 4",
        "one of 2 messages at each of 1 events",
        "`oneshot`",
    ] {
        assert!(said.contains(part), "{said:?} lacks {part:?}");
    }
}
