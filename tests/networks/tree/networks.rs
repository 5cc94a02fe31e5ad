//! The networks against their formulae, and their arithmetic against the links alone.

use proptest::prelude::*;
use weir::model::{EndpointId, LinkKind, RouterId};
use weir::nodes::Nodes;
use weir::partition::Partition;
use weir::topology::analysis::distances;
use weir::topology::tree::{Step, Tree};
use weir::topology::{Links, Peer, search_links};

use super::support::{Kind, kinds, tree};

/// By their kind.
fn in_order(mut links: Vec<Links>) -> Vec<Links> {
    links.sort_by_key(|links| links.link.kind.index());
    links
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn numbers_and_degrees_follow_the_formulae(kind in kinds(1_300)) {
        let network = kind.build();
        prop_assert_eq!(network.endpoints(), kind.endpoints());
        prop_assert_eq!(network.routers(), kind.routers());
        prop_assert_eq!(network.groups(), kind.pods());
        prop_assert_eq!(network.domains(), kind.pods());
        prop_assert_eq!(network.diameter_routers(), 2 * kind.levels() - 1);
        let tops = kind.routers() - kind.top_routers();
        let mut ends = [0u32; 3];
        for router in 0..network.routers() {
            let ports = if router < tops { 2 * kind.k() } else { kind.top_ports() };
            prop_assert_eq!(u32::from(network.ports(router)), ports);
            for port in 0..network.ports(router) {
                prop_assert_ne!(network.peer(router, port), Peer::Unused);
                ends[network.link(router, port).kind.index()] += 1;
            }
            prop_assert_eq!(network.peer(router, network.ports(router)), Peer::Unused);
        }
        prop_assert_eq!(network.links(), in_order(search_links(&*network)));
        let ports = (0..network.routers()).map(|router| u64::from(network.ports(router)));
        prop_assert_eq!(network.all_ports(), ports.sum::<u64>());
        // Between any two levels there are as many links as endpoints, each with two ends.
        let levels = kind.levels();
        let all = kind.endpoints();
        prop_assert_eq!(ends[LinkKind::TERMINAL.index()], all);
        prop_assert_eq!(ends[Tree::GLOBAL.index()], if levels > 1 { 2 * all } else { 0 });
        prop_assert_eq!(ends[Tree::LOCAL.index()], 2 * all * levels.saturating_sub(2));
    }

    #[test]
    fn routers_are_leaf_inner_or_top_and_each_stands_somewhere(kind in kinds(1_300)) {
        let network = kind.build();
        let mut places = std::collections::BTreeSet::new();
        for router in 0..network.routers() {
            let level = tree(&network).level_of(router);
            let expected = match level {
                1 => "leaf",
                _ if level == kind.levels() => "top",
                _ => "inner",
            };
            let own = network.router_kind(router).index();
            prop_assert_eq!(&network.router_kinds()[own], expected);
            let place = network.coordinates(router);
            prop_assert_eq!((place.len(), place[0]), (network.axes().len(), level));
            prop_assert!(places.insert(place));
        }
    }

    #[test]
    fn links_look_alike_from_both_ends(kind in kinds(1_300)) {
        let network = kind.build();
        for endpoint in 0..network.endpoints() {
            let (router, port) = network.attachment(endpoint);
            prop_assert_eq!(network.peer(router, port), Peer::Endpoint(endpoint));
            prop_assert_eq!(network.link(router, port).kind, LinkKind::TERMINAL);
        }
        let tops = kind.routers() - kind.top_routers();
        let mut attached = 0;
        for router in 0..network.routers() {
            for port in 0..network.ports(router) {
                let link = network.link(router, port);
                // The latencies of LINKS tell whose parameters a link has.
                prop_assert_eq!(link.latency, 1_000 * (u64::from(link.kind.0) + 1));
                match network.peer(router, port) {
                    Peer::Router(next, back) => {
                        prop_assert_eq!(network.peer(next, back), Peer::Router(router, port));
                        prop_assert_eq!(network.link(next, back), link);
                        let to_top = router.max(next) >= tops;
                        let expected = if to_top { Tree::GLOBAL } else { Tree::LOCAL };
                        prop_assert_eq!(link.kind, expected);
                    }
                    Peer::Endpoint(endpoint) => {
                        attached += 1;
                        prop_assert_eq!(network.attachment(endpoint), (router, port));
                    }
                    Peer::Unused => prop_assert!(false, "port {} of router {}", port, router),
                }
            }
        }
        prop_assert_eq!(attached, network.endpoints());
    }

    #[test]
    fn distances_are_those_of_a_search(kind in kinds(160)) {
        let network = kind.build();
        let mut diameter = 0;
        for a in 0..network.endpoints() {
            let from_a = distances(&*network, network.attachment(a).0);
            for b in 0..network.endpoints() {
                let found = from_a[network.attachment(b).0 as usize];
                prop_assert_eq!(found, Some(network.minimal_routers(a, b)), "{} to {}", a, b);
                diameter = diameter.max(found.unwrap_or(0));
            }
            prop_assert!(from_a.iter().all(Option::is_some), "every router is linked");
        }
        prop_assert_eq!(diameter, network.diameter_routers());
    }

    #[test]
    fn domains_own_every_router_once(kind in kinds(1_300)) {
        let network = kind.build();
        let tops = kind.routers() - kind.top_routers();
        let partition = Partition::new(&*network, Nodes::SINGLE);
        let mut seen = vec![false; network.routers() as usize];
        let mut dealt = Vec::new();
        for domain in 0..network.domains() {
            let routers = partition.routers(domain);
            prop_assert!(routers.is_sorted_by(|a, b| a < b));
            for (index, &router) in routers.iter().enumerate() {
                prop_assert_eq!(network.domain_of(router), domain);
                prop_assert_eq!(network.group_of(router), domain);
                prop_assert_eq!(partition.local_index(router), index as u32);
                prop_assert!(!std::mem::replace(&mut seen[router as usize], true));
            }
            dealt.push(routers.iter().filter(|&&router| router >= tops).count());
        }
        prop_assert!(seen.iter().all(|&owned| owned));
        // Round-robin: the first domains have one top router more, if any has.
        prop_assert!(dealt.is_sorted_by(|a, b| a >= b));
        prop_assert!(dealt[0] - dealt[dealt.len() - 1] <= 1);
        // A pod's endpoints follow each other, and no link inside a pod leaves its domain.
        for endpoint in 0..network.endpoints() {
            let (router, _) = network.attachment(endpoint);
            prop_assert_eq!(network.domain_of(router), endpoint / (kind.endpoints() / kind.pods()));
        }
        for router in 0..network.routers() {
            for port in 0..network.ports(router) {
                if let Peer::Router(next, _) = network.peer(router, port)
                    && network.link(router, port).kind == Tree::LOCAL
                {
                    prop_assert_eq!(network.domain_of(router), network.domain_of(next));
                }
            }
        }
    }

    /// Levels, ancestors and paths down against the links alone.
    #[test]
    fn ancestors_are_the_routers_with_a_way_down(kind in kinds(200)) {
        let network = kind.build();
        let tree = tree(&network);
        // Routers with endpoints are leaves; each other router is one level above the routers below
        // it. So the endpoints below every router and port are found from level to level, upwards.
        let mut below: Vec<Vec<Vec<EndpointId>>> = vec![Vec::new(); network.routers() as usize];
        let mut routers: Vec<RouterId> = (0..network.routers()).collect();
        routers.sort_by_key(|&router| tree.level_of(router));
        for router in routers {
            let up = tree.up_ports(router);
            prop_assert_eq!(up.end, network.ports(router));
            prop_assert_eq!(up.is_empty(), tree.level_of(router) == tree.levels());
            for port in 0..up.start {
                let mut reach = match network.peer(router, port) {
                    Peer::Endpoint(endpoint) => {
                        prop_assert_eq!(tree.level_of(router), 1);
                        vec![endpoint]
                    }
                    Peer::Router(child, _) => {
                        prop_assert_eq!(tree.level_of(child) + 1, tree.level_of(router));
                        below[child as usize].concat()
                    }
                    Peer::Unused => Vec::new(),
                };
                reach.sort_unstable();
                below[router as usize].push(reach);
            }
            for endpoint in 0..network.endpoints() {
                let ports = below[router as usize].iter();
                let way: Vec<usize> = ports
                    .enumerate()
                    .filter(|(_, reach)| reach.binary_search(&endpoint).is_ok())
                    .map(|(port, _)| port)
                    .collect();
                prop_assert!(way.len() <= 1, "one way down at most");
                prop_assert_eq!(tree.is_ancestor(router, endpoint), way.len() == 1);
                prop_assert!(tree.down_port(router, endpoint) < up.start);
                match (tree.step(router, endpoint), way.first()) {
                    (Step::Down(port), Some(&way)) => {
                        prop_assert_eq!(usize::from(port), way);
                        prop_assert_eq!(tree.down_port(router, endpoint), port);
                    }
                    (Step::Up { ports, fixed }, None) => {
                        prop_assert!(ports.contains(&fixed));
                        prop_assert_eq!(ports, up.clone());
                    }
                    (step, way) => prop_assert!(false, "{:?} with way {:?}", step, way),
                }
            }
        }
    }
}

#[test]
fn the_largest_trees_are_built_from_a_few_numbers() {
    // A million endpoints and more: nothing may take time or memory for each of them.
    let network = Kind::Kary { k: 32, n: 4 }.build();
    assert_eq!(network.endpoints(), 1 << 20);
    let network = Kind::Kary { k: 2, n: 20 }.build();
    assert_eq!(network.endpoints(), 1 << 20);
    assert_eq!(network.routers(), 20 << 19);
    let (last, port) = network.attachment(network.endpoints() - 1);
    assert_eq!(
        network.peer(last, port),
        Peer::Endpoint(network.endpoints() - 1)
    );
    assert_eq!(network.minimal_routers(0, network.endpoints() - 1), 39);
    let Peer::Router(up, back) = network.peer(last, 3) else {
        panic!("a leaf router has ports up");
    };
    assert_eq!(network.peer(up, back), Peer::Router(last, 3));
}
