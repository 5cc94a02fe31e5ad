//! Where congestion begins and how far it spreads, on the page of a run.

use super::explanation::{lead_to, percent};
use super::figure::{Axis, Figure, Heat, Panel, Plot, Table};
use super::format::simulated;
use super::page::{Row, Rows};
use crate::explain::{Explanation, Root, Spread, TreePort};

/// More time bins than any result has.
const MOST_BINS: u64 = 1 << 10;
/// So many roots are drawn.
const MOST: usize = 3;

/// The roots of congestion, one in a row. None if there are none.
pub fn table(all: &Explanation) -> Option<Rows> {
    let shares = |list: Vec<(&str, f64)>| {
        let list = list.into_iter().filter(|(_, share)| *share >= 0.005);
        let list: Vec<String> = list
            .map(|(job, share)| format!("{job} {}", percent(share)))
            .collect();
        list.join(", ")
    };
    let row = |root: &Root| {
        let fed = root.fed_by.iter().map(|one| (one.job.as_str(), one.share));
        let held = |feeds: bool| {
            let held = root.held_up.iter().filter(|one| one.feeds == feeds);
            shares(held.map(|one| (one.job.as_str(), one.share)).collect())
        };
        Row::new([
            format!("router {} port {}", root.router, root.port),
            lead_to(root),
            percent(root.busy),
            percent(root.stalled),
            format!("{} to {}", simulated(root.from_ps), simulated(root.to_ps)),
            percent(root.share),
            shares(fed.collect()),
            held(false),
            held(true),
        ])
    };
    (!all.roots.is_empty()).then(|| Rows {
        title: "Where congestion begins".into(),
        note: "Full links that are not short of credit, and so are where waiting begins; `weir explain` says it in words. Behind it: of \
               all waiting. Fed by: of what waits at the link itself. Others, and those who feed it: of the waiting of that job, what is \
               behind the link."
            .into(),
        head: [
            "port",
            "leads to",
            "busy",
            "stalled",
            "full",
            "behind it",
            "fed by",
            "holds up others",
            "those who feed it",
        ]
        .map(String::from)
        .to_vec(),
        rows: all.roots.iter().map(row).collect(),
    })
}

/// The trees of congestion of the worst roots: in which groups how much waited when, and how far from the root. None if there are
/// none.
pub fn figure(all: &Explanation, parameters: &str) -> Option<Figure> {
    let roots = &all.roots[..all.roots.len().min(MOST)];
    if roots.is_empty() {
        return None;
    }
    let panels = roots.iter().flat_map(|root| {
        let name = format!("behind router {} port {}", root.router, root.port);
        [
            Panel {
                title: format!("{name}, over time"),
                plot: Plot::Heat(over_time(all, &root.tree.spread)),
            },
            Panel {
                title: format!("{name}, by distance"),
                plot: Plot::Heat(by_distance(all, &root.tree.ports)),
            },
        ]
    });
    let mut data = Table::new(&["router", "port", "time (ps)", "group", "waiting (B)"]);
    for root in roots {
        let own = [root.router.to_string(), root.port.to_string()];
        data.rows.extend(root.tree.spread.iter().map(|one| {
            let rest = [
                one.time_ps.to_string(),
                one.group.to_string(),
                one.bytes.to_string(),
            ];
            own.iter().cloned().chain(rest).collect()
        }));
    }
    Some(Figure {
        id: "congestion".into(),
        title: "Trees of congestion".into(),
        caption: vec![
            "Data that waits because of a full link (the root), in its own group and in others, at ports of routers and in NICs. Over time: on \
             average over each time bin. By distance: over the whole run, by the links that lead from the port to the root; 0 is the root \
             itself."
                .into(),
            parameters.to_string(),
        ],
        panels: panels.collect(),
        data,
        ..Figure::default()
    })
}

/// Edges of so many cells.
fn edges(count: usize, width: f64) -> Vec<f64> {
    (0..=count).map(|edge| edge as f64 * width).collect()
}

/// A picture with a row for each of `groups`.
fn heat(
    x: Axis,
    x_edges: Vec<f64>,
    groups: usize,
    amounts: impl Iterator<Item = (usize, u32, f64)>,
) -> Heat {
    let columns = x_edges.len() - 1;
    let mut cells = vec![0.0; columns * groups];
    for (column, group, bytes) in amounts {
        if column < columns {
            cells[group as usize * columns + column] += bytes;
        }
    }
    Heat {
        x,
        y: Axis::new("group", "1"),
        value: Axis::new("waiting behind it", "B").from_zero(),
        x_edges,
        y_edges: edges(groups, 1.0),
        cells,
        ..Heat::default()
    }
}

fn over_time(all: &Explanation, spread: &[Spread]) -> Heat {
    let width = all.bin_ps.max(1);
    let columns = all.simulated_ps.div_ceil(width).clamp(1, MOST_BINS) as usize;
    let groups = spread.iter().map(|one| one.group + 1).max().unwrap_or(1);
    let amounts = spread.iter().map(|one| {
        let column = (one.time_ps / width) as usize;
        (column, one.group, one.bytes)
    });
    heat(
        Axis::new("simulated time", "ps").from_zero(),
        edges(columns, width as f64),
        groups as usize,
        amounts,
    )
}

/// The mean over the run.
fn by_distance(all: &Explanation, ports: &[TreePort]) -> Heat {
    let length = all.simulated_ps.max(1) as f64 * 1e-12;
    let linked = || ports.iter().filter(|port| port.distance < u32::MAX);
    let columns = linked().map(|port| port.distance + 1).max().unwrap_or(1);
    let groups = linked().map(|port| port.group + 1).max().unwrap_or(1);
    let amounts = linked().map(|port| (port.distance as usize, port.group, port.waited / length));
    let mut picture = heat(
        Axis::new("links to the root", "1"),
        edges(columns as usize, 1.0),
        groups as usize,
        amounts,
    );
    picture.value.label = "waiting, mean of the run".into();
    picture.x.names = (0..columns).map(|distance| distance.to_string()).collect();
    picture
}
