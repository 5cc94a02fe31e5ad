//! Comparisons with other simulators, whose numbers are in `tests/reference/`.

mod codes;
pub mod dragonfly;
mod fattree;
mod mesh_torus;
