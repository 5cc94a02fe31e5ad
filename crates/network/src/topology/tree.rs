//! Shared arithmetic of all fat trees: extended generalised fat trees XGFT(n; m₁ … mₙ; w₁ … wₙ)
//! with w₁ = 1 (Öhring, Ibel, Das and Kumar, "On generalized fat trees", IPPS 1995).
//!
//! Routers are on levels 1 (the leaf routers, which have the endpoints) to n (the top). A router of
//! level l has m_l children and, below the top, w_{l+1} parents. Write M_l = m₁ ⋯ m_l and W_l =
//! w₁ ⋯ w_l. The M_l endpoints from s·M_l on are *subtree* s of level l, and W_l routers of level
//! l, its *replicas* 0 to W_l - 1, reach all of them by going down.
//!
//! # Links
//!
//! Parent u of replica r of subtree s on level l is replica r + u·W_l of subtree ⌊s / m_{l+1}⌋ on
//! level l + 1, of which it is child s mod m_{l+1}. They are joined by p_{l+1} parallel links,
//! whose ports are neighbours at both ends. The way down from a router to an endpoint below it is
//! therefore fixed (of parallel links link ⌊endpoint / W_l⌋ mod p_l), and the way up is free.
//!
//! The replicas of a subtree (on the top level: all routers) are a *logical node*. If the tree has
//! horizontal links, each replica has `width` of them to the one before it and to the one after it:
//! [`horizontal`].
//!
//! # Numbers
//!
//! The subtrees just below the top are the *pods*. The routers of a pod are numbered in one piece,
//! leaf routers first; the top routers come last. Endpoint e is at port e mod m₁ of leaf router ⌊e
//! / m₁⌋ (counted without the others). Ports of a router, in order: down, up, to the replica before
//! it, to the replica after it.
//!
//! A network of several *planes* has as many such trees, one after the other in all numbers, that
//! no link joins: for nodes with an endpoint in each.
//!
//! # Domains
//!
//! Each pod is a domain, and the top routers are assigned to the pods in turn. A tree of one level
//! has one router, one pod and one domain.

pub mod horizontal;
mod places;
mod topology;

use std::ops::Range;

use super::{Link, LinkParams, Peer, check_size};
use weir_model::{Divisor, EndpointId, Invalid, KindName, LinkKind, PortId, RouterId};

/// The kinds of links of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub terminal: LinkParams,
    /// Needed from three levels on.
    pub local: Option<LinkParams>,
    /// Needed from two levels on.
    pub global: Option<LinkParams>,
    /// Needed if there are horizontal links.
    pub horizontal: Option<LinkParams>,
}

impl Links {
    /// The link of a kind that a tree has from this number of levels on; smaller trees do not use
    /// it.
    fn inner(
        &self,
        kind: LinkKind,
        given: Option<LinkParams>,
        from: usize,
        levels: usize,
    ) -> Result<Link, Invalid> {
        let name = &Tree::LINK_KINDS[kind.index()];
        match given {
            Some(params) => params.check(kind, name),
            None if levels < from => self.terminal(),
            None => Err(Invalid::new(
                "",
                format!("the key `{name}` is missing: a tree of {levels} levels has such links"),
                format!("add {name} = {{ bandwidth = \"100 Gbps\", latency = \"50 ns\" }}"),
            )),
        }
    }

    fn terminal(&self) -> Result<Link, Invalid> {
        let kind = LinkKind::TERMINAL;
        self.terminal.check(kind, &Tree::LINK_KINDS[kind.index()])
    }
}

/// The numbers m and w of a tree, and the keys of the experiment file that errors about its size
/// name.
pub(super) struct Shape {
    /// Children per level, leaf routers first; at least one level, each at least 1.
    pub down: Vec<u32>,
    /// Parents of the levels below the top, leaf routers first; one less than `down`, each at
    /// least 1.
    pub up: Vec<u32>,
    /// Parallel links to each parent, in the same order, each at least 1; 1 where there is none.
    pub parallel: Vec<u32>,
    /// Horizontal links between two neighbours of a logical node.
    pub width: u32,
    /// Number of such trees, at least 1.
    pub planes: u32,
    /// The key of the number of levels.
    pub levels_key: &'static str,
    /// The key of the ports of a router.
    pub ports_key: &'static str,
}

impl Shape {
    fn too_large(&self) -> Invalid {
        Invalid::new(
            self.levels_key,
            format!(
                "a tree of {} levels with these routers has more endpoints or routers than can be \
                 numbered",
                self.down.len()
            ),
            format!(
                "choose a smaller `{}` or `{}`",
                self.levels_key, self.ports_key
            ),
        )
    }

    /// The levels, without the numbers of their routers.
    fn levels(&self) -> Result<Vec<Level>, Invalid> {
        let mut levels = Vec::with_capacity(self.down.len());
        let (mut reach, mut replicas) = (1u32, 1u32);
        let mut links_down = 1;
        for (index, &children) in self.down.iter().enumerate() {
            let parents = self.up.get(index).copied().unwrap_or(0);
            let links_up = self.parallel.get(index).copied().unwrap_or(1);
            let width = if replicas > 1 { self.width } else { 0 };
            let [down, up] = [[children, links_down], [parents, links_up]]
                .map(|[routers, links]| u64::from(routers) * u64::from(links));
            let ports = down.saturating_add(up).saturating_add(2 * u64::from(width));
            if ports > u64::from(PortId::MAX) {
                return Err(Invalid::new(
                    self.ports_key,
                    format!("a router would have {ports} ports"),
                    format!("a router has at most {} ports", PortId::MAX),
                ));
            }
            let reach_below = reach;
            reach = reach
                .checked_mul(children)
                .ok_or_else(|| self.too_large())?;
            levels.push(Level {
                children,
                links_down,
                links_up,
                // Checked above.
                down: down as u32,
                up: up as u32,
                reach,
                reach_below,
                replicas,
                width,
                first: 0,
                subtrees: 0,
                by_reach: Divisor::new(reach),
                by_reach_below: Divisor::new(reach_below),
                by_replicas: Divisor::new(replicas),
                by_parents: Divisor::new(parents),
            });
            links_down = links_up;
            replicas = replicas
                .checked_mul(parents.max(1))
                .ok_or_else(|| self.too_large())?;
        }
        Ok(levels)
    }
}

/// One level of routers.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Children, m_l.
    children: u32,
    /// Links to each, p_l.
    links_down: u32,
    /// Links to each parent, p_{l+1}.
    links_up: u32,
    /// Ports down, m_l·p_l.
    down: u32,
    /// Ports up, w_{l+1}·p_{l+1}; 0 at the top.
    up: u32,
    /// Endpoints below a router, M_l.
    reach: u32,
    /// Endpoints below one of its down ports, M_{l-1}.
    reach_below: u32,
    /// Routers that share their subtree, W_l.
    replicas: u32,
    /// Horizontal links between two of them that are neighbours.
    width: u32,
    /// The first router of the level within its pod; at the top: among all routers.
    first: u32,
    /// Subtrees of the level in a pod; below the top.
    subtrees: u32,
    /// Divisors by `reach`, `reach_below`, `replicas` and w_{l+1}, which every hop uses.
    by_reach: Divisor,
    by_reach_below: Divisor,
    by_replicas: Divisor,
    by_parents: Divisor,
}

/// Position of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// From 0: the index of its level.
    level: usize,
    /// The subtree of that level of which it is a root, of those of all planes.
    subtree: u32,
    /// Its number among the roots of that subtree.
    replica: u32,
}

/// A fat tree. Everything is computed from a few numbers per level.
#[derive(Clone, Debug)]
pub struct Tree {
    name: String,
    levels: Vec<Level>,
    planes: u32,
    /// Routers of a plane.
    by_plane: Divisor,
    /// Pods of a plane.
    pods: u32,
    /// Routers of a pod.
    by_pod: Divisor,
    endpoints: u32,
    routers: u32,
    terminal: Link,
    local: Link,
    global: Link,
    /// None if they are not given, and no routers are linked with others of their logical node.
    horizontal: Option<Link>,
}

impl Tree {
    /// Links between routers of a pod.
    pub const LOCAL: LinkKind = LinkKind(1);
    /// Links between pods and top routers.
    pub const GLOBAL: LinkKind = LinkKind(2);
    /// Links between neighbouring routers of a logical node.
    pub const HORIZONTAL: LinkKind = LinkKind(3);

    const LINK_KINDS: &[KindName] = &[
        KindName::Borrowed("terminal"),
        KindName::Borrowed("local"),
        KindName::Borrowed("global"),
        KindName::Borrowed("horizontal"),
    ];

    /// Builds the tree. `name` is its name for [`describe`](super::Topology::describe).
    ///
    /// Refuses sizes that do not fit the identifiers, and links without bandwidth or latency.
    pub(super) fn new(name: String, shape: &Shape, links: &Links) -> Result<Tree, Invalid> {
        let too_large = || shape.too_large();
        let mut levels = shape.levels()?;
        let reach = levels.last().map_or(1, |level| level.reach);
        let (pods, pod_routers) = number_routers(&mut levels).ok_or_else(too_large)?;
        let top = &levels[levels.len() - 1];
        let routers = top.first.checked_add(top.replicas).ok_or_else(too_large)?;
        let all = |one: u32| {
            one.checked_mul(shape.planes).ok_or_else(|| {
                Invalid::new(
                    "planes",
                    format!(
                        "{} planes of {reach} endpoints cannot be numbered",
                        shape.planes
                    ),
                    "give fewer planes",
                )
            })
        };
        let (endpoints, all_routers) = (all(reach)?, all(routers)?);
        let ports = |level: &Level| {
            let vertical = u128::from(level.replicas) * u128::from(level.down + level.up);
            let horizontal = 2 * u128::from(level.width) * u128::from(level.replicas - 1);
            u128::from(reach / level.reach) * (vertical + horizontal)
        };
        let plane_ports: u128 = levels.iter().map(ports).sum();
        let all_ports = plane_ports * u128::from(shape.planes);
        // Pods are equal, except for one top router more or less.
        let in_pod = u128::div_ceil(plane_ports, u128::from(pods));
        check_size(shape.levels_key, reach.into(), plane_ports, in_pod)?;
        if shape.planes > 1 {
            check_size("planes", endpoints.into(), all_ports, in_pod)?;
        }
        Ok(Tree {
            name,
            planes: shape.planes,
            by_plane: Divisor::new(routers),
            pods,
            by_pod: Divisor::new(pod_routers),
            endpoints,
            routers: all_routers,
            terminal: links.terminal()?,
            local: links.inner(Tree::LOCAL, links.local, 3, levels.len())?,
            global: links.inner(Tree::GLOBAL, links.global, 2, levels.len())?,
            horizontal: links.horizontal(&levels)?,
            levels,
        })
    }

    /// Number of levels of routers.
    pub fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Level of `router`, from 1 (a leaf router) to [`Tree::levels`] (a top router).
    pub fn level_of(&self, router: RouterId) -> u32 {
        self.place(router).level as u32 + 1
    }

    /// True if `endpoint` can be reached from `router` by going down only.
    pub fn is_ancestor(&self, router: RouterId, endpoint: EndpointId) -> bool {
        let place = self.place(router);
        endpoint / self.levels[place.level].reach == place.subtree
    }

    /// The port of `router` that leads down to `endpoint`. Meaningful only below an ancestor
    /// ([`Tree::is_ancestor`]), but always a down port.
    pub fn down_port(&self, router: RouterId, endpoint: EndpointId) -> PortId {
        self.levels[self.place(router).level].port_down_to(endpoint)
    }

    /// The ports of `router` that lead up; empty for a top router.
    pub fn up_ports(&self, router: RouterId) -> Range<PortId> {
        self.levels[self.place(router).level].up_ports()
    }

    /// The step of a packet to `endpoint` at `router`: down if possible, else the choice of a way
    /// up. One look-up instead of [`Tree::is_ancestor`], [`Tree::down_port`] and
    /// [`Tree::up_ports`].
    #[inline(always)]
    pub fn step(&self, router: RouterId, endpoint: EndpointId) -> Step {
        let place = self.place(router);
        let level = &self.levels[place.level];
        let subtree = level.by_reach.divide(endpoint);
        if subtree == place.subtree {
            let within = endpoint - subtree * level.reach;
            let child = level.by_reach_below.divide(within);
            Step::Down(level.link_down(child, endpoint))
        } else {
            Step::Up {
                ports: level.up_ports(),
                fixed: level.port_up_to(endpoint),
            }
        }
    }

    /// Endpoints of a leaf router.
    pub fn leaf_endpoints(&self) -> u32 {
        self.levels[0].reach
    }

    /// The step up of a packet to `endpoint` at a router below the top, also from above it.
    pub fn step_up(&self, router: RouterId, endpoint: EndpointId) -> Step {
        let level = &self.levels[self.place(router).level];
        Step::Up {
            ports: level.up_ports(),
            fixed: level.port_up_to(endpoint),
        }
    }

    /// The number by which D-mod-k chooses a port up at a router's level: ⌊destination / W_l⌋.
    pub fn turn(&self, router: RouterId, endpoint: EndpointId) -> u32 {
        let level = &self.levels[self.place(router).level];
        level.by_replicas.divide(endpoint)
    }

    /// Number of routers on a level.
    fn routers_on(&self, level: &Level) -> u64 {
        u64::from(self.endpoints / level.reach) * u64::from(level.replicas)
    }

    /// Number of top routers.
    pub fn top_routers(&self) -> u32 {
        self.top().replicas * self.planes
    }

    fn top(&self) -> &Level {
        &self.levels[self.levels.len() - 1]
    }

    fn peer_below(&self, place: Place, port: u32) -> Peer {
        let level = &self.levels[place.level];
        let subtree = place.subtree * level.children + port / level.links_down;
        if place.level == 0 {
            return Peer::Endpoint(subtree);
        }
        let below = &self.levels[place.level - 1];
        let child = Place {
            level: place.level - 1,
            subtree,
            replica: place.replica % below.replicas,
        };
        let parent = place.replica / below.replicas;
        let up = below.down + parent * level.links_down + port % level.links_down;
        Peer::Router(self.router_at(child), up as PortId)
    }

    fn peer_above(&self, place: Place, up: u32) -> Peer {
        let level = &self.levels[place.level];
        let above = self.levels[place.level + 1].children;
        let parent = Place {
            level: place.level + 1,
            subtree: place.subtree / above,
            replica: place.replica + up / level.links_up * level.replicas,
        };
        let port = place.subtree % above * level.links_up + up % level.links_up;
        Peer::Router(self.router_at(parent), port as PortId)
    }
}

/// The next step of a packet in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Down by this port; at a leaf router it leads to the endpoint.
    Down(PortId),
    /// Up by any of these ports.
    Up {
        /// All ports up; never empty.
        ports: Range<PortId>,
        /// The one that D-mod-k chooses: parent ⌊destination / W_l⌋ mod w_{l+1} on level l, and its
        /// links in turn (Zahavi,
        /// "Fat-trees routing and node ordering providing contention free traffic for MPI global
        /// collectives", 2011).
        fixed: PortId,
    },
}

impl Level {
    #[inline]
    fn port_down_to(&self, endpoint: EndpointId) -> PortId {
        self.link_down(endpoint / self.reach_below % self.children, endpoint)
    }

    /// The port of one of the links to a child.
    #[inline]
    fn link_down(&self, child: u32, endpoint: EndpointId) -> PortId {
        match self.links_down {
            1 => child as PortId,
            links => {
                let turn = self.by_replicas.divide(endpoint);
                (child * links + turn % links) as PortId
            }
        }
    }

    #[inline]
    fn up_ports(&self) -> Range<PortId> {
        self.down as PortId..(self.down + self.up) as PortId
    }

    /// Only for levels below the top.
    #[inline]
    fn port_up_to(&self, endpoint: EndpointId) -> PortId {
        let turn = self.by_replicas.divide(endpoint);
        let parent = self.by_parents.rest(turn);
        match self.links_up {
            1 => (self.down + parent) as PortId,
            links => {
                let link = self.by_parents.divide(turn) % links;
                (self.down + parent * links + link) as PortId
            }
        }
    }
}

/// Sets the first router of each level. Returns the number of pods and of routers in each; None if
/// there are too many.
fn number_routers(levels: &mut [Level]) -> Option<(u32, u32)> {
    let (top, below) = levels.split_last_mut()?;
    let mut pod_routers = 0u32;
    for level in &mut *below {
        level.first = pod_routers;
        // A pod has the reach of the uppermost of its levels.
        level.subtrees = top.reach_below / level.reach;
        let routers = level.subtrees.checked_mul(level.replicas)?;
        pod_routers = pod_routers.checked_add(routers)?;
    }
    let pods = if below.is_empty() { 1 } else { top.children };
    top.first = pods.checked_mul(pod_routers)?;
    Some((pods, pod_routers))
}
