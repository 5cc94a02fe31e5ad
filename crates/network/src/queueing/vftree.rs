//! vFtree: on fat trees, queues by the leaf router of the destination, in turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, Queueing, Queues, check_number, leaf_of};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::LinkKind;

/// A packet joins the queue of the number (leaf router of its destination) mod `queues`. Under
/// D-mod-k, the destinations that a leaf router reaches by the same link up are one endpoint of
/// each other leaf router. Such destinations are therefore spread evenly over the queues.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Queues<4>);

struct VfTree {
    params: Queues<4>,
    /// Endpoints of a leaf router.
    leaf: u32,
}

impl Queueing for VfTree {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        self.params.queues
    }

    fn queue(&self, packet: &Joining) -> u32 {
        packet.destination / self.leaf % self.params.queues
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
    Ok(Box::new(VfTree { params, leaf }))
}

/// Registry entry of vFtree.
pub const ENTRY: Entry<Build> = Entry {
    name: "vftree",
    summary: "Fat trees: queues by the destination's leaf router modulo their number, so that \
              destinations of one link up take them in turn.",
    source: "Guay, Bogdanski, Reinemo, Lysne, Skeie, \"vFtree - A fat-tree routing algorithm using \
             virtual lanes to alleviate congestion\", IPDPS 2011: destinations that share a link \
             up are spread over all virtual lanes; that it is by leaf router is worked out here, \
             for D-mod-k",
    examples: &["", "queues = 3, voq_sw = true"],
    parameters: Keys::of::<Params>(),
    build,
};
