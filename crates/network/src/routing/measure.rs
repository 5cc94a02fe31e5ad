//! Measures of load, and choices that routings of several families share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Here, Hop, Queue};
use weir_model::PortId;

/// Measure by which an adaptive routing compares ways, in flits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Backlog of the port in this router (input and output queues) and in the buffer behind it,
    /// less the content of the link's round trip.
    #[default]
    Backlog,
    /// Packets that have left the input queues of this router by the port and whose credit is not
    /// back: output queues, link, buffer behind it, returning credits (BookSim2, which takes the
    /// credit of a flit when it crosses).
    Credits,
    /// The same plus the backlog of the port in input queues here (CODES).
    Occupancy,
    /// The output queue alone, of the virtual channel that the packet would take (merlin of SST).
    OutputQueue,
}

impl Measure {
    /// Value of the measure for a hop out of this router.
    #[inline]
    pub fn of(self, hop: Hop, here: &mut dyn Here) -> u32 {
        match self {
            Measure::Backlog => here.backlog(hop.port),
            Measure::Credits => {
                let Queue { queued, beyond, .. } = here.queue(hop.port);
                queued.saturating_add(beyond)
            }
            Measure::Occupancy => {
                let Queue {
                    waiting,
                    queued,
                    beyond,
                } = here.queue(hop.port);
                waiting.saturating_add(queued).saturating_add(beyond)
            }
            Measure::OutputQueue => here.load(hop).queued,
        }
    }
}

/// The port with the least backlog of `count` ports, more than 0; the first such port from a random
/// one on.
#[inline(always)]
pub(super) fn least_loaded(
    count: usize,
    port: impl Fn(usize) -> PortId,
    here: &mut dyn Here,
) -> PortId {
    let first = here.pick(count as u32) as usize;
    let mut best = port(first);
    let mut least = here.backlog(best);
    for port in (first + 1..count).chain(0..first).map(port) {
        // No port can be better than one without backlog.
        if least == 0 {
            break;
        }
        let backlog = here.backlog(port);
        if backlog < least {
            (best, least) = (port, backlog);
        }
    }
    best
}

/// A random number below `of` other than two of them, which differ; None if these are all.
pub(super) fn third(of: u32, one: u32, two: u32, here: &mut dyn Here) -> Option<u32> {
    let others = of.checked_sub(2).filter(|&others| others > 0)?;
    let mut drawn = here.pick(others);
    for taken in [one.min(two), one.max(two)] {
        drawn += u32::from(drawn >= taken);
    }
    Some(drawn)
}
