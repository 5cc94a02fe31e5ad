//! Rings that keep a bubble ([`crate::routing::Routing::onward`]) are nodes of the channel dependency graph as a whole: each always has a free place, since a packet enters
//! one only where it leaves another behind. So as long as it holds packets some packet of it has room before it. If that goes on, or has arrived,
//! it moves; else it waits for another ring. Let there be no cycle of rings and other channels, and take one that no edge leads on from:
//! it empties, and then has room for two everywhere; and so on. What is not a bubble's doing stays an edge: a packet that
//! changes its virtual channel within a ring, or comes back to it. (Carrion et al., HiPC 1997.)

use super::{Channel, Walker};
use crate::topology::Peer;

impl Walker<'_> {
    /// The edges with rings that keep a bubble in place of their channels, without those by which packets go on along one.
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
            // It does not come back: no ring.
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
        let port = self.routing.onward(router, in_port)?;
        Some(Channel {
            router,
            port,
            ..channel
        })
    }
}
