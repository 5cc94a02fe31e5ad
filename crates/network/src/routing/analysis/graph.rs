//! Channels, and cycles among them.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use weir_model::{PortId, RouterId};

/// One virtual channel of the link behind a router's port, in the direction away from the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel {
    /// The router at which the link begins.
    pub router: RouterId,
    /// The output port.
    pub port: PortId,
    /// The virtual channel within a traffic class.
    pub vc: u8,
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "router {} port {} vc {}",
            self.router, self.port, self.vc
        )
    }
}

/// A cycle of a directed graph that is given by its edges; None if there is none.
pub fn find_cycle(edges: &[(Channel, Channel)]) -> Option<Vec<Channel>> {
    let mut after: FxHashMap<Channel, Vec<Channel>> = FxHashMap::default();
    for &(from, to) in edges {
        after.entry(from).or_default().push(to);
    }
    let mut finished: FxHashSet<Channel> = FxHashSet::default();
    let mut starts: Vec<Channel> = after.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        if finished.contains(&start) {
            continue;
        }
        // The path from `start`, with the number of successors of each channel that were tried.
        let mut path = vec![(start, 0)];
        let mut on_path: FxHashSet<Channel> = [start].into_iter().collect();
        while let Some((channel, tried)) = path.last_mut() {
            let next = after.get(channel).and_then(|list| list.get(*tried));
            *tried += 1;
            match next {
                Some(next) if on_path.contains(next) => {
                    let cycle = path.iter().map(|(channel, _)| *channel);
                    return Some(cycle.skip_while(|channel| channel != next).collect());
                }
                Some(next) if finished.contains(next) => {}
                Some(next) => {
                    on_path.insert(*next);
                    path.push((*next, 0));
                }
                None => {
                    finished.insert(*channel);
                    on_path.remove(channel);
                    path.pop();
                }
            }
        }
    }
    None
}
