//! `weir sweep`: studies of many points.

pub(in crate::cli) mod args;
mod expect;
mod points;
pub(in crate::cli) mod run;
mod show;
mod submit;
mod view;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use args::{Starts, SweepCommand};

use crate::cli::out::default_out;
use crate::cli::process::console::{tell, tell_error, tell_failure};
use crate::cli::process::failure::Failure;
use args::JobOptions;
use weir_input::ConfigError;
use weir_model::program::exit::CLAIM_FAILED;
use weir_report::format::wrap;
use weir_simulation::config::Catalog;
use weir_study::{Checked, Options, Point, Points, Setup, Study, SweepDir, Table, Verdict};

/// `weir sweep …`.
pub fn sweep(command: &SweepCommand, catalog: &Catalog) -> ExitCode {
    let code = match command {
        SweepCommand::Plan(options) => show::plan(options, catalog),
        SweepCommand::Run(options) => run::run(options, catalog),
        SweepCommand::Submit(options) => submit::submit(options, catalog),
        SweepCommand::Status(options) => show::status(options, catalog),
        SweepCommand::Retry(options) => run::retry(options, catalog),
        SweepCommand::Collect(options) => show::collect(options, catalog),
        SweepCommand::Claims(options) => show::claims(options, catalog),
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// A study and its directory.
pub(in crate::cli) struct Sweep {
    pub study: Study,
    pub catalog: Catalog,
    pub dir: SweepDir,
    pub out: PathBuf,
}

fn bad(error: &ConfigError) -> Failure {
    Failure::wrong(error)
}

pub(in crate::cli) fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("error: {error}"))
}

impl Sweep {
    /// The sweep whose job file lies in its own directory.
    pub fn in_own(out: &Path, catalog: &Catalog) -> Result<Sweep, Failure> {
        let job = JobOptions {
            file: SweepDir::new(out).job(),
            out: Some(out.to_path_buf()),
            sets: Vec::new(),
            reduced: false,
            fork_at: None,
            json: false,
        };
        Sweep::open(&job, catalog)
    }

    /// The sweep that a directory holds, as it was run there, even if the job file has changed.
    pub fn kept(out: &Path, catalog: &Catalog) -> Result<Sweep, Failure> {
        let dir = SweepDir::new(out);
        let setup = dir.setup().map_err(|error| {
            Failure::bad_input(format!(
                "error: {} holds no sweep that can be read: {error}\n  \
                 help: give a job file, or the directory that a sweep wrote: its --out",
                out.display()
            ))
        })?;
        Ok(Sweep {
            study: Study::kept(&dir, &setup).map_err(|error| bad(&error))?,
            catalog: catalog.clone(),
            dir,
            out: out.to_path_buf(),
        })
    }

    fn open(job: &JobOptions, catalog: &Catalog) -> Result<Sweep, Failure> {
        if job.file.is_dir() {
            let changed =
                job.out.is_some() || !job.sets.is_empty() || job.reduced || job.fork_at.is_some();
            return match changed {
                false => Sweep::kept(&job.file, catalog),
                true => Err(Failure::bad_input(format!(
                    "error: {}: a directory says already which study it holds, and how it was changed\n  \
                     help: leave out --out, --set, --reduced and --fork-at, or give the job file",
                    job.file.display()
                ))),
            };
        }
        let options = Options {
            sets: job.sets.clone(),
            reduced: job.reduced,
            fork_at: job.fork_at.map(|at| at.to_string()),
        };
        let study = Study::read(&job.file, &options).map_err(|error| bad(&error))?;
        let out = job.out.clone().unwrap_or_else(|| default_out(&job.file));
        Ok(Sweep {
            study,
            catalog: catalog.clone(),
            dir: SweepDir::new(&out),
            out,
        })
    }

    /// All points of the study.
    pub fn points(&self) -> Result<Points, Failure> {
        let points = self.study.points(&self.catalog);
        points.map_err(|error| bad(&error))
    }

    /// Looks at points in all respects: each of them can be run.
    pub fn check(&self, points: &[&Point]) -> Result<Checked, Failure> {
        let checked = self.study.check(points, &self.catalog);
        checked.map_err(|error| bad(&error))
    }

    /// The command that produces the content of the directory.
    fn command(&self) -> String {
        format!("weir sweep run {}", self.arguments())
    }

    /// Arguments that select the sweep, as every command takes them.
    fn arguments(&self) -> String {
        let mut words = vec![quoted(&self.study.path.display().to_string())];
        words.extend(
            self.study
                .options
                .sets
                .iter()
                .map(|set| format!("--set {}", quoted(set))),
        );
        if self.study.options.reduced {
            words.push("--reduced".into());
        }
        if let Some(at) = &self.study.options.fork_at {
            words.push(format!("--fork-at {}", quoted(at)));
        }
        words.push(format!("--out {}", quoted(&self.out.display().to_string())));
        words.join(" ")
    }

    /// The table of the results that there are.
    pub fn table(&self, points: &Points) -> Result<Table, Failure> {
        let table = Table::collect(&self.study, &self.catalog, points, &self.dir);
        table.map_err(failed)
    }

    /// The same, written into the directory.
    pub fn collect(&self, points: &Points) -> Result<Table, Failure> {
        let table = self.table(points)?;
        table.write(&self.study, &self.dir).map_err(failed)?;
        Ok(table)
    }

    /// Checks the claims and writes them down.
    fn judge(&self, table: &Table) -> Result<Vec<Verdict>, Failure> {
        let verdicts = self.study.verdicts(table);
        self.study
            .write_claims(&verdicts, &self.command(), &self.dir)
            .map_err(failed)?;
        Ok(verdicts)
    }

    /// Makes the directory and writes the job file into it.
    fn prepare(&self) -> Result<(), Failure> {
        let study = &self.study;
        let file = std::path::absolute(&study.path).map_err(failed)?;
        let setup = Setup {
            folder: file.parent().unwrap_or(Path::new("/")).to_path_buf(),
            file: study.path.clone(),
            options: study.options.clone(),
            text: study.text().to_string(),
            inputs: study.inputs(),
            ..Setup::default()
        };
        self.dir.prepare(&setup).map_err(|error| {
            Failure::bad_input(format!(
                "error: cannot write into {}: {error}\n  help: name another directory with --out",
                self.out.display()
            ))
        })
    }

    /// Refuses the table of a study of which no point has started, if its results are of another
    /// model version.
    pub fn must_have_results(&self, table: &Table) -> Result<(), Failure> {
        if table.rows.iter().any(|row| row.state != "waiting") {
            return Ok(());
        }
        self.dir.outdated().map_or(Ok(()), |why| {
            Err(Failure::bad_input(format!(
                "error: {} has no point with a result: {why}\n  \
                 help: use the weir that made them, or run the points again: {}",
                self.out.display(),
                self.command()
            )))
        })
    }

    /// Checks that the directory has something to show.
    fn must_exist(&self) -> Result<(), Failure> {
        if self.dir.job().is_file() {
            return Ok(());
        }
        Err(Failure::bad_input(format!(
            "error: {} holds no sweep\n  help: run it first, or name its directory: {}",
            self.out.display(),
            self.command()
        )))
    }
}

/// Prints the warnings of the examined points, each once.
fn tell_warnings(checked: &Checked) {
    let all = checked.briefs.len();
    for warning in &checked.warnings {
        tell_error(&warning.first.shown);
        let points = warning.points;
        match warning.same {
            true if points == all => {}
            true => tell(format!("  (at {points} of {all} points)\n")),
            false => tell(format!(
                "  (at {points} of {all} points, with other numbers)\n"
            )),
        }
    }
}

/// A word as a shell wants it.
pub(in crate::cli) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The claims for people.
fn claims_text(verdicts: &[Verdict]) -> String {
    const WIDTH: usize = 100;
    let mut text = String::new();
    for verdict in verdicts {
        let mark = match verdict.holds {
            Some(true) => "holds",
            Some(false) => "DOES NOT HOLD",
            None => "UNDECIDED",
        };
        let seeds = verdict
            .seeds
            .map_or(String::new(), |seeds| format!(" (with {seeds} seeds)"));
        text.push_str(&format!("\n{}: {mark}{seeds}\n", verdict.id));
        for (what, words) in [
            ("says", &verdict.says),
            ("measured", &verdict.measured),
            ("bound", &verdict.bound),
        ] {
            let lines = wrap(words, WIDTH - 12, "");
            for (index, line) in lines.iter().enumerate() {
                let what = if index == 0 { what } else { "" };
                text.push_str(&format!("  {what:<10}{line}\n"));
            }
        }
    }
    if !verdicts.is_empty() {
        let good = count(verdicts, Some(true));
        let undecided = match count(verdicts, None) {
            0 => String::new(),
            undecided => format!(", {undecided} undecided"),
        };
        text.push_str(&format!(
            "\n{good} of {} claims hold{undecided}\n",
            verdicts.len()
        ));
    }
    text
}

fn count(verdicts: &[Verdict], holds: Option<bool>) -> usize {
    verdicts.iter().filter(|one| one.holds == holds).count()
}

/// The claims as JSON.
fn claims_json(verdicts: &[Verdict]) -> serde_json::Value {
    let one = |verdict: &Verdict| {
        serde_json::json!({
            "id": verdict.id,
            "says": verdict.says,
            "measured": verdict.measured,
            "bound": verdict.bound,
            "holds": verdict.holds,
            "seeds": verdict.seeds.map(|seeds| seeds.to_string()),
            "simulated": verdict.length(),
            "settled": verdict.settled.map(|points| points.to_string()),
        })
    };
    verdicts.iter().map(one).collect()
}

fn code_of(verdicts: &[Verdict]) -> u8 {
    match count(verdicts, Some(true)) == verdicts.len() {
        true => 0,
        false => CLAIM_FAILED,
    }
}
