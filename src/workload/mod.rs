//! What the endpoints send: who takes part (`members`), to whom (`patterns`), how much (`sizes`) and when
//! (`injection`).

mod draw;
pub mod patterns;
