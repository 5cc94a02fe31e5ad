//! The machine fails: a rank hangs, memory or the disk runs out. The run ends, or goes on, in good
//! order.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::endless;
use crate::support::process::{SmallDisk, files, holder_of, ranks_of, start, wait_for};
use crate::support::{Cli, Experiment};

/// A rank that stands still is found by the ranks that wait for it; its process is ended, too.
#[test]
fn a_rank_that_hangs_ends_the_run() {
    let cli = endless().cli().ranks(3).arg("--max-wait=2 s");
    let out = cli.folder().join("out");
    let mpirun = start(&cli);
    holder_of(&out);
    let ranks = ranks_of(mpirun.id());
    let pid = Pid::from_raw(ranks[1] as i32).expect("a process");
    sleep(Duration::from_millis(300));
    kill_process(pid, Signal::STOP).expect("it runs");
    let ran = cli.ran(mpirun.wait_with_output().expect("an end"));
    assert_ne!(ran.code, Some(0));
    let said = ran.stderr.matches("has waited for").count();
    assert_eq!(said, 1, "{}", ran.stderr);
    wait_for("the end of all ranks", || {
        let gone = |rank: &u32| !Path::new(&format!("/proc/{rank}")).exists();
        ranks.iter().all(gone).then_some(())
    });
}

/// More memory than it may have: the state is saved, and the run goes on where there is more.
#[test]
fn a_run_that_needs_too_much_memory_stops_in_good_order() {
    let cli = endless().cli().arg("--max-memory=1 MiB");
    let ran = cli.arg("--checkpoint-every=1 h").go();
    assert_eq!(ran.code, Some(85), "{}", ran.stderr);
    assert!(ran.stderr.contains("max_memory"), "{}", ran.stderr);
    assert!(ran.out().join("checkpoint").is_dir());
}

#[test]
fn a_disk_that_is_full_costs_the_checkpoint_alone() {
    let Some(disk) = SmallDisk::new("2m") else {
        return;
    };
    let out = disk.path().join("out");
    let text = Experiment::dragonfly(2, 4, 2)
        .uniform(0.9)
        .until("30 us")
        .text();
    let arguments = ["run", "experiment.toml", "--checkpoint-every=5 ms", "--out"];
    let ran = Cli::weir(&text, &arguments)
        .arg(out.to_str().expect("UTF-8"))
        .go();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let warning = "warning: there is no new checkpoint: ";
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
    assert_eq!(files(&out), [out.join("result.h5")]);
}

/// A directory that vanishes is not made again, without a lock; that is an error at the end.
#[test]
fn a_directory_that_vanishes_is_told_of() {
    let cli = endless().set("run.max_wall", "700 ms").cli();
    let cli = cli.arg("--checkpoint-every=50 ms");
    let out = cli.folder().join("out");
    let run = start(&cli);
    holder_of(&out);
    std::fs::remove_dir_all(&out).expect("removes");
    let ran = cli.ran(run.wait_with_output().expect("an end"));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("warning: there is no new checkpoint"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("error: ") && ran.stderr.contains("result.h5"),
        "{}",
        ran.stderr
    );
    assert!(!out.exists());
}
