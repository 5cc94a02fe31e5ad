//! Assignment of endpoints to workloads.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::draw;
use crate::open::endpoints::{Endpoints, Placement};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, stream, word};
use weir_network::nodes::NamedNodes;
use weir_network::topology::Topology;

/// First part of the names of the random streams of this file: "place".
const PLACE: u64 = 0x70_6C61_6365;

/// Maximum number of sources and tasks of all workloads together.
const MOST_TASKS: usize = 1 << 26;

/// No workload.
const NOBODY: u32 = u32::MAX;

/// Endpoints that a workload requests.
#[derive(Clone, Copy, Debug)]
pub struct Party<'a> {
    /// Its name.
    pub name: &'a str,
    /// The requested endpoints.
    pub endpoints: &'a Endpoints,
    /// True if these may also belong to other shared workloads.
    pub shared: bool,
    /// Its section, for errors about its keys.
    pub section: &'a Section,
}

/// The endpoints of every workload, in task order.
///
/// Explicit choices come first (`"all"`, ranges, lists, names), then counts in the order of the
/// file, then `"rest"`. Counts and `"rest"` choose among the free endpoints: those of no other
/// workload; for a `shared` workload also those of other shared ones.
///
/// A random placement depends on its seed and the workload's name (only on the seed, if it has its
/// own). It takes the first free endpoints of a random order of the whole network. Workloads
/// with the same seed therefore follow one another in the same order.
///
/// # Errors
/// If an endpoint is beyond the network, is listed twice or belongs to two workloads that are not
/// both `shared`; if too few are free; or if there are more tasks than any machine could simulate.
pub fn assign(
    workloads: &[Party],
    topology: &Arc<dyn Topology>,
    nodes: &NamedNodes<'_>,
    seed: u64,
) -> Result<Vec<Arc<[EndpointId]>>, ConfigError> {
    let everything = (0..topology.endpoints()).collect();
    let first = vec![NOBODY; topology.endpoints() as usize].into();
    let mut assignment = Assignment {
        workloads,
        topology,
        nodes,
        seed,
        everything,
        first,
    };
    let mut assigned: Vec<Option<Arc<[EndpointId]>>> = vec![None; workloads.len()];
    let mut tasks = 0;
    for turn in [Turn::Named, Turn::Counted, Turn::Rest] {
        for (index, workload) in workloads.iter().enumerate() {
            if Turn::of(workload.endpoints) == turn {
                let members = assignment.choose(index)?;
                tasks += members.len();
                if tasks > MOST_TASKS {
                    let message = format!("with this one the workloads have {tasks} tasks");
                    let remedy = format!(
                        "at most {MOST_TASKS} can be simulated: write fewer workloads, or fewer \
                         endpoints for each"
                    );
                    return Err(assignment.refuse(index, "endpoints", message, &remedy));
                }
                assignment.enter(index, &members)?;
                assigned[index] = Some(members);
            }
        }
    }
    Ok(assigned.into_iter().flatten().collect())
}

/// Turn in which a workload gets its endpoints.
#[derive(PartialEq)]
enum Turn {
    Named,
    Counted,
    Rest,
}

impl Turn {
    fn of(endpoints: &Endpoints) -> Turn {
        match endpoints {
            Endpoints::Count { .. } => Turn::Counted,
            Endpoints::Rest => Turn::Rest,
            Endpoints::All | Endpoints::Range(..) | Endpoints::List(_) | Endpoints::Nodes(_) => {
                Turn::Named
            }
        }
    }
}

/// Assignment of endpoints so far.
struct Assignment<'a> {
    workloads: &'a [Party<'a>],
    topology: &'a Arc<dyn Topology>,
    nodes: &'a NamedNodes<'a>,
    seed: u64,
    /// All endpoints; shared by all workloads that request them.
    everything: Arc<[EndpointId]>,
    /// The first workload that took each endpoint. Others may have it too only if all of them are
    /// shared.
    first: Box<[u32]>,
}

impl Assignment<'_> {
    /// The members of workload `index`.
    fn choose(&self, index: usize) -> Result<Arc<[EndpointId]>, ConfigError> {
        let workload = &self.workloads[index];
        match workload.endpoints {
            Endpoints::All => Ok(Arc::clone(&self.everything)),
            &Endpoints::Range(start, end) => {
                if start >= end {
                    let message = format!("the range {start}..{end} is empty");
                    let remedy = "write the first endpoint, two dots, and the one after the last";
                    return Err(self.refuse(index, "endpoints", message, remedy));
                }
                // Checking the highest is enough, before a list is made.
                self.check(index, end - 1)?;
                Ok((start..end).collect())
            }
            Endpoints::List(list) => {
                let mut seen = FxHashSet::default();
                for &endpoint in list {
                    self.check(index, endpoint)?;
                    if !seen.insert(endpoint) {
                        let message = format!("endpoint {endpoint} is listed twice");
                        return Err(self.refuse(index, "endpoints", message, "list it once"));
                    }
                }
                Ok(list.as_slice().into())
            }
            Endpoints::Nodes(names) => match self.nodes.endpoints(names) {
                Ok(endpoints) => Ok(endpoints.into()),
                Err((message, remedy)) => Err(self.refuse(index, "endpoints", message, &remedy)),
            },
            &Endpoints::Count {
                count,
                placement,
                seed,
            } => {
                let mut rng = match seed {
                    Some(seed) => stream(seed, &[PLACE]),
                    None => stream(self.seed, &[PLACE, word(workload.name)]),
                };
                self.place(index, count, placement, &mut rng)
            }
            Endpoints::Rest => {
                let rest: Arc<[EndpointId]> = self.free(index, &self.everything).into();
                if rest.is_empty() {
                    let message = format!(
                        "no endpoint is left: all {} belong to other workloads",
                        self.topology.endpoints()
                    );
                    let remedy = "let another workload have fewer";
                    return Err(self.refuse(index, "endpoints", message, remedy));
                }
                Ok(rest)
            }
        }
    }

    /// `count` of the free endpoints.
    fn place(
        &self,
        index: usize,
        count: u32,
        placement: Placement,
        rng: &mut Rng,
    ) -> Result<Arc<[EndpointId]>, ConfigError> {
        let topology = self.topology;
        let router = |endpoint: EndpointId| topology.attachment(endpoint).0;
        let mut free = match placement {
            Placement::Linear => self.free(index, &self.everything),
            Placement::Random => {
                let mut order = self.everything.to_vec();
                draw::shuffle(&mut order, rng);
                self.free(index, &order)
            }
            Placement::RandomGroups => {
                let rank = ranks(topology.groups(), rng);
                let mut free = self.free(index, &self.everything);
                free.sort_by_cached_key(|&one| rank[topology.group_of(router(one)) as usize]);
                free
            }
            Placement::RandomRouters => {
                let rank = ranks(topology.routers(), rng);
                let mut free = self.free(index, &self.everything);
                free.sort_by_cached_key(|&one| rank[router(one) as usize]);
                free
            }
            Placement::Nodes => {
                let mut free = self.free(index, &self.everything);
                free.sort_by_cached_key(|&one| self.nodes.nodes.node_of(one));
                free
            }
            Placement::RandomNodes => {
                let rank = ranks(topology.endpoints() / self.nodes.nodes.nics(), rng);
                let mut free = self.free(index, &self.everything);
                free.sort_by_cached_key(|&one| rank[self.nodes.nodes.node_of(one) as usize]);
                free
            }
        };
        if count == 0 || count as usize > free.len() {
            return Err(self.too_many(index, count, free.len()));
        }
        free.truncate(count as usize);
        Ok(free.into())
    }

    /// The endpoints of `order` that workload `index` may choose.
    fn free(&self, index: usize, order: &[EndpointId]) -> Vec<EndpointId> {
        let may = |&endpoint: &EndpointId| self.owner(index, endpoint).is_none();
        order.iter().copied().filter(may).collect()
    }

    /// The workload that prevents workload `index` from having `endpoint`.
    fn owner(&self, index: usize, endpoint: EndpointId) -> Option<&Party<'_>> {
        let owner = self.workloads.get(self.first[endpoint as usize] as usize)?;
        (!(owner.shared && self.workloads[index].shared)).then_some(owner)
    }

    /// Records that workload `index` has `members`.
    fn enter(&mut self, index: usize, members: &[EndpointId]) -> Result<(), ConfigError> {
        for &endpoint in members {
            if let Some(owner) = self.owner(index, endpoint) {
                let message = format!(
                    "endpoint {endpoint} belongs to the workload {:?} already",
                    owner.name
                );
                let remedy =
                    "name other endpoints, use \"rest\", or set shared = true in both workloads";
                return Err(self.refuse(index, "endpoints", message, remedy));
            }
            let first = &mut self.first[endpoint as usize];
            if *first == NOBODY {
                *first = index as u32;
            }
        }
        Ok(())
    }

    /// Refuses an endpoint that the network does not have.
    fn check(&self, index: usize, endpoint: EndpointId) -> Result<(), ConfigError> {
        let count = self.topology.endpoints();
        if endpoint < count {
            return Ok(());
        }
        let message =
            format!("endpoint {endpoint} is beyond the network, which has {count} endpoints");
        let remedy = format!("name endpoints from 0 to {}", count.saturating_sub(1));
        Err(self.refuse(index, "endpoints", message, &remedy))
    }

    /// The error for a number of endpoints, or of tasks that each need one, of which too few are
    /// free.
    fn too_many(&self, index: usize, count: u32, free: usize) -> ConfigError {
        let section = &self.workloads[index].section;
        let all = self.topology.endpoints();
        let by_tasks = section.has("tasks") && !section.has("endpoints");
        let (key, what) = match (by_tasks, section.has("nics")) {
            (true, false) => ("tasks", "tasks are to have an endpoint each"),
            (true, true) => ("tasks", "NICs of tasks are asked for"),
            (false, _) => ("endpoints.count", "endpoints are asked for"),
        };
        let message = format!("{count} {what}, and {free} of {all} are free");
        let remedy = "ask for at least 1 and at most the number of free ones, or let another \
                      workload have fewer";
        let error = self.refuse(index, key, message.clone(), remedy);
        let own = self.refuse(index, "", String::new(), "");
        if error.file() == own.file() {
            return error;
        }
        let remedy = format!(
            "{remedy}; this file is taken over by `file`: write `{key} = …` beside it to change \
             that"
        );
        self.refuse(index, key, message, &remedy)
    }

    fn refuse(&self, index: usize, key: &str, message: String, remedy: &str) -> ConfigError {
        self.workloads[index]
            .section
            .refuse(Invalid::new(key, message, remedy))
    }
}

/// The place of each of `count` blocks in a random order.
fn ranks(count: u32, rng: &mut Rng) -> Vec<u32> {
    let mut ranks: Vec<u32> = (0..count).collect();
    // A random permutation is the inverse of another one with the same probability.
    draw::shuffle(&mut ranks, rng);
    ranks
}

#[cfg(test)]
mod tests;
