//! A job file in its own directory, and the commands of `weir sweep` run on it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Two loads, three seeds, on the smallest dragonfly: six points of some milliseconds.
pub const JOB: &str = r#"
seeds = 3

[topology]
kind = "dragonfly"
endpoints_per_router = 1
routers_per_group = 2
global_links_per_router = 1
groups = 3
terminal = { bandwidth = "100 Gbps", latency = "5 ns" }
local = { bandwidth = "100 Gbps", latency = "10 ns" }
global = { bandwidth = "100 Gbps", latency = "100 ns" }

[routing]
algorithm = "minimal"

[[workload]]
name = "uniform"
pattern = { kind = "uniform" }
load = 0.1
message = "4 flits"

[run]
until = "5 us"

[[axis]]
name = "load"
key = "workload.0.load"
values = [0.1, 0.4]
"#;

/// A job file in its own directory, in which the sweep is run.
pub struct Sweep {
    pub folder: TempDir,
}

impl Sweep {
    pub fn new(job: &str) -> Sweep {
        let folder = TempDir::new().expect("a directory");
        let sweep = Sweep { folder };
        sweep.write(job);
        sweep
    }

    pub fn write(&self, job: &str) {
        fs::write(self.folder.path().join("job.toml"), job).expect("a file");
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub fn command(&self, what: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command
            .args(["sweep", what, "job.toml", "--out", "out"])
            .args(more)
            .current_dir(self.folder.path())
            .env("OMPI_MCA_orte_tmpdir_base", self.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&self, what: &str, more: &[&str]) -> Child {
        self.command(what, more).spawn().expect("it can be started")
    }

    pub fn go(&self, what: &str, more: &[&str]) -> Ran {
        let output = self.command(what, more).output();
        Ran::of(output.expect("it can be started"))
    }

    pub fn json(&self, what: &str) -> Value {
        let ran = self.go(what, &["--json"]);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.out().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The directories of all points that were ever begun.
    pub fn points(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.out().join("points")) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("reads").path()).collect();
        paths.sort();
        paths
    }

    pub fn results(&self) -> usize {
        let there = |path: &&PathBuf| path.join("result.h5").exists();
        self.points().iter().filter(there).count()
    }

    pub fn count(&self, state: &str) -> u64 {
        self.json("status")[state].as_u64().expect("a number")
    }
}

/// Exit and output of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }
}
