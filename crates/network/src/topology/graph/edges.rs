//! The links of a graph, as a table in CSV.

use std::collections::HashMap;

use super::super::kind_problem;
use weir_input::{BadRow, Duration, Rate, Rows};
use weir_model::{Bandwidth, Invalid, KindName, RouterId, TERMINAL, Time};

/// The key of the table, which errors name.
const KEY: &str = "links";
/// Its columns.
const COLUMNS: [&str; 6] = ["from", "to", "kind", "bandwidth", "latency", "links"];
/// Ports of a router at most.
pub(super) const MOST_PORTS: usize = 65_535;
/// The kind of links between routers that name none.
const LINK: &str = "link";

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Its ends: routers.
    pub ends: [RouterId; 2],
    /// Its properties.
    pub like: Like,
    /// Number of links.
    pub links: u32,
}

/// An endpoint, and the router that it is attached to.
#[derive(Clone, Debug)]
pub struct Attached {
    /// The router.
    pub router: RouterId,
    /// The properties of the link.
    pub like: Like,
}

/// The kind of a link, and values that differ from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Like {
    /// Place of its kind among [`Edges::kinds`].
    pub kind: usize,
    /// Bandwidth of each direction.
    pub bandwidth: Option<Bandwidth>,
    /// Latency, ps.
    pub latency: Option<Time>,
}

/// A table of links that was read. Routers and endpoints have numbers: those in their names, or
/// they are counted as they appear.
#[derive(Clone, Debug)]
pub struct Edges {
    /// Names of the kinds of links; the first is `terminal`.
    pub kinds: Vec<KindName>,
    /// Names of the routers.
    pub routers: Vec<String>,
    /// The endpoints in the table.
    pub endpoints: Vec<Attached>,
    /// Their names.
    pub endpoint_names: Vec<String>,
    /// The links between routers.
    pub edges: Vec<Edge>,
}

/// A row before its names have numbers.
struct Row {
    line: u64,
    ends: [String; 2],
    like: Like,
    links: u32,
}

impl Edges {
    /// Reads a table.
    ///
    /// # Errors
    /// A column or value that is unknown, with its line in the table; a name that is a router in
    /// one row and an endpoint in another; an endpoint with several links; a link from a router to
    /// itself.
    pub fn read(text: &str) -> Result<Edges, Invalid> {
        let mut kinds = vec![KindName::Borrowed(TERMINAL)];
        let rows = rows(text, &mut kinds)?;
        let between = || rows.iter().filter(|row| row.like.kind != 0);
        let terminals = || rows.iter().filter(|row| row.like.kind == 0);
        let routers = between().flat_map(|row| &row.ends);
        let routers = numbered(routers.chain(terminals().map(|row| &row.ends[1])));
        let hosts = numbered(terminals().map(|row| &row.ends[0]));
        let mut edges = Vec::with_capacity(rows.len());
        let mut endpoints: Vec<Option<Attached>> = vec![None; hosts.len()];
        for row in &rows {
            let [from, to] = &row.ends;
            let like = row.like.clone();
            if row.like.kind != 0 {
                if from == to {
                    return Err(wrong(row.line, format!("{from:?} is linked with itself")));
                }
                let ends = [routers[from], routers[to]];
                let links = row.links;
                edges.push(Edge { ends, like, links });
                continue;
            }
            if routers.contains_key(from) {
                let what = format!("{from:?} is an endpoint here and a router in another row");
                return Err(wrong(row.line, what));
            }
            let router = routers[to];
            let place = &mut endpoints[hosts[from] as usize];
            if row.links != 1 || place.replace(Attached { router, like }).is_some() {
                return Err(wrong(
                    row.line,
                    format!("endpoint {from:?} has several links"),
                ));
            }
        }
        Ok(Edges {
            kinds,
            routers: by_number(routers),
            endpoint_names: by_number(hosts),
            endpoints: endpoints.into_iter().flatten().collect(),
            edges,
        })
    }
}

/// The names in the order of their numbers.
fn by_number(numbers: HashMap<String, u32>) -> Vec<String> {
    let mut names = vec![String::new(); numbers.len()];
    for (name, number) in numbers {
        names[number as usize] = name;
    }
    names
}

/// The numbers of names: those in them, if they are all the whole numbers from 0 on, perhaps after
/// one and the same word (`r0`, `r1`); otherwise in the order in which they appear.
fn numbered<'a>(names: impl Iterator<Item = &'a String>) -> HashMap<String, u32> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for name in names {
        let next = numbers.len() as u32;
        numbers.entry(name.clone()).or_insert(next);
    }
    let count = numbers.len();
    let word = |name: &String| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let first = numbers.iter().find(|&(_, &number)| number == 0);
    let same = first.map(|(name, _)| name[..word(name)].to_string());
    let number = |name: &String| {
        let digits = name.strip_prefix(same.as_deref()?)?;
        // "+1" is a number, too.
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let own: Option<Vec<(String, u32)>> = numbers
        .keys()
        .map(|name| Some((name.clone(), number(name)?)))
        .collect();
    let mut seen = vec![false; count];
    let whole = own.filter(|own| {
        own.iter().all(|&(_, number)| {
            let place = seen.get_mut(number as usize);
            place.is_some_and(|seen| !std::mem::replace(seen, true))
        })
    });
    whole.map_or(numbers, |own| own.into_iter().collect())
}

/// An error in a line of the table.
fn wrong(line: u64, what: String) -> Invalid {
    Invalid::new(
        KEY,
        format!("line {line} of the table: {what}"),
        format!("a row is a link: {}", COLUMNS.join(",")),
    )
}

fn rows(text: &str, kinds: &mut Vec<KindName>) -> Result<Vec<Row>, Invalid> {
    let bad = |bad: BadRow| wrong(bad.line, bad.message);
    let mut read = Rows::new(text.as_bytes(), true);
    let (line, head) = read.names().map_err(bad)?;
    let mut places = [None; COLUMNS.len()];
    for (at, name) in head.iter().enumerate() {
        match COLUMNS.iter().position(|known| *known == name) {
            Some(column) if places[column].is_none() => places[column] = Some(at),
            Some(_) => return Err(wrong(line, format!("{name:?} is there twice"))),
            None => return Err(wrong(line, format!("{name:?} is not a column"))),
        }
    }
    if places[0].is_none() || places[1].is_none() {
        return Err(wrong(line, "the first line has no from and to".into()));
    }
    let mut rows = Vec::new();
    while let Some((line, record)) = read.advance().map_err(bad)? {
        let value = |column: usize| -> Option<&str> {
            let text = record.get(places[column]?)?;
            (!text.is_empty()).then_some(text)
        };
        rows.push(row(line, value, kinds)?);
    }
    Ok(rows)
}

/// A row from its values by column.
fn row<'a>(
    line: u64,
    value: impl Fn(usize) -> Option<&'a str>,
    kinds: &mut Vec<KindName>,
) -> Result<Row, Invalid> {
    let end = |column| {
        let name = value(column).ok_or_else(|| wrong(line, format!("no {}", COLUMNS[column])));
        name.map(String::from)
    };
    let ends = [end(0)?, end(1)?];
    let kind = value(2).unwrap_or(LINK);
    if let Some(why) = kind_problem(kind) {
        return Err(wrong(line, format!("kind {kind:?} {why}")));
    }
    let kind = kinds
        .iter()
        .position(|known| known == kind)
        .unwrap_or_else(|| {
            kinds.push(kind.to_string().into());
            kinds.len() - 1
        });
    if kind > usize::from(u8::MAX) {
        return Err(wrong(line, "more than 256 kinds of links".into()));
    }
    let bandwidth = value(3).map(|text| text.parse::<Rate>());
    let bandwidth = bandwidth
        .transpose()
        .map_err(|error| wrong(line, error.to_string()))?;
    let latency = value(4).map(|text| text.parse::<Duration>());
    let latency = latency
        .transpose()
        .map_err(|error| wrong(line, error.to_string()))?;
    let zero =
        bandwidth.is_some_and(|rate| rate.0.0 == 0) || latency.is_some_and(|time| time.0 == 0);
    if zero {
        return Err(wrong(
            line,
            "bandwidth and latency must be more than 0".into(),
        ));
    }
    let links = value(5).map_or(Ok(1), str::parse::<u32>);
    let links = links.ok().filter(|&links| links > 0);
    let links = links.ok_or_else(|| wrong(line, "links is no number from 1 on".into()))?;
    Ok(Row {
        line,
        ends,
        like: Like {
            kind,
            bandwidth: bandwidth.map(|rate| rate.0),
            latency: latency.map(|time| time.0),
        },
        links,
    })
}

/// A router with more links and endpoints than it may have ports.
pub(super) fn too_many_ports(edges: &Edges, router: RouterId) -> Invalid {
    let name = &edges.routers[router as usize];
    let what = format!("router {name:?} has more than {MOST_PORTS} ports");
    Invalid::new("links", what, "give it fewer links and endpoints")
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn names_are_numbered_alike_by_every_process() {
        let of = |names: [&str; 3]| {
            let names = names.map(str::to_string);
            let numbers = numbered(names.iter());
            names.map(|name| numbers[&name])
        };
        assert_eq!(of(["r2", "r0", "r1"]), [2, 0, 1]);
        assert_eq!(of(["r2", "s0", "r1"]), [0, 1, 2]);
        // A sign is no part of a number.
        for _ in 0..8 {
            assert_eq!(of(["+2", "0", "+1"]), [0, 1, 2]);
        }
    }
}
