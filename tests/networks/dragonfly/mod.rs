//! The dragonfly as a graph: properties of every size and arrangement, and the published networks.

mod choices;
mod routing;

use std::collections::{HashMap, VecDeque};

use crate::support::{dragonfly, params, ready};
use proptest::prelude::*;
use weir::model::{Invalid, LinkKind, RouterId};
use weir::topology::dragonfly::{Arrangement, Dragonfly, Params};
use weir::topology::{Links, Peer, Topology, search_links};

/// Any small dragonfly that is allowed.
fn any() -> impl Strategy<Value = Params> {
    let sizes = (1u32..=3, 1u32..=6, 1u32..=4);
    let arrangement = prop_oneof![
        Just(Arrangement::Absolute),
        Just(Arrangement::Relative),
        Just(Arrangement::Palmtree)
    ];
    (sizes, arrangement, any_u32(), any_u32()).prop_map(|((p, a, h), arrangement, g, links)| {
        let groups = 2 + g % (a * h).min(14);
        let most = a * h / (groups - 1);
        Params {
            arrangement,
            // All that there is room for, or any lower number.
            links_between_groups: (links % 3 > 0).then_some(1 + links % most),
            ..params(p, a, h, groups)
        }
    })
}

fn any_u32() -> impl Strategy<Value = u32> {
    0u32..1_000_000
}

fn build(params: &Params) -> Dragonfly {
    Dragonfly::new(params).expect("allowed")
}

/// Routers on a shortest route from `start` to every router, over at most `globals` global links (3
/// are never exceeded by a shortest route, which has at most four routers).
fn search(topology: &dyn Topology, start: RouterId, globals: u32) -> Vec<u32> {
    let mut visited = HashMap::from([((start, 0), 1u32)]);
    let mut queue = VecDeque::from([(start, 0)]);
    let mut best = vec![u32::MAX; topology.routers() as usize];
    while let Some((router, used)) = queue.pop_front() {
        let routers = visited[&(router, used)];
        best[router as usize] = best[router as usize].min(routers);
        for port in 0..topology.ports(router) {
            let Peer::Router(next, _) = topology.peer(router, port) else {
                continue;
            };
            let global = topology.link(router, port).kind == Dragonfly::GLOBAL;
            let state = (next, used + u32::from(global));
            if state.1 <= globals && !visited.contains_key(&state) {
                visited.insert(state, routers + 1);
                queue.push_back(state);
            }
        }
    }
    best
}

/// A number of things spread evenly over `of` places: each has the whole part or one more.
fn is_even_share(share: u32, total: u32, of: u32) -> bool {
    share == total / of || share == total.div_ceil(of)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn links_are_as_many_as_a_search_finds(params in any()) {
        let network = build(&params);
        let mut found = search_links(&network);
        found.sort_by_key(|links: &Links| links.link.kind.index());
        prop_assert_eq!(network.links(), found);
        let ports = (0..network.routers()).map(|router| u64::from(network.ports(router)));
        prop_assert_eq!(network.all_ports(), ports.sum::<u64>());
    }

    #[test]
    fn peers_are_symmetric_and_both_ends_describe_one_link(params in any()) {
        let network = build(&params);
        for router in 0..network.routers() {
            prop_assert_eq!(
                u32::from(network.ports(router)),
                params.endpoints_per_router + params.routers_per_group - 1 + params.global_links_per_router
            );
            for port in 0..network.ports(router) {
                let link = network.link(router, port);
                match network.peer(router, port) {
                    Peer::Router(other, there) => {
                        prop_assert_eq!(network.peer(other, there), Peer::Router(router, port));
                        prop_assert_eq!(network.link(other, there), link);
                        let crosses = network.group_of(other) != network.group_of(router);
                        prop_assert_eq!(link.kind == Dragonfly::GLOBAL, crosses);
                        prop_assert_eq!(network.is_global(port), crosses);
                        prop_assert_eq!(network.is_local(port), !crosses);
                    }
                    Peer::Endpoint(endpoint) => {
                        prop_assert_eq!(network.attachment(endpoint), (router, port));
                        prop_assert_eq!(network.router_of(endpoint), router);
                        prop_assert_eq!(link.kind, LinkKind::TERMINAL);
                    }
                    Peer::Unused => prop_assert!(network.is_global(port)),
                }
            }
        }
    }

    #[test]
    fn every_router_has_its_terminals_its_group_and_its_share_of_global_links(params in any()) {
        let network = build(&params);
        let (a, g, links) = (params.routers_per_group, params.groups, network.links_between_groups());
        if params.links_between_groups.is_none() {
            prop_assert_eq!(links, a * params.global_links_per_router / (g - 1));
        }
        let mut endpoints = vec![0; network.endpoints() as usize];
        for router in 0..network.routers() {
            let (mut local, mut global) = (vec![], 0);
            for port in 0..network.ports(router) {
                match (network.peer(router, port), network.link(router, port).kind) {
                    (Peer::Endpoint(endpoint), _) => endpoints[endpoint as usize] += 1,
                    (Peer::Router(other, _), Dragonfly::LOCAL) => local.push(other),
                    (Peer::Router(..), _) => global += 1,
                    (Peer::Unused, _) => {}
                }
            }
            let first = network.group_of(router) * a;
            let others: Vec<_> = (first..first + a).filter(|&other| other != router).collect();
            prop_assert_eq!(local, others);
            prop_assert!(is_even_share(global, links * (g - 1), a), "{} global links", global);
        }
        prop_assert!(endpoints.iter().all(|&times| times == 1));
        prop_assert_eq!(network.endpoints(), params.endpoints_per_router * a * g);
    }

    #[test]
    fn all_pairs_of_groups_have_the_same_number_of_links_evenly_over_the_routers(params in any()) {
        let network = build(&params);
        let links = network.links_between_groups();
        let mut between: HashMap<(RouterId, u32), u32> = HashMap::new();
        for router in 0..network.routers() {
            for port in 0..network.ports(router) {
                if let (Peer::Router(other, _), true) = (network.peer(router, port), network.is_global(port)) {
                    *between.entry((router, network.group_of(other))).or_default() += 1;
                }
            }
        }
        for from in 0..network.groups() {
            for to in (0..network.groups()).filter(|&to| to != from) {
                let shares: Vec<u32> = (0..params.routers_per_group)
                    .map(|index| network.router(from, index))
                    .map(|router| between.get(&(router, to)).copied().unwrap_or(0))
                    .collect();
                prop_assert_eq!(shares.iter().sum::<u32>(), links);
                prop_assert!(shares.iter().all(|&s| is_even_share(s, links, params.routers_per_group)));
            }
        }
    }

    #[test]
    fn numbered_links_are_where_the_helpers_say(params in any()) {
        let network = build(&params);
        for from in 0..network.groups() {
            for to in (0..network.groups()).filter(|&to| to != from) {
                for link in 0..network.links_between_groups() {
                    let end = |from, to| {
                        let (index, port) = network.global_link(from, to, link);
                        (network.router(from, index), port)
                    };
                    let ((router, port), (other, there)) = (end(from, to), end(to, from));
                    prop_assert_eq!(network.group_of(router), from);
                    prop_assert_eq!(network.peer(router, port), Peer::Router(other, there));
                    for at in (0..params.routers_per_group).map(|index| network.router(from, index)) {
                        prop_assert_eq!(network.links_at(at, to).contains(&link), at == router);
                    }
                }
            }
        }
        for from in 0..params.routers_per_group {
            for to in (0..params.routers_per_group).filter(|&to| to != from) {
                let (i, j) = (network.place(from).1, network.place(to).1);
                let (port, back) = (network.local_port(i, j), network.local_port(j, i));
                prop_assert_eq!(network.peer(from, port), Peer::Router(to, back));
            }
        }
    }

    #[test]
    fn a_domain_is_a_group(params in any()) {
        let network = build(&params);
        prop_assert_eq!(network.domains(), params.groups);
        prop_assert_eq!(network.groups(), params.groups);
        for router in 0..network.routers() {
            let (group, index) = network.place(router);
            prop_assert_eq!(network.domain_of(router), group);
            prop_assert_eq!(network.group_of(router), group);
            prop_assert_eq!(network.router(group, index), router);
        }
    }

    #[test]
    fn distances_and_diameter_are_those_of_a_search(params in any()) {
        let network = build(&params);
        let p = params.endpoints_per_router;
        let mut farthest = 0;
        for start in 0..network.routers() {
            let (minimal, any) = (search(&network, start, 1), search(&network, start, 3));
            for (end, (&minimal, &any)) in minimal.iter().zip(&any).enumerate() {
                let ends = (start * p + p - 1, end as u32 * p);
                prop_assert_eq!(network.minimal_routers(ends.0, ends.1), minimal, "{:?}", ends);
                // Only two global links in a row are ever shorter.
                prop_assert!(any == minimal || (any, minimal) == (3, 4));
                farthest = farthest.max(minimal);
            }
        }
        prop_assert_eq!(network.diameter_routers(), farthest);
    }
}

/// Destination of the global port `number` of router `index` of group `group`: group, router in it,
/// global port there.
fn global_peer(network: &Dragonfly, params: &Params, place: [u32; 3]) -> Option<[u32; 3]> {
    let [group, index, number] = place;
    let first = params.endpoints_per_router + params.routers_per_group - 1;
    match network.peer(network.router(group, index), (first + number) as u16) {
        Peer::Router(router, port) => Some([
            network.group_of(router),
            network.place(router).1,
            u32::from(port) - first,
        ]),
        _ => None,
    }
}

#[test]
fn the_absolute_arrangement_is_wired_as_in_booksim() {
    for (p, a, h) in [(4, 8, 4), (2, 4, 2), (1, 2, 1), (3, 5, 2)] {
        let params = params(p, a, h, a * h + 1);
        let network = build(&params);
        for group in 0..params.groups {
            for q in 0..a * h {
                // Port q of a group leads to group q, or q + 1 from the group's own number on.
                let to = if q < group { q } else { q + 1 };
                let back = if group < to { group } else { group - 1 };
                let peer = global_peer(&network, &params, [group, q / h, q % h]);
                assert_eq!(
                    peer,
                    Some([to, back / h, back % h]),
                    "group {group} port {q}"
                );
            }
        }
    }
}

#[test]
fn relative_goes_up_and_palmtree_down() {
    let wired = |arrangement, place| {
        let params = Params {
            arrangement,
            ..params(1, 4, 2, 9)
        };
        global_peer(&build(&params), &params, place)
    };
    // The first global port of router 1 is slot 2: three groups on, or three groups back.
    assert_eq!(
        wired(Arrangement::Relative, [7, 1, 0]),
        Some([1, 2, 1]) // back six groups: slot 5
    );
    assert_eq!(wired(Arrangement::Palmtree, [1, 1, 0]), Some([7, 2, 1]));
}

#[test]
fn left_over_ports_are_unused() {
    // 6 global ports for 4 other groups: one link each, and 2 ports of the 6 are free, one of two
    // routers.
    let params = params(1, 3, 2, 5);
    let network = build(&params);
    let free =
        |index| (0..2).filter(move |&n| global_peer(&network, &params, [0, index, n]).is_none());
    let free: Vec<usize> = [0, 1, 2].map(|index| free.clone()(index).count()).into();
    assert_eq!(free.iter().sum::<usize>(), 2);
    assert_eq!(free.iter().max(), Some(&1));
    insta::assert_snapshot!(dragonfly(1, 3, 2, 5).describe(), @"dragonfly: 5 groups of 3 routers \
        with 1 endpoint each (15 endpoints, 15 routers), 1 link between each pair of groups \
        (absolute arrangement), 10 of 30 global ports unused");
}

/// Endpoints, routers, ports of a router, groups, links between two groups, diameter in routers.
fn figures(network: &dyn Topology) -> [u32; 6] {
    let dragonfly: &Dragonfly = network.as_a::<Dragonfly>().expect("a dragonfly");
    [
        network.endpoints(),
        network.routers(),
        network.ports(0).into(),
        network.groups(),
        dragonfly.links_between_groups(),
        network.diameter_routers(),
    ]
}

#[test]
fn the_ready_networks_have_the_published_sizes() {
    assert_eq!(figures(&*ready("dragonfly-72")), [72, 36, 7, 9, 1, 4]);
    assert_eq!(
        figures(&*ready("dragonfly-1056")),
        [1056, 264, 15, 33, 1, 4]
    );
    assert_eq!(
        figures(&*ready("dragonfly-3078")),
        [3078, 342, 35, 19, 9, 4]
    );
    // 62 of 64 ports.
    assert_eq!(
        figures(&*ready("dragonfly-8192")),
        [8192, 512, 62, 16, 32, 3]
    );
}

/// Bandwidth out of a group divided by the load of its endpoints to the other groups when they send
/// evenly.
#[test]
fn the_networks_of_today_have_the_taper_that_they_name() {
    for (name, sizes, taper) in [
        ("dragonfly-200g-1024", [1024, 64, 43, 4, 64, 3], 1.0),
        ("dragonfly-200g-1024-taper", [1024, 64, 37, 4, 32, 3], 2.0),
        ("dragonfly-400g-2016", [2016, 96, 46, 8, 24, 3], 1.3125),
        ("dragonfly-400g-2048", [2048, 128, 45, 8, 32, 3], 1.0),
        ("dragonfly-400g-2048-taper", [2048, 128, 38, 8, 16, 3], 2.0),
    ] {
        let network = ready(name);
        assert_eq!(figures(&*network), sizes, "{name}");
        let [endpoints, _, ports, groups, links, _] = sizes.map(f64::from);
        assert!(ports <= 64.0);
        let sent = endpoints / groups * (groups - 1.0) / groups;
        assert_eq!(sent / (links * (groups - 1.0)), taper, "{name}");
        let wanted = if name.contains("200g") { 200 } else { 400 };
        assert_eq!(network.link(0, 0).bandwidth.0, wanted * 1_000_000_000);
    }
}

#[test]
fn the_ready_networks_use_every_port_and_have_their_latencies() {
    let latencies = [
        ("dragonfly-72", [5, 50, 1_000]),
        ("dragonfly-1056", [5, 50, 1_000]),
        ("dragonfly-3078", [10, 30, 100]),
        ("dragonfly-8192", [10, 30, 100]),
    ];
    for (name, nanoseconds) in latencies {
        let network = ready(name);
        for router in 0..network.routers() {
            for port in 0..network.ports(router) {
                assert_ne!(network.peer(router, port), Peer::Unused, "{name}");
                let link = network.link(router, port);
                let expected = nanoseconds[link.kind.index()] * 1_000;
                assert_eq!(link.latency, expected, "{name} {:?}", link.kind);
            }
        }
    }
    let bandwidth = |name| ready(name).link(0, 0).bandwidth.0;
    assert_eq!(bandwidth("dragonfly-1056"), 100_000_000_000);
    assert_eq!(bandwidth("dragonfly-8192"), 200_000_000_000);
}

#[test]
fn what_cannot_be_built_is_refused_with_the_key_and_a_remedy() {
    let good = params(2, 4, 2, 9);
    let change = |change: fn(&mut Params)| {
        let mut params = good.clone();
        change(&mut params);
        Dragonfly::new(&params).expect_err("not allowed")
    };
    let cases: [(Invalid, &str, &str); 13] = [
        (
            change(|p| p.endpoints_per_router = 0),
            "endpoints_per_router",
            "1 or more",
        ),
        (
            change(|p| p.routers_per_group = 0),
            "routers_per_group",
            "1 or more",
        ),
        (
            change(|p| p.global_links_per_router = 0),
            "global_links_per_router",
            "1 or more",
        ),
        (change(|p| p.groups = 1), "groups", "from 2 to 9"),
        (change(|p| p.groups = 10), "groups", "at most 9"),
        (
            change(|p| p.links_between_groups = Some(2)),
            "links_between_groups",
            "from 1 to 1",
        ),
        (
            change(|p| p.links_between_groups = Some(0)),
            "links_between_groups",
            "from 1 to 1",
        ),
        (
            change(|p| p.routers_per_group = 65_534),
            "",
            "at most 65535 ports",
        ),
        (
            change(|p| {
                (p.endpoints_per_router, p.routers_per_group) = (1_000, 30_000);
                p.groups = 60_001;
            }),
            "",
            "at most 16777216 can be simulated",
        ),
        (
            change(|p| (p.routers_per_group, p.groups) = (10_000, 2)),
            "",
            "at most 33554432 can be simulated",
        ),
        (
            change(|p| {
                (p.routers_per_group, p.global_links_per_router) = (500, 60_000);
                p.groups = 2;
            }),
            "",
            "at most 4194304",
        ),
        (change(|p| p.global.latency.0 = 0), "global.latency", "1 ps"),
        (
            change(|p| p.local.bandwidth.0.0 = 0),
            "local.bandwidth",
            "more than 0",
        ),
    ];
    for (invalid, key, remedy) in cases {
        assert_eq!(invalid.key, key, "{invalid:?}");
        assert!(invalid.remedy.contains(remedy), "{invalid:?}");
    }
    assert!(Dragonfly::new(&good).is_ok());
}

#[test]
fn uniform_traffic_visits_as_many_routers_as_in_booksim() {
    // Exactly: 4 destinations at the same router, 28 in the group, 1,024 outside over 2 + 7/8 + 7/8
    // routers.
    let network = ready("dragonfly-1056");
    let n = network.endpoints();
    let visited: u64 = (0..n)
        .flat_map(|a| (0..n).map(move |b| (a, b)))
        .map(|(a, b)| u64::from(network.minimal_routers(a, b)))
        .sum();
    let mean = visited as f64 / f64::from(n) / f64::from(n);
    assert!((mean - (4.0 + 2.0 * 28.0 + 3.75 * 1024.0) / 1056.0).abs() < 1e-12);
    // BookSim2 (min_dragonflynew, uniform, packets of 4 flits, load 0.2): 3.691 over 87,000
    // packets.
    assert!((mean - 3.691).abs() < 0.005, "{mean}");
}
