//! Parts, halves and ways of networks for which arithmetic gives them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Bill;
use crate::topology::{REGISTRY, Topology};
use weir_input::Section;
use weir_input::registry::choose;

const LINK: &str = "{ bandwidth = \"100 Gbps\", latency = \"10 ns\" }";

fn bill(text: &str) -> Bill {
    let text = text.replace("LINK", LINK);
    let section = Section::from_toml(&text).expect("TOML");
    let entry = choose(&section, REGISTRY).expect("a kind");
    let topology: Arc<dyn Topology> = (entry.build)(&section).expect("a network");
    Bill::of(&*topology)
}

#[test]
fn a_ring_is_cut_by_two_links() {
    let bill = bill(
        "kind = \"torus\"\nsizes = [8]\nendpoints_per_router = 1\nterminal = LINK\nlink = LINK",
    );
    // Two links of 100 Gbps between halves of four endpoints.
    let halves = bill.halves.expect("halves");
    assert_eq!((halves.bandwidth_bps, halves.share), (200_000_000_000, 0.5));
    // One shortest way, and two to the router opposite: 8 of 56 pairs.
    let ways = bill.ways.expect("ways");
    assert_eq!(
        (ways.pairs, ways.shortest_least, ways.separate_least),
        (56, 1.0, 2)
    );
    assert_eq!((ways.shortest_mean, ways.separate_mean), (64.0 / 56.0, 2.0));
    assert_eq!((bill.routers[0].count, bill.routers[0].used), (8, 24));
    assert_eq!(bill.routers[0].unused, 0);
}

#[test]
fn a_grid_is_cut_along_its_longest_axis() {
    let bill = bill(
        "kind = \"mesh\"\nsizes = [8, 2]\nendpoints_per_router = 1\nterminal = LINK\nlink = LINK",
    );
    // Two links between halves of eight endpoints each; eight links the other way.
    let halves = bill.halves.expect("halves");
    assert_eq!((halves.by.as_str(), halves.share), ("x", 0.25));
    // 8 × 2 routers of 4 ports each beside the endpoint's: 14 + 8 links use 44 of 64.
    let open: u64 = bill.routers.iter().map(|class| class.unused).sum();
    assert_eq!(open, 20);
}

#[test]
fn a_taper_halves_what_crosses_it() {
    let tree = |up: u32| {
        bill(&format!(
            "kind = \"xgft\"\ndown = [4, 4]\nup = [{up}]\nterminal = LINK\nglobal = LINK"
        ))
    };
    for (up, share) in [(4, 1.0), (2, 0.5), (1, 0.25)] {
        let bill = tree(up);
        assert_eq!(bill.halves.as_ref().expect("halves").share, share, "{up}");
        let ways = bill.ways.as_ref().expect("ways");
        assert_eq!(ways.shortest_least, f64::from(up));
        assert_eq!(ways.separate_least, u64::from(up));
        let links: Vec<(&str, u64)> = (bill.links.iter())
            .map(|class| (class.kind.as_str(), class.count))
            .collect();
        assert_eq!(links[0], ("terminal", 16));
        assert_eq!(links[1].1, 4 * u64::from(up));
    }
}

#[test]
fn a_full_mesh_has_a_way_by_each_other_router() {
    let bill = bill(
        "kind = \"hyperx\"\nsizes = [4, 4]\nendpoints_per_router = 4\nterminal = LINK\nlink = LINK",
    );
    // Each router has three others in its row and three in its column: all six links lead anywhere
    // by ways of their own.
    let ways = bill.ways.as_ref().expect("ways");
    assert_eq!((ways.separate_least, ways.separate_mean), (6, 6.0));
    // Two rows of two: 2 × 2 × 4 links join the halves, each with 32 endpoints.
    let halves = bill.halves.as_ref().expect("halves");
    assert_eq!(halves.share, 0.5);
    // 16 routers at 50, 64 cables at 1, 48 at 2.
    let prices = [("router", 50.0), ("terminal", 1.0), ("x", 2.0), ("y", 2.0)];
    let prices = prices.map(|(kind, price)| (kind.to_string(), price));
    let prices = BTreeMap::from(prices);
    assert_eq!(bill.cost(&prices), 800.0 + 64.0 + 96.0);
}

#[test]
fn a_single_router_has_no_other_to_reach() {
    let bill = bill("kind = \"xgft\"\ndown = [4]\nup = []\nterminal = LINK");
    assert_eq!(bill.ways, None);
    assert_eq!(bill.routers[0].used, 4);
}
