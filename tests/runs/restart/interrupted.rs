//! A run that is asked to end by a signal, whenever that is: it leaves a whole result, one that is
//! marked as not complete, or none, and its exit code says which.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::attack::{cases, seed};
use crate::support::process::{files, holder_of, ranks_of, start, wait_for};
use crate::support::{Cli, Experiment};
use rustix::process::{Pid, Signal, kill_process};
use weir::model::{Rng, below, stream};
use weir::result;

const SIGNALS: [(Signal, i32, &str); 3] = [
    (Signal::INT, 2, "SIGINT"),
    (Signal::TERM, 15, "SIGTERM"),
    (Signal::HUP, 1, "SIGHUP"),
];

/// More than two signals that mean one are apart, and less than two that mean two.
const APART: Duration = Duration::from_millis(700);

fn send(process: u32, signal: Signal) {
    let pid = Pid::from_raw(process as i32).expect("a process");
    // It may have ended.
    let _ = kill_process(pid, signal);
}

/// Takes some tenths of a second.
fn short() -> Experiment {
    Experiment::dragonfly(2, 4, 2).uniform(0.5).until("5 us")
}

/// Far longer than any test waits for.
fn endless() -> Experiment {
    short().until("100 s")
}

/// Content of the output directory after all.
#[derive(Debug, PartialEq)]
enum Left {
    Nothing,
    Whole,
    /// Marked as not complete, with the reason.
    Partial(String),
}

fn left(out: &Path) -> Left {
    let path = out.join("result.h5");
    if !path.exists() {
        return Left::Nothing;
    }
    let stored = result::read(&path).expect("what is there can be read");
    assert_eq!(stored.header.complete, stored.run.stopped.is_none());
    match stored.run.stopped {
        None => Left::Whole,
        Some(why) => Left::Partial(why),
    }
}

fn any<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[below(rng, list.len() as u32) as usize]
}

/// The exit code as a shell has it.
fn code(output: &Output) -> i32 {
    let status = output.status;
    let signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(signal).expect("one of the two")
}

/// Runs `cli`, and after a random time calls `disturb` with the process that was started.
fn disturbed(cli: &Cli, after: Duration, disturb: impl FnOnce(&Child)) -> Output {
    let run = start(cli);
    sleep(after);
    disturb(&run);
    run.wait_with_output().expect("an end")
}

/// Duration of an undisturbed run.
fn whole(cli: Cli) -> Duration {
    let began = Instant::now();
    let ran = cli.succeeds();
    assert_eq!(left(&ran.out()), Left::Whole);
    began.elapsed()
}

fn at_any_time(ranks: Option<u32>, default: u32) {
    let cli = || match ranks {
        None => short().cli(),
        Some(ranks) => short().cli().ranks(ranks),
    };
    let most = whole(cli()).mul_f64(1.1);
    let mut rng = stream(seed(), &[u64::from(ranks.unwrap_or(1))]);
    for case in 0..cases(default) {
        let (signal, number, name) = any(&mut rng, &SIGNALS);
        let after = most.mul_f64(f64::from(below(&mut rng, 1_000)) / 1e3);
        let (one, twice) = (below(&mut rng, 1 << 16), any(&mut rng, &[false, true]));
        let cli = cli();
        let output = disturbed(&cli, after, |run| {
            let processes = match ranks {
                None => vec![run.id()],
                Some(_) => ranks_of(run.id()),
            };
            // Before the ranks exist only mpirun could be asked.
            if let Some(process) = processes.get(one as usize % processes.len().max(1)) {
                send(*process, signal);
                if twice {
                    send(*process, signal);
                }
            }
        });
        let out = cli.folder().join("out");
        let (left, code) = (left(&out), code(&output));
        let place = format!(
            "case {case}: {name} after {after:?}, twice: {twice}: {left:?}, exit code {code}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{place}");
        match &left {
            Left::Whole => assert_eq!(code, 0, "{place}"),
            Left::Partial(why) => assert_eq!((why.as_str(), code), (name, 128 + number), "{place}"),
            // It was not yet listening.
            Left::Nothing if ranks.is_none() => assert_eq!(code, 128 + number, "{place}"),
            Left::Nothing => assert_ne!(code, 0, "{place}"),
        }
        let expected = match left {
            Left::Nothing => vec![],
            _ => vec![out.join("result.h5")],
        };
        assert_eq!(files(&out), expected, "{place}");
    }
}

#[test]
fn one_process_at_any_time() {
    at_any_time(None, 10);
}

#[test]
fn one_of_three_ranks_at_any_time() {
    at_any_time(Some(3), 5);
}

#[test]
fn mpirun_at_any_time() {
    let cli = || short().cli().ranks(3);
    let most = whole(cli()).mul_f64(1.1);
    let mut rng = stream(seed(), &[0]);
    for case in 0..cases(3) {
        let after = most.mul_f64(f64::from(below(&mut rng, 1_000)) / 1e3);
        let signal = any(&mut rng, &[Signal::INT, Signal::TERM]);
        let cli = cli();
        let output = disturbed(&cli, after, |mpirun| send(mpirun.id(), signal));
        // It ends its ranks in its own way and soon kills them.
        let (left, code) = (left(&cli.folder().join("out")), code(&output));
        assert!(
            left == Left::Whole || code != 0,
            "case {case}: {left:?}, {code}"
        );
    }
}

#[test]
fn each_signal_has_its_exit_code_and_is_told() {
    for (signal, number, name) in SIGNALS {
        let cli = endless().cli();
        let out = cli.folder().join("out");
        let run = start(&cli);
        holder_of(&out);
        send(run.id(), signal);
        let ran = cli.ran(run.wait_with_output().expect("an end"));
        assert_eq!(ran.code, Some(128 + number), "{}", ran.stderr);
        assert_eq!(left(&out), Left::Partial(name.into()));
        assert!(ran.stdout.contains("incomplete"), "{}", ran.stdout);
        let told = format!("stopped early ({name})");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
}

#[test]
fn the_second_signal_ends_it_at_once_and_leaves_nothing() {
    let cli = endless().cli().ranks(2);
    let out = cli.folder().join("out");
    let run = start(&cli);
    holder_of(&out);
    let ranks = wait_for("two ranks", || {
        let ranks = ranks_of(run.id());
        (ranks.len() == 2).then_some(ranks)
    });
    // One rank that does not answer keeps the other one from ending in good order.
    let first = holder_of(&out).pid;
    let other = ranks.into_iter().find(|rank| *rank != first);
    send(other.expect("another rank"), Signal::STOP);
    send(first, Signal::TERM);
    sleep(APART);
    assert!(Path::new(&format!("/proc/{first}")).exists());
    send(first, Signal::TERM);
    let output = run.wait_with_output().expect("an end");
    assert_ne!(code(&output), 0);
    assert_eq!(left(&out), Left::Nothing);
}

#[test]
fn what_is_to_be_ignored_is_ignored() {
    let cli = short().cli();
    let mut command = cli.command();
    let mut arguments = vec![command.get_program().to_owned()];
    arguments.extend(command.get_args().map(|argument| argument.to_owned()));
    // As `nohup` does it.
    command = std::process::Command::new("sh");
    command
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .args(arguments)
        .current_dir(cli.folder());
    let run = command.stdout(Stdio::piped()).spawn().expect("started");
    let out = cli.folder().join("out");
    wait_for("the start", || out.exists().then_some(()));
    send(run.id(), Signal::HUP);
    let output = run.wait_with_output().expect("an end");
    assert_eq!((code(&output), left(&out)), (0, Left::Whole));
}
