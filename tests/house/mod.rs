//! The source tree keeps its order: layers, sizes, first lines, names and wording.
//!
//! All limits are in `limits.rs`. The tests read the files as text and know nothing of weir.

mod clock;
mod cycles;
mod data;
mod facade;
mod layers;
mod limits;
mod names;
mod prose;
mod sizes;
mod tree;

use std::collections::BTreeMap;

/// A count that may only fall.
struct Count {
    /// Name of the constant in limits.rs.
    name: &'static str,
    limit: usize,
    /// The count may be lower by this much before the limit must follow.
    slack: usize,
    /// Advice for the author of a new one.
    remedy: &'static str,
}

/// A bound for the sizes of many things, with the ones above it. Their number may only fall.
struct Sizes {
    /// Name of the constant in limits.rs.
    name: &'static str,
    bound: usize,
    /// The things above the bound, with their sizes.
    above: &'static [(&'static str, usize)],
    /// A size may be lower by this much before the list must follow.
    slack: usize,
    /// Advice for the author of a thing that is too large.
    remedy: &'static str,
}

/// Fails if a count is above its limit, and also if it is far below, so that limits fall.
fn hold(count: &Count, now: usize, places: &[String]) {
    println!("{}: {now}", count.name);
    if let Some(wrong) = judge(count, now) {
        let places = if now > count.limit { places } else { &[] };
        panic!("\n{wrong}\n{}\n", places.join("\n"));
    }
}

/// The fault of a count, if it has one.
fn judge(count: &Count, now: usize) -> Option<String> {
    let Count {
        name,
        limit,
        remedy,
        ..
    } = count;
    if now > *limit {
        Some(format!("{name} is {limit}, but there are {now}. {remedy}"))
    } else if now + count.slack < *limit {
        Some(format!(
            "There are {now} now: lower {name} from {limit} to {now} (tests/house/limits.rs)."
        ))
    } else {
        None
    }
}

/// Fails if a thing is above the bound or its listed size, and also if the list has not followed.
fn hold_each(sizes: &Sizes, found: &BTreeMap<String, usize>) {
    let wrong = judge_each(sizes, found);
    assert!(
        wrong.is_empty(),
        "\n{}: {}\n{}\n",
        sizes.name,
        sizes.remedy,
        wrong.join("\n")
    );
}

/// The faults of sizes, a line for each thing.
fn judge_each(sizes: &Sizes, found: &BTreeMap<String, usize>) -> Vec<String> {
    let bound = sizes.bound;
    let mut wrong = Vec::new();
    for (what, now) in found.iter().filter(|(_, now)| **now > bound) {
        match sizes.above.iter().find(|(name, _)| name == what) {
            None => wrong.push(format!("{what} has {now}; at most {bound} are allowed")),
            Some((_, listed)) if now > listed => {
                wrong.push(format!(
                    "{what} grew from {listed} to {now}; at most {bound} are allowed"
                ));
            }
            Some((_, listed)) if now + sizes.slack < *listed => {
                wrong.push(format!(
                    "{what} fell from {listed} to {now}: write {now} into the list"
                ));
            }
            Some(_) => {}
        }
    }
    for (name, _) in sizes.above {
        if found.get(*name).is_none_or(|now| *now <= bound) {
            wrong.push(format!(
                "{name} is not above {bound} any more: remove it from the list"
            ));
        }
    }
    wrong
}

#[test]
fn limits_only_fall() {
    let count = Count {
        name: "N",
        limit: 20,
        slack: 2,
        remedy: "Mend it.",
    };
    assert_eq!(
        judge(&count, 21).as_deref(),
        Some("N is 20, but there are 21. Mend it.")
    );
    assert!(judge(&count, 17).is_some_and(|wrong| wrong.contains("lower N from 20 to 17")));
    for now in 18..=20 {
        assert_eq!(judge(&count, now), None);
    }
    let above = &[("a", 12), ("b", 12), ("c", 20), ("d", 12), ("e", 12)];
    let sizes = Sizes {
        name: "S",
        bound: 10,
        above,
        slack: 2,
        remedy: "",
    };
    let now = [
        ("a", 12),
        ("b", 13),
        ("c", 17),
        ("d", 10),
        ("f", 11),
        ("g", 10),
    ];
    let found = now.into_iter().map(|(name, size)| (name.to_owned(), size));
    let wrong = judge_each(&sizes, &found.collect());
    let first: Vec<&str> = wrong.iter().map(|wrong| &wrong[..7]).collect();
    assert_eq!(
        first,
        ["b grew ", "c fell ", "f has 1", "d is no", "e is no"]
    );
}
