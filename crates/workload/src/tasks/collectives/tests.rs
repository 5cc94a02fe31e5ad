//! Every algorithm brings all data to its place, with the textbook's volume.

use std::collections::HashMap;

use super::super::ideal::{Ideal, job, once};
use super::super::{Group, MpiPreset, Script};
use super::*;

const SIZES: [u32; 11] = [2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 33];

/// Runs a collective operation; returns for each task the bytes that it sent in each message.
fn run(kind: Kind, algorithms: Algorithms, count: u32, root: u32, bytes: u64) -> Ideal {
    // Among other tasks, at a distance from each other.
    let group = Group {
        first: 2,
        stride: 3,
        count,
    };
    let motif = once(move |s: &mut Script| s.collective(kind, group, root, bytes));
    let mut job = job(motif, 3 * count + 4);
    job.algorithms = algorithms;
    Ideal::new(job).finish()
}

/// Follows the data through the steps. Returns for each task the set of tasks whose data it has
/// after all steps, if every message carries all data of its sender.
fn knowledge(run: &Ideal, count: u32) -> Vec<u64> {
    // Messages are recorded when they are handed over; a task hands a message over after what it
    // received before.
    let mut knows: Vec<u64> = (0..count).map(|task| 1 << task).collect();
    let mut arrivals: Vec<(u64, u32, u64)> = Vec::new();
    let place = |task: u32| (task - 2) / 3;
    let mut messages = run.messages.clone();
    messages.sort_by_key(|sent| sent.at);
    for sent in &messages {
        let due = |(at, _, _): &(u64, u32, u64)| *at <= sent.at;
        for (_, to, what) in arrivals.extract_if(.., |one| due(one)) {
            knows[to as usize] |= what;
        }
        let what = knows[place(sent.from) as usize];
        arrivals.push((sent.at + sent.bytes + run.latency, place(sent.to), what));
    }
    for (_, to, what) in arrivals {
        knows[to as usize] |= what;
    }
    knows
}

fn everything(count: u32) -> u64 {
    (1 << count) - 1
}

#[test]
fn everybody_hears_of_everybody() {
    let base = Algorithms::default();
    let allreduce = |by| {
        let way = Algorithms {
            allreduce: by,
            ..base
        };
        (Kind::Allreduce, way)
    };
    let ways: Vec<(Kind, Algorithms)> = vec![
        (Kind::Barrier, base),
        (
            Kind::Barrier,
            Algorithms {
                barrier: BarrierBy::Tree,
                ..base
            },
        ),
        allreduce(AllreduceBy::RecursiveDoubling),
        allreduce(AllreduceBy::Rabenseifner),
        (Kind::Allreduce, Algorithms::NCCL),
        allreduce(AllreduceBy::Tree),
        allreduce(AllreduceBy::DoubleTree),
        (
            Kind::Allgather,
            Algorithms {
                allgather: AllgatherBy::RecursiveDoubling,
                ..base
            },
        ),
        (
            Kind::Allgather,
            Algorithms {
                allgather: AllgatherBy::Bruck,
                ..base
            },
        ),
        (
            Kind::Allgather,
            Algorithms {
                allgather: AllgatherBy::Ring,
                ..base
            },
        ),
        (
            Kind::ReduceScatter,
            Algorithms {
                reduce_scatter: ReduceScatterBy::RecursiveHalving,
                ..base
            },
        ),
        (Kind::ReduceScatter, Algorithms::NCCL),
        (
            Kind::ReduceScatter,
            Algorithms {
                reduce_scatter: ReduceScatterBy::Pairwise,
                ..base
            },
        ),
        (
            Kind::Alltoall,
            Algorithms {
                alltoall: AlltoallBy::Bruck,
                ..base
            },
        ),
        (
            Kind::Alltoall,
            Algorithms {
                alltoall: AlltoallBy::Pairwise,
                ..base
            },
        ),
        (
            Kind::Alltoall,
            Algorithms {
                alltoall: AlltoallBy::Ring,
                ..base
            },
        ),
        (
            Kind::Alltoall,
            Algorithms {
                alltoall: AlltoallBy::Linear,
                ..base
            },
        ),
    ];
    for count in SIZES {
        for &(kind, algorithms) in &ways {
            let run = run(kind, algorithms, count, 0, 24);
            let knows = knowledge(&run, count);
            assert_eq!(
                knows,
                vec![everything(count); count as usize],
                "{kind:?} {algorithms:?} {count}"
            );
        }
    }
}

#[test]
fn roots_reach_all_and_all_reach_roots() {
    let base = Algorithms::default();
    let down = [
        (
            Kind::Bcast,
            Algorithms {
                bcast: BcastBy::Binomial,
                ..base
            },
        ),
        (
            Kind::Bcast,
            Algorithms {
                bcast: BcastBy::ScatterAllgather,
                ..base
            },
        ),
        (
            Kind::Bcast,
            Algorithms {
                bcast: BcastBy::Tree,
                ..base
            },
        ),
        (Kind::Scatter, base),
        (
            Kind::Scatter,
            Algorithms {
                scatter: GatherBy::Linear,
                ..base
            },
        ),
    ];
    let up = [
        (Kind::Reduce, base),
        (
            Kind::Reduce,
            Algorithms {
                reduce: RootedBy::Tree,
                ..base
            },
        ),
        (Kind::Gather, base),
        (
            Kind::Gather,
            Algorithms {
                gather: GatherBy::Linear,
                ..base
            },
        ),
    ];
    for count in SIZES {
        for root in [0, 1, count - 1] {
            for &(kind, algorithms) in &down {
                let knows = knowledge(&run(kind, algorithms, count, root, 40), count);
                let all = knows.iter().all(|knows| knows & (1 << root) != 0);
                assert!(
                    all,
                    "{kind:?} {algorithms:?} {count} from {root}: {knows:?}"
                );
            }
            for &(kind, algorithms) in &up {
                let knows = knowledge(&run(kind, algorithms, count, root, 40), count);
                assert_eq!(
                    knows[root as usize],
                    everything(count),
                    "{kind:?} {algorithms:?} {count} to {root}"
                );
            }
        }
    }
}

/// Bytes that each task sends in all.
fn volumes(run: &Ideal, count: u32) -> Vec<u64> {
    let mut sent: HashMap<u32, u64> = HashMap::new();
    for message in &run.messages {
        *sent.entry(message.from).or_default() += message.bytes;
    }
    (0..count)
        .map(|place| sent.get(&(2 + 3 * place)).copied().unwrap_or(0))
        .collect()
}

#[test]
fn rings_send_each_part_once_around() {
    for count in [2, 8, 11] {
        let sent = |kind, bytes| volumes(&run(kind, Algorithms::NCCL, count, 0, bytes), count);
        let once = vec![u64::from(count - 1) * 100; count as usize];
        assert_eq!(sent(Kind::ReduceScatter, 100), once);
        assert_eq!(sent(Kind::Allgather, 100), once);
        let twice: Vec<u64> = once.iter().map(|bytes| 2 * bytes).collect();
        assert_eq!(sent(Kind::Allreduce, 100 * u64::from(count)), twice);
    }
}

#[test]
fn volumes_are_those_of_the_textbooks() {
    let base = Algorithms::default();
    let bytes = 4_200; // below the rendezvous threshold
    let volume =
        |kind, algorithms, count, root| volumes(&run(kind, algorithms, count, root, bytes), count);
    let n = 8;
    let doubling = Algorithms {
        allreduce: AllreduceBy::RecursiveDoubling,
        ..base
    };
    assert_eq!(volume(Kind::Allreduce, doubling, n, 0), vec![3 * bytes; 8]);
    // Twice (n-1)/n of the data.
    let raben = Algorithms {
        allreduce: AllreduceBy::Rabenseifner,
        ..base
    };
    assert_eq!(
        volume(Kind::Allreduce, raben, n, 0),
        vec![2 * 7 * bytes / 8; 8]
    );
    let ring = Algorithms {
        allreduce: AllreduceBy::Ring,
        ..base
    };
    assert_eq!(
        volume(Kind::Allreduce, ring, n, 0),
        vec![2 * 7 * bytes / 8; 8]
    );
    assert_eq!(
        volume(Kind::Allreduce, ring, 7, 0),
        vec![2 * 6 * bytes / 7; 7]
    );
    // Each task sends every other its part, or all that others need of it in fewer messages.
    for by in [AlltoallBy::Pairwise, AlltoallBy::Ring, AlltoallBy::Linear] {
        let way = Algorithms {
            alltoall: by,
            ..base
        };
        assert_eq!(volume(Kind::Alltoall, way, 11, 0), vec![10 * bytes; 11]);
    }
    let small = Algorithms {
        alltoall: AlltoallBy::Bruck,
        ..base
    };
    let few = volumes(&run(Kind::Alltoall, small, 8, 0, 100), 8);
    assert_eq!(few, vec![3 * 4 * 100; 8]);
    // The numbers in 0..11 with bit 0, 1, 2, 3 set: 5, 5, 4, 3.
    let few = volumes(&run(Kind::Alltoall, small, 11, 0, 100), 11);
    assert_eq!(few, vec![17 * 100; 11]);
    for by in [AllgatherBy::Ring, AllgatherBy::Bruck] {
        let way = Algorithms {
            allgather: by,
            ..base
        };
        let sent = volumes(&run(Kind::Allgather, way, 11, 0, 100), 11);
        assert_eq!(sent, vec![10 * 100; 11], "{by:?}");
    }
    let halving = Algorithms {
        reduce_scatter: ReduceScatterBy::RecursiveHalving,
        ..base
    };
    let sent = volumes(&run(Kind::ReduceScatter, halving, 8, 0, 100), 8);
    assert_eq!(sent, vec![7 * 100; 8]);
    // 11 = 8 + 3: tasks 0, 2, 4 hand over 11 blocks and get theirs back from 1, 3, 5.
    let sent = volumes(&run(Kind::ReduceScatter, halving, 11, 0, 100), 11);
    assert_eq!([sent[0], sent[2], sent[4]], [1_100; 3]);
    // Task 1 represents two blocks: it gives away the 9 others, and task 0 its block.
    assert_eq!(sent[1], 900 + 100);
    assert_eq!(sent[10], 1_000);
    // A tree sends all data once to each task.
    for way in [
        base,
        Algorithms {
            bcast: BcastBy::Tree,
            ..base
        },
    ] {
        assert_eq!(
            volume(Kind::Bcast, way, 13, 4).iter().sum::<u64>(),
            12 * bytes
        );
    }
    let sent = volumes(&run(Kind::Scatter, base, 8, 0, 100), 8);
    assert_eq!(sent, [700, 0, 100, 0, 300, 0, 100, 0]);
    let sent = volumes(&run(Kind::Gather, base, 8, 0, 100), 8);
    assert_eq!(sent, [0, 100, 200, 100, 400, 100, 200, 100]);
    let long = Algorithms {
        bcast: BcastBy::ScatterAllgather,
        ..base
    };
    let sent = volumes(&run(Kind::Bcast, long, 8, 0, 800), 8);
    assert_eq!(sent.iter().sum::<u64>(), 12 * 100 + 8 * 7 * 100);
}

#[test]
fn the_choice_by_size_is_that_of_codes() {
    let auto = AllreduceBy::Auto;
    assert_eq!(auto.choose(2_048, 512), AllreduceBy::RecursiveDoubling);
    assert_eq!(auto.choose(2_049, 512), AllreduceBy::Rabenseifner);
    assert_eq!(auto.choose(4_000, 8_000), AllreduceBy::RecursiveDoubling);
    assert_eq!(auto.choose(4_096, 8_000), AllreduceBy::Rabenseifner);
}

/// An allreduce on two trees, without a rendezvous.
fn on_two_trees(count: u32, bytes: u64) -> Ideal {
    let mut job = job(once(move |s: &mut Script| s.allreduce(bytes)), count);
    job.algorithms.allreduce = AllreduceBy::DoubleTree;
    job.exchange.protocol = MpiPreset::Nccl.protocol();
    Ideal::new(job).finish()
}

/// The most that a task sends.
fn most_sent(run: &Ideal, count: u32) -> u64 {
    let sent = |task| run.sent_by(task).iter().map(|sent| sent.1).sum::<u64>();
    (0..count).map(sent).max().expect("tasks")
}

#[test]
fn two_trees_share_the_work() {
    let bytes = 3_000_001;
    for count in SIZES {
        let run = on_two_trees(count, bytes);
        // Each link of a tree carries half of the data up and down.
        let all = run.messages.iter().map(|sent| sent.bytes).sum::<u64>();
        assert_eq!(all, 2 * u64::from(count - 1) * bytes, "{count}");
        // Up and to two children in one tree, up in the other.
        assert!(most_sent(&run, count) <= 2 * bytes + 2, "{count}");
    }
    // One chunk for each of two tasks in both directions, there and back.
    let short = on_two_trees(2, 1_000);
    assert_eq!(short.now, 2 * (500 * short.per_byte + short.latency));
}

/// A chunk follows the other: with many of them the busiest task sends most of the time, however
/// deep the trees are.
#[test]
fn chunks_of_two_trees_follow_each_other() {
    for count in [2, 4, 8, 16, 33] {
        let run = on_two_trees(count, 64 << 20);
        let least = most_sent(&run, count) * run.per_byte;
        assert!(run.now >= least, "{count}");
        assert!(run.now < least + least / 16, "{count}: {} {least}", run.now);
    }
}

/// Long messages wait for their receivers, who wait for others: that ends nevertheless.
#[test]
fn two_trees_end_with_a_rendezvous() {
    let way = Algorithms {
        allreduce: AllreduceBy::DoubleTree,
        ..Algorithms::default()
    };
    for count in SIZES {
        let run = run(Kind::Allreduce, way, count, 0, 20 << 20);
        assert!(
            run.tasks.iter().all(|task| task.finished().is_some()),
            "{count}"
        );
    }
}

/// By hand from its table: (16 tasks, 1 MiB) takes 175, 175 and 471 us around the ring by its
/// protocols and 138, 131 and 168 us by the trees.
#[test]
fn the_choice_of_nccl_is_by_bytes_and_tasks() {
    let choose = |bytes, tasks| AllreduceBy::Nccl.choose(bytes, tasks);
    for (bytes, tasks) in [(8, 16), (1 << 20, 16), (1 << 20, 1_024), (64 << 20, 1_024)] {
        assert_eq!(
            choose(bytes, tasks),
            AllreduceBy::DoubleTree,
            "{bytes} {tasks}"
        );
    }
    for (bytes, tasks) in [(8, 2), (1 << 30, 2), (64 << 20, 16), (1 << 30, 16)] {
        assert_eq!(choose(bytes, tasks), AllreduceBy::Ring, "{bytes} {tasks}");
    }
}

#[test]
fn a_lone_task_says_nothing() {
    let motif = once(|s: &mut Script| {
        s.barrier();
        s.allreduce(8);
        s.alltoall(8);
        s.bcast(0, 8);
    });
    assert!(Ideal::new(job(motif, 1)).finish().messages.is_empty());
}

#[test]
fn firefly_sends_up_and_down_a_heap() {
    let motif = once(|s: &mut Script| s.allreduce(8));
    let mut job = job(motif, 6);
    job.algorithms = Algorithms::EMBER;
    let run = Ideal::new(job).finish();
    let to = |task| {
        run.sent_by(task)
            .iter()
            .map(|sent| sent.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(to(0), [1, 2]);
    assert_eq!(to(1), [0, 3, 4]);
    assert_eq!(to(2), [0, 5]);
    assert_eq!(to(5), [2]);
}
