//! Cost of the buffers of a network's routers: area, and the energy of a run's writes and reads.
//!
//! Yébenes et al., TACO 2019, section 5.5. Area is taken to be in proportion to size, energy to the
//! number of accesses: a packet that leaves a router was written to its input buffer and read from
//! it, and if the router has output queues, to one of these as well. Queues and virtual channels
//! that divide a buffer make no difference, which is why schemes are to be compared at equal
//! memory.

use crate::config::CostConfig;
use weir_fabric::{Network, RouterParameters};
use weir_input::{OutputQueue, Size};
use weir_network::topology::Peer;
use weir_result::{Cost, Ports};

/// Bits of a size of `[cost]`, which is checked to be one.
fn bits(size: Size) -> f64 {
    match size {
        Size::Bits(bits) => bits as f64,
        Size::Flits(_) | Size::Packets(_) => f64::NAN,
    }
}

/// Bytes of the input buffers and output queues of all routers. Unlimited output queues have no
/// size, and are left out.
pub fn buffer_bytes(network: &Network) -> u64 {
    let flit = u128::from(network.parameters.flit.0);
    let routers = 0..network.topology.routers();
    let flits = routers.map(|router| {
        let ports = 0..network.topology.ports(router);
        let queues = ports.map(|port| match network.topology.peer(router, port) {
            Peer::Unused => 0,
            // A queue to an endpoint for each class.
            Peer::Endpoint(_) => u64::from(network.classes.count()),
            Peer::Router(..) => {
                u64::from(network.channels(network.topology.link(router, port).kind))
            }
        });
        let parameters = network.router(router);
        let queue = match parameters.output_queue {
            OutputQueue::Unlimited => None,
            _ => parameters.output_flits(&network.parameters),
        };
        let queued = u128::from(queues.sum::<u64>()) * u128::from(queue.unwrap_or(0));
        u128::from(network.buffered(router)) + queued
    });
    let bits = flits.sum::<u128>() * flit;
    // The flits of a router are counted in 32 bits, and there are fewer routers than that.
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}

/// The area of `bytes` bytes, mm².
pub fn area_mm2(cost: &CostConfig, bytes: u64) -> f64 {
    8.0 * bytes as f64 / bits(cost.memory) * cost.area_mm2
}

/// Cost of the buffers, with the energy of the packets that left by these ports.
pub fn cost(cost: &CostConfig, network: &Network, ports: &Ports) -> Cost {
    let buffer_bytes = buffer_bytes(network);
    let access = bits(cost.access) / 8.0;
    let sent = ports.router.iter().zip(&ports.bytes);
    let accesses = sent.map(|(&router, &bytes)| {
        let times = accesses_of_a_hop(network.router(router));
        times * (bytes as f64 / access).ceil() as u64
    });
    let accesses = accesses.sum();
    Cost {
        buffer_bytes,
        accesses,
        area_mm2: area_mm2(cost, buffer_bytes),
        energy_nj: accesses as f64 * cost.access_nj,
    }
}

/// A write and a read of each memory that a packet goes through.
fn accesses_of_a_hop(router: &RouterParameters) -> u64 {
    match router.output_queue {
        OutputQueue::None => 2,
        _ => 4,
    }
}
