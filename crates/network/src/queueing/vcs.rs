//! More virtual channels than the routing needs: several for each of its channels, among which
//! packets choose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Divided, Joining, Queueing};
use crate::queueing::spread::{Choice, Spread};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind};

/// Each virtual channel of the routing becomes `count` of them, on all links between routers. Each
/// has a separate buffer (`router.input_buffer`) and a separate output queue, and takes its turn on
/// the link. (On links from NICs there are `nic.injection_vcs`.)
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Virtual channels for each of the routing's, from 1 to 64.
    count: u8,
    /// Choice among them. "most_free": the one with most room behind its link when the packet is
    /// routed, and any with room while the packet waits. "random": a random one, whatever its
    /// backlog.
    choice: Choice,
    /// True if each virtual channel is also divided by output (`voq_sw`).
    voq_sw: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            count: 4,
            choice: Choice::MostFree,
            voq_sw: false,
        }
    }
}

struct Vcs(Params);

impl Queueing for Vcs {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        1
    }

    fn queue(&self, _: &Joining) -> u32 {
        0
    }

    fn by_output(&self) -> bool {
        self.0.voq_sw
    }

    fn spread(&self) -> Option<Spread> {
        Some(Spread {
            count: self.0.count,
            choice: self.0.choice,
        })
    }
}

/// Maximum of `count`: a port examines no more queues at once.
const MOST: u8 = 64;

fn build(section: &Section, _: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let params: Params = section.parse()?;
    if !(1..=MOST).contains(&params.count) {
        return Err(section.refuse(Invalid::new(
            "count",
            format!("{} virtual channels", params.count),
            format!("write a number from 1 to {MOST}"),
        )));
    }
    Ok(Box::new(Vcs(params)))
}

/// Registry entry of virtual channels beyond the routing's.
pub const ENTRY: Entry<Build> = Entry {
    name: "vcs",
    summary: "Several virtual channels for each that the routing needs; a packet takes the freest, \
              or a random one.",
    source: "Dally, \"Virtual-channel flow control\", IEEE Trans. Parallel Distrib. Syst. 3, 1992; \
             any free one, as in BookSim2",
    examples: &[
        "",
        "count = 3, choice = \"random\"",
        "count = 2, voq_sw = true",
    ],
    parameters: Keys::of::<Params>(),
    build,
};
