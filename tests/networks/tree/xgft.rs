//! Extended generalised fat trees: counts of an independent program, parallel links, and tapers.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir::config::Section;
use weir::topology::tree::Tree;
use weir::topology::{Peer, Topology, xgft};

use super::support::{LINKS, tree};
use crate::support::Experiment;

fn build(keys: &str) -> Arc<dyn Topology> {
    let section = Section::from_toml(&format!("{keys}\n{LINKS}")).expect("TOML");
    (xgft::ENTRY.build)(&section).unwrap_or_else(|error| panic!("{error}"))
}

/// XGFT(h; m; w): switches and links below them by level, ordered pairs of endpoints by the links
/// on their path.
type Counted = (
    &'static str,
    &'static str,
    &'static [u64],
    &'static [u64],
    &'static [(u32, u64)],
);

/// Counted on the graphs by an independent program.
const COUNTED: [Counted; 7] = [
    ("4, 4", "4", &[4, 4], &[16, 16], &[(2, 48), (4, 192)]),
    (
        "24, 4",
        "12",
        &[4, 12],
        &[96, 48],
        &[(2, 2_208), (4, 6_912)],
    ),
    (
        "4, 4, 8",
        "4, 4",
        &[32, 32, 16],
        &[128, 128, 128],
        &[(2, 384), (4, 1_536), (6, 14_336)],
    ),
    (
        "18, 36",
        "18",
        &[36, 18],
        &[648, 648],
        &[(2, 11_016), (4, 408_240)],
    ),
    ("8, 4", "2", &[4, 2], &[32, 8], &[(2, 224), (4, 768)]),
    (
        "2, 2, 2",
        "2, 2",
        &[4, 4, 4],
        &[8, 8, 8],
        &[(2, 8), (4, 16), (6, 32)],
    ),
    (
        "8, 8, 16",
        "8, 8",
        &[128, 128, 64],
        &[1_024, 1_024, 1_024],
        &[(2, 7_168), (4, 57_344), (6, 983_040)],
    ),
];

#[test]
fn counts_are_those_of_an_independent_program() {
    for (down, up, switches, links, pairs) in COUNTED {
        let network = build(&format!("down = [{down}]\nup = [{up}]"));
        let own = tree(&network);
        let mut found = vec![[0u64; 2]; switches.len()];
        for router in 0..network.routers() {
            let level = own.level_of(router) as usize - 1;
            found[level][0] += 1;
            let below =
                (0..network.ports(router)).filter(|&port| match network.peer(router, port) {
                    Peer::Router(other, _) => own.level_of(other) < own.level_of(router),
                    Peer::Endpoint(_) => true,
                    Peer::Unused => false,
                });
            found[level][1] += below.count() as u64;
        }
        let expected: Vec<[u64; 2]> = switches.iter().zip(links).map(|(&s, &l)| [s, l]).collect();
        assert_eq!(found, expected, "{down}; {up}");
        let mut by_links: BTreeMap<u32, u64> = BTreeMap::new();
        let all = network.endpoints();
        for a in 0..all {
            for b in (0..all).filter(|&b| b != a) {
                *by_links
                    .entry(network.minimal_routers(a, b) + 1)
                    .or_default() += 1;
            }
        }
        assert_eq!(by_links, pairs.iter().copied().collect(), "{down}; {up}");
    }
}

#[test]
fn parallel_links_join_the_same_two_routers() {
    let network = build("down = [4, 3, 2]\nup = [2, 1]\nparallel = [3, 2]");
    let own: &Tree = tree(&network);
    // 6 leaf routers with 2 parents, 2 pods of 2 routers with one parent, 2 top routers.
    assert_eq!((network.endpoints(), network.routers()), (24, 6 + 4 + 2));
    let mut joined: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for router in 0..network.routers() {
        for port in 0..network.ports(router) {
            if let Peer::Router(other, there) = network.peer(router, port) {
                assert_eq!(network.peer(other, there), Peer::Router(router, port));
                *joined.entry((router, other)).or_default() += 1;
            }
        }
        let ports = [4 + 2 * 3, 3 * 3 + 2, 2 * 2][own.level_of(router) as usize - 1];
        assert_eq!(network.ports(router), ports);
    }
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    joined
        .values()
        .for_each(|&links| *counts.entry(links).or_default() += 1);
    assert_eq!(counts, BTreeMap::from([(2, 2 * 4), (3, 2 * 12)]));
}

#[test]
fn wrong_lists_are_refused() {
    for (keys, culprit) in [
        ("down = []\nup = []", "down"),
        ("down = [4, 4]\nup = []", "up"),
        ("down = [4, 4]\nup = [2, 2]", "up"),
        ("down = [4, 4]\nup = [0]", "up"),
        ("down = [4, 0]\nup = [1]", "down"),
        ("down = [4, 4]\nup = [2]\nparallel = [1, 1]", "parallel"),
        (
            "down = [4, 4]\nup = [4_000_000_000]\nparallel = [4_000_000_000]",
            "up",
        ),
        ("down = [4_000_000, 4_000_000]\nup = [1]", "up"),
    ] {
        let section = Section::from_toml(&format!("{keys}\n{LINKS}")).expect("TOML");
        let invalid = xgft::tree(&section.parse().expect("parameters")).expect_err(keys);
        assert_eq!(invalid.key, culprit, "{keys}: {}", invalid.message);
    }
}

/// Eight endpoints below two leaf routers with two links up each: four flows over the top share two
/// links, and one flow alone has a whole link.
#[test]
fn a_taper_halves_what_all_get_and_not_what_one_gets() {
    for (up, parallel) in [(2, 1), (1, 2)] {
        for algorithm in ["dmodk", "random_up", "adaptive_up"] {
            let accepted = |list: Vec<i64>, load: f64| {
                let text = format!(
                    "[topology]\nkind = \"xgft\"\ndown = [4, 2]\nup = [{up}]\n\
                     parallel = [{parallel}]\n\
                     terminal = {{ bandwidth = \"100 Gbps\", latency = \"5 ns\" }}\n\
                     global = {{ bandwidth = \"100 Gbps\", latency = \"50 ns\" }}\n\
                     [routing]\nalgorithm = \"{algorithm}\"\n"
                );
                let experiment = Experiment::of(text.parse().expect("TOML"))
                    .traffic("permutation", load)
                    .with("pattern.list", list)
                    .message("24 flits")
                    .set("run.warmup", "20 us")
                    .until("60 us");
                experiment.run().data.summary.accepted_load
            };
            let all = accepted(vec![4, 5, 6, 7, 0, 1, 2, 3], 1.0);
            // Packets that leave by a link at random wait behind others for the same one.
            assert!(all > 0.45 && all < 0.505, "{algorithm}, {up}: {all}");
            // Only 0 and 4 send over the top; the others to their neighbours.
            let one = accepted(vec![4, 2, 3, 1, 0, 6, 7, 5], 0.9);
            assert!((one - 0.9).abs() < 0.03, "{algorithm}, {up}: {one}");
        }
    }
}
