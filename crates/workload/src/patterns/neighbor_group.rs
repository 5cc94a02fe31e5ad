//! `neighbor_group`: every endpoint sends to the groups before and after its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::groups::{GroupMembers, shifted};
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, below};

/// Neighbour groups: every message of an endpoint in group i goes to a random member of group
/// (i - 1) mod G or (i + 1) mod G, each group with the same probability. G is the number of groups
/// of the network. It has no parameters.
///
/// It loads two of the links that leave a group where `worst_case` loads one. The `nearest_group`
/// traffic of CODES is one-sided and fixed: endpoint e sends to the endpoint in the same place of
/// the next group. `worst_case` with `offset = 1` sends between the same groups, and `permutation`
/// with a `list` between the same endpoints.
///
/// Every group with members needs members in both neighbours.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

pub const ENTRY: Entry<Build> = Entry {
    name: "neighbor_group",
    summary: "Every endpoint sends to random members of the groups before and after its own.",
    source: "weir; a two-sided form of the nearest_group traffic of CODES (model-net-synthetic)",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let Params {} = section.parse()?;
    let members = GroupMembers::new(members);
    let groups = members.groups();
    if groups < 2 {
        let message =
            "the network has one group, and neighbor_group sends from group to group".to_string();
        let remedy = "use another pattern, or a topology with groups";
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    members.require(section, "", 1, 1)?;
    members.require(section, "", groups - 1, 1)?;
    Ok(Box::new(NeighborGroup { members }))
}

struct NeighborGroup {
    members: GroupMembers,
}

impl Pattern for NeighborGroup {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        let groups = self.members.groups();
        let offset = if below(rng, 2) == 0 { 1 } else { groups - 1 };
        let there = self
            .members
            .of(shifted(self.members.group_of(source), offset, groups));
        Some(there[below(rng, there.len() as u32) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, plausible, refusal, tally};

    #[test]
    fn both_neighbours_have_the_same_chance_whatever_their_size() {
        // Group 0 has 4 members, group 1 has 2, groups 2 and 3 have 4.
        let members: Vec<u32> = (0..6).chain(8..16).collect();
        let pattern = build(
            "neighbor_group",
            "",
            &members,
            &Grouped::network(4, 1, 4),
            1,
        )
        .unwrap();
        for (source, before, after) in [(0, 3, 1), (9, 1, 3), (15, 2, 0)] {
            let counts = tally(&*pattern, source, 16, 2_000, 0);
            for (endpoint, &count) in (0..).zip(&counts) {
                let group = endpoint / 4;
                if !members.contains(&endpoint) || (group != before && group != after) {
                    assert_eq!(count, 0, "{source} to {endpoint}");
                } else {
                    let chance = if group == 1 { 0.25 } else { 0.125 };
                    assert!(
                        plausible(count, 2_000, chance),
                        "{source} to {endpoint}: {count}"
                    );
                }
            }
        }
    }

    #[test]
    fn two_groups_send_to_each_other() {
        let pattern = build(
            "neighbor_group",
            "",
            &[0, 1, 2, 3],
            &Grouped::network(2, 2, 1),
            1,
        )
        .unwrap();
        let counts = tally(&*pattern, 3, 4, 100, 0);
        assert_eq!(counts[0] + counts[1], 100);
    }

    #[test]
    fn a_group_without_members_is_refused() {
        let topology = Grouped::network(4, 1, 4);
        let refused = refusal("neighbor_group", "", &[0, 4, 8], &topology);
        assert!(
            refused.contains("group 2 has to send to group 3"),
            "{refused}"
        );
        let refused = refusal("neighbor_group", "", &[0, 1], &Grouped::network(1, 2, 1));
        assert!(refused.contains("one group"), "{refused}");
    }
}
