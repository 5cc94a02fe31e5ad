//! The ready networks of `topologies/`.

use std::fs;
use std::sync::Arc;

use weir::model::PortId;
use weir::topology::Topology;

use super::support::{build, tree};

/// Every ready network: endpoints, routers, levels, pods, ports of a leaf router.
const READY: [(&str, u32, u32, u32, u32, PortId); 14] = [
    ("fattree-200g-800", 800, 60, 2, 40, 40),
    ("fattree-200g-800-taper", 800, 50, 2, 40, 30),
    ("fattree-400g-2048", 2_048, 96, 2, 64, 64),
    ("fattree-400g-2048-taper", 2_048, 80, 2, 64, 48),
    ("clos-8", 8, 6, 2, 4, 4),
    ("clos-32", 32, 12, 2, 8, 8),
    ("clos-128-16x16", 128, 24, 2, 16, 16),
    ("clos-128-8x8", 128, 80, 3, 8, 8),
    ("clos-256", 256, 256, 4, 4, 8),
    ("clos-432", 432, 180, 3, 12, 12),
    ("clos-512", 512, 448, 4, 8, 8),
    ("tree-16", 16, 8, 2, 4, 8),
    ("tree-16-2", 256, 32, 2, 16, 32),
    ("tree-4096", 4_096, 768, 3, 16, 32),
];

fn ready(name: &str) -> Arc<dyn Topology> {
    let path = format!("{}/topologies/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect(&path);
    let table: toml::Table = text.parse().expect(&path);
    let kind = table["kind"].as_str().expect("a name").to_owned();
    build(&kind, &text).expect(&path)
}

#[test]
fn ready_networks_have_the_published_sizes() {
    for (name, endpoints, routers, levels, pods, ports) in READY {
        let network = ready(name);
        let tree = tree(&network);
        let found = (
            network.endpoints(),
            network.routers(),
            tree.levels(),
            network.groups(),
            network.ports(0),
        );
        assert_eq!(found, (endpoints, routers, levels, pods, ports), "{name}");
    }
}

#[test]
fn every_ready_tree_is_in_the_table() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/topologies");
    for file in fs::read_dir(folder).expect(folder) {
        let name = file
            .expect(folder)
            .file_name()
            .into_string()
            .expect("plain name");
        let name = name.trim_end_matches(".toml");
        if name.starts_with("clos-") || name.contains("tree") {
            assert!(READY.iter().any(|row| row.0 == name), "{name} has no row");
        }
    }
}

/// Pfister et al., HPIDC 2005, section V.A.2: the round trip of a link is a quarter of the time
/// that an MTU of 2 KB takes.
#[test]
fn the_links_of_paper_001_have_a_round_trip_of_a_quarter_mtu() {
    for (name, ..) in READY.iter().filter(|row| row.0.starts_with("clos-")) {
        let network = ready(name);
        for router in [0, network.routers() - 1] {
            for port in 0..network.ports(router) {
                let link = network.link(router, port);
                let mtu_ps = 2_048.0 * 8.0 * 1e12 / link.bandwidth.0 as f64;
                assert!(
                    (2.0 * link.latency as f64 - mtu_ps / 4.0).abs() < 1.0,
                    "{name}"
                );
            }
        }
    }
}
