//! Queueing schemes for some networks: the queue that a packet joins, worked out by hand, their
//! refusals, and the effect of choosing a virtual network in the NIC.

mod nic;

use std::sync::Arc;

use weir::config::Section;
use weir::model::LinkKind;
use weir::queueing::{self, Divided, Joining, Queueing};
use weir::routing::{self, NicRule};
use weir::topology::Topology;

use crate::networks::direct::{experiment, network};
use crate::support::Experiment;

/// A queueing scheme on a network of a text under a routing of a text.
fn scheme(topology: &str, routing: &str, queueing: &str) -> Result<Box<dyn Queueing>, String> {
    let network: Arc<dyn Topology> = network(topology);
    let kind = Section::from_toml(topology).expect("TOML");
    let section = Section::from_toml(routing).expect("TOML");
    let name = section.kind().expect("a name");
    let entry = routing::find(kind.kind().expect("a kind"), name).expect("an entry");
    let built = (entry.build)(&section, &network);
    let routing = built.unwrap_or_else(|error| panic!("{}", error.render(false)));
    let section = Section::from_toml(queueing).expect("TOML");
    let entry = weir::registry::choose(&section, queueing::REGISTRY).expect("a scheme");
    let divided = Divided {
        topology: &network,
        routing: &*routing,
    };
    (entry.build)(&section, divided).map_err(|error| {
        let text = error.render(false);
        let words = text.split_whitespace().filter(|word| *word != "\u{2502}");
        words.collect::<Vec<_>>().join(" ")
    })
}

/// The queue of a packet on a link with `vcs` virtual channels for the routing.
fn queue(scheme: &dyn Queueing, source: u32, destination: u32, (vc, vcs): (u8, u8)) -> u32 {
    scheme.queue(&Joining {
        from: None,
        kind: LinkKind::TERMINAL,
        vc,
        vcs,
        source,
        destination,
        class: 0,
        job: 0,
    })
}

const KNS: &str = "kind = \"kns\"\nk = 4\nn = 2";
const IN_TURN: &str = "algorithm = \"oblivious\"\nchoose_at = \"nic\"";

#[test]
fn bbq_has_a_queue_for_each_band_of_rows() {
    // Yébenes et al., section 2.3: on 16 nodes with 4 queues each row has its own; with 2 the first
    // two rows have one.
    let four = scheme(KNS, "algorithm = \"hybrid_dor\"", "scheme = \"bbq\"").unwrap();
    let two = scheme(
        KNS,
        "algorithm = \"hybrid_dor\"",
        "scheme = \"bbq\"\nqueues = 2",
    )
    .unwrap();
    for destination in 0..16 {
        assert_eq!(queue(&*four, 0, destination, (0, 1)), destination / 4);
        assert_eq!(queue(&*two, 0, destination, (0, 1)), destination / 8);
    }
    assert_eq!(four.queues(LinkKind::TERMINAL, 1), 4);
    // 3 bands of 16: ⌊3 d / 16⌋.
    let three = scheme(
        KNS,
        "algorithm = \"hybrid_dor\"",
        "scheme = \"bbq\"\nqueues = 3",
    )
    .unwrap();
    let bands: Vec<u32> = (0..16).map(|d| queue(&*three, 0, d, (0, 1))).collect();
    assert_eq!(bands, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
}

#[test]
fn dbbq_has_bands_of_rows_or_of_columns_by_the_virtual_network() {
    // Figure 3: with two queues for each network endpoint 13 (row 3, column 1) is in the lower
    // band, and in the left one.
    let kns = scheme(KNS, IN_TURN, "scheme = \"dbbq\"").unwrap();
    assert_eq!(queue(&*kns, 0, 13, (0, 2)), 1);
    assert_eq!(queue(&*kns, 0, 13, (1, 2)), 0);
    for destination in 0..16 {
        // Equations 2 and 3.
        assert_eq!(queue(&*kns, 0, destination, (0, 2)), destination * 2 / 16);
        assert_eq!(
            queue(&*kns, 0, destination, (1, 2)),
            destination % 4 * 2 / 4
        );
    }
    // On a torus a network has two classes of channels: 0 and 1 are the first network's.
    let torus = "kind = \"torus\"\nsizes = [6, 4]\nendpoints_per_router = 2";
    let torus = scheme(torus, IN_TURN, "scheme = \"dbbq\"\nqueues = 3").unwrap();
    // Endpoint 21 is at router 10: x = 4, y = 1.
    assert_eq!([0, 1].map(|vc| queue(&*torus, 0, 21, (vc, 4))), [1, 1]);
    assert_eq!([2, 3].map(|vc| queue(&*torus, 0, 21, (vc, 4))), [2, 2]);
    // One order: as bbq.
    let dor = scheme(KNS, "algorithm = \"hybrid_dor\"", "scheme = \"dbbq\"").unwrap();
    assert_eq!([7, 8].map(|to| queue(&*dor, 0, to, (0, 1))), [0, 1]);
}

#[test]
fn trees_have_queues_by_leaf_routers() {
    // 8 leaf routers of 4 endpoints.
    let tree = "kind = \"folded_clos\"\nradix = 8\nlevels = 2";
    let of = |text: &str| {
        let network = network_of_tree(tree);
        let section = Section::from_toml("algorithm = \"dmodk\"").expect("TOML");
        let routing = (routing::find("folded_clos", "dmodk").unwrap().build)(&section, &network);
        let routing = routing.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let section = Section::from_toml(text).expect("TOML");
        let entry = weir::registry::choose(&section, queueing::REGISTRY).unwrap();
        let divided = Divided {
            topology: &network,
            routing: &*routing,
        };
        let built = (entry.build)(&section, divided);
        built.map_err(|error| error.render(false))
    };
    let vftree = of("scheme = \"vftree\"\nqueues = 3").unwrap();
    for destination in 0..32 {
        assert_eq!(queue(&*vftree, 0, destination, (0, 1)), destination / 4 % 3);
    }
    // Two groups of 16 endpoints each: 0 within either, 1 between them, in both directions.
    let flow2sl = of("scheme = \"flow2sl\"\nqueues = 2").unwrap();
    for (source, destination, wanted) in [(0, 15, 0), (16, 31, 0), (3, 16, 1), (31, 0, 1)] {
        assert_eq!(queue(&*flow2sl, source, destination, (0, 1)), wanted);
    }
    let four = of("scheme = \"flow2sl\"").unwrap();
    // Groups of 8: from group 1 to 3, and from 2 to 1.
    assert_eq!(queue(&*four, 8, 24, (0, 1)), 0);
    assert_eq!(queue(&*four, 16, 15, (0, 1)), 3);
    let error = of("scheme = \"flow2sl\"\nqueues = 9").err().unwrap();
    assert!(error.contains("9 groups of 8 leaf routers"), "{error}");
}

fn network_of_tree(text: &str) -> Arc<dyn Topology> {
    let link = "{ bandwidth = \"100 Gbps\", latency = \"10 ns\" }";
    let text = format!("{text}\nterminal = {link}\nglobal = {link}");
    let section = Section::from_toml(&text).expect("TOML");
    let entry = weir::registry::choose(&section, weir::topology::REGISTRY).expect("a kind");
    (entry.build)(&section).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

#[test]
fn bands_that_do_not_suit_are_refused() {
    let torus = "kind = \"torus\"\nsizes = [6, 4]";
    let hyperx = "kind = \"hyperx\"\nsizes = [3, 3]";
    let cube = "kind = \"mesh\"\nsizes = [2, 2, 4]";
    let three =
        "algorithm = \"oblivious\"\nchoose_at = \"nic\"\norders = [\"xyz\", \"yxz\", \"zxy\"]";
    for (topology, routing, queueing, says) in [
        (
            torus,
            "algorithm = \"minimal_adaptive\"",
            "scheme = \"bbq\"",
            "wait for each other in a cycle",
        ),
        (
            hyperx,
            "algorithm = \"ugal\"",
            "scheme = \"bbq\"",
            "wait for each other in a cycle",
        ),
        (
            torus,
            "algorithm = \"oblivious\"",
            "scheme = \"bbq\"",
            "choose queueing.scheme = \"dbbq\"",
        ),
        (
            torus,
            "algorithm = \"dor\"\norder = \"yx\"",
            "scheme = \"bbq\"",
            "let routing.order end with the last dimension",
        ),
        (
            torus,
            "algorithm = \"dor\"",
            "scheme = \"bbq\"\nqueues = 5",
            "5 bands of the 4 coordinates of dimension y",
        ),
        (
            torus,
            "algorithm = \"dor\"",
            "scheme = \"bbq\"\nqueues = 0",
            "0 queues of a virtual channel",
        ),
        (
            torus,
            "algorithm = \"minimal_adaptive\"",
            "scheme = \"dbbq\"",
            "do not take the dimensions in an order",
        ),
        (
            torus,
            "algorithm = \"oblivious\"",
            "scheme = \"dbbq\"",
            "write routing.choose_at = \"nic\"",
        ),
        (cube, three, "scheme = \"dbbq\"", "and 3 orders"),
        (
            cube,
            IN_TURN,
            "scheme = \"dbbq\"\nqueues = 3",
            "3 bands of the 2 coordinates of dimension x",
        ),
        (
            torus,
            "algorithm = \"source_adaptive\"\nchoose_at = \"nic\"\norders = [\"yx\", \"xy\"]",
            "scheme = \"dbbq\"",
            "let the first order end with the last dimension",
        ),
        (
            torus,
            "algorithm = \"dor\"",
            "scheme = \"vftree\"",
            "leaf routers of a fat tree, and this is a torus",
        ),
        (
            torus,
            "algorithm = \"dor\"",
            "scheme = \"flow2sl\"",
            "leaf routers of a fat tree, and this is a torus",
        ),
    ] {
        match scheme(topology, routing, queueing) {
            Ok(_) => panic!("accepted: {queueing} under {routing}"),
            Err(error) => assert!(error.contains(says), "{says:?} is not in {error}"),
        }
    }
    let dragonfly = Experiment::dragonfly(1, 2, 1).uniform(0.5).until("1 us");
    let error = dragonfly
        .set("queueing.scheme", "bbq")
        .try_plan()
        .err()
        .unwrap();
    let error = error.render(false);
    assert!(
        error.contains("choose a torus, mesh, HyperX or KNS"),
        "{error}"
    );
}

/// A KNS of 4 x 4 whose NICs choose the order.
fn chosen(algorithm: &str) -> Experiment {
    experiment(KNS, algorithm)
        .set("routing.choose_at", "nic")
        .set("queueing.scheme", "dbbq")
        .set("nic.acknowledge", false)
}

#[test]
fn divided_buffers_are_as_large_whatever_divides_them() {
    // 480 flits of a port: two networks of two bands have 120 each.
    let of = |size: &str| {
        chosen("oblivious")
            .uniform(0.5)
            .until("1 us")
            .set("router.buffer_per", "divided")
            .set("router.input_buffer", size)
    };
    let plan = of("480 flits").plan();
    let network = plan.network();
    let topology = &network.topology;
    for port in 0..3 {
        let link = topology.link(0, port);
        let routers = [network.router(0), network.router(0)];
        assert_eq!(network.queue_flits(routers, &link), 120, "port {port}");
        assert_eq!(network.queues(link.kind), 4);
    }
    let error = of("95 flits").try_plan().err().unwrap().render(false);
    assert!(error.contains("write at least \"96 flits\""), "{error}");
    of("96 flits").plan();
}

#[test]
fn presets_are_the_schemes_of_the_paper() {
    let presets = [
        ("bbq-4vc", 4, None),
        ("osha-2vc", 2, Some(NicRule::InTurn)),
        ("osha-4vc", 4, Some(NicRule::InTurn)),
        ("sasha-2vc", 2, Some(NicRule::LeastUsed)),
        ("sasha-4vc", 4, Some(NicRule::LeastUsed)),
    ];
    for (network, per_port) in [("kns-64", 1), ("torus-64", 2)] {
        for (preset, queues, rule) in presets {
            let routing = match (preset, network) {
                ("bbq-4vc", "kns-64") => "algorithm = \"hybrid_dor\"",
                ("bbq-4vc", _) => "algorithm = \"dor\"",
                _ => "",
            };
            let text = format!(
                "preset = \"{preset}\"\n[topology]\nfile = \"{network}\"\n[routing]\n{routing}\n[[workload]]\npattern = {{ kind = \"uniform\" }}\n\
                 load = 0.1\nmessage = \"4 KiB\"\n[router]\nflit = \"64 B\"\n[nic]\nmax_packet = \"4 KiB\"\n[run]\nuntil = \"1 us\"\n"
            );
            let folder = std::path::Path::new(".");
            let catalog = weir::catalog::catalog();
            let experiment =
                weir::config::Experiment::from_text("test", &text, folder, &[], &catalog);
            let experiment = experiment.unwrap_or_else(|error| panic!("{}", error.render(false)));
            let plan = weir::simulation::Plan::new(&experiment, None);
            let plan = plan.unwrap_or_else(|error| panic!("{preset}: {}", error.render(false)));
            let network = plan.network();
            let link = network.topology.link(0, 1);
            let routers = [network.router(0), network.router(0)];
            assert_eq!(network.queues(link.kind), queues * per_port, "{preset}");
            // 2,048 flits of 64 bytes in a port.
            let flits = network.queue_flits(routers, &link);
            assert_eq!(flits, u64::from(2_048 / (queues * per_port)), "{preset}");
            assert_eq!(
                network.routing.choice_at_nic().map(|choice| choice.by),
                rule
            );
        }
    }
}
