//! Links that fail during the run.

use rustc_hash::FxHashMap;

use crate::setup::network::Network;
use crate::state::OutIndex;
use weir_model::{LinkRate, Span};
use weir_network::topology::Place;

/// An output whose link is not the same for the whole run.
pub(crate) struct Failing {
    /// The beginning of its link.
    pub place: Place,
    /// Times in which the link loses packets.
    pub lost: Vec<Span>,
    /// A time, the rate of the link in it, and the probability that a bit is received wrong.
    pub worse: Option<(Span, LinkRate, f64)>,
}

impl Failing {
    /// The failures of the link that begins at a place; None if it is the same for the whole run.
    pub fn new(network: &Network, place: Place) -> Option<Failing> {
        let failures = &network.failures;
        let down = failures.down_at(place).iter().filter(|down| down.loses);
        let lost: Vec<Span> = down.map(|down| down.span).collect();
        let worse = failures
            .get(place)
            .filter(|changed| changed.bit_error_rate > 0.0 || failures.lasting(place).is_none());
        let worse = worse.map(|changed| {
            let rate = network.rate(&changed.link);
            (changed.span, rate, changed.bit_error_rate)
        });
        (!lost.is_empty() || worse.is_some()).then_some(Failing { place, lost, worse })
    }
}

/// The failing outputs of a domain.
pub(crate) type FailingOutputs = FxHashMap<OutIndex, Failing>;
