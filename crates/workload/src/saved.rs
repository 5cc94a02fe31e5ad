//! A task that is saved and loaded continues unchanged, whatever carries out its work; damaged
//! bytes are refused.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::motifs;
use super::replay::{self, Replay};
use super::tasks::ideal::{Ideal, job};
use super::tasks::{Algorithms, Iteration, Job, Motif, MpiPreset, Task};
use super::timeline::{COMPUTE, Interval, Limits};
use weir_input::Section;
use weir_input::registry::{Chosen, choose};
use weir_model::{NEVER, Span, Time, below, stream};

/// A program and its number of tasks.
type Program = (String, Box<dyn Motif>, u32);

/// All motifs with all their examples.
fn all_motifs() -> Vec<Program> {
    let mut all = Vec::new();
    for entry in motifs::REGISTRY {
        for example in entry.examples {
            let text = format!("motif = {{ kind = {:?}, {example} }}", entry.name);
            let table: toml::Table = text.parse().expect("TOML");
            let keys = toml::to_string(&table["motif"]).expect("TOML");
            let section = Section::from_toml(&keys).expect("TOML");
            // Some need a power of two, a square or a cube.
            let tasks = [9, 8, 16, 27, 7, 2].into_iter();
            let mut built = tasks.filter_map(|tasks| {
                let mut motif = (entry.build)(&section, tasks).ok()?;
                motif.draw(0);
                Some((format!("{} {example}", entry.name), motif, tasks))
            });
            all.push(built.next().unwrap_or_else(|| panic!("{text}")));
        }
    }
    all
}

/// A trace of each format.
fn all_traces() -> Vec<Program> {
    let traces = [
        ("goal", "mixed.goal", ""),
        ("flows", "flows.csv", ""),
        ("matrix", "matrix.csv", ""),
        ("connections", "chain.cm", ""),
        ("vef", "mixed.vef", ""),
        ("simgrid", "mixed.ti", "flops_per_second = 1e9"),
        ("allprof", "allprof/rank-0.txt", ""),
        ("chakra", "chakra/npu.0.et", "groups = \"groups.json\""),
        ("simai", "step.simai", ""),
    ];
    assert!(
        traces
            .iter()
            .map(|trace| trace.0)
            .eq(replay::REGISTRY.iter().map(|entry| entry.name))
    );
    let read = |(format, file, keys): (&str, &str, &str)| -> Program {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/traces/");
        let text = format!("format = {format:?}\nfile = \"{path}{file}\"\n{keys}");
        let section = Section::from_toml(&text).expect("TOML");
        let entry = choose(&section, replay::REGISTRY).expect("a format");
        let chosen = Chosen::new(entry.variant(), section).expect("good keys");
        let trace = replay::read(&chosen);
        let trace = trace.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let tasks = trace.tasks();
        (
            format.to_string(),
            Box::new(Replay::new(trace, Algorithms::default())),
            tasks,
        )
    };
    traces.into_iter().map(read).collect()
}

fn all() -> impl Iterator<Item = Program> {
    all_motifs().into_iter().chain(all_traces())
}

/// Two repetitions on a network on which messages overtake each other.
fn network(motif: Box<dyn Motif>, tasks: u32, preset: MpiPreset) -> Ideal {
    let mut ideal = Ideal::new(Job {
        repetitions: 2,
        iterations: true,
        timeline: Some(Limits {
            span: Span { from: 0, to: NEVER },
            most: 100_000,
        }),
        ..job(motif, tasks)
    })
    .with(preset.protocol());
    ideal.jitter = |number| 700 * (number % 5);
    ideal
}

/// End and communication time of a task, its iterations and its timeline.
type End<'a> = (Option<Time>, Option<Time>, &'a [Iteration], Vec<Interval>);

fn ends(ideal: &Ideal) -> Vec<End<'_>> {
    let intervals = |task: &Task| task.intervals(NEVER).expect("a timeline").0;
    let end = |task: &Task| (task.finished(), task.communicated());
    let all = ideal.tasks.iter();
    all.map(|task| (end(task).0, end(task).1, task.iterations(), intervals(task)))
        .collect()
}

#[test]
fn intervals_of_a_task_have_no_gaps_and_add_up_to_its_communication_time() {
    for preset in [MpiPreset::Plain, MpiPreset::Codes] {
        for (name, motif, tasks) in all() {
            let ideal = network(motif, tasks, preset).finish();
            for (finished, communicated, _, intervals) in ends(&ideal) {
                let mut at = 0;
                for one in &intervals {
                    assert_eq!(one.begin, at, "{name}: {intervals:?}");
                    at = one.end;
                }
                assert_eq!(finished, Some(at), "{name}");
                let waits = intervals.iter().filter(|one| one.activity != COMPUTE);
                let waited: Time = waits.map(|one| one.end - one.begin).sum();
                assert_eq!(communicated, Some(waited), "{name}");
            }
        }
    }
}

#[test]
fn tasks_that_are_loaded_go_on_as_those_that_were_saved() {
    for preset in [MpiPreset::Plain, MpiPreset::Codes] {
        for ((name, one, tasks), (_, other, _)) in all().zip(all()) {
            let kept = network(one, tasks, preset).finish();
            let mut loaded = network(other, tasks, preset);
            let (mut rng, loads) = (stream(1, &[]), Rc::new(Cell::new(0)));
            // Often enough for few and many events.
            let rare = 1 + kept.messages.len() as u32 / 100;
            let count = loads.clone();
            loaded.between = Box::new(move |job, tasks| {
                if below(&mut rng, rare) == 0 {
                    let place = below(&mut rng, tasks.len() as u32);
                    let task = &mut tasks[place as usize];
                    let bytes = task.save().expect("saved");
                    *task = Task::load(job, place, &bytes).expect("loaded");
                    assert_eq!(task.save(), Ok(bytes));
                    count.set(count.get() + 1);
                }
            });
            let loaded = loaded.finish();
            assert!(loads.get() > 5, "{name}");
            assert_eq!(kept.messages, loaded.messages, "{name}");
            assert_eq!(ends(&kept), ends(&loaded), "{name}");
        }
    }
}

/// Runs a program for 40 events, damages a byte of the saved first task, loads it if that is
/// possible, and continues for a while. Returns the number of bytes, and true if they were refused.
fn damage((name, motif, tasks): Program, place: usize) -> (usize, bool) {
    let mut ideal = network(motif, tasks, MpiPreset::Codes);
    let (mut events, found) = (0, Rc::new(Cell::new((0, false))));
    let tell = found.clone();
    ideal.between = Box::new(move |job, tasks| {
        events += 1;
        if events == 40 {
            let mut bytes = tasks[0].save().expect("saved");
            if let Some(byte) = bytes.get_mut(place) {
                // The largest number that is a single byte.
                *byte = 250;
            }
            tell.set((
                bytes.len(),
                Task::load(job, 0, &bytes[..bytes.len() - 1]).is_err(),
            ));
            assert!(tell.get().1, "cut bytes");
            let loaded = Task::load(job, 0, &bytes);
            tell.set((bytes.len(), loaded.is_err()));
            tasks[0] = loaded.unwrap_or_else(|_| Task::new(job, 0));
        }
        assert!(events < 400, "far enough");
    });
    let went = catch_unwind(AssertUnwindSafe(|| ideal.run()));
    let reason = went
        .err()
        .and_then(|reason| reason.downcast::<String>().ok());
    let reason = reason.unwrap_or_default();
    assert!(
        !reason.contains("out of bounds"),
        "{name}, {place}: {reason}"
    );
    found.get()
}

/// Damaged bytes are refused, or are a task without an index or address out of bounds.
#[test]
fn damaged_bytes_lead_nowhere_out_of_bounds() {
    for wanted in [
        "halo3d26",
        "gpcnet_put_incast",
        "gpcnet_allreduce",
        "goal",
        "simgrid",
    ] {
        let program = || {
            let named = |one: &Program| one.0.split(' ').next() == Some(wanted);
            all().find(named).expect("registered")
        };
        let (length, _) = damage(program(), usize::MAX);
        assert!(length > 0, "{wanted} is over before");
        let refused = (0..length).filter(|&place| damage(program(), place).1);
        assert!(refused.count() > 0, "{wanted}");
    }
}
