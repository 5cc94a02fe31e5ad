//! The members of a workload by the group of the network that they are attached to.

use std::sync::Arc;

use super::Members;
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid};
use weir_network::topology::Topology;

/// The members of every group.
pub(super) struct GroupMembers {
    topology: Arc<dyn Topology>,
    /// Start of each group in `sorted`, and the end of the last.
    starts: Box<[u32]>,
    /// The members, group by group; in task order within a group.
    sorted: Box<[EndpointId]>,
}

impl GroupMembers {
    pub(super) fn new(members: &Members) -> Self {
        let groups = members.topology.groups() as usize;
        let mut starts = vec![0u32; groups + 1];
        for &endpoint in members.endpoints {
            starts[group_of(members.topology, endpoint) as usize + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; members.endpoints.len()];
        for &endpoint in members.endpoints {
            let place = &mut next[group_of(members.topology, endpoint) as usize];
            sorted[*place as usize] = endpoint;
            *place += 1;
        }
        GroupMembers {
            topology: Arc::clone(members.topology),
            starts: starts.into(),
            sorted: sorted.into(),
        }
    }

    /// Number of groups of the network.
    pub(super) fn groups(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The group of `endpoint`.
    #[inline]
    pub(super) fn group_of(&self, endpoint: EndpointId) -> u32 {
        group_of(&self.topology, endpoint)
    }

    /// The members in `group`.
    #[inline]
    pub(super) fn of(&self, group: u32) -> &[EndpointId] {
        let group = group as usize;
        &self.sorted[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// Refuses members in a group `from` if the group `from + offset` has fewer than `needed`;
    /// refuses an empty list of members.
    pub(super) fn require(
        &self,
        section: &Section,
        key: &str,
        offset: u32,
        needed: u32,
    ) -> Result<(), ConfigError> {
        if self.sorted.is_empty() {
            let remedy = "let some endpoints take part";
            return Err(section.refuse(Invalid::new("", "no endpoint takes part", remedy)));
        }
        let groups = self.groups();
        for from in (0..groups).filter(|&group| !self.of(group).is_empty()) {
            let to = shifted(from, offset, groups);
            let there = self.of(to).len();
            if there < needed as usize {
                let message = format!(
                    "group {from} has to send to group {to}, which has {there} endpoints of this \
                     workload and needs {needed}"
                );
                let remedy = "let all endpoints of every group take part (endpoints = \"all\"), or \
                              choose endpoints in all groups concerned";
                return Err(section.refuse(Invalid::new(key, message, remedy)));
            }
        }
        Ok(())
    }
}

/// The group `offset` after `group`, modulo the number of groups.
#[inline]
pub(super) fn shifted(group: u32, offset: u32, groups: u32) -> u32 {
    ((u64::from(group) + u64::from(offset)) % u64::from(groups)) as u32
}

fn group_of(topology: &Arc<dyn Topology>, endpoint: EndpointId) -> u32 {
    topology.group_of(topology.attachment(endpoint).0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Grouped;
    use super::*;

    #[test]
    fn members_are_sorted_by_group_in_task_order() {
        let topology = Grouped::network(4, 2, 2);
        let endpoints = [13, 1, 12, 0, 5];
        let members = Members {
            endpoints: &endpoints,
            topology: &topology,
            seed: 0,
            load: 0.5,
        };
        let table = GroupMembers::new(&members);
        assert_eq!(table.groups(), 4);
        assert_eq!(table.of(0), [1, 0]);
        assert_eq!(table.of(1), [5]);
        assert!(table.of(2).is_empty());
        assert_eq!(table.of(3), [13, 12]);
        assert_eq!(table.group_of(13), 3);
    }

    #[test]
    fn offsets_go_round() {
        assert_eq!(shifted(3, 2, 4), 1);
        assert_eq!(shifted(1, u32::MAX, 4), 0);
    }
}
