//! Dynamic band-based queueing: bands of rows or of columns, by the order in which a packet takes
//! the dimensions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bands::{self, Bands, grid};
use super::{Build, Divided, Joining, Queueing, Queues};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind};

/// Bands in each of one or two virtual networks, whose packets take the dimensions in different
/// orders. In the first a packet joins the queue ⌊destination · queues / endpoints⌋ (horizontal
/// bands, equation 2). In the second it joins ⌊x · queues / size of x⌋, where x is the
/// destination's first coordinate (vertical bands, equation 3). Packets that take y first are in
/// the row of their destination when they turn into x; vertical bands keep them from sharing one
/// queue there.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Queues<2>);

struct Dbbq {
    bands: Bands,
    /// Virtual networks.
    networks: u8,
    voq_sw: bool,
}

impl Queueing for Dbbq {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        self.bands.count()
    }

    fn queue(&self, packet: &Joining) -> u32 {
        // The virtual networks have equal numbers of virtual channels on every link, including the
        // one from the NIC.
        match packet.vc / (packet.vcs / self.networks) {
            0 => self.bands.horizontal(packet.destination),
            _ => self.bands.vertical(packet.destination),
        }
    }

    fn by_output(&self) -> bool {
        self.voq_sw
    }
}

fn build(section: &Section, network: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params(params) = section.parse()?;
    let refuse = |invalid| section.refuse(invalid);
    let networks = networks(&network).map_err(refuse)?;
    let bands = Bands::new(network.topology, params.queues).map_err(refuse)?;
    if networks > 1 {
        grid(network.topology)
            .and_then(|grid| bands::check(params.queues, grid, 0))
            .map_err(refuse)?;
    }
    Ok(Box::new(Dbbq {
        bands,
        networks,
        voq_sw: params.voq_sw,
    }))
}

/// The number of virtual networks of a routing, refused if bands do not suit their orders.
fn networks(network: &Divided) -> Result<u8, Invalid> {
    let last = grid(network.topology)?.dimensions() - 1;
    let refuse = |what: String, remedy: &str| Err(Invalid::new("scheme", what, remedy));
    let orders = network.routing.orders();
    let suits = match orders {
        [first] => first.last() == Some(&last),
        [first, second] => first.last() == Some(&last) && second.first() != Some(&0),
        [] => {
            return refuse(
                "packets of this routing do not take the dimensions in an order, by which bands \
                 are chosen"
                    .into(),
                "choose routing.algorithm = \"oblivious\", \"source_adaptive\" or \"dor\", or \
                 another scheme, such as \"dbbm\"",
            );
        }
        more => {
            return refuse(
                format!(
                    "there are horizontal and vertical bands, for two orders of dimensions, and {} \
                     orders",
                    more.len()
                ),
                "give at most two routing.orders, such as [\"xy\", \"yx\"]",
            );
        }
    };
    if !suits {
        return refuse(
            "its bands are rows of the last dimension for the first order, and columns of the \
             first dimension for the second; the orders take these before others, where packets \
             would all stand in one queue"
                .into(),
            "let the first order end with the last dimension, and the second not begin with x, \
             such as [\"xy\", \"yx\"]",
        );
    }
    if orders.len() > 1 && network.routing.choice_at_nic().is_none() {
        return refuse(
            "its bands depend on the virtual network of a packet, which this routing chooses at \
             the first router: on the link from the NIC it is not known"
                .into(),
            "write routing.choose_at = \"nic\"",
        );
    }
    // One or two.
    Ok(orders.len() as u8)
}

/// Registry entry of dynamic band-based queueing.
pub const ENTRY: Entry<Build> = Entry {
    name: "dbbq",
    summary: "Tori, meshes, HyperX, KNS: bands of rows for packets that take x first, of columns \
              for packets that take y first (DBBQ).",
    source: "Yebenes et al., TACO 2019, section 3.3, equations 2 and 3",
    examples: &["", "queues = 3, voq_sw = true"],
    parameters: Keys::of::<Params>(),
    build,
};
