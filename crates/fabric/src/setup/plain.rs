//! Features that most networks do without.
//! The fabric is compiled three times: for plain runs, which contain none of them; for congestion
//! control on networks that have none of the others; and for all other runs.

use std::fmt::Debug;

use super::network::RouterParameters;
use crate::setup::blueprint::Blueprint;
use crate::state::ports::wide_port::MOST_BITS;
use crate::{BufferPer, CreditAt, Switching};
use weir_congestion::{Capabilities, Scheme};
use weir_model::LinkKind;

/// Features that a copy of the fabric is compiled with.
pub trait Compiled: Copy + Debug + Send + Sync + 'static {
    /// Congestion control.
    const CC: bool;
    /// Other features that plain runs do not have ([`is_rich`]).
    const RICH: bool;
}

/// Without congestion control, on networks that have nothing out of the ordinary.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Compiled for Plain {
    const CC: bool = false;
    const RICH: bool = false;
}

/// Congestion control on such networks.
#[derive(Clone, Copy, Debug)]
pub struct Controlled;

impl Compiled for Controlled {
    const CC: bool = true;
    const RICH: bool = false;
}

/// All there is.
#[derive(Clone, Copy, Debug)]
pub struct Rich;

impl Compiled for Rich {
    const CC: bool = true;
    const RICH: bool = true;
}

/// True if a scheme does anything.
pub fn is_controlled(scheme: &dyn Scheme) -> bool {
    scheme.capabilities() != Capabilities::NONE
}

/// True if a network has any of these features:
///
/// - virtual channels that are divided,
/// - packets with alternative routes,
/// - NICs that choose among virtual networks,
/// - flows that are managed or recorded, links whose timelines are recorded,
/// - ports with more queues than a word has bits,
/// - buffers that queues share,
/// - credits that are taken before a packet joins an output queue,
/// - routers that store packets or take time between two of a virtual channel,
/// - routings that keep bubbles, and packets that all take the room of the longest,
/// - links that fail during the run, or carry nothing.
pub fn is_rich(blueprint: &Blueprint) -> bool {
    let network = &blueprint.network;
    let kinds = 0..network.topology.link_kinds().len();
    let classes = u32::from(network.classes.count());
    let few = |kind| network.queues(LinkKind(kind as u8)).saturating_mul(classes) <= MOST_BITS;
    let plain = |router: &RouterParameters| {
        router.buffer_per == BufferPer::Vc
            && router.credit_at == CreditAt::Link
            && router.switching == Switching::CutThrough
            && !router.allocates()
    };
    network.flows.managed
        || blueprint.recording.flows
        || blueprint.links.is_some()
        || network.divided()
        || network.routing.has_alternatives()
        || network.routing.choice_at_nic().is_some()
        || network.routing.keeps_bubbles()
        || network.least_room() > 1
        || network.failures.any_during_run()
        || !kinds.into_iter().all(few)
        || !network.routers.iter().all(plain)
}
