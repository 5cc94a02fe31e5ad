//! One queue per virtual channel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, Queueing};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::LinkKind;

/// A single queue has no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

/// The packets of a virtual channel leave its buffer in the order of arrival, whatever output they
/// wait for.
struct Single;

impl Queueing for Single {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        1
    }

    fn queue(&self, _: &Joining) -> u32 {
        0
    }

    fn by_output(&self) -> bool {
        false
    }
}

fn build(section: &Section, _: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params {} = section.parse()?;
    Ok(Box::new(Single))
}

/// Registry entry of the single queue.
pub const ENTRY: Entry<Build> = Entry {
    name: "single",
    summary: "One queue per virtual channel: a packet that waits blocks all behind it (1VC).",
    source: "Karol, Hluchyj, Morgan, \"Input versus output queuing on a space-division packet \
             switch\", IEEE Trans. Commun. 35, 1987; \"1VC\" in Yebenes et al., section 5",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
