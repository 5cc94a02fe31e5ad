//! `uniform`: every message goes to a random member.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use crate::config::{ConfigError, Section};
use crate::model::{EndpointId, Invalid, Rng, Time, below};
use crate::registry::Entry;

/// Uniform random traffic.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Whether an endpoint may draw itself (default: false). Only for comparison with simulators that allow it, such
    /// as BookSim.
    include_self: bool,
}

pub const ENTRY: Entry<Build> = Entry {
    name: "uniform",
    summary: "Every message goes to another member, drawn at random.",
    source: "Jiang et al., SC15, section 4 (uniform random)",
    examples: &[""],
    parameters: || schema_for!(Params),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let needed = if params.include_self { 1 } else { 2 };
    let count = members.endpoints.len();
    if count < needed {
        let message = format!("uniform traffic among {count} endpoints has nobody to send to");
        let remedy = format!("let at least {needed} take part");
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    Ok(Box::new(Uniform {
        tasks: Tasks::new(members.endpoints),
        include_self: params.include_self,
    }))
}

struct Uniform {
    tasks: Tasks,
    include_self: bool,
}

impl Pattern for Uniform {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        if self.include_self {
            return Some(self.tasks.endpoint(below(rng, self.tasks.count())));
        }
        self.tasks.another(source, rng)
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
