//! `uniform`: every message goes to a random member.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, below};

/// Uniform random traffic.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// True if an endpoint may draw itself. Only for comparison with simulators that allow it, such
    /// as BookSim.
    include_self: bool,
    /// Receivers: other "members", or any endpoint of the "network", also outside of this workload,
    /// for traffic that some endpoints send and all receive.
    to: To,
}

/// Receivers of uniform traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum To {
    /// Members of the workload.
    #[default]
    Members,
    /// All endpoints.
    Network,
}

pub const ENTRY: Entry<Build> = Entry {
    name: "uniform",
    summary: "Every message goes to another member, drawn at random.",
    source: "Jiang et al., SC15, section 4 (uniform random)",
    examples: &["", "to = \"network\""],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let needed = if params.include_self { 1 } else { 2 };
    let receivers = match params.to {
        To::Network if !members.endpoints.is_empty() => Tasks::Range {
            first: 0,
            count: members.topology.endpoints(),
        },
        _ => Tasks::new(members.endpoints),
    };
    let count = receivers.count();
    if count < needed {
        let message = format!("uniform traffic among {count} endpoints has nobody to send to");
        let remedy = format!("let at least {needed} take part");
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    Ok(Box::new(Uniform {
        receivers,
        include_self: params.include_self,
        to: params.to,
    }))
}

struct Uniform {
    receivers: Tasks,
    include_self: bool,
    to: To,
}

impl Pattern for Uniform {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        if self.include_self {
            return Some(self.receivers.endpoint(below(rng, self.receivers.count())));
        }
        self.receivers.another(source, rng)
    }

    fn receivers(&self) -> Option<Vec<EndpointId>> {
        let all = || (0..self.receivers.count()).collect();
        (self.to == To::Network).then(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, flat, plausible, refusal, tally};

    #[test]
    fn all_others_have_the_same_chance_and_oneself_none() {
        let endpoints = [8, 3, 5, 6, 0];
        let pattern = build("uniform", "", &endpoints, &Grouped::network(3, 1, 3), 1).unwrap();
        for source in endpoints {
            let counts = tally(&*pattern, source, 9, 4_000, 0);
            for (endpoint, &count) in (0..).zip(&counts) {
                if endpoint == source || !endpoints.contains(&endpoint) {
                    assert_eq!(count, 0, "{source} to {endpoint}");
                } else {
                    assert!(
                        plausible(count, 4_000, 0.25),
                        "{source} to {endpoint}: {count}"
                    );
                }
            }
        }
        assert!(pattern.sends(3) && pattern.receivers().is_none());
    }

    #[test]
    fn oneself_counts_only_on_request() {
        let pattern = flat("uniform", "include_self = true", 4, 1);
        for count in tally(&*pattern, 2, 4, 4_000, 0) {
            assert!(plausible(count, 4_000, 0.25), "{count}");
        }
    }

    #[test]
    fn those_that_do_not_take_part_may_receive() {
        let network = Grouped::network(3, 1, 3);
        let pattern = build("uniform", "to = \"network\"", &[4], &network, 1).unwrap();
        let counts = tally(&*pattern, 4, 9, 8_000, 0);
        for (endpoint, &count) in (0..).zip(&counts) {
            let chance = if endpoint == 4 { 0.0 } else { 0.125 };
            assert!(plausible(count, 8_000, chance), "{endpoint}: {count}");
        }
        assert_eq!(pattern.receivers(), Some((0..9).collect()));
    }

    #[test]
    fn one_endpoint_alone_is_refused() {
        let none = refusal(
            "uniform",
            "include_self = true",
            &[],
            &Grouped::network(1, 4, 1),
        );
        assert!(none.contains("at least 1"), "{none}");
        let words = refusal("uniform", "", &[3], &Grouped::network(1, 4, 1));
        assert!(words.contains("among 1 endpoints"), "{words}");
    }
}
