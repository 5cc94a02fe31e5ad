//! The batch scripts: one for each job array, and one that collects the outcome.

use std::path::{Path, PathBuf};

use weir_model::Invalid;
use weir_model::program::exit::RESUMABLE;

/// Seconds before its time limit at which Slurm tells a task to end. Slurm may be a minute early.
const NOTICE: u32 = 60;

/// Times that a task goes back into the queue at most: points that come no further are not tried
/// for ever.
const MOST_RESTARTS: u32 = 100;

/// The copy of the job file in the directory of a submission.
pub const JOB_COPY: &str = "job.toml";

/// Requests of the scripts to Slurm, and the commands that they run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program, `weir`.
    pub program: PathBuf,
    /// Arguments that select the study in every `weir sweep` command: the job file, the directory,
    /// the values set.
    pub study: Vec<String>,
    /// The job file.
    pub file: PathBuf,
    /// The directory of the study.
    pub out: PathBuf,
    /// Folder of the scripts, a copy of the job file, and the output of the jobs: the directory of
    /// this submission.
    pub folder: PathBuf,
    /// Name of the jobs.
    pub name: String,
    /// MPI ranks of a point: tasks, in Slurm's words.
    pub ranks: u32,
    /// Threads of a rank: processors of a task.
    pub threads: u32,
    /// Command that starts several ranks, as `weir sweep run --launcher` takes it: `mpirun -n`.
    pub launcher: String,
    /// Points that one task of an array runs, one after another.
    pub points_per_task: usize,
    /// Time from one checkpoint of a point to the next, as `weir sweep run --checkpoint-every`
    /// takes it.
    pub checkpoint_every: String,
    /// Tasks of all arrays that run at once; None: the number that Slurm allows.
    pub max_running: Option<usize>,
    /// Options for all jobs, as for sbatch: `--partition=main`.
    pub options: Vec<String>,
}

/// One job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The points of each of its tasks, by their place in the study.
    pub tasks: Vec<Vec<usize>>,
}

/// Options of sbatch that a submission sets itself, and the replacements to use.
const OWN: [(&str, &str); 11] = [
    ("--dependency", "write --dependency without --sbatch-option"),
    ("-d", "write --dependency"),
    (
        "--array",
        "tell how many may run at once with --max-running",
    ),
    ("-a", "tell how many may run at once with --max-running"),
    ("--ntasks", "write --ranks-per-point"),
    ("-n", "write --ranks-per-point"),
    ("--cpus-per-task", "write --threads-per-rank"),
    ("-c", "write --threads-per-rank"),
    ("--wrap", "the script is weir's own"),
    ("--parsable", "weir needs what sbatch says"),
    ("--test-only", "write --dry-run"),
];

/// Checks an option for sbatch that is passed through as it is.
///
/// # Errors
/// If it is none, would break the script, or is one that the submission gives itself.
pub fn check_option(option: &str) -> Result<(), Invalid> {
    let refuse = |message: String, remedy: &str| {
        Err(Invalid::new("--sbatch-option", message, remedy.to_string()))
    };
    if option.chars().any(char::is_control) {
        return refuse(
            format!("{option:?} has a control character"),
            "write one option on one line",
        );
    }
    if !option.starts_with('-') || option.len() < 2 {
        return refuse(
            format!("{option:?} is no option of sbatch"),
            "write it with its dashes, as in --sbatch-option=--mem=2G",
        );
    }
    let name = option.split(['=', ' ']).next().unwrap_or_default();
    // sbatch takes `-n4` for `-n 4`, and the beginning of a long name for the whole.
    let is_own = |own: &str| match name.starts_with("--") {
        true => own.starts_with(name),
        false => !own.starts_with("--") && name.starts_with(own),
    };
    match OWN.iter().find(|(own, _)| is_own(own)) {
        Some((own, remedy)) => refuse(format!("{own} is set by the submission itself"), remedy),
        None => Ok(()),
    }
}

/// Deals points out to arrays of at most `most` tasks each (Slurm's MaxArraySize), in their order.
pub fn arrays(points: &[usize], points_per_task: usize, most: usize) -> Vec<Array> {
    let tasks: Vec<Vec<usize>> = points
        .chunks(points_per_task.max(1))
        .map(<[usize]>::to_vec)
        .collect();
    let chunks = tasks.chunks(most.max(1));
    chunks
        .map(|tasks| Array {
            tasks: tasks.to_vec(),
        })
        .collect()
}

impl Settings {
    /// The script of an array.
    pub fn array_script(&self, array: &Array) -> String {
        let last = array.tasks.len() - 1;
        let limit = self.max_running.map(|most| format!("%{most}"));
        let mut lines = self.head("Points", "%A_%a.log");
        lines.push(format!("--array=0-{last}{}", limit.unwrap_or_default()));
        lines.push(format!("--ntasks={}", self.ranks));
        lines.push(format!("--cpus-per-task={}", self.threads));
        // A task that is started again takes up the points that it had not finished.
        lines.push("--requeue".to_string());
        lines.push(format!("--signal=B:USR1@{NOTICE}"));
        lines.extend(self.options.iter().cloned());
        let points: String = array
            .tasks
            .iter()
            .map(|task| format!("  {}\n", list(task)))
            .collect();
        let mut run = self.command("run");
        run.push_str(" --points \"${points[task]}\" --quiet");
        run.push_str(&format!(
            " --checkpoint-every {}",
            word(&self.checkpoint_every)
        ));
        if self.ranks > 1 {
            let launcher = word(&self.launcher);
            run.push_str(&format!(" --ranks {} --launcher {launcher}", self.ranks));
        }
        format!(
            "{}\n{}\n# The points of each task, by their number in `weir sweep plan`.\n\
             points=(\n{points})\n\
             task=${{SLURM_ARRAY_TASK_ID:?start this script with sbatch}}\n{}",
            directives(&lines),
            self.unchanged(),
            until_done(&run)
        )
    }

    /// The script of the job that makes the table and the report and checks the claims when all
    /// tasks have ended, well or not.
    pub fn collect_script(&self) -> String {
        let mut lines = self.head("The table, the report and the claims", "collect-%j.log");
        lines.extend(self.options.iter().cloned());
        // Later lines win: one task is enough, regardless of the needs of the points.
        lines.push("--nodes=1".to_string());
        lines.push("--ntasks=1".to_string());
        lines.push("--cpus-per-task=1".to_string());
        format!(
            "{}\n{}\nset -e\n{}\n{} report {}\n{}\n",
            directives(&lines),
            self.unchanged(),
            self.command("collect"),
            path_word(&self.program),
            path_word(&self.out),
            self.command("claims")
        )
    }

    /// A comment, then the options that all scripts begin with.
    fn head(&self, what: &str, log: &str) -> Vec<String> {
        // Slurm replaces the character after a percent sign.
        let folder = self.folder.display().to_string().replace('%', "%%");
        vec![
            format!("# {what} of a study; made by `weir sweep submit`."),
            format!("--job-name={}", self.name),
            format!("--output={folder}/{log}"),
            "--open-mode=append".to_string(),
        ]
    }

    /// Points are known by their numbers, which another job file gives to others.
    fn unchanged(&self) -> String {
        let [file, copy] = [&self.file, &self.folder.join(JOB_COPY)].map(|path| path_word(path));
        format!(
            "if ! cmp -s {file} {copy}; then\n  \
             echo error: {file} \"is not what was submitted; submit it again\" >&2\n  exit 2\nfi\n"
        )
    }

    fn command(&self, command: &str) -> String {
        let mut text = format!("{} sweep {command}", path_word(&self.program));
        for argument in &self.study {
            text.push(' ');
            text.push_str(&word(argument));
        }
        text
    }
}

/// Lines that run a command which goes on where it was stopped: before the time limit it is told,
/// and the task is put back into the queue. Other signals end it.
fn until_done(run: &str) -> String {
    format!(
        "# Before the time limit Slurm sends USR1: the points save their states, and the task goes on later.\n\
         notice=\n\
         trap 'notice=1; kill -USR1 \"$run\"' USR1\n\
         trap 'kill -TERM \"$run\"' TERM\n\
         {run} &\n\
         run=$!\n\
         # A signal ends `wait`, but not what it waits for.\n\
         while wait \"$run\"; code=$?; kill -0 \"$run\" 2>/dev/null; do :; done\n\
         if [ $code -gt 128 ]; then wait \"$run\"; code=$?; fi\n\
         if [ \"$notice\" ] && [ $code = {RESUMABLE} ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {MOST_RESTARTS} ]; then\n  \
           scontrol requeue \"$SLURM_JOB_ID\"\n\
         fi\n\
         exit $code\n"
    )
}

/// `0..3,7`: points as `--points` takes them; the end of a range is not in it.
fn list(points: &[usize]) -> String {
    let runs = points.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [one] => one.to_string(),
        _ => format!("{}..{}", run[0], run[0] + run.len()),
    });
    words.collect::<Vec<_>>().join(",")
}

fn directives(lines: &[String]) -> String {
    let mut text = "#!/bin/bash\n".to_string();
    for line in lines {
        match line.starts_with('#') {
            true => text.push_str(&format!("{line}\n")),
            false => text.push_str(&format!("#SBATCH {}\n", quoted(line))),
        }
    }
    text
}

/// An option in a line of a batch script, in which sbatch reads quotes and backslashes as a shell
/// does.
fn quoted(option: &str) -> String {
    if option.chars().all(plain) {
        return option.to_string();
    }
    let mut text = String::from("\"");
    for one in option.chars() {
        if matches!(one, '"' | '\\') {
            text.push('\\');
        }
        text.push(one);
    }
    text.push('"');
    text
}

fn path_word(path: &Path) -> String {
    word(&path.display().to_string())
}

/// A word of a shell command.
fn word(text: &str) -> String {
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn plain(one: char) -> bool {
    one.is_ascii_alphanumeric() || "-_=+:,./@%".contains(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            threads: 3,
            program: "/opt/weir".into(),
            study: vec!["/a b/it's.toml".into(), "--out".into(), "/data/out".into()],
            file: "/a b/it's.toml".into(),
            out: "/data/out".into(),
            folder: "/data/100%/slurm/1".into(),
            name: "weir-fig5".into(),
            ranks: 4,
            launcher: "srun --mpi=pmix -n".into(),
            points_per_task: 2,
            checkpoint_every: "10 min".into(),
            max_running: Some(8),
            options: vec!["--partition=main".into(), "--comment=say \"x\" \\".into()],
        }
    }

    #[test]
    fn points_are_dealt_out_in_their_order_and_none_is_lost() {
        let points: Vec<usize> = (3..14).collect();
        for pack in 1..6 {
            for most in 1..6 {
                let arrays = arrays(&points, pack, most);
                let tasks: Vec<&Vec<usize>> =
                    arrays.iter().flat_map(|array| &array.tasks).collect();
                let dealt: Vec<usize> =
                    tasks.iter().flat_map(|task| task.iter().copied()).collect();
                assert_eq!(dealt, points, "{pack} points, {most} tasks");
                assert_eq!(tasks.len(), points.len().div_ceil(pack));
                assert_eq!(arrays.len(), tasks.len().div_ceil(most));
                assert!(arrays.iter().all(|array| array.tasks.len() <= most));
                assert!(tasks.iter().all(|task| task.len() <= pack));
            }
        }
        assert!(arrays(&[], 1, 10).is_empty());
    }

    #[test]
    fn the_script_of_an_array() {
        let array = arrays(&[0, 1, 2, 7, 9], 2, 10).remove(0);
        insta::assert_snapshot!(settings().array_script(&array));
    }

    #[test]
    fn the_script_of_the_last_job() {
        insta::assert_snapshot!(settings().collect_script());
    }

    #[test]
    fn one_rank_needs_no_launcher_and_no_limit_is_no_percent() {
        let settings = Settings {
            ranks: 1,
            max_running: None,
            ..settings()
        };
        let script = settings.array_script(&arrays(&[5], 1, 10)[0]);
        assert!(
            !script.contains("--launcher") && !script.contains("--ranks"),
            "{script}"
        );
        assert!(script.contains("#SBATCH --array=0-0\n"), "{script}");
    }

    #[test]
    fn options_of_sbatch_are_checked() {
        for good in ["--mem=2G", "-p main", "--exclusive", "--nodes=2", "--nice"] {
            assert_eq!(check_option(good), Ok(()), "{good}");
        }
        for wrong in [
            "mem=2G",
            "-",
            "",
            "--array=0-3",
            "-a 3",
            "-a0-3",
            "-n4",
            "--arr=0-3",
            "--ntasks=2",
            "--wrap=x",
            "--a\nb",
            "--dependency=afterok:1",
        ] {
            let refused = check_option(wrong).expect_err(wrong);
            assert!(!refused.remedy.is_empty(), "{wrong}");
        }
    }
}
