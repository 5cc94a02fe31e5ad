//! The nearest valid name, for error messages.

/// The name among `valid` that a user who wrote `given` most likely meant. None if nothing is
/// close.
pub fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in valid {
        let lower = name.to_lowercase();
        let part = given.len() >= 3 && (lower.contains(&given) || given.contains(&lower));
        let score = strsim::normalized_damerau_levenshtein(&given, &lower).max(if part {
            0.6
        } else {
            0.0
        });
        if score >= 0.4 && best.is_none_or(|(so_far, _)| score > so_far) {
            best = Some((score, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The remedy for an unknown name: the nearest valid one, and all of them.
/// `what` is the plural of the named things.
pub fn suggest(given: &str, what: &str, valid: &[&str], quote: char) -> String {
    let quoted = |name: &str| format!("{quote}{name}{quote}");
    let all: Vec<String> = valid.iter().map(|name| quoted(name)).collect();
    let list = match all.as_slice() {
        [] => format!("there are no {what}"),
        all => format!("valid {what}: {}", all.join(", ")),
    };
    match nearest(given, valid.iter().copied()) {
        Some(name) => format!("did you mean {}? {list}", quoted(name)),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_nonsense_is_not() {
        let names = ["uniform", "hotspot", "group_shift"];
        assert_eq!(nearest("unifrom", names), Some("uniform"));
        assert_eq!(nearest("hot_spot", names), Some("hotspot"));
        assert_eq!(nearest("Shift", names), Some("group_shift"));
        assert_eq!(nearest("qqq", names), None);
        assert_eq!(
            suggest("unifrom", "kinds", &names, '"'),
            "did you mean \"uniform\"? valid kinds: \"uniform\", \"hotspot\", \"group_shift\""
        );
    }
}
