//! The transposes of LAMMPS's Fourier transform.

use std::ops::Range;

use super::super::grid::divisors;
use crate::tasks::Peer;

/// Divisions of the mesh among the tasks for the Fourier transform, from one transpose to the next.
pub(super) struct Transposes {
    mesh: [u32; 3],
    tasks: u32,
    /// By [`Layout`]'s number.
    layouts: [Layout; 4],
}

/// A division of the mesh: each dimension in equal parts. Task = Σ part × stride.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Layout {
    parts: [u32; 3],
    strides: [u32; 3],
}

/// The boxes of the atoms.
const BOXES: usize = 0;
/// Whole lines along x.
const ALONG_X: usize = 1;
/// Whole lines along y.
const ALONG_Y: usize = 2;
/// Whole lines along z.
const ALONG_Z: usize = 3;

/// The layouts before and after each transpose: charges forth, the potential, then three fields
/// back.
const ORDER: [(usize, usize); 13] = [
    (BOXES, ALONG_X),
    (ALONG_X, ALONG_Y),
    (ALONG_Y, ALONG_Z),
    (ALONG_Z, ALONG_X),
    (ALONG_X, ALONG_Y),
    (ALONG_Y, ALONG_Z),
    (ALONG_Z, BOXES),
    (ALONG_X, ALONG_Y),
    (ALONG_Y, ALONG_Z),
    (ALONG_Z, BOXES),
    (ALONG_X, ALONG_Y),
    (ALONG_Y, ALONG_Z),
    (ALONG_Z, BOXES),
];

impl Transposes {
    pub fn new(mesh: [u32; 3], tasks: u32, boxes: [u32; 3]) -> Transposes {
        let [x, y, z] = boxes;
        let (lines_y, lines_z) = match mesh[2] > tasks {
            true => (1, tasks),
            false => plane(mesh[1], mesh[2], tasks),
        };
        // The pair of factors that are closest to each other.
        let root = f64::from(tasks).sqrt() as u32;
        let near = divisors(tasks).into_iter().rfind(|&n| n <= root.max(1));
        let near = near.unwrap_or(1);
        let far = tasks / near;
        let layouts = [
            ([x, y, z], [y * z, z, 1]),
            ([1, lines_y, lines_z], [0, 1, lines_y]),
            ([near, 1, far], [1, 0, near]),
            ([near, far, 1], [1, near, 0]),
        ];
        Transposes {
            mesh,
            tasks,
            layouts: layouts.map(|(parts, strides)| Layout { parts, strides }),
        }
    }

    /// The partners of a task in a transpose (0 to 12): the tasks that it receives from, and the
    /// tasks and amounts that it sends. Both start with the task after it and wrap around.
    pub fn partners(&self, number: u32, task: Peer) -> (Vec<Peer>, Vec<(Peer, u64)>) {
        let (before, after) = ORDER[number as usize % ORDER.len()];
        let (before, after) = (&self.layouts[before], &self.layouts[after]);
        // Charges are real numbers; everything after them is complex.
        let bytes = if number == 0 { 8 } else { 16 };
        let from = self.overlaps(after, task, before);
        let to = self.overlaps(before, task, after);
        (
            from.into_iter().map(|(peer, _)| peer).collect(),
            to.into_iter()
                .map(|(peer, points)| (peer, bytes * points))
                .collect(),
        )
    }

    /// The other tasks whose part of `other` overlaps that of `task` in `own`, with the number of
    /// common points.
    fn overlaps(&self, own: &Layout, task: Peer, other: &Layout) -> Vec<(Peer, u64)> {
        let mut found = vec![(0, 1)];
        for d in 0..3 {
            let mine = own.range(self.mesh, task, d);
            let common: Vec<(u32, u64)> = (0..other.parts[d])
                .filter_map(|part| {
                    let theirs = range(self.mesh[d], other.parts[d], part);
                    let common = theirs
                        .end
                        .min(mine.end)
                        .checked_sub(theirs.start.max(mine.start));
                    let points = common.filter(|&points| points > 0)?;
                    Some((part * other.strides[d], u64::from(points)))
                })
                .collect();
            let pairs = found.iter().flat_map(|&(peer, points)| {
                common
                    .iter()
                    .map(move |&(add, more)| (peer + add, points * more))
            });
            found = pairs.collect();
        }
        found.retain(|&(peer, _)| peer != task);
        found.sort_unstable_by_key(|&(peer, _)| (peer + self.tasks - task) % self.tasks);
        found
    }
}

impl Layout {
    fn range(&self, mesh: [u32; 3], task: Peer, d: usize) -> Range<u32> {
        let part = task.checked_div(self.strides[d]).unwrap_or(0) % self.parts[d];
        range(mesh[d], self.parts[d], part)
    }
}

/// The points of a part.
fn range(points: u32, parts: u32, part: u32) -> Range<u32> {
    let end = |part: u32| (u64::from(part) * u64::from(points) / u64::from(parts)) as u32;
    end(part)..end(part + 1)
}

/// Tasks in two dimensions with the smallest edges; of equal ones the largest parts, then the
/// fewest along the first.
fn plane(first: u32, second: u32, tasks: u32) -> (u32, u32) {
    let candidates = divisors(tasks).into_iter().map(|n| {
        let (a, b) = (first.div_ceil(n), second.div_ceil(tasks / n));
        (a + b, std::cmp::Reverse(u64::from(a) * u64::from(b)), n)
    });
    let n = candidates.min().map_or(1, |(_, _, n)| n);
    (n, tasks / n)
}
