//! `weir run`.

mod progress;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::cli::args::RunOptions;
use crate::cli::console::{tell, tell_warnings, write_out};
use crate::cli::failure::Failure;
use crate::cli::launch::{give_up, mpi_version, must_be_the_same, on_all_ranks, together};
use crate::cli::program;
use crate::cli::signals::{Asked, exit_code};
use crate::cli::sweep::quoted;
use crate::cli::watch;
use progress::{Kind, Progress, state};
use weir_engine::{StopReason, Transport};
use weir_input::Until;
use weir_model::{EndpointId, NEVER, Time};
use weir_report::format::{bytes, simulated, whole};
use weir_report::{parameters, summary, summary_json};
use weir_result::Run;
use weir_result::out_dir::{self, OutDir};
use weir_simulation::config::{Catalog, Experiment};
use weir_simulation::{Observer, Outcome, Plan, RunError};

/// Runs an experiment on all ranks.
pub fn run(options: &RunOptions, catalog: &Catalog) -> ExitCode {
    on_all_ranks(
        |transport| match on_this_rank(options, catalog, transport) {
            Ok(()) => 0,
            Err(code) => code,
        },
    )
}

/// A run on this rank. The error is the exit code; its message has been printed.
fn on_this_rank(
    options: &RunOptions,
    catalog: &Catalog,
    transport: &mut dyn Transport,
) -> Result<(), u8> {
    let first = transport.rank() == 0;
    let (experiment, plan) = together(transport, prepare(options, catalog, transport.size()))?;
    must_be_the_same(transport, &experiment)?;
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
    let place = out.as_ref().map(OutDir::progress);
    let mut viewer = Viewer::new(&experiment, options.quiet || !first, asked, place);
    let started = weir_simulation::now();
    if first {
        log_plan(&experiment, &plan, transport.size());
    }
    let outcome = match weir_simulation::run(&plan, transport, &mut viewer) {
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
    match stopped.flatten() {
        Some(reason) => Err(exit_code(reason)),
        None => Ok(()),
    }
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
        topology.domains(),
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

fn prepare(
    options: &RunOptions,
    catalog: &Catalog,
    ranks: u32,
) -> Result<(Experiment, Plan), Failure> {
    let watched = options
        .watch_packet
        .as_deref()
        .map(packet_name)
        .transpose()?;
    let load = || {
        let experiment = options.experiment.load(catalog)?;
        let plan = Plan::new(&experiment, watched)?;
        Ok((experiment, plan))
    };
    let (experiment, plan) = load().map_err(|error| Failure::wrong(&error))?;
    let domains = plan.network().topology.domains();
    if ranks > domains {
        return Err(Failure::bad_input(format!(
            "error: {ranks} ranks cannot share the {domains} domains of this network\n  \
             help: a domain (a group or a pod) is simulated by one rank; start at most {domains} ranks"
        )));
    }
    if let Some(interleaving) = plan.schedule.interleaving
        && ranks > 1
    {
        let (scheme, delay) = (plan.scheme.name(), interleaving.delay as f64 / 1e3);
        let least = plan.lookahead as f64 / 1e3;
        return Err(Failure::bad_input(format!(
            "error: the signals of {scheme} take {delay} ns, and {ranks} ranks can exchange nothing faster than {least} ns\n  \
             help: run this on one rank (exact, but slower), or with congestion.latency = \"{least} ns\" or more"
        )));
    }
    if let Some((source, _)) = watched
        && source >= plan.network().topology.endpoints()
    {
        let most = plan.network().topology.endpoints() - 1;
        return Err(Failure::bad_input(format!(
            "error: --watch-packet: there is no endpoint {source}\n  help: endpoints are numbered from 0 to {most}"
        )));
    }
    Ok((experiment, plan))
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
    let dir = options
        .out
        .clone()
        .unwrap_or_else(|| default_out(&options.experiment.file));
    let out = out_dir::prepare(&dir, &experiment.resolved, options.force)
        .map_err(|error| Failure::bad_input(format!("error: {error}")))?;
    if let Some(warning) = out.warning() {
        tell(format!("warning: {warning}"));
    }
    Ok(out)
}

fn default_out(file: &Path) -> PathBuf {
    Path::new("out").join(file.file_stem().unwrap_or_default())
}

/// On rank 0: writes the result and tells what came out.
/// Returns the reason why the run was stopped early, if it was.
fn finish(
    options: &RunOptions,
    experiment: &Experiment,
    plan: &Plan,
    outcome: Outcome,
    out: Option<OutDir>,
    ranks: u32,
    started: &str,
) -> Result<Option<StopReason>, Failure> {
    let stopped = outcome.stopped;
    let run = Run {
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
        stopped: stopped.map(|why| why.name().to_string()),
        ..Run::default()
    };
    let digest = outcome.data.digest();
    let mut path = None;
    if let Some(out) = out {
        let written = out.put(&outcome.data, &run, experiment.run.seed);
        path = Some(written.map_err(|error| Failure::failed(format!("error: {error}")))?);
    }
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
    write_out(&text)?;
    if options.watch_packet.is_some() && outcome.steps.is_empty() {
        tell("note: the packet to watch was never injected");
    }
    if let Some(why) = &run.stopped {
        tell(format!(
            "error: the run was stopped early ({why}); its result is marked as not complete"
        ));
    }
    Ok(stopped)
}

/// The command that started this process.
fn command_line() -> String {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    // HDF5 has no texts with a NUL, and no operating system such arguments.
    words.collect::<Vec<_>>().join(" ")
}

/// Shows progress on rank 0, watches the clock and listens for signals on all.
struct Viewer {
    progress: Option<Progress>,
    asked: Asked,
    started: Instant,
    max_wall: Option<Duration>,
    kind: Kind,
    /// File in which the progress is written, and the time of the next note.
    place: Option<PathBuf>,
    next: Duration,
}

/// Between two notes of how far the run is; nothing is written of a shorter one.
const NOTE: Duration = Duration::from_secs(1);

impl Viewer {
    fn new(experiment: &Experiment, quiet: bool, asked: Asked, place: Option<PathBuf>) -> Viewer {
        let kind = match experiment.run.until {
            Until::Time(time) => Kind::Until(time.0),
            Until::Completion => Kind::Completion,
        };
        let max_wall = experiment
            .run
            .max_wall
            .map(|limit| Duration::from_nanos(limit.0 / 1_000));
        Viewer {
            progress: (!quiet).then(|| Progress::new(kind, quiet)),
            asked,
            started: Instant::now(),
            max_wall,
            kind,
            place,
            next: NOTE,
        }
    }

    /// Writes the progress for `weir inspect` while the run continues.
    fn note(&mut self, until: Time, moved: u64) {
        let elapsed = self.started.elapsed();
        let Some(place) = self.place.as_ref().filter(|_| elapsed >= self.next) else {
            return;
        };
        self.next = elapsed + NOTE.max(elapsed / 100);
        let text = state(self.kind, until, moved, elapsed);
        // A full disk is reported when the result is written.
        let _ = weir_result::replace(
            place,
            format!("{text} (at {})\n", weir_simulation::now()).as_bytes(),
        );
    }

    fn finish(self) {
        if let Some(progress) = self.progress {
            progress.finish();
        }
    }
}

impl Observer for Viewer {
    fn progress(&mut self, now: weir_engine::Progress, ranks: u32) {
        // The moves of the other ranks are not known between windows; they share the work evenly.
        let moved = now.moved_here * u64::from(ranks);
        self.note(now.until, moved);
        if let Some(progress) = &mut self.progress {
            progress.update(now.until, moved, self.started.elapsed());
        }
    }

    fn stop(&mut self) -> Option<StopReason> {
        let late = self
            .max_wall
            .is_some_and(|limit| self.started.elapsed() > limit);
        let late = late.then_some(StopReason::MaxWall);
        late.or_else(|| self.asked.reason())
    }

    /// A twentieth of the wall-clock limit.
    /// Without one, in good time for requests to end: schedulers give half a minute.
    fn heed_within(&self) -> Duration {
        let most = Duration::from_secs(5);
        let part = |limit: Duration| (limit / 20).clamp(Duration::from_millis(100), most);
        self.max_wall.map_or(most, part)
    }
}
