//! `weir run`.

mod checkpoints;
mod progress;
mod shared;
mod viewer;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::args::RunOptions;
use crate::cli::experiment::watch;
use crate::cli::out::default_out;
use crate::cli::process::console::{tell, tell_failure, tell_warnings, write_out};
use crate::cli::process::failure::Failure;
use crate::cli::process::launch::{
    give_up, mpi_version, must_be_the_same, on_all_ranks, threads, together,
};
use crate::cli::process::program;
use crate::cli::process::signals::{Asked, exit_code};
use crate::cli::studies::sweep::quoted;
use viewer::Viewer;
use weir_engine::{StopReason, Transport};
use weir_model::program::exit::RESUMABLE;
use weir_model::{EndpointId, NEVER};
use weir_report::format::{bytes, simulated, whole};
use weir_report::{parameters, summary, summary_json};
use weir_result::out_dir::{self, OutDir};
use weir_result::{Data, Run, date};
use weir_simulation::config::{Catalog, Experiment};
use weir_simulation::{Means, Outcome, Plan, RunError, checkpoint, run_with};

/// Runs an experiment on all ranks.
pub fn run(options: &RunOptions, catalog: &Catalog) -> ExitCode {
    on_all_ranks(options.patience(), |transport| {
        on_this_rank(options, catalog, transport).map_or_else(|code| code, |()| 0)
    })
}

/// A run on this rank. The error is the exit code; its message has been printed.
fn on_this_rank(
    options: &RunOptions,
    catalog: &Catalog,
    transport: &mut dyn Transport,
) -> Result<(), u8> {
    let first = transport.rank() == 0;
    let prepared = prepare(options, catalog, transport.size());
    let Prepared {
        experiment,
        folder,
        plan,
    } = together(transport, prepared)?;
    must_be_the_same(transport, &experiment, options)?;
    // From here on there is something to lose, for example the file that names the process at work
    // in the directory.
    let asked = Asked::listen(first && !options.quiet)
        .map_err(|error| Failure::failed(format!("error: signals: {error}")));
    let asked = together(transport, asked)?;
    // Also if no progress is wanted: a limitation of the result is no progress.
    if first {
        tell_warnings(&plan.warnings);
    }
    let out = if first {
        open_out(options, &experiment).map(Some)
    } else {
        Ok(None)
    };
    let out = together(transport, out)?;
    let dir = out.as_ref().map(OutDir::path);
    let kept = checkpoints::find(options, &experiment, &folder, dir, transport)?;
    let shared = shared::find(options, &experiment, &plan, transport)?;
    let place = out.as_ref().map(OutDir::progress);
    let mut viewer = Viewer::new(&experiment, options.quiet || !first, asked, place)
        .with_max_memory(options.max_memory);
    let shared = viewer.shares(shared);
    let started = date();
    if first {
        log_plan(&experiment, &plan, transport.size());
    }
    let threads = threads::of_this_rank(options.threads, transport);
    let means = Means {
        threads: Some(together(transport, threads)?),
        checkpoints: kept.as_ref(),
        shared: shared.as_ref(),
    };
    let outcome = match run_with(&plan, means, transport, &mut viewer) {
        Ok(outcome) => Ok(outcome),
        // Only this rank knows.
        Err(error @ (RunError::Transport(_) | RunError::Fault(_))) => {
            return Err(give_up(transport, &failure(&error)));
        }
        Err(error) => Err(failure(&error)),
    };
    viewer.finish();
    let outcome = together(transport, outcome)?;
    let done = outcome.map(|outcome| {
        finish(
            options,
            &experiment,
            &plan,
            outcome,
            out,
            transport.size(),
            &started,
        )
    });
    let stopped = together(transport, done.transpose())?;
    stopped.flatten().map_or(Ok(()), Err)
}

/// Output of `-v`: the network that was built. `-vv` has the whole experiment as well.
fn log_plan(experiment: &Experiment, plan: &Plan, ranks: u32) {
    let network = plan.network();
    let (topology, blueprint) = (&network.topology, &plan.blueprint);
    let line = parameters::line(&experiment.resolved, None);
    tracing::info!(topology = %topology.describe(), "running");
    tracing::info!("{line}");
    for traffic in &*blueprint.traffic {
        let what = match traffic.application() {
            Some(_) => "application",
            None => "traffic",
        };
        let (tasks, start) = (traffic.tasks.len(), simulated(traffic.start));
        tracing::info!("{what} {}: {tasks} tasks, from {start} on", traffic.name);
    }
    let windows = match plan.lookahead {
        NEVER => "a single domain".to_string(),
        time => format!("windows of {} at most", simulated(time)),
    };
    tracing::info!(
        "{} domains on {ranks} ranks, {windows}; state of about {}",
        plan.network().partition.domains(),
        bytes(plan.expected_state())
    );
    tracing::debug!(
        "the experiment with every default:\n{}",
        experiment.resolved
    );
}

fn failure(error: &RunError) -> Failure {
    Failure::with_code(format!("error: {error}"), error.exit_code())
}

/// Inputs of a run, which all ranks have before they begin.
struct Prepared {
    experiment: Experiment,
    /// The directory that its paths are relative to.
    folder: PathBuf,
    plan: Plan,
}

fn prepare(options: &RunOptions, catalog: &Catalog, ranks: u32) -> Result<Prepared, Failure> {
    let watched = options
        .watch_packet
        .as_deref()
        .map(packet_name)
        .transpose()?;
    let (experiment, folder) = checkpoints::experiment(options, catalog)?;
    let plan = Plan::new(&experiment, watched).map_err(|error| Failure::wrong(&error))?;
    let checked = plan.check_ranks(ranks);
    checked.map_err(|error| Failure::wrong(&error))?;
    if let Some((source, _)) = watched
        && source >= plan.network().topology.endpoints()
    {
        let most = plan.network().topology.endpoints() - 1;
        return Err(Failure::bad_input(format!(
            "error: --watch-packet: there is no endpoint {source}\n  help: endpoints are numbered from 0 to {most}"
        )));
    }
    Ok(Prepared {
        experiment,
        folder,
        plan,
    })
}

fn packet_name(text: &str) -> Result<(EndpointId, u32), Failure> {
    let parts = text
        .split_once(':')
        .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.ok_or_else(|| {
        Failure::bad_input(format!(
            "error: --watch-packet: {text:?} does not name a packet\n  \
             help: give the number of its source and its own number there, as in 17:3"
        ))
    })
}

fn open_out(options: &RunOptions, experiment: &Experiment) -> Result<OutDir, Failure> {
    let given = options.resume.as_ref().or(options.out.as_ref());
    let file = options.file.as_deref().unwrap_or(Path::new(""));
    let dir = given.cloned().unwrap_or_else(|| default_out(file));
    let out = out_dir::prepare(&dir, &experiment.resolved, options.force)
        .map_err(|error| Failure::bad_input(format!("error: {error}")))?;
    if let Some(warning) = out.warning() {
        tell(format!("warning: {warning}"));
    }
    Ok(out)
}

/// On rank 0: writes the result and tells what came out.
/// Returns the exit code of a run that was stopped early.
fn finish(
    options: &RunOptions,
    experiment: &Experiment,
    plan: &Plan,
    outcome: Outcome,
    out: Option<OutDir>,
    ranks: u32,
    started: &str,
) -> Result<Option<u8>, Failure> {
    let stopped = outcome.stopped;
    let run = Run {
        threads: Some(outcome.threads as u64),
        build_seconds: outcome.build_seconds,
        wall_seconds: outcome.wall_seconds,
        ranks,
        hosts: outcome.facts.hosts.clone(),
        started: started.to_string(),
        events: outcome.facts.events,
        windows: outcome.windows,
        peak_memory_bytes: outcome.facts.peak_memory_bytes,
        state_bytes: outcome.facts.memory_state,
        packet_bytes: outcome.facts.memory_packets,
        mpi_version: mpi_version(ranks),
        commit: Some(program::COMMIT.into()),
        features: Some(program::FEATURES.into()),
        command: Some(command_line()),
        resumed: (outcome.resumed > 0).then(|| outcome.resumed.into()),
        forked_ps: outcome.forked.map(|forked| forked.at),
        forked_packet_hops: outcome.forked.map(|forked| forked.packet_hops),
        forked_seconds: outcome.forked.map(|forked| forked.wall_seconds),
        stopped: stopped.map(|why| why.name().to_string()),
        ..Run::default()
    };
    let digest = outcome.data.digest();
    let path = out.map(|out| written(out, &outcome.data, &run, experiment.run.seed, options));
    let path = path.transpose()?;
    tracing::info!(
        "{} events in {} windows, {} of memory",
        whole(run.events),
        whole(run.windows),
        bytes(run.peak_memory_bytes)
    );
    let way = watch::table(&outcome.steps, plan.network());
    let mut text = if options.json {
        tell(way.trim_end_matches('\n'));
        format!("{}\n", summary_json::json(&digest, &run))
    } else {
        let about = plan.network().topology.describe();
        way + &summary::table(&about, &experiment.resolved, &digest, &run)
    };
    if let Some(path) = path.filter(|_| !options.json) {
        text.push_str(&format!("\nresult: {}\n", path.display()));
    }
    let shown = write_out(&text);
    if options.watch_packet.is_some() && outcome.steps.is_empty() {
        tell("note: the packet to watch was never injected");
    }
    let Some(why) = stopped else {
        return shown.map(|()| None);
    };
    if let Err(failure) = shown {
        // The exit code is for scripts that start the run again.
        tell_failure(&failure);
    }
    Ok(Some(told(why, &outcome)))
}

/// Writes the result, and removes the checkpoints of a run that has reached its end, unless they
/// are not its own. The path of the result.
fn written(
    mut out: OutDir,
    data: &Data,
    run: &Run,
    seed: u64,
    options: &RunOptions,
) -> Result<PathBuf, Failure> {
    let path = out.put(data, run, seed);
    let path = path.map_err(|error| Failure::failed(format!("error: {error}")))?;
    if path != out.result() {
        let there = out.result();
        tell(format!(
            "note: {} is of a run to its end, and stays",
            there.display()
        ));
    }
    if run.stopped.is_none()
        && options.watch_packet.is_none()
        && let Err(error) = checkpoint::remove(out.path())
    {
        let path = out.path().display();
        tell(format!(
            "warning: the checkpoints in {path} cannot be removed: {error}"
        ));
    }
    Ok(path)
}

/// Says that a run was stopped early; the exit code of that.
fn told(why: StopReason, outcome: &Outcome) -> u8 {
    let (name, until) = (why.name(), simulated(outcome.data.summary.simulated_ps));
    if outcome.saved {
        tell(format!(
            "stopped early ({name}) at {until} of simulated time; the same command goes on from there"
        ));
        return RESUMABLE;
    }
    tell(format!(
        "error: the run was stopped early ({name}); its result is marked as not complete"
    ));
    exit_code(why)
}

/// The command that started this process.
fn command_line() -> String {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    // HDF5 has no texts with a NUL, and no operating system such arguments.
    words.collect::<Vec<_>>().join(" ")
}
