//! `none`: no congestion control, the baseline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Capabilities, Rules};
use weir_input::registry::{Entry, Keys};
use weir_model::Classes;

/// No congestion control: the baseline. Credits between neighbours are all that holds a source
/// back.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {}

/// The baseline.
#[derive(Clone, Copy, Debug)]
struct NoControl {
    /// True if there are control packets.
    control: bool,
}

impl Rules for NoControl {
    type State = ();

    fn start(&self, _nics: usize, _outputs: usize) {}

    fn name(&self) -> &'static str {
        "none"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::NONE
    }

    fn classes(&self) -> Classes {
        Classes::of_data(self.control)
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "none",
    summary: "No congestion control: link-level credits alone hold sources back.",
    source: "the baseline that others are measured against (Jiang et al., SC15, section 4)",
    examples: &[""],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| {
        section.parse::<Parameters>()?;
        let control = about.acknowledge || about.circuits;
        Ok(NoControl { control }.into_scheme())
    },
};
