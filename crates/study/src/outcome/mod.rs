//! The outcome of a study: the table of its numbers, and the verdicts on its claims.

pub(crate) mod cell;
pub(crate) mod table;
pub(crate) mod verdict;
