//! Timelines: intervals of tasks and of links to the picosecond, their sums, limits and export.

use std::path::Path;
use std::process::Command;

use crate::support::{Cli, Experiment, resume_on, run_on, run_saving};
use weir::model::table::Word;
use weir::model::{KindName, Time};
use weir::result::{Data, Timeline};

const NS: Time = 1_000;

/// Endpoints 0 and 1 share router 0. Terminal links take 5 ns, routers 10 ns, a flit 1 ns.
fn network() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .set("nic.acknowledge", false)
        .set("output.timeline.routers", vec![0])
}

/// Two tasks compute for 100 ns; then the one sends 250 bytes, which are 20 flits, to the other.
fn one_message() -> Experiment {
    let phases = r#"[
        { compute = "100 ns" },
        { send = [{ to = "1", bytes = "250 B", when = "task == 0" }], receive = [{ from = "0", when = "task == 1" }] },
    ]"#;
    let text = format!("kind = \"script\"\nphases = {}", phases.replace('\n', " "));
    let motif: toml::Table = text.parse().expect("TOML");
    network()
        .job("script", 2)
        .with("name", "pair")
        .with("motif", motif)
}

fn timeline(data: &Data) -> &Timeline {
    data.timeline.as_ref().expect("a timeline")
}

fn word(words: &[KindName], word: Word) -> String {
    words[word.index()].to_string()
}

/// Task, begin, end, activity, reason for its end, peer, bytes.
type Row = (u32, Time, Time, String, String, i32, u64);

fn tasks(data: &Data) -> Vec<Row> {
    let Timeline {
        tasks, task_words, ..
    } = timeline(data);
    let row = |at: usize| {
        let words = [tasks.activity[at], tasks.ended_by[at]].map(|one| word(task_words, one));
        let [activity, ended_by] = words;
        let (begin, end) = (tasks.begin_ps[at], tasks.end_ps[at]);
        (
            tasks.task[at],
            begin,
            end,
            activity,
            ended_by,
            tasks.peer[at],
            tasks.bytes[at],
        )
    };
    (0..tasks.job.len()).map(row).collect()
}

#[test]
fn a_message_ends_the_waits_of_its_two_tasks_and_is_on_one_link() {
    let data = one_message().run().data;
    let row = |task, begin, end, [activity, by]: [&str; 2], peer, bytes| -> Row {
        (
            task,
            begin * NS,
            end * NS,
            activity.into(),
            by.into(),
            peer,
            bytes,
        )
    };
    // Both compute for 100 ns. The message then leaves for 20 ns. Its head is at router 0 after
    // 5 ns, at its output after 10 ns, at the endpoint after 5 ns; its tail 20 ns later.
    let expected = [
        row(0, 0, 100, ["compute", "time"], -1, 0),
        row(0, 100, 120, ["wait_all", "sent"], 1, 250),
        row(1, 0, 100, ["compute", "time"], -1, 0),
        row(1, 100, 140, ["wait_all", "message"], 0, 250),
    ];
    assert_eq!(tasks(&data), expected);
    let Timeline {
        links, link_words, ..
    } = timeline(&data);
    assert_eq!((&links.router[..], &links.port[..]), (&[0][..], &[1][..]));
    let times = (links.begin_ps[0], links.end_ps[0]);
    assert_eq!(times, (115 * NS, 135 * NS));
    assert_eq!(word(link_words, links.activity[0]), "data");
    assert_eq!(
        (links.job[0], links.source[0], links.destination[0]),
        (0, 0, 1)
    );
    assert_eq!(links.bytes[0], 250);
}

/// Two applications and a hot spot, with a scheme that sends control packets.
fn crowded() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .smallest_buffers()
        .job("lammps", 12)
        .with("name", "dynamics")
        .with("motif.steps", 1)
        .with("motif.mesh", vec![12, 16, 15])
        .with("motif.replicas", vec![1, 1, 1])
        .with("mpi.preset", "codes")
        .with("placement", "random")
        .job("incast", 20)
        .with("name", "incast")
        .with("motif.bytes", "20 kB")
        .with("placement", "random")
        .set("output.timeline.routers", "all")
        .until("completion")
}

#[test]
fn intervals_add_up_to_the_times_of_tasks_and_ports() {
    let data = crowded().run().data;
    let timeline = timeline(&data);
    let tasks = &timeline.tasks;
    let compute = |at: usize| word(&timeline.task_words, tasks.activity[at]) == "compute";
    for (number, job) in (0u32..).zip(&data.jobs) {
        for task in 0..job.totals.tasks as u32 {
            let own = (0..tasks.job.len())
                .filter(|&at| (tasks.job[at], tasks.task[at]) == (number, task));
            let own: Vec<usize> = own.collect();
            let mut at = job.totals.start_ps;
            for &row in &own {
                assert_eq!(
                    tasks.begin_ps[row], at,
                    "a gap in task {task} of {}",
                    job.name
                );
                at = tasks.end_ps[row];
            }
            assert_eq!(at, job.tasks.task_finish_ps[task as usize]);
            let waits = own.iter().filter(|&&row| !compute(row));
            let waited: Time = waits
                .map(|&row| tasks.end_ps[row] - tasks.begin_ps[row])
                .sum();
            assert_eq!(waited, job.tasks.task_communication_ps[task as usize]);
        }
    }
    assert!(check_ports(&data) > 0, "the incast fills buffers");
}

/// Checks that the intervals of each port add up to its times. The time without credit of all, ps.
fn check_ports(data: &Data) -> Time {
    let timeline = timeline(data);
    let links = &timeline.links;
    let mut stalls = 0;
    for at in 0..data.ports.router.len() {
        let place = (data.ports.router[at], data.ports.port[at]);
        let own =
            (0..links.router.len()).filter(|&row| (links.router[row], links.port[row]) == place);
        let (mut busy, mut stalled, mut free) = (0, 0, 0);
        for row in own {
            let (begin, end) = (links.begin_ps[row], links.end_ps[row]);
            assert!(free <= begin && begin < end, "{place:?}");
            free = end;
            match &*timeline.link_words[links.activity[row].index()] {
                "stalled" => stalled += end - begin,
                _ => busy += end - begin,
            }
        }
        assert_eq!(
            (busy, stalled),
            (data.ports.busy_ps[at], data.ports.stalled_ps[at]),
            "{place:?}"
        );
        stalls += stalled;
    }
    stalls
}

#[test]
fn packets_that_are_lost_or_sent_again_have_the_link_too() {
    let network = Experiment::dragonfly(2, 4, 2)
        .uniform(0.3)
        .with("stop", "10 us")
        .set("output.timeline.routers", "all")
        .until("completion");
    for (change, counter) in [
        (
            "down = true, at = \"4 us\", until = \"8 us\", rerouted_after = \"2 us\"",
            0,
        ),
        ("bit_error_rate = 1e-4", 1),
    ] {
        let list = format!("all = [{{ links = [{{ routers = [0, 4] }}], {change} }}]");
        let mut list: toml::Table = list.parse().expect("TOML");
        let failures = list.remove("all").expect("a list");
        let data = network.clone().set("failure", failures).run().data;
        let table = data.failures.as_ref().expect("a link that fails");
        let counts = [&table.packets_lost, &table.retries][counter];
        assert!(counts.iter().sum::<u64>() > 5, "{change}: {counts:?}");
        check_ports(&data);
    }
}

#[test]
fn a_timeline_changes_nothing_else_and_is_the_same_on_several_ranks() {
    let with = crowded();
    crate::same_results::same_bits::same_on(&[2, 3], &with);
    let mut data = with.run().data;
    let mut table: toml::Table = with.text().parse().expect("TOML");
    table.remove("output");
    let without = Experiment::of(table).run().data;
    assert!(data.timeline.take().is_some());
    assert_eq!(data, without);
}

#[test]
fn a_saved_run_goes_on_with_its_timeline() {
    let plan = crowded().plan();
    let (whole, kept) = run_saving(1, &plan, 100, 7).expect("a good run");
    for ranks in [1, 3] {
        let resumed = resume_on(ranks, &plan, &kept).expect("a good run");
        assert_eq!(resumed.timeline, whole.timeline, "{ranks} ranks");
    }
}

#[test]
fn jobs_routers_and_times_choose_what_is_recorded() {
    let whole = crowded().run().data;
    let some = crowded()
        .set("output.timeline.jobs", vec!["incast"])
        .set("output.timeline.routers", vec![5, 3, 5])
        .set("output.timeline.from", "2 us")
        .set("output.timeline.to", "3 us");
    let some = some.run().data;
    let (all, own) = (timeline(&whole), timeline(&some));
    let inside = |begin: Time, end: Time| begin < 3_000 * NS && end > 2_000 * NS;
    let rows = (0..all.tasks.job.len()).filter(|&at| {
        all.tasks.job[at] == 1 && inside(all.tasks.begin_ps[at], all.tasks.end_ps[at])
    });
    let begins: Vec<Time> = rows.map(|at| all.tasks.begin_ps[at]).collect();
    assert!(!begins.is_empty());
    assert_eq!(own.tasks.begin_ps, begins);
    let rows = (0..all.links.router.len()).filter(|&at| {
        [3, 5].contains(&all.links.router[at])
            && inside(all.links.begin_ps[at], all.links.end_ps[at])
    });
    let begins: Vec<Time> = rows.map(|at| all.links.begin_ps[at]).collect();
    assert!(!begins.is_empty());
    assert_eq!(own.links.begin_ps, begins);
    assert_eq!(
        (own.numbers.from_ps, own.numbers.to_ps),
        (2_000 * NS, 3_000 * NS)
    );
    assert_eq!(own.numbers.routers, 2);
}

#[test]
fn a_run_that_is_cut_off_ends_all_intervals() {
    let data = one_message().until("110 ns").run().data;
    let ends: Vec<_> = tasks(&data).into_iter().map(|row| (row.2, row.4)).collect();
    let computed = (100 * NS, "time".to_string());
    let cut = (110 * NS, "end".to_string());
    assert_eq!(ends, [computed.clone(), cut.clone(), computed, cut]);
}

/// Departures are settled up to the time of a router before them: after the end, some of them.
#[test]
fn the_times_of_ports_end_with_the_run() {
    let network = Experiment::dragonfly(2, 4, 2).uniform(0.3);
    let network = network.set("output.timeline.routers", "all");
    for (router, until) in [("90 ns", "2 us"), ("1 us", "1200 ns"), ("1 us", "5555 ns")] {
        for queue in ["unlimited", "none"] {
            let network = network.clone().set("router.output_queue", queue);
            let cut = network.set("router.latency", router).until(until);
            for ranks in [1, 3] {
                let data = run_on(ranks, &cut.plan()).expect("a good run");
                check_ports(&data);
            }
        }
    }
}

#[test]
fn choices_that_do_not_exist_are_refused() {
    let said = |experiment: Experiment| match experiment.try_plan() {
        Err(error) => error.render(false),
        Ok(_) => panic!("accepted"),
    };
    for (experiment, key, remedy) in [
        (
            crowded().set("output.timeline.jobs", vec!["incst"]),
            "output.timeline.jobs.0",
            "incast",
        ),
        (
            crowded().set("output.timeline.routers", vec![1, 36]),
            "output.timeline.routers.1",
            "from 0 to 35",
        ),
        (
            crowded()
                .set("output.timeline.from", "2 us")
                .set("output.timeline.to", "2 us"),
            "output.timeline.to",
            "a later time",
        ),
        (
            network()
                .uniform(0.1)
                .with("name", "u")
                .set("output.timeline.jobs", vec!["u"]),
            "output.timeline.jobs.0",
            "leave it out",
        ),
    ] {
        let text = said(experiment);
        let last = key
            .rsplit('.')
            .find(|part| part.parse::<u32>().is_err())
            .expect("a key");
        assert!(
            text.contains(last) && text.contains(remedy),
            "{key}: {text}"
        );
    }
}

fn export(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command
        .current_dir(folder)
        .args(["export", "out"])
        .args(arguments);
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().expect("no signal"),
        String::from_utf8(text).expect("UTF-8"),
    )
}

#[test]
fn an_export_says_what_it_holds_and_what_it_lacks() {
    let ran = one_message().set("output.messages", true).cli().succeeds();
    let folder = ran.out().parent().expect("a folder").to_path_buf();
    let (code, text) = export(&folder, &["out/result.h5"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("out/result.h5 exists"), "{text}");
    let (code, text) = export(&folder, &["all.pftrace"]);
    assert_eq!(code, 0, "{text}");
    let expected =
        "all.pftrace: 1 messages, 4 intervals of tasks, 1 intervals of links, from 0 ps to 140 ns";
    assert!(text.starts_with(expected), "{text}");
    let size = std::fs::metadata(folder.join("all.pftrace"))
        .expect("a file")
        .len();
    assert!(size > 500, "{size} bytes");
    // From 110 ns on: both waits, the message, and the link.
    let (_, text) = export(
        &folder,
        &["part.pftrace", "--from", "136 ns", "--job", "pair"],
    );
    assert!(
        text.contains("1 messages, 1 intervals of tasks, 0 intervals of links"),
        "{text}"
    );
    for (arguments, says) in [
        (&["--router", "3"][..], "output.timeline.routers = [3]"),
        (&["--router", "99"], "36 routers"),
        (&["--from", "1 us"], "140 ns"),
        (&["--from", "soon"], "--from"),
        (&["--job", "pear"], "pair"),
        (&["--unit", "1 ns"], "--unit"),
    ] {
        let (code, text) = export(&folder, &[&["no.pftrace"], arguments].concat());
        assert!(
            code == 2 && text.contains(says),
            "{arguments:?}: {code} {text}"
        );
        assert!(!folder.join("no.pftrace").exists());
    }
    let (code, text) = export(&folder, &["a.goal", "--router", "0"]);
    assert!(code == 2 && text.contains("--format perfetto"), "{text}");
    let (code, text) = export(&folder, &["a.goal"]);
    assert!(
        code == 0 && text.contains("1 messages of 2 tasks"),
        "{text}"
    );
}

#[test]
fn a_result_without_a_timeline_names_the_key() {
    let text = Experiment::dragonfly(2, 4, 2).uniform(0.1).until("1 us");
    let ran = Cli::run(&text.text()).succeeds();
    let folder = ran.out().parent().expect("a folder").to_path_buf();
    let (code, text) = export(&folder, &["a.pftrace"]);
    assert!(code == 2 && text.contains("output.timeline = {}"), "{text}");
    let some = Experiment::dragonfly(2, 4, 2)
        .uniform(0.1)
        .set("output.messages", true);
    let ran = Cli::run(&some.until("1 us").text()).succeeds();
    let folder = ran.out().parent().expect("a folder").to_path_buf();
    let (code, text) = export(&folder, &["a.pftrace"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("without tasks") && text.contains("without links"),
        "{text}"
    );
}
