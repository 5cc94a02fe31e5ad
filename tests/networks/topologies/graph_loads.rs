//! Loads of links and times on graphs: by the ways of another program, and as on a built-in kind.

use std::collections::BTreeMap;
use std::fmt::Write;

use toml::Table;
use weir::result::Data;
use weir::topology::{Peer, Topology};

use super::graph::{reference, sorted};
use crate::networks::direct;
use crate::support::{Cli, Experiment};

/// Packets from one router to another.
type Loads = BTreeMap<(u32, u32), u64>;

fn loads(data: &Data) -> Loads {
    let ports = &data.ports;
    let mut loads = Loads::new();
    for row in 0..ports.router.len() {
        if let Ok(peer) = u32::try_from(ports.peer_router[row]) {
            *loads.entry((ports.router[row], peer)).or_default() += ports.packets[row];
        }
    }
    loads
}

/// One message of a packet from each of these endpoints to each other one.
fn all_to_all(experiment: Experiment, endpoints: Vec<u32>) -> Data {
    let tasks = i64::try_from(endpoints.len()).expect("few");
    let experiment = experiment
        .set("nic.acknowledge", false)
        .job("alltoall", tasks)
        .with("motif.bytes", "8 B")
        .with("mpi.collectives.alltoall", "linear")
        .with("endpoints", endpoints);
    experiment.run().data
}

/// merlin's tests with the topology "anytopo" route by one shortest way for each pair of routers.
/// With these ways and a packet from each endpoint to each other one, a link carries four packets
/// for each way that leads over it, because each router has two endpoints.
#[test]
fn links_carry_what_merlins_ways_lead_over_them() {
    // Routers; the most and the least that a link carries, 1 being what an endpoint sends.
    for (name, routers, most, least) in [
        ("complete_4", 4, 0.571_429, 0.571_429),
        ("cubical", 8, 2.4, 0.266_667),
        ("dragonfly_36", 36, 1.239_437, 0.563_38),
        ("slimfly_18", 18, 0.914_286, 0.114_286),
    ] {
        let (mut table, mut expected) = (String::from("at,to,next\n"), Loads::new());
        for line in reference(&format!("{name}.routes")).lines() {
            let words = line.split_whitespace();
            let way: Vec<u32> = words.map(|word| word.parse().expect("a router")).collect();
            for step in way.windows(2) {
                *expected.entry((step[0], step[1])).or_default() += 4;
            }
            let to = way.last().expect("a way");
            writeln!(table, "{},{to},{}", way[0], way[1]).expect("writes");
        }
        let links = reference(&format!("{name}.csv"));
        let topology =
            format!("kind = \"graph\"\nlinks = '''\n{links}'''\nendpoints_per_router = 2");
        let endpoints = 2 * routers;
        let found = loads(&all_to_all(
            direct::experiment(&topology, "table").set("routing.ways", table),
            (0..endpoints).collect(),
        ));
        assert_eq!(found, expected, "{name}");
        let sent = f64::from(endpoints - 1);
        for (load, other) in [
            (*found.values().max().expect("links"), most),
            (*found.values().min().expect("links"), least),
        ] {
            assert!((load as f64 / sent - other).abs() < 1e-6, "{name}: {load}");
        }
    }
}

/// The minimal ways of a dragonfly as a forwarding table.
fn minimal_ways(dragonfly: &dyn Topology) -> String {
    let groups = |of: [u32; 2]| of.map(|router| dragonfly.group_of(router));
    let mut gateways = BTreeMap::new();
    for router in 0..dragonfly.routers() {
        for port in 0..dragonfly.ports(router) {
            if let Peer::Router(peer, _) = dragonfly.peer(router, port) {
                gateways.insert(groups([router, peer]), (router, peer));
            }
        }
    }
    let mut table = String::from("at,to,next\n");
    for at in 0..dragonfly.routers() {
        for to in (0..dragonfly.routers()).filter(|&to| to != at) {
            let [from, into] = groups([at, to]);
            let next = match gateways[&[from, into]] {
                _ if from == into => to,
                (gateway, peer) if gateway == at => peer,
                (gateway, _) => gateway,
            };
            writeln!(table, "r{at},r{to},r{next}").expect("writes");
        }
    }
    table
}

/// The dragonfly of 1,056 endpoints, exported as a graph, with its minimal ways as a forwarding
/// table: the same loads of all links, and the same times of packets that meet no other.
#[test]
fn a_dragonfly_as_a_graph_is_the_dragonfly() {
    let dragonfly = Experiment::dragonfly(4, 8, 4);
    let of = dragonfly.clone().uniform(0.1).until("1 us");
    let arguments = ["export", "--topology", "experiment.toml", "graph.toml"];
    let exported = Cli::weir(&of.text(), &arguments).succeeds();
    let graph = std::fs::read_to_string(exported.out().with_file_name("graph.toml"));
    let mut table: Table = of.text().parse().expect("TOML");
    let topology: Table = graph.expect("written").parse().expect("TOML");
    table.insert("topology".into(), topology.into());
    table.remove("workload");
    let ways = minimal_ways(&*of.plan().network().topology);
    let graph = Experiment::of(table)
        .routing("table")
        .set("routing.ways", ways);

    let one_per_router: Vec<u32> = (0..1056).step_by(4).collect();
    let loads = [&dragonfly, &graph]
        .map(|network| loads(&all_to_all(network.clone(), one_per_router.clone())));
    assert_eq!(loads[0].len(), 264 * 11);
    assert_eq!(loads[0], loads[1]);

    let one_per_group: Vec<u32> = (0..1056).step_by(33).collect();
    let times = [dragonfly, graph].map(|network| {
        let traffic = network
            .uniform(0.002)
            .with("endpoints", one_per_group.clone())
            .set("output.packets", true);
        sorted(&traffic.until("40 us").run().data)
    });
    assert!(times[0].len() > 300);
    assert_eq!(times[0], times[1]);
}
