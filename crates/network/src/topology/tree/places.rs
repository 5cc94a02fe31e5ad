//! Numbers of routers, and their places: planes, in each its pods, and last its top routers.

use super::{Place, Tree};
use weir_model::RouterId;

impl Tree {
    /// The plane of a router, and its number there.
    #[inline(always)]
    pub(super) fn in_plane(&self, router: RouterId) -> (u32, RouterId) {
        match self.planes {
            1 => (0, router),
            _ => {
                let plane = self.by_plane.divide(router);
                (plane, router - plane * self.by_plane.get())
            }
        }
    }

    #[inline(always)]
    pub(super) fn place(&self, router: RouterId) -> Place {
        let (plane, router) = self.in_plane(router);
        let top = self.levels.len() - 1;
        if router >= self.top().first {
            return Place {
                level: top,
                subtree: plane,
                replica: router - self.top().first,
            };
        }
        let pod = self.by_pod.divide(router);
        let inside = router - pod * self.by_pod.get();
        let mut index = top - 1;
        while self.levels[index].first > inside {
            index -= 1;
        }
        let level = &self.levels[index];
        let inside = inside - level.first;
        let subtree = level.by_replicas.divide(inside);
        Place {
            level: index,
            subtree: (plane * self.pods + pod) * level.subtrees + subtree,
            replica: inside - subtree * level.replicas,
        }
    }

    pub(super) fn router_at(&self, place: Place) -> RouterId {
        let level = &self.levels[place.level];
        if place.level + 1 == self.levels.len() {
            return place.subtree * self.by_plane.get() + level.first + place.replica;
        }
        let pod = place.subtree / level.subtrees;
        let subtree = place.subtree % level.subtrees;
        let (plane, pod) = (pod / self.pods, pod % self.pods);
        let first = plane * self.by_plane.get() + pod * self.by_pod.get() + level.first;
        first + subtree * level.replicas + place.replica
    }
}
