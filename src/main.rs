//! Parse the arguments, call a command, turn an error into a message and an exit code.

use std::process::ExitCode;

use clap::Parser;
use weir::cli::{self, Arguments, Command};

fn main() -> ExitCode {
    forgo_file_locks();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(refused) => return cli::refuse_arguments(&refused),
    };
    cli::log_to_stderr(arguments.verbose);
    match arguments.command {
        Command::Run(options) => cli::run(&options),
        Command::Sweep(command) => cli::sweep(&command),
        Command::Tune(options) => cli::tune(&options),
        Command::Check(options) => cli::check(&options),
        Command::List(options) => cli::list(&options),
        Command::Inspect(options) => cli::inspect(&options),
        Command::Explain(options) => cli::explain(&options),
        Command::Report(options) => cli::report(&options),
        Command::Export(options) => cli::export(&options),
        Command::Schema => cli::schema(),
        Command::Completions(options) => cli::completions(&options),
        Command::Man(options) => cli::man(&options),
    }
}

/// Tells HDF5 not to lock its files unless the user wants it to: many parallel file systems have no locks, and a result
/// is written under a temporary name that nobody else opens.
#[allow(unsafe_code)]
fn forgo_file_locks() {
    const KEY: &str = "HDF5_USE_FILE_LOCKING";
    if std::env::var_os(KEY).is_none() {
        // SAFETY: this is the first thing that the program does; there is one thread.
        unsafe { std::env::set_var(KEY, "FALSE") };
    }
}
