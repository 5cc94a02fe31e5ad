//! The sources of a port, and the limits of a source.

use serde::{Deserialize, Serialize};

use super::super::Actions;
use weir_model::codec::SavedMap;
use weir_model::{EndpointId, Time};

/// The kind of signal. First word: the congested endpoint and, in the upper half, N (0: no limit).
/// Second word: the pause, ps.
pub(super) const LIMIT: u16 = 0;

/// A source counted at a port.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Stream {
    /// Arrival of its last packet, or, if that is later and pauses do not count, the end of its
    /// pause.
    pub last: Time,
    /// Earliest time at which it can time out.
    pub due: Time,
    /// True if it has been told to pause.
    pub told: bool,
}

/// The port of an endpoint.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct EndPort {
    /// The endpoint.
    pub target: EndpointId,
    /// The sources counted.
    pub streams: SavedMap<EndpointId, Stream>,
    /// Earliest time at which any source can time out.
    pub check: Time,
    /// True if sources are limited.
    pub on: bool,
    /// The alarm that is valid; earlier ones are ignored.
    pub alarm: Time,
}

impl EndPort {
    pub fn tell(&self, actions: &mut Actions, to: EndpointId, n: u32, pause: Time) {
        actions.signal(
            to,
            LIMIT,
            [u64::from(self.target) | u64::from(n) << 32, pause],
        );
    }

    #[expect(
        clippy::iter_over_hash_type,
        reason = "signals that take effect at one time are handled in the order of their content"
    )]
    pub fn tell_all(&self, actions: &mut Actions, n: u32, pause: Time) {
        for &to in self.streams.keys() {
            self.tell(actions, to, n, pause);
        }
    }
}

/// SourceLimit of a source towards one endpoint.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct SourceLimit {
    /// 0: none once the pause is over.
    pub n: u32,
    pub pause_until: Time,
    /// Time at which its last packet to that endpoint began to leave, and the duration.
    pub last: (Time, Time),
}
