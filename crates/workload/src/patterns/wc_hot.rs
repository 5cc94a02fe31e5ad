//! `wc_hot`: every group sends to a few endpoints of the next group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::groups::{GroupMembers, shifted};
use super::{Build, Members, Pattern};
use crate::open::draw;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, below, stream};

/// WC-Hotn: all members of group i send to the same n members of group (i + 1) mod G, where G is
/// the number of groups of the network; each message goes to one of the n at random. It congests
/// the endpoints and the links between groups at once: with m senders per group at load l, each
/// destination is offered l · m / n of its link.
///
/// The destinations send as well. Every group with members needs n members in the next group.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The n of WC-Hotn: destinations in each group (default: 1).
    destinations: u32,
    /// Destinations in a group. "random": drawn once per group. "first": the first ones in task
    /// order; on a dragonfly they share one router and its links within the group. The paper does
    /// not say.
    choice: Choice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Choice {
    /// Drawn once per group.
    Random,
    /// The first ones in task order.
    First,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            destinations: 1,
            choice: Choice::Random,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "wc_hot",
    summary: "All members of group i send to the same few members of group (i + 1) mod G.",
    source: "Jiang et al., SC15, section 6 (WC-Hotn)",
    examples: &[r#"destinations = 2"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let seed = members.seed;
    let members = GroupMembers::new(members);
    let groups = members.groups();
    if groups < 2 {
        let message = "the network has one group, and wc_hot sends from group to group".to_string();
        let remedy = "use another pattern (`hotspot`), or a topology with groups";
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    if params.destinations == 0 {
        let message = "0 destinations".to_string();
        return Err(section.refuse(Invalid::new("destinations", message, "give 1 or more")));
    }
    members.require(section, "destinations", 1, params.destinations)?;
    let hot = (0..groups)
        .flat_map(|group| {
            // Every group draws from a separate stream: another group's members do not change its
            // choice.
            let rng = &mut stream(seed, &[u64::from(group)]);
            chosen(members.of(group), params.destinations, params.choice, rng)
        })
        .collect();
    Ok(Box::new(WcHot {
        members,
        destinations: params.destinations,
        hot,
    }))
}

/// `count` of the members of a group; `count` zeros for a group without members, which no member
/// sends to.
fn chosen(members: &[EndpointId], count: u32, choice: Choice, rng: &mut Rng) -> Vec<EndpointId> {
    let count = count as usize;
    match choice {
        _ if members.is_empty() => vec![0; count],
        Choice::First => members[..count].to_vec(),
        Choice::Random => draw::take(&mut members.to_vec(), count, rng),
    }
}

struct WcHot {
    members: GroupMembers,
    /// Destinations per group.
    destinations: u32,
    /// The destinations, group by group.
    hot: Box<[EndpointId]>,
}

impl Pattern for WcHot {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        let group = shifted(self.members.group_of(source), 1, self.members.groups());
        let which = match self.destinations {
            1 => 0,
            several => below(rng, several) as usize,
        };
        Some(self.hot[group as usize * self.destinations as usize + which])
    }

    fn receivers(&self) -> Option<Vec<EndpointId>> {
        let groups = (0u32..).zip(self.hot.chunks(self.destinations as usize));
        let used = groups.filter(|&(group, _)| !self.members.of(group).is_empty());
        Some(used.flat_map(|(_, hot)| hot.iter().copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, plausible, refusal, tally};

    #[test]
    fn a_group_sends_to_the_same_few_of_the_next() {
        let topology = Grouped::network(4, 2, 4);
        let members: Vec<u32> = (0..32).collect();
        for destinations in 1..=4u32 {
            let text = format!("destinations = {destinations}");
            let pattern = build("wc_hot", &text, &members, &topology, 3).unwrap();
            let receivers = pattern.receivers().unwrap();
            assert_eq!(receivers.len() as u32, 4 * destinations);
            for source in 0..32 {
                let counts = tally(&*pattern, source, 32, 600, 0);
                let next = (source / 8 + 1) % 4;
                for (endpoint, &count) in (0..).zip(&counts) {
                    if endpoint / 8 == next && receivers.contains(&endpoint) {
                        assert!(
                            plausible(count, 600, 1.0 / f64::from(destinations)),
                            "{count}"
                        );
                    } else {
                        assert_eq!(count, 0, "{source} to {endpoint}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_ones_or_drawn_from_the_seed() {
        let topology = Grouped::network(3, 2, 4);
        let members: Vec<u32> = (0..24).collect();
        let of = |text: &str, seed| {
            build("wc_hot", text, &members, &topology, seed)
                .unwrap()
                .receivers()
                .unwrap()
        };
        assert_eq!(
            of("destinations = 2\nchoice = \"first\"", 1),
            [0, 1, 8, 9, 16, 17]
        );
        assert_eq!(of("destinations = 2", 1), of("destinations = 2", 1));
        assert_ne!(of("destinations = 2", 1), of("destinations = 2", 2));
    }

    #[test]
    fn groups_without_enough_members_are_refused() {
        let topology = Grouped::network(3, 1, 4);
        let all: Vec<u32> = (0..12).collect();
        for (parameters, members, words) in [
            ("destinations = 0", &all[..], "0 destinations"),
            (
                "destinations = 5",
                &all,
                "group 0 has to send to group 1, which has 4 endpoints",
            ),
            (
                "",
                &all[..8],
                "group 1 has to send to group 2, which has 0 endpoints",
            ),
        ] {
            let refusal = refusal("wc_hot", parameters, members, &topology);
            assert!(refusal.contains(words), "{parameters}: {refusal}");
        }
        assert!(refusal("wc_hot", "", &[0, 1], &Grouped::network(1, 2, 1)).contains("one group"));
    }
}
