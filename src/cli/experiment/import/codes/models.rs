//! The network models: topology, routing and routers.

use toml::Value;

use super::super::configuration::{Configuration, MOST};
use super::super::toml::{bytes, link, table, text, time, whole, wholes};
use super::keys::LATEST;
use weir_input::ConfigError;

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// Delays of `torus`, which has no keys for them, ns.
const TORUS_ROUTER: f64 = 50.0;

/// Part of a router's delay that becomes latency of the link where a model has no other, ns.
const LINK: f64 = 10.0;

/// Least latency of a link in weir, ns.
const LEAST: f64 = 0.001;

/// Virtual channels of a port of dragonfly-dally.
const CHANNELS: u64 = 4;

/// A network, and what depends on it.
pub struct CodesNetwork {
    pub topology: Value,
    pub routing: Value,
    pub router: Value,
    pub congestion: Option<Value>,
    /// Longest packet, bytes.
    pub packet: u64,
    /// Bytes per ns of an endpoint's link.
    pub rate: f64,
    pub endpoints: u64,
    /// Endpoints of a group; None if there are no groups.
    pub group: Option<u64>,
}

/// Reads it.
///
/// # Errors
/// A number is none or out of range, or the topology has no counterpart.
pub fn network(file: &mut Configuration, model: &str) -> Result<CodesNetwork, ConfigError> {
    match model {
        "dragonfly_dally" | "dragonfly" => dragonfly(file, model == "dragonfly_dally"),
        "fattree" => fat_tree(file),
        "torus" => torus(file),
        _ => simplenet(file),
    }
}

/// Packet size, after saying if packets have several chunks.
fn packet(file: &mut Configuration) -> Result<u64, ConfigError> {
    let packet = file.whole("PARAMS.packet_size", 1..=65_535 * 64)?;
    if !is_one_chunk(file)? {
        let why = format!("packets of {packet} B are not divided");
        file.instead("PARAMS.chunk_size", why);
    }
    Ok(packet)
}

/// True if a packet is one chunk, as it is without a size of chunks.
fn is_one_chunk(file: &Configuration) -> Result<bool, ConfigError> {
    let [chunk, packet] = ["PARAMS.chunk_size", "PARAMS.packet_size"];
    Ok(file.text(chunk).is_empty()
        || file.whole(chunk, 1..=MOST)? == file.whole(packet, 1..=MOST)?)
}

/// Bandwidth with its unit, and bytes per ns.
fn bandwidth(file: &Configuration, name: &str, unit: &str) -> Result<(String, f64), ConfigError> {
    let number = file.number(name, 1e-6..=1e9)?;
    let scale = match unit {
        "GiB/s" => GIB / 1e9,
        "MiB/s" => GIB / 1024.0 / 1e9,
        _ => 1.0,
    };
    let bits = number * scale * 8e9;
    // weir's are whole bits per second.
    let text = match bits.fract() == 0.0 {
        true => format!("{number} {unit}"),
        false => format!("{} bps", bits.round()),
    };
    Ok((text, number * scale))
}

/// The section `[router]`, with a buffer that holds the longest packet.
fn router(
    file: &mut Configuration,
    packet: u64,
    buffer: &str,
    delays: [f64; 2],
) -> Result<Value, ConfigError> {
    let [latency, credit] = delays;
    let size = match file.text(buffer).is_empty() {
        // Of the fat tree only.
        true => 8 * packet,
        false => file.whole(buffer, 1..=MOST)?,
    };
    if size < packet {
        let why = format!("a buffer holds the longest packet: {packet} B instead of {size}");
        file.instead(buffer, why);
    }
    let size = size.max(packet);
    // A chunk takes the room of a whole one.
    let unit = if is_one_chunk(file)? {
        "packet"
    } else {
        "flit"
    };
    Ok(table([
        ("flit", bytes(flit(packet))),
        ("credit_unit", text(unit)),
        ("latency", time(latency)),
        ("credit_delay", time(credit)),
        ("input_buffer", bytes(size)),
        ("output_queue", bytes(size)),
    ]))
}

/// Bytes of a flit: 64 if packets are of whole ones, otherwise 8.
fn flit(packet: u64) -> u64 {
    if packet.is_multiple_of(64) { 64 } else { 8 }
}

/// Says of buffers that weir has one value for all ports.
fn same_buffers(file: &mut Configuration, of: &str, others: &[&str]) {
    for other in others {
        if file.text(other) != file.text(of) {
            file.instead(other, format!("one value for all ports: that of {of}"));
        }
    }
}

fn dragonfly(file: &mut Configuration, dally: bool) -> Result<CodesNetwork, ConfigError> {
    const WIDEST: u64 = 65_535;
    let packet = packet(file)?;
    let routers = file.whole("PARAMS.num_routers", 2..=WIDEST)?;
    let [each, globals, groups] = match dally {
        true => {
            let groups = file.whole("PARAMS.num_groups", 2..=MOST)?;
            let each = match file.has("PARAMS.num_cns_per_router") {
                true => file.whole("PARAMS.num_cns_per_router", 1..=WIDEST)?,
                false => routers / 2,
            };
            let globals = file.whole("PARAMS.num_global_channels", 1..=WIDEST)?;
            [each, globals, groups]
        }
        false => {
            file.choose("arrangement = \"absolute\": other global links than those of dragonfly");
            [routers / 2, routers / 2, routers * (routers / 2) + 1]
        }
    };
    let chunk = file.whole("PARAMS.chunk_size", 1..=MOST)? as f64;
    let mut rates = [0.0; 3];
    let mut links = Vec::new();
    for (at, kind) in ["cn", "local", "global"].into_iter().enumerate() {
        let (bandwidth, rate) = bandwidth(file, &format!("PARAMS.{kind}_bandwidth"), "GiB/s")?;
        rates[at] = rate;
        let key = format!("PARAMS.{kind}_delay");
        let mut delay = chunk / rate;
        if dally && file.has(&key) {
            delay = file.number(&key, 0.0..=LATEST)?;
        }
        if delay < LEAST {
            file.instead(&key, "links of weir have a latency: 1 ps");
            delay = LEAST;
        }
        links.push(link(&bandwidth, time(delay)));
    }
    let arrangement = if dally { "relative" } else { "absolute" };
    let mut topology = toml::Table::new();
    let parts = [
        ("kind", text("dragonfly")),
        ("endpoints_per_router", whole(each)),
        ("routers_per_group", whole(routers)),
        ("global_links_per_router", whole(globals)),
        ("groups", whole(groups)),
        ("arrangement", text(arrangement)),
    ];
    let links = ["terminal", "local", "global"].into_iter().zip(links);
    for (key, value) in parts.into_iter().chain(links) {
        topology.insert(key.to_string(), value);
    }
    let latency = file.number("PARAMS.router_delay", 0.0..=LATEST)?;
    let credit = credit_delay(file, rates[1])?;
    same_buffers(
        file,
        "PARAMS.local_vc_size",
        &["PARAMS.global_vc_size", "PARAMS.cn_vc_size"],
    );
    let router = router(file, packet, "PARAMS.local_vc_size", [latency, credit])?;
    Ok(CodesNetwork {
        topology: Value::Table(topology),
        routing: routing(file, flit(packet))?,
        router,
        congestion: if dally { congestion(file)? } else { None },
        packet,
        rate: rates[0],
        endpoints: each.saturating_mul(routers).saturating_mul(groups),
        group: Some(each.saturating_mul(routers)),
    })
}

/// The delay of credits on local links: given, or the time of a credit.
fn credit_delay(file: &Configuration, rate: f64) -> Result<f64, ConfigError> {
    let given = ["PARAMS.credit_delay", "PARAMS.local_credit_delay"];
    match given.into_iter().find(|key| file.has(key)) {
        Some(key) => file.number(key, 0.0..=LATEST),
        None => Ok(file.whole("PARAMS.credit_size", 0..=MOST)? as f64 / rate),
    }
}

/// The section `[routing]` of a dragonfly. The preset has the measures of `par` only.
fn routing(file: &mut Configuration, flit: u64) -> Result<Value, ConfigError> {
    const KEY: &str = "PARAMS.routing";
    let threshold = file.whole("PARAMS.adaptive_threshold", 0..=MOST)?;
    let candidates = file.text("PARAMS.global_k_picks");
    let bias = text(format!("{} flits", threshold.div_ceil(flit)));
    if threshold > 0 {
        let why = "routing.bias: weir adds it to the queue of the other path";
        file.instead("PARAMS.adaptive_threshold", why);
    }
    let name = file.text(KEY);
    let algorithm = match name.as_str() {
        "minimal" => "minimal",
        "nonminimal" | "non-minimal" => "valiant",
        "prog-adaptive" => "par",
        "adaptive" => {
            let candidates = match candidates.is_empty() {
                true => 2,
                false => file.whole("PARAMS.global_k_picks", 1..=64)?,
            };
            return Ok(table([
                ("algorithm", text("ugal")),
                ("measure", text("occupancy")),
                ("weight", whole(2)),
                ("candidates", whole(candidates)),
                ("bias", bias),
                ("via", text("group")),
            ]));
        }
        "smart-minimal" | "smart-nonminimal" | "smart-prog-adaptive" | "prog-adaptive-legacy" => {
            file.instead(KEY, "no counterpart: routing.algorithm = \"par\" instead");
            "par"
        }
        _ => {
            file.instead(KEY, "minimal, as CODES takes it");
            "minimal"
        }
    };
    if algorithm == "par" {
        if !matches!(candidates.as_str(), "" | "2") {
            file.instead("PARAMS.global_k_picks", "par compares with one other path");
        }
        return Ok(table([("algorithm", text(algorithm)), ("bias", bias)]));
    }
    for key in ["PARAMS.adaptive_threshold", "PARAMS.global_k_picks"] {
        if file.has(key) {
            file.instead(key, format!("no effect on {algorithm} routing"));
        }
    }
    Ok(table([("algorithm", text(algorithm))]))
}

/// The section `[congestion]`, as the public code has it.
fn congestion(file: &Configuration) -> Result<Option<Value>, ConfigError> {
    if file.whole("PARAMS.congestion_control_enabled", 0..=1)? == 0 {
        return Ok(None);
    }
    let share = |key| file.number(key, 0.0..=1.0).map(Value::Float);
    // Ports count chunks there, each as a whole one.
    let count = if is_one_chunk(file)? {
        "packets"
    } else {
        "flits"
    };
    let buffer = CHANNELS * file.whole("PARAMS.cn_vc_size", 1..=MOST)?;
    let period = file.number("PARAMS.cc_measurement_period", 1.0..=LATEST)?;
    Ok(Some(table([
        ("scheme", text("codes_cc")),
        (
            "threshold",
            share("PARAMS.cc_single_port_congestion_threshold")?,
        ),
        (
            "release",
            share("PARAMS.cc_single_port_decongestion_threshold")?,
        ),
        ("buffer", bytes(buffer)),
        ("minimum", Value::Float(0.01)),
        ("period", time(period)),
        ("ports", text("last_hop")),
        ("count", text(count)),
    ])))
}

/// Latency of links, and of routers, of a model whose links have none. Links of endpoints have half
/// of it, so that a path through n routers has n times the delay.
fn split(file: &mut Configuration, delay: f64) -> [f64; 2] {
    let link = LINK.min(delay / 2.0).max(LEAST);
    file.choose(format!(
        "{link} ns of a router's {delay} ns are latency of links, half of it on either side"
    ));
    [link, (delay - link).max(0.0)]
}

fn fat_tree(file: &mut Configuration) -> Result<CodesNetwork, ConfigError> {
    let packet = packet(file)?;
    let levels = file.whole("PARAMS.num_levels", 1..=3)?;
    let first = |name: &str| {
        let text = file.text(name);
        let number = text
            .split(',')
            .next()
            .and_then(|text| text.trim().parse().ok());
        let number = number.filter(|number: &u64| (2..=65_535).contains(number));
        number.ok_or_else(|| file.wrong(name, "whole numbers from 2 to 65535"))
    };
    let [leaves, radix] = [first("PARAMS.switch_count")?, first("PARAMS.switch_radix")?];
    if file.number("PARAMS.tapering", 1e-6..=1e6)? != 1.0 {
        let message = "a fat tree with fewer links up than down has no counterpart".to_string();
        return Err(file.refuse("PARAMS.tapering", message, "give tapering = \"1\""));
    }
    let half = (radix / 2).max(1);
    let pods = match levels {
        3 => leaves / half,
        _ => leaves,
    };
    let (between, _) = bandwidth(file, "PARAMS.link_bandwidth", "GB/s")?;
    let (terminal, rate) = bandwidth(file, "PARAMS.cn_bandwidth", "GB/s")?;
    let delay = file.number("PARAMS.router_delay", 0.0..=LATEST)?;
    let [wire, latency] = split(file, delay);
    let topology = table([
        ("kind", text("folded_clos")),
        ("radix", whole(radix)),
        ("levels", whole(levels)),
        ("pods", whole(pods)),
        ("terminal", link(&terminal, time(wire / 2.0))),
        ("local", link(&between, time(wire))),
        ("global", link(&between, time(wire))),
    ]);
    if file.has("PARAMS.cn_vc_size") {
        same_buffers(file, "PARAMS.vc_size", &["PARAMS.cn_vc_size"]);
    }
    let router = router(file, packet, "PARAMS.vc_size", [latency, 0.0])?;
    let algorithm = match file.text("PARAMS.routing").as_str() {
        "static" => {
            file.instead(
                "PARAMS.routing",
                "\"dmodk\": the tables of CODES are not read",
            );
            "dmodk"
        }
        _ => "adaptive_up",
    };
    Ok(CodesNetwork {
        topology,
        routing: table([("algorithm", text(algorithm))]),
        router,
        congestion: None,
        packet,
        rate,
        endpoints: leaves.saturating_mul(half),
        group: None,
    })
}

fn torus(file: &mut Configuration) -> Result<CodesNetwork, ConfigError> {
    let packet = packet(file)?;
    let count = file.whole("PARAMS.n_dims", 1..=16)? as usize;
    let lengths = file.text("PARAMS.dim_length");
    let sizes = lengths.split(',').map(|size| size.trim().parse::<u64>());
    let sizes: Option<Vec<u64>> = sizes.map(Result::ok).collect();
    let sizes = sizes.filter(|sizes| sizes.len() == count);
    let expected = format!("the routers of {count} dimensions, as in \"4,4,2\"");
    let sizes = sizes.ok_or_else(|| file.wrong("PARAMS.dim_length", &expected))?;
    let (bandwidth, rate) = bandwidth(file, "PARAMS.link_bandwidth", "GiB/s")?;
    let [wire, latency] = split(file, TORUS_ROUTER);
    file.choose("the links of endpoints have the bandwidth of those of routers");
    let topology = table([
        ("kind", text("torus")),
        ("sizes", wholes(sizes.iter().copied())),
        ("terminal", link(&bandwidth, time(wire / 2.0))),
        ("link", link(&bandwidth, time(wire))),
    ]);
    // A credit has 8 bytes.
    let delays = [latency, 8.0 / rate];
    Ok(CodesNetwork {
        topology,
        routing: table([("algorithm", text("dor"))]),
        router: router(file, packet, "PARAMS.buffer_size", delays)?,
        congestion: None,
        packet,
        rate,
        endpoints: sizes.iter().fold(1, |all, &size| all.saturating_mul(size)),
        group: None,
    })
}

/// Every endpoint can send to every other: one router, which a packet passes without waiting.
fn simplenet(file: &mut Configuration) -> Result<CodesNetwork, ConfigError> {
    let packet = packet(file)?;
    let count = |end: &str| {
        let entries = file
            .entries()
            .iter()
            .filter(|entry| entry.key.starts_with("LPGROUPS."));
        let key = entries
            .map(|entry| &entry.key)
            .find(|key| key.ends_with(end));
        let key = key.cloned().unwrap_or(format!("LPGROUPS…{end}"));
        file.whole(&key, 1..=65_535)
    };
    let endpoints = count(".repetitions")?.saturating_mul(count(".modelnet_simplenet")?);
    let (bandwidth, rate) = bandwidth(file, "PARAMS.net_bw_mbps", "MiB/s")?;
    let startup = file.number("PARAMS.net_startup_ns", 0.0..=LATEST)?;
    let part = (startup / 3.0).max(LEAST);
    file.choose("one router; a third of net_startup_ns is its latency, and of its two links each");
    file.choose("a NIC is not occupied for net_startup_ns");
    let topology = table([
        ("kind", text("folded_clos")),
        ("radix", whole((endpoints + endpoints % 2).max(4))),
        ("levels", whole(1)),
        ("pods", whole(endpoints)),
        ("terminal", link(&bandwidth, time(part))),
    ]);
    let router = table([
        ("flit", bytes(flit(packet))),
        ("latency", time((startup - 2.0 * part).max(0.0))),
        ("speedup", text("infinite")),
    ]);
    Ok(CodesNetwork {
        topology,
        routing: table([("algorithm", text("dmodk"))]),
        router,
        congestion: None,
        packet,
        rate,
        endpoints,
        group: None,
    })
}
