//! What every router held at one time.

use toml::Table;

use super::figure::{Axis, Heat};
use crate::model::Time;
use crate::trace::{ResultFile, TraceError};

/// What all routers held at the last sample that is not after `time`: one cell for each, group by group from left to
/// right where the network has groups, else in a square. None if there is no such sample.
///
/// # Errors
/// If the file is damaged.
pub fn at(result: &ResultFile, time: Time) -> Result<Option<Heat>, TraceError> {
    let Some(all) = result.occupancy()? else {
        return Ok(None);
    };
    let routers = all.routers;
    let row = all.time_ps.partition_point(|own| *own <= time);
    let Some(row) = row.checked_sub(1).filter(|_| routers > 0) else {
        return Ok(None);
    };
    let held = &all.bytes[row * routers..][..routers];
    Ok(Some(match group_size(&result.header().experiment) {
        Some(size) if routers.is_multiple_of(size) => {
            matrix(held, size, "group", "router of the group")
        }
        _ => {
            let side = (routers as f64).sqrt().ceil() as usize;
            let (x, y) = (format!("router / {side}"), format!("router mod {side}"));
            matrix(held, side, &x, &y)
        }
    }))
}

/// Routers of a group, if the network has groups. `experiment` is the resolved experiment.
fn group_size(experiment: &str) -> Option<usize> {
    let table: Table = experiment.parse().ok()?;
    let size = table.get("topology")?.get("routers_per_group")?;
    usize::try_from(size.as_integer()?)
        .ok()
        .filter(|size| *size > 0)
}

/// Columns of `size` routers each, from the bottom up.
fn matrix(held: &[u64], size: usize, x: &str, y: &str) -> Heat {
    let columns = held.len().div_ceil(size);
    let mut cells = vec![f64::NAN; columns * size];
    for (router, bytes) in held.iter().enumerate() {
        cells[router % size * columns + router / size] = *bytes as f64;
    }
    let edges = |count: usize| (0..=count).map(|edge| edge as f64).collect();
    Heat {
        x: Axis::new(x, "1"),
        y: Axis::new(y, "1"),
        value: Axis::new("held by the router", "B").from_zero(),
        x_edges: edges(columns),
        y_edges: edges(size),
        cells,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{sample, schema, write};

    fn held(experiment: &str, time: Time) -> Option<Heat> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(schema::FILE);
        write(&path, &sample::data(), &sample::run(), experiment, 42).expect("writes");
        at(&ResultFile::open(&path).expect("opens"), time).expect("reads")
    }

    #[test]
    fn groups_stand_side_by_side() {
        // Samples of 4 routers at 0, 10 and 20 ps.
        let heat = held("[topology]\nrouters_per_group = 2\n", 19).expect("a picture");
        assert_eq!(heat.cells, [4.0, 6.0, 5.0, 7.0], "routers 0 and 2 below");
        assert_eq!(heat.x_edges, [0.0, 1.0, 2.0]);
        assert_eq!(heat.x.label, "group");
    }

    #[test]
    fn a_network_without_groups_is_a_square() {
        let heat = held("[topology]\nk = 4\n", 20).expect("a picture");
        assert_eq!(heat.cells, [8.0, 10.0, 9.0, 11.0]);
        assert_eq!(heat.y.label, "router mod 2");
    }
}
