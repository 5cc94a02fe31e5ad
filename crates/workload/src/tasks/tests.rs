//! Protocols and operations of tasks on an ideal network, to the picosecond.

use super::collectives::BarrierBy;
use super::ideal::{Ideal, Program, job, once};
use super::{
    Algorithms, Completes, Envelope, EnvelopeKind, Labels, Mpi, MpiPreset, Peer, Protocol,
    RendezvousCompletes, Script, Task, Trouble, Wire,
};
use crate::tasks::collectives::{Kind, VectorKind};
use crate::timeline::{WORDS, collective};
use weir_input::Section;
use weir_model::{FlitSize, Time};

const NS: u64 = 1_000;

#[test]
fn a_short_message_takes_its_bytes_and_the_wire() {
    let motif = once(|s: &mut Script| match s.task() {
        0 => s.send(1, 100, 7),
        _ => s.recv(0, 7),
    });
    let run = Ideal::new(job(motif, 2)).finish();
    assert_eq!(run.tasks[0].finished(), Some(100));
    assert_eq!(run.tasks[1].finished(), Some(100 + NS));
    assert_eq!(run.sent_by(0), [(1, 100, 7)]);
}

#[test]
fn a_long_message_waits_for_its_receive() {
    let motif = once(|s: &mut Script| match s.task() {
        0 => s.send(1, 10_000, 7),
        _ => {
            s.compute(50 * NS);
            s.recv(0, 7);
        }
    });
    let run = Ideal::new(job(motif, 2)).finish();
    // The request arrives in time; the answer leaves at 50 ns, then the content.
    let clear = 50 * NS + 64 + NS;
    assert_eq!(run.tasks[0].finished(), Some(clear + 10_000));
    assert_eq!(run.tasks[1].finished(), Some(clear + 10_000 + NS));
    assert_eq!(
        run.tasks[1].communicated(),
        Some(clear + 10_000 + NS - 50 * NS)
    );
    let kinds: Vec<u64> = run.messages.iter().map(|sent| sent.bytes).collect();
    assert_eq!(kinds, [64, 64, 10_000]);
}

#[test]
fn host_overheads_of_codes() {
    let motif = once(|s: &mut Script| match s.task() {
        0 => {
            s.send(1, 48, 0);
            s.send(1, 8_192, 0);
        }
        _ => {
            s.recv(0, 0);
            s.recv(0, 0);
        }
    });
    let run = Ideal::new(job(motif, 2))
        .with(MpiPreset::Codes.protocol())
        .finish();
    let times: Vec<u64> = run.messages.iter().map(|sent| sent.at).collect();
    let first = 3_510 * NS + 48 * 550;
    let request = first + 48 + 3_510 * NS;
    let clear = request + 64 + NS + 3_510 * NS;
    assert_eq!(times, [first, request, clear, clear + 64 + NS + 3_510 * NS]);
}

#[test]
fn ember_has_headers_and_long_sends_end_with_the_notice() {
    let motif = once(|s: &mut Script| match s.task() {
        0 => {
            s.send(1, 12_000, 0);
            s.send(1, 12_001, 0);
        }
        _ => {
            s.recv(0, 0);
            s.recv(0, 0);
        }
    });
    let run = Ideal::new(job(motif, 2))
        .with(MpiPreset::Ember.protocol())
        .finish();
    let messages: Vec<(Peer, u64)> = run
        .messages
        .iter()
        .map(|one| (one.from, one.bytes))
        .collect();
    assert_eq!(
        messages,
        [(0, 12_045), (0, 45), (1, 45), (0, 12_046), (1, 45)]
    );
    // The first send is complete at once, so the request follows immediately.
    assert_eq!(run.messages[1].at, 0);
    let content = (12_045 + 45 + NS) + (45 + NS) + 12_046 + NS;
    assert_eq!(run.tasks[1].finished(), Some(content));
    assert_eq!(run.tasks[0].finished(), Some(content + 45 + NS));
}

#[test]
fn delays_of_the_protocol() {
    let mut protocol = MpiPreset::Plain.protocol();
    protocol.completes = Completes::Copied;
    protocol.copy_per_byte = 2;
    protocol.per_call = 10;
    let motif = once(|s: &mut Script| match s.task() {
        0 => {
            let mark = s.mark();
            s.isend(1, 100, 0);
            s.isend(1, 200, 0);
            s.wait_all(s.since(mark));
        }
        _ => {
            s.recv(0, 0);
            s.recv(0, 0);
        }
    });
    let run = Ideal::new(job(motif, 2)).with(protocol).finish();
    // The second is called 10 ps after the first and copied in 400 ps: complete before it has left.
    assert_eq!(run.tasks[0].finished(), Some(410));
    assert_eq!(run.tasks[1].finished(), Some(410 + 200 + NS));
}

#[test]
fn messages_match_by_source_and_tag_in_order() {
    // Task 2 takes tag 5 of task 1 first, then anything, then what is left.
    let motif = once(|s: &mut Script| match s.task() {
        0 => s.send(2, 10, 4),
        1 => {
            s.compute(10 * NS);
            s.send(2, 20, 4);
            s.send(2, 30, 5);
        }
        _ => {
            s.recv(1, 5);
            s.recv(None, None);
            s.recv(None, 4);
        }
    });
    let run = Ideal::new(job(motif, 3)).finish();
    assert_eq!(run.tasks[2].finished(), Some(10 * NS + 50 + NS));
}

#[test]
fn overtaking_messages_are_put_in_order() {
    // The first message arrives last. All have the same tag; the receiver computes after the first,
    // and that time shows when the first was matched.
    let motif = once(|s: &mut Script| match s.task() {
        0 => {
            for _ in 0..4 {
                s.isend(1, 1, 0);
            }
        }
        _ => {
            let first = s.irecv(0, 0);
            s.wait(first);
            s.compute(100 * NS);
            for _ in 0..3 {
                s.recv(None, None);
            }
        }
    });
    let mut ideal = Ideal::new(job(motif, 2));
    ideal.jitter = |number| if number == 0 { 70 * NS } else { 0 };
    let run = ideal.finish();
    assert_eq!(run.tasks[1].finished(), Some(1 + NS + 70 * NS + 100 * NS));
}

#[test]
fn waiting_for_any_takes_one_at_a_time() {
    let motif = once(|s: &mut Script| match s.task() {
        0 => {
            let mark = s.mark();
            for peer in 1..4 {
                s.irecv(peer, 0);
            }
            let all = s.since(mark);
            for _ in 0..3 {
                s.wait_any(all);
                s.compute(100 * NS);
            }
            // No operation is left: no wait at all.
            s.wait_any(all);
        }
        task => {
            s.compute(u64::from(4 - task) * 50 * NS);
            s.send(0, 0, 0);
        }
    });
    let run = Ideal::new(job(motif, 4)).finish();
    // The first comes at 50 ns + 1 ns; the others while it computes.
    assert_eq!(run.tasks[0].finished(), Some(351 * NS));
}

#[test]
fn a_part_ends_when_all_it_started_is_complete() {
    let motif = Box::new(Program(|part: u32, s: &mut Script| {
        let partner = 1 - s.task();
        match part {
            0 => {
                s.irecv(partner, 0);
                s.isend(partner, 500, 0);
            }
            1 => {}
            2 => s.sendrecv(partner, 1, partner, 0),
            _ => return false,
        }
        true
    }));
    let mut job = job(motif, 2);
    job.repetitions = 3;
    let run = Ideal::new(job).finish();
    assert_eq!(run.tasks[0].finished(), Some(3 * (501 + 2 * NS)));
    assert_eq!(run.sent_by(1), [(0, 500, 0), (0, 1, 0)].repeat(3));
}

#[test]
fn a_hung_application_says_who_waits_for_whom() {
    let motif = once(|s: &mut Script| match s.task() {
        0 => s.recv(1, 3),
        1 => s.send(2, 9_000, 0),
        2 => {
            for _ in 0..5 {
                s.irecv(None, 8);
            }
            s.irecv(3, None);
        }
        _ => {}
    });
    let run = Ideal::new(job(motif, 4)).run();
    let says: Vec<String> = run
        .tasks
        .iter()
        .filter_map(|task| Some(task.waiting()?.to_string()))
        .collect();
    assert_eq!(
        says,
        [
            "task 0 waits for a message from task 1 with tag 3",
            "task 1 waits for task 2 to receive its long message",
            "task 2 waits for a message from any task with tag 8, a message from any task with tag \
             8, a message from any task with tag 8 and 3 more",
        ]
    );
    assert_eq!(run.tasks[2].unclaimed(), (0, 1));
    assert_eq!(run.tasks[3].finished(), Some(0));
}

#[test]
fn a_collective_is_not_taken_by_a_receive_of_any_tag() {
    let motif = once(|s: &mut Script| {
        let any = match s.task() {
            0 => Some(s.irecv(None, None)),
            _ => None,
        };
        s.barrier();
        match any {
            Some(label) => s.wait(label),
            None => s.send(0, 1, 0),
        }
    });
    Ideal::new(job(motif, 2)).finish();
}

#[test]
fn labels_are_ranges() {
    let some = Labels { first: 3, end: 6 };
    assert_eq!(some.count(), 3);
    assert!(some.contains(3) && some.contains(5) && !some.contains(6) && !some.contains(2));
    assert_eq!(Labels::one(4), Labels { first: 4, end: 5 });
}

#[test]
fn what_is_said_goes_before_the_preset() {
    let mpi = |text: &str| -> Mpi { Section::from_toml(text).unwrap().parse().unwrap() };
    let ember = mpi("preset = \"ember\"");
    assert_eq!(ember.algorithms(), Algorithms::EMBER);
    let said = mpi(
        "preset = \"ember\"\ncollectives = { barrier = \"dissemination\" }\nsend_delay = \"3 ns\"",
    );
    let expected = Algorithms {
        barrier: BarrierBy::Dissemination,
        ..Algorithms::EMBER
    };
    assert_eq!(said.algorithms(), expected);
    let protocol = said.protocol(FlitSize(100), 24).unwrap();
    let expected = Protocol {
        send_delay: 3_000,
        ..MpiPreset::Ember.protocol()
    };
    assert_eq!(protocol, expected);
    let bare = mpi("preset = \"ember\"\nheader = \"1 B\"\nrendezvous_completes = \"sent\"");
    let protocol = bare.protocol(FlitSize(100), 24).unwrap();
    let expected = Protocol {
        header_bytes: 1,
        rendezvous_completes: RendezvousCompletes::Sent,
        ..MpiPreset::Ember.protocol()
    };
    assert_eq!(protocol, expected);
}

#[test]
fn messages_that_overtake_too_many_others_are_noticed() {
    struct Nowhere;
    impl Wire for Nowhere {
        fn send(&mut self, _: Peer, _: u64, _: Envelope, _: Time) {}
        fn wake(&mut self, _: Time) {}
        fn copied(&mut self, _: Peer, _: u64, _: Envelope, _: Time) {}
    }
    // Number 0 has not arrived. Numbers wrap around, so that 2²⁰ - 1 is one before it.
    for (number, trouble) in [
        (1 << 19, None),
        ((1 << 19) + 1, Some(Trouble::Overtaken(1))),
        ((1 << 20) - 1, Some(Trouble::Overtaken(1))),
    ] {
        let job = job(once(|s: &mut Script| s.recv(1, 0)), 2);
        let mut task = Task::new(&job, 0);
        let envelope = Envelope {
            kind: EnvelopeKind::Eager,
            tag: 0,
            number,
        };
        task.start(&job, 0, &mut Nowhere);
        task.arrived(&job, 1, envelope, 5, &mut Nowhere);
        assert_eq!(task.trouble(), trouble, "{number}");
    }
}

#[test]
fn timelines_have_a_word_for_each_collective_operation() {
    let kinds = [
        Kind::Barrier,
        Kind::Bcast,
        Kind::Reduce,
        Kind::Allreduce,
        Kind::Allgather,
        Kind::ReduceScatter,
        Kind::Alltoall,
        Kind::Gather,
        Kind::Scatter,
        Kind::Scan,
    ];
    let vectors = [
        VectorKind::Gatherv,
        VectorKind::Scatterv,
        VectorKind::Allgatherv,
        VectorKind::ReduceScatter,
        VectorKind::Alltoallv,
    ];
    let names = kinds.map(Kind::name).into_iter();
    for name in names.chain(vectors.map(VectorKind::name)) {
        assert_eq!(WORDS[collective(name).index()], name);
    }
}
