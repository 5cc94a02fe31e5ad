//! The exchange of LAMMPS's mesh between neighbours.

use super::Shift;
use super::boxes::Boxes;
use crate::tasks::Peer;

/// Half of the skin in which atoms may move between two changes of owners, Å.
const SKIN: f64 = 1.0;
/// Planes of the mesh on each side of an atom on which its charge is spread.
const STENCIL: u64 = 2;

/// The mesh of the long-range forces, and the halo that a task needs of it.
pub(super) struct Mesh {
    points: [u32; 3],
    /// For each dimension and each place along it: planes of the halo below and above, and points
    /// of the task.
    planes: [Vec<(u64, u64, u64)>; 3],
}

impl Mesh {
    pub fn new(boxes: &Boxes, points: [u32; 3]) -> Mesh {
        let planes = [0, 1, 2].map(|d| {
            let line = |at| planes(boxes.whole[d], boxes.tasks[d], points[d], at);
            (0..boxes.tasks[d]).map(line).collect()
        });
        Mesh { points, planes }
    }

    /// Charges in the halo go to their owners: z first, 8 bytes for a point, the planes below
    /// first. A finished dimension is not sent again.
    pub fn before(&self, boxes: &Boxes, task: Peer) -> Vec<Shift> {
        let mut shifts = Vec::new();
        for d in [2, 1, 0] {
            let (below, above, face) = self.face(boxes, task, d);
            let (up, down) = boxes.sides(task, d);
            let bytes = |planes: u64| 8 * planes * face;
            shifts.push(Shift {
                to: down,
                bytes: bytes(below),
                from: up,
            });
            shifts.push(Shift {
                to: up,
                bytes: bytes(above),
                from: down,
            });
        }
        shifts
    }

    /// Fields (24 bytes for a point) come back: x first. The message to a neighbour fills its halo.
    pub fn after(&self, boxes: &Boxes, task: Peer) -> Vec<Shift> {
        let mut shifts = Vec::new();
        for d in 0..3 {
            let (_, _, face) = self.face(boxes, task, d);
            let (up, down) = boxes.sides(task, d);
            let (_, above_there, _) = self.face(boxes, down, d);
            let (below_there, _, _) = self.face(boxes, up, d);
            let mut shift = |to, planes: u64, from| {
                let bytes = 24 * planes * face;
                shifts.push(Shift { to, bytes, from });
            };
            shift(down, above_there, up);
            shift(up, below_there, down);
        }
        shifts
    }

    /// Planes below and above in a dimension, and points of a plane: with the halo in the
    /// dimensions before.
    fn face(&self, boxes: &Boxes, task: Peer, d: usize) -> (u64, u64, u64) {
        let place = boxes.place(task);
        let at = |e: usize| self.planes[e][place[e] as usize];
        let (below, above, _) = at(d);
        let mut face = 1;
        for e in (0..self.points.len()).filter(|&e| e != d) {
            let (below, above, own) = at(e);
            face *= own + if e < d { below + above } else { 0 };
        }
        (below, above, face)
    }
}

/// Planes of the halo of the task at a place along a dimension, below and above, and its own
/// points.
fn planes(length: f64, tasks: u32, points: u32, at: u32) -> (u64, u64, u64) {
    let (at, tasks) = (f64::from(at), f64::from(tasks));
    let of_length = |x: f64| x * f64::from(points) / length;
    // Ends of boxes often are whole numbers of points: rounding keeps them so.
    let whole = |x: f64| (((x * 1e10 + 0.5).floor()) / 1e10) as i64;
    let (low, high) = (at * length / tasks, (at + 1.0) * length / tasks);
    let (first, last) = (whole(of_length(low)), whole(of_length(high)) - 1);
    let below = whole(of_length(low - SKIN) + 0.5);
    let above = whole(of_length(high + SKIN) + 0.5);
    let own = (last + 1 - first) as u64;
    (
        first.abs_diff(below) + STENCIL,
        above.abs_diff(last) + STENCIL,
        own,
    )
}
