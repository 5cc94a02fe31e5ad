//! Trees of several planes: each is the tree of one plane, and no packet leaves its own.

use weir::config::Section;
use weir::model::{EndpointId, PortId};
use weir::topology::{Peer, Topology, xgft};

use super::support::LINKS;
use crate::support::Experiment;
use crate::variants::catalog::everywhere;

const SHAPE: &str = "down = [3, 2, 2]\nup = [2, 2]";

fn build(planes: u32) -> std::sync::Arc<dyn Topology> {
    let keys = format!("{SHAPE}\nplanes = {planes}\n{LINKS}");
    let section = Section::from_toml(&keys).expect("TOML");
    (xgft::ENTRY.build)(&section).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn each_plane_is_the_tree_alone() {
    let (all, one) = (build(3), build(1));
    assert_eq!((all.planes(), one.planes()), (3, 1));
    assert_eq!(all.endpoints(), 3 * one.endpoints());
    assert_eq!(all.routers(), 3 * one.routers());
    assert_eq!(all.groups(), 3 * one.groups());
    assert_eq!(all.all_ports(), 3 * one.all_ports());
    for plane in 0..3 {
        let first = plane * one.routers();
        let end = |endpoint: EndpointId| plane * one.endpoints() + endpoint;
        for router in 0..one.routers() {
            let there = first + router;
            assert_eq!(all.ports(there), one.ports(router));
            assert_eq!(all.router_kind(there), one.router_kind(router));
            assert_eq!(
                all.group_of(there),
                plane * one.groups() + one.group_of(router)
            );
            for port in 0..one.ports(router) {
                let peer = match one.peer(router, port) {
                    Peer::Router(other, port) => Peer::Router(first + other, port),
                    Peer::Endpoint(endpoint) => Peer::Endpoint(end(endpoint)),
                    Peer::Unused => Peer::Unused,
                };
                assert_eq!(all.peer(there, port), peer);
                assert_eq!(
                    all.link(there, port).latency,
                    one.link(router, port).latency
                );
            }
        }
        for a in 0..one.endpoints() {
            let (router, port): (_, PortId) = one.attachment(a);
            assert_eq!(all.attachment(end(a)), (first + router, port));
            assert_eq!(all.plane_of(end(a)), plane);
            for b in 0..one.endpoints() {
                assert_eq!(
                    all.minimal_routers(end(a), end(b)),
                    one.minimal_routers(a, b)
                );
            }
        }
    }
}

/// Twelve endpoints in each plane.
fn network(planes: i64, routing: &str) -> Experiment {
    let links = "terminal = { bandwidth = \"100 Gbps\", latency = \"5 ns\" }\n\
                 local = { bandwidth = \"100 Gbps\", latency = \"20 ns\" }\n\
                 global = { bandwidth = \"100 Gbps\", latency = \"50 ns\" }\n";
    let text = format!(
        "[topology]\nkind = \"xgft\"\n{SHAPE}\nplanes = {planes}\n{links}\
         [routing]\nalgorithm = \"{routing}\"\n"
    );
    let run = Experiment::of(text.parse().expect("TOML"));
    match planes {
        1 => run,
        _ => run.set("nodes.nics", planes).set("nodes.stride", 12),
    }
}

/// An exchange of all nodes with all.
fn exchange(planes: i64, routing: &str) -> Experiment {
    network(planes, routing)
        .job("alltoall", 12)
        .with("motif.iterations", 2)
        .with("motif.bytes", "6 kB")
        .with("mpi.preset", "nccl")
        .with("nics", planes)
        .with("placement", "nodes")
}

/// There and back over the top, each plane with its part of the message.
#[test]
fn a_message_on_all_planes_takes_the_time_of_its_parts() {
    let finish = |planes: i64, bytes: i64| {
        let ends = [0, 11].map(|node| (0..planes).map(move |plane| node + 12 * plane));
        let run = network(planes, "dmodk")
            .job("ping_pong", 2)
            .with(
                "endpoints",
                ends.into_iter().flatten().collect::<Vec<i64>>(),
            )
            .with("motif.bytes", format!("{bytes} B"))
            .with("mpi.preset", "nccl");
        let data = run.with("nics", planes).run().data;
        assert_eq!(data.summary.endpoints, 12 * planes as u64);
        data.jobs[0].tasks.task_finish_ps.clone()
    };
    let alone = finish(1, 6_000);
    assert_eq!(finish(2, 12_000), alone);
    assert_eq!(finish(4, 24_000), alone);
}

#[test]
fn the_bits_are_the_same_everywhere() {
    for routing in ["random_up", "adaptive_up"] {
        let data = everywhere(&exchange(3, routing));
        assert!(!data.jobs[0].is_cut_off());
    }
}

#[test]
fn traffic_from_plane_to_plane_is_refused() {
    let refused = |run: Experiment| run.try_plan().map(|_| ()).expect_err("refused").to_string();
    let pattern = network(2, "dmodk").traffic("uniform", 0.1);
    let message = refused(pattern.clone().until("1 us"));
    let says = "no link leads from endpoint 0 in plane 0 to endpoint 12 in plane 1";
    assert!(message.contains(says), "{message}");
    // Tasks with one NIC, node by node.
    let tasks = network(2, "dmodk")
        .job("alltoall", 4)
        .with("placement", "nodes");
    let message = refused(tasks.clone());
    assert!(message.contains(says), "{message}");
    assert!(tasks.with("nics", 2).try_plan().is_ok());
    let inside = pattern.with("endpoints", (12..24).collect::<Vec<i64>>());
    assert!(inside.until("1 us").try_plan().is_ok());
}

/// Tasks with one NIC each, in different planes.
#[test]
fn messages_inside_a_node_need_no_plane() {
    let job = |endpoints: [i64; 2]| {
        network(2, "dmodk")
            .set("nodes.inside.bandwidth", "1 Tbps")
            .set("nodes.inside.latency", "100 ns")
            .job("ping_pong", 2)
            .with("endpoints", endpoints.to_vec())
    };
    let data = job([3, 15]).run().data;
    assert_eq!(data.summary.packets_injected, 0);
    assert!(data.summary.inside_messages > Some(0));
    assert!(job([15, 16]).run().data.summary.packets_injected > 0);
    let error = job([3, 16]).try_run().map(|_| ());
    let error = error.expect_err("another plane").to_string();
    assert!(error.contains("from endpoint 3 to endpoint 16"), "{error}");
}

#[test]
fn too_many_planes_are_refused_by_name() {
    for planes in [0_i64, 100_000_000, 4_000_000_000] {
        let run = network(2, "dmodk").uniform(0.1).until("1 us");
        let error = run.set("topology.planes", planes).try_plan();
        let error = error.map(|_| ()).expect_err("refused").to_string();
        assert!(error.contains("topology.planes"), "{error}");
    }
}

#[test]
fn a_router_that_fails_cuts_off_its_endpoints_alone() {
    let run = exchange(2, "adaptive_up");
    let mut table: toml::Table = run.text().parse().expect("TOML");
    let failure: toml::Table = "routers = [0]\ndown = true".parse().expect("TOML");
    table.insert("failure".into(), vec![failure].into());
    let plan = Experiment::of(table).plan();
    let warnings: Vec<&str> = plan.warnings.iter().map(|one| &*one.text).collect();
    let cut = warnings
        .iter()
        .any(|text| text.contains("3 of 24 endpoints off from the others: 0, 1, 2"));
    assert!(cut, "{warnings:?}");
}
