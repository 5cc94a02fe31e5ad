//! Rings that keep a bubble ([`crate::routing::Routing::onward`]) as nodes of the channel
//! dependency graph.
//!
//! Such a ring always has a free place, since a packet enters it only if another place stays free.
//! As long as it holds packets, one of them therefore has room ahead. If that packet continues
//! along the ring or has arrived, it moves; otherwise it waits for another ring. Suppose there is
//! no cycle of rings and other channels, and take one without outgoing edges: it empties, and then
//! has room for two everywhere; and so on.
//!
//! Dependencies that the bubble does not resolve stay edges: a packet that changes its virtual
//! channel within a ring, or comes back to it. (Carrion et al., HiPC 1997.)

use super::{Channel, Walker};
use crate::topology::Peer;

impl Walker<'_> {
    /// The edges after replacing the channels of each ring that keeps a bubble by one node, without
    /// those for packets that continue along the ring.
    pub(super) fn between_rings(&self, edges: &[(Channel, Channel)]) -> Vec<(Channel, Channel)> {
        let stands_for = |channel: Channel| {
            let mut first = channel;
            let mut at = channel;
            // No ring has more channels than there are routers.
            for _ in 0..self.topology.routers() {
                match self.onward(at) {
                    Some(next) if next == channel => return first,
                    Some(next) => (at, first) = (next, first.min(next)),
                    None => break,
                }
            }
            // The path does not come back: this is no ring.
            channel
        };
        let mut between: Vec<_> = edges
            .iter()
            .map(|&(from, to)| (from, to, stands_for(from), stands_for(to)))
            .filter(|&(from, to, ring, same)| ring != same || self.onward(from) != Some(to))
            .map(|(_, _, from, to)| (from, to))
            .collect();
        between.sort_unstable();
        between.dedup();
        between
    }

    /// The channel after this one in its ring, if it is in one that keeps a bubble.
    fn onward(&self, channel: Channel) -> Option<Channel> {
        let Peer::Router(router, in_port) = self.topology.peer(channel.router, channel.port) else {
            return None;
        };
        let kind = self.topology.link(channel.router, channel.port).kind;
        if self.routing.has_detours() && channel.vc + 1 == self.routing.vcs(kind) {
            return None;
        }
        let port = self.routing.onward(router, in_port)?;
        Some(Channel {
            router,
            port,
            ..channel
        })
    }
}
