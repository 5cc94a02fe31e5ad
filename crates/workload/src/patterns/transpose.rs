//! `transpose`: the halves of the bits of the task number are exchanged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::partners::Partners;
use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Transpose: of 2^b members, b even, task i sends to the task with the upper and the lower b/2
/// bits of i exchanged. With the tasks as a square matrix, row by row, this is the transposition of
/// the matrix; the tasks on its diagonal would send to themselves and do not send. It has no
/// parameters. The number of members must be 4, 16, 64, 256 …
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

pub const ENTRY: Entry<Build> = Entry {
    name: "transpose",
    summary: "Task i of 2^b (b even) sends to the task with the two halves of the bits of i \
              exchanged.",
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
    if count < 4 || !count.is_power_of_two() || count.ilog2() % 2 == 1 {
        let message = format!("transpose is not defined for {count} endpoints");
        let below = 1u32 << (count.max(4).ilog2() & !1);
        let remedy = format!("let an even power of two take part, such as {below}");
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    // Bits of one half.
    let half = count.ilog2() / 2;
    let partner = move |task: u32| {
        let lower = task & ((1 << half) - 1);
        let to = (lower << half) | (task >> half);
        (to != task).then_some(to)
    };
    Ok(Box::new(Partners { tasks, partner }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, flat, refusal};
    use weir_model::stream;

    #[test]
    fn rows_become_columns_and_the_diagonal_is_silent() {
        let pattern = flat("transpose", "", 16, 1);
        let mut rng = stream(1, &[]);
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            let to = pattern.destination(4 * row + column, 0, &mut rng);
            assert_eq!(to, (row != column).then_some(4 * column + row));
            assert_eq!(pattern.sends(4 * row + column), row != column);
        }
        assert_eq!(
            pattern.receivers().unwrap(),
            [1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14]
        );
    }

    #[test]
    fn odd_powers_and_other_sizes_are_refused() {
        let topology = Grouped::network(1, 40, 1);
        for (count, remedy) in [
            (32, "such as 16"),
            (20, "such as 16"),
            (2, "such as 4"),
            (12, "such as 4"),
        ] {
            let members: Vec<u32> = (0..count).collect();
            let words = refusal("transpose", "", &members, &topology);
            assert!(
                words.contains(&format!("{count} endpoints")) && words.contains(remedy),
                "{words}"
            );
        }
    }
}
