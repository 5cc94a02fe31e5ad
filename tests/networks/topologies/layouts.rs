//! Slim Flies, Megaflies and dragonflies as built: counts of an independent program, and of
//! machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir::topology::graph::Graph;
use weir::topology::{Peer, Topology};

use crate::support::{ready, topology};

const LINK: &str = "{ bandwidth = \"100 Gbps\", latency = \"20 ns\" }";

fn network(kind: &str, keys: &str) -> Result<Arc<dyn Topology>, String> {
    let mut text = format!("kind = \"{kind}\"\n{keys}\nterminal = {LINK}\n");
    let kinds: &[&str] = if kind == "slimfly" {
        &["link"]
    } else {
        &["local", "global"]
    };
    for kind in kinds {
        text.push_str(&format!("{kind} = {LINK}\n"));
    }
    topology(&text).map_err(|error| error.to_string())
}

/// Links between routers, with their kinds: by the number of the kind.
fn links(network: &dyn Topology) -> BTreeMap<usize, u64> {
    let links = network.links().into_iter();
    links
        .map(|links| (links.link.kind.index(), links.count))
        .collect()
}

/// Ordered pairs of some routers by their distance.
fn distances(network: &dyn Topology, among: &[u32]) -> String {
    let graph = network.as_a::<Graph>().expect("a graph");
    let mut pairs: BTreeMap<u8, u32> = BTreeMap::new();
    for &to in among {
        let row = graph.distances(to);
        for &from in among.iter().filter(|&&from| from != to) {
            *pairs.entry(row[from as usize]).or_default() += 1;
        }
    }
    let words: Vec<String> = pairs
        .iter()
        .map(|(far, count)| format!("{far}:{count}"))
        .collect();
    words.join(" ")
}

/// q; routers, links, pairs by distance: counted by an independent program.
#[test]
fn slim_flies_have_diameter_two() {
    for (q, routers, count, pairs) in [
        (3, 18, 45, "1:90 2:216"),
        (5, 50, 175, "1:350 2:2100"),
        (13, 338, 3_211, "1:6422 2:107484"),
    ] {
        let network = network("slimfly", &format!("q = {q}")).expect("a network");
        let degree = 2 * count / u64::from(routers);
        let endpoints = u64::from(routers) * degree.div_ceil(2);
        assert_eq!(
            (network.routers(), u64::from(network.endpoints())),
            (routers, endpoints)
        );
        assert_eq!(
            links(&*network),
            BTreeMap::from([(0, endpoints), (1, count)])
        );
        let all: Vec<u32> = (0..routers).collect();
        assert_eq!(distances(&*network, &all), pairs, "q = {q}");
    }
    for q in [7, 11, 17, 19] {
        let network = network("slimfly", &format!("q = {q}\nendpoints_per_router = 1"));
        assert_eq!(network.expect("a network").diameter_routers(), 3, "q = {q}");
    }
    for q in [0, 1, 2, 4, 9, 91, 97] {
        let error = network("slimfly", &format!("q = {q}"))
            .err()
            .expect("refused");
        assert!(error.contains("is not a prime from 3 to 89"), "{error}");
    }
}

/// Leaves and spines, global links of a spine; links, and pairs of leaves by distance: counted by
/// an independent program.
#[test]
fn megaflies_have_three_links_between_leaves_of_two_groups() {
    for (own, h, groups, count, pairs) in [
        (2, 1, 3, 15, "2:6 3:24"),
        (2, 2, 5, 30, "2:10 3:80"),
        (4, 4, 17, 408, "2:204 3:4352"),
    ] {
        let keys = format!(
            "leaves = {own}\nspines = {own}\nendpoints_per_leaf = 2\nglobal_links_per_spine = {h}"
        );
        let network = network("megafly", &keys).expect("a network");
        assert_eq!(
            (network.groups(), network.routers()),
            (groups, 2 * own * groups)
        );
        let found = links(&*network);
        assert_eq!(found[&1] + found[&2], count);
        let size = 2 * own;
        let leaves: Vec<u32> = (0..network.routers())
            .filter(|router| router % size < own)
            .collect();
        assert_eq!(distances(&*network, &leaves), pairs);
    }
}

/// Leonardo's GPU cells: 18 leaves and 18 spines, 22 links of each spine to other cells, so 396 of
/// a cell are 18 for each of 22 others.
#[test]
fn fewer_groups_share_more_links() {
    let keys = "leaves = 18\nspines = 18\nendpoints_per_leaf = 10\nglobal_links_per_spine = 22";
    let network = network("megafly", &format!("{keys}\ngroups = 23")).expect("a network");
    assert_eq!((network.endpoints(), network.groups()), (23 * 180, 23));
    assert_eq!(links(&*network)[&2], 23 * 22 / 2 * 18);
    let mut between: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut of_spine = BTreeMap::new();
    for router in 0..network.routers() {
        for port in 0..network.ports(router) {
            if let Peer::Router(other, _) = network.peer(router, port)
                && network.group_of(other) != network.group_of(router)
            {
                let pair = (network.group_of(router), network.group_of(other));
                *between.entry(pair).or_default() += 1;
                *of_spine.entry(router).or_insert(0) += 1;
            }
        }
    }
    assert!(between.len() == 23 * 22 && between.values().all(|&links| links == 18));
    assert!(of_spine.len() == 23 * 18 && of_spine.values().all(|&links| links == 22));
}

/// Links between two groups, if there are several, are at different routers: a link of each spine
/// of Leonardo leads to each other cell.
#[test]
fn links_of_two_groups_are_at_as_many_routers_as_they_can_be() {
    let [megafly, cascade] = [
        (
            "megafly",
            "leaves = 4\nspines = 4\nendpoints_per_leaf = 4\nglobal_links_per_spine = 4\n\
             groups = 5",
        ),
        (
            "cascade",
            "groups = [{ count = 5, rows = 1, columns = 6, endpoints_per_router = 1 }]\n\
             global_links = 6",
        ),
    ]
    .map(|(kind, keys)| network(kind, keys).expect("a network"));
    for (network, size, links) in [
        (megafly, 8, 4),
        (cascade, 6, 6),
        (ready("leonardo"), 36, 18),
    ] {
        let mut ends: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for router in 0..network.routers() {
            for port in 0..network.ports(router) {
                let Peer::Router(other, _) = network.peer(router, port) else {
                    continue;
                };
                let groups = [router, other].map(|router| router / size);
                if groups[0] != groups[1] {
                    ends.entry(groups).or_default().push(router);
                }
            }
        }
        for (groups, mut routers) in ends {
            assert_eq!(routers.len(), links, "{groups:?}");
            routers.dedup();
            assert_eq!(routers.len(), links, "{groups:?}: {routers:?}");
        }
    }
}

#[test]
fn groups_without_endpoints_are_refused() {
    let groups = "groups = [{ count = 2, rows = 2, columns = 2, endpoints_per_router = 0 }]";
    let error = network("cascade", groups).err().expect("refused");
    assert!(error.contains("there are no endpoints"), "{error}");
}

/// Theta, a Cray XC (the configuration of CODES): 9 groups of 6 rows of 16 routers, 3 links for two
/// routers of a column, 48 between two groups, 4 endpoints at each router.
#[test]
fn groups_of_rows_and_columns_are_those_of_theta() {
    let keys = "groups = [{ count = 9, rows = 6, columns = 16, endpoints_per_router = 4 }]\n\
                column_links = 3\nglobal_links = 48";
    let network = network("cascade", keys).expect("a network");
    assert_eq!((network.routers(), network.endpoints()), (864, 3_456));
    let local = 9 * (6 * 120 + 16 * 15 * 3);
    assert_eq!(
        links(&*network),
        BTreeMap::from([(0, 3_456), (1, local), (2, 36 * 48)])
    );
    // The global links are spread over the routers: 384 over 96.
    assert!((0..864).all(|router| {
        let ports = 0..network.ports(router);
        let global = ports.filter(|&port| network.link(router, port).kind.index() == 2);
        global.count() == 4
    }));
    assert!(network.diameter_routers() <= 6);
}

/// Endpoints, routers, groups, and links in and between groups.
#[test]
fn ready_machines_have_the_published_sizes() {
    for (name, endpoints, routers, groups, found) in [
        ("aurora", 84_992, 5_312, 166, [166 * 496, 27_390]),
        ("frontier", 37_888, 2_368, 74, [74 * 496, 10_804]),
        ("leonardo", 16_560, 828, 23, [23 * 324, 23 * 22 / 2 * 18]),
    ] {
        let network = ready(name);
        assert_eq!(
            (network.endpoints(), network.routers()),
            (endpoints, routers),
            "{name}"
        );
        assert_eq!(network.groups(), groups, "{name}");
        let links = links(&*network);
        assert_eq!([links[&1], links[&2]], found, "{name}");
    }
}

/// A router has ten ports to others: two in each of four dimensions, and one in each of two.
#[test]
fn fugaku_has_ten_links_at_each_router() {
    let network = ready("fugaku");
    assert_eq!((network.endpoints(), network.routers()), (158_976, 158_976));
    let by_kind: Vec<u64> = links(&*network).into_values().collect();
    let all = 158_976;
    assert_eq!(by_kind, [all, all, all, all, all / 2, all, all / 2]);
    for router in [0, 1, 79_487, all as u32 - 1] {
        let ports = 0..network.ports(router);
        let used = ports.filter(|&port| network.peer(router, port) != Peer::Unused);
        assert_eq!(used.count(), 1 + 10);
    }
    // Half of the ring in x, y, z and v, one link in w and u.
    assert_eq!(network.diameter_routers(), 1 + 12 + 11 + 12 + 1 + 1 + 1);
}

#[test]
fn groups_may_differ() {
    // Compute groups of 32 routers that are all joined, and a storage group of 8.
    let keys = "groups = [{ count = 3, rows = 1, columns = 32, endpoints_per_router = 16 },\n\
                { count = 1, rows = 1, columns = 8, endpoints_per_router = 4 }]\nglobal_links = 2";
    let network = network("cascade", keys).expect("a network");
    assert_eq!((network.groups(), network.routers()), (4, 104));
    assert_eq!(network.endpoints(), 3 * 32 * 16 + 8 * 4);
    let local = 3 * 32 * 31 / 2 + 8 * 7 / 2;
    assert_eq!(links(&*network)[&1], local);
    assert_eq!((links(&*network)[&2], network.domains()), (6 * 2, 4));
    for (kind, keys, words) in [
        (
            "cascade",
            "groups = [{ count = 1, rows = 1, columns = 16384, endpoints_per_router = 1 }]",
            "ports of routers in a domain",
        ),
        (
            "cascade",
            "groups = [{ count = 1, rows = 1, columns = 2, endpoints_per_router = 4294967295 }]",
            "would have 8589934590 endpoints",
        ),
        (
            "megafly",
            "leaves = 4096\nspines = 4096\nendpoints_per_leaf = 4096\nglobal_links_per_spine = 1\n\
             local_links = 4096\ngroups = 2",
            "endpoints",
        ),
        (
            "slimfly",
            "q = 89\nendpoints_per_router = 10000",
            "endpoints",
        ),
        ("cascade", "groups = []", "0 routers"),
        (
            "cascade",
            "groups = [{ count = 1, rows = 0, columns = 1, endpoints_per_router = 1 }]",
            "has no routers",
        ),
        (
            "cascade",
            "groups = [{ count = 2, rows = 4000000000, columns = 4000000000, \
             endpoints_per_router = 1 }]",
            "routers",
        ),
        (
            "cascade",
            "groups = [{ count = 1, rows = 1, columns = 2, endpoints_per_router = 1 }]\n\
             row_links = 0",
            "row_links: is 0",
        ),
        (
            "megafly",
            "leaves = 2\nspines = 2\nendpoints_per_leaf = 2\nglobal_links_per_spine = 1\n\
             groups = 4",
            "4 groups of 4 routers",
        ),
        (
            "megafly",
            "leaves = 0\nspines = 2\nendpoints_per_leaf = 2\nglobal_links_per_spine = 1",
            "is 0",
        ),
    ] {
        let error = self::network(kind, keys).err().expect("refused");
        assert!(error.contains(words), "{keys}: {error}");
    }
}
