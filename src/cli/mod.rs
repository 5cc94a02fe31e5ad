//! The command line: one file or folder per command, by what it works on.

mod args;
mod experiment;
mod main;
mod out;
mod process;
mod reference;
mod results;
mod studies;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

pub use args::{Arguments, Command};
pub use check::check;
pub use failure::Failure;
pub use launch::{on_all_ranks, together};
pub use main::main;
pub use run::run;
pub use sweep::sweep;
pub use tune::tune;

use clap::error::{ContextKind, ErrorKind};

use args::{
    CompletionsOptions, DocOptions, ExplainOptions, ExportOptions, ImportOptions, InspectOptions,
    ListOptions, ManOptions, ReportOptions,
};
use experiment::{check, import, run};
use process::console::{tell, tell_error, tell_failure, write_out, written};
use process::{failure, launch};
use reference::{help, list, schema};
use results::compare::CompareOptions;
use results::{compare, explain, export, inspect, report};
use studies::{sweep, tune};

use weir_input::ConfigError;
use weir_model::program::exit::{BAD_INPUT, FAILED};
use weir_model::visible;
use weir_simulation::config::Catalog;

/// Prints the error in the arguments, or the text they ask for: help, the version.
pub fn refuse_arguments(refused: &clap::Error) -> ExitCode {
    if asks_for_ranks(refused) {
        tell(
            "error: a run has as many ranks as are started: weir has no option for that\n  \
             help: mpirun -n 4 weir run experiment.toml --out DIR (of a study: `weir sweep run --ranks 4`)",
        );
        return ExitCode::from(BAD_INPUT);
    }
    let harmless = |word: OsString| matches!(visible(&word.to_string_lossy()), Cow::Borrowed(_));
    if std::env::args_os().all(harmless) {
        // In colour on a terminal.
        let printed = refused.print();
        return match refused.use_stderr() {
            true => ExitCode::from(BAD_INPUT),
            false => ends(written(printed)),
        };
    }
    tell(refused.render().to_string().trim_end());
    ExitCode::from(BAD_INPUT)
}

/// True if an unknown option is one that elsewhere gives the number of ranks.
fn asks_for_ranks(refused: &clap::Error) -> bool {
    const RANKS: [&str; 8] = [
        "--ranks",
        "--rank",
        "--np",
        "--nprocs",
        "--ntasks",
        "--processes",
        "-n",
        "--mpi",
    ];
    let unknown = refused.kind() == ErrorKind::UnknownArgument;
    let given = refused.get(ContextKind::InvalidArg);
    let text = given.map(ToString::to_string).unwrap_or_default();
    let name = text.split('=').next().unwrap_or_default();
    unknown && RANKS.contains(&name)
}

/// `weir list`.
pub fn list(options: &ListOptions, catalog: &Catalog) -> ExitCode {
    if options.json {
        return print(&format!("{:#}\n", list::json(catalog)));
    }
    print_or_refuse(list::list(
        catalog,
        options.what.as_deref(),
        options.name.as_deref(),
    ))
}

/// `weir doc`.
pub fn doc(options: &DocOptions, catalog: &Catalog) -> ExitCode {
    print_or_refuse(list::doc(catalog, &options.key))
}

fn print_or_refuse(text: Result<String, ConfigError>) -> ExitCode {
    match text {
        Ok(text) => print(&text),
        Err(error) => {
            tell_error(&error);
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// `weir inspect`.
pub fn inspect(options: &InspectOptions) -> ExitCode {
    if let Err(failure) = inspect::refuse_sweep(&options.file) {
        tell_failure(&failure);
        return ExitCode::from(failure.code);
    }
    let said = match options.json {
        true => inspect::json(&options.file),
        false => inspect::inspect(&options.file, options.experiment),
    };
    match said {
        Ok(text) => print(&text),
        Err(error) => {
            tell(format!("error: {error}"));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// `weir explain`.
pub fn explain(options: &ExplainOptions, catalog: &Catalog) -> ExitCode {
    match explain::explain(options, catalog) {
        Ok(text) => print(&text),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// `weir compare`.
pub fn compare(options: &CompareOptions, catalog: &Catalog) -> ExitCode {
    match compare::compare(options, catalog) {
        Ok(text) => print(&text),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// `weir report`.
pub fn report(options: &ReportOptions, catalog: &Catalog) -> ExitCode {
    match report::report(&options.dir, options.out.as_deref(), catalog) {
        Ok(page) => print(&format!("{}\n", page.display())),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// `weir export`.
pub fn export(options: &ExportOptions, catalog: &Catalog) -> ExitCode {
    match export::export(options, catalog) {
        Ok(text) => print(&text),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// `weir import`.
pub fn import(options: &ImportOptions, catalog: &Catalog) -> ExitCode {
    match import::import(options, catalog) {
        Ok(text) => print(&text),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// `weir schema`.
pub fn schema(catalog: &Catalog) -> ExitCode {
    match serde_json::to_string_pretty(&schema::schema(catalog)) {
        Ok(text) => print(&format!("{text}\n")),
        Err(error) => {
            tell(format!("error: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

/// `weir completions`.
pub fn completions(options: &CompletionsOptions) -> ExitCode {
    print(&String::from_utf8_lossy(&help::completions::script(
        options.shell,
    )))
}

/// `weir man`.
pub fn man(options: &ManOptions) -> ExitCode {
    let text = match &options.dir {
        None => help::completions::first_page(),
        Some(dir) => help::completions::write_pages(dir).map(|pages| {
            let lines = pages.iter().map(|page| format!("{}\n", page.display()));
            lines.collect::<String>().into_bytes()
        }),
    };
    match text {
        Ok(text) => print(&String::from_utf8_lossy(&text)),
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// Prints to standard output and ends the command.
fn print(text: &str) -> ExitCode {
    ends(write_out(text))
}

/// The end of a command that has only to print.
fn ends(printed: Result<(), Failure>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// True if there are colours: on a terminal, unless NO_COLOR is set.
fn colours(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Logs go to standard error; `RUST_LOG` overrides the level: `debug`, or `weir_study=debug,warn`
/// for targets, which are the crates and their modules.
pub fn log_to_stderr(verbose: u8) {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::prelude::*;
    let level = [LevelFilter::WARN, LevelFilter::INFO, LevelFilter::DEBUG];
    let given = std::env::var("RUST_LOG")
        .ok()
        .filter(|text| !text.is_empty());
    let given = given.and_then(|text| text.parse::<Targets>().ok());
    let filter =
        given.unwrap_or_else(|| Targets::new().with_default(level[usize::from(verbose.min(2))]));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(colours(std::io::stderr().is_terminal()))
        .with_target(false);
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .init();
}
