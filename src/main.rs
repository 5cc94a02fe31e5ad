//! Parse the arguments, call a command, turn an error into a message and an exit code.

use std::process::ExitCode;

use clap::Parser;
use weir::cli::{self, Arguments, Command};

fn main() -> ExitCode {
    cli::forgo_file_locks();
    let arguments = Arguments::parse();
    cli::log_to_stderr(arguments.verbose);
    match arguments.command {
        Command::Run(options) => cli::run(&options),
        Command::Sweep(command) => cli::sweep(&command),
        Command::Check(options) => cli::check(&options),
        Command::List(options) => cli::list(&options),
        Command::Inspect(options) => cli::inspect(&options),
        Command::Report(options) => cli::report(&options),
        Command::Schema => cli::schema(),
        Command::Completions(options) => cli::completions(&options),
        Command::Man(options) => cli::man(&options),
    }
}
