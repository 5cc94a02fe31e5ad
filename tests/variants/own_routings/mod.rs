//! User-defined routings, written against the public traits in one file each: a torus without its
//! dateline, and without an escape. The missing part is noticed by the walker and by a run.

mod dimension_order;
mod minimal_adaptive;

use std::sync::Arc;

use crate::networks::direct::{ROUTERS, experiment, network};
use dimension_order::WithoutDateline;
use minimal_adaptive::WithoutEscape;
use weir::config::Section;
use weir::routing;
use weir::routing::analysis::Walker;
use weir::simulation::RunError;
use weir::topology::Topology;
use weir::topology::torus::Torus;

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
