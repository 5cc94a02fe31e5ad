//! `lammps`: molecular dynamics with long-range forces.

mod boxes;
mod fft;
mod halo;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::boxes::Boxes;
use self::fft::Transposes;
use self::halo::Mesh;
use super::{Build, length};
use crate::tasks::{Motif, Peer, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{Invalid, Time};

/// LAMMPS: a protein in water, with long-range forces by a particle mesh (PPPM). Tasks are on a
/// periodic grid of three dimensions, z the fastest, that keeps the surfaces of their boxes small.
///
/// A step: a computation and two allreduces of 48 bytes; atoms near the six faces to the neighbours
/// (in some steps atoms change their owners instead: see below); the halo of the mesh; 13
/// transposes of the Fourier transform; the halo back; an allreduce of 48; atoms near the faces
/// back and once more to the neighbours; allreduces of 8 and 48. An exchange with a neighbour is a
/// nonblocking receive, a blocking send and a wait; a transpose is all receives, all sends, and
/// waiting for both.
///
/// From the sixth step after the last change of owners on, an allreduce of 4 bytes checks if one is
/// due. Each check adds 0.196428571429; a change is due when the sum reaches 1.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LammpsParams {
    /// Time steps.
    pub steps: u32,
    /// Copies of the molecule's box (55 × 77 × 72.7261 Å) along x, y and z.
    pub replicas: [u32; 3],
    /// Points of the mesh along x, y and z.
    pub mesh: [u32; 3],
    /// Distance from a face within which atoms are sent to the neighbour, Å.
    pub cutoff: f64,
    /// Bytes for each Å³ of such a layer.
    pub ghost_bytes: f64,
    /// The same when owners have changed.
    pub border_bytes: f64,
    /// Bytes of atoms that change their owner, for each Å² of a face. (Not published; two atoms for
    /// a face of a job with 2,048 tasks.)
    pub exchange_bytes: f64,
    /// Time of the computation at the beginning of a step. As published the motif computes next to
    /// nothing.
    pub compute: Duration,
    /// True if the transposes use blocking sends.
    pub blocking_fft: bool,
}

impl Default for LammpsParams {
    fn default() -> Self {
        LammpsParams {
            steps: 30,
            replicas: [3; 3],
            mesh: [72, 96, 90],
            cutoff: 12.0,
            ghost_bytes: 2.4884,
            border_bytes: 6.63563,
            exchange_bytes: 1.0,
            compute: Duration(0),
            blocking_fft: false,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "lammps",
    summary: "Molecular dynamics: six neighbours, a particle mesh with transposes, allreduces.",
    source: "SWM (lammps); McGlohon et al., section IV",
    examples: &[r#"steps = 2, replicas = [1, 1, 1], mesh = [12, 16, 15]"#],
    parameters: Keys::of::<LammpsParams>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: LammpsParams = section.parse()?;
    Ok(Box::new(Lammps::new(section, &params, tasks)?))
}

/// The motif for a number of tasks.
pub(super) struct Lammps {
    boxes: Boxes,
    mesh: Mesh,
    transposes: Transposes,
    /// Communication with the neighbours in each step.
    steps: Vec<Neighbours>,
    compute: Time,
    blocking_fft: bool,
}

/// Kind of communication with the neighbours in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Neighbours {
    /// No check.
    Keep,
    /// A check, and no change is due.
    Ask,
    /// A change is due.
    Change,
}

/// Steps after a change without a check.
const DELAY: u32 = 5;
/// Part of a change that each check adds.
const CHANGES: f64 = 0.196428571429;

fn neighbours(steps: u32) -> Vec<Neighbours> {
    let (mut since, mut sum) = (0, 0.0);
    let mut step = || {
        since += 1;
        if since <= DELAY {
            return Neighbours::Keep;
        }
        sum += CHANGES;
        if sum <= 1.0 {
            return Neighbours::Ask;
        }
        sum -= 1.0;
        since = 0;
        Neighbours::Change
    };
    (0..steps).map(|_| step()).collect()
}

impl Lammps {
    /// Parts of a step: before the transposes, each transpose, and after them.
    pub(super) const PARTS: u32 = 15;

    pub(super) fn new(
        section: &Section,
        params: &LammpsParams,
        tasks: u32,
    ) -> Result<Lammps, ConfigError> {
        let refuse = |key: &str, message: String, remedy: &str| {
            Err(section.refuse(Invalid::new(key, message, remedy)))
        };
        for (key, lengths) in [("replicas", params.replicas), ("mesh", params.mesh)] {
            if lengths.contains(&0) || lengths.iter().any(|&length| length > 1 << 16) {
                let message = format!("{lengths:?} is no size of a box");
                return refuse(key, message, "write three numbers from 1 to 65536");
            }
        }
        let numbers = [
            ("cutoff", params.cutoff),
            ("ghost_bytes", params.ghost_bytes),
            ("border_bytes", params.border_bytes),
            ("exchange_bytes", params.exchange_bytes),
        ];
        for (key, number) in numbers {
            if !(0.0..1e6).contains(&number) {
                let message = format!("{number} is not possible here");
                return refuse(key, message, "write a number from 0 to 1000000");
            }
        }
        let boxes = Boxes::new(params, tasks);
        if boxes
            .layers()
            .iter()
            .map(|&own| u64::from(own))
            .sum::<u64>()
            > 1_000
        {
            let message = format!(
                "a cutoff of {} Å reaches over too many tasks",
                params.cutoff
            );
            return refuse("cutoff", message, "write a shorter one");
        }
        // All tasks send the same to their neighbours. (A float saturates if it is too large. The
        // mesh has at most 2⁴⁸ points, so no message of its data is too long.)
        let layers = [
            ("ghost_bytes", boxes.ghosts(0)),
            ("border_bytes", boxes.borders(0)),
            ("exchange_bytes", boxes.moves(0)),
        ];
        for (key, shifts) in layers {
            for shift in shifts {
                length(section, key, u128::from(shift.bytes))?;
            }
        }
        Ok(Lammps {
            mesh: Mesh::new(&boxes, params.mesh),
            transposes: Transposes::new(params.mesh, tasks, boxes.tasks),
            boxes,
            steps: neighbours(params.steps),
            compute: params.compute.0,
            blocking_fft: params.blocking_fft,
        })
    }

    /// One of the parts of a step.
    pub(super) fn step_part(&self, step: u32, part: u32, script: &mut Script) {
        match part {
            0 => self.before(step, script),
            14 => self.after(script),
            transpose => self.transpose(transpose - 1, script),
        }
    }

    fn before(&self, step: u32, script: &mut Script) {
        let neighbours = self.steps.get(step as usize);
        script.compute(self.compute);
        script.allreduce(48);
        script.allreduce(48);
        match neighbours.copied().unwrap_or(Neighbours::Keep) {
            Neighbours::Keep => shifts(script, self.boxes.ghosts(script.task())),
            Neighbours::Ask => {
                script.allreduce(4);
                shifts(script, self.boxes.ghosts(script.task()));
            }
            Neighbours::Change => {
                script.allreduce(4);
                self.change(script);
            }
        }
        shifts(script, self.mesh.before(&self.boxes, script.task()));
    }

    fn after(&self, script: &mut Script) {
        let ghosts = self.boxes.ghosts(script.task());
        shifts(script, self.mesh.after(&self.boxes, script.task()));
        script.allreduce(48);
        // The dimensions in reverse, the two directions of each as before.
        let back = ghosts.chunks(2).rev().flatten().copied();
        shifts(script, back.collect());
        shifts(script, ghosts);
        script.allreduce(8);
        script.allreduce(48);
    }

    /// Atoms get new owners.
    fn change(&self, script: &mut Script) {
        let moves = self.boxes.moves(script.task());
        for both in moves.chunks(2) {
            let (up, down) = (both[0].from, both[0].to);
            script.sendrecv(up, 4, down, 0);
            if up != down {
                script.sendrecv(down, 4, up, 0);
            }
            let ways = if up == down { 1 } else { 2 };
            for shift in &both[..ways] {
                script.sendrecv(shift.to, shift.bytes, shift.from, 0);
            }
        }
        for shift in self.boxes.borders(script.task()) {
            script.sendrecv(shift.from, 4, shift.to, 0);
            script.sendrecv(shift.to, shift.bytes, shift.from, 0);
        }
        for _ in 0..5 {
            script.allreduce(4);
        }
    }

    fn transpose(&self, number: u32, script: &mut Script) {
        let (from, to) = self.transposes.partners(number, script.task());
        let mark = script.mark();
        for peer in from {
            script.irecv(peer, 0);
        }
        let receives = script.since(mark);
        let mark = script.mark();
        for (peer, bytes) in to {
            match self.blocking_fft {
                true => script.send(peer, bytes, 0),
                false => _ = script.isend(peer, bytes, 0),
            }
        }
        let sends = script.since(mark);
        script.wait_all(receives);
        script.wait_all(sends);
    }
}

impl Motif for Lammps {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        let step = part / Lammps::PARTS;
        if step as usize >= self.steps.len() {
            return false;
        }
        self.step_part(step, part % Lammps::PARTS, script);
        true
    }

    fn begins_iteration(&self, part: u32) -> bool {
        part.is_multiple_of(Lammps::PARTS)
    }
}

/// A message to one neighbour and one from another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shift {
    to: Peer,
    bytes: u64,
    from: Peer,
}

fn shifts(script: &mut Script, shifts: Vec<Shift>) {
    for shift in shifts {
        script.sendrecv(shift.to, shift.bytes, shift.from, 0);
    }
}
