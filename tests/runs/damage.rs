//! No damage to a result ends or stops a program that reads it: it is refused with a message.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::attack::{cases, seed};
use crate::support::{Cli, Experiment};
use weir::model::{Rng, below, stream};
use weir::result;

/// Far longer than any reader takes for a file of some KiB.
const HANGS: Duration = Duration::from_secs(120);

/// A small result with every group that there can be.
fn small() -> Experiment {
    Experiment::dragonfly(1, 2, 1)
        .job("allreduce", 4)
        .traffic("uniform", 0.2)
        .with("endpoints", "rest")
        .set("congestion.scheme", "ecn")
        .set("run.until", "2 us")
        .set("output.bin", "500 ns")
        .set("output.occupancy", "500 ns")
        .set("output.iterations", true)
        .set("output.packets", true)
        .set("output.messages", true)
        .set("output.rates.interval", "500 ns")
        .set("output.rates.endpoints", toml::Value::Array(vec![0.into()]))
}

fn any(rng: &mut Rng, below_this: usize) -> usize {
    below(rng, below_this as u32) as usize
}

/// A piece of the file, short or long.
fn piece(rng: &mut Rng, length: usize) -> std::ops::Range<usize> {
    let most = [1, 4, 64, 2_048, length / 2][any(rng, 5)];
    let size = 1 + any(rng, most.max(1));
    let start = any(rng, length - size.min(length) + 1);
    start..(start + size).min(length)
}

/// The file with some damage, and a description of the damage.
fn damaged(whole: &[u8], rng: &mut Rng) -> (String, Vec<u8>) {
    let mut bytes = whole.to_vec();
    let what = match any(rng, 6) {
        0 => {
            let flips = 1 + any(rng, 3);
            let places = (0..flips).map(|_| any(rng, bytes.len() * 8));
            let places: Vec<usize> = places.collect();
            for bit in &places {
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            format!("bits {places:?} flipped")
        }
        1 => {
            let range = piece(rng, bytes.len());
            bytes[range.clone()].fill(0);
            format!("bytes {range:?} zero")
        }
        2 => {
            let range = piece(rng, bytes.len());
            for byte in &mut bytes[range.clone()] {
                *byte = below(rng, 256) as u8;
            }
            format!("bytes {range:?} noise")
        }
        3 => {
            let length = any(rng, bytes.len());
            bytes.truncate(length);
            format!("cut to {length} bytes")
        }
        4 => {
            const BLOCK: usize = 512;
            let blocks = bytes.len() / BLOCK;
            let (a, b) = (any(rng, blocks), any(rng, blocks));
            for at in 0..BLOCK {
                bytes.swap(a * BLOCK + at, b * BLOCK + at);
            }
            format!("blocks {a} and {b} swapped")
        }
        _ => {
            let more = 1 + any(rng, 10_000);
            bytes.extend((0..more).map(|_| below(rng, 256) as u8));
            format!("{more} bytes added")
        }
    };
    (what, bytes)
}

/// Result of `look`, which must come soon.
fn soon<T: Send + 'static>(what: &str, look: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(look()));
    let heard = receiver.recv_timeout(HANGS);
    heard.unwrap_or_else(|_| panic!("{what}: no answer"))
}

#[test]
fn the_library_never_sees_a_damaged_file() {
    let ran = small().cli().succeeds();
    let whole = fs::read(ran.result()).expect("a result");
    let mut rng = stream(seed(), &[1]);
    let path = ran.out().join("damaged.h5");
    for case in 0..cases(400) {
        let (what, bytes) = damaged(&whole, &mut rng);
        if bytes == whole {
            continue;
        }
        fs::write(&path, &bytes).expect("writes");
        let read = path.clone();
        let found = soon(&what, move || result::read(&read).map(|_| ()));
        let told = found.expect_err(&format!("case {case}: {what}"));
        assert!(told.to_string().contains("damaged.h5"), "{what}: {told}");
    }
    fs::write(&path, &whole).expect("writes");
    result::read(&path).expect("without damage it is read");
}

/// The exit code and the output; the code is None after a signal.
fn weir(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(arguments).current_dir(folder);
    let output = assert_cmd::Command::from_std(command)
        .timeout(HANGS)
        .output()
        .expect("started");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code(), text)
}

const JOB: &str = "[[axis]]\nname = \"end\"\nkey = \"run.until\"\nvalues = [\"2 us\", \"3 us\"]\n";

/// A sweep of two points; the path of the first one's result.
fn sweep(folder: &Path) -> PathBuf {
    let text = format!("{}\n{JOB}", small().text());
    fs::write(folder.join("job.toml"), text).expect("writes");
    let (code, text) = weir(folder, &["sweep", "run", "job.toml", "--out", "s"]);
    assert_eq!(code, Some(0), "{text}");
    let points = fs::read_dir(folder.join("s/points")).expect("points");
    let results = points.map(|point| point.expect("a point").path().join("result.h5"));
    results.min().expect("a result")
}

#[test]
fn no_command_is_ended_or_stopped_by_damage() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = dir.path();
    let point = sweep(folder);
    let whole = fs::read(&point).expect("a result");
    fs::create_dir(folder.join("a")).expect("creates");
    let mut rng = stream(seed(), &[2]);
    for case in 0..cases(8) {
        let (what, bytes) = damaged(&whole, &mut rng);
        if bytes == whole {
            continue;
        }
        for path in [&folder.join("a/result.h5"), &point] {
            fs::write(path, &bytes).expect("writes");
        }
        for (arguments, expected) in [
            (&["inspect", "a"][..], 2),
            (&["inspect", "--experiment", "a"], 2),
            (&["report", "a"], 2),
            (&["compare", "a", "a"], 2),
            (&["report", "s"], 0),
            (&["sweep", "status", "job.toml", "--out", "s"], 0),
            (&["sweep", "collect", "job.toml", "--out", "s"], 0),
        ] {
            let (code, text) = weir(folder, arguments);
            let place = format!("case {case}: {what}: {arguments:?}: {text}");
            assert_eq!(code, Some(expected), "{place}");
            let told = match arguments {
                ["report", "s"] => {
                    fs::read_to_string(folder.join("s/report.html")).expect("a page")
                }
                ["sweep", "collect", ..] => text.replace("1 of 2 points", "result.h5"),
                _ => text,
            };
            assert!(told.contains("result.h5"), "{place}");
        }
    }
    let arguments = ["sweep", "run", "job.toml", "--out", "s"];
    let (code, text) = weir(folder, &arguments);
    assert_eq!(code, Some(0), "{text}");
    let (_, text) = weir(folder, &["sweep", "status", "job.toml", "--out", "s"]);
    assert!(text.starts_with("2 done"), "it was made again: {text}");
    result::read(&point).expect("a whole result");
}

#[test]
fn what_is_no_file_stops_nobody() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = dir.path();
    let made = Command::new("mkfifo").arg(folder.join("fifo")).status();
    assert!(made.expect("mkfifo").success());
    for (name, target) in [("a", "../fifo"), ("b", "/dev/zero"), ("c", "missing")] {
        fs::create_dir(folder.join(name)).expect("creates");
        let link = folder.join(name).join("result.h5");
        std::os::unix::fs::symlink(target, link).expect("links");
        for arguments in [&["inspect", name][..], &["report", name]] {
            let (code, text) = weir(folder, arguments);
            assert_eq!(code, Some(2), "{arguments:?}: {text}");
            assert!(!text.is_empty());
        }
    }
    let cli = Cli::weir(&small().text(), &["run", "experiment.toml", "--out"])
        .arg(folder.join("a").to_str().expect("UTF-8"));
    let mut command = cli.command();
    let run = command.stderr(Stdio::piped()).spawn().expect("started");
    let ran = cli.ran(run.wait_with_output().expect("an end"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is in the way"), "{}", ran.stderr);
}
