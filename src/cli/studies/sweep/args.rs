//! Commands and options of `weir sweep`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use crate::cli::out::utf8_path;
use weir_input::Duration;

/// What `weir sweep` can do.
#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Show the points of a job file and what they will take; nothing runs.
    Plan(PlanOptions),
    /// Run the points that have no result yet, write the table, check the claims.
    Run(RunOptions),
    /// Submit the points that have no result yet to Slurm, as job arrays.
    Submit(SubmitOptions),
    /// Say which points are done, running, failed or waiting.
    Status(JobOptions),
    /// Run again the points that have failed.
    Retry(RunOptions),
    /// Write DIR/table.csv and DIR/table.h5 from the results that there are.
    Collect(CollectOptions),
    /// Check the claims against the results that there are.
    Claims(ClaimsOptions),
}

/// The job file and its directory.
#[derive(Args, Clone, Debug)]
pub struct JobOptions {
    /// The job file (TOML): an experiment with [[axis]], [[figure]], [[claims]]. Or the directory
    /// of a sweep, for what was run there.
    pub file: PathBuf,
    /// The directory of the sweep. Default: out/NAME, after the name of the job file.
    #[arg(long, value_name = "DIR", value_parser = utf8_path())]
    pub out: Option<PathBuf>,
    /// Set a key of the experiment at all points: `run.until="20 us"`. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The smaller study that [reduced] of the job file describes.
    #[arg(long)]
    pub reduced: bool,
    /// The axes hold from this simulated time on, and until then all points are the same run. An
    /// axis with `fork_at` keeps its own.
    #[arg(long, value_name = "TIME")]
    pub fork_at: Option<Duration>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}

/// `weir sweep plan`.
#[derive(Args, Debug)]
pub struct PlanOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Begin each point that is not done for a second, to say what it will take.
    #[arg(long)]
    pub calibrate: bool,
}

/// Points at once, and ranks of each.
#[derive(Args, Debug)]
pub struct Starts {
    /// Points that run at once. Each has as many threads as that leaves processors for it.
    #[arg(short, long, value_name = "N", default_value = "1")]
    pub jobs: NonZeroUsize,
    /// MPI ranks of each point.
    #[arg(long, value_name = "R", default_value = "1")]
    pub ranks: NonZeroU32,
    /// Command that starts several ranks; their number and the program are added.
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "mpirun -n",
        requires = "ranks",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub launcher: String,
}

/// `weir sweep run`, `weir sweep retry`.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Points at once, and ranks of each.
    #[command(flatten)]
    pub starts: Starts,
    /// Only these points, by their place in the plan: `0..9,12` (0 to 8, and 12). The table is left
    /// as it is.
    #[arg(long, value_name = "LIST")]
    pub points: Option<String>,
    /// Simulate every point from its beginning, also where points are the same run at first.
    #[arg(long)]
    pub no_forks: bool,
    /// Write a checkpoint of each point this often, from which it goes on if it is stopped or
    /// killed; "never" for none.
    #[arg(long, value_name = "TIME", default_value = CHECKPOINT_EVERY, value_parser = checkpoint_every)]
    pub checkpoint_every: String,
    /// No progress on standard error; warnings and errors stay.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Wall-clock time from one checkpoint of a point to the next.
pub const CHECKPOINT_EVERY: &str = "10 min";

/// No checkpoints.
pub const NEVER: &str = "never";

/// Checks the value of `--checkpoint-every`.
fn checkpoint_every(text: &str) -> Result<String, String> {
    match text == NEVER || text.parse::<Duration>().is_ok_and(|time| time.0 > 0) {
        true => Ok(text.to_string()),
        false => Err(format!(
            "write a time such as {CHECKPOINT_EVERY:?}, or {NEVER:?}"
        )),
    }
}

/// `weir sweep submit`.
#[derive(Args, Debug)]
pub struct SubmitOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Slurm's partition.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub partition: Option<String>,
    /// The time limit of each task, as for sbatch: minutes, or 02:30:00. A minute before, its point
    /// saves its state, and the task goes back into the queue to go on.
    #[arg(long, value_name = "TIME", value_parser = NonEmptyStringValueParser::new())]
    pub time: Option<String>,
    /// The account to be charged.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub account: Option<String>,
    /// Slurm's quality of service.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub qos: Option<String>,
    /// MPI ranks of each point.
    #[arg(long, value_name = "R", default_value = "1")]
    pub ranks_per_point: NonZeroU32,
    /// Threads of each rank: processors of a task, in Slurm's words.
    #[arg(long, value_name = "N", default_value = "1")]
    pub threads_per_rank: NonZeroU32,
    /// Points that a task runs, one after another: for points that take less than some minutes.
    #[arg(long, value_name = "N", default_value = "1")]
    pub points_per_task: NonZeroUsize,
    /// Tasks that run at once, at most.
    #[arg(long, value_name = "N")]
    pub max_running: Option<NonZeroUsize>,
    /// Command that starts several ranks: mpirun, srun (with --mpi=pmix), or a command to which
    /// their number and the program are added, as in "srun --mpi=pmi2 -n".
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "mpirun",
        requires = "ranks_per_point",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub launcher: String,
    /// What has to be over before the first points begin, as for sbatch: afterok:1234.
    #[arg(long, value_name = "LIST")]
    pub dependency: Option<String>,
    /// One more option for all jobs, as for sbatch: --sbatch-option=--mem-per-cpu=2G. May be
    /// repeated.
    #[arg(
        long = "sbatch-option",
        value_name = "OPTION",
        allow_hyphen_values = true
    )]
    pub sbatch_options: Vec<String>,
    /// Write a checkpoint of each point this often, from which it goes on if its task is stopped,
    /// killed or out of time; "never" for none.
    #[arg(long, value_name = "TIME", default_value = CHECKPOINT_EVERY, value_parser = checkpoint_every)]
    pub checkpoint_every: String,
    /// Submit the points that have failed, too.
    #[arg(long)]
    pub retry: bool,
    /// Print the scripts and the sbatch lines that would submit them; nothing is written or
    /// submitted.
    #[arg(long)]
    pub dry_run: bool,
}

/// `weir sweep collect`.
#[derive(Args, Debug)]
pub struct CollectOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Print the table as CSV; nothing is written. So it is in a directory that is read-only.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// `weir sweep claims`.
#[derive(Args, Debug)]
pub struct ClaimsOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Print the claims as CSV: id,says,measured,bound,holds,seeds,
    /// simulated,settled,scale,command.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}
