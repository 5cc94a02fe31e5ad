//! The built program, alone or under mpirun.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

/// A program that runs longer than this hangs. It is far more than any test takes, so that no
/// machine is too slow.
const HANGS: Duration = Duration::from_secs(300);

/// One call of `weir`, in its own directory that holds `experiment.toml`.
pub struct Cli {
    folder: TempDir,
    ranks: Option<u32>,
    arguments: Vec<String>,
}

/// Outcome of a call.
pub struct Ran {
    /// The exit code; None if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    folder: TempDir,
}

impl Cli {
    /// `weir run experiment.toml --out out`, with this text as the experiment.
    pub fn run(experiment: &str) -> Cli {
        Cli::weir(experiment, &["run", "experiment.toml", "--out", "out"])
    }

    /// `weir check experiment.toml`, without beginning a run.
    pub fn check(experiment: &str) -> Cli {
        Cli::weir(
            experiment,
            &["check", "experiment.toml", "--no-calibration"],
        )
    }

    /// `weir` with any arguments.
    pub fn weir(experiment: &str, arguments: &[&str]) -> Cli {
        let folder = TempDir::new().expect("a directory");
        std::fs::write(folder.path().join("experiment.toml"), experiment).expect("a file");
        Cli {
            folder,
            ranks: None,
            arguments: arguments.iter().map(|text| text.to_string()).collect(),
        }
    }

    /// The directory it runs in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Under `mpirun -n ranks`.
    pub fn ranks(mut self, ranks: u32) -> Cli {
        self.ranks = Some(ranks);
        self
    }

    /// One more argument.
    pub fn arg(mut self, argument: &str) -> Cli {
        self.arguments.push(argument.to_string());
        self
    }

    /// `--set key=value`.
    pub fn set(self, assignment: &str) -> Cli {
        self.arg("--set").arg(assignment)
    }

    /// The command, to be started.
    pub fn command(&self) -> Command {
        let weir = Path::new(env!("CARGO_BIN_EXE_weir"));
        let mut command = match self.ranks {
            None => Command::new(weir),
            Some(ranks) => Cli::program(weir, ranks),
        };
        command.args(&self.arguments).current_dir(self.folder());
        // Open MPI's own files of each test apart: those that end are removed with their folder.
        command.env("OMPI_MCA_orte_tmpdir_base", self.folder());
        command
    }

    /// Any program under `mpirun -n ranks`.
    pub fn program(program: &Path, ranks: u32) -> Command {
        let mut command = Command::new("mpirun");
        command.args(["-n", &ranks.to_string()]).arg(program);
        // More ranks than cores is a matter of speed alone here. As variables, for other MPIs
        // ignore them.
        for (name, value) in [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("OMPI_MCA_hwloc_base_binding_policy", "none"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
            ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        ] {
            command.env(name, value);
        }
        command
    }

    /// Runs it to its end.
    pub fn go(self) -> Ran {
        let mut command = assert_cmd::Command::from_std(self.command());
        let output = command.timeout(HANGS).output().expect("it can be started");
        self.ran(output)
    }

    /// Runs it to its end, which must be a good one.
    pub fn succeeds(self) -> Ran {
        let ran = self.go();
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    /// Outcome of a command that was started elsewhere.
    pub fn ran(self, output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            folder: self.folder,
        }
    }
}

impl Ran {
    /// Path of the result.
    pub fn result(&self) -> PathBuf {
        self.out().join("result.h5")
    }

    /// The output directory.
    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }
}

/// Output of `h5diff` on `/data` in two results; empty if it is the same.
pub fn difference(a: &Ran, b: &Ran) -> String {
    difference_of([&a.result(), &b.result()])
}

/// The same of two results.
pub fn difference_of(files: [&Path; 2]) -> String {
    let output = Command::new("h5diff")
        .arg("-c")
        .args(files)
        .args(["/data", "/data"])
        .output()
        .expect("h5diff (of the HDF5 tools) can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if !text.contains("not comparable") => String::new(),
        _ => format!("h5diff: {text}{complaint}{}", output.status),
    }
}
