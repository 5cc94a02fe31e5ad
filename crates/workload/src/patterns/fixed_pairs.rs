//! `fixed_pairs`: the first half of the members sends to the second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::partners::Partners;
use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Fixed pairs: of N members, task i of the first half sends to task N/2 + i, so that the traffic
/// is bound by the bisection of the network and never by an endpoint. N must be even.
///
/// This is the open-loop form. In the application of the same name in the SWM suite the second half
/// sends to the first, in blocking steps.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// True if task N/2 + i also sends to task i.
    bidirectional: bool,
}

pub const ENTRY: Entry<Build> = Entry {
    name: "fixed_pairs",
    summary: "Member i of the first half sends to member i of the second half.",
    source: "McGlohon et al., section IV (Fixed Pairs)",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let Params { bidirectional } = section.parse()?;
    let tasks = Tasks::new(members.endpoints);
    let count = tasks.count();
    if count == 0 || count % 2 == 1 {
        let message = format!("{count} endpoints cannot be paired");
        let remedy = match count {
            0 | 1 => "let 2 endpoints or more take part".to_string(),
            _ => format!("let an even number take part, such as {}", count - 1),
        };
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    let half = count / 2;
    let partner = move |task| match task < half {
        true => Some(task + half),
        false => bidirectional.then(|| task - half),
    };
    Ok(Box::new(Partners { tasks, partner }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, refusal};
    use weir_model::stream;

    #[test]
    fn the_first_half_sends_to_the_second() {
        let members = [5, 9, 2, 7, 1, 8];
        let topology = Grouped::network(1, 10, 1);
        let mut rng = stream(1, &[]);
        let one_way = build("fixed_pairs", "", &members, &topology, 1).unwrap();
        let both = build(
            "fixed_pairs",
            "bidirectional = true",
            &members,
            &topology,
            1,
        )
        .unwrap();
        for (a, b) in [(5, 7), (9, 1), (2, 8)] {
            assert_eq!(one_way.destination(a, 0, &mut rng), Some(b));
            assert_eq!(both.destination(a, 0, &mut rng), Some(b));
            assert_eq!(one_way.destination(b, 0, &mut rng), None);
            assert_eq!(both.destination(b, 0, &mut rng), Some(a));
            assert!(one_way.sends(a) && !one_way.sends(b));
            assert!(both.sends(a) && both.sends(b));
        }
        assert_eq!(one_way.receivers(), Some(vec![7, 1, 8]));
        assert_eq!(both.receivers(), None);
    }

    #[test]
    fn odd_numbers_are_refused() {
        let topology = Grouped::network(1, 10, 1);
        let words = refusal("fixed_pairs", "", &[1, 2, 3], &topology);
        assert!(
            words.contains("3 endpoints") && words.contains("such as 2"),
            "{words}"
        );
        assert!(refusal("fixed_pairs", "", &[1], &topology).contains("2 endpoints or more"));
    }
}
