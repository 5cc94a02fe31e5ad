//! Sweeps whose points are the same run at first: it is simulated once, and the results are those
//! of a sweep without forks, whatever is killed or damaged in between.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use weir::result::read_run;

use crate::support::difference_of;
use crate::support::sweeping::{JOB, Ran, Sweep};

/// Four loads of a workload that starts at half the time, two of one that starts at once.
fn job(until: u64) -> String {
    let half = until / 2;
    let shared = "shared = true\nload = 0.1\nmessage = \"4 flits\"";
    let later = format!(
        "[[workload]]\nname = \"later\"\npattern = {{ kind = \"uniform\" }}\n{shared}\n\
         start = \"{half} us\"\n\n[run]\nuntil = \"{until} us\"\n"
    );
    let one = JOB
        .replace("seeds = 3", "")
        .replace("load = 0.1\nmessage = \"4 flits\"", shared)
        .replace("[run]\nuntil = \"5 us\"\n", &later);
    let key = "key = \"workload.1.load\"";
    format!("{one}\n[[axis]]\nname = \"later\"\n{key}\nvalues = [0.1, 0.2, 0.3, 0.5]\n")
}

/// The results of all points, by the names of their directories.
fn results(sweep: &Sweep) -> Vec<PathBuf> {
    let points = sweep.points().into_iter();
    points.map(|point| point.join("result.h5")).collect()
}

/// Number of points that went on from a shared state, and the packet-hops before it.
fn shared(sweep: &Sweep) -> (usize, u64) {
    let runs = results(sweep)
        .into_iter()
        .map(|path| read_run(&path).expect("a result"));
    let hops: Vec<u64> = runs.filter_map(|run| run.forked_packet_hops).collect();
    (hops.len(), hops.iter().sum())
}

/// Compares tables and results.
fn assert_same(sweep: &Sweep, plain: &Sweep) {
    assert_eq!(sweep.read("table.csv"), plain.read("table.csv"));
    for (one, other) in results(sweep).iter().zip(results(plain)) {
        assert_eq!(
            one.parent().and_then(|at| at.file_name()),
            other.parent().and_then(|at| at.file_name())
        );
        assert_eq!(difference_of([one, &other]), "");
    }
    assert!(!sweep.out().join("forks").exists(), "nothing is left");
}

fn plain(until: u64) -> Sweep {
    let sweep = Sweep::new(&job(until));
    sweep.go("run", &["-j", "2", "--no-forks"]).expect(0);
    assert_eq!(shared(&sweep), (0, 0));
    sweep
}

/// A table of links with an empty line, and a router that is called like a section.
const LIKE_A_SECTION: &str = r#"
[topology]
kind = "graph"
links = "from,to\na,b\nb,c\n\n[[workload]],a\n[[workload]],c"
endpoints_per_router = 1
terminal = { bandwidth = "100 Gbps", latency = "5 ns" }
link = { bandwidth = "100 Gbps", latency = "20 ns" }
[routing]
algorithm = "shortest"
[[workload]]
pattern = { kind = "uniform" }
load = 0.1
stop = "600 ns"
message = "4 flits"
[run]
until = "1 us"
[[axis]]
name = "load"
key = "workload.0.load"
values = [0.1, 0.9]
"#;

#[test]
fn a_text_like_a_section_hides_no_difference() {
    let sweep = Sweep::new(LIKE_A_SECTION);
    let plan = sweep.json("plan");
    assert_eq!(plan["forks"].as_array().map(Vec::len), Some(0), "{plan}");
}

#[test]
fn the_table_is_the_same_and_the_beginning_is_simulated_once() {
    let plain = plain(10);
    let plan = plain.json("plan");
    let groups = plan["forks"].as_array().expect("a list");
    let points: Vec<String> = groups
        .iter()
        .map(|group| group["points"].to_string())
        .collect();
    assert_eq!(points, ["[0,1,2,3]", "[4,5,6,7]"]);
    assert!(
        groups
            .iter()
            .all(|group| group["at_ps"] == 5_000_000 && group["saved_ps"] == 15_000_000)
    );
    let mut hops = None;
    for options in [&["-j", "1"][..], &["-j", "3"], &["--ranks", "2"]] {
        let sweep = Sweep::new(&job(10));
        let Ran { stderr, .. } = sweep.go("run", options).expect(0);
        assert!(
            stderr.contains("forks: 6 points went on from states of others"),
            "{stderr}"
        );
        assert_same(&sweep, &plain);
        let (points, saved) = shared(&sweep);
        assert_eq!(points, 6);
        assert_eq!(*hops.get_or_insert(saved), saved);
        assert!(saved > 0);
    }
}

#[test]
fn killed_in_between_it_goes_on_to_the_same_table() {
    let plain = plain(400);
    for looks in [1, 4] {
        let sweep = Sweep::new(&job(400));
        let mut child = sweep.start("run", &["-j", "2", "--checkpoint-every", "20 ms"]);
        let begun = Instant::now();
        while sweep.results() < looks {
            assert!(begun.elapsed() < Duration::from_secs(240), "no result");
            sleep(Duration::from_millis(5));
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("it ends");
        sweep.go("run", &["--quiet"]).expect(0);
        assert_same(&sweep, &plain);
    }
}

/// A run by itself, with the options that a sweep gives it.
fn run(sweep: &Sweep, point: &str, out: &str) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args([
            "run",
            "--quiet",
            "--share-state=state",
            "--share-at=5 us",
            "--out",
            out,
        ])
        .arg(format!("out/points/{point}/experiment.toml"))
        .current_dir(sweep.folder.path())
        .output();
    Ran::of(output.expect("it can be started")).expect(0)
}

#[test]
fn damaged_and_foreign_states_are_noticed() {
    let sweep = plain(10);
    let names = |path: &PathBuf| {
        path.file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let table = sweep.read("table.csv");
    let hashes: Vec<&str> = table
        .lines()
        .skip(1)
        .filter_map(|row| row.split(',').nth(1))
        .collect();
    let forked = |out: &str| {
        let run = read_run(&sweep.folder.path().join(out).join("result.h5")).expect("a result");
        run.forked_ps
    };
    let is_whole = |point: &str, out: &str| {
        let [one, other] = [format!("out/points/{point}"), out.to_string()]
            .map(|dir| sweep.folder.path().join(dir).join("result.h5"));
        assert_eq!(difference_of([&one, &other]), "");
    };
    run(&sweep, hashes[0], "a");
    run(&sweep, hashes[1], "b");
    assert_eq!((forked("a"), forked("b")), (None, Some(5_000_000)));
    let state = sweep.folder.path().join("state/checkpoint/5000000ps");
    let files = fs::read_dir(&state).expect("a state");
    let files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    for file in files {
        let mut bytes = fs::read(&file).expect("reads");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(&file, bytes).expect("writes");
        let Ran { stderr, .. } = run(&sweep, hashes[2], &format!("c{}", names(&file)));
        assert!(
            names(&file) == "manifest" || stderr.contains("damaged"),
            "{stderr}"
        );
        assert_eq!(forked(&format!("c{}", names(&file))), None);
        is_whole(hashes[2], &format!("c{}", names(&file)));
        // The next one writes it again.
        run(&sweep, hashes[0], &format!("d{}", names(&file)));
    }
    run(&sweep, hashes[3], "e");
    assert_eq!(forked("e"), Some(5_000_000));
    is_whole(hashes[3], "e");
    // A point of the other group is another run before that time.
    let Ran { stderr, .. } = run(&sweep, hashes[4], "f");
    assert!(stderr.contains("of another experiment"), "{stderr}");
    assert_eq!(forked("f"), None);
    is_whole(hashes[4], "f");
}

/// Points whose failures begin later are the same network before, whatever fails then.
#[test]
fn failures_that_begin_later_share_the_time_before() {
    let axes = "values = [0.4]\n\n[[axis]]\nname = \"routing\"\nkey = \"routing.algorithm\"\n\
                values = [\"minimal\", \"ugal\"]\n\n[[axis]]\nname = \"failed\"\n\
                key = \"failure.0.share\"\nvalues = [0.05, 0.1, 0.3]\n";
    let sizes = "endpoints_per_router = 2\nrouters_per_group = 4\nglobal_links_per_router = 2";
    let failure = "[[failure]]\nlinks = \"fabric\"\nshare = 0.1\nat = \"6.4 us\"\n";
    let small = "endpoints_per_router = 1\nrouters_per_group = 2\nglobal_links_per_router = 1";
    let job = JOB.replace("seeds = 3", "").replace(small, sizes);
    let job = job
        .replace("values = [0.1, 0.4]\n", axes)
        .replace("\"5 us\"", "\"8 us\"");
    let effects = [
        "down = true\nrerouted_after = \"300 ns\"",
        "bandwidth = 0.5\nuntil = \"7 us\"",
        "bit_error_rate = 1e-5",
    ];
    for effect in effects {
        let workload = format!("{failure}{effect}\n\n[[workload]]");
        let job = job.replace("[[workload]]", &workload);
        let [forked, plain] = [Sweep::new(&job), Sweep::new(&job)];
        let groups = forked.json("plan")["forks"].clone();
        let groups = groups.as_array().expect("a list");
        assert_eq!(groups.len(), 2, "{groups:?}");
        assert!(groups.iter().all(|group| group["at_ps"] == 6_000_000));
        forked.go("run", &[]).expect(0);
        plain.go("run", &["--no-forks"]).expect(0);
        assert_eq!((shared(&forked).0, shared(&plain).0), (4, 0));
        assert_same(&forked, &plain);
        let own = results(&forked);
        let other = difference_of([&own[0], &own[1]]);
        assert_ne!(other, "", "the failures have an effect");
    }
    // A packet that is sent just before may be lost: then nothing is shared.
    let soon = format!(
        "{}down = true\n\n[[workload]]",
        failure.replace("6.4 us", "300 ns")
    );
    let soon = Sweep::new(&job.replace("[[workload]]", &soon));
    assert_eq!(soon.json("plan")["forks"].as_array().map(Vec::len), Some(0));
}

#[test]
fn an_axis_may_hold_from_a_time_on() {
    let marked = JOB.replace(
        "key = \"workload.0.load\"",
        "key = \"workload.0.load\"\nfork_at = \"3 us\"",
    );
    let by_axis = Sweep::new(&marked);
    by_axis.go("run", &[]).expect(0);
    let by_option = Sweep::new(JOB);
    by_option.go("run", &["--fork-at", "3 us"]).expect(0);
    assert_eq!(by_axis.read("table.csv"), by_option.read("table.csv"));
    let alone = Sweep::new(&marked);
    alone.go("run", &["--no-forks"]).expect(0);
    assert_same(&by_axis, &alone);
    // The load 0.1 of each seed is the base itself; the other one goes on from it.
    assert_eq!(shared(&by_axis).0, 3);
    let plain = Sweep::new(JOB);
    plain.go("run", &[]).expect(0);
    let rows = |sweep: &Sweep| -> Vec<String> {
        sweep.read("table.csv").lines().map(String::from).collect()
    };
    let (forked, plain) = (rows(&by_axis), rows(&plain));
    assert_eq!(forked[..4], plain[..4]);
    assert!(
        forked[4..]
            .iter()
            .zip(&plain[4..])
            .all(|(one, other)| one != other)
    );
    // The directory knows how it was run.
    let kept = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["sweep", "status", "out"])
        .current_dir(by_option.folder.path())
        .output();
    let Ran { stdout, .. } = Ran::of(kept.expect("runs")).expect(0);
    assert!(stdout.starts_with("6 done"), "{stdout}");
    let twice = marked.replace(
        "[run]",
        "[fork]\nat = \"2 us\"\nset = { \"run.seed\" = 9 }\n\n[run]",
    );
    let Ran { stderr, .. } = Sweep::new(&twice).go("run", &[]).expect(2);
    assert!(stderr.contains("forks at another time"), "{stderr}");
}

#[test]
fn a_run_forks_at_a_time() {
    let sweep = Sweep::new(JOB);
    let text = JOB
        .split("[[axis]]")
        .next()
        .expect("an experiment")
        .replace("seeds = 3", "");
    fs::write(sweep.folder.path().join("e.toml"), text).expect("a file");
    let go = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["run", "e.toml", "--quiet"])
            .args(arguments)
            .current_dir(sweep.folder.path())
            .output();
        Ran::of(output.expect("runs"))
    };
    let options = ["--fork-at", "3 us", "--set", "workload.0.load=0.4"];
    go(&[&["--out", "a"], &options[..]].concat()).expect(0);
    let file = sweep.folder.path().join("a/result.h5");
    let result = weir::result::read(&file).expect("a result");
    assert!(result.header.experiment.contains("[fork]\nat = \"3 us\""));
    assert!(result.digest.notes.iter().any(|note| note.kind == "fork"));
    // The same by a section of the file, and through the resolved experiment.
    let resolved = sweep.folder.path().join("again.toml");
    fs::write(&resolved, &result.header.experiment).expect("a file");
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["run", "again.toml", "--quiet", "--out", "b"])
        .current_dir(sweep.folder.path())
        .output();
    Ran::of(ran.expect("runs")).expect(0);
    assert_eq!(
        difference_of([&file, &sweep.folder.path().join("b/result.h5")]),
        ""
    );
    let refused = go(&[
        "--out",
        "c",
        "--fork-at",
        "3 us",
        "--set",
        "nic.injection_vcs=2",
    ]);
    let Ran { stderr, .. } = refused.expect(2);
    assert!(
        stderr.contains("`nic.injection_vcs` cannot change"),
        "{stderr}"
    );
    let words: Vec<&str> = stderr.split_whitespace().collect();
    assert!(
        words.join(" ").contains("--set nic.injection_vcs=2"),
        "{stderr}"
    );
}
