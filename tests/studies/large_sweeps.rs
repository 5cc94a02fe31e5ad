//! Studies of many points: a command examines the points that it is asked for, and no more.

use std::process::Command;

use crate::support::sweeping::{JOB, Ran, Sweep};

/// Processor time, s, that a command on some points of 100,000 may take: all of them take several
/// times as much.
const SECONDS: u32 = 20;

/// A study of `loads` x 10 x 10 points.
fn job(loads: u32) -> String {
    let ten = |name: &str, key: &str, unit: &str| {
        let values: Vec<String> = (10..20).map(|i| format!("\"{i} {unit}\"")).collect();
        let values = values.join(", ");
        format!("[[axis]]\nname = \"{name}\"\nkey = \"{key}\"\nvalues = [{values}]\n")
    };
    let range = format!("values = {{ from = 0.001, to = 0.999, count = {loads} }}");
    JOB.replace("seeds = 3", "")
        .replace("values = [0.1, 0.4]", &range)
        + &ten("warm-up", "run.warmup", "ns")
        + &ten("queue", "router.output_queue", "packets")
}

/// A command on a study, with a bound on its processor time.
fn quickly(sweep: &Sweep, command: &str) -> Ran {
    let weir = env!("CARGO_BIN_EXE_weir");
    let line = format!("ulimit -t {SECONDS}; exec {weir} sweep {command}");
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(sweep.folder.path())
        .output();
    Ran::of(output.expect("it can be started"))
}

#[test]
fn some_points_of_a_hundred_thousand_take_no_longer_than_they_are() {
    let sweep = Sweep::new(&job(1_000));
    let plan = quickly(&sweep, "plan job.toml --out out").expect(0).stdout;
    let rows: Vec<&str> = plan
        .lines()
        .filter(|line| line.contains("waiting"))
        .collect();
    assert_eq!(rows.len(), 20, "the first and the last ten: {plan}");
    assert!(
        rows[0].starts_with("0 ") && rows[19].starts_with("99999 "),
        "{plan}"
    );
    assert!(plan.contains("\n100000 points, about "), "{plan}");
    quickly(&sweep, "run job.toml --out out --points 5,99999 --quiet").expect(0);
    assert_eq!(sweep.results(), 2);
    let status = quickly(&sweep, "status job.toml --out out")
        .expect(0)
        .stdout;
    let words = "2 done, 0 running, 0 failed, 99998 waiting of 100000 points\n";
    assert!(status.starts_with(words), "{status}");
    // They are the points that the plan showed.
    let last = rows[19].split_whitespace().nth(1).expect("a hash");
    assert!(
        sweep
            .out()
            .join("points")
            .join(last)
            .join("result.h5")
            .exists()
    );
}

/// A large study whose job file was edited: its points have other places now, and are found all the
/// same.
#[test]
fn points_are_found_wherever_they_were_when_they_ran() {
    let sweep = Sweep::new(&job(21));
    quickly(&sweep, "run job.toml --out out --points 1000,1001 --quiet").expect(0);
    let before = job(21).replace(
        "[[axis]]\nname = \"warm-up\"",
        "[[axis]]\nname = \"first\"\nvalues = [{ label = \"a\", \"output.bin\" = \"3 us\" }, { label = \"b\" }]\n[[axis]]\nname = \"warm-up\"",
    );
    sweep.write(&before);
    let status = quickly(&sweep, "status job.toml --out out")
        .expect(0)
        .stdout;
    assert!(
        status.starts_with("2 done, 0 running, 0 failed, 4198 waiting"),
        "{status}"
    );
    // Points that are no longer wanted do not count.
    sweep.write(&job(21).replace("until = \"5 us\"", "until = \"6 us\""));
    let status = quickly(&sweep, "status job.toml --out out")
        .expect(0)
        .stdout;
    assert!(
        status.starts_with("0 done, 0 running, 0 failed, 2100 waiting"),
        "{status}"
    );
}

/// Points that are named are checked, each of them; without names all are.
#[test]
fn a_point_that_cannot_be_run_is_refused_where_it_is_asked_for() {
    let axis = "[[axis]]\nname = \"ports\"\nkey = \"topology.global_links_per_router\"\nvalues = [1, 2, 0]\n";
    let sweep = Sweep::new(&(JOB.replace("seeds = 3", "") + axis));
    for command in ["run", "plan"] {
        let ran = sweep.go(command, &[]).expect(2);
        assert!(ran.stderr.contains("ports = 0"), "{}", ran.stderr);
    }
    assert!(!sweep.out().exists(), "nothing was begun");
    let ran = sweep.go("run", &["--points", "0,2"]).expect(2);
    assert!(
        ran.stderr.contains("load = 0.1, ports = 0"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("values = [1, 2, 0]"),
        "its line: {}",
        ran.stderr
    );
    assert!(!sweep.out().exists(), "not even the good one");
    sweep.go("run", &["--points", "0"]).expect(0);
    assert_eq!(sweep.results(), 1);
    let ran = sweep.go("run", &["--points", "6"]).expect(2);
    assert!(ran.stderr.contains("0..6"), "{}", ran.stderr);
}
