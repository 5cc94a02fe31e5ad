//! Conditions on a network under which a place stays free in each of its rings
//! ([`weir_network::routing::Routing::onward`]).

use crate::config::Experiment;
use weir_fabric::{BufferPer, Network};
use weir_input::ConfigError;
use weir_model::Invalid;
use weir_network::topology::Peer;

/// Refuses routers in which such a place is not kept.
pub(super) fn check(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    if !network.routing.keeps_bubbles() {
        return Ok(());
    }
    let refuse = |key: &str, what: String, remedy: String| {
        Err(experiment.file.refuse(Invalid::new(key, what, remedy)))
    };
    if !network.routers.iter().all(|one| one.credit_to_cross()) {
        return refuse(
            "router.output_queue",
            "packets cross to an output queue before they have a place in the next buffer, and \
             routing.rings = \"bubble\" asks where they come from when they take it"
                .into(),
            "write \"none\", or router.credit_at = \"crossing\"".into(),
        );
    }
    if (network.routers.iter()).any(|one| one.buffer_per == BufferPer::Port) {
        return refuse(
            "router.buffer_per",
            "queues that share the buffer of a port would take each other's free place, which \
             routing.rings = \"bubble\" keeps in each"
                .into(),
            "write \"vc\" or \"divided\"".into(),
        );
    }
    let topology = &network.topology;
    let most = u64::from(network.parameters.max_packet);
    for &router in network.partition.routers(0) {
        for port in 0..topology.ports(router) {
            let (Some(_), Peer::Router(from, _)) = (
                network.routing.onward(router, port),
                topology.peer(router, port),
            ) else {
                continue;
            };
            let ends = [network.router(from), network.router(router)];
            let flits = network.queue_flits(ends, &topology.link(router, port));
            if flits < 2 * most {
                return refuse(
                    "router.input_buffer",
                    format!(
                        "a queue of {flits} flits has no two places for packets of {most}, so \
                         nothing could enter a ring"
                    ),
                    format!(
                        "let each queue have {} flits or more, or write routing.rings = \
                         \"dateline\"",
                        2 * most
                    ),
                );
            }
        }
    }
    Ok(())
}
