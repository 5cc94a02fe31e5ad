//! `weir sweep submit`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::SubmitOptions;
use super::run::check_ranks;
use super::{Sweep, failed};
use crate::cli::process::console::{tell, write_out};
use crate::cli::process::failure::Failure;
use weir_simulation::config::Catalog;
use weir_study::slurm::{
    Array, JOB_COPY, Queue, Settings, SlurmError, Submission, Submitted, arguments, arrays,
    check_option, folders, next_folder,
};
use weir_study::{Point, Points, State, about};

/// MaxArraySize if it is not configured; for `--dry-run` without a Slurm.
const USUAL_ARRAY_SIZE: usize = 1_001;
/// A longer list of points makes a script that Slurm may refuse.
const MOST_TASKS: usize = 50_000;

/// Writes the scripts and submits them.
pub fn submit(options: &SubmitOptions, catalog: &Catalog) -> Result<u8, Failure> {
    let sweep = Sweep::open(&options.job, catalog)?;
    let wishes = slurm_options(options)?;
    let queue = Queue;
    let name = job_name(&options.job.file);
    let most = max_array_size(&queue, options.dry_run)?;
    let points = sweep.points()?;
    let chosen = choose(options, &sweep, &points, &queued(&sweep, &queue, &name)?)?;
    // Points that cannot be run are reported now, not by a thousand tasks.
    let checked = sweep.check(&chosen.points)?;
    check_ranks("--ranks-per-point", options.ranks_per_point.get(), &checked)?;
    let root = absolute(&sweep.out)?.join("slurm");
    let folder = next_folder(&root);
    let settings = settings(options, &sweep, wishes, &name, &folder)?;
    let places: Vec<usize> = chosen.points.iter().map(|point| point.index).collect();
    let arrays = arrays(&places, settings.points_per_task, most.min(MOST_TASKS));
    if options.dry_run {
        return dry_run(options, &settings, &arrays, &chosen);
    }
    sweep.prepare()?;
    for point in chosen
        .points
        .iter()
        .filter(|point| chosen.failed.contains(&point.index))
    {
        sweep.dir.point(&point.hash).try_again().map_err(failed)?;
    }
    let scripts = write_scripts(&sweep, &settings, &arrays).map_err(failed)?;
    let of = (&settings, &arrays[..], &points[..]);
    let submission = match submit_all(options, &queue, of, &scripts) {
        Ok(submission) => submission,
        Err(failure) => {
            // Nothing runs from there: the next attempt gets the number. A file that cannot be
            // removed does no harm.
            let _ = fs::remove_dir_all(&folder);
            return Err(failure);
        }
    };
    submission.write(&folder).map_err(failed)?;
    write_out(&told(
        options,
        &sweep,
        &settings,
        (&submission, &arrays),
        &chosen,
    ))?;
    Ok(0)
}

/// The points to be submitted, and how many of the others are in which state.
struct Chosen<'a> {
    points: Vec<&'a Point>,
    /// Those of them that have failed before.
    failed: HashSet<usize>,
    left_out: String,
}

fn choose<'a>(
    options: &SubmitOptions,
    sweep: &Sweep,
    all: &'a Points,
    queued: &HashSet<String>,
) -> Result<Chosen<'a>, Failure> {
    let [mut done, mut running, mut bad, mut waiting] = [0; 4];
    let (mut points, mut again) = (Vec::new(), HashSet::new());
    for (point, state) in all.iter().zip(sweep.dir.states(all)) {
        match state {
            State::Done => done += 1,
            State::Running => running += 1,
            _ if queued.contains(&point.hash) => waiting += 1,
            State::Failed(reason, _) if !reason.passes() && !options.retry => bad += 1,
            State::Failed(..) => {
                again.insert(point.index);
                points.push(point);
            }
            State::Waiting => points.push(point),
        }
    }
    let counts = [
        (done, "done"),
        (running, "running"),
        (waiting, "submitted before"),
        (bad, "failed (submit them too with --retry)"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let left_out = words.join(", ");
    if points.is_empty() {
        return Err(Failure::bad_input(format!(
            "error: there is nothing to submit for {}: {left_out}\n  help: see `weir sweep status`",
            sweep.study.path.display()
        )));
    }
    Ok(Chosen {
        points,
        failed: again,
        left_out,
    })
}

/// The hashes of the points whose tasks Slurm still has.
fn queued(sweep: &Sweep, queue: &Queue, name: &str) -> Result<HashSet<String>, Failure> {
    let folders = folders(&sweep.out.join("slurm"));
    let submissions: Vec<Submission> = folders
        .iter()
        .filter_map(|folder| Submission::read(folder))
        .filter(|submission| submission.name == name)
        .collect();
    if submissions.is_empty() {
        return Ok(HashSet::new());
    }
    let alive = queue.tasks(name).map_err(|error| refused(&error))?;
    let points = submissions.iter().flat_map(|one| one.points_of(&alive));
    Ok(points.map(str::to_string).collect())
}

fn max_array_size(queue: &Queue, dry_run: bool) -> Result<usize, Failure> {
    match queue.max_array_size() {
        Ok(most) => Ok(most),
        Err(error) if dry_run => {
            tell(format!(
                "note: {error}\nnote: arrays of at most {USUAL_ARRAY_SIZE} tasks are assumed"
            ));
            Ok(USUAL_ARRAY_SIZE)
        }
        Err(error) => Err(refused(&error)),
    }
}

fn refused(error: &SlurmError) -> Failure {
    Failure::bad_input(format!("error: {error}"))
}

/// The options for all jobs, checked.
fn slurm_options(options: &SubmitOptions) -> Result<Vec<String>, Failure> {
    if let Some(text) = &options.dependency
        && !text
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || ":,?+_".contains(one))
    {
        return Err(Failure::bad_input(format!(
            "error: --dependency: {text:?} is none\n  help: write it as for sbatch: afterok:1234, or afterany:1234:1235"
        )));
    }
    let named = [
        ("partition", &options.partition),
        ("time", &options.time),
        ("account", &options.account),
        ("qos", &options.qos),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
    let all: Vec<String> = named
        .chain(options.sbatch_options.iter().cloned())
        .collect();
    for option in &all {
        check_option(option).map_err(|error| {
            Failure::bad_input(format!(
                "error: {}: {error}\n  help: {}",
                error.key, error.remedy
            ))
        })?;
    }
    Ok(all)
}

fn settings(
    options: &SubmitOptions,
    sweep: &Sweep,
    wishes: Vec<String>,
    name: &str,
    folder: &Path,
) -> Result<Settings, Failure> {
    let file = absolute(&sweep.study.path)?;
    let program = std::env::current_exe().map_err(failed)?;
    let out = absolute(&sweep.out)?;
    let mut study = Vec::new();
    for path in [&file, &program, &out] {
        let text = path
            .to_str()
            .filter(|text| !text.chars().any(char::is_control));
        if text.is_none() {
            return Err(Failure::bad_input(format!(
                "error: {path:?} cannot be written in a batch script\n  \
                 help: use paths of UTF-8 without control characters"
            )));
        }
    }
    study.push(file.display().to_string());
    study.extend(
        sweep
            .study
            .options
            .sets
            .iter()
            .flat_map(|set| ["--set".into(), set.clone()]),
    );
    if sweep.study.options.reduced {
        study.push("--reduced".into());
    }
    if let Some(at) = &sweep.study.options.fork_at {
        study.push(format!("--fork-at={at}"));
    }
    study.extend(["--out".into(), out.display().to_string()]);
    Ok(Settings {
        program,
        study,
        file,
        out,
        folder: folder.to_path_buf(),
        name: name.to_string(),
        ranks: options.ranks_per_point.get(),
        threads: options.threads_per_rank.get(),
        launcher: match options.launcher.as_str() {
            "mpirun" => "mpirun -n".to_string(),
            "srun" => "srun --mpi=pmix -n".to_string(),
            other => other.to_string(),
        },
        points_per_task: options.points_per_task.get(),
        checkpoint_every: options.checkpoint_every.clone(),
        max_running: options.max_running.map(|most| most.get()),
        options: wishes,
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(failed)
}

/// Name of the jobs, after the job file.
fn job_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |one: char| match one.is_ascii_alphanumeric() || "-_.".contains(one) {
        true => one,
        false => '-',
    };
    format!("weir-{}", stem.chars().map(plain).collect::<String>())
}

fn script_name(index: usize) -> String {
    format!("array-{}.sbatch", index + 1)
}

const COLLECT: &str = "collect.sbatch";

/// The jobs that the script `index` waits for.
/// The last script waits for all; an array waits for the one before if there is a limit, which is
/// for one array only.
fn after<T: Clone>(index: usize, arrays: &[Array], settings: &Settings, jobs: &[T]) -> Vec<T> {
    match (index == arrays.len(), settings.max_running) {
        (true, _) => jobs.to_vec(),
        (false, Some(_)) => jobs[jobs.len().saturating_sub(1)..].to_vec(),
        (false, None) => Vec::new(),
    }
}

/// Condition of the user on the start of a script.
/// Scripts that wait for others of this study need none.
fn dependency(options: &SubmitOptions, waits: bool) -> Option<&str> {
    options.dependency.as_deref().filter(|_| !waits)
}

/// Prints the scripts that would be written and submitted, with the lines that would submit them:
/// jobs by the names of their scripts.
fn dry_run(
    options: &SubmitOptions,
    settings: &Settings,
    arrays: &[Array],
    chosen: &Chosen,
) -> Result<u8, Failure> {
    let mut text = String::new();
    let mut jobs: Vec<String> = Vec::new();
    let mut lines = String::new();
    for index in 0..=arrays.len() {
        let name = match index == arrays.len() {
            true => COLLECT.to_string(),
            false => script_name(index),
        };
        let after = after(index, arrays, settings, &jobs);
        let own = dependency(options, !after.is_empty());
        let words = arguments(&settings.folder.join(&name), &after, own);
        lines.push_str(&format!("# sbatch {}\n", words.join(" ")));
        let job = name.trim_end_matches(".sbatch");
        jobs.push(format!("<{job}>"));
    }
    for (index, array) in arrays.iter().enumerate() {
        let path = settings.folder.join(script_name(index));
        let script = settings.array_script(array);
        text.push_str(&format!("# --- {}\n{script}\n", path.display()));
    }
    let path = settings.folder.join(COLLECT);
    let script = settings.collect_script();
    text.push_str(&format!("# --- {}\n{script}", path.display()));
    text.push_str(&format!(
        "\n# --- submitted by, with the numbers of jobs for their names:\n{lines}"
    ));
    write_out(&text)?;
    tell(format!(
        "{}; nothing was submitted",
        counted(settings, arrays, chosen)
    ));
    Ok(0)
}

/// Writes the scripts and the copy of the job file; returns the paths of the former, that of the
/// last job last.
fn write_scripts(
    sweep: &Sweep,
    settings: &Settings,
    arrays: &[Array],
) -> std::io::Result<Vec<PathBuf>> {
    let folder = &settings.folder;
    let root = folder.parent().unwrap_or(folder);
    fs::create_dir_all(root).map_err(about(root))?;
    // Not if it exists: it would be somebody else's submission of this moment.
    fs::create_dir(folder).map_err(about(folder))?;
    let copy = folder.join(JOB_COPY);
    fs::write(&copy, sweep.study.text()).map_err(about(&copy))?;
    let mut paths = Vec::new();
    let names = (0..arrays.len()).map(script_name);
    let scripts = arrays.iter().map(|array| settings.array_script(array));
    let last = (COLLECT.to_string(), settings.collect_script());
    for (name, script) in names.zip(scripts).chain([last]) {
        let path = folder.join(name);
        fs::write(&path, script).map_err(about(&path))?;
        paths.push(path);
    }
    Ok(paths)
}

/// Submits all scripts or none.
fn submit_all(
    options: &SubmitOptions,
    queue: &Queue,
    (settings, arrays, points): (&Settings, &[Array], &[Point]),
    scripts: &[PathBuf],
) -> Result<Submission, Failure> {
    let mut jobs: Vec<u64> = Vec::new();
    for (index, script) in scripts.iter().enumerate() {
        let after = after(index, arrays, settings, &jobs);
        match queue.submit(script, &after, dependency(options, !after.is_empty())) {
            Ok(job) => jobs.push(job),
            Err(error) => {
                let mut failure = refused(&error);
                if let Err(error) = queue.cancel(&jobs) {
                    failure.message.push_str(&format!(
                        "\nand what was submitted before is still there: {error}"
                    ));
                }
                return Err(failure);
            }
        }
    }
    let collect = jobs.pop().unwrap_or_default();
    let hashes = |task: &Vec<usize>| task.iter().map(|&at| points[at].hash.clone()).collect();
    let submitted = jobs.iter().zip(arrays).map(|(&job, array)| Submitted {
        job,
        tasks: array.tasks.iter().map(hashes).collect(),
    });
    Ok(Submission {
        collect,
        name: settings.name.clone(),
        array: submitted.collect(),
    })
}

fn counted(settings: &Settings, arrays: &[Array], chosen: &Chosen) -> String {
    let tasks: usize = arrays.iter().map(|array| array.tasks.len()).sum();
    let many =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let ranks = match settings.ranks {
        1 => String::new(),
        ranks => format!(" of {ranks} ranks"),
    };
    let left_out = match chosen.left_out.is_empty() {
        true => String::new(),
        false => format!("; left out: {}", chosen.left_out),
    };
    format!(
        "{}{ranks} as {} in {}{left_out}",
        many(chosen.points.len(), "point"),
        many(tasks, "task"),
        many(arrays.len(), "array")
    )
}

/// Message to the user.
fn told(
    options: &SubmitOptions,
    sweep: &Sweep,
    settings: &Settings,
    (submission, arrays): (&Submission, &[Array]),
    chosen: &Chosen,
) -> String {
    let folder = settings.folder.display();
    let jobs: Vec<u64> = submission.array.iter().map(|array| array.job).collect();
    if options.job.json {
        let arrays: Vec<_> = submission
            .array
            .iter()
            .map(|array| json!({ "job": array.job, "tasks": array.tasks }))
            .collect();
        let value = json!({ "points": chosen.points.len(), "arrays": arrays, "collect": submission.collect, "folder": settings.folder });
        return format!("{value}\n");
    }
    let words: Vec<String> = jobs.iter().map(u64::to_string).collect();
    format!(
        "{}\njobs: {}; then {}, which makes {} and the report and checks the claims\n\
         scripts and logs: {folder}\nwatch: squeue --me; weir sweep status {}\n",
        counted(settings, arrays, chosen),
        words.join(", "),
        submission.collect,
        sweep.dir.table().display(),
        sweep.arguments(),
    )
}
