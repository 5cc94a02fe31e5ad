//! `worst_case`: every group sends to one other group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::groups::{GroupMembers, shifted};
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, below};

/// Worst case of a dragonfly, WCn: every endpoint of group i sends to random members in group (i +
/// n) mod G, where G is the number of groups of the network. With minimal routing all of it has to
/// cross the few links between two groups.
///
/// Every group with members needs members in the group it sends to. In other networks a group is a
/// pod or a block.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The n of WCn: number of groups further (default: 1), from 1 to G - 1.
    offset: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { offset: 1 }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "worst_case",
    summary: "Every endpoint of group i sends to random members of group (i + offset) mod G.",
    source: "Jiang et al., SC15, section 4 (WCn)",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let Params { offset } = section.parse()?;
    let members = GroupMembers::new(members);
    let groups = members.groups();
    if groups < 2 {
        let message =
            "the network has one group, and worst_case sends from group to group".to_string();
        let remedy = "use another pattern, or a topology with groups";
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    if offset == 0 || offset >= groups {
        let message = format!("offset {offset} in a network of {groups} groups");
        let remedy = format!("give 1 to {}", groups - 1);
        return Err(section.refuse(Invalid::new("offset", message, remedy)));
    }
    members.require(section, "offset", offset, 1)?;
    Ok(Box::new(WorstCase { members, offset }))
}

struct WorstCase {
    members: GroupMembers,
    offset: u32,
}

impl Pattern for WorstCase {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        let group = shifted(
            self.members.group_of(source),
            self.offset,
            self.members.groups(),
        );
        let there = self.members.of(group);
        Some(there[below(rng, there.len() as u32) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, plausible, refusal, tally};

    #[test]
    fn group_i_sends_to_all_of_group_i_plus_n() {
        let topology = Grouped::network(5, 2, 3);
        let members: Vec<u32> = (0..30).collect();
        for offset in 1..5 {
            let text = format!("offset = {offset}");
            let pattern = build("worst_case", &text, &members, &topology, 1).unwrap();
            for source in [0, 7, 29] {
                let counts = tally(&*pattern, source, 30, 1_200, 0);
                let group = (source / 6 + offset) % 5;
                for (endpoint, &count) in (0..).zip(&counts) {
                    if endpoint / 6 == group {
                        assert!(
                            plausible(count, 1_200, 1.0 / 6.0),
                            "{source} to {endpoint}: {count}"
                        );
                    } else {
                        assert_eq!(count, 0, "{source} to {endpoint}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_members_receive() {
        let members = [0, 2, 7, 11];
        let pattern = build("worst_case", "", &members, &Grouped::network(2, 2, 3), 1).unwrap();
        let counts = tally(&*pattern, 0, 12, 100, 0);
        assert_eq!(counts[7] + counts[11], 100);
        assert!(counts[7] > 0 && counts[11] > 0);
    }

    #[test]
    fn a_group_without_members_and_a_wrong_offset_are_refused() {
        let topology = Grouped::network(4, 1, 3);
        let all: Vec<u32> = (0..12).collect();
        for (parameters, members, words) in [
            ("offset = 0", &all[..], "offset 0 in a network of 4"),
            ("offset = 4", &all, "offset 4 in a network of 4"),
            ("offset = -1", &all, "offset"),
            (
                "",
                &all[..6],
                "group 1 has to send to group 2, which has 0 endpoints",
            ),
            ("offset = 2", &all[3..6], "group 1 has to send to group 3"),
        ] {
            let refusal = refusal("worst_case", parameters, members, &topology);
            assert!(refusal.contains(words), "{parameters}: {refusal}");
        }
        assert!(
            refusal("worst_case", "", &[0, 1], &Grouped::network(1, 2, 1)).contains("one group")
        );
        // Groups 0 and 2 send to each other.
        let pair = [0, 1, 6];
        assert!(build("worst_case", "offset = 2", &pair, &topology, 1).is_ok());
    }
}
