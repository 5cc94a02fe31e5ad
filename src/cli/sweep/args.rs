use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `weir sweep` can do.
#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Show the points of a job file and what they will take; nothing runs.
    Plan(PlanOptions),
    /// Run the points that have no result yet, write the table, check the claims.
    Run(RunOptions),
    /// Say which points are done, running, failed or waiting.
    Status(JobOptions),
    /// Run again the points that have failed.
    Retry(RunOptions),
    /// Write DIR/table.csv and DIR/table.h5 from the results that there are.
    Collect(JobOptions),
    /// Check the claims against the results that there are.
    Claims(ClaimsOptions),
}

/// The job file and its directory.
#[derive(Args, Clone, Debug)]
pub struct JobOptions {
    /// The job file (TOML): an experiment with [[axis]], [[figure]], [[claims]].
    pub file: PathBuf,
    /// The directory of the sweep. Default: out/NAME, after the name of the job file.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Set a key of the experiment at all points: `run.until="20 us"`. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The smaller study that [reduced] of the job file describes.
    #[arg(long)]
    pub reduced: bool,
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
}

/// `weir sweep run`, `weir sweep retry`.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Points that run at once.
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,
    /// MPI ranks of each point.
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub ranks: u32,
    /// What starts several ranks; their number and the program are added.
    #[arg(long, value_name = "COMMAND", default_value = "mpirun -n")]
    pub launcher: String,
    /// Only these points, by their place in the plan: `0..9,12` (0 to 8, and 12). The table is left as it is.
    #[arg(long, value_name = "LIST")]
    pub points: Option<String>,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir sweep claims`.
#[derive(Args, Debug)]
pub struct ClaimsOptions {
    /// Which sweep.
    #[command(flatten)]
    pub job: JobOptions,
    /// Print the claims as CSV: id,says,measured,bound,holds,scale,command.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}
