//! The ports of a result and the other ends of their links.

use std::collections::HashMap;

use crate::{ResultFile, TraceError};

/// A router and its port.
type RouterPort = (u32, u16);

/// The place of a port in `/data/ports`.
pub type PortIndex = usize;

/// A port of a router.
#[derive(Clone, Debug)]
pub struct Port {
    /// Router.
    pub router: u32,
    /// Its port.
    pub port: u16,
    /// Kind of the link.
    pub kind: String,
    /// The endpoint that it leads to.
    pub endpoint: Option<u32>,
    /// The router and port that it leads to.
    pub peer: Option<(u32, u16)>,
    /// Time with flits on the link, ps.
    pub busy_ps: u64,
    /// Time with a packet ready but no credit, ps.
    pub stalled_ps: u64,
    /// Share of the bandwidth that its link was built with, if a failure has taken some of it.
    pub bandwidth_left: Option<f64>,
    /// Time for which it has, ps, if not the whole run.
    pub degraded_ps: Option<[u64; 2]>,
}

impl Port {
    /// True if its link leads somewhere, and is not down for the whole run.
    pub(super) fn leads(&self) -> bool {
        let joined = self.endpoint.is_some() || self.peer.is_some();
        joined && self.bandwidth_left != Some(0.0)
    }
}

/// A link that has lost bandwidth.
struct Degraded {
    port: RouterPort,
    /// Share that is left: none if it is down for the whole run.
    left: f64,
    /// Beginning and end, ps.
    time: [u64; 2],
}

/// The links of router ports that have lost bandwidth before the end of the run, which is `end`.
fn failures(result: &ResultFile, end: u64) -> Result<Vec<Degraded>, TraceError> {
    let names = [
        "router",
        "port",
        "nic",
        "bandwidth",
        "built_bandwidth",
        "down",
        "from_ps",
        "until_ps",
    ];
    let rows = result.table("data/failures", names)?;
    let Some([router, port, nic, now, built, down, from, until]) = rows else {
        return Ok(Vec::new());
    };
    let left = |row: usize| match down[row] > 0 && from[row] == 0 && until[row] >= end {
        true => 0.0,
        false => now[row] as f64 / built[row] as f64,
    };
    // Until the end of the run, others are as built.
    let own = (0..router.len()).filter(|&row| nic[row] == 0 && from[row] < end);
    let own = own.map(|row| Degraded {
        port: (router[row] as u32, port[row] as u16),
        left: left(row),
        time: [from[row], until[row]],
    });
    Ok(own.filter(|one| one.left < 1.0).collect())
}

/// All ports of a network.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// By router, then port.
    pub ports: Vec<Port>,
    places: HashMap<RouterPort, PortIndex>,
    /// The group of each router.
    pub groups: Vec<u32>,
}

impl Network {
    /// Reads the network of a result.
    ///
    /// # Errors
    /// If the file is damaged.
    pub(super) fn read(result: &ResultFile) -> Result<Network, TraceError> {
        const PORTS: &str = "data/ports";
        let names = ["router", "port", "busy_ps", "stalled_ps"];
        let Some([router, port, busy, stalled]) = result.table(PORTS, names)? else {
            return Ok(Network::default());
        };
        let signed = ["endpoint", "peer_router", "peer_port"];
        let mut leads = [const { Vec::new() }; 3];
        for (own, name) in leads.iter_mut().zip(signed) {
            *own = result.signed(PORTS, name, router.len())?;
        }
        let [endpoint, peer_router, peer_port] = leads;
        let kinds = result.port_kinds()?;
        let number = |value: i64| u32::try_from(value).ok();
        let mut ports: Vec<Port> = (0..router.len())
            .map(|row| Port {
                router: router[row] as u32,
                port: port[row] as u16,
                kind: kinds.get(row).cloned().unwrap_or_default(),
                endpoint: number(endpoint[row]),
                peer: number(peer_router[row]).map(|other| (other, peer_port[row] as u16)),
                busy_ps: busy[row],
                stalled_ps: stalled[row],
                bandwidth_left: None,
                degraded_ps: None,
            })
            .collect();
        let places = ports.iter().enumerate();
        let places: HashMap<_, _> = places
            .map(|(at, one)| ((one.router, one.port), at))
            .collect();
        let end = result.number("data/summary", "simulated_ps")?;
        let end = end.unwrap_or(0.0) as u64;
        for one in failures(result, end)? {
            if let Some(&at) = places.get(&one.port) {
                ports[at].bandwidth_left = Some(one.left);
                ports[at].degraded_ps = (one.time != [0, end]).then_some(one.time);
            }
        }
        let mut groups = result.column("data/routers", "group")?.unwrap_or_default();
        let routers = groups.len() as u64;
        if groups.iter().any(|group| *group >= routers) {
            groups.clear();
        }
        Ok(Network {
            ports,
            places,
            groups: groups.into_iter().map(|group| group as u32).collect(),
        })
    }

    /// The place of a port.
    pub(super) fn place(&self, router: u32, port: u16) -> Option<PortIndex> {
        self.places.get(&(router, port)).copied()
    }

    /// The port at the other end of a link; None if that is an endpoint.
    pub(super) fn far_side(&self, port: PortIndex) -> Option<PortIndex> {
        let (router, port) = self.ports.get(port)?.peer?;
        self.place(router, port)
    }

    /// The group of a port's router.
    pub fn group(&self, port: PortIndex) -> u32 {
        let router = self.ports[port].router as usize;
        self.groups.get(router).copied().unwrap_or(0)
    }
}
