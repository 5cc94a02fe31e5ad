//! Destination-based buffer management: queues by the destination modulo their number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, Queueing, Queues, check_number};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::LinkKind;

/// A packet joins the queue of the number destination mod `queues`. Congested and other
/// destinations do not block each other if these numbers differ.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Queues<4>);

struct Dbbm(Queues<4>);

impl Queueing for Dbbm {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        self.0.queues
    }

    fn queue(&self, packet: &Joining) -> u32 {
        packet.destination % self.0.queues
    }

    fn by_output(&self) -> bool {
        self.0.voq_sw
    }
}

fn build(section: &Section, _: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params(params) = section.parse()?;
    check_number(params.queues).map_err(|invalid| section.refuse(invalid))?;
    Ok(Box::new(Dbbm(params)))
}

/// Registry entry of destination-based buffer management.
pub const ENTRY: Entry<Build> = Entry {
    name: "dbbm",
    summary: "Queues by destination modulo their number (DBBM): destinations that differ in that \
              do not block each other.",
    source: "Nachiondo, Flich, Duato, \"Buffer management strategies to reduce HoL blocking\", \
             IEEE Trans. Parallel Distrib. Syst. 21, 2010; the number of queues is chosen here: \
             four, as Yebenes et al. give BBQ",
    examples: &["", "queues = 3, voq_sw = true", "queues = 100"],
    parameters: Keys::of::<Params>(),
    build,
};
