//! The program of a task: operations, the script that a motif writes them into, and the procedure
//! that carries them out one after the other.

pub(crate) mod op;
pub(crate) mod script;
pub(crate) mod sequence;
