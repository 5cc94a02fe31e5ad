//! Band-based queueing: a queue for each band of rows that a packet's destination is in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bands::{Bands, grid};
use super::{Build, Divided, Joining, Queueing, Queues};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LinkKind};

/// A packet joins the queue ⌊destination · queues / endpoints⌋: the network is divided into
/// horizontal bands of neighbouring rows, and packets for different bands do not block each other
/// (equation 1). In the dimensions before the last one, packets for different bands are therefore
/// in different queues; in the last dimension they are in their band already. Packets must take the
/// dimensions in one order, the last one last.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Queues<4>);

struct Bbq {
    bands: Bands,
    voq_sw: bool,
}

impl Queueing for Bbq {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        self.bands.count()
    }

    fn queue(&self, packet: &Joining) -> u32 {
        self.bands.horizontal(packet.destination)
    }

    fn by_output(&self) -> bool {
        self.voq_sw
    }
}

fn build(section: &Section, network: Divided) -> Result<Box<dyn Queueing>, ConfigError> {
    let Params(params) = section.parse()?;
    let bands = check_order(&network)
        .and_then(|()| Bands::new(network.topology, params.queues))
        .map_err(|invalid| section.refuse(invalid))?;
    Ok(Box::new(Bbq {
        bands,
        voq_sw: params.voq_sw,
    }))
}

/// Refuses routings whose packets do not take the dimensions in one order, the last one last.
fn check_order(network: &Divided) -> Result<(), Invalid> {
    let last = grid(network.topology)?.dimensions() - 1;
    let refuse = |what: &str, remedy: &str| Err(Invalid::new("scheme", what, remedy));
    match network.routing.orders() {
        [order] if order.last() == Some(&last) => Ok(()),
        [_] => refuse(
            "its bands are rows of the last dimension, which routing.order does not take last: \
             packets are in their band before they come to other dimensions, and all in one queue \
             there",
            "let routing.order end with the last dimension, such as \"xy\"",
        ),
        [] => refuse(
            "packets of this routing keep to no order of dimensions, and bands of rows suit \
             packets that take the last one last (Yebenes et al., section 5: with adaptive routing \
             those of different bands could wait for each other in a cycle)",
            "choose routing.algorithm = \"dor\" (on KNS \"hybrid_dor\"), or another scheme, such \
             as \"dbbm\"",
        ),
        _ => refuse(
            "packets of this routing take the dimensions in several orders, of which horizontal \
             bands suit the first",
            "choose queueing.scheme = \"dbbq\", whose bands depend on the order, or \
             routing.algorithm = \"dor\" (on KNS \"hybrid_dor\")",
        ),
    }
}

/// Registry entry of band-based queueing.
pub const ENTRY: Entry<Build> = Entry {
    name: "bbq",
    summary: "Tori, meshes, HyperX, KNS under dimension order: a queue for each band of rows of \
              destinations (BBQ).",
    source: "Yebenes Segura et al., \"BBQ: A straightforward queuing scheme to reduce HoL-blocking \
             in high-performance hybrid networks\", Euro-Par 2013; Yebenes et al., TACO 2019, \
             equation 1",
    examples: &["queues = 3", "queues = 2, voq_sw = true"],
    parameters: Keys::of::<Params>(),
    build,
};
