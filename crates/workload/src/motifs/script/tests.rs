//! Scripts of loops and expressions become programs.

use super::*;
use crate::tasks::ideal::{Ideal, job};

fn built(text: &str, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    build(
        &Section::from_toml(&format!("kind = \"script\"\n{text}")).unwrap(),
        tasks,
    )
}

fn run(text: &str, tasks: u32) -> Ideal {
    let motif = built(text, tasks).unwrap_or_else(|error| panic!("{}", error.render(false)));
    Ideal::new(job(motif, tasks)).finish()
}

#[test]
fn a_ring() {
    let text = "rounds = 3\n[[phases]]\nsend = [{ to = \"(task + 1) % tasks\", bytes = \"100 B\" }]\n\
        receive = [{ from = \"(task - 1) % tasks\" }]\n";
    let run = run(text, 5);
    assert_eq!(run.sent_by(4), [(0, 100, 0); 3]);
    assert_eq!(run.tasks[0].finished(), Some(3 * (100 + 1_000)));
}

#[test]
fn a_stencil() {
    let text = "constants = { w = 3 }\n[[phases]]\nsend = [\n\
        { to = \"task - 1\", bytes = \"8 B\", when = \"task % w > 0\" },\n\
        { to = \"task + 1\", bytes = \"8 B\", when = \"task % w < w - 1\" },\n\
        { to = \"task - w\", bytes = \"16 B\", when = \"task >= w\" },\n\
        { to = \"task + w\", bytes = \"16 B\", when = \"task + w < tasks\", tag = 0 },\n]\n\
        receive = [\n{ from = \"task - 1\", when = \"task % w > 0\" },\n\
        { from = \"task + 1\", when = \"task % w < w - 1\" },\n\
        { from = \"task - w\", when = \"task >= w\" },\n\
        { from = \"task + w\", when = \"task + w < tasks\" },\n]\n";
    let run = run(text, 9);
    assert_eq!(
        run.sent_by(4),
        [(3, 8, 0), (5, 8, 0), (1, 16, 0), (7, 16, 0)]
    );
    assert_eq!(run.sent_by(0), [(1, 8, 0), (3, 16, 0)]);
}

#[test]
fn a_pipeline() {
    let text = "[[phases]]\nwhen = \"task > 0\"\nreceive = [{ from = \"task - 1\", tag = 7 }]\n\
        [[phases]]\ncompute = \"10 ns\"\ntimes = \"task + 1\"\n\
        [[phases]]\nwhen = \"task + 1 < tasks\"\n\
        send = [{ to = \"task + 1\", bytes = \"10 B\", times = \"task + 1\", tag = \"7\" }]\n";
    let run = run(text, 3);
    assert_eq!(run.sent_by(1), [(2, 20, 7)]);
    // 10 ns, 10 bytes, the wire; 20 ns, 20 bytes, the wire; 30 ns.
    assert_eq!(run.tasks[2].finished(), Some(11_010 + 21_020 + 30_000));
}

#[test]
fn groups_have_their_own_operations() {
    // Rows of a grid of 2 × 3, then its columns.
    let text = "[[phases]]\ncollective = { kind = \"allgather\", bytes = \"100 B\", \
        first = \"task / 3 * 3\", count = 3 }\n\
        [[phases]]\nrepeat = 2\ncollective = { kind = \"bcast\", bytes = \"50 B\", \
        first = \"task % 3\", stride = 3, count = 2, root = 1 }\n";
    let run = run(text, 6);
    let sent = |task| {
        let mut to: Vec<(u32, u64)> = run
            .sent_by(task)
            .iter()
            .map(|sent| (sent.0, sent.1))
            .collect();
        to.sort_unstable();
        to
    };
    // The second of a column sends to the first, twice.
    assert_eq!(sent(4)[..2], [(1, 50), (1, 50)]);
    assert!(sent(4)[2..].iter().all(|(to, _)| (3..6).contains(to)));
    assert!(sent(1).iter().all(|(to, _)| (0..3).contains(to)));
}

#[test]
fn a_server_takes_what_comes_first() {
    let text = "[[phases]]\nwhen = \"task > 0\"\ncompute = \"1 us\"\ntimes = \"tasks - task\"\n\
        send = [{ to = 0, bytes = \"100 B\" }]\n\
        [[phases]]\nwhen = \"task == 0\"\nrepeat = \"tasks - 1\"\nreceive = [{ from = \"any\" }]\n\
        compute = \"10 ns\"\n";
    // Task 3 sends first, at 1 us, task 1 last, at 3 us; the server computes before each receive.
    let run = run(text, 4);
    assert_eq!(run.tasks[0].finished(), Some(3_000_000 + 100 + 1_000));
}

#[test]
fn rounds_that_differ_and_collectives() {
    let text = "rounds = 3\n[[phases]]\nsend = [{ to = \"xor(task, 2 ** step)\", bytes = \"8 B\" }]\n\
        receive = [{ from = \"xor(task, 2 ** step)\" }]\n\
        collective = { kind = \"bcast\", bytes = \"5 B\", root = \"step\" }\n";
    let run = run(text, 8);
    let sent: Vec<u32> = run
        .sent_by(0)
        .iter()
        .filter(|sent| sent.1 == 8)
        .map(|sent| sent.0)
        .collect();
    assert_eq!(sent, [1, 2, 4]);
}

#[test]
fn what_is_wrong_is_refused_before_it_runs() {
    for (from, to, parts) in [
        (
            "task + 1) %",
            "task + 1 %",
            [
                "phases.0.send.0.to",
                "no expression: a `)` is missing (at character 18)",
                "close the `(` of character 1",
            ],
        ),
        (
            "task - 1",
            "peer - 1",
            [
                "phases.0.receive.0.from",
                "\"peer\" is not known (at character 2)",
                "`step`",
            ],
        ),
        (
            "(task + 1) % tasks",
            "task + 1",
            ["is 4 for task 3 in round 0", "send.0.to", "from 0 to 3"],
        ),
        (
            "(task + 1) % tasks",
            "task / step",
            ["no value for task 0 in round 0", "divides by 0", "`when`"],
        ),
        (
            "task - 1",
            "task - 2",
            [
                "from task 0 to task 1 with tag 0",
                "not received in round 0",
                "every send",
            ],
        ),
        (
            "100 B",
            "4 flits",
            ["phases.0.send.0.bytes", "no", "in bytes"],
        ),
        (
            "bytes",
            "times = \"task - 1\", bytes",
            ["send.0.times", "is -1 for task 0", "from 0 to"],
        ),
        (
            "bytes",
            "tag = \"task + 65534\", bytes",
            ["send.0.tag", "is 65536 for task 2 in round 0", "65535"],
        ),
        (
            "rounds = 3",
            "rounds = 1000001",
            ["1000001 rounds are too many", "at most", ""],
        ),
        (
            "[[phases]]",
            "[[phases]]\ntimes = \"2\"",
            ["phases.0.times", "nothing to multiply", "`compute`"],
        ),
        (
            "[[phases]]",
            "[[phases]]\ncollective = { kind = \"bcast\", root = \"task\" }",
            ["phases.0.collective", "task 1 does otherwise", "same root"],
        ),
    ] {
        refused(from, to, parts);
    }
}

#[test]
fn a_constant_hides_no_number_of_the_language() {
    for name in ["task", "tasks", "step"] {
        let text = format!("constants = {{ {name} = 3 }}\n[[phases]]\ncompute = \"1 us\"\n");
        let Err(error) = built(&text, 4) else {
            panic!("{name} is taken");
        };
        let said = error.render(false);
        assert!(
            said.contains("constants") && said.contains("another name"),
            "{said}"
        );
    }
}

#[test]
fn groups_and_repetitions_that_do_not_match_are_refused() {
    for (from, to, parts) in [
        (
            "[[phases]]",
            "[[phases]]\ncollective = { kind = \"barrier\", first = 1, count = 3 }",
            [
                "phases.0.collective",
                "task 0 is not in its group",
                "every task",
            ],
        ),
        (
            "[[phases]]",
            "[[phases]]\ncollective = { kind = \"barrier\", first = \"task / 3\", count = 2 }",
            [
                "phases.0.collective",
                "task 2 is not in its group",
                "every task",
            ],
        ),
        (
            "[[phases]]",
            "[[phases]]\nrepeat = \"task + 1\"",
            ["with tag 0 is", "in round 0", "a receive for every send"],
        ),
        (
            "[[phases]]",
            "[[phases]]\nreceive = [{ from = \"any\", tag = 3 }]\n[[phases]]",
            [
                "from any task to task 0 with tag 3",
                "is received and not sent",
                "",
            ],
        ),
    ] {
        refused(from, to, parts);
    }
}

/// Checks the refusal of a ring of four tasks in which `from` is `to`.
fn refused(from: &str, to: &str, parts: [&str; 3]) {
    let ring = "rounds = 3\n[[phases]]\nsend = [{ to = \"(task + 1) % tasks\", bytes = \"100 B\" }]\n\
        receive = [{ from = \"(task - 1) % tasks\" }]\n";
    assert!(ring.contains(from));
    let text = ring.replacen(from, to, 1);
    let section = Section::from_toml(&format!("kind = \"script\"\n{text}")).unwrap();
    let error = super::super::testing::build(&section, 4)
        .map(|_| ())
        .expect_err(&text);
    let said = format!("{} / {}", error.message, error.remedy().unwrap_or_default());
    for part in parts {
        assert!(said.contains(part), "{text}: {said:?} lacks {part:?}");
    }
}
