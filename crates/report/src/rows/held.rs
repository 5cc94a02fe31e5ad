//! Contents of every router at one time.

use crate::figure::{Axis, Heat};
use weir_model::Time;
use weir_result::{ResultFile, TraceError};

/// Contents of all routers at the last sample that is not after `time`.
/// There is one cell for each, group by group from left to right if the network has groups, else in
/// a square. None if there is no such sample.
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
    let groups = result.column("data/routers", "group")?;
    let by_group = groups.and_then(|groups| by_group(held, &groups));
    Ok(Some(by_group.unwrap_or_else(|| square(held))))
}

/// A column for each group, its routers upwards. None if there is only one group, or if they are so
/// uneven that the picture would be mostly empty.
fn by_group(held: &[u64], groups: &[u64]) -> Option<Heat> {
    let columns = *groups.iter().max()? as usize + 1;
    if groups.len() != held.len() || columns == 1 || columns > held.len() {
        return None;
    }
    let mut sizes = vec![0; columns];
    let place = |group: &u64| {
        let size = &mut sizes[*group as usize];
        *size += 1;
        (*group as usize, *size - 1)
    };
    let places: Vec<(usize, usize)> = groups.iter().map(place).collect();
    let rows = *sizes.iter().max()?;
    if columns * rows > 2 * held.len() {
        return None;
    }
    let mut cells = vec![f64::NAN; columns * rows];
    for ((column, row), bytes) in places.into_iter().zip(held) {
        cells[row * columns + column] = *bytes as f64;
    }
    Some(heat(cells, columns, rows, ["group", "router of the group"]))
}

/// Square arrangement: the same number of columns and rows.
fn square(held: &[u64]) -> Heat {
    let side = (held.len() as f64).sqrt().ceil() as usize;
    let columns = held.len().div_ceil(side);
    let mut cells = vec![f64::NAN; columns * side];
    for (router, bytes) in held.iter().enumerate() {
        cells[router % side * columns + router / side] = *bytes as f64;
    }
    let (x, y) = (format!("router / {side}"), format!("router mod {side}"));
    heat(cells, columns, side, [&x, &y])
}

fn heat(cells: Vec<f64>, columns: usize, rows: usize, [x, y]: [&str; 2]) -> Heat {
    let edges = |count: usize| (0..=count).map(|edge| edge as f64).collect();
    Heat {
        x: Axis::numbered(x, columns),
        y: Axis::numbered(y, rows),
        value: Axis::new("held by the router", "B").from_zero(),
        x_edges: edges(columns),
        y_edges: edges(rows),
        cells,
        ..Heat::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_result::{sample, schema, write};

    fn held(groups: &[u32], time: Time) -> Option<Heat> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(schema::FILE);
        let mut data = sample::data();
        data.routers = sample::routers(4);
        data.routers.group = groups.to_vec();
        data.axes.clear();
        write(&path, &data, &sample::run(), "", 42).expect("writes");
        at(&ResultFile::open(&path).expect("opens"), time).expect("reads")
    }

    #[test]
    fn groups_stand_side_by_side() {
        // Samples of 4 routers at 0, 10 and 20 ps.
        let heat = held(&[0, 0, 1, 1], 19).expect("a picture");
        assert_eq!(heat.cells, [4.0, 6.0, 5.0, 7.0], "routers 0 and 2 below");
        assert_eq!(heat.x_edges, [0.0, 1.0, 2.0]);
        assert_eq!(heat.x.label, "group");
    }

    #[test]
    fn groups_need_be_neither_in_order_nor_of_one_size() {
        let heat = held(&[1, 0, 1, 1], 19).expect("a picture");
        let known: Vec<f64> = heat.cells.iter().copied().filter(|c| !c.is_nan()).collect();
        assert_eq!(known, [5.0, 4.0, 6.0, 7.0]);
        assert_eq!(heat.y_edges, [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_network_without_groups_is_a_square() {
        let heat = held(&[0; 4], 20).expect("a picture");
        assert_eq!(heat.cells, [8.0, 10.0, 9.0, 11.0]);
        assert_eq!(heat.y.label, "router mod 2");
    }
}
