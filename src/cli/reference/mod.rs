//! Commands that say what there is: the names and keys of experiment files, and the options of the
//! program.

pub(super) mod help;
pub(super) mod list;
pub(super) mod schema;
