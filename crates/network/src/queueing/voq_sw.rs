//! Virtual output queues at the switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, Queueing};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::LinkKind;

/// Virtual output queues have no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

/// The packets of a virtual channel wait in one queue for each output of the router. The queues
/// share the buffer of the virtual channel and its credits: packets for a congested output can fill
/// it, and then block the link before it.
struct VoqSw;

impl Queueing for VoqSw {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        1
    }

    fn queue(&self, _: &Joining) -> u32 {
        0
    }

    fn by_output(&self) -> bool {
        true
    }
}

fn build(section: &Section, _: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params {} = section.parse()?;
    Ok(Box::new(VoqSw))
}

/// Registry entry of virtual output queues at the switch.
pub const ENTRY: Entry<Build> = Entry {
    name: "voq_sw",
    summary: "Virtual output queues at the switch (VOQsw): no head-of-line blocking inside a \
              router. The default.",
    source: "Anderson, Owicki, Saxe, Thacker, \"High-speed switch scheduling for local-area \
             networks\", ACM Trans. Comput. Syst. 11, 1993; the queues share the buffer of their \
             virtual channel, as in Jiang et al., SC15, section 4",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
