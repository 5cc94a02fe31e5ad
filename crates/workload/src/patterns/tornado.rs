//! `tornado`: almost half-way round the ring of tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::partners::Partners;
use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Tornado: task i of N sends to task (i + ceil(N / 2) - 1) mod N, the definition for a ring (one
/// dimension) of N tasks. It is the worst case of minimal routing on a ring in the order of the
/// tasks. It has no parameters. For a dragonfly, whose worst case is by groups, use `worst_case`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

pub const ENTRY: Entry<Build> = Entry {
    name: "tornado",
    summary: "Task i of N sends almost half-way round the ring: to (i + ceil(N / 2) - 1) mod N.",
    source: "Dally & Towles, Principles and Practices of Interconnection Networks (2004), table \
             3.1",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let Params {} = section.parse()?;
    let tasks = Tasks::new(members.endpoints);
    let count = tasks.count();
    if count < 3 {
        let message = format!("on a ring of {count}, tornado sends to oneself");
        let remedy = "let at least 3 endpoints take part";
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    let partner = move |task| {
        let to = u64::from(task) + u64::from(count.div_ceil(2) - 1);
        Some((to % u64::from(count)) as u32)
    };
    Ok(Box::new(Partners { tasks, partner }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, flat, refusal};
    use weir_model::stream;

    fn all(count: u32) -> Vec<u32> {
        let pattern = flat("tornado", "", count, 1);
        let mut rng = stream(1, &[]);
        (0..count)
            .map(|one| pattern.destination(one, 0, &mut rng).unwrap())
            .collect()
    }

    #[test]
    fn almost_half_way_round() {
        assert_eq!(all(8), [3, 4, 5, 6, 7, 0, 1, 2]);
        assert_eq!(all(7), [3, 4, 5, 6, 0, 1, 2]);
        assert_eq!(all(3), [1, 2, 0]);
    }

    #[test]
    fn two_are_refused() {
        let words = refusal("tornado", "", &[0, 1], &Grouped::network(1, 4, 1));
        assert!(words.contains("ring of 2"), "{words}");
    }
}
