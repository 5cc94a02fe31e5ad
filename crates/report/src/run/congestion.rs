//! Roots of congestion and its spread, on the page of a run.

use crate::explanation::{count, lead_to, percent};
use std::collections::BTreeMap;

use crate::figure::{Axis, Figure, Graph, Heat, Link, Node, Panel, Plot, Table, number};
use crate::page::{Row, Rows};
use crate::parameters::time;
use weir_result::explain::{Explanation, Root, Spread, TreePort};

/// More time bins than any result has.
const MOST_BINS: u64 = 1 << 10;
/// Number of roots that are drawn.
const MOST: usize = 3;
/// Routers of one distance from the root that are drawn, those with most first; the others are one
/// node.
const MOST_BESIDE: usize = 24;
/// Ports that are farther from the root are not drawn.
const FARTHEST: u32 = 7;

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
            format!(
                "about {} to {}",
                time(root.from_ps as f64),
                time(root.to_ps as f64)
            ),
            percent(root.share),
            shares(fed.collect()),
            held(false),
            held(true),
        ])
    };
    (!all.roots.is_empty()).then(|| Rows {
        title: "Where congestion begins".into(),
        note:
            "Waiting begins at full links that are not short of credit; `weir explain` tells the \
               same in words. Behind it: share of all waiting. Fed by: share of the backlog at the \
               link itself. Holds up others, self-inflicted: share of the waiting of that job that \
               is behind the link."
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
            "self-inflicted",
        ]
        .map(String::from)
        .to_vec(),
        rows: all.roots.iter().map(row).collect(),
    })
}

/// The trees of congestion of the worst roots: in which groups how much waited when, and how far
/// from the root. None if there are none.
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
            "Data that waits because of a full link (the root), in its own group and in others, at \
             ports of routers and in NICs. Over time: on average over each time bin. By distance: \
             over the whole run, by the links that lead from the port to the root; 0 is the root \
             itself."
                .into(),
            parameters.to_string(),
        ],
        panels: panels.collect(),
        data,
        ..Figure::default()
    })
}

/// Edges of `count` cells.
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
        y: Axis::numbered("group", groups),
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
        Axis::numbered("links to the root", columns as usize),
        edges(columns as usize, 1.0),
        groups as usize,
        amounts,
    );
    picture.value.label = "waiting, mean of the run".into();
    picture
}

/// The congestion trees of the worst roots as graphs.
/// None if nothing waits farther back than at a root itself.
pub fn trees(all: &Explanation, parameters: &str) -> Option<Figure> {
    let roots = &all.roots[..all.roots.len().min(MOST)];
    let roots = roots.iter().filter(|root| root.tree.ports.len() > 1);
    let mut data = Table::new(&[
        "root router",
        "root port",
        "router",
        "port",
        "group",
        "links to the root",
        "leads to router",
        "waited (B s)",
    ]);
    let mut panels = Vec::new();
    for root in roots {
        data.rows
            .extend(root.tree.ports.iter().map(|port| row(root, port)));
        panels.push(Panel {
            title: format!(
                "behind router {} port {} to {}",
                root.router,
                root.port,
                lead_to(root)
            ),
            plot: Plot::Graph(drawing(all, root)),
        });
    }
    (!panels.is_empty()).then(|| Figure {
        id: "congestion-tree".into(),
        title: "What stands still behind a full link".into(),
        caption: vec![
            "Routers with ports at which data waits because of a full link (to the left), by the \
             links that lead from there to it. Areas of routers and widths of links: what waited \
             there, over the whole run. A router has a node for each distance; beside its number \
             is its group."
                .into(),
            parameters.to_string(),
        ],
        panels,
        data,
        ..Figure::default()
    })
}

fn row(root: &Root, port: &TreePort) -> Vec<String> {
    let known = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
    vec![
        root.router.to_string(),
        root.port.to_string(),
        port.router.to_string(),
        port.port.to_string(),
        port.group.to_string(),
        known(Some(port.distance).filter(|&distance| distance < u32::MAX)),
        known(port.next_router),
        number(port.waited),
    ]
}

/// A node: its layer and its router; none for the routers that have no node of their own.
type Key = (usize, Option<u32>);

/// The root and its backlog. The other end of the root is the first layer, its router the second.
fn drawing(all: &Explanation, root: &Root) -> Graph {
    let ports = || {
        root.tree
            .ports
            .iter()
            .filter(|port| port.distance <= FARTHEST)
    };
    let mut routers: BTreeMap<(usize, u32), (f64, u32)> = BTreeMap::new();
    for port in ports() {
        let own = routers.entry((port.distance as usize + 1, port.router));
        own.or_insert((0.0, port.group)).0 += port.waited;
    }
    let layers = routers
        .keys()
        .map(|(layer, _)| layer + 1)
        .max()
        .unwrap_or(1);
    let mut nodes: BTreeMap<Key, (f64, String)> = BTreeMap::new();
    for layer in 1..layers {
        let mut beside: Vec<(u32, (f64, u32))> = (routers.range((layer, 0)..=(layer, u32::MAX)))
            .map(|(&(_, router), &own)| (router, own))
            .collect();
        beside.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(&b.0)));
        let rest = beside.split_off(beside.len().min(MOST_BESIDE));
        nodes.extend(beside.into_iter().map(|(router, (waited, group))| {
            (
                (layer, Some(router)),
                (waited, format!("{router} (group {group})")),
            )
        }));
        if !rest.is_empty() {
            let waited = rest.iter().map(|(_, (waited, _))| waited).sum();
            nodes.insert((layer, None), (waited, format!("{} others", rest.len())));
        }
    }
    nodes.insert((0, None), (0.0, lead_to(root)));
    let place_of = |layer: usize, router: Option<u32>| {
        let keys = || nodes.keys();
        let own = keys().position(|key| *key == (layer, router));
        own.or_else(|| keys().position(|key| *key == (layer, None)))
    };
    let mut widths: BTreeMap<(usize, usize), (f64, usize)> = BTreeMap::new();
    for port in ports() {
        let layer = port.distance as usize + 1;
        let next = port.next_router.filter(|_| port.distance > 0);
        let (from, to) = (
            place_of(layer, Some(port.router)),
            place_of(layer - 1, next),
        );
        if let (Some(from), Some(to)) = (from, to) {
            let own = widths.entry((from, to)).or_default();
            *own = (own.0 + port.waited, own.1 + 1);
        }
    }
    let waiting = Axis::new("waiting", "B");
    let length = all.simulated_ps.max(1) as f64 * 1e-12;
    let amount = |waited: f64| {
        format!(
            "waiting, mean of the run: {}",
            waiting.said(waited / length)
        )
    };
    let names: Vec<&str> = nodes.values().map(|(_, name)| name.as_str()).collect();
    let links = widths.iter().map(|(&(from, to), &(weight, ports))| Link {
        from,
        to,
        weight,
        words: format!(
            "{} to {}, {}\n{}",
            names[from],
            names[to],
            count(ports, "port"),
            amount(weight)
        ),
    });
    let heads = (0..layers).map(|layer| match layer {
        0 => "the link leads to".to_string(),
        1 => "its router".to_string(),
        2 => "1 link before".to_string(),
        _ => format!("{} links before", layer - 1),
    });
    Graph {
        heads: heads.collect(),
        links: links.collect(),
        nodes: (nodes.iter())
            .map(|(&(layer, _), (weight, name))| Node {
                name: name.clone(),
                layer,
                weight: *weight,
                words: format!("{name}\n{}", amount(*weight)),
            })
            .collect(),
    }
}
