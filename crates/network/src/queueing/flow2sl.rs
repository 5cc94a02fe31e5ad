//! Flow2SL: on fat trees, queues by the groups of neighbouring endpoints that hold a packet's
//! source and destination.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, Queueing, Queues, check_number, leaf_of};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, LinkKind};

/// The leaf routers are divided into `queues` groups of neighbours; a packet from group s to group
/// d joins the queue (s + d) mod `queues`. Packets from one group to different groups do not share
/// queues, nor do packets to one group from different groups. A flow and its answers have the same
/// queue, as InfiniBand's service levels require.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Queues<4>);

struct Flow2Sl {
    params: Queues<4>,
    /// Endpoints of a leaf router.
    leaf: u32,
    leaves: u32,
}

impl Flow2Sl {
    fn group(&self, endpoint: EndpointId) -> u32 {
        let leaf = endpoint / self.leaf;
        // Less than `queues`.
        (u64::from(leaf) * u64::from(self.params.queues) / u64::from(self.leaves)) as u32
    }
}

impl Queueing for Flow2Sl {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        self.params.queues
    }

    fn queue(&self, packet: &Joining) -> u32 {
        (self.group(packet.source) + self.group(packet.destination)) % self.params.queues
    }

    fn by_output(&self) -> bool {
        self.params.voq_sw
    }
}

fn build(section: &Section, network: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params(params) = section.parse()?;
    let leaf = check_number(params.queues)
        .and_then(|()| leaf_of(network.topology))
        .map_err(|invalid| section.refuse(invalid))?;
    let leaves = network.topology.endpoints() / leaf;
    if params.queues > leaves {
        return Err(section.refuse(Invalid::new(
            "queues",
            format!("{} groups of {leaves} leaf routers", params.queues),
            format!("write a number from 1 to {leaves}"),
        )));
    }
    Ok(Box::new(Flow2Sl {
        params,
        leaf,
        leaves,
    }))
}

/// Registry entry of Flow2SL.
pub const ENTRY: Entry<Build> = Entry {
    name: "flow2sl",
    summary: "Fat trees: queues by the groups of leaf routers that a packet comes from and goes \
              to.",
    source: "Escudero-Sahuquillo et al., \"A new proposal to deal with congestion in \
             InfiniBand-based fat-trees\", J. Parallel Distrib. Comput. 74(1), 2014, as Yebenes et \
             al., TACO 2019, section 2.3 speak of it: flows to service levels by topology and \
             routing; the sum of the two groups is chosen here",
    examples: &["queues = 2", "queues = 3, voq_sw = true"],
    parameters: Keys::of::<Params>(),
    build,
};
