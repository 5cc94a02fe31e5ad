//! Operations equal those of a recorded run of SWM's LAMMPS.

use super::super::testing::{motif, ops, refusal, run, words};
use super::*;
use crate::tasks::ideal::{self, Ideal, job};
use crate::tasks::{Algorithms, Op};

/// The operations of a task with its allreduces as messages.
fn expanded(parameters: &str, task: Peer, tasks: u32) -> Vec<Op> {
    let mut all = Vec::new();
    for op in ops("lammps", parameters, task, tasks) {
        match op {
            Op::Collective(one) => {
                let mut step = 0;
                while one.step(&Algorithms::default(), task, step, &mut all) {
                    step += 1;
                }
            }
            other => all.push(other),
        }
    }
    all
}

/// The recorded operations of a task of SWM's motif as CODES ran it: 512 tasks, two steps.
fn recorded(task: &str) -> Vec<String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/reference/lammps512_ops_2tasks.csv"
    );
    let text = std::fs::read_to_string(path).expect(path);
    let rows = text.lines().skip(1).filter_map(|row| {
        let columns: Vec<&str> = row.split(',').collect();
        let &[who, _, _, operation, peer, tag, size] = columns.as_slice() else {
            panic!("{row}");
        };
        if who != task {
            return None;
        }
        let tag = if tag == "1235" { "collective" } else { "0" };
        match operation {
            "IRECV" => Some(format!("Irecv {peer}")),
            "SEND" => Some(format!("Send {peer} {size} {tag}")),
            "ISEND" => Some(format!("Isend {peer} {size} {tag}")),
            "WAIT posted" => Some("Wait".to_string()),
            "WAITALL posted" => Some("Waitall".to_string()),
            // A wait that ended at once has no row, and computation is a parameter here.
            "WAITALL completed" | "WAIT completed" | "DELAY" => None,
            other => panic!("{other}"),
        }
    });
    rows.collect()
}

fn ours(task: Peer) -> Vec<String> {
    let all = expanded("steps = 2", task, 512);
    let tag = |tag: u32| if tag == 0 { "0" } else { "collective" };
    let words = all.iter().map(|op| match *op {
        Op::Irecv {
            from: Some(from), ..
        } => format!("Irecv {from}"),
        Op::Send { to, bytes, tag: of } => format!("Send {to} {bytes} {}", tag(of)),
        Op::Isend {
            to, bytes, tag: of, ..
        } => format!("Isend {to} {bytes} {}", tag(of)),
        Op::WaitAll(labels) if labels.count() == 1 => "Wait".to_string(),
        Op::WaitAll(_) => "Waitall".to_string(),
        other => panic!("{other:?}"),
    });
    words.collect()
}

#[test]
fn every_operation_is_that_of_the_recorded_run() {
    for (task, rows) in [("0", 1_400), ("137", 1_400)] {
        let (ours, recorded) = (ours(task.parse().unwrap()), recorded(task));
        assert!(recorded.len() > rows, "{}", recorded.len());
        for (at, (ours, recorded)) in ours.iter().zip(&recorded).enumerate() {
            assert_eq!(ours, recorded, "operation {at} of task {task}");
        }
        assert_eq!(ours.len(), recorded.len(), "task {task}");
    }
}

#[test]
fn tasks_stand_where_they_are_published_to() {
    let grid = |tasks| Boxes::new(&LammpsParams::default(), tasks).tasks;
    assert_eq!(grid(512), [8, 8, 8]);
    assert_eq!(grid(1_024), [8, 16, 8]);
    assert_eq!(grid(2_048), [8, 16, 16]);
}

#[test]
fn ghosts_have_the_published_sizes() {
    let sizes = |tasks| {
        let boxes = Boxes::new(&LammpsParams::default(), tasks);
        let sizes: Vec<u64> = boxes.ghosts(0).iter().map(|shift| shift.bytes).collect();
        assert!(sizes.chunks(2).all(|both| both[0] == both[1]));
        [sizes[0], sizes[2], sizes[4]]
    };
    assert_eq!(sizes(2_048), [5_878, 18_170, 51_219]);
    assert_eq!(sizes(1_024), [11_755, 36_341, 51_219]);
    assert_eq!(sizes(512), [23_513, 36_341, 70_457]);
    let boxes = Boxes::new(&LammpsParams::default(), 2_048);
    let borders: Vec<u64> = boxes.borders(0).iter().map(|shift| shift.bytes).collect();
    assert_eq!(borders, [15_673, 15_673, 48_453, 48_453, 136_581, 136_581]);
}

#[test]
fn the_halo_of_the_mesh_has_the_published_sizes() {
    let boxes = Boxes::new(&LammpsParams::default(), 2_048);
    let mesh = Mesh::new(&boxes, [72, 96, 90]);
    let before: Vec<u64> = mesh
        .before(&boxes, 0)
        .iter()
        .map(|shift| shift.bytes)
        .collect();
    assert_eq!(before, [2_464, 4_928, 1_120, 1_680, 480, 720]);
}

#[test]
fn transposes_have_the_published_peers_and_volumes() {
    for (tasks, boxes, peers, volumes) in [
        (
            2_048,
            [8, 16, 16],
            [7, 31, 63, 63, 31, 63, 15],
            [1_944, 3_360, 3_040, 2_848, 3_360, 3_040, 2_720],
        ),
        (
            1_024,
            [8, 16, 8],
            [7, 31, 31, 31, 31, 31, 7],
            [4_320, 6_720, 5_952, 8_448, 6_720, 5_952, 7_584],
        ),
    ] {
        let transposes = Transposes::new([72, 96, 90], tasks, boxes);
        for number in 0..13 {
            // The last three are three times the same.
            let known = if number < 7 {
                number
            } else {
                4 + (number - 4) % 3
            };
            let (_, to) = transposes.partners(number as u32, 0);
            assert_eq!(to.len(), peers[known], "{tasks} tasks, transpose {number}");
            let volume: u64 = to.iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(volume, volumes[known], "{tasks} tasks, transpose {number}");
        }
    }
}

#[test]
fn whoever_sends_in_a_transpose_is_received() {
    for (tasks, boxes) in [(12, [2, 3, 2]), (30, [2, 3, 5]), (128, [4, 8, 4])] {
        let transposes = Transposes::new([12, 16, 15], tasks, boxes);
        for number in 0..13 {
            let mut sent = Vec::new();
            let mut received = Vec::new();
            for task in 0..tasks {
                let (from, to) = transposes.partners(number, task);
                sent.extend(to.into_iter().map(|(peer, _)| (task, peer)));
                received.extend(from.into_iter().map(|peer| (peer, task)));
            }
            sent.sort_unstable();
            received.sort_unstable();
            assert_eq!(sent, received, "{tasks} tasks, transpose {number}");
        }
    }
}

#[test]
fn owners_change_in_steps_10_and_20() {
    let steps = neighbours(30);
    let changes: Vec<usize> = (0..30)
        .filter(|&s| steps[s] == Neighbours::Change)
        .collect();
    assert_eq!(changes, [10, 20]);
    assert!(steps[..5].iter().all(|&step| step == Neighbours::Keep));
    assert_eq!(steps[5], Neighbours::Ask);
}

#[test]
fn a_whole_run_of_2048_tasks() {
    // Published: 15.8 thousand messages of a task (an allreduce counting as one; of task 0), 17.2
    // MB and 175 allreduces.
    let motif = motif("lammps", "", 2_048);
    let tasks: Vec<Peer> = (0..2_048).step_by(37).collect();
    let (mut messages, mut bytes) = (0, 0);
    for &task in &tasks {
        let all = ideal::ops(motif.as_ref(), task, 2_048);
        let (mut allreduces, before) = (0, messages);
        for op in all {
            match op {
                Op::Send { bytes: size, .. } | Op::Isend { bytes: size, .. } => {
                    messages += 1;
                    bytes += size;
                }
                Op::Collective(one) => {
                    allreduces += 1;
                    messages += 1;
                    bytes += 11 * one.bytes;
                }
                _ => {}
            }
        }
        assert_eq!(allreduces, 175);
        if task == 0 {
            assert_eq!(messages - before, 15_841);
        }
    }
    let messages = f64::from(messages) / tasks.len() as f64;
    let megabytes = bytes as f64 / tasks.len() as f64 / 1e6;
    assert!((15_800.0..16_000.0).contains(&messages), "{messages}");
    assert!((17.15..17.35).contains(&megabytes), "{megabytes}");
}

#[test]
fn a_change_of_owners() {
    let words = words(&ops("lammps", "", 0, 2_048));
    let changed = words
        .iter()
        .position(|word| word.ends_with("=15673"))
        .unwrap();
    // Before the first border: its 4 bytes, and the moves of three dimensions.
    let before = &words[changed - 4 - 3 * 12..changed];
    let moves = |up: u32, down: u32, bytes: u64| {
        let exchange = |to: u32, from: u32, bytes: u64| {
            [
                format!("Irecv<{from}"),
                format!("Send>{to}={bytes}"),
                "Wait*1".to_string(),
            ]
        };
        [
            exchange(up, down, 4),
            exchange(down, up, 4),
            exchange(down, up, bytes),
            exchange(up, down, bytes),
        ]
        .concat()
    };
    let expected = [
        moves(256, 1_792, 197),
        moves(16, 240, 281),
        moves(1, 15, 298),
    ]
    .concat();
    assert_eq!(before[..36], expected);
    assert_eq!(before[36..39], ["Irecv<1792", "Send>256=4", "Wait*1"]);
}

#[test]
fn all_tasks_finish_also_on_grids_of_one() {
    for tasks in [1, 2, 6, 27, 100] {
        run("lammps", "steps = 12\nmesh = [12, 16, 15]", tasks);
    }
    let mut job = job(
        motif(
            "lammps",
            "steps = 2\nblocking_fft = true\ncompute = \"1 us\"",
            64,
        ),
        64,
    );
    job.exchange.protocol = crate::tasks::MpiPreset::Codes.protocol();
    let run = Ideal::new(job).finish();
    assert!(
        run.tasks
            .iter()
            .all(|task| task.finished() > Some(2_000_000))
    );
}

#[test]
fn boxes_that_cannot_be_are_refused() {
    assert!(refusal("lammps", "mesh = [72, 0, 90]", 8).contains("from 1 to 65536"));
    assert!(refusal("lammps", "cutoff = -1.0", 8).contains("cutoff"));
    assert!(refusal("lammps", "cutoff = 99999.0", 8).contains("shorter"));
}
