//! Requests to Slurm, by its own commands.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::process::Command;

use thiserror::Error;

/// Reasons why Slurm did not meet a request.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The command is not there or cannot be started.
    #[error(
        "{command} cannot be started: {cause}\n  \
         help: submit where Slurm's commands are, or run the study here: weir sweep run"
    )]
    NoCommand {
        /// Its name.
        command: &'static str,
        /// Cause.
        cause: io::Error,
    },
    /// The command refuses.
    #[error("{command}: {message}")]
    Refused {
        /// Its name and its object.
        command: String,
        /// Its message.
        message: String,
    },
    /// The output of the command is not understood.
    #[error("{command} says {text:?}, where {expected} was expected")]
    NotUnderstood {
        /// Its name.
        command: &'static str,
        /// Its output.
        text: String,
        /// Expected output.
        expected: &'static str,
    },
}

/// The Slurm of this machine.
pub struct Queue;

/// A task of an array: the array's job and the task's place in it.
pub type TaskId = (u64, usize);

/// Arguments of sbatch for a script.
/// It is to start when the jobs `after` have ended in whatever way, and not before the condition
/// `dependency`, as for sbatch.
pub fn arguments(script: &Path, after: &[String], dependency: Option<&str>) -> Vec<String> {
    let after = (!after.is_empty()).then(|| format!("afterany:{}", after.join(":")));
    let all: Vec<String> = dependency
        .map(str::to_string)
        .into_iter()
        .chain(after)
        .collect();
    let mut words = vec!["--parsable".to_string()];
    if !all.is_empty() {
        words.push(format!("--dependency={}", all.join(",")));
    }
    words.push(script.display().to_string());
    words
}

impl Queue {
    /// The most tasks that an array may have (MaxArraySize).
    ///
    /// # Errors
    /// If Slurm does not answer.
    pub fn max_array_size(&self) -> Result<usize, SlurmError> {
        let text = call("scontrol", &["show", "config"])?;
        let most = setting(&text, "MaxArraySize").and_then(|value| value.parse().ok());
        match most {
            Some(0) | None => Err(SlurmError::NotUnderstood {
                command: "scontrol show config",
                text: setting(&text, "MaxArraySize")
                    .unwrap_or_default()
                    .to_string(),
                expected: "MaxArraySize, at least 1",
            }),
            Some(most) => Ok(most),
        }
    }

    /// Submits a script; returns the job. See [`arguments`].
    ///
    /// # Errors
    /// If Slurm refuses it.
    pub fn submit(
        &self,
        script: &Path,
        after: &[u64],
        dependency: Option<&str>,
    ) -> Result<u64, SlurmError> {
        let after: Vec<String> = after.iter().map(u64::to_string).collect();
        let arguments = arguments(script, &after, dependency);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let text = call("sbatch", &words)?;
        // The job; behind a semicolon, the cluster.
        let job = text.trim().split(';').next().unwrap_or_default().parse();
        job.map_err(|_| SlurmError::NotUnderstood {
            command: "sbatch",
            text: text.trim().to_string(),
            expected: "the number of a job",
        })
    }

    /// Takes jobs back.
    ///
    /// # Errors
    /// If Slurm refuses; jobs that have ended are no error.
    pub fn cancel(&self, jobs: &[u64]) -> Result<(), SlurmError> {
        let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
        let words: Vec<&str> = jobs.iter().map(String::as_str).collect();
        match words.is_empty() {
            true => Ok(()),
            false => call("scancel", &words).map(drop),
        }
    }

    /// The tasks of this user's arrays with this name that wait or run.
    ///
    /// # Errors
    /// If Slurm does not answer.
    pub fn tasks(&self, name: &str) -> Result<HashSet<TaskId>, SlurmError> {
        let user = rustix::process::getuid().as_raw().to_string();
        let name = format!("--name={name}");
        let format = "--format=%F %K";
        let text = call("squeue", &["-h", "-r", &name, "--user", &user, format])?;
        // A job that is no array has no place.
        let task = |line: &str| {
            let (job, place) = line.split_once(' ')?;
            Some((job.parse().ok()?, place.parse().ok()?))
        };
        Ok(text.lines().filter_map(task).collect())
    }
}

/// `value` of a line `key = value`.
fn setting<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let of = |line: &'a str| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.trim())
    };
    text.lines().find_map(of)
}

/// Output of a command.
fn call(command: &'static str, arguments: &[&str]) -> Result<String, SlurmError> {
    let done = Command::new(command)
        .args(arguments)
        .output()
        .map_err(|cause| SlurmError::NoCommand { command, cause })?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_string();
    Err(SlurmError::Refused {
        command: format!("{command} {}", arguments.join(" ")),
        message: match said.is_empty() {
            true => done.status.to_string(),
            false => said,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{arguments, setting};
    use std::path::Path;

    #[test]
    fn scripts_wait_for_jobs_and_for_what_the_user_says() {
        let words = |after: &[&str], dependency| {
            let after: Vec<String> = after.iter().map(|job| job.to_string()).collect();
            arguments(Path::new("a.sbatch"), &after, dependency).join(" ")
        };
        assert_eq!(words(&[], None), "--parsable a.sbatch");
        assert_eq!(
            words(&["1", "2"], None),
            "--parsable --dependency=afterany:1:2 a.sbatch"
        );
        assert_eq!(
            words(&["3"], Some("afterok:7")),
            "--parsable --dependency=afterok:7,afterany:3 a.sbatch"
        );
    }

    #[test]
    fn a_setting_is_found_by_its_whole_name() {
        let text =
            "Configuration data as of 2026\nNotMaxArraySize = 7\nMaxArraySize            = 1001\n";
        assert_eq!(setting(text, "MaxArraySize"), Some("1001"));
        assert_eq!(setting(text, "ArraySize"), None);
    }
}
