//! `permutation`: every member sends to one other member and receives from one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, below, stream};

/// Permutation traffic: every member sends all its messages to one partner, and each member is the
/// partner of one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Number of random permutations laid over one another; each message follows one of them at
    /// random (default: 1).
    count: u32,
    /// The permutation itself: task i sends to task `list[i]`, counted from 0 in the order of the
    /// members; no task to itself (default: drawn at random, each permutation without fixed points
    /// with the same chance).
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<u32>>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            count: 1,
            list: None,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "permutation",
    summary: "Every member sends to one partner: a random permutation without fixed points, or a \
              given one.",
    source: "Dally & Towles, Principles and Practices of Interconnection Networks (2004), section \
             3.2",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};

/// Maximum number of permutations: more amount to uniform traffic at a high cost.
const MOST: u32 = 64;

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let tasks = Tasks::new(members.endpoints);
    let count = tasks.count();
    if count < 2 {
        let message = format!("a permutation of {count} endpoint has nobody to send to");
        let remedy = "let at least 2 endpoints take part";
        return Err(section.refuse(Invalid::new("", message, remedy)));
    }
    let partners = match params.list {
        Some(_) if params.count != 1 => {
            let message = format!("{} permutations and a `list`", params.count);
            let remedy = "a list is one permutation: leave out `count`";
            return Err(section.refuse(Invalid::new("count", message, remedy)));
        }
        Some(list) => {
            check(&list, count).map_err(|invalid| section.refuse(invalid))?;
            vec![list.into_boxed_slice()]
        }
        None if !(1..=MOST).contains(&params.count) => {
            let message = format!("{} permutations", params.count);
            let remedy = format!("give 1 to {MOST}; for more, `uniform` is the same thing");
            return Err(section.refuse(Invalid::new("count", message, remedy)));
        }
        None => (0..u64::from(params.count))
            .map(|number| derangement(count, &mut stream(members.seed, &[number])))
            .collect(),
    };
    Ok(Box::new(Permutation {
        tasks,
        partners: partners.into(),
    }))
}

/// True if `list` is a permutation of `count` tasks without fixed points.
fn check(list: &[u32], count: u32) -> Result<(), Invalid> {
    let refuse = |message: String, remedy: String| Err(Invalid::new("list", message, remedy));
    if list.len() != count as usize {
        let message = format!("{} entries for {count} tasks", list.len());
        return refuse(
            message,
            format!("give {count}, one for each endpoint of the workload"),
        );
    }
    let mut sender = vec![None; list.len()];
    for (task, &to) in list.iter().enumerate() {
        let Some(before) = sender.get_mut(to as usize) else {
            let message = format!("task {task} sends to task {to}, and there are {count}");
            return refuse(message, format!("name tasks from 0 to {}", count - 1));
        };
        if to as usize == task {
            let message = format!("task {task} sends to itself");
            return refuse(message, "name another task".into());
        }
        if let Some(before) = before.replace(task) {
            let message = format!("tasks {before} and {task} both send to task {to}");
            return refuse(
                message,
                "name each task once (for many to one, use `hotspot`)".into(),
            );
        }
    }
    Ok(())
}

/// A random permutation of `0..count` (2 or more) without fixed points, each with the same
/// probability. It shuffles until there is no fixed point, which takes 2.7 attempts on average,
/// independent of the length. An attempt ends at its first fixed point.
pub(crate) fn derangement(count: u32, rng: &mut Rng) -> Box<[u32]> {
    let mut partners: Box<[u32]> = (0..count).collect();
    loop {
        let good = (0..count).rev().all(|last| {
            let other = below(rng, last + 1);
            partners.swap(last as usize, other as usize);
            // From here on this place stays as it is.
            partners[last as usize] != last
        });
        if good {
            return partners;
        }
    }
}

struct Permutation {
    tasks: Tasks,
    partners: Box<[Box<[u32]>]>,
}

impl Pattern for Permutation {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        let task = self.tasks.task(source)? as usize;
        let which = match self.partners.len() {
            1 => 0,
            several => below(rng, several as u32) as usize,
        };
        Some(self.tasks.endpoint(self.partners[which][task]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, flat, plausible, refusal, tally};
    use super::*;

    fn partners(pattern: &dyn Pattern, count: u32) -> Vec<u32> {
        let mut rng = stream(1, &[]);
        (0..count)
            .map(|source| pattern.destination(source, 0, &mut rng).unwrap())
            .collect()
    }

    #[test]
    fn everybody_receives_from_one_other() {
        for seed in 0..20 {
            let to = partners(&*flat("permutation", "", 100, seed), 100);
            assert!(check(&to, 100).is_ok(), "{to:?}");
        }
    }

    #[test]
    fn all_permutations_without_fixed_points_have_the_same_chance() {
        // There are 9 of 4 items.
        let mut rng = stream(3, &[]);
        let mut seen = std::collections::BTreeMap::<Box<[u32]>, u32>::new();
        for _ in 0..9_000 {
            *seen.entry(derangement(4, &mut rng)).or_default() += 1;
        }
        assert_eq!(seen.len(), 9);
        assert!(
            seen.values()
                .all(|&times| plausible(times, 9_000, 1.0 / 9.0)),
            "{seen:?}"
        );
    }

    #[test]
    fn seeds_choose_the_permutation() {
        let of = |seed| partners(&*flat("permutation", "", 50, seed), 50);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn several_permutations_share_the_messages() {
        let pattern = flat("permutation", "count = 3", 200, 7);
        let mut received = vec![0; 200];
        for source in 0..200 {
            let counts = tally(&*pattern, source, 200, 300, 0);
            let partners = counts.iter().filter(|&&count| count > 0).count();
            assert!((1..=3).contains(&partners) && counts[source as usize] == 0);
            assert!(
                partners < 3
                    || counts
                        .iter()
                        .all(|&n| n == 0 || plausible(n, 300, 1.0 / 3.0))
            );
            counts
                .iter()
                .zip(&mut received)
                .for_each(|(count, sum)| *sum += count);
        }
        assert!(
            received
                .iter()
                .all(|&count| plausible(count, 900, 1.0 / 3.0)),
            "{received:?}"
        );
    }

    #[test]
    fn a_list_speaks_of_tasks() {
        let members = [9, 4, 7];
        let pattern = build(
            "permutation",
            "list = [1, 2, 0]",
            &members,
            &Grouped::network(1, 10, 1),
            1,
        )
        .unwrap();
        let mut rng = stream(1, &[]);
        let to: Vec<_> = members
            .map(|one| pattern.destination(one, 0, &mut rng).unwrap())
            .into();
        assert_eq!(to, [4, 7, 9]);
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        let topology = Grouped::network(1, 4, 1);
        for (parameters, words) in [
            ("list = [1, 0]", "2 entries for 3 tasks"),
            (
                "list = [1, 3, 0]",
                "task 1 sends to task 3, and there are 3",
            ),
            ("list = [1, 0, 2]", "task 2 sends to itself"),
            ("list = [1, 0, 1]", "tasks 0 and 2 both send to task 1"),
            ("count = 0", "0 permutations"),
            ("count = 65", "65 permutations"),
            ("count = 2\nlist = [1, 2, 0]", "2 permutations and a `list`"),
        ] {
            let refusal = refusal("permutation", parameters, &[0, 1, 2], &topology);
            assert!(refusal.contains(words), "{parameters}: {refusal}");
        }
        assert!(refusal("permutation", "", &[2], &topology).contains("1 endpoint"));
    }
}
