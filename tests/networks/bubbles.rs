//! A place that stays free in each ring of a torus: one class of virtual channels is enough, and
//! without the bubble it is not.

use std::sync::Arc;

use weir::config::Section;
use weir::model::{Flight, LinkKind, PortId, RouterId};
use weir::routing::analysis::Walker;
use weir::routing::{self, Here, Hop, Routing};
use weir::simulation::RunError;
use weir::topology::Topology;

use crate::networks::direct::{experiment, network};
use crate::support::{Experiment, run_on, run_plan};

/// A routing of a torus that keeps bubbles.
fn bubbles(name: &str, topology: &Arc<dyn Topology>) -> Box<dyn Routing> {
    let section = Section::from_toml(&format!("algorithm = \"{name}\"\nrings = \"bubble\""));
    let entry = routing::find("torus", name).expect("an entry");
    let built = (entry.build)(&section.expect("TOML"), topology);
    built.unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Change to the behaviour of a routing.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// It continues along a ring without keeping a place free.
    NoBubble,
    /// It keeps one, and lets packets turn in any order of dimensions, by their destination.
    AnyOrder,
}

/// The same routing except for one change.
struct Changed {
    of: [Box<dyn Routing>; 2],
    change: Change,
}

impl Changed {
    fn of(topology: &Arc<dyn Topology>, change: Change) -> Box<dyn Routing> {
        let section = "algorithm = \"dor\"\nrings = \"bubble\"\norder = \"yx\"";
        let section = Section::from_toml(section).expect("TOML");
        let entry = routing::find("torus", "dor").expect("an entry");
        let first = bubbles("dor", topology);
        let other = match change {
            Change::NoBubble => bubbles("dor", topology),
            Change::AnyOrder => {
                (entry.build)(&section, topology).expect("a torus of two dimensions")
            }
        };
        Box::new(Changed {
            of: [first, other],
            change,
        })
    }
}

impl Routing for Changed {
    fn vcs(&self, kind: LinkKind) -> u8 {
        self.of[0].vcs(kind)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        self.of[(flight.destination % 2) as usize].route(flight, here)
    }

    fn max_routers(&self) -> u32 {
        self.of[0].max_routers()
    }

    fn keeps_bubbles(&self) -> bool {
        self.change != Change::NoBubble
    }

    fn onward(&self, router: RouterId, in_port: PortId) -> Option<PortId> {
        self.of[0].onward(router, in_port)
    }
}

/// A ring of routers, each of which sends at full rate to the second one from it, with buffers of
/// size `buffer`.
fn ring(routers: u32, buffer: &str) -> Experiment {
    let to: Vec<i64> = (0..routers)
        .map(|at| i64::from((at + 2) % routers))
        .collect();
    experiment(&format!("kind = \"torus\"\nsizes = [{routers}]"), "dor")
        .set("routing.rings", "bubble")
        .set("router.output_queue", "none")
        .set("router.input_buffer", buffer)
        .set("nic.acknowledge", false)
        .traffic("permutation", 1.0)
        .with("pattern.list", to)
}

fn assert_deadlocked(ended: Result<weir::simulation::Outcome, RunError>) {
    match ended {
        Err(RunError::Deadlocked { .. }) => {}
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it came to an end"),
    }
}

#[test]
fn a_ring_that_fills_up_stalls_without_its_bubble_and_moves_with_it() {
    for (message, buffer) in [
        // Two places.
        ("24 flits", "48 flits"),
        // Many packets of half a place, and of both lengths.
        ("12 flits", "48 flits"),
        ("36 flits", "72 flits"),
    ] {
        for routers in [5, 6] {
            // Within 20 us it stalls for 4 to 7 of eight seeds.
            let full = ring(routers, buffer)
                .set("run.seed", 2)
                .message(message)
                .to_completion("20 us");
            let without: routing::Build = |_, topology| Ok(Changed::of(topology, Change::NoBubble));
            assert_deadlocked(full.try_run_by(without));
            // Every run checks that everything arrives.
            full.run();
        }
    }
}

#[test]
fn tori_of_two_and_three_dimensions_empty_from_full_load() {
    for (sizes, algorithm, vcs) in [
        ("[4, 5]", "dor", 1),
        ("[4, 4]", "oblivious", 2),
        ("[2, 3, 4]", "source_adaptive", 2),
    ] {
        let torus = format!("kind = \"torus\"\nsizes = {sizes}");
        let full = experiment(&torus, algorithm)
            .set("routing.rings", "bubble")
            .set("queueing.scheme", "voq_sw")
            .set("router.output_queue", "none")
            .set("router.input_buffer", "48 flits")
            .uniform(1.0)
            .message("30 flits")
            .to_completion("3 us");
        let plan = full.plan();
        assert_eq!(plan.network().routing.vcs(LinkKind(1)), vcs, "{sizes}");
        let whole = run_plan(&plan).expect("no stall").data;
        let shared = run_on(2, &plan).expect("no stall");
        assert!(whole == shared, "two ranks, {sizes}");
    }
}

#[test]
fn the_walk_knows_what_a_bubble_does_and_what_it_does_not() {
    for sizes in ["[5]", "[4, 3]", "[3, 2, 3]"] {
        let torus = network(&format!("kind = \"torus\"\nsizes = {sizes}\n"));
        for name in ["dor", "oblivious", "source_adaptive"] {
            let routing = bubbles(name, &torus);
            let mut walker = Walker::new(&*torus, &*routing);
            walker.walk_all().expect("all arrive");
            assert_eq!(walker.cycle(), None, "{name} on {sizes}");
        }
    }
    let torus = network("kind = \"torus\"\nsizes = [4, 4]\n");
    for change in [Change::NoBubble, Change::AnyOrder] {
        let routing = Changed::of(&torus, change);
        let mut walker = Walker::new(&*torus, &*routing);
        walker.walk_all().expect("all arrive");
        let cycle = walker.cycle().expect("packets can wait for each other");
        match change {
            // Within one ring.
            Change::NoBubble => assert_eq!(cycle.len(), 4),
            // From rings of x to rings of y and back.
            Change::AnyOrder => assert!(cycle.len() >= 2, "{cycle:?}"),
        }
    }
}

#[test]
fn a_lone_packet_and_a_lone_flow_are_no_slower_than_with_datelines() {
    let flow = |rings: &str, load: f64| {
        let run = experiment("kind = \"torus\"\nsizes = [6]", "dor")
            .set("routing.rings", rings)
            .set("router.output_queue", "none")
            // Two places more than the round trip of 50 + 2 * 20 ns, in whole places.
            .set("router.input_buffer", "168 flits")
            .set("nic.acknowledge", false)
            .traffic("fixed_pairs", load)
            .with("endpoints", vec![0, 2])
            .message("24 flits")
            .set("output.packets", true)
            .until("20 us")
            .run();
        run.data.packets.expect("they are recorded").delivered_ps
    };
    for load in [0.01, 1.0] {
        let [bubble, dateline] = ["bubble", "dateline"].map(|rings| flow(rings, load));
        assert!(
            bubble.len() > (800.0 * load) as usize / 2,
            "{}",
            bubble.len()
        );
        assert_eq!(bubble, dateline, "load {load}");
    }
}

#[test]
fn what_cannot_keep_a_bubble_is_refused() {
    let good = || ring(5, "48 flits").message("24 flits").until("1 us");
    good()
        .try_plan()
        .map_err(|error| error.render(false))
        .expect("a good ring");
    for (key, value, named) in [
        (
            "router.output_queue",
            "96 flits".into(),
            "router.output_queue",
        ),
        ("router.buffer_per", "port".into(), "router.buffer_per"),
        ("router.input_buffer", "47 flits".into(), "two places"),
        ("routing.vcs", 2.into(), "one for each order"),
        ("topology.kind", "mesh".into(), "is no ring"),
        ("topology.links_between_routers", vec![2].into(), "doubled"),
        ("queueing", vcs_scheme(), "within a ring"),
    ] as [(&str, toml::Value, &str); 7]
    {
        let refused = good().set(key, value).try_plan();
        let Err(error) = refused else {
            panic!("{key} was taken");
        };
        let text = error.render(false);
        assert!(
            text.contains(named) && text.contains("help"),
            "{key}: {text}"
        );
    }
    // If a packet takes its place as it crosses, it may have an output queue.
    let crossing = good().set("router.output_queue", "96 flits");
    let crossing = crossing.set("router.credit_at", "crossing");
    crossing
        .try_plan()
        .map_err(|error| error.render(false))
        .expect("a place when it crosses");
}

fn vcs_scheme() -> toml::Value {
    "scheme = \"vcs\"\ncount = 2"
        .parse::<toml::Table>()
        .expect("TOML")
        .into()
}
