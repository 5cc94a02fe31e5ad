//! Networks from a list of links: counts of an independent program, what is refused, and times by
//! arithmetic.

use std::path::Path;
use std::sync::Arc;

use weir::input::Section;
use weir::result::Data;
use weir::topology::graph::Graph;
use weir::topology::{REGISTRY, Topology};

use crate::networks::direct;
use crate::support::Experiment;

pub(super) fn reference(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/networks/topologies/graphs");
    std::fs::read_to_string(folder.join(name)).expect(name)
}

/// A graph, or what is wrong with it.
pub(super) fn graph(links: &str, more: &str) -> Result<Arc<dyn Topology>, String> {
    let text = format!(
        "kind = \"graph\"\nlinks = '''\n{links}'''\n{more}\n\
         terminal = {{ bandwidth = \"100 Gbps\", latency = \"5 ns\" }}\n\
         link = {{ bandwidth = \"100 Gbps\", latency = \"20 ns\" }}"
    );
    let section = Section::from_toml(&text).expect("TOML");
    let entry = weir::registry::choose(&section, REGISTRY).expect("a kind");
    (entry.build)(&section).map_err(|error| error.to_string())
}

/// Source, number and time of arrival of each packet, in order.
pub(super) fn sorted(data: &Data) -> Vec<(u32, u32, u64)> {
    let packets = data.packets.as_ref().expect("recorded");
    let row = |row: usize| {
        (
            packets.source[row],
            packets.sequence[row],
            packets.delivered_ps[row],
        )
    };
    let mut rows: Vec<_> = (0..packets.source.len()).map(row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn counts_are_those_of_an_independent_program() {
    let table = reference("counts.csv");
    let mut seen = 0;
    for line in table.lines().skip(1) {
        let [name, routers, links, diameter, mean, pairs] = *line.split(',').collect::<Vec<_>>()
        else {
            panic!("{line}");
        };
        let network = graph(
            &reference(&format!("{name}.csv")),
            "endpoints_per_router = 2",
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let of_routers = network.as_a::<Graph>().expect("a graph");
        assert_eq!(network.routers().to_string(), routers, "{name}");
        assert_eq!(network.endpoints(), 2 * network.routers(), "{name}");
        let counted: u64 = network.links().iter().map(|links| links.count).sum();
        assert_eq!(
            (counted - u64::from(network.endpoints())).to_string(),
            links,
            "{name}"
        );
        assert_eq!(
            (network.diameter_routers() - 1).to_string(),
            diameter,
            "{name}"
        );
        let mut by_distance = vec![0; network.diameter_routers() as usize];
        for to in 0..network.routers() {
            let distances = of_routers.distances(to);
            distances
                .iter()
                .for_each(|&far| by_distance[usize::from(far)] += 1);
        }
        let found: Vec<String> = (1..by_distance.len())
            .map(|far| format!("{far}:{}", by_distance[far]))
            .collect();
        assert_eq!(found.join(" "), pairs, "{name}");
        let all = network.endpoints();
        let ways = (0..all).flat_map(|a| (0..all).filter(move |&b| b != a).map(move |b| (a, b)));
        let sum: u32 = ways.map(|(a, b)| network.minimal_routers(a, b)).sum();
        let found = f64::from(sum) / f64::from(all * (all - 1));
        assert!(
            (found - mean.parse::<f64>().expect("a number")).abs() < 1e-6,
            "{name}: {found}"
        );
        seen += 1;
    }
    assert_eq!(seen, 4);
}

/// A full mesh of four routers as a graph and as a HyperX: the same packets take the same times.
#[test]
fn a_full_mesh_is_one_whatever_it_is_called() {
    let run = |topology: &str, algorithm: &str| {
        let experiment = direct::experiment(topology, algorithm)
            .uniform(0.6)
            .set("output.packets", true)
            .until("20 us");
        experiment.run().data
    };
    let links = reference("complete_4.csv").replace('\n', "\\n");
    let graph = run(
        &format!("kind = \"graph\"\nlinks = \"{links}\"\nendpoints_per_router = 2"),
        "shortest",
    );
    let hyperx = run(
        "kind = \"hyperx\"\nsizes = [4]\nendpoints_per_router = 2",
        "dor",
    );
    let [graph, hyperx] = [sorted(&graph), sorted(&hyperx)];
    assert!(graph.len() > 1_000);
    assert_eq!(graph, hyperx);
}

/// Mean latencies of merlin's own tests, ns (its reference outputs, sst-elements f782290): packets
/// of one flit of 32 B, 16 Gbps, each endpoint one every 32 ns to another one. Links take 20 ns,
/// those of endpoints 10 ns, routers 20 ns at their inputs and 20 ns at their outputs. merlin's
/// crossbar has a clock of 8 ns: a flit waits for it for half of that on average, and crosses in
/// one. The fourth graph, `cubical`, is saturated there: two links are asked for more than they
/// carry.
#[test]
fn latencies_are_those_of_merlin() {
    for (name, merlin) in [
        ("complete_4", 156.158),
        ("slimfly_18", 221.762),
        ("dragonfly_36", 277.16),
    ] {
        let text = format!(
            "[topology]\nkind = \"graph\"\nlinks = '''\n{}'''\nendpoints_per_router = 2\n\
             terminal = {{ bandwidth = \"16 Gbps\", latency = \"10 ns\" }}\n\
             link = {{ bandwidth = \"16 Gbps\", latency = \"20 ns\" }}\n\
             [routing]\nalgorithm = \"shortest\"\nchoose = \"flow\"\n\
             [router]\nflit = \"32 B\"\nspeedup = 2\nlatency = \"52 ns\"\n\
             input_buffer = \"32 kB\"\noutput_queue = \"32 kB\"\n\
             [nic]\nmax_packet = \"1 flits\"\nacknowledge = false\n\
             [[workload]]\nload = 0.5\nmessage = \"1 flits\"\ninjection = \"periodic\"\n\
             pattern = {{ kind = \"uniform\" }}\n[run]\nuntil = \"80 us\"\nwarmup = \"30 us\"\n",
            reference(&format!("{name}.csv"))
        );
        let data = Experiment::of(text.parse().expect("TOML")).run().data;
        let all = data.latency.iter().find(|(class, _)| class == "network");
        let mean = all.expect("measured").1.arrived.mean() / 1e3;
        assert!((mean / merlin - 1.0).abs() < 0.03, "{name}: {mean} ns");
    }
}

/// Four routers in a row with a link of 50 ns in the middle: a packet of 24 flits, 24 ns long,
/// takes 5 ns in and out, 50 ns in each router, and each link's latency.
#[test]
fn links_have_the_values_of_their_rows() {
    let links = "from,to,kind,latency,bandwidth\n\
                 h0,a,terminal,,\nh1,d,terminal,,\na,b,,,\nb,c,,50 ns,\nc,d,,,\n";
    let text = format!("kind = \"graph\"\nlinks = '''\n{links}'''");
    for choose in ["random", "adaptive", "flow"] {
        let experiment: Experiment = direct::experiment(&text, "shortest")
            .set("routing.choose", choose)
            .traffic("permutation", 0.01)
            .with("pattern.list", vec![1, 0])
            .message("24 flits")
            .set("output.packets", true)
            .until("50 us");
        let data = experiment.run().data;
        let packets = data.packets.expect("recorded");
        assert!(packets.source.len() > 10);
        for row in 0..packets.source.len() {
            let time = packets.delivered_ps[row] - packets.injected_ps[row];
            assert_eq!(
                time,
                1000 * (2 * 5 + 4 * 50 + 20 + 50 + 20 + 24),
                "{choose}"
            );
        }
    }
}

#[test]
fn parallel_links_and_kinds() {
    let network = graph("from,to,links\na,b,3\nb,c,1\n", "").expect("a network");
    assert_eq!((network.routers(), network.endpoints()), (3, 3));
    assert_eq!([0, 1, 2].map(|router| network.ports(router)), [4, 5, 2]);
}

#[test]
fn what_is_no_network_is_refused_with_its_place() {
    for (links, more, words) in [
        (
            "from,to\n0,1\n2,3\n",
            "",
            "leads from router \"2\" to router \"0\"",
        ),
        (
            "from,to\n0,0\n",
            "",
            "line 2 of the table: \"0\" is linked with itself",
        ),
        ("from,to,weight\n0,1,2\n", "", "\"weight\" is not a column"),
        ("a,b\n0,1\n", "", "\"a\" is not a column"),
        ("from,to\n0\n", "", "line 2"),
        ("from,to\n0,\n", "", "line 2 of the table: no to"),
        (
            "from,to,latency\n0,1,3 parsecs\n",
            "",
            "line 2 of the table",
        ),
        ("from,to,links\n0,1,0\n", "", "links is no number from 1 on"),
        (
            "from,to,kind\n0,1,trunk\n",
            "",
            "links of kind \"trunk\" have no bandwidth",
        ),
        (
            "from,to,kind\nh,a,terminal\nh,b,terminal\na,b,\n",
            "",
            "endpoint \"h\" has several links",
        ),
        (
            "from,to,kind\na,b,terminal\na,b,\n",
            "",
            "an endpoint here and a router",
        ),
        (
            "from,to,kind\nh,a,terminal\na,b,\n",
            "endpoints_per_router = 1",
            "the table names endpoints",
        ),
        ("from,to\n0,1\n", "endpoints_per_router = 0", "is 0"),
        (
            "from,to\n0,1\n",
            "endpoints_per_router = 70000",
            "at most 65535 ports",
        ),
        (
            "from,to,links\n0,1,65535\n",
            "",
            "router \"0\" has more than 65535 ports",
        ),
        (
            "from,to\n0,1\n",
            "kinds = { link = { bandwidth = \"1 Gbps\", latency = \"1 us\" } }",
            "have a key of their own",
        ),
        ("from,to\n", "", "0 routers"),
        (
            "from,to\n0,1\n",
            "kinds = { far = { bandwidth = \"1 Gbps\", latency = \"1 us\" } }",
            "no link of the table is of this kind",
        ),
    ] {
        let error = graph(links, more).err();
        let error = error.unwrap_or_else(|| panic!("{links:?} is a network"));
        assert!(error.contains(words), "{links:?}: {error}");
    }
}
