//! Chakra execution traces.

use super::super::testing::{read_files, refused_files, replay};
use weir_model::US;

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [
        varint(field << 3 | 2),
        varint(value.len() as u64),
        value.to_vec(),
    ]
    .concat()
}

/// A node: its number, kind, those before it, duration and attributes.
fn node(id: u64, kind: u64, after: &[u64], duration: u64, more: &[(&str, u64)]) -> Vec<u8> {
    let after: Vec<u8> = after.iter().flat_map(|&id| varint(id)).collect();
    let mut node = [
        number(1, id),
        number(3, kind),
        bytes(5, &after),
        number(7, duration),
    ]
    .concat();
    for (name, value) in more {
        let attribute = [bytes(1, name.as_bytes()), number(9, *value)].concat();
        node.extend(bytes(10, &attribute));
    }
    node
}

fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let first = bytes(1, b"0.0.4");
    let messages = [&first].into_iter().chain(nodes);
    messages
        .flat_map(|message| [varint(message.len() as u64), message.clone()].concat())
        .collect()
}

/// Two NPUs: 0 computes 5 us and sends 100 bytes, then both combine 1,000 bytes.
fn pair() -> [Vec<u8>; 2] {
    let combine = |id, after| {
        node(
            id,
            7,
            &[after],
            0,
            &[("comm_type", 0), ("comm_size", 1_000), ("is_cpu_op", 0)],
        )
    };
    [
        file(&[
            node(1, 4, &[], 5, &[("is_cpu_op", 0)]),
            node(
                2,
                5,
                &[1],
                0,
                &[("comm_dst", 1), ("comm_size", 100), ("comm_tag", 4)],
            ),
            combine(3, 2),
        ]),
        file(&[
            node(
                7,
                6,
                &[],
                0,
                &[("comm_src", 0), ("comm_size", 100), ("comm_tag", 4)],
            ),
            combine(9, 7),
        ]),
    ]
}

fn named(files: &[Vec<u8>]) -> Vec<(String, &[u8])> {
    let name = |at| format!("npu.{at}.et");
    files
        .iter()
        .enumerate()
        .map(|(at, file)| (name(at), file.as_slice()))
        .collect()
}

fn refused(files: &[Vec<u8>], keys: &str) -> String {
    let named = named(files);
    let files: Vec<(&str, &[u8])> = named
        .iter()
        .map(|(name, file)| (name.as_str(), *file))
        .collect();
    refused_files("chakra", keys, &files)
}

#[test]
fn nodes_wait_for_what_they_name() {
    let [first, second] = pair();
    let files: [(&str, &[u8]); 2] = [("npu.0.et", &first), ("npu.1.et", &second)];
    let trace = read_files("chakra", "", &files).unwrap();
    assert_eq!(
        trace.coverage.to_string(),
        "1 computations of 5 us, 1 sends of 100 bytes, 3 dependencies, 1 receives of 100 bytes, 1 \
         collective operations, 2 parts in them of 2000 bytes in all"
    );
    let run = replay(&trace).finish();
    assert_eq!(run.messages[0].at, 5 * US);
    // The first message of the exchange leaves after the sent message has left.
    assert_eq!(run.messages[1].at, 5 * US + 100);
    let last = 5 * US + 100 + 1_000 + 1_000 + 1_000;
    assert_eq!(run.tasks[0].finished(), Some(last));
}

#[test]
fn an_accelerator_computes_beside_the_host() {
    let both = |host: u64| {
        file(&[
            node(1, 4, &[], 5, &[("is_cpu_op", 0)]),
            node(2, 4, &[], 7, &[("is_cpu_op", host)]),
        ])
    };
    for (host, total) in [(1, 7), (0, 12)] {
        let content = both(host);
        let trace = read_files("chakra", "", &[("npu.0.et", &content)]).unwrap();
        assert_eq!(
            replay(&trace).finish().tasks[0].finished(),
            Some(total * US)
        );
    }
}

#[test]
fn communicators_come_from_a_file_or_from_the_trace() {
    let attribute = [bytes(1, b"pg_name"), bytes(29, b"2")].concat();
    let own = |id: u64| {
        let mut own = node(
            id,
            7,
            &[],
            0,
            &[("comm_type", 0), ("comm_size", 64), ("is_cpu_op", 0)],
        );
        own.extend(bytes(10, &attribute));
        own
    };
    let files: Vec<Vec<u8>> = (0..3)
        .map(|npu| file(&if npu == 0 { vec![] } else { vec![own(5)] }))
        .collect();
    let mut named = named(&files);
    let groups = ("groups.json".to_string(), br#"{ "2": [2, 1] }"#.as_slice());
    named.push(groups);
    let all: Vec<(&str, &[u8])> = named
        .iter()
        .map(|(name, file)| (name.as_str(), *file))
        .collect();
    let trace = read_files("chakra", "groups = \"groups.json\"\n", &all).unwrap();
    let run = replay(&trace).finish();
    let pairs: Vec<(u32, u32)> = run
        .messages
        .iter()
        .map(|sent| (sent.from, sent.to))
        .collect();
    assert_eq!(pairs, [(1, 2), (2, 1)]);
    assert!(
        trace
            .coverage
            .to_string()
            .contains("1 of those on some of the tasks")
    );
    let said = refused_files("chakra", "", &all[..3]);
    assert!(
        said.contains("npu.1.et, byte") && said.contains("no communicator \"2\""),
        "{said}"
    );
    // PyTorch lists them in a node.
    let listed = bytes(
        8,
        &bytes(
            1,
            br#"['[{"pg_name": "2", "pg_desc": "x", "ranks": [1, 2]}]']"#,
        ),
    );
    let metadata = [number(1, 1), number(3, 1), listed].concat();
    let files: Vec<Vec<u8>> = (0..3)
        .map(|npu| {
            file(&if npu == 0 {
                vec![]
            } else {
                vec![metadata.clone(), own(5)]
            })
        })
        .collect();
    let named = self::named(&files);
    let all: Vec<(&str, &[u8])> = named
        .iter()
        .map(|(name, file)| (name.as_str(), *file))
        .collect();
    replay(&read_files("chakra", "", &all).unwrap()).finish();
    for (json, part) in [
        ("{ \"2\": [1, 1] }", "one of them twice"),
        ("{ \"2\": [7] }", "a task 7, and there are 1"),
        ("{", "EOF"),
    ] {
        let files = [("npu.0.et", all[0].1), ("groups.json", json.as_bytes())];
        let said = refused_files("chakra", "groups = \"groups.json\"\n", &files);
        assert!(
            said.contains(part) && said.contains("groups.json"),
            "{said}"
        );
    }
}

#[test]
fn operations_are_numbered_by_dependencies_and_ids() {
    let part = |id, after: &[u64], size| {
        let more = [("comm_type", 0), ("comm_size", size), ("is_cpu_op", 0)];
        node(id, 7, after, 0, &more)
    };
    let [first, second] = [part(0, &[], 100), part(1, &[0], 300)];
    let sent = |files: [Vec<u8>; 2]| {
        let files: [(&str, &[u8]); 2] = [("npu.0.et", &files[0]), ("npu.1.et", &files[1])];
        let run = replay(&read_files("chakra", "", &files).unwrap()).finish();
        assert!(run.tasks.iter().all(|task| task.finished().is_some()));
        run.messages
            .iter()
            .map(|sent| (sent.from, sent.bytes, sent.at))
            .collect::<Vec<_>>()
    };
    let in_order = [first.clone(), second.clone()];
    let turned = [second, first.clone()];
    let expected = sent([file(&in_order), file(&in_order)]);
    assert_eq!(sent([file(&in_order), file(&turned)]), expected);
    // Without a dependency the smaller id is first.
    let free = part(1, &[], 300);
    let expected = sent([
        file(&[first.clone(), free.clone()]),
        file(&[first.clone(), free.clone()]),
    ]);
    let turned = sent([file(&[first.clone(), free.clone()]), file(&[free, first])]);
    assert_eq!(turned.len(), expected.len());
}

#[test]
fn times_and_dimensions_that_are_not_simulated_are_told_of() {
    let operation = [
        ("comm_type", 0),
        ("comm_size", 64),
        ("is_cpu_op", 0),
        ("involved_dim", 1),
    ];
    let nodes = [
        node(1, 4, &[], 0, &[("num_ops", 9)]),
        node(2, 7, &[1], 0, &operation),
    ];
    let content = file(&nodes);
    let files: [(&str, &[u8]); 2] = [("npu.0.et", &content), ("npu.1.et", &content)];
    let said = read_files("chakra", "", &files)
        .unwrap()
        .coverage
        .to_string();
    for part in [
        "2 computations (ignored: the trace does not say how long they take)",
        "2 choices of dimensions (ignored: every collective operation uses the whole network)",
    ] {
        assert!(said.contains(part), "{said:?} lacks {part:?}");
    }
}

#[test]
fn a_file_that_is_missing_is_named() {
    let [first, second] = pair();
    let set = |numbers: &[u32]| -> Vec<(String, Vec<u8>)> {
        let file = |&npu: &u32| {
            if npu == 0 {
                first.clone()
            } else {
                second.clone()
            }
        };
        numbers
            .iter()
            .map(|npu| (format!("t.{npu}.et"), file(npu)))
            .collect()
    };
    for (numbers, parts) in [
        (
            vec![0, 1, 2, 3, 5, 6, 7],
            ["t.4.et is missing", "up to t.7.et"],
        ),
        (
            vec![3, 0, 1, 2],
            ["the file of task 3 of a set", "`t.0.et`"],
        ),
    ] {
        let set = set(&numbers);
        let files: Vec<(&str, &[u8])> = (set.iter())
            .map(|(name, file)| (name.as_str(), file.as_slice()))
            .collect();
        let said = refused_files("chakra", "", &files);
        for part in parts {
            assert!(said.contains(part), "{said:?} lacks {part:?}");
        }
    }
}

#[test]
fn messages_without_a_size_are_told_of() {
    let files = [
        file(&[node(1, 5, &[], 0, &[("comm_dst", 1)])]),
        file(&[node(1, 6, &[], 0, &[("comm_src", 0)])]),
    ];
    let files: [(&str, &[u8]); 2] = [("npu.0.et", &files[0]), ("npu.1.et", &files[1])];
    let said = read_files("chakra", "", &files)
        .unwrap()
        .coverage
        .to_string();
    let expected = "2 sizes of messages (ignored: nodes lack `comm_size`";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn what_is_wrong_is_refused_with_file_and_byte() {
    let [first, second] = pair();
    for cut in [first.len() - 1, 7, 3] {
        let said = refused(&[first[..cut].to_vec(), second.clone()], "");
        assert!(
            said.contains("npu.0.et, byte") && said.contains("not complete"),
            "{said}"
        );
    }
    let with = |node: Vec<u8>| refused(&[first.clone(), file(&[node])], "");
    for (node, parts) in [
        (
            node(1, 6, &[], 0, &[("comm_src", 9)]),
            ["npu.1.et, byte 9", "no task 9 among 2"],
        ),
        (
            node(1, 6, &[], 0, &[]),
            ["npu.1.et, byte 9", "node 1 has no `comm_src`"],
        ),
        (node(1, 11, &[], 0, &[]), ["npu.1.et, byte 9", "kind 11"]),
        (
            node(1, 7, &[], 0, &[("comm_size", 8), ("comm_type", 10)]),
            ["byte 9", "collective type 10"],
        ),
        (
            node(1, 7, &[], 0, &[("comm_size", 8), ("comm_type", 0)]),
            ["byte 9", "allreduce of 8 bytes here"],
        ),
        (
            node(1, 7, &[], 0, &[("comm_size", u64::MAX), ("comm_type", 0)]),
            ["byte 9", "node 1 has -1 bytes"],
        ),
        (
            node(1, 6, &[], 0, &[("comm_src", 0), ("comm_size", 1 << 62)]),
            ["byte 9", "too long"],
        ),
        (
            node(
                1,
                6,
                &[],
                0,
                &[("comm_src", -2i64 as u64), ("comm_size", 8)],
            ),
            ["byte 9", "no task -2 among 2"],
        ),
        (node(1, 4, &[], u64::MAX, &[]), ["byte 9", "1,000,000 s"]),
    ] {
        let said = with(node);
        for part in parts {
            assert!(said.contains(part), "{said:?} lacks {part:?}");
        }
    }
}

#[test]
fn files_that_are_no_trace_are_refused() {
    let [first, second] = pair();
    let said = refused(&[first, second], "groups = \"none.json\"\n");
    assert!(
        said.contains("none.json") && said.contains("relative to the trace"),
        "{said}"
    );
    assert!(refused(&[b"{ \"nodes\": [] }".to_vec()], "").contains("not JSON"));
    let itself = file(&[node(1, 4, &[1], 0, &[])]);
    let said = refused(&[itself], "");
    assert!(
        said.contains("npu.0.et, byte 9: this operation of task 0 waits for itself"),
        "{said}"
    );
    let twice = file(&[node(1, 4, &[], 0, &[]), node(1, 4, &[], 0, &[])]);
    assert!(refused(&[twice], "").contains("a node 1 already"));
    assert!(refused(&[vec![]], "").contains("it is empty"));
    let text = b"num_ranks 2\nrank 0 {\n".to_vec();
    assert!(refused(&[text], "").contains("npu.0.et, byte"));
}
