//! A network as another program describes it, and as a topology file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use toml::{Table, Value};

use super::super::toml::{table, text, whole};
use weir_input::{ConfigError, Duration, Rate};
use weir_model::TERMINAL;

/// The rate and the latency of links of which a file says nothing.
const GBPS: f64 = 100.0;
const LATENCY_NS: f64 = 100.0;

/// One link, or several of the same ends and properties.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Names of its ends.
    pub ends: [String; 2],
    /// Its kind, if it has a name.
    pub kind: Option<String>,
    /// Rate of each direction, Gbps, if it is known.
    pub gbps: Option<f64>,
    /// Latency, ns, if it is known.
    pub ns: Option<f64>,
    /// Number of links.
    pub count: u32,
}

impl Link {
    /// One of which nothing else is known.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Link {
        Link {
            ends: [from.into(), to.into()],
            kind: None,
            gbps: None,
            ns: None,
            count: 1,
        }
    }
}

/// Which nodes are hosts, where a file does not say it.
#[derive(Clone, Debug, Default)]
pub struct HostRule {
    /// Endpoints at each router, if the file names no hosts.
    pub endpoints_per_router: Option<u32>,
    /// Nodes whose names begin with this are hosts.
    pub prefix: Option<String>,
}

impl HostRule {
    /// True if a node is said to be a host.
    pub fn is_host(&self, name: &str) -> bool {
        self.prefix
            .as_ref()
            .is_some_and(|begin| name.starts_with(begin))
    }
}

/// A network.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// From a host to its router.
    pub hosts: Vec<Link>,
    /// Between routers.
    pub links: Vec<Link>,
    /// Nodes that the file names, with or without links.
    pub nodes: Vec<String>,
    /// Values that the file does not give, and parts that were left out.
    pub chosen: Vec<String>,
}

impl Network {
    /// True if it has no link.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.links.is_empty()
    }

    /// All links, with their kinds: those of hosts first.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Link)> {
        let hosts = self.hosts.iter().map(|link| (TERMINAL, link));
        hosts.chain(self.links.iter().map(|link| (kind(link), link)))
    }

    /// The first node that is linked with nothing.
    pub fn without_links(&self) -> Option<&str> {
        let ends: HashSet<&String> = self.all().flat_map(|(_, link)| &link.ends).collect();
        let mut nodes = self.nodes.iter();
        nodes.find(|node| !ends.contains(node)).map(String::as_str)
    }

    /// Says which attributes of the file's links are not read.
    pub fn leave_out<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let names: Vec<&str> = names.into_iter().collect();
        if !names.is_empty() {
            let line = format!("left out: attributes of links: {}", names.join(", "));
            self.chosen.push(line);
        }
    }

    /// Adds a link between two nodes, one of which may be a host.
    pub fn add(&mut self, link: Link, is_host: impl Fn(&str) -> bool) {
        let hosts = [is_host(&link.ends[0]), is_host(&link.ends[1])];
        self.attach(link, hosts);
    }

    /// Adds a link of which is known which ends are hosts.
    pub fn attach(&mut self, mut link: Link, hosts: [bool; 2]) {
        match hosts {
            [false, false] => self.links.push(link),
            [true, _] => self.hosts.push(link),
            [false, true] => {
                link.ends.reverse();
                self.hosts.push(link);
            }
        }
    }

    /// The topology.
    ///
    /// # Errors
    /// If endpoints are asked for beside the hosts of the file.
    pub fn topology(&mut self, asked: &HostRule) -> Result<Table, ConfigError> {
        let mut topology = Table::new();
        topology.insert("kind".into(), text("graph"));
        match (asked.endpoints_per_router, self.hosts.is_empty()) {
            (Some(_), false) => {
                return Err(ConfigError::new(
                    "the file names its hosts: no others can be asked for",
                    "leave out --endpoints-per-router",
                ));
            }
            (None, false) => {}
            (count, true) => {
                if count.is_none() {
                    self.chosen.push("endpoints_per_router: 1".into());
                }
                let count = whole(count.unwrap_or(1).into());
                topology.insert("endpoints_per_router".into(), count);
            }
        }
        let mut usual: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        let hosts: Vec<&mut Link> = self.hosts.iter_mut().collect();
        usual.insert(TERMINAL.into(), complete(TERMINAL, hosts, &mut self.chosen));
        for name in kinds(&self.links) {
            let own = self.links.iter_mut().filter(|link| kind(link) == name);
            let values = complete(&name, own.collect(), &mut self.chosen);
            usual.insert(name, values);
        }
        topology.insert("links".into(), text(self.csv(&usual)));
        let mut others = Table::new();
        for (name, [gbps, ns]) in usual {
            let link = table([
                ("bandwidth", text(format!("{gbps} Gbps"))),
                ("latency", text(format!("{ns} ns"))),
            ]);
            match name.as_str() {
                TERMINAL | "link" => topology.insert(name, link),
                _ => others.insert(name, link),
            };
        }
        if !others.is_empty() {
            topology.insert("kinds".into(), Value::Table(others));
        }
        Ok(topology)
    }

    /// The table of links, with everything that is known of each.
    pub fn whole_csv(&self) -> String {
        self.csv(&BTreeMap::new())
    }

    /// The table of links: what is the usual of a kind is left out.
    fn csv(&self, usual: &BTreeMap<String, [f64; 2]>) -> String {
        let mut rows: Vec<[String; 6]> = Vec::new();
        let mut places: HashMap<[String; 6], usize> = HashMap::new();
        let mut counts: Vec<u32> = Vec::new();
        for (kind, link) in self.all() {
            let [gbps, ns] = usual.get(kind).copied().unwrap_or_default();
            let other = |own: Option<f64>, usual: f64, unit: &str| match own {
                Some(own) if own != usual => format!("{own} {unit}"),
                _ => String::new(),
            };
            let shown = if kind == "link" { "" } else { kind };
            let row = [
                link.ends[0].clone(),
                link.ends[1].clone(),
                shown.to_string(),
                other(link.gbps, gbps, "Gbps"),
                other(link.ns, ns, "ns"),
                String::new(),
            ];
            let place = *places.entry(row.clone()).or_insert_with(|| {
                rows.push(row);
                counts.push(0);
                counts.len() - 1
            });
            counts[place] += link.count;
        }
        for (row, count) in rows.iter_mut().zip(counts) {
            if count > 1 {
                row[5] = count.to_string();
            }
        }
        // Columns in which nothing is said are left out.
        let said: Vec<usize> = (0..6)
            .filter(|&at| at < 2 || rows.iter().any(|row| !row[at].is_empty()))
            .collect();
        let names = ["from", "to", "kind", "bandwidth", "latency", "links"];
        let mut out = csv::Writer::from_writer(Vec::new());
        let names = said.iter().map(|&at| names[at]);
        // A list in memory takes whatever is written.
        let _ = out.write_record(names);
        for row in &rows {
            let _ = out.write_record(said.iter().map(|&at| &row[at]));
        }
        let bytes = out.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn kind(link: &Link) -> &str {
    link.kind.as_deref().unwrap_or("link")
}

/// The kinds of links, each once.
fn kinds(links: &[Link]) -> BTreeSet<String> {
    links.iter().map(|link| kind(link).to_string()).collect()
}

/// Gives the links of a kind the rates and latencies that the file does not say, and says so.
/// Returns what most of them have, Gbps and ns.
fn complete(name: &str, links: Vec<&mut Link>, chosen: &mut Vec<String>) -> [f64; 2] {
    let all: u32 = links.iter().map(|link| link.count).sum();
    let (mut rates, mut times) = (Vec::new(), Vec::new());
    let mut unknown = [0, 0];
    for link in links {
        unknown[0] += if link.gbps.is_none() { link.count } else { 0 };
        unknown[1] += if link.ns.is_none() { link.count } else { 0 };
        rates.push(*link.gbps.get_or_insert(GBPS));
        times.push(*link.ns.get_or_insert(LATENCY_NS));
    }
    for (count, value, unit) in [(unknown[0], GBPS, "Gbps"), (unknown[1], LATENCY_NS, "ns")] {
        if count == all {
            chosen.push(format!("{name}: {value} {unit}"));
        } else if count > 0 {
            chosen.push(format!("{name}: {value} {unit} for {count} of {all} links"));
        }
    }
    [
        commonest(rates).unwrap_or(GBPS),
        commonest(times).unwrap_or(LATENCY_NS),
    ]
}

fn commonest(values: Vec<f64>) -> Option<f64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value.to_bits()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(_, count)| count);
    most.map(|(bits, _)| f64::from_bits(bits))
}

/// A table as a TOML file.
///
/// # Errors
/// If it cannot be written in TOML.
pub fn file_of(table: &Table) -> Result<String, ConfigError> {
    toml::to_string_pretty(table).map_err(|error| ConfigError::new(format!("no TOML: {error}"), ""))
}

/// A bandwidth, Gbps.
pub fn gbps(text: &str) -> Option<f64> {
    let rate: Rate = text.parse().ok()?;
    Some(rate.0.0 as f64 / 1e9).filter(|gbps| *gbps > 0.0)
}

/// A latency, ns.
pub fn ns(text: &str) -> Option<f64> {
    let time: Duration = text.parse().ok()?;
    Some(time.0 as f64 / 1e3).filter(|ns| *ns > 0.0)
}

/// The links of arrows: one from here to there and one back are one link.
pub fn both_ways(arrows: Vec<Link>) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    // The link of two nodes, and the arrows in the order of their names and against it.
    let mut places: HashMap<[String; 2], (usize, [u32; 2])> = HashMap::new();
    for arrow in arrows {
        let mut ends = arrow.ends.clone();
        let against = usize::from(ends[0] > ends[1]);
        ends.sort_unstable();
        let (place, counts) = places.entry(ends).or_insert_with(|| {
            links.push(arrow.clone());
            (links.len() - 1, [0, 0])
        });
        counts[against] += arrow.count;
        links[*place].count = counts[0].max(counts[1]);
    }
    links
}
