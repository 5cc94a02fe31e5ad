//! Sweeps: every point is run once, regardless of what is killed; results of different experiments
//! never mix; errors in a job file are reported with their line.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::sweeping::{JOB, Ran, Sweep};

/// Far more than any test here takes: a test that waits longer hangs.
const HANGS: Duration = Duration::from_secs(240);

/// Waits until something is so.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < HANGS, "waited in vain for {what}");
        sleep(Duration::from_millis(5));
    }
}

/// The job with points that take long enough to be caught in the middle.
fn longer() -> String {
    JOB.replace("until = \"5 us\"", "until = \"200 us\"")
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a process");
    rustix::process::kill_process(pid, signal).expect("it is there");
}

/// A program instead of `mpirun -n`: its arguments are the number of ranks, then the command to
/// run.
fn launcher(sweep: &Sweep, script: &str) -> String {
    let path = sweep.folder.path().join("launch.sh");
    fs::write(&path, format!("shift\n{script}\n")).expect("a file");
    format!("sh {}", path.display())
}

#[test]
fn a_sweep_runs_its_points_and_writes_the_table() {
    let sweep = Sweep::new(JOB);
    sweep.go("run", &["-j", "2"]).expect(0);
    let table = sweep.read("table.csv");
    let mut lines = table.lines();
    let header = lines.next().expect("a header");
    assert!(
        header
            .starts_with("point,hash,state,load,seed,summary.offered_load,summary.accepted_load,"),
        "{header}"
    );
    assert!(header.contains(",latency.message.p99 [ns],"), "{header}");
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let places: Vec<[&str; 4]> = rows
        .iter()
        .map(|row| [row[0], row[2], row[3], row[4]])
        .collect();
    let expected = [
        ["0", "done", "0.1", "1"],
        ["1", "done", "0.1", "2"],
        ["2", "done", "0.1", "3"],
        ["3", "done", "0.4", "1"],
        ["4", "done", "0.4", "2"],
        ["5", "done", "0.4", "3"],
    ];
    assert_eq!(places, expected);
    for row in &rows {
        let load: f64 = row[3].parse().expect("a number");
        let offered: f64 = row[5].parse().expect("a number");
        assert!((offered - load).abs() < 0.05, "{row:?}");
        let point = sweep.out().join("points").join(row[1]);
        for name in ["experiment.toml", "result.h5", "log.txt", "status.toml"] {
            assert!(point.join(name).is_file(), "{name}");
        }
        // The experiment of a point can be run by itself, and gives the same numbers.
        let alone = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["run", "--json", "--quiet", "--out"])
            .arg(sweep.folder.path().join("alone"))
            .arg("--force")
            .arg(point.join("experiment.toml"))
            .output()
            .expect("runs");
        let alone: Value = serde_json::from_slice(&alone.stdout).expect("JSON");
        assert_eq!(alone["summary"]["offered_load"], offered);
    }
    assert_eq!(sweep.read("job.toml"), JOB, "as it was read");
    let table_h5 = hdf5::File::open(sweep.out().join("table.h5")).expect("HDF5");
    let loads: Vec<f64> = table_h5
        .dataset("load")
        .and_then(|load| load.read_raw())
        .expect("a column");
    assert_eq!(loads, [0.1, 0.1, 0.1, 0.4, 0.4, 0.4]);
}

#[test]
fn killed_half_way_it_goes_on_to_the_same_table() {
    let whole = Sweep::new(&longer());
    whole.go("run", &["-j", "2"]).expect(0);
    let sweep = Sweep::new(&longer());
    let mut child = sweep.start("run", &[]);
    until("the first result", || sweep.results() > 0);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    let done = sweep.count("done");
    assert!((1..6).contains(&done), "{done} of 6 were done");
    assert!(
        !sweep.out().join("table.csv").exists(),
        "the table comes at the end"
    );
    let ran = sweep.go("run", &["-j", "2"]).expect(0);
    assert!(
        !ran.stderr.contains("point 0:"),
        "it had a result: {}",
        ran.stderr
    );
    assert_eq!(sweep.read("table.csv"), whole.read("table.csv"));
    assert_eq!(sweep.read("claims.csv"), whole.read("claims.csv"));
    assert_eq!(sweep.count("done"), 6);
    // A third time there is nothing to do.
    let ran = sweep.go("run", &[]).expect(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(sweep.read("table.csv"), whole.read("table.csv"));
}

#[test]
fn asked_to_stop_it_ends_its_runs_and_can_go_on() {
    for asked in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let sweep = Sweep::new(&longer());
        let child = sweep.start("run", &["-j", "2"]);
        until("the first result", || sweep.results() > 0);
        signal(&child, asked);
        let ran = Ran::of(child.wait_with_output().expect("it ends")).expect(85);
        assert!(ran.stderr.contains("goes on from here"), "{}", ran.stderr);
        let status = sweep.json("status");
        assert_eq!(status["running"], 0, "{status}");
        assert_eq!(status["failed"], 0, "{status}");
        assert!(status["waiting"].as_u64() > Some(0), "{status}");
        sweep.go("run", &["-j", "2", "--quiet"]).expect(0);
        assert_eq!(sweep.count("done"), 6);
    }
}

#[test]
fn two_sweeps_at_once_run_each_point_once() {
    let sweep = Sweep::new(&longer());
    let count = sweep.folder.path().join("count");
    let launch = launcher(
        &sweep,
        &format!("echo x >>{}\nexec \"$@\"", count.display()),
    );
    let arguments = ["--ranks", "2", "--launcher", &launch];
    let both = [
        sweep.start("run", &arguments),
        sweep.start("run", &arguments),
    ];
    for child in both {
        Ran::of(child.wait_with_output().expect("it ends")).expect(0);
    }
    let runs = fs::read_to_string(count)
        .expect("the count")
        .lines()
        .count();
    assert_eq!(runs, 6, "one run for each point");
    assert_eq!(sweep.count("done"), 6);
}

#[test]
fn a_killed_point_runs_again_at_the_next_run() {
    let sweep = Sweep::new(JOB);
    let once = sweep.folder.path().join("killed");
    // The first run to come is killed, all others continue.
    let script = format!(
        "mkdir {} 2>/dev/null && kill -9 $$\nexec \"$@\"",
        once.display()
    );
    let launch = launcher(&sweep, &script);
    let arguments = ["--ranks", "2", "--launcher", &launch];
    let ran = sweep.go("run", &arguments).expect(1);
    assert!(ran.stderr.contains("failed (killed)"), "{}", ran.stderr);
    let status = sweep.json("status");
    assert_eq!(
        (&status["done"], &status["failed"]),
        (&5.into(), &1.into()),
        "{status}"
    );
    assert_eq!(status["failures"][0]["reason"], "killed");
    sweep.go("run", &arguments).expect(0);
    assert_eq!(sweep.count("done"), 6);
}

#[test]
fn a_failing_point_is_reported_and_retried() {
    let sweep = Sweep::new(JOB);
    let broken = sweep.folder.path().join("broken");
    fs::write(&broken, "").expect("a file");
    // The points of load 0.4 fail as long as that file exists.
    let script = format!(
        "test -e {} && grep -q 'load = 0.4' experiment.toml && {{ echo 'error: no luck'; exit 1; }}\nexec \"$@\"",
        broken.display()
    );
    let launch = launcher(&sweep, &script);
    let arguments = ["--ranks", "2", "--launcher", &launch];
    let ran = sweep.go("run", &arguments).expect(1);
    assert!(ran.stderr.contains("failed (error)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: no luck"), "{}", ran.stderr);
    let status = sweep.go("status", &[]).expect(0).stdout;
    assert!(
        status.starts_with("3 done, 0 running, 3 failed, 0 waiting of 6 points"),
        "{status}"
    );
    assert!(
        status.contains("log.txt") && status.contains("no luck"),
        "{status}"
    );
    let table = sweep.read("table.csv");
    assert_eq!(table.matches(",failed,").count(), 3, "{table}");
    // A failure stays one until it is asked to be tried again.
    let ran = sweep.go("run", &arguments).expect(1);
    assert!(ran.stderr.contains("weir sweep retry"), "{}", ran.stderr);
    let ran = sweep.go("retry", &arguments).expect(1);
    assert!(
        ran.stderr.contains("[3/3]"),
        "only those that failed: {}",
        ran.stderr
    );
    fs::remove_file(&broken).expect("removes");
    sweep.go("retry", &arguments).expect(0);
    assert_eq!(sweep.count("done"), 6);
    assert_eq!(sweep.read("table.csv").matches(",done,").count(), 6);
}

#[test]
fn the_reasons_of_failures_are_told_apart() {
    let job = longer().replace("[run]\n", "[run]\nmax_wall = \"1 ns\"\n");
    let sweep = Sweep::new(&job);
    sweep.go("run", &["--points", "0"]).expect(1);
    let status = sweep.json("status");
    assert_eq!(status["failures"][0]["reason"], "time limit", "{status}");
    let message = status["failures"][0]["message"].as_str();
    assert!(
        message.is_some_and(|words| words.contains("weir sweep retry")),
        "{status}"
    );
    let sweep = Sweep::new(JOB);
    let launch = launcher(&sweep, "exit 4");
    sweep
        .go(
            "run",
            &["--points", "1", "--ranks", "2", "--launcher", &launch],
        )
        .expect(1);
    let status = sweep.json("status");
    assert_eq!(status["failures"][0]["reason"], "stalled", "{status}");
    assert_eq!(status["waiting"], 5);
}

#[test]
fn a_point_whose_run_was_ended_by_a_signal_runs_again() {
    let sweep = Sweep::new(JOB);
    let once = sweep.folder.path().join("ended");
    // As mpirun does it: the run is asked to end, and the exit code is another one.
    let script = format!(
        "mkdir {} 2>/dev/null || exec \"$@\"\n\"$@\" --set 'run.until=\"100 s\"' &\n\
         while [ ! -s .result.h5.lock ]; do sleep 0.01; done\nkill -TERM $!\nwait $!\nexit 1",
        once.display()
    );
    let launch = launcher(&sweep, &script);
    let arguments = ["--points", "0", "--ranks", "2", "--launcher", &launch];
    let ran = sweep.go("run", &arguments).expect(1);
    assert!(ran.stderr.contains("failed (killed)"), "{}", ran.stderr);
    assert_eq!(sweep.results(), 1, "as far as it went");
    sweep.go("run", &arguments).expect(0);
    assert_eq!(sweep.count("done"), 1);
}

#[test]
fn some_points_can_be_run_alone_and_collected_later() {
    let sweep = Sweep::new(JOB);
    sweep.go("run", &["--points", "0..2,4"]).expect(0);
    assert!(
        !sweep.out().join("table.csv").exists(),
        "others may be under way"
    );
    assert_eq!(sweep.count("waiting"), 3);
    sweep.go("run", &["--points", "1..6"]).expect(0);
    sweep.go("collect", &[]).expect(0);
    let whole = Sweep::new(JOB);
    whole.go("run", &[]).expect(0);
    assert_eq!(sweep.read("table.csv"), whole.read("table.csv"));
    let ran = sweep.go("run", &["--points", "6"]).expect(2);
    assert!(ran.stderr.contains("0..6"), "{}", ran.stderr);
}

#[test]
fn another_experiment_does_not_mix_with_this_one() {
    let sweep = Sweep::new(JOB);
    sweep.go("run", &[]).expect(0);
    let first = sweep.read("table.csv");
    let begun: Vec<String> = sweep.points().iter().map(|path| status_of(path)).collect();
    let changed = ["--set", "run.until=\"6 us\""];
    sweep.go("run", &changed).expect(0);
    let second = sweep.read("table.csv");
    let hashes = |table: &str| -> Vec<String> {
        let rows = table.lines().skip(1);
        rows.map(|row| row.split(',').nth(1).expect("a hash").to_string())
            .collect()
    };
    assert!(
        hashes(&first)
            .iter()
            .all(|hash| !hashes(&second).contains(hash))
    );
    assert_eq!(sweep.points().len(), 12, "the old ones stay");
    // One value more, and back to the old experiment: only new points run, and only wanted points
    // are in the table.
    sweep.write(&JOB.replace("[0.1, 0.4]", "[0.1, 0.2, 0.4]"));
    let ran = sweep.go("run", &[]).expect(0);
    let others = "has 6 more points, of an earlier form of this study: the table is without them";
    assert!(ran.stderr.contains(others), "{}", ran.stderr);
    let done = ran
        .stderr
        .lines()
        .filter(|line| line.contains(": done in "));
    assert_eq!(done.count(), 3, "{}", ran.stderr);
    assert_eq!(sweep.read("table.csv").lines().count(), 10);
    sweep.write(JOB);
    sweep.go("run", &[]).expect(0);
    assert_eq!(sweep.read("table.csv"), first);
    let now: Vec<String> = sweep.points().iter().map(|path| status_of(path)).collect();
    assert!(
        begun.iter().all(|status| now.contains(status)),
        "nothing ran twice"
    );
}

fn status_of(point: &Path) -> String {
    fs::read_to_string(point.join("status.toml")).expect("a status")
}

#[test]
fn a_damaged_result_is_run_again() {
    let sweep = Sweep::new(JOB);
    sweep.go("run", &[]).expect(0);
    let table = sweep.read("table.csv");
    let path = sweep.points()[0].join("result.h5");
    let bytes = fs::read(&path).expect("the result");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("writes");
    assert_eq!(sweep.count("done"), 5);
    sweep.go("run", &[]).expect(0);
    assert_eq!(sweep.read("table.csv"), table);
}

#[test]
fn the_plan_shows_every_point_and_runs_nothing() {
    let sweep = Sweep::new(JOB);
    let plan = sweep.go("plan", &[]).expect(0).stdout;
    assert!(plan.contains("6 points, about"), "{plan}");
    assert!(plan.contains("shortest ways are assumed"), "{plan}");
    assert!(!sweep.out().exists());
    let json = sweep.json("plan");
    assert_eq!(json["points"].as_array().map(Vec::len), Some(6));
    assert_eq!(json["points"][3]["axes"]["load"], "0.4");
    // Four times the load, four times the packets.
    let hops = |index: usize| {
        json["points"][index]["packet_hops"]
            .as_f64()
            .expect("a number")
    };
    assert!((hops(3) / hops(0) - 4.0).abs() < 1e-9);
    sweep.go("run", &["-j", "2"]).expect(0);
    let plan = sweep.go("plan", &[]).expect(0).stdout;
    assert!(plan.contains("6 points, all of them are done"), "{plan}");
}

#[test]
fn on_several_ranks_the_table_is_the_same() {
    let (one, two) = (Sweep::new(JOB), Sweep::new(JOB));
    one.go("run", &[]).expect(0);
    let mut command = crate::support::Cli::program(Path::new(env!("CARGO_BIN_EXE_weir")), 1);
    // Only the variables that the launcher needs as root and past the number of cores: the sweep
    // itself is no rank.
    let environment: Vec<_> = command
        .get_envs()
        .map(|(k, v)| (k.to_owned(), v.map(|v| v.to_owned())))
        .collect();
    command = two.command("run", &["-j", "2", "--ranks", "3"]);
    for (name, value) in environment {
        command.env(name, value.unwrap_or_default());
    }
    Ran::of(command.output().expect("runs")).expect(0);
    assert_eq!(two.read("table.csv"), one.read("table.csv"));
    let ran = two.go("run", &["--ranks", "4"]).expect(2);
    assert!(ran.stderr.contains("3 domains"), "{}", ran.stderr);
}

#[test]
fn a_job_file_is_not_an_experiment() {
    let sweep = Sweep::new(JOB);
    for command in ["run", "check"] {
        let output = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args([command, "job.toml"])
            .current_dir(sweep.folder.path())
            .output();
        let ran = Ran::of(output.expect("it can be started")).expect(2);
        assert!(ran.stderr.contains("weir sweep run"), "{}", ran.stderr);
    }
}

#[test]
fn without_a_sweep_there_is_nothing_to_look_at() {
    let sweep = Sweep::new(JOB);
    for what in ["status", "collect", "claims", "retry"] {
        let ran = sweep.go(what, &[]).expect(2);
        assert!(
            ran.stderr.contains("holds no sweep"),
            "{what}: {}",
            ran.stderr
        );
    }
    assert!(!sweep.out().exists());
}
