//! Networks of other programs as topology files, and networks of weir for other programs.

use std::collections::BTreeMap;
use std::path::Path;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256StarStar;
use weir::input::Section;
use weir::topology::{Peer, REGISTRY, Topology};

use crate::support::Cli;

/// The topology file that is made of a text, and what was said beside it.
fn imported(format: &str, text: &str, more: &[&str]) -> (String, String) {
    let arguments = ["import", format, "experiment.toml"];
    let ran = Cli::weir(text, &[&arguments[..], more].concat()).succeeds();
    (ran.stdout, ran.stderr)
}

/// What is said of a text that is no network.
fn refused(format: &str, text: &str, more: &[&str]) -> String {
    let arguments = ["import", format, "experiment.toml"];
    let ran = Cli::weir(text, &[&arguments[..], more].concat()).go();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{text}");
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    ran.stderr
}

fn network(topology: &str) -> std::sync::Arc<dyn Topology> {
    let section = Section::from_toml(topology).expect("TOML");
    let entry = weir::registry::choose(&section, REGISTRY).expect("a kind");
    (entry.build)(&section).unwrap_or_else(|error| panic!("{error}: {topology}"))
}

/// Endpoints, routers, and links between routers by their rate in Gbps and their latency in ns.
fn counts(topology: &str) -> (u32, u32, BTreeMap<(u64, u64), u64>) {
    let network = network(topology);
    let mut links = BTreeMap::new();
    for router in 0..network.routers() {
        for port in 0..network.ports(router) {
            if let Peer::Router(other, _) = network.peer(router, port)
                && router < other
            {
                let link = network.link(router, port);
                let like = (link.bandwidth.0 / 1_000_000_000, link.latency / 1_000);
                *links.entry(like).or_default() += 1;
            }
        }
    }
    (network.endpoints(), network.routers(), links)
}

const DISCOVERED: &str = r#"#
# Topology file: generated on Mon Jan  1 00:00:00 2024
vendid=0x2c9
switchguid=0x1(1)
Switch	36 "S-01"		# "leaf 1" enhanced port 0 lid 1 lmc 0
[1]	"H-01"[1](a1) 		# "node1 mlx5_0" lid 11 4xHDR
[2]	"H-02"[1](a2) 		# "node2 mlx5_0" lid 12 2xHDR
[35]	"S-02"[1]		# "spine" lid 2 4xNDR
[36]	"S-02"[2]		# "spine" lid 2 4xNDR

Switch  36 "S-02"               # "spine" enhanced port 0 lid 2 lmc 0
[1]     "S-01"[35]              # "leaf 1" lid 1 4xNDR
[2]     "S-01"[36]              # "leaf 1" lid 1 4xNDR
[3]     "H-03"[1](a3)           # "node3 mlx5_0" lid 13 4xHDR
[4]     "H-03"[2](a4)           # "node3 mlx5_0" lid 14 4xHDR
[41]    "H-04"[1](a5)           # "Mellanox Technologies Aggregation Node" lid 15 4xNDR

Ca	1 "H-01"		# "node1 mlx5_0"
[1](a1) 	"S-01"[1]		# lid 11 lmc 0 "leaf 1" lid 1 4xHDR

Ca	1 "H-04"		# "Mellanox Technologies Aggregation Node"
[1](a5) 	"S-02"[41]		# lid 15 lmc 0 "spine" lid 2 4xNDR
"#;

#[test]
fn infiniband_networks_are_read() {
    let (topology, said) = imported("ibnetdiscover", DISCOVERED, &[]);
    // Two ports of one adapter are two endpoints; what is inside of a switch is none.
    assert_eq!(counts(&topology), (4, 2, BTreeMap::from([((400, 100), 2)])));
    assert!(
        topology.contains("H-02,S-01,terminal,100 Gbps"),
        "{topology}"
    );
    assert!(topology.contains("H-03/1,S-02,terminal"), "{topology}");
    for words in ["left out: 1 nodes inside of switches", "link: 100 ns"] {
        assert!(said.contains(words) && topology.contains(words), "{said}");
    }
    let simulated = "Switch 8 \"A\"\n[1] \"Hca1\"[1]\n[3] \"B\"[3]\n\nSwitch 8 \"B\"\n[3] \"A\"[3]\n\
                     [1] \"Hca2\"[1]\n\nHca 2 \"Hca1\"\n[1] \"A\"[1]\n";
    let (topology, _) = imported("ibnetdiscover", simulated, &[]);
    assert_eq!(counts(&topology), (2, 2, BTreeMap::from([((100, 100), 1)])));
    let half = DISCOVERED.replace("[2]     \"S-01\"[36]", "[2]     \"S-01\"[34]");
    let said = refused("ibnetdiscover", &half, &[]);
    assert!(
        said.contains("port 2 of \"S-02\" does not lead back here"),
        "{said}"
    );
    assert!(said.contains("experiment.toml:9"), "{said}");
    for text in [
        "[1] \"A\"[1]",
        "Switch 8\n",
        "Switch 8 \"A\"\n[x] \"B\"[1]\n",
        "",
        "a b c",
    ] {
        refused("ibnetdiscover", text, &[]);
    }
}

#[test]
fn slurm_networks_are_read() {
    let text = "# tree\nSwitchName=root Switches=leaf[1,3-4] # all\n\
                switchname=leaf1 nodes=n[01-04]\nSwitchName=leaf3 Nodes=a,b LinkSpeed=1\n\
                SwitchName=leaf4 Nodes=r[0-1]n[1-2]\n";
    let (topology, _) = imported("slurm", text, &[]);
    assert_eq!(
        counts(&topology),
        (10, 4, BTreeMap::from([((100, 100), 3)]))
    );
    assert!(topology.contains("n04,leaf1,terminal"), "{topology}");
    let said = refused(
        "slurm",
        "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=m1\n",
        &[],
    );
    assert!(said.contains("from router \"b\" to router \"a\""), "{said}");
    for (text, words) in [
        ("SwitchName=a Nodes=n[2-1]", "no list of names"),
        ("Nodes=n1", "not one SwitchName"),
        ("SwitchName=a\nBlockName=b", "\"BlockName\" is not a key"),
        ("# nothing", "has no links"),
    ] {
        let said = refused("slurm", text, &[]);
        assert!(said.contains(words), "{said}");
    }
}

/// `fat_tree_1024_8os.topo` of htsim (ultraethernet/uet-htsim 40ccb05): by its own rules 128
/// switches of tier 0, 32 of tier 1 and 8 of tier 2, with 256 and 128 links between them.
const TREE: &str = "Nodes 1024\nTiers 3\nPodsize 64\n\nTier 0\nOversubscribed 4\n\
    Downlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\n\nTier 1\n\
    Downlink_speed_Gbps 200\nRadix_Down 8\nRadix_Up 4\nDownlink_Latency_ns 1000\nBundle 1\n\n\
    Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 16\nDownlink_Latency_ns 2000\nBundle 1\n";

#[test]
fn trees_of_htsim_are_read() {
    let (topology, said) = imported("htsim", TREE, &[]);
    let links = BTreeMap::from([((200, 1000), 256), ((400, 2000), 128)]);
    assert_eq!((counts(&topology), said.as_str()), ((1024, 168, links), ""));
    let bundled = TREE.replace("Bundle 1\n\nTier 2", "Bundle 2\n\nTier 2");
    let (topology, _) = imported("htsim", &bundled, &[]);
    // One aggregation switch in each of 16 pods, with four cores.
    let links = BTreeMap::from([((200, 1000), 256), ((400, 2000), 64)]);
    assert_eq!(counts(&topology), (1024, 128 + 16 + 4, links));
    for (from, to, words) in [
        (
            "Radix_Down 8\nRadix_Up 2",
            "Radix_Down 7\nRadix_Up 2",
            "1024 / 7",
        ),
        ("Tier 2", "Tier 3", "tiers are not in order"),
        ("Radix_Up 4", "Radix_Up", "a name without a number"),
        ("Nodes 1024", "Nodes 99999999992", "more than"),
        ("Radix_Up 2", "Radix_Up 999999999999", "more than"),
        ("Radix_Up 4", "Radix_Up 999999999999", "more than"),
        (
            "Downlink_speed_Gbps 400",
            "",
            "no downlink_speed_gbps of tier 2",
        ),
    ] {
        let said = refused("htsim", &TREE.replace(from, to), &[]);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn lists_of_edges_are_read() {
    let (topology, said) = imported(
        "edges",
        "# a ring\n0 1\n1 2\n2 0\n2 0\n",
        &["--endpoints-per-router", "2"],
    );
    assert_eq!(counts(&topology), (6, 3, BTreeMap::from([((100, 100), 4)])));
    assert!(said.contains("link: 100 Gbps"), "{said}");
    let (topology, _) = imported("edges", "h1 a\nh2 b\na b\n", &["--hosts", "h"]);
    assert_eq!(counts(&topology).0, 2);
    let text = "router 0 node 0 node 1 router 1 5\nrouter 1 node 2 router 0 5 node 3\n";
    let (topology, said) = imported("anynet", text, &[]);
    assert_eq!(counts(&topology), (4, 2, BTreeMap::from([((100, 5), 1)])));
    assert!(said.contains("a cycle: 1 ns"), "{said}");
    for (format, text, more, words) in [
        ("edges", "0 1\n2\n", vec![], "no two names"),
        (
            "edges",
            "h a\n",
            vec!["--hosts", "h", "--endpoints-per-router", "1"],
            "names its hosts",
        ),
        (
            "anynet",
            "router 0 node\n",
            vec![],
            "not followed as it must be",
        ),
        (
            "anynet",
            "router 0 router 1 5\nrouter 1 router 0 9\n",
            vec![],
            "another latency on their other line",
        ),
        (
            "anynet",
            "switch 0 node 1\n",
            vec![],
            "not followed as it must be",
        ),
        (
            "booksim",
            "topology = mesh;",
            vec!["--hosts", "h"],
            "are for networks",
        ),
    ] {
        let said = refused(format, text, &more);
        assert!(said.contains(words), "{said}");
    }
}

const GRAPHML: &str = r#"<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d1"/>
      <key attr.name="latency" attr.type="string" for="edge" id="d2"/>
      <graph edgedefault="undirected"><node id="0"/><node id="1"/><node id="2"/>
      <edge source="0" target="1"><data key="d1">10000000000.0</data></edge>
      <edge source="0" target="1"/>
      <edge source="1" target="2"><data key="d2">3 us</data></edge></graph></graphml>"#;

#[test]
fn what_is_not_read_is_told() {
    let other = GRAPHML.replace("\"latency\"", "\"delay\"");
    let (_, said) = imported("graphml", &other, &[]);
    assert!(
        said.contains("left out: attributes of links: delay"),
        "{said}"
    );
    let said = refused("graphml", GRAPHML, &["--hosts", "node"]);
    assert!(said.contains("begins with \"node\""), "{said}");
}

#[test]
fn graphml_and_dot_are_read() {
    let graphml = GRAPHML;
    let (topology, said) = imported("graphml", graphml, &[]);
    let links = BTreeMap::from([((10, 100), 1), ((100, 100), 1), ((100, 3000), 1)]);
    assert_eq!(counts(&topology), (3, 3, links), "{topology}");
    for words in [
        "link: 100 Gbps for 2 of 3 links",
        "link: 100 ns for 2 of 3 links",
    ] {
        assert!(said.contains(words) && topology.contains(words), "{said}");
    }
    let alone = graphml.replace("<node id=\"2\"/>", "<node id=\"2\"/><node id=\"3\"/>");
    assert!(refused("graphml", &alone, &[]).contains("\"3\" is linked with nothing"));
    let said = refused("graphml", "<graphml>\n<node>\n", &[]);
    assert!(said.contains("experiment.toml:"), "{said}");
    for broken in [
        ("3 us", "3 parsecs", "no such latency"),
        (" id=\"1\"", "", "without id"),
    ] {
        let said = refused("graphml", &graphml.replace(broken.0, broken.1), &[]);
        assert!(said.contains(broken.2), "{said}");
    }

    let dot = r#"strict digraph "a network" { // arrows both ways
      node [shape=box]; edge [bandwidth="200 Gbps"]
      H1 -> S1 [hostname="a b", comment="*"]; S1 -> H1
      H2 -> S2; S2 -> H2
      S1 -> S2; S2 -> S1 [latency="2 us"]; S1 -> S2; S2 -> S1
      subgraph cluster_0 { S3:n -> { S1 S2 } label = "more" }
      "x\"y" [kind=host]; "x\"y" -> S3
    }"#;
    let (topology, said) = imported("dot", dot, &["--hosts", "H"]);
    assert!(
        said.contains("left out: attributes of links: comment, hostname"),
        "{said}"
    );
    let links = BTreeMap::from([((200, 100), 4)]);
    assert_eq!(counts(&topology), (3, 3, links), "{topology}");
    for (text, words) in [
        ("network {}", "neither graph nor digraph"),
        ("graph { a -- ", "no name of a node"),
        ("graph { a -- b [x] }", "no `=`"),
        ("graph { a; b -- c }", "\"a\" is linked with nothing"),
        ("graph { a -- b [latency=now] }", "latency = \"now\""),
        ("graph { \"a", "a text without its end"),
        ("graph { a -- b } }", "something behind the graph"),
    ] {
        let said = refused("dot", text, &[]);
        assert!(said.contains(words), "{text}: {said}");
    }
    let deep = format!(
        "graph {{ a -- b {} {} }}",
        "{".repeat(9_999),
        "}".repeat(9_999)
    );
    assert!(refused("dot", &deep, &[]).contains("too many subgraphs"));
}

/// Characters that mean something in some of the formats.
const MARKS: &[u8] = b"[]{}\"<>-=,;:\\#\n 09";

/// Bytes that are changed, cut or put in by chance: the text is read or refused, whatever it is.
#[test]
fn damaged_networks_are_read_or_refused() {
    let graphml = "<graphml><key attr.name=\"latency\" id=\"d2\"/><graph edgedefault=\"directed\">\
                   <node id=\"0\"/><node id=\"1\"/><edge source=\"0\" target=\"1\">\
                   <data key=\"d2\">3 us</data></edge></graph></graphml>";
    let dot =
        "digraph a { edge [bandwidth=\"2 Gbps\"] a -> { b c } -> d [latency=\"1 us\"]; b -> a }";
    let slurm =
        "SwitchName=r Switches=s[1-2]\nSwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=m1\n";
    let anynet = "router 0 node 0 node 1 router 1 5\nrouter 1 node 2 router 0 5\n";
    let mut rng = Xoshiro256StarStar::seed_from_u64(1);
    let mut outcomes = [0; 2];
    for (format, whole) in [
        ("ibnetdiscover", DISCOVERED),
        ("slurm", slurm),
        ("htsim", TREE),
        ("edges", "0 1\n1 2\n2 0\n"),
        ("anynet", anynet),
        ("graphml", graphml),
        ("dot", dot),
    ] {
        for _ in 0..12 {
            let mut bytes = whole.as_bytes().to_vec();
            let mut any = |below: usize| (rng.next_u64() % below as u64) as usize;
            for _ in 0..=any(3) {
                let at = any(bytes.len());
                match any(4) {
                    0 if at > 0 => bytes.truncate(at),
                    1 => bytes[at] = any(256) as u8,
                    2 => bytes[at] = MARKS[any(MARKS.len())],
                    _ => drop(bytes.splice(at..at, vec![b'9'; 1 + any(24)])),
                }
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let ran = Cli::weir(&text, &["import", format, "experiment.toml"]).go();
            let read = ran.code == Some(0);
            assert!(
                read || ran.code == Some(2),
                "{format}: {text}\n{}",
                ran.stderr
            );
            assert!(
                !ran.stderr.contains("panicked"),
                "{format}: {text}\n{}",
                ran.stderr
            );
            outcomes[usize::from(read)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 10), "{outcomes:?}");
}

/// The links of each router to each other one and to its endpoints, with what they are like.
fn wires(network: &dyn Topology) -> Vec<(u32, String, u64, u64, String)> {
    let mut all = Vec::new();
    for router in 0..network.routers() {
        for port in 0..network.ports(router) {
            let peer = match network.peer(router, port) {
                Peer::Router(other, _) => format!("r{other}"),
                Peer::Endpoint(endpoint) => format!("e{endpoint}"),
                Peer::Unused => continue,
            };
            let link = network.link(router, port);
            let kind = network.link_kinds()[usize::from(link.kind.0)].to_string();
            all.push((router, peer, link.bandwidth.0, link.latency, kind));
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn exported_networks_are_the_same_networks() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name).display().to_string();
    for name in ["dragonfly-72", "torus-64", "tree-16", "hyperx-64"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = std::fs::read_to_string(root.join("topologies").join(format!("{name}.toml")));
        let own = own.expect(name);
        let routing = if name.starts_with("dragonfly") {
            "minimal"
        } else {
            "dor"
        };
        let routing = if name.starts_with("tree") {
            "random_up"
        } else {
            routing
        };
        let experiment = format!(
            "[topology]\nfile = \"{name}\"\n[routing]\nalgorithm = \"{routing}\"\n[[workload]]\n\
             load = 0.1\nmessage = \"1 flits\"\npattern = {{ kind = \"uniform\" }}\n[run]\nuntil = \"1 us\"\n"
        );
        for ending in ["toml", "graphml", "dot", "csv"] {
            let file = at(&format!("{name}.{ending}"));
            let arguments = ["export", "--topology", "experiment.toml", &file];
            Cli::weir(&experiment, &arguments).succeeds();
        }
        let exported = std::fs::read_to_string(at(&format!("{name}.toml"))).expect("written");
        let (own, graph) = (network(&own), network(&exported));
        assert!(wires(&*own) == wires(&*graph), "{name}");
        for format in ["graphml", "dot"] {
            let text = std::fs::read_to_string(at(&format!("{name}.{format}"))).expect("written");
            let again = network(&imported(format, &text, &[]).0);
            assert_eq!(wires(&*own).len(), wires(&*again).len(), "{name} {format}");
            assert_eq!(counts(&exported), counts(&imported(format, &text, &[]).0));
        }
        let csv = std::fs::read_to_string(at(&format!("{name}.csv"))).expect("written");
        assert!(csv.starts_with("from,to,kind,bandwidth,latency\n"), "{csv}");
        assert_eq!(
            csv.lines().count() - 1,
            wires(&*own).len() - graph_links(&*graph)
        );
    }
    let ran = Cli::weir(
        "",
        &["export", "--topology", "experiment.toml", &at("a.goal")],
    )
    .go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

/// Links between routers: each is a wire of two routers.
fn graph_links(network: &dyn Topology) -> usize {
    let wires = wires(network);
    wires.iter().filter(|wire| wire.1.starts_with('r')).count() / 2
}
