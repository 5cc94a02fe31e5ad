//! Directories of studies: moved, without their job file, read-only, or removed in the middle.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;
use weir_result::sample;

use crate::support::sweeping::{JOB, Ran, Sweep};

const WEIR: &str = env!("CARGO_BIN_EXE_weir");

/// The job with its network in a file beside it, and a claim that holds.
fn job() -> (String, String) {
    let begin = JOB.find("[topology]").expect("a network");
    let end = JOB.find("[routing]").expect("a routing");
    let network = JOB[begin..end].replace("[topology]\n", "");
    let job = format!(
        "{}[topology]\nfile = \"nets/my.toml\"\n\n{}\n[[claims]]\nid = \"arrives\"\nsays = \"Packets arrive.\"\n\
         metric = \"summary.accepted_load\"\nmin = 0.05\n",
        &JOB[..begin],
        &JOB[end..]
    );
    (job.replace("seeds = 3", "title = \"moved\""), network)
}

fn study() -> Sweep {
    let (job, network) = job();
    let sweep = Sweep::new(&job);
    let nets = sweep.folder.path().join("nets");
    fs::create_dir(&nets).expect("a folder");
    fs::write(nets.join("my.toml"), network).expect("a file");
    sweep.go("run", &[]).expect(0);
    sweep
}

fn weir(at: &Path, args: &[&str]) -> Ran {
    let output = Command::new(WEIR).args(args).current_dir(at).output();
    Ran::of(output.expect("it can be started"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_study_is_read_wherever_it_is() {
    let sweep = study();
    let out = sweep.out();
    weir(sweep.folder.path(), &["report", "out"]).expect(0);
    let page = sweep.read("report.html");
    weir(Path::new("/"), &["report", text(&out)]).expect(0);
    assert_eq!(sweep.read("report.html"), page, "from another directory");
    let table = sweep.read("table.csv");
    let claims = sweep.read("claims.csv");

    let elsewhere = TempDir::new().expect("a directory");
    let moved = elsewhere.path().join("moved");
    fs::rename(&out, &moved).expect("moves");
    fs::remove_dir_all(sweep.folder.path().join("nets")).expect("removes");
    fs::remove_file(sweep.folder.path().join("job.toml")).expect("removes");
    let read = |name: &str| fs::read_to_string(moved.join(name)).expect(name);
    weir(Path::new("/"), &["report", text(&moved)]).expect(0);
    assert_eq!(read("report.html"), page, "moved, and the originals gone");
    let status = weir(elsewhere.path(), &["sweep", "status", "moved"]).expect(0);
    assert!(
        status
            .stdout
            .starts_with("2 done, 0 running, 0 failed, 0 waiting"),
        "{status:?}"
    );
    weir(elsewhere.path(), &["sweep", "collect", "moved"]).expect(0);
    assert_eq!(read("table.csv"), table);
    weir(elsewhere.path(), &["sweep", "claims", "moved"]).expect(0);
    let words = |csv: &str| csv.rsplit_once(',').map(|(head, _)| head.to_string());
    assert_eq!(
        words(&read("claims.csv")),
        words(&claims),
        "but for the command"
    );
    let plan = weir(elsewhere.path(), &["sweep", "plan", "moved"]).expect(0);
    assert!(plan.stdout.contains("all of them are done"), "{plan:?}");
    // It says itself how it was changed.
    let ran = weir(
        elsewhere.path(),
        &["sweep", "run", "moved", "--set", "run.until=\"1 us\""],
    );
    assert!(ran.expect(2).stderr.contains("leave out --out, --set"));
}

/// Everything in a directory with its time.
fn times(root: &Path, all: &mut BTreeMap<PathBuf, (i64, i64)>) {
    let about = fs::metadata(root).expect("is there");
    all.insert(root.to_path_buf(), (about.mtime(), about.mtime_nsec()));
    if about.is_dir() {
        for entry in fs::read_dir(root).expect("reads") {
            times(&entry.expect("an entry").path(), all);
        }
    }
}

fn modes(root: &Path, dir: u32, file: u32) {
    let mut all = BTreeMap::new();
    times(root, &mut all);
    for path in all.keys() {
        let mode = if path.is_dir() { dir } else { file };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }
}

/// A command of a user who may not write here: root may write everywhere.
fn as_nobody(args: &[&str]) -> Option<Ran> {
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let output = match root {
        true => Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", WEIR])
            .args(args)
            .current_dir("/")
            .output(),
        false => Command::new(WEIR).args(args).current_dir("/").output(),
    };
    let ran = Ran::of(output.ok()?);
    // That user may not start programs in this directory, or does not exist.
    (ran.code != Some(126) && ran.code != Some(127)).then_some(ran)
}

#[test]
fn a_study_in_a_read_only_directory_can_be_read() {
    let sweep = study();
    let out = sweep.out();
    let table = sweep.read("table.csv");
    fs::set_permissions(sweep.folder.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    modes(&out, 0o555, 0o444);
    let mut before = BTreeMap::new();
    times(&out, &mut before);
    let dir = text(&out);
    let Some(collected) = as_nobody(&["sweep", "collect", dir]) else {
        eprintln!(
            "skipped: without setpriv(1), or where its user may not start weir, root can write \
             everywhere"
        );
        modes(&out, 0o755, 0o644);
        return;
    };
    let collected = collected.expect(0);
    assert_eq!(collected.stdout, table);
    assert!(
        collected.stderr.contains("read-only: the table follows"),
        "{collected:?}"
    );
    let claims = as_nobody(&["sweep", "claims", dir, "--csv"])
        .expect("it could be started before")
        .expect(0);
    assert!(claims.stdout.contains("arrives,"), "{claims:?}");
    let json = as_nobody(&["sweep", "claims", dir, "--json"])
        .expect("as before")
        .expect(0);
    assert!(json.stdout.starts_with("[{"), "{json:?}");
    for command in ["plan", "status"] {
        as_nobody(&["sweep", command, dir])
            .expect("as before")
            .expect(0);
    }
    let report = as_nobody(&["report", dir]).expect("as before").expect(2);
    assert!(
        report.stderr.contains("name another one with --out"),
        "{report:?}"
    );
    let page = TempDir::new().expect("a directory");
    fs::set_permissions(page.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
    let place = page.path().join("new");
    as_nobody(&["report", dir, "--out", text(&place)])
        .expect("as before")
        .expect(0);
    assert!(place.join("report.html").is_file() && place.join("figures").is_dir());
    let mut after = BTreeMap::new();
    times(&out, &mut after);
    assert_eq!(after, before, "nothing was written, not even for a moment");
    modes(&out, 0o755, 0o644);
}

#[test]
fn results_of_another_model_version_are_told_and_kept() {
    let sweep = study();
    weir(sweep.folder.path(), &["report", "out"]).expect(0);
    for point in fs::read_dir(sweep.out().join("points")).expect("points") {
        let old = point.expect("a point").path();
        sample::of_model(&old.join("result.h5"), 3);
        fs::rename(
            &old,
            old.with_file_name(format!("{:x}", old.metadata().expect("is there").ino())),
        )
        .expect("another name");
    }
    let mut before = BTreeMap::new();
    times(&sweep.out(), &mut before);
    let told = "its results are of model version 3, and this weir has ";
    for command in [&["report"][..], &["sweep", "collect"], &["sweep", "claims"]] {
        let ran = weir(sweep.folder.path(), &[command, &["out"]].concat()).expect(2);
        assert!(
            ran.stderr.contains(told) && ran.stderr.contains("weir sweep run job.toml"),
            "{ran:?}"
        );
    }
    let status = weir(sweep.folder.path(), &["sweep", "status", "out"]).expect(0);
    assert!(status.stdout.contains(told), "{status:?}");
    let mut after = BTreeMap::new();
    times(&sweep.out(), &mut after);
    assert_eq!(after, before, "the table, the claims and the figures stay");
    sweep.go("run", &[]).expect(0);
    weir(sweep.folder.path(), &["report", "out"]).expect(0);
}

/// A trace is what is in its file, wherever that is: the points are the same after a project has
/// been moved, and a single run goes on in its own directory.
#[test]
fn a_project_may_be_moved_with_its_traces() {
    let parent = TempDir::new().expect("a directory");
    let [old, new] = ["old", "new"].map(|name| parent.path().join(name));
    fs::create_dir(&old).expect("a folder");
    let (begin, end) = (JOB.find("[[workload]]"), JOB.find("[run]"));
    let (begin, end) = (begin.expect("a workload"), end.expect("a run"));
    let trace = "[[workload]]\nname = \"t\"\ntrace = { format = \"flows\", file = \"t.csv\" }\n\n";
    let experiment = [&JOB[..begin], trace, "[run]\nuntil = \"completion\"\n"].concat();
    let experiment = experiment.replace("seeds = 3", "");
    let axis =
        "[[axis]]\nname = \"latency\"\nkey = \"router.latency\"\nvalues = [\"10 ns\", \"20 ns\"]\n";
    assert!(JOB[end..].contains("[[axis]]"));
    fs::write(
        old.join("t.csv"),
        "source,destination,bytes,start\n0,2,1000,0\n",
    )
    .expect("writes");
    fs::write(old.join("one.toml"), &experiment).expect("writes");
    fs::write(old.join("job.toml"), [&experiment, axis].concat()).expect("writes");
    weir(&old, &["sweep", "run", "job.toml", "--out", "s"]).expect(0);
    weir(&old, &["run", "one.toml", "--out", "r"]).expect(0);
    fs::rename(&old, &new).expect("renames");
    for at in [&new, parent.path()] {
        let sweep = new.join("s");
        let told = weir(at, &["sweep", "status", "--json", text(&sweep)]).expect(0);
        let status: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
        let states = ["done", "waiting"].map(|state| status[state].as_u64());
        assert_eq!(states, [Some(2), Some(0)], "{}", told.stdout);
        weir(at, &["report", text(&sweep)]).expect(0);
    }
    weir(&new, &["run", "one.toml", "--out", "r"]).expect(0);
    fs::write(
        new.join("t.csv"),
        "source,destination,bytes,start\n0,2,2000,0\n",
    )
    .expect("writes");
    weir(&new, &["run", "one.toml", "--out", "r"]).expect(2);
}

#[test]
fn a_table_is_printed_without_being_written() {
    let sweep = study();
    fs::remove_file(sweep.out().join("table.csv")).expect("removes");
    let mut before = BTreeMap::new();
    times(&sweep.out(), &mut before);
    let printed = sweep.go("collect", &["--csv"]).expect(0).stdout;
    let mut after = BTreeMap::new();
    times(&sweep.out(), &mut after);
    assert_eq!(after, before);
    sweep.go("collect", &[]).expect(0);
    assert_eq!(sweep.read("table.csv"), printed);
}

#[test]
fn a_directory_that_is_removed_is_named() {
    let sweep = Sweep::new(&JOB.replace("until = \"5 us\"", "until = \"200 us\""));
    let child = sweep.start("run", &[]);
    while sweep.results() == 0 {
        sleep(Duration::from_millis(5));
    }
    // At once: piece by piece, the first directory that is missing may be one in it.
    fs::rename(sweep.out(), sweep.out().with_extension("gone")).expect("moves");
    let ran = Ran::of(child.wait_with_output().expect("it ends")).expect(1);
    let words = "there is no directory out\n";
    assert!(ran.stderr.ends_with(words), "{}", ran.stderr);
    assert!(!sweep.out().exists(), "it is not made again");
}
