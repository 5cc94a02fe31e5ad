//! Flit-level simulators of two networks, which share no code with weir. They say which detail of a
//! flit-level router makes which difference.

pub mod dragonfly;
pub mod tree;
