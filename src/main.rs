//! The program `weir`: its command line, with everything that comes with weir.

use std::process::ExitCode;

fn main() -> ExitCode {
    weir::cli::main(&weir::catalog::catalog())
}
