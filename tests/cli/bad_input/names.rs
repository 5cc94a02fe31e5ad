//! Names, paths and numbers that nothing can have.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use super::{good, refused, refused_at};
use crate::support::{Cli, Experiment};

#[test]
fn kinds_of_links_in_a_graph() {
    for (kind, says) in [
        ("all", "means several kinds"),
        ("fabric", "means several kinds"),
        ("Fibre", "1 to 64 characters a-z, 0-9 and _"),
        (&"a".repeat(65), "1 to 64 characters a-z, 0-9 and _"),
    ] {
        let text = format!(
            r#"
[topology]
kind = "graph"
links = "from,to,kind\nr0,r1,{kind}"
terminal = {{ bandwidth = "100 Gbps", latency = "5 ns" }}
[routing]
algorithm = "shortest"
[[workload]]
pattern = {{ kind = "uniform" }}
load = 0.1
message = "4 flits"
[run]
until = "1 us"
"#
        );
        refused(&Cli::run(&text).go(), &[says, "experiment.toml:4"]);
    }
}

#[test]
fn a_path_of_too_many_keys() {
    let set = format!("{}b=1", "a.".repeat(30_000));
    let ran = Cli::run(&good().text()).arg("--set").arg(&set).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("a path of 30001 keys is too long"));
}

#[test]
fn a_directory_that_is_not_utf8() {
    let cli = Cli::run(&good().text());
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["run", "experiment.toml", "--out"])
        .arg(OsStr::from_bytes(b"out\xff"))
        .current_dir(cli.folder())
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("a path in UTF-8"), "{said}");
    let files = std::fs::read_dir(cli.folder()).expect("reads").count();
    assert_eq!(files, 1, "nothing was made");
}

#[test]
fn stages_between_time_steps() {
    let steps = Experiment::tree(2, 3)
        .uniform(0.1)
        .set("router.output_queue", "none")
        .set("router.switching", "time_steps");
    let staged = steps.clone().set("router.vc_allocation", "3 ns");
    refused_at(
        &staged,
        "time_steps",
        &["in no time", "router.vc_allocation"],
    );
    let staged = steps
        .set("router.route_computation", "9 ns")
        .set("queueing.scheme", "single");
    refused_at(&staged, "time_steps", &["in no time"]);
}

#[test]
fn sweeps_of_no_points_at_once() {
    for option in ["--jobs", "--ranks"] {
        let command = [
            "sweep",
            "run",
            "experiment.toml",
            "--out",
            "out",
            option,
            "0",
        ];
        let ran = Cli::weir(&good().text(), &command).go();
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(option), "{}", ran.stderr);
        assert!(!ran.out().exists());
    }
}
