//! Commands and options of the command line.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::experiment::bill::price;
use crate::cli::out::utf8_path;
use crate::cli::process::launch::mpi_library;
use crate::cli::process::program;
use crate::cli::reference::help::names::Names;
use crate::cli::results::compare::CompareOptions;
use crate::cli::studies::sweep::{Starts, SweepCommand};
use weir_input::{ConfigError, Duration, Size};
use weir_simulation::config::Document;

/// Exit codes of the process; docs/running.md says more.
pub const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  the run or a point failed, or the run stopped early at run.max_wall or --max-memory
    2  bad input: the experiment, the options or the output directory
    3  a claim of a sweep does not hold, or is undecided
    4  stalled: packets in flight can never move again
   85  a sweep, or a run with checkpoints, was stopped by a signal, run.max_wall or
       --max-memory; the same command goes on from there
  101  a defect of weir
  129, 130, 138, 143  stopped by SIGHUP, Ctrl-C, SIGUSR1, SIGTERM; the result goes as far as the
       run got
  134  ended by the system: no memory is left (SIGABRT)
  135, 139  ended by the system: a disk is full or is gone, or a defect (SIGBUS, SIGSEGV)
  137  killed: mostly the system has no memory left, or the batch system ends the job (SIGKILL)
  152, 153  a limit of ulimit: processor time, the size of a file (SIGXCPU, SIGXFSZ)";

/// Simulates the interconnects of high-performance computers and what congestion does to the
/// applications that share them.
#[derive(Debug, Parser)]
#[command(
    name = "weir",
    version,
    long_version = version(),
    about,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// More log messages on standard error (-v: what is being built; -vv: details).
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// Everything about the program that a result of it depends on.
fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (major, minor, micro) = hdf5::library_version();
        let (version, model) = (program::VERSION, program::MODEL_VERSION);
        format!(
            "{version}\nmodel version {model}\ncommit {}\nfeatures {}\nMPI: {}\nHDF5 {major}.{minor}.{micro}",
            program::COMMIT,
            program::FEATURES,
            mpi_library(),
        )
    });
    &TEXT
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment (under mpirun: on all its ranks) and write DIR/result.h5.
    Run(RunOptions),
    /// Run a study of many points (a job file), and check what it claims.
    #[command(subcommand)]
    Sweep(SweepCommand),
    /// Search for the parameters of a congestion-control scheme that serve best.
    Tune(TuneOptions),
    /// Check an experiment, print it with every default filled in, and say what it will take.
    Check(CheckOptions),
    /// List what an experiment may name: topologies, routings, queueing, schemes, patterns, motifs,
    /// traces.
    List(ListOptions),
    /// Print the documentation of a key of experiment and job files: type, default, meaning.
    Doc(DocOptions),
    /// Say what a result file holds.
    Inspect(InspectOptions),
    /// Say which links congestion begins at, who causes it, and whom it holds up.
    Explain(ExplainOptions),
    /// Compare runs, or sweeps, with the first of them.
    Compare(CompareOptions),
    /// Make a page and figures of a run or a sweep: DIR/report.html, DIR/figures.
    Report(ReportOptions),
    /// Write the messages of a run as a trace that can be replayed, a timeline of the run, or a
    /// network.
    Export(ExportOptions),
    /// Make an experiment of a configuration of another simulator, or a topology file of a network.
    Import(ImportOptions),
    /// Print the JSON Schema of the experiment file, for editors.
    Schema,
    /// Print what a shell has to read to complete weir's commands and options.
    Completions(CompletionsOptions),
    /// Print the manual page weir(1), or write one page for each command into a directory.
    Man(ManOptions),
}

/// `weir tune`.
#[derive(Args, Debug)]
pub struct TuneOptions {
    /// An experiment, or a job file with [tune] and [[criterion]] (TOML).
    pub file: PathBuf,
    /// Directory of the search; an unfinished search continues. Default: out/NAME, after the name
    /// of the file.
    #[arg(long, value_name = "DIR", value_parser = utf8_path())]
    pub out: Option<PathBuf>,
    /// Set a key of the experiment at all points: `run.until="20 us"`. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The smaller search that [reduced] of the job file describes.
    #[arg(long)]
    pub reduced: bool,
    /// Points at once, and ranks of each.
    #[command(flatten)]
    pub starts: Starts,
    /// Run nothing: write the job file of what is to be run next, which `weir sweep plan`, `run`
    /// and `submit` take.
    #[arg(long)]
    pub plan: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error; warnings and errors stay.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir completions`.
#[derive(Args, Debug)]
pub struct CompletionsOptions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `weir man`.
#[derive(Args, Debug)]
pub struct ManOptions {
    /// Directory for weir.1, weir-run.1 …; made if it does not exist. Default: weir.1 goes to
    /// standard output.
    pub dir: Option<PathBuf>,
}

/// Keys of an experiment that are given beside its file.
#[derive(Args, Debug)]
pub struct Overrides {
    /// Set a key of the experiment: `run.seed=7`, `congestion.scheme=ecn`, `workload.0.load=0.4`.
    /// May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The seed of all chance: --set run.seed=SEED.
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// End the run after so long on the clock, with what there is by then: --set
    /// run.max_wall="TIME".
    #[arg(long, value_name = "TIME")]
    pub max_wall: Option<String>,
    /// Fork the run at this simulated time: --set and --seed hold from then on, and before it the
    /// run is that of the file. See [fork] of the experiment file.
    #[arg(long, value_name = "TIME")]
    pub fork_at: Option<Duration>,
}

impl Overrides {
    /// Changes an experiment.
    pub fn apply(&self, document: &mut Document) -> Result<(), ConfigError> {
        self.check()?;
        let seed = self.seed.map(|seed| format!("run.seed={seed}"));
        for given in self.sets.iter().chain(&seed) {
            match self.fork_at {
                Some(at) => document.fork_set(&at.to_string(), given)?,
                None => document.set(given)?,
            }
        }
        let limit = self.max_wall.as_ref().map(|time| set("max_wall", time));
        limit.iter().try_for_each(|given| document.set(given))
    }

    /// Refuses options that say nothing, or two things of one key.
    fn check(&self) -> Result<(), ConfigError> {
        if self.fork_at.is_some() && self.sets.is_empty() && self.seed.is_none() {
            return Err(ConfigError::new(
                "--fork-at: nothing changes then",
                "give --set or --seed, which hold from then on",
            ));
        }
        let short = [
            ("--seed", "run.seed", self.seed.is_some()),
            ("--max-wall", "run.max_wall", self.max_wall.is_some()),
        ];
        let mut sets = self.sets.iter().map(|set| (set, set.split('=').next()));
        let twice = sets.find_map(|(set, path)| {
            let mut given = short.iter().filter(|(_, _, given)| *given);
            let (option, ..) = given.find(|(_, key, _)| path.map(str::trim) == Some(*key))?;
            Some(format!("{option} and --set {set} give the same key"))
        });
        twice.map_or(Ok(()), |message| {
            Err(ConfigError::new(message, "leave one of them out"))
        })
    }
}

/// A key of `[run]` as `--set` has it: the text as a string of TOML, regardless of its content.
fn set(key: &str, text: &str) -> String {
    format!("run.{key}={}", toml::Value::from(text))
}

/// `weir run`.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// The experiment file (TOML).
    #[arg(required_unless_present = "resume")]
    pub file: Option<PathBuf>,
    /// Keys that are given beside it.
    #[command(flatten)]
    pub overrides: Overrides,
    /// Directory for result.h5; made if it does not exist. Default: out/NAME, after the name of
    /// the experiment file.
    #[arg(long, value_name = "DIR", value_parser = utf8_path())]
    pub out: Option<PathBuf>,
    /// Overwrite the result of another experiment in DIR.
    #[arg(long)]
    pub force: bool,
    /// Print the summary as one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error; warnings and errors stay.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the way of one packet, hop by hop: the number of its source and its own number there,
    /// as in 17:3.
    #[arg(long, value_name = "SOURCE:NUMBER")]
    pub watch_packet: Option<String>,
    /// Write a checkpoint this often, such as "10 min", and when the run is stopped: --set
    /// run.checkpoint_every="TIME". The same command goes on from there.
    #[arg(long, value_name = "TIME", conflicts_with = "watch_packet")]
    pub checkpoint_every: Option<String>,
    /// Threads of each rank. Default: a thread for each processor that it may use.
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// On several ranks: end all if one waits for another for so long.
    #[cfg(feature = "mpi")]
    #[arg(long, value_name = "TIME", default_value = "30 min")]
    pub max_wait: Duration,
    /// Stop if this process, or a rank, takes so much memory, such as "12 GiB"; with
    /// --checkpoint-every its state is saved.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub max_memory: Option<u64>,
    /// Go on with the run in DIR from its newest checkpoint. The experiment is the one of the
    /// checkpoint.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "out", "watch_packet", "fork_at"])]
    pub resume: Option<PathBuf>,
    /// Go on from the state in this directory that runs share until --share-at, or write it. For
    /// the points of a sweep.
    #[arg(long, value_name = "DIR", hide = true, requires = "share_at")]
    pub share_state: Option<PathBuf>,
    /// The simulated time of that state.
    #[arg(long, value_name = "TIME", hide = true, requires = "share_state")]
    pub share_at: Option<Duration>,
}

/// A size in bytes.
fn bytes(text: &str) -> Result<u64, String> {
    match text.parse()? {
        Size::Bits(bits) => Ok(bits / 8),
        Size::Flits(_) | Size::Packets(_) => Err("write bytes, such as \"12 GiB\"".into()),
    }
}

impl RunOptions {
    /// The longest that a rank waits for another.
    pub fn patience(&self) -> std::time::Duration {
        #[cfg(feature = "mpi")]
        return std::time::Duration::from_nanos(self.max_wait.0 / 1_000);
        // There are no others.
        #[cfg(not(feature = "mpi"))]
        std::time::Duration::MAX
    }

    /// Changes an experiment by all keys that are given beside its file.
    pub fn apply(&self, document: &mut Document) -> Result<(), ConfigError> {
        self.overrides.apply(document)?;
        let every = self.checkpoint_every.as_ref();
        let every = every.map(|time| set("checkpoint_every", time));
        every.iter().try_for_each(|given| document.set(given))
    }
}

/// `weir check`.
#[derive(Args, Debug)]
pub struct CheckOptions {
    /// The experiment file (TOML).
    pub file: PathBuf,
    /// Keys that are given beside it.
    #[command(flatten)]
    pub overrides: Overrides,
    /// Do not begin the run: what it will take is then estimated from the file alone.
    #[arg(long)]
    pub no_calibration: bool,
    /// Count the parts of the network: routers, ports, links, the bandwidth between halves of it,
    /// and the ways between routers.
    #[arg(long)]
    pub bill: bool,
    /// The price of each router or link of a kind, for the cost of the network: router=50. May be
    /// repeated.
    #[arg(long, value_name = "KIND=PRICE", requires = "bill", value_parser = price)]
    pub price: Vec<(String, f64)>,
    /// Estimate the time on this number of MPI ranks, too.
    #[arg(long, value_name = "N", conflicts_with = "no_calibration")]
    pub ranks: Option<NonZeroU32>,
    /// Estimate the time on this number of threads of each rank, too.
    #[arg(long, short = 'j', value_name = "N", conflicts_with = "no_calibration")]
    pub threads: Option<NonZeroU32>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}

/// `weir list`.
#[derive(Args, Debug)]
pub struct ListOptions {
    /// topologies, routings, queueing, schemes, patterns, motifs, traces or presets; or the name of
    /// one of them.
    #[arg(value_parser = Names { families: true }, hide_possible_values = true)]
    pub what: Option<String>,
    /// One of them: all its parameters.
    #[arg(value_parser = Names { families: false }, hide_possible_values = true)]
    pub name: Option<String>,
    /// Print everything as one JSON object on standard output: families, variants, the JSON Schemas
    /// of their parameters.
    #[arg(long, conflicts_with_all = ["what", "name"])]
    pub json: bool,
}

/// `weir doc`.
#[derive(Args, Debug)]
pub struct DocOptions {
    /// Its path, `router.input_buffer` or `workload.0.load`; the end of one, `input_buffer`; or a
    /// part of one, `max_`.
    pub key: String,
}

/// `weir inspect`.
#[derive(Args, Debug)]
pub struct InspectOptions {
    /// A result.h5, or the directory that holds one or in which a run goes on.
    pub file: PathBuf,
    /// Print the experiment instead, with every default filled in.
    #[arg(long)]
    pub experiment: bool,
    /// Print the summary as one JSON object on standard output, as `weir run --json` does.
    #[arg(long, conflicts_with = "experiment")]
    pub json: bool,
}

/// `weir explain`.
#[derive(Args, Debug)]
pub struct ExplainOptions {
    /// A result.h5, or the directory that holds one.
    pub dir: PathBuf,
    /// Run the experiment twice again, and say what the time of each application consists of: along
    /// the chain of messages and computations that its end hung on, how much of it waited for which
    /// other job.
    #[arg(long)]
    pub critical_path: bool,
    /// Run the experiment again without each job that is blamed, and say how much of a job's lost
    /// time that gives back. With --critical-path.
    #[arg(long)]
    pub verify: bool,
    /// Print it as one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `weir export`.
#[derive(Args, Debug)]
pub struct ExportOptions {
    /// A result.h5, or the directory that holds one; with --topology also an experiment.
    pub result: PathBuf,
    /// File that the trace goes into, which must not exist.
    pub file: PathBuf,
    /// Write the network of the experiment instead: as a topology file of kind graph (toml), as a
    /// table of its links (csv), in GraphML or for Graphviz (dot). Default: by the file's name.
    #[arg(long)]
    pub topology: bool,
    /// Format of the file: a trace to be replayed (goal, vef; needs output.messages = true), or
    /// a timeline for https://ui.perfetto.dev (perfetto; needs output.timeline). Default: by the
    /// file's name, VEF for `NAME.vef`, Perfetto for `NAME.pftrace`, otherwise GOAL text.
    #[arg(long)]
    pub format: Option<ExportFormat>,
    /// The unit of the times of goal and vef, to which they are rounded, such as "1 ns". Default:
    /// 1 ps.
    #[arg(long, value_name = "TIME")]
    pub unit: Option<String>,
    /// Whose messages, or timelines; may be repeated for a timeline. May be left out for a
    /// timeline of all jobs, or where the run has one job.
    #[arg(long, value_name = "NAME")]
    pub job: Vec<String>,
    /// Begin of the timeline, such as "10 us". Default: that of the run.
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// End of the timeline. Default: that of the run.
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Router whose links are in the timeline; may be repeated. Default: all that were recorded.
    #[arg(long, value_name = "N")]
    pub router: Vec<u32>,
}

impl ExportOptions {
    /// True if no part of the result is chosen.
    pub fn is_whole(&self) -> bool {
        let texts = [&self.unit, &self.from, &self.to];
        texts.iter().all(|text| text.is_none()) && self.job.is_empty() && self.router.is_empty()
    }
}

/// The formats that `weir export` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// GOAL text.
    Goal,
    /// VEF.
    Vef,
    /// A topology file of kind graph.
    Toml,
    /// A table of links.
    Csv,
    /// GraphML.
    Graphml,
    /// The language of Graphviz.
    Dot,
    /// A timeline for Perfetto.
    Perfetto,
}

/// `weir import`.
#[derive(Args, Debug)]
pub struct ImportOptions {
    /// The format of the file.
    pub from: Format,
    /// The file.
    pub file: PathBuf,
    /// Endpoints at each router of a network whose file names no hosts. Default: 1.
    #[arg(long, value_name = "N")]
    pub endpoints_per_router: Option<u32>,
    /// Nodes of a network whose names begin with this are hosts (edges, GraphML, DOT).
    #[arg(long, value_name = "PREFIX")]
    pub hosts: Option<String>,
    /// Write into this file, which must not exist. Default: standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The formats that `weir import` reads: configurations of simulators, and networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A configuration of BookSim2 (`key = value;`).
    Booksim,
    /// A configuration of CODES on ROSS (LPGROUPS and PARAMS): the models dragonfly-dally,
    /// dragonfly, fattree, torus and simplenet.
    Codes,
    /// A network file of BookSim2's anynet.
    Anynet,
    /// A network in the language of Graphviz.
    Dot,
    /// A network as a list of edges: the names of two routers on each line.
    Edges,
    /// A network in GraphML.
    Graphml,
    /// A .topo file of htsim.
    Htsim,
    /// The output of ibnetdiscover, or a network of ibsim.
    Ibnetdiscover,
    /// A topology.conf of Slurm.
    Slurm,
}

/// `weir report`.
#[derive(Args, Debug)]
pub struct ReportOptions {
    /// What a run or a sweep wrote: its --out.
    pub dir: PathBuf,
    /// Directory of the page and the figures. Default: DIR itself.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
