//! Places in the network where links were busy, and where they held packets back: routers by group,
//! for each kind of links by its name.

use super::{PortTime, port_time};
use crate::figure::{Axis, Figure, Heat, Panel, Plot, Table};
use weir_model::TERMINAL;
use weir_result::{ResultFile, TraceError};

type Outcome<T> = Result<T, TraceError>;

/// Uses of a port's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// Flits were on its link.
    Busy,
    /// A packet was ready and had no credit.
    Stalled,
}

impl Did {
    /// By its name in a job file.
    pub fn parse(name: &str) -> Option<Did> {
        match name {
            "busy" => Some(Did::Busy),
            "stalled" => Some(Did::Stalled),
            _ => None,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Did::Busy => "busy share",
            Did::Stalled => "stalled share",
        }
    }
}

/// Name of the links of a kind: links to endpoints, or the network's name for them.
fn links(kind: &str) -> String {
    match kind {
        TERMINAL => "links to endpoints".into(),
        "fabric" => "links between routers".into(),
        "all" => "all links".into(),
        kind => format!("{kind} links"),
    }
}

/// The share of their time that the ports of a kind did something, in the mean of each router: a
/// column for each group, its routers upwards. None if no router has such a port.
///
/// # Errors
/// If the file is damaged.
pub fn by_group(result: &ResultFile, kind: &str, did: Did) -> Outcome<Option<Heat>> {
    let groups = result.column("data/routers", "group")?.unwrap_or_default();
    let mut sums = vec![(0.0, 0u32); groups.len()];
    for PortTime { place, time } in port_time(result, kind)? {
        let [busy, idle, stalled] = time;
        let own = match did {
            Did::Busy => busy,
            Did::Stalled => stalled,
        };
        if let Some((sum, ports)) = sums.get_mut(place[0] as usize) {
            *sum += own / (busy + idle + stalled);
            *ports += 1;
        }
    }
    Ok(picture(&groups, &sums, did))
}

/// Routers without such ports are left out, so that a level of a tree has no holes.
fn picture(groups: &[u64], sums: &[(f64, u32)], did: Did) -> Option<Heat> {
    let there = groups.iter().zip(sums).filter(|(_, (_, ports))| *ports > 0);
    let columns = *there.clone().map(|(group, _)| group).max()? as usize + 1;
    let mut heights = vec![0; columns];
    let places: Vec<_> = there
        .map(|(group, (sum, ports))| {
            let height = &mut heights[*group as usize];
            *height += 1;
            (*group as usize, *height - 1, sum / f64::from(*ports))
        })
        .collect();
    let rows = *heights.iter().max()?;
    // In a network of one group, or if each router is one, a row of them is sufficient.
    let mut cells = vec![f64::NAN; columns * rows];
    for (column, row, share) in places {
        cells[row * columns + column] = share;
    }
    let edges = |count: usize| (0..=count).map(|edge| edge as f64).collect();
    Some(Heat {
        x: Axis::numbered("group", columns),
        y: Axis::numbered("router of the group", rows),
        value: Axis::new(did.label(), "1").from_zero(),
        x_edges: edges(columns),
        y_edges: edges(rows),
        cells,
        ..Heat::default()
    })
}

/// Both for all kinds of links that the network has.
///
/// # Errors
/// If the file is damaged.
pub fn figure(result: &ResultFile) -> Outcome<Figure> {
    let mut panels = Vec::new();
    for kind in result.link_kinds()? {
        for did in [Did::Busy, Did::Stalled] {
            if let Some(heat) = by_group(result, &kind, did)? {
                panels.push(Panel {
                    title: format!("{}: {}", links(&kind), did.label()),
                    plot: Plot::Heat(heat),
                });
            }
        }
    }
    let heats = panels.iter().filter_map(|panel| match &panel.plot {
        Plot::Heat(heat) => Some((panel.title.as_str(), heat)),
        _ => None,
    });
    Ok(Figure {
        id: "levels".into(),
        title: "Where links were busy, and where they held packets back".into(),
        caption: vec![
            "The mean over the ports of each router, by the group, pod or block of the network \
             that it belongs to; shares of the simulated time."
                .into(),
        ],
        data: Table::of_heats(&heats.collect::<Vec<_>>()),
        panels,
        ..Figure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_is_in_the_column_of_its_group() {
        // Routers 0 and 2 of group 0, 1 and 3 of group 1; router 3 has no such port, router 2 two
        // of them.
        let sums = [(0.5, 1), (0.25, 1), (1.5, 2), (0.0, 0)];
        let heat = picture(&[0, 1, 0, 1], &sums, Did::Busy).expect("a picture");
        assert_eq!((heat.x_edges.len(), heat.y_edges.len()), (3, 3));
        assert_eq!(heat.cells[..3], [0.5, 0.25, 0.75]);
        assert!(heat.cells[3].is_nan());
        assert!(picture(&[0, 1], &[(0.0, 0); 2], Did::Busy).is_none());
    }
}
