//! The boxes of atoms that LAMMPS gives its tasks.

use super::super::grid::divisors;
use super::{LammpsParams, Shift};
use crate::tasks::Peer;

/// The molecule's box, Å.
const MOLECULE: [f64; 3] = [55.0, 77.0, 72.7261];

/// The boxes of the tasks.
pub(super) struct Boxes {
    /// Tasks along each dimension.
    pub tasks: [u32; 3],
    /// The whole box, Å.
    pub whole: [f64; 3],
    cutoff: f64,
    ghost_bytes: f64,
    border_bytes: f64,
    exchange_bytes: f64,
}

impl Boxes {
    pub fn new(params: &LammpsParams, tasks: u32) -> Boxes {
        let whole = [0, 1, 2].map(|d| MOLECULE[d] * f64::from(params.replicas[d]));
        Boxes {
            tasks: divide(whole, tasks),
            whole,
            cutoff: params.cutoff,
            ghost_bytes: params.ghost_bytes,
            border_bytes: params.border_bytes,
            exchange_bytes: params.exchange_bytes,
        }
    }

    /// The position of a task: z is the fastest.
    pub fn place(&self, task: Peer) -> [u32; 3] {
        let [_, y, z] = self.tasks;
        [task / z / y, task / z % y, task % z]
    }

    /// The neighbours in one dimension, with wrap-around: the next and the one before.
    pub fn sides(&self, task: Peer, d: usize) -> (Peer, Peer) {
        let n = self.tasks[d];
        let at = |steps: u32| {
            let mut place = self.place(task);
            place[d] = (place[d] + steps) % n;
            (place[0] * self.tasks[1] + place[1]) * self.tasks[2] + place[2]
        };
        (at(1), at(n - 1))
    }

    /// Length of a task's box, Å.
    fn length(&self, d: usize) -> f64 {
        self.whole[d] / f64::from(self.tasks[d])
    }

    /// Number of boxes that the cutoff reaches over in each dimension.
    pub fn layers(&self) -> [u32; 3] {
        [0, 1, 2].map(|d| (self.cutoff / self.length(d) + 1.0) as u32)
    }

    /// Atoms near the faces.
    pub fn ghosts(&self, task: Peer) -> Vec<Shift> {
        self.layer(task, self.ghost_bytes)
    }

    /// Atoms near the faces after a change of owners.
    pub fn borders(&self, task: Peer) -> Vec<Shift> {
        self.layer(task, self.border_bytes)
    }

    /// Layers of the cutoff's thickness to both neighbours in each dimension, the lower one first.
    /// Each layer includes the atoms received in the dimensions before. A volume is cut to whole
    /// Å³, and bytes are rounded.
    fn layer(&self, task: Peer, bytes_per_volume: f64) -> Vec<Shift> {
        let mut shifts = Vec::new();
        for (d, layers) in self.layers().into_iter().enumerate() {
            let (up, down) = self.sides(task, d);
            let wide = |e: usize| self.length(e) + if e < d { 2.0 * self.cutoff } else { 0.0 };
            let face = wide((d + 1) % 3) * wide((d + 2) % 3);
            let mut rest = face * self.cutoff;
            for layer in 0..layers {
                let last = layer + 1 == layers;
                let volume = if last { rest } else { face * self.length(d) }.floor();
                rest -= volume;
                let bytes = (volume * bytes_per_volume + 0.5) as u64;
                shifts.push(Shift {
                    to: down,
                    bytes,
                    from: up,
                });
                shifts.push(Shift {
                    to: up,
                    bytes,
                    from: down,
                });
            }
        }
        shifts
    }

    /// Atoms that change their owner: to the lower neighbour and to the higher one in each
    /// dimension.
    pub fn moves(&self, task: Peer) -> Vec<Shift> {
        let mut shifts = Vec::new();
        for d in 0..3 {
            let (up, down) = self.sides(task, d);
            let others = [1, 2, 0].map(|e| (d + e) % 3);
            let others: Vec<usize> = others.into_iter().filter(|&e| e != d).collect();
            let area = self.length(others[0]) * self.length(others[1]);
            let bytes = (area * self.exchange_bytes + 0.5) as u64;
            shifts.push(Shift {
                to: down,
                bytes,
                from: up,
            });
            shifts.push(Shift {
                to: up,
                bytes,
                from: down,
            });
        }
        shifts
    }
}

/// The division with the smallest surface; of equal ones the first with the fewest tasks along x,
/// then along y.
fn divide(whole: [f64; 3], tasks: u32) -> [u32; 3] {
    let mut best = ([tasks, 1, 1], f64::INFINITY);
    for x in divisors(tasks) {
        for y in divisors(tasks / x) {
            let division = [x, y, tasks / x / y];
            let [lx, ly, lz] = [0, 1, 2].map(|d| whole[d] / f64::from(division[d]));
            let surface = lx * ly + lx * lz + ly * lz;
            if surface < best.1 {
                best = (division, surface);
            }
        }
    }
    best.0
}
