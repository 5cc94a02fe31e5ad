//! Links and routers of failures by name.

use super::LinkName;
use super::draw::Ends;
use crate::topology::{Peer, Place, Topology};
use weir_model::{Invalid, RouterId};

/// The most neighbours of a router that an error names.
const MOST_NAMED: usize = 12;

/// The links of a name.
pub(super) fn named(name: &LinkName, topology: &dyn Topology) -> Result<Vec<Ends>, Invalid> {
    let routers = topology.routers();
    let ends = |from: Place| topology.far_end(from).map(|far| [from, far]);
    match *name {
        LinkName {
            router: Some(router),
            port: Some(port),
            routers: None,
            endpoint: None,
        } => {
            if router >= routers {
                return beyond("router", "router", router, routers);
            }
            let ports = topology.ports(router);
            let found = (port < ports).then(|| ends(Place::Router(router, port)));
            found.flatten().map(|ends| vec![ends]).ok_or_else(|| {
                Invalid::new(
                    "port",
                    format!("no link is at port {port} of router {router}"),
                    format!("its links are at ports {}", used_ports(topology, router)),
                )
            })
        }
        LinkName {
            router: None,
            port: None,
            routers: Some([one, other]),
            endpoint: None,
        } => {
            if let Some(router) = [one, other].into_iter().find(|one| *one >= routers) {
                return beyond("routers", "router", router, routers);
            }
            let places = (0..topology.ports(one)).map(|port| Place::Router(one, port));
            let between = places
                .filter_map(ends)
                .filter(|[_, far]| matches!(far, Place::Router(router, _) if *router == other));
            let between: Vec<Ends> = between.collect();
            match between.is_empty() {
                false => Ok(between),
                true => Err(Invalid::new(
                    "routers",
                    format!("no link joins routers {one} and {other}"),
                    format!("router {one} has links to {}", neighbours(topology, one)),
                )),
            }
        }
        LinkName {
            router: None,
            port: None,
            routers: None,
            endpoint: Some(endpoint),
        } => {
            if endpoint >= topology.endpoints() {
                return beyond("endpoint", "endpoint", endpoint, topology.endpoints());
            }
            Ok(ends(Place::Nic(endpoint)).into_iter().collect())
        }
        _ => Err(Invalid::new(
            "",
            "this names no link",
            "write { router = 3, port = 7 }, { routers = [3, 9] }, or { endpoint = 12 }",
        )),
    }
}

/// The links of a router.
pub(super) fn links_of(router: RouterId, topology: &dyn Topology) -> Result<Vec<Ends>, Invalid> {
    if router >= topology.routers() {
        return beyond("", "router", router, topology.routers());
    }
    let places = (0..topology.ports(router)).map(|port| Place::Router(router, port));
    let ends = places.filter_map(|from| topology.far_end(from).map(|far| [from, far]));
    Ok(ends.collect())
}

/// The error about a number that the network does not have.
fn beyond<T>(key: &str, what: &str, number: u32, count: u32) -> Result<T, Invalid> {
    Err(Invalid::new(
        key,
        format!("{what} {number} is beyond the network, which has {count} {what}s"),
        format!("write a number from 0 to {}", count - 1),
    ))
}

/// The ports of a router that have links, for an error.
fn used_ports(topology: &dyn Topology, router: RouterId) -> String {
    let ports = 0..topology.ports(router);
    let used = ports.filter(|&port| topology.peer(router, port) != Peer::Unused);
    listed(used.map(u32::from).collect())
}

/// The routers that a router has links to, for an error.
fn neighbours(topology: &dyn Topology, router: RouterId) -> String {
    let ports = 0..topology.ports(router);
    let others = ports.filter_map(|port| topology.peer(router, port).router());
    let mut others: Vec<u32> = others.collect();
    others.sort_unstable();
    others.dedup();
    match others.is_empty() {
        true => "no other".into(),
        false => listed(others),
    }
}

fn listed(numbers: Vec<u32>) -> String {
    let shown = numbers.iter().take(MOST_NAMED).map(u32::to_string);
    let shown: Vec<String> = shown.collect();
    let more = if numbers.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    shown.join(", ") + more
}
