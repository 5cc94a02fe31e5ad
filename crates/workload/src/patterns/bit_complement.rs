//! `bit_complement`: every bit of the task number is inverted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::partners::Partners;
use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Bit complement: of 2^b members, task i sends to the task whose b bits are the inverse of those
/// of i, which is 2^b - 1 - i. It has no parameters. The number of members must be a power of two.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

pub const ENTRY: Entry<Build> = Entry {
    name: "bit_complement",
    summary: "Task i of 2^b sends to the task whose bits are the inverse of those of i.",
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
    if count < 2 || !count.is_power_of_two() {
        let message = format!("bit_complement is not defined for {count} endpoints");
        let below = 1u32 << count.max(2).ilog2();
        let remedy = format!("let a power of two take part, such as {below}");
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    let partner = move |task| Some(count - 1 - task);
    Ok(Box::new(Partners { tasks, partner }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, refusal};
    use weir_model::stream;

    #[test]
    fn the_bits_are_inverted() {
        let members: Vec<u32> = (100..116).collect();
        let pattern = build(
            "bit_complement",
            "",
            &members,
            &Grouped::network(2, 64, 1),
            1,
        )
        .unwrap();
        let mut rng = stream(1, &[]);
        for task in 0..16u32 {
            let to = pattern.destination(100 + task, 0, &mut rng).unwrap() - 100;
            assert_eq!(to, !task & 0b1111);
        }
    }

    #[test]
    fn other_sizes_are_refused_with_the_nearest_below() {
        let members: Vec<u32> = (0..20).collect();
        let topology = Grouped::network(1, 20, 1);
        let words = refusal("bit_complement", "", &members, &topology);
        assert!(
            words.contains("20 endpoints") && words.contains("such as 16"),
            "{words}"
        );
        assert!(refusal("bit_complement", "", &[4], &topology).contains("such as 2"));
        assert!(refusal("bit_complement", "bits = 3", &members, &topology).contains("bits"));
    }
}
