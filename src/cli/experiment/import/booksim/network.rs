//! Topology, routing and virtual channels.

use toml::Value;

use super::super::configuration::{Configuration, MOST};
use super::super::toml::{link, table, text, time, whole, wholes};
use weir_input::ConfigError;

const BANDWIDTH: &str = "100 Gbps";

/// Latencies of `dragonflynew`, cycles.
const LOCAL: f64 = 10.0;
const GLOBAL: f64 = 100.0;

/// Routers in a dimension, or ports of a kind.
const WIDEST: u64 = 65_535;

/// Virtual channels that BookSim2 allows.
const CHANNELS: u64 = 4_096;

/// A topology, and the sections that depend on it.
pub struct BooksimNetwork {
    pub topology: Value,
    pub routing: Value,
    pub queueing: Option<Value>,
    /// Virtual channels between a NIC and its router.
    pub injection_vcs: u64,
    /// Endpoints.
    pub endpoints: u64,
    /// True if the endpoints are in groups.
    pub groups: bool,
    /// True if the routing is a `ugal` other than the preset's.
    pub own_ugal: bool,
}

type Part = Result<BooksimNetwork, ConfigError>;

/// Reads them.
///
/// # Errors
/// weir has no such topology, or a number is out of range.
pub fn network(file: &mut Configuration) -> Part {
    let topology = file.text("topology");
    match topology.as_str() {
        "torus" | "mesh" => grid(file, &topology),
        "flatfly" => flattened_butterfly(file),
        "fattree" => fat_tree(file),
        "dragonflynew" => dragonfly(file),
        _ => {
            let line = file.entry("topology").map_or(0, |entry| entry.line);
            let message = format!("line {line}: topology = {topology} has no counterpart in weir");
            let remedy = "torus, mesh, flatfly, fattree and dragonflynew can be imported";
            Err(file.refuse("topology", message, remedy))
        }
    }
}

fn terminal() -> Value {
    link(BANDWIDTH, time(1.0))
}

/// Routers of each dimension, endpoints of each router, and endpoints in all.
fn sizes(file: &Configuration) -> Result<(Vec<u64>, u64, u64), ConfigError> {
    let [k, n] = [file.whole("k", 2..=WIDEST)?, file.whole("n", 1..=16)?];
    let sizes = vec![k; n as usize];
    // Meshes and tori have one endpoint at each router, whatever c is.
    let each = match file.text("topology").as_str() {
        "flatfly" => file.whole("c", 1..=WIDEST)?,
        _ => 1,
    };
    let endpoints = sizes
        .iter()
        .fold(each, |all, &size| all.saturating_mul(size));
    Ok((sizes, each, endpoints))
}

fn grid(file: &mut Configuration, kind: &str) -> Part {
    let (sizes, each, endpoints) = sizes(file)?;
    if file.has("c") && file.text("c") != "1" {
        file.instead(
            "c",
            "tori and meshes of BookSim2 have one endpoint per router",
        );
    }
    let folded = kind == "torus" && file.text("use_noc_latency") == "1";
    let latency = if folded { 2.0 } else { 1.0 };
    let topology = table([
        ("kind", text(kind)),
        ("sizes", wholes(sizes)),
        ("endpoints_per_router", whole(each)),
        ("terminal", terminal()),
        ("link", link(BANDWIDTH, time(latency))),
    ]);
    let name = file.text("routing_function");
    // On a torus two classes of virtual channels, so that a ring has no cycle.
    let classes = if kind == "torus" { 2 } else { 1 };
    let algorithm = match name.as_str() {
        "dim_order" => "dor",
        "dor" if kind == "mesh" => "dor",
        "min_adapt" => "minimal_adaptive",
        "xy_yx" if kind == "mesh" => "oblivious",
        "adaptive_xy_yx" if kind == "mesh" => "source_adaptive",
        _ => other_routing(file, "dor"),
    };
    let vcs = file.whole("num_vcs", 1..=CHANNELS)?;
    let routing = match algorithm {
        "minimal_adaptive" => {
            let adaptive = (vcs.saturating_sub(classes)).max(1);
            table([
                ("algorithm", text(algorithm)),
                ("adaptive_vcs", whole(adaptive)),
            ])
        }
        "dor" => channels(file, algorithm, vcs, classes),
        _ => channels(file, algorithm, vcs, 2 * classes),
    };
    Ok(BooksimNetwork {
        topology,
        routing,
        queueing: None,
        injection_vcs: vcs,
        endpoints,
        groups: false,
        own_ugal: false,
    })
}

/// A routing with `vcs` virtual channels, in equal parts for `classes`.
fn channels(file: &mut Configuration, algorithm: &str, vcs: u64, classes: u64) -> Value {
    let whole_parts = (vcs / classes).max(1) * classes;
    if whole_parts != vcs {
        let why = format!("routing.vcs = {whole_parts}, in {classes} equal parts");
        file.instead("num_vcs", why);
    }
    table([("algorithm", text(algorithm)), ("vcs", whole(whole_parts))])
}

/// Says that a routing is another one in weir.
fn other_routing<'a>(file: &mut Configuration, algorithm: &'a str) -> &'a str {
    let why = format!("no counterpart: routing.algorithm = \"{algorithm}\" instead");
    file.instead("routing_function", why);
    algorithm
}

fn flattened_butterfly(file: &mut Configuration) -> Part {
    let (sizes, each, endpoints) = sizes(file)?;
    let [xr, yr] = [file.whole("xr", 1..=WIDEST)?, file.whole("yr", 1..=WIDEST)?];
    let (k, by_length) = (sizes[0], file.text("use_noc_latency") == "1");
    // The mean over all pairs of k routers in a row is (k + 1) / 3 places.
    let mean = |step: u64| match by_length {
        true => ((k + 1) as f64) / 3.0 * (step as f64),
        false => 1.0,
    };
    let mut links = vec![("link", link(BANDWIDTH, time(mean(xr))))];
    if by_length {
        let what = "the mean length of a dimension's links, of all its links";
        file.instead("use_noc_latency", what);
        if sizes.len() > 1 {
            links.push(("y", link(BANDWIDTH, time(mean(yr)))));
        }
    }
    let mut topology = toml::Table::new();
    let members = [
        ("kind", text("hyperx")),
        ("sizes", wholes(sizes.iter().copied())),
        ("endpoints_per_router", whole(each)),
        ("terminal", terminal()),
    ];
    for (key, value) in members.into_iter().chain(links) {
        topology.insert(key.to_string(), value);
    }
    let name = file.text("routing_function");
    let algorithm = match name.as_str() {
        "xyyx" if sizes.len() > 1 => "oblivious",
        "adaptive_xyyx" if sizes.len() > 1 => "source_adaptive",
        "valiant" => "valiant",
        "ugal" => "ugal",
        "ran_min" => "dor",
        _ => other_routing(file, "dor"),
    };
    let vcs = file.whole("num_vcs", 1..=CHANNELS)?;
    let (routing, queueing) = match algorithm {
        "dor" => (channels(file, algorithm, vcs, 1), None),
        "oblivious" | "source_adaptive" => (channels(file, algorithm, vcs, 2), None),
        // Two phases, each with half of the virtual channels.
        _ => {
            let each = any_of(file, (vcs / 2).max(1));
            (table([("algorithm", text(algorithm))]), Some(each))
        }
    };
    Ok(BooksimNetwork {
        topology: Value::Table(topology),
        routing,
        queueing,
        injection_vcs: vcs,
        endpoints,
        groups: false,
        own_ugal: algorithm == "ugal",
    })
}

/// The queueing scheme of a number of virtual channels, any of which a packet takes.
fn any_of(file: &mut Configuration, vcs: u64) -> Value {
    const MOST: u64 = 64;
    if vcs > MOST {
        file.instead("num_vcs", format!("queueing.count = {MOST}, weir's most"));
    }
    table([("scheme", text("vcs")), ("count", whole(vcs.min(MOST)))])
}

fn fat_tree(file: &mut Configuration) -> Part {
    let [k, n] = [file.whole("k", 2..=WIDEST)?, file.whole("n", 1..=16)?];
    let between = || link(BANDWIDTH, time(1.0));
    let topology = table([
        ("kind", text("kary_ntree")),
        ("k", whole(k)),
        ("n", whole(n)),
        ("terminal", terminal()),
        ("local", between()),
        ("global", between()),
    ]);
    let name = file.text("routing_function");
    let algorithm = match name.as_str() {
        "nca" => "random_up",
        "anca" => "adaptive_up",
        _ => other_routing(file, "random_up"),
    };
    let vcs = file.whole("num_vcs", 1..=CHANNELS)?;
    let queueing = any_of(file, vcs);
    Ok(BooksimNetwork {
        topology,
        routing: table([("algorithm", text(algorithm))]),
        queueing: Some(queueing),
        injection_vcs: vcs.min(64),
        endpoints: k.saturating_pow(n as u32),
        groups: false,
        own_ugal: false,
    })
}

fn dragonfly(file: &mut Configuration) -> Part {
    let k = file.whole("k", 1..=WIDEST)?;
    if file.whole("n", 1..=MOST)? != 1 {
        let message = "a group of dragonflynew has one dimension in weir".to_string();
        return Err(file.refuse("n", message, "give n = 1"));
    }
    let groups = 2 * k * k + 1;
    let topology = table([
        ("kind", text("dragonfly")),
        ("endpoints_per_router", whole(k)),
        ("routers_per_group", whole(2 * k)),
        ("global_links_per_router", whole(k)),
        ("groups", whole(groups)),
        ("arrangement", text("absolute")),
        ("terminal", terminal()),
        ("local", link(BANDWIDTH, time(LOCAL))),
        ("global", link(BANDWIDTH, time(GLOBAL))),
    ]);
    let name = file.text("routing_function");
    let (algorithm, vcs) = match name.as_str() {
        "min" => ("minimal", 2),
        "ugal" => ("ugal", 3),
        _ => (other_routing(file, "minimal"), 2),
    };
    if file.whole("num_vcs", 1..=CHANNELS)? != vcs {
        file.instead(
            "num_vcs",
            format!("this routing uses {vcs}, as in BookSim2"),
        );
    }
    Ok(BooksimNetwork {
        topology,
        routing: table([("algorithm", text(algorithm))]),
        queueing: None,
        // A packet reaches its endpoint on the virtual channel of its last phase.
        injection_vcs: 1,
        endpoints: groups.saturating_mul(2 * k * k),
        groups: true,
        own_ugal: false,
    })
}
