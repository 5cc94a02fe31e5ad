//! Networks that cannot be built are refused, and the message gives the remedy.

use std::sync::Arc;

use weir::config::Section;
use weir::model::{Bandwidth, EndpointId, Invalid, KindName, LinkKind, PortId, RouterId};
use weir::routing;
use weir::topology::{Link, Peer, Topology, folded_clos, kary_ntree};

use super::routings::{ALGORITHMS, route_in};
use super::support::{Kind, LINKS, build};

/// Refusal of parameters that a kind does not take.
fn refusal(kind: &str, text: &str) -> Invalid {
    let section = Section::from_toml(text).expect(text);
    assert!(build(kind, text).is_err(), "{text}");
    let tree = match kind {
        "kary_ntree" => kary_ntree::tree(&section.parse().expect(text)),
        _ => folded_clos::tree(&section.parse().expect(text)),
    };
    tree.expect_err(text)
}

#[test]
fn parameters_that_make_no_tree_are_refused_with_a_remedy() {
    let cases = [
        ("kary_ntree", "k = 1\nn = 2", "k"),
        ("kary_ntree", "k = 0\nn = 1", "k"),
        ("kary_ntree", "k = 2\nn = 0", "n"),
        ("kary_ntree", "k = 2\nn = 1_000_000_000", "n"),
        // 2³² endpoints; 2³¹ endpoints, but 31·2³⁰ routers.
        ("kary_ntree", "k = 2\nn = 32", "n"),
        ("kary_ntree", "k = 2\nn = 31", "n"),
        // More endpoints than can be simulated; more ports of routers in a pod.
        ("kary_ntree", "k = 1_000\nn = 3", "n"),
        ("kary_ntree", "k = 2\nn = 24", "n"),
        ("folded_clos", "radix = 32_768\nlevels = 2", "levels"),
        ("kary_ntree", "k = 32_768\nn = 2", "k"),
        ("folded_clos", "radix = 7\nlevels = 2", "radix"),
        ("folded_clos", "radix = 2\nlevels = 2", "radix"),
        ("folded_clos", "radix = 65_536\nlevels = 1", "radix"),
        ("folded_clos", "radix = 8\nlevels = 0", "levels"),
        ("folded_clos", "radix = 64\nlevels = 7", "levels"),
        ("folded_clos", "radix = 8\nlevels = 2\npods = 9", "pods"),
        ("folded_clos", "radix = 8\nlevels = 2\npods = 1", "pods"),
    ];
    for (kind, keys, culprit) in cases {
        let invalid = refusal(kind, &format!("{keys}\n{LINKS}"));
        assert_eq!(invalid.key, culprit, "{keys}");
        assert!(
            !invalid.message.is_empty() && !invalid.remedy.is_empty(),
            "{keys}"
        );
    }
    for (latency, key) in [("1 ns", "terminal"), ("2 ns", "local"), ("3 ns", "global")] {
        let links = LINKS.replace(latency, "0 ns");
        let invalid = refusal("kary_ntree", &format!("k = 2\nn = 2\n{links}"));
        assert_eq!(invalid.key, format!("{key}.latency"));
    }
}

#[test]
fn every_kind_of_link_has_to_be_given_and_no_other() {
    let keys = "k = 2\nn = 2\n";
    assert!(build("kary_ntree", &format!("{keys}{LINKS}")).is_ok());
    for name in ["terminal", "local", "global"] {
        let misspelt = LINKS.replace(name, "lateral");
        assert!(
            build("kary_ntree", &format!("{keys}{misspelt}")).is_err(),
            "{name}"
        );
    }
    for name in ["bandwidth", "latency"] {
        let missing = LINKS.replacen(&format!("{name} ="), "colour =", 1);
        assert!(
            build("kary_ntree", &format!("{keys}{missing}")).is_err(),
            "{name}"
        );
    }
}

#[test]
fn routings_of_trees_refuse_other_networks_and_parameters() {
    let network: Arc<dyn Topology> = Arc::new(OneRouter);
    for algorithm in ALGORITHMS {
        let error = route_in(algorithm, &network).err().expect(algorithm);
        assert!(
            error.contains(algorithm) && error.contains("one router alone"),
            "{error}"
        );
        let section = Section::from_toml("bias = 3").expect("a section");
        let entry = routing::find("kary_ntree", algorithm).expect(algorithm);
        let tree = Kind::Kary { k: 2, n: 2 }.build();
        assert!(
            (entry.build)(&section, &tree).is_err(),
            "{algorithm} takes no parameters"
        );
    }
}

/// A network that is not a tree: two endpoints at a router.
struct OneRouter;

impl Topology for OneRouter {
    fn endpoints(&self) -> u32 {
        2
    }
    fn routers(&self) -> u32 {
        1
    }
    fn ports(&self, _: RouterId) -> PortId {
        2
    }
    fn peer(&self, _: RouterId, port: PortId) -> Peer {
        Peer::Endpoint(port.into())
    }
    fn link(&self, _: RouterId, _: PortId) -> Link {
        Link {
            kind: LinkKind::TERMINAL,
            bandwidth: Bandwidth(1),
            latency: 1,
        }
    }
    fn link_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[KindName::Borrowed("terminal")];
        NAMES
    }
    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (0, endpoint as PortId)
    }
    fn group_of(&self, _: RouterId) -> u32 {
        0
    }
    fn groups(&self) -> u32 {
        1
    }
    fn minimal_routers(&self, _: EndpointId, _: EndpointId) -> u32 {
        1
    }
    fn diameter_routers(&self) -> u32 {
        1
    }
    fn describe(&self) -> String {
        "one router alone".into()
    }
}
