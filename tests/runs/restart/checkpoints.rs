//! Checkpoints: a run that was killed or stopped goes on from the newest one, on any number of
//! ranks, to the bits of a run that was not. Damaged ones are noticed, and the one before is used.
//! Those of another experiment or program are refused.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use twox_hash::XxHash3_128;
use weir::model::{Rng, below, stream};

use crate::support::attack::cases;
use crate::support::process::ranks_of;
use crate::support::{Cli, Experiment, difference_of};

/// A directory for runs, with the result of an uninterrupted one.
struct Case {
    dir: TempDir,
}

/// Between two checkpoints: many in a run of a second.
const OFTEN: &str = "--checkpoint-every=5 ms";

impl Case {
    fn new() -> Case {
        let dir = tempfile::tempdir().expect("a directory");
        let experiment = Experiment::dragonfly(2, 4, 2)
            .routing("par")
            .set("congestion.scheme", "lhrp")
            .hotspot(7, 1, 0.9)
            .with("endpoints.count", 8)
            .with("endpoints.placement", "random")
            .uniform(0.6)
            .with("endpoints", "rest")
            .applications()
            .until("40 us");
        fs::write(dir.path().join("e.toml"), experiment.text()).expect("writes");
        let case = Case { dir };
        assert_eq!(case.run(&["e.toml", "--out", "whole"]).0, Some(0));
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, ranks: u32, arguments: &[&str]) -> Command {
        let weir = Path::new(env!("CARGO_BIN_EXE_weir"));
        let mut command = match ranks {
            1 => Command::new(weir),
            _ => Cli::program(weir, ranks),
        };
        command.env("OMPI_MCA_orte_tmpdir_base", self.dir.path());
        command.args(["run", "--quiet"]).args(arguments);
        command.current_dir(self.dir.path());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// Runs to the end: the exit code, and standard error.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.run_on(1, arguments)
    }

    fn run_on(&self, ranks: u32, arguments: &[&str]) -> (Option<i32>, String) {
        let child = self.command(ranks, arguments).spawn().expect("it starts");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    }

    /// Runs in one process, and sends a signal some time after a new checkpoint.
    fn signalled(&self, arguments: &[&str], signal: Signal, rng: &mut Rng) -> Ended {
        self.signalled_on(1, arguments, signal, rng)
    }

    /// The same on some ranks, of which one gets the signal.
    fn signalled_on(&self, ranks: u32, arguments: &[&str], signal: Signal, rng: &mut Rng) -> Ended {
        let before = self.newest("a");
        let mut child = self.command(ranks, arguments).spawn().expect("it starts");
        let since = Instant::now();
        while self.newest("a") == before && child.try_wait().expect("a child").is_none() {
            assert!(since.elapsed() < Duration::from_secs(120), "no checkpoint");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(u64::from(below(rng, 60))));
        match ranks_of(child.id()).as_slice() {
            [] => send(child.id(), signal),
            all => send(all[below(rng, all.len() as u32) as usize], signal),
        }
        let output = child.wait_with_output().expect("it ends");
        Ended {
            code: output.status.code(),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The newest checkpoint in a directory.
    fn newest(&self, out: &str) -> Option<PathBuf> {
        self.all(out).pop()
    }

    /// All checkpoints in a directory, by their times.
    fn all(&self, out: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(out).join("checkpoint"));
        let paths = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|one| one.path());
        let time = |path: &PathBuf| -> Option<u64> {
            let name = path.file_name()?.to_str()?;
            name.strip_suffix("ps")?.parse().ok()
        };
        let mut all: Vec<PathBuf> = paths.filter(|path| time(path).is_some()).collect();
        all.sort_by_key(|path| time(path));
        all
    }

    /// Checks that the result in `out` is the uninterrupted run's, and that nothing is left.
    fn is_whole(&self, out: &str) {
        let [one, other] = ["whole", out].map(|name| self.path(name).join("result.h5"));
        assert_eq!(difference_of([&one, &other]), "");
        let mut left = names(&self.path(out));
        // A process that is killed leaves its lock.
        left.retain(|name| !name.starts_with('.'));
        assert_eq!(left, ["result.h5"]);
    }
}

struct Ended {
    code: Option<i32>,
    said: String,
}

fn send(process: u32, signal: Signal) {
    let pid = Pid::from_raw(process as i32).expect("a process");
    // One that has just come to its end is no failure.
    let _ = kill_process(pid, signal);
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory").flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Killed at random times again and again, all of it or one rank of several, and gone on with on
/// several ranks and on one.
#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    let (case, mut rng) = (Case::new(), stream(43, &[]));
    let command = ["e.toml", "--out", "a", OFTEN];
    for round in 0..cases(2) {
        let kills = 1 + below(&mut rng, 3);
        for _ in 0..kills {
            let ranks = [1, 2, 3][below(&mut rng, 3) as usize];
            case.signalled_on(ranks, &command, Signal::KILL, &mut rng);
            println!("killed on {ranks} ranks");
        }
        if let Some(newest) = case.newest("a") {
            // Two are kept, and each time it may have been killed before it removed the third.
            let all = case.all("a");
            assert!(
                all.len() <= 2 + kills as usize,
                "{all:?} after {kills} kills"
            );
            let ranks = [2, 3, 1][round as usize % 3];
            let (code, said) = case.run_on(ranks, &["--resume", "a"]);
            assert_eq!(code, Some(0), "{said}");
            assert!(!newest.exists(), "removed at the end");
        }
        case.is_whole("a");
        fs::remove_dir_all(case.path("a")).expect("removes");
    }
}

/// SIGTERM, SIGUSR1, Ctrl-C and run.max_wall save the state: exit code 85, a result as far as it
/// went, and the same command goes on.
#[test]
fn a_stopped_run_saves_its_state() {
    let (case, mut rng) = (Case::new(), stream(44, &[]));
    let command = ["e.toml", "--out", "a", OFTEN];
    for signal in [Signal::TERM, Signal::USR1, Signal::INT] {
        let ended = case.signalled(&command, signal, &mut rng);
        if ended.code == Some(0) {
            continue;
        }
        assert_eq!(ended.code, Some(85), "{signal:?}: {}", ended.said);
        assert!(
            ended.said.contains("the same command goes on from there"),
            "{}",
            ended.said
        );
        assert!(case.path("a/result.h5").exists(), "{signal:?}");
    }
    let limited = [
        "e.toml",
        "--out",
        "b",
        "--max-wall=20 ms",
        "--checkpoint-every=1 h",
    ];
    let (code, said) = case.run(&limited);
    assert_eq!(code, Some(85), "{said}");
    assert_eq!(case.all("b").len(), 1, "{said}");
    // The limit is the clock's and may be another one.
    let (code, said) = case.run(&["e.toml", "--out", "b"]);
    assert_eq!(code, Some(0), "{said}");
    case.is_whole("b");
    let (code, said) = case.run(&command);
    assert_eq!(code, Some(0), "{said}");
    case.is_whole("a");
}

/// A case that was stopped, with two checkpoints in `a`.
fn stopped() -> Case {
    let (case, mut rng) = (Case::new(), stream(45, &[]));
    let command = ["e.toml", "--out", "a", OFTEN];
    while case.all("a").len() < 2 {
        case.signalled(&command, Signal::KILL, &mut rng);
    }
    let all = case.all("a");
    for old in &all[..all.len() - 2] {
        fs::remove_dir_all(old).expect("removes");
    }
    case
}

#[test]
fn a_damaged_checkpoint_is_noticed_and_the_one_before_is_used() {
    let (case, mut rng) = (stopped(), stream(46, &[]));
    let [older, newer] = case.all("a").try_into().expect("two");
    for file in ["manifest", "states-0"] {
        let path = newer.join(file);
        let good = fs::read(&path).expect("reads");
        for _ in 0..cases(4) {
            let mut bytes = good.clone();
            let place = below(&mut rng, bytes.len() as u32) as usize;
            match below(&mut rng, 3) {
                0 => bytes.truncate(place),
                _ => bytes[place] ^= 1 << below(&mut rng, 8),
            }
            fs::write(&path, &bytes).expect("writes");
            copy(&case.path("a"), &case.path("b"));
            let (code, said) = case.run(&["e.toml", "--out", "b"]);
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains("an older checkpoint is used"), "{said}");
            case.is_whole("b");
            fs::remove_dir_all(case.path("b")).expect("removes");
        }
        fs::write(&path, &good).expect("writes");
    }
    // If both are damaged, nothing is begun in silence.
    for folder in [&older, &newer] {
        fs::write(folder.join("states-0"), b"nothing").expect("writes");
    }
    let (code, said) = case.run(&["e.toml", "--out", "a"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("states-0") && said.contains("--force"),
        "{said}"
    );
    copy(&case.path("a"), &case.path("b"));
    let stopped = ["e.toml", "--out", "b", "--force", "--max-wall", "1 ms"];
    let (code, said) = case.run(&stopped);
    assert_eq!(code, Some(85), "{said}");
    assert!(said.contains("warning: the run starts anew"), "{said}");
    let (code, said) = case.run(&["e.toml", "--out", "b", "--force"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("anew"), "{said}");
    case.is_whole("b");
    for folder in [&older, &newer] {
        fs::write(folder.join("manifest"), b"nothing").expect("writes");
    }
    let (code, said) = case.run(&["e.toml", "--out", "a"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("manifest") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(case.all("a").len(), 2, "nothing was removed");
    let (code, said) = case.run(&["e.toml", "--out", "a", "--force"]);
    assert_eq!(code, Some(0), "{said}");
    case.is_whole("a");
}

/// A watched run has no checkpoints, and those in its directory are not its own.
#[test]
fn a_watched_run_leaves_checkpoints_as_they_are() {
    let case = stopped();
    let all = case.all("a");
    let until = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.strip_suffix("ps")?.parse::<u64>().ok())
    };
    let (code, said) = case.run(&["e.toml", "--out", "a", "--watch-packet", "0:0"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(case.all("a"), all);
    let weir = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["inspect", "--json"])
        .arg(case.path("a"))
        .output()
        .expect("it runs");
    let told: serde_json::Value = serde_json::from_slice(&weir.stdout).expect("JSON");
    let newest = all.iter().filter_map(|folder| until(folder)).max();
    assert_eq!(told["checkpoint_ps"].as_u64(), newest);
}

#[test]
fn a_damaged_checkpoint_makes_room_for_the_next() {
    let case = stopped();
    let [_, newer] = case.all("a").try_into().expect("two");
    // The run has not come as far as the damaged one.
    fs::write(newer.join("states-0"), b"nothing").expect("writes");
    let stopped = ["e.toml", "--out", "a", "--max-wall", "1 ms"];
    let (code, said) = case.run(&stopped);
    assert_eq!(code, Some(85), "{said}");
    let (code, said) = case.run(&["e.toml", "--out", "a"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("warning"), "{said}");
    case.is_whole("a");
}

/// It may be whole: nothing starts, and nothing is removed.
#[test]
fn a_checkpoint_that_cannot_be_read_now_is_kept() {
    let case = stopped();
    let [older, newer] = case.all("a").try_into().expect("two");
    fs::remove_file(newer.join("states-0")).expect("removes");
    fs::create_dir(newer.join("states-0")).expect("makes");
    for force in [&[][..], &["--force"]] {
        let (code, said) = case.run(&[&["e.toml", "--out", "a"], force].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("cannot be read"), "{said}");
        assert_eq!(case.all("a"), [&*older, &newer]);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes");
    for name in names(from) {
        let (one, other) = (from.join(&name), to.join(&name));
        match one.is_dir() {
            true => copy(&one, &other),
            false => drop(fs::copy(&one, &other).expect("copies")),
        }
    }
}

#[test]
fn a_checkpoint_of_another_experiment_or_program_is_refused() {
    let case = stopped();
    let other = ["e.toml", "--out", "a", "--seed=7"];
    let (code, said) = case.run(&other);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("there: seed = 1, here: seed = 7"), "{said}");
    let (code, said) = case.run(&["--resume", "a", "--seed=7"]);
    assert_eq!(code, Some(2), "{said}");
    // After the mark there are the checksum of the rest and the format.
    for folder in case.all("a") {
        let path = folder.join("manifest");
        let mut bytes = fs::read(&path).expect("reads");
        bytes[32] += 1;
        let sum = XxHash3_128::oneshot(&bytes[32..]).to_le_bytes();
        bytes[16..32].copy_from_slice(&sum);
        fs::write(&path, bytes).expect("writes");
    }
    let (code, said) = case.run(&["--resume", "a"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("format 4 of checkpoints"), "{said}");
    let (code, said) = case.run(&["--resume", "whole"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("there is no checkpoint in whole"), "{said}");
}

/// A name that is no text is refused where it would have to be written.
#[test]
fn a_directory_whose_name_is_no_text_is_refused() {
    let case = Case::new();
    let odd = case.dir.path().join(OsStr::from_bytes(b"odd-\xff"));
    let mut command = case.command(1, &["e.toml", OFTEN, "--out"]);
    let child = command.arg(&odd).spawn().expect("it starts");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("UTF-8"), "{said}");
}

/// What has the name of a checkpoint's folder and is none of weir's stays.
#[test]
fn nothing_else_is_removed() {
    let case = Case::new();
    let own = [
        "a/checkpoint/notes.txt",
        "a/checkpoint/best/model",
        "a/checkpoint/7ps/mine",
    ];
    for name in own {
        let path = case.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
        fs::write(path, b"mine").expect("writes");
    }
    for every in ["1 h", "5 ms"] {
        let every = format!("--checkpoint-every={every}");
        let (code, said) = case.run(&["e.toml", "--out", "a", "--force", &every]);
        assert_eq!(code, Some(0), "{said}");
        for name in own {
            assert_eq!(fs::read(case.path(name)).expect("still there"), b"mine");
        }
    }
}

/// A file of somebody else in a checkpoint stays, and the next checkpoints are made.
#[test]
fn a_foreign_file_in_a_checkpoint_stops_no_other() {
    let case = stopped();
    let mine = case
        .all("a")
        .iter()
        .map(|one| one.join("mine"))
        .collect::<Vec<PathBuf>>();
    for path in &mine {
        fs::write(path, b"mine").expect("writes");
    }
    let (code, said) = case.run(&["e.toml", "--out", "a", "--checkpoint-every", "5 ms"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("warning"), "{said}");
    for path in &mine {
        assert_eq!(fs::read(path).expect("still there"), b"mine");
        assert_eq!(names(path.parent().expect("a folder")).len(), 1);
    }
}

/// A directory that cannot be written costs the checkpoint, not the run.
#[test]
fn a_run_goes_on_without_a_place_for_checkpoints() {
    let case = Case::new();
    fs::create_dir(case.path("a")).expect("makes");
    fs::write(case.path("a/checkpoint"), b"in the way").expect("writes");
    let (code, said) = case.run(&["e.toml", "--out", "a", OFTEN]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("warning: there is no new checkpoint"),
        "{said}"
    );
    let [one, other] = ["whole", "a"].map(|name| case.path(name).join("result.h5"));
    assert_eq!(difference_of([&one, &other]), "");
}
