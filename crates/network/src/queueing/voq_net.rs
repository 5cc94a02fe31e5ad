//! Virtual output queues at the network level: a queue for every destination.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, MOST_EACH, Queueing};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind};

/// Virtual output queues at the network level have no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

/// Each virtual channel has a queue for every endpoint of the network, served in order of arrival.
/// Packets wait only behind others for the same endpoint. There is no head-of-line blocking
/// anywhere, at a cost that no router can afford: this is the baseline for the other schemes.
struct VoqNet {
    endpoints: u32,
}

impl Queueing for VoqNet {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        self.endpoints
    }

    fn queue(&self, packet: &Joining) -> u32 {
        packet.destination
    }

    fn by_output(&self) -> bool {
        false
    }
}

fn build(section: &Section, network: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params {} = section.parse()?;
    let endpoints = network.topology.endpoints();
    if endpoints > MOST_EACH {
        return Err(section.refuse(Invalid::new(
            "scheme",
            format!("a queue for each of {endpoints} endpoints"),
            format!(
                "at most {MOST_EACH} are possible: choose a smaller network, or another scheme \
                     such as \"dbbm\""
            ),
        )));
    }
    Ok(Box::new(VoqNet { endpoints }))
}

/// Registry entry of virtual output queues at the network level.
pub const ENTRY: Entry<Build> = Entry {
    name: "voq_net",
    summary: "A queue for every endpoint (VOQnet): no head-of-line blocking anywhere; the ideal to \
              measure others against.",
    source: "Dally, Carvey, Dennison, \"Architecture of the Avici terabit switch/router\", Hot \
             Interconnects 1998; \"VOQnet\" in Yebenes et al., section 2.3",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
