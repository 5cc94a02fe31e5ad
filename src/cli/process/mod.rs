//! The process of a command: its start on one or many ranks, its memory, its output, the signals
//! that it gets, its exit code, and the identity of the program.

pub(super) mod console;
pub(super) mod failure;
pub(super) mod launch;
pub(super) mod pages;
pub(super) mod program;
pub(super) mod signals;
