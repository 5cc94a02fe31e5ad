//! The shared states of a sweep that runs: which point writes one, which points wait for it, and
//! when it is removed.
//!
//! `DIR/forks/HASH` has the state of a group of points. The first point of the group that runs
//! writes it, and the others wait until then. If there is none after all, the next one writes it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::groups::Group;
use crate::dir::{FORKS, PointDir, SweepDir};
use weir_result::Lock;
use weir_simulation::checkpoint::{self, Manifest};
use weir_simulation::fork::{self, LOCK};

/// The groups of the points that a sweep runs.
pub struct Forks<'a> {
    groups: Vec<Running<'a>>,
    /// Group of a point, by its place in the study.
    of: HashMap<usize, usize>,
    /// The program: version and commit.
    program: String,
}

/// A group of which points are left.
struct Running<'a> {
    group: &'a Group,
    dir: PathBuf,
    /// Points that have neither a result nor failed.
    left: usize,
    /// The point that runs to write the state.
    writer: Option<usize>,
    /// True if the state is known to exist, and the time of the last look for it.
    is_written: bool,
    looked: Option<Instant>,
}

/// Time between two looks for a state that is being written.
const PAUSE: Duration = Duration::from_millis(100);

impl Running<'_> {
    /// True if the state exists.
    fn exists(&mut self, program: &str) -> bool {
        if !self.is_written && self.looked.is_none_or(|looked| looked.elapsed() >= PAUSE) {
            self.is_written = self.look(program);
            self.looked = Some(Instant::now());
        }
        self.is_written
    }

    fn look(&self, program: &str) -> bool {
        let found = checkpoint::list(&self.dir);
        let Some((_, folder)) = found.first() else {
            return false;
        };
        let identity = fork::identity(program.into(), self.group.prefix.clone());
        let usable = Manifest::read(folder).and_then(|manifest| manifest.check(&identity));
        if usable.is_err() {
            // A run that finds it says why, and writes another one.
            let _ = checkpoint::remove(&self.dir);
        }
        usable.is_ok()
    }
}

impl<'a> Forks<'a> {
    /// For a sweep in `dir` that runs these groups with a program.
    pub fn new(groups: &'a [Group], dir: &SweepDir, program: String) -> Forks<'a> {
        let running = |group: &'a Group| Running {
            group,
            dir: dir.forks().join(&group.hash),
            left: group.points.len(),
            writer: None,
            is_written: false,
            looked: None,
        };
        let points = groups.iter().zip(0..);
        let points = points.flat_map(|(group, at)| group.points.iter().map(move |one| (*one, at)));
        Forks {
            groups: groups.iter().map(running).collect(),
            of: points.collect(),
            program,
        }
    }

    /// Order in which points run: those of a group one after another, so that there are few states
    /// at a time.
    pub fn order(&self, point: usize) -> usize {
        let group = self.of.get(&point).map(|&at| self.groups[at].group);
        group.map_or(point, |group| group.points[0])
    }

    /// True if a point shares a state with others.
    pub fn shares(&self, point: usize) -> bool {
        self.of.contains_key(&point)
    }

    /// True if a point has to wait until another one has written the state.
    pub fn waits(&mut self, point: usize) -> bool {
        let Some(&at) = self.of.get(&point) else {
            return false;
        };
        let own = &mut self.groups[at];
        own.writer.is_some_and(|writer| writer != point) && !own.exists(&self.program)
    }

    /// The arguments with which a point starts: from the state, or to write it if others are left.
    pub fn begin(&mut self, point: usize, dir: &PointDir) -> Vec<String> {
        let Some(&at) = self.of.get(&point) else {
            return Vec::new();
        };
        let own = &mut self.groups[at];
        if !own.exists(&self.program) {
            // A point that goes on from a later time comes there no more.
            let is_beyond = checkpoint::list(dir.path())
                .first()
                .is_some_and(|(time, _)| *time >= own.group.at);
            if own.left < 2 || is_beyond {
                return Vec::new();
            }
            own.writer = Some(point);
        }
        vec![
            // As seen from the directory of a point.
            format!("--share-state=../../{FORKS}/{}", own.group.hash),
            format!("--share-at={} ps", own.group.at),
        ]
    }

    /// A run of a point has ended.
    pub fn ended(&mut self, point: usize) {
        if let Some(&at) = self.of.get(&point) {
            let own = &mut self.groups[at];
            if own.writer == Some(point) {
                (own.writer, own.looked) = (None, None);
            }
        }
    }

    /// A point has a result, or failed: nobody needs the state after the last one.
    pub fn settled(&mut self, point: usize) {
        self.ended(point);
        if let Some(&at) = self.of.get(&point) {
            let own = &mut self.groups[at];
            own.left = own.left.saturating_sub(1);
            if own.left == 0 {
                remove(&own.dir);
            }
        }
    }
}

/// Removes all shared states of a study whose points have run, also those of an earlier form of it.
pub fn clear(dir: &SweepDir) {
    let entries = fs::read_dir(dir.forks());
    let entries = entries.into_iter().flatten().flatten();
    entries.for_each(|entry| remove(&entry.path()));
}

/// Removes a shared state, unless a run is just writing it. One that cannot be removed does no
/// harm.
fn remove(dir: &Path) {
    let lock = dir.join(LOCK);
    if Lock::is_held(&lock) || checkpoint::remove(dir).is_err() {
        return;
    }
    let _ = fs::remove_file(lock);
    let _ = fs::remove_dir(dir);
    let _ = dir.parent().map(fs::remove_dir);
}
