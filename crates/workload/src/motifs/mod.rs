//! Motifs: the communication of the tasks of well-known applications. One file per motif.
//!
//! A motif's parameters are at the top of its file with the published values as their defaults;
//! ready sets are in `workloads/`. Its tests compare its traffic with the published one.

use super::tasks::Motif;
use weir_input::registry::Entry;
use weir_input::{ConfigError, Section, Size};
use weir_model::{Invalid, LONGEST_MESSAGE};

mod collective;
mod compute;
mod grid;
mod halo;
mod model;
#[cfg(test)]
mod testing;

mod allreduce;
mod alltoall;
mod checkpoint;
mod fft3d;
mod fixed_pairs;
mod gpcnet;
mod halo2d;
mod halo3d;
mod halo3d26;
mod incast;
mod inference;
mod lammps;
mod milc;
mod nearest_neighbor;
mod nekbone;
mod periodic_aggressor;
mod permutations;
mod ping_pong;
mod ptrans;
mod script;
mod spread;
mod sweep3d;
mod training;

/// Builds a motif from its section for this number of tasks.
pub type Build = fn(&Section, u32) -> Result<Box<dyn Motif>, ConfigError>;

/// All motifs.
pub const REGISTRY: &[Entry<Build>] = &[
    lammps::ENTRY,
    milc::ENTRY,
    nekbone::ENTRY,
    nearest_neighbor::ENTRY,
    incast::ENTRY,
    periodic_aggressor::ENTRY,
    fixed_pairs::ENTRY,
    spread::ENTRY,
    permutations::ENTRY,
    allreduce::ENTRY,
    halo3d26::ENTRY,
    halo3d::ENTRY,
    halo2d::ENTRY,
    sweep3d::ENTRY,
    alltoall::ENTRY,
    ping_pong::ENTRY,
    ptrans::ENTRY,
    fft3d::ENTRY,
    training::ENTRY,
    inference::ENTRY,
    checkpoint::ENTRY,
    gpcnet::ring::ENTRY,
    gpcnet::bw_sync::ENTRY,
    gpcnet::allreduce::ENTRY,
    gpcnet::alltoall::ENTRY,
    gpcnet::incast::ENTRY,
    gpcnet::put_incast::ENTRY,
    gpcnet::get_broadcast::ENTRY,
    script::ENTRY,
];

/// Maximum number of iterations: more are taken for a typing error. Programs that repeat all the
/// time also have `repetitions`.
pub const MOST_ITERATIONS: u32 = 1_000_000;

// Parts are counted in 32 bits; no motif has more than a hundred per iteration.
const _: () = assert!(MOST_ITERATIONS as u64 * 100 < u32::MAX as u64);

/// The keys of the iteration counts of motifs.
pub const COUNTS: [&str; 3] = ["iterations", "rounds", "steps"];

/// Refuses more iterations in the section of a motif than the maximum.
///
/// # Errors
/// At the place of that number.
pub fn check_counts(section: &Section) -> Result<(), ConfigError> {
    COUNTS.into_iter().try_for_each(|key| {
        let count = section.given(key).and_then(|given| given.whole());
        check_count(section, key, count.map_or(0, |count| count.max(0) as u64))
    })
}

/// Refuses more iterations than the maximum, as set by `key`.
///
/// # Errors
/// At the place of `key`.
pub fn check_count(section: &Section, key: &str, count: u64) -> Result<(), ConfigError> {
    if count <= u64::from(MOST_ITERATIONS) {
        return Ok(());
    }
    let message = format!("{count} {key} are too many");
    let remedy = format!("write at most {MOST_ITERATIONS}");
    Err(section.refuse(Invalid::new(key, message, remedy)))
}

/// A size in whole bytes. Motifs are not made for a certain network: sizes in flits and packets are
/// refused.
///
/// # Errors
/// At the place of `key`, also if the size is beyond the maximum.
pub fn bytes(section: &Section, key: &str, size: Size) -> Result<u64, ConfigError> {
    match size {
        Size::Bits(bits) if bits % 8 == 0 => length(section, key, u128::from(bits / 8)),
        _ => Err(section.refuse(Invalid::new(
            key,
            format!("{size} is not a number of bytes"),
            "write a size in bytes, for example \"4 KiB\"",
        ))),
    }
}

/// The length of a message in bytes, as set by `key`, unless it is beyond the maximum.
///
/// # Errors
/// At the place of `key`.
pub fn length(section: &Section, key: &str, bytes: u128) -> Result<u64, ConfigError> {
    match u64::try_from(bytes) {
        Ok(bytes) if bytes <= LONGEST_MESSAGE / 8 => Ok(bytes),
        _ => Err(section.refuse(Invalid::new(
            key,
            format!(
                "a message would have {bytes} bytes; at most {} are possible",
                LONGEST_MESSAGE / 8
            ),
            "write less",
        ))),
    }
}

/// Refuses counts of which one is 0, by their keys.
///
/// # Errors
/// At the place of the first one.
pub fn none_is_zero(
    section: &Section,
    counts: impl IntoIterator<Item = (&'static str, u32)>,
) -> Result<(), ConfigError> {
    match counts.into_iter().find(|&(_, count)| count == 0) {
        Some((key, _)) => {
            let invalid = Invalid::new(key, "0 is none at all", "write 1 or more");
            Err(section.refuse(invalid))
        }
        None => Ok(()),
    }
}

/// Refuses fewer tasks than a motif needs.
///
/// # Errors
/// At the section of the motif.
pub fn at_least(section: &Section, tasks: u32, least: u32) -> Result<(), ConfigError> {
    if tasks >= least {
        return Ok(());
    }
    Err(section.refuse(Invalid::new(
        "",
        format!("this motif needs {least} tasks or more, and there are {tasks}"),
        "give the job more tasks",
    )))
}
