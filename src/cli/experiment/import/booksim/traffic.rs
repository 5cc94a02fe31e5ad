//! Traffic: patterns, packet sizes and loads of the classes.

use toml::Value;

use super::super::configuration::{Configuration, MOST};
use super::super::toml::{flits, table, text, wholes};
use super::network::BooksimNetwork;
use super::text::members;
use weir_input::ConfigError;

/// Endpoints of a permutation that is written out.
const LISTED: u64 = 65_536;

/// Traffic classes.
const CLASSES: u64 = 64;

/// The workloads.
pub struct Traffic {
    pub workloads: Vec<Value>,
    /// The longest packet, flits.
    pub longest: u64,
}

/// A class: its packet sizes in flits with their frequencies, and its load.
struct Class {
    sizes: Vec<(u64, f64)>,
    load: f64,
}

/// Reads the traffic of all classes.
///
/// # Errors
/// A number is none, or nothing is sent.
pub fn traffic(file: &mut Configuration, network: &BooksimNetwork) -> Result<Traffic, ConfigError> {
    let count = file.whole("classes", 1..=CLASSES)?;
    let mut traffic = Traffic {
        workloads: Vec::new(),
        longest: 0,
    };
    for at in 0..count as usize {
        let class = class(file, at)?;
        let longest = class.sizes.iter().map(|&(size, _)| size).max();
        traffic.longest = traffic.longest.max(longest.unwrap_or(1));
        if class.load == 0.0 {
            continue;
        }
        let mut workload = toml::Table::new();
        let mut put = |key: &str, value| workload.insert(key.to_string(), value);
        if count > 1 {
            put("name", text(format!("class{at}")));
            put("shared", Value::Boolean(true));
        }
        for (key, value) in pattern(file, at, network)? {
            put(key, value);
        }
        put("load", Value::Float(class.load));
        put("message", message(&class.sizes));
        put("injection", text("bernoulli"));
        traffic.workloads.push(Value::Table(workload));
    }
    match traffic.workloads.is_empty() {
        true => Err(file.wrong("injection_rate", "a rate above 0")),
        false => Ok(traffic),
    }
}

/// The value of a class in a list, which the last value continues.
fn of_class(file: &Configuration, name: &str, at: usize) -> String {
    let members = members(&file.text(name));
    let value = members.get(at).or(members.last());
    value.cloned().unwrap_or_default()
}

fn class(file: &Configuration, at: usize) -> Result<Class, ConfigError> {
    let given = members(&of_class(file, "packet_size", at));
    let rates = members(&of_class(file, "packet_size_rate", at));
    let mut sizes = Vec::new();
    for (at, size) in given.iter().enumerate() {
        let size = size.parse::<u64>().ok();
        let size = size.filter(|size| (1..=MOST).contains(size));
        let rate = rates.get(at).or(rates.last());
        let rate = rate.and_then(|rate| rate.parse::<f64>().ok());
        let rate = rate.filter(|rate| (0.0..=1e9).contains(rate));
        let size = size.ok_or_else(|| file.wrong("packet_size", "flits, from 1 to 1000000000"))?;
        let rate = rate.ok_or_else(|| file.wrong("packet_size_rate", "numbers from 0 to 1e9"))?;
        if rate > 0.0 {
            sizes.push((size, rate));
        }
    }
    let packets: f64 = sizes.iter().map(|(_, rate)| rate).sum();
    if sizes.is_empty() {
        return Err(file.wrong("packet_size_rate", "a rate above 0"));
    }
    let volume: f64 = sizes.iter().map(|&(size, rate)| size as f64 * rate).sum();
    let rate = of_class(file, "injection_rate", at).parse::<f64>().ok();
    let rate = rate.filter(|rate| (0.0..=1e3).contains(rate));
    let rate = rate.ok_or_else(|| file.wrong("injection_rate", "rates from 0 to 1000"))?;
    let load = match file.whole("injection_rate_uses_flits", 0..=1)? {
        1 => rate,
        _ => rate * volume / packets,
    };
    Ok(Class { sizes, load })
}

/// One size, or several with their shares of the volume.
fn message(sizes: &[(u64, f64)]) -> Value {
    if let [(size, _)] = sizes {
        return flits(*size);
    }
    let volume: f64 = sizes.iter().map(|&(size, rate)| size as f64 * rate).sum();
    let share = |&(size, rate): &(u64, f64)| {
        let share = size as f64 * rate / volume;
        table([("size", flits(size)), ("share", Value::Float(share))])
    };
    Value::Array(sizes.iter().map(share).collect())
}

/// The keys of a workload that say who sends to whom.
type Who = Vec<(&'static str, Value)>;

fn pattern(
    file: &mut Configuration,
    at: usize,
    network: &BooksimNetwork,
) -> Result<Who, ConfigError> {
    let given = of_class(file, "traffic", at);
    let (name, arguments) = match given.split_once('(') {
        Some((name, arguments)) => (name, arguments.trim_end_matches(')')),
        None => match given.split_once('{') {
            Some((name, arguments)) => (name, arguments.trim_end_matches('}')),
            None => (&*given, ""),
        },
    };
    let kind = |kind: &str| Ok(vec![("pattern", table([("kind", text(kind))]))]);
    let nodes = network.endpoints;
    let bits = nodes.is_power_of_two();
    match name {
        "uniform" => return Ok(uniform()),
        "bitcomp" if bits => return kind("bit_complement"),
        "transpose" if bits && nodes.trailing_zeros().is_multiple_of(2) => {
            return kind("transpose");
        }
        "randperm" => {
            file.instead(
                "traffic",
                "\"permutation\": run.seed draws it, no task to itself",
            );
            return kind("permutation");
        }
        "bad_dragon" if network.groups => return kind("worst_case"),
        "hotspot" => {
            if let Some(hot) = hotspot(file, arguments, nodes) {
                return Ok(hot);
            }
        }
        _ => {}
    }
    let digits = digits(file, arguments)?;
    let to: Option<Box<dyn Fn(u64) -> u64>> = match name {
        "bitrev" if bits && nodes > 1 => {
            let unused = 64 - nodes.trailing_zeros();
            Some(Box::new(move |node: u64| node.reverse_bits() >> unused))
        }
        "shuffle" if bits => Some(Box::new(move |node| {
            ((node << 1) & (nodes - 1)) | u64::from((node << 1) & nodes != 0)
        })),
        "tornado" => Some(Box::new(move |node| {
            digits.plus(node, digits.size.div_ceil(2) - 1)
        })),
        "neighbor" => Some(Box::new(move |node| digits.plus(node, 1))),
        _ => None,
    };
    let listed = to.filter(|_| nodes <= LISTED).and_then(|to| {
        let to: Vec<u64> = (0..nodes).map(to).collect();
        permutation(file, &to)
    });
    Ok(listed.unwrap_or_else(|| {
        file.instead("traffic", "no counterpart: \"uniform\" instead");
        uniform()
    }))
}

fn uniform() -> Who {
    let pattern = [
        ("kind", text("uniform")),
        ("include_self", Value::Boolean(true)),
    ];
    vec![("pattern", table(pattern))]
}

/// All others send to the given endpoints, which equally many messages go to.
fn hotspot(file: &mut Configuration, arguments: &str, nodes: u64) -> Option<Who> {
    let arguments = members(&format!("{{{arguments}}}"));
    let hot = members(arguments.first()?);
    let hot: Option<Vec<u64>> = hot.iter().map(|node| node.parse().ok()).collect();
    let hot = hot.filter(|hot| hot.iter().all(|&node| node < nodes))?;
    let rates = members(arguments.get(1).map_or("1", String::as_str));
    if rates.iter().any(|rate| *rate != rates[0]) || nodes > LISTED {
        return None;
    }
    let others = (0..nodes).filter(|node| !hot.contains(node));
    let pattern = [
        ("kind", text("hotspot")),
        ("source_list", wholes(others)),
        ("destination_list", wholes(hot.iter().copied())),
    ];
    file.instead("traffic", "\"hotspot\", whose destinations send nothing");
    Some(vec![("pattern", table(pattern))])
}

/// Numbers of endpoints as digits, one for each dimension.
#[derive(Clone, Copy)]
struct Digits {
    size: u64,
    count: u64,
}

impl Digits {
    /// The endpoint `more` places further in every dimension.
    fn plus(self, node: u64, more: u64) -> u64 {
        let (mut offset, mut result) = (1u64, 0u64);
        for _ in 0..self.count {
            let digit = (node / offset % self.size + more) % self.size;
            result = result.saturating_add(offset.saturating_mul(digit));
            offset = offset.saturating_mul(self.size);
        }
        result
    }
}

/// From the arguments of a pattern, or the network: k, n, xr.
fn digits(file: &Configuration, arguments: &str) -> Result<Digits, ConfigError> {
    let arguments = members(&format!("{{{arguments}}}"));
    let number = |at: usize, name: &str| {
        let given = arguments.get(at).and_then(|text| text.parse::<u64>().ok());
        let number = file.whole(name, 1..=MOST);
        given
            .filter(|given| (1..=MOST).contains(given))
            .map_or(number, Ok)
    };
    Ok(Digits {
        size: number(0, "k")? * number(2, "xr")?,
        count: number(1, "n")?.min(16),
    })
}

/// The pattern "permutation" of the endpoints that send to others; None if two send to one.
fn permutation(file: &mut Configuration, to: &[u64]) -> Option<Who> {
    let mut receives = vec![false; to.len()];
    for &destination in to {
        let once = receives.get_mut(usize::try_from(destination).ok()?)?;
        if std::mem::replace(once, true) {
            return None;
        }
    }
    let moves = |&node: &u64| to[node as usize] != node;
    let senders: Vec<u64> = (0..to.len() as u64).filter(moves).collect();
    if senders.is_empty() {
        return None;
    }
    // Its tasks are counted without the others.
    let place = |node: &u64| senders.partition_point(|sender| sender < node) as u64;
    let list = wholes(senders.iter().map(|&node| place(&to[node as usize])));
    let mut who = Vec::new();
    let others = to.len() - senders.len();
    if others > 0 {
        let why =
            format!("\"permutation\", without the {others} endpoints that send to themselves");
        file.instead("traffic", why);
        who.push(("endpoints", wholes(senders.iter().copied())));
    }
    who.push((
        "pattern",
        table([("kind", text("permutation")), ("list", list)]),
    ));
    Some(who)
}
