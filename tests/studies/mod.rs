//! Studies of many points: sweeps, their claims, and searches.

mod claims;
mod large_sweeps;
mod moved_studies;
mod slowdown;
mod sweep;
mod tune;
