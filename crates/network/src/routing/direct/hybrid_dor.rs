//! Dimension-order routing on KNS, called Hybrid-DOR by its authors. Between two dimensions a
//! packet goes through a node's interface; in a line of several stages it goes up and down its
//! tree, by D-mod-k.

use super::dor;
use super::orders::OneOrder;
use crate::routing::Build;
use weir_input::registry::{Entry, Keys};

/// Registry entry of Hybrid-DOR.
pub const ENTRY: Entry<Build> = Entry {
    name: "hybrid_dor",
    summary: "KNS: through the line of each dimension in a fixed order.",
    source: "Penaranda et al., J. Supercomput. 72(3), 2016; Yebenes et al., TACO 2019, section 2.2",
    examples: &["", "vcs = 2"],
    parameters: Keys::of::<OneOrder>(),
    build: dor::build,
};
