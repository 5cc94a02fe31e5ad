//! Parse the arguments, call a command, turn an error into a message and an exit code.

use std::process::ExitCode;

use clap::Parser;

use super::process::pages::ask_for_huge_pages;
use super::{Arguments, Command};
use weir_simulation::config::Catalog;

/// The program: the whole task of `main`.
/// Experiments may use the names in `catalog`: everything that comes with weir
/// ([`weir_simulation::catalog::catalog`]), and the program's own additions.
pub fn main(catalog: &Catalog) -> ExitCode {
    forgo_file_locks();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(refused) => return super::refuse_arguments(&refused),
    };
    // The runs of a study have what its program has been given.
    if matches!(
        arguments.command,
        Command::Run(_) | Command::Sweep(_) | Command::Tune(_)
    ) {
        ask_for_huge_pages();
    }
    super::log_to_stderr(arguments.verbose);
    match arguments.command {
        Command::Run(options) => super::run(&options, catalog),
        Command::Sweep(command) => super::sweep(&command, catalog),
        Command::Tune(options) => super::tune(&options, catalog),
        Command::Check(options) => super::check(&options, catalog),
        Command::List(options) => super::list(&options, catalog),
        Command::Doc(options) => super::doc(&options, catalog),
        Command::Inspect(options) => super::inspect(&options),
        Command::Explain(options) => super::explain(&options, catalog),
        Command::Compare(options) => super::compare(&options, catalog),
        Command::Report(options) => super::report(&options, catalog),
        Command::Export(options) => super::export(&options, catalog),
        Command::Import(options) => super::import(&options, catalog),
        Command::Schema => super::schema(catalog),
        Command::Completions(options) => super::completions(&options),
        Command::Man(options) => super::man(&options),
    }
}

/// Tells HDF5 not to lock its files unless the user wants it to: many parallel file systems have no
/// locks, and a result is written under a temporary name that no other process opens.
#[allow(unsafe_code)]
fn forgo_file_locks() {
    const KEY: &str = "HDF5_USE_FILE_LOCKING";
    let alone = std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if alone && std::env::var_os(KEY).is_none() {
        // SAFETY: no other thread exists that could read the environment at the same time.
        unsafe { std::env::set_var(KEY, "FALSE") };
    }
}
