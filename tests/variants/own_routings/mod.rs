//! User-defined routings, written against the public traits in one file each: a torus without its
//! dateline, without an escape, and with ways that never or wrongly arrive. What is wrong is noticed
//! by the walker and by a run.

mod circles;
mod dimension_order;
mod minimal_adaptive;
mod wrong_port;

use std::sync::Arc;

use crate::networks::direct::{ROUTERS, experiment, network};
use circles::Circles;
use dimension_order::WithoutDateline;
use minimal_adaptive::WithoutEscape;
use weir::config::Section;
use weir::fabric::Fault;
use weir::routing;
use weir::routing::analysis::Walker;
use weir::simulation::RunError;
use weir::topology::Topology;
use weir::topology::torus::Torus;
use wrong_port::WrongPort;

const BAD: [routing::Build; 2] = [
    |_, topology| Ok(Box::new(WithoutDateline(torus(topology)))),
    |_, topology| Ok(Box::new(WithoutEscape(torus(topology)))),
];

const TORUS: &str = "kind = \"torus\"\nsizes = [5, 4]";

fn torus(topology: &Arc<dyn Topology>) -> Torus {
    topology.as_a::<Torus>().expect("a torus").clone()
}

#[test]
fn what_is_left_out_is_missed() {
    // A ring of three routers has no two links in a row.
    for sizes in ["[4, 3]", "[4, 4]", "[5, 4]"] {
        let network = network(&format!("kind = \"torus\"\nsizes = {sizes}"));
        for build in BAD {
            let section = Section::from_toml("").expect("TOML");
            let routing = build(&section, &network).expect("a torus");
            let mut walker = Walker::new(&*network, &*routing);
            walker.walk_all().expect("all routes arrive all the same");
            assert!(walker.cycle().is_some(), "a ring of waiting packets");
        }
    }
}

/// More load than the network carries, in buffers of one packet.
#[test]
fn without_a_way_out_a_saturated_torus_deadlocks() {
    for (queueing, queue, arbitration) in ROUTERS {
        let experiment = experiment(TORUS, "dor")
            .smallest_buffers()
            .uniform(1.2)
            .message("24 flits")
            .set("queueing.scheme", queueing)
            .set("router.output_queue", queue)
            .set("router.arbitration", arbitration)
            .to_completion("12 us");
        for build in BAD {
            let ended = experiment.try_run_by(build).map(|_| ());
            let Err(RunError::Deadlocked { deadlock, .. }) = ended else {
                panic!("{ended:?}\n{}", experiment.text());
            };
            let ring = deadlock
                .cycle
                .iter()
                .zip(deadlock.cycle.iter().cycle().skip(1));
            assert!(ring.into_iter().all(|(wait, next)| wait.needs == next.at));
        }
    }
}

/// A lone packet on each ring, which no other one holds up.
#[test]
fn packets_that_go_around_in_circles_end_the_run() {
    let build: routing::Build = |_, topology| Ok(Box::new(Circles(torus(topology))));
    let network = network(TORUS);
    let section = Section::from_toml("").expect("TOML");
    let routing = build(&section, &network).expect("a torus");
    let walked = Walker::new(&*network, &*routing).walk_all();
    let fault = walked.expect_err("no route arrives").to_string();
    assert!(fault.contains("never arrives"), "{fault}");
    let experiment = experiment(TORUS, "dor")
        .traffic("fixed_pairs", 0.001)
        .with("endpoints", vec![0, 7])
        .message("24 flits")
        .to_completion("100 us");
    let ended = experiment.try_run_by(build).map(|_| ());
    let Err(RunError::Fault(Fault::Circles { most, .. })) = ended else {
        panic!("{ended:?}\n{}", experiment.text());
    };
    assert_eq!(most, network.diameter_routers());
}

/// Nothing else goes wrong: all that is sent is received, but by others.
#[test]
fn packets_at_the_wrong_endpoint_end_the_run() {
    let build: routing::Build = |_, topology| Ok(Box::new(WrongPort::new(torus(topology))));
    let ended = experiment(&format!("{TORUS}\nendpoints_per_router = 2"), "dor")
        .uniform(0.1)
        .message("24 flits")
        .until("20 us")
        .try_run_by(build)
        .map(|_| ());
    let Err(RunError::Fault(Fault::Misrouted { to, at })) = ended else {
        panic!("{ended:?}");
    };
    // The other endpoint of the same router.
    assert_eq!((to % 2, at), (1, to - 1));
}
