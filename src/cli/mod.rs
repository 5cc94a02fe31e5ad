//! The command line: one file per command.

mod args;
mod check;
mod launch;
mod list;
mod progress;
mod inspect;
mod run;
mod schema;
mod watch;
