//! Names of metrics on pages.

/// The name of a metric, or of rows over time, for people.
pub(super) fn words(name: &str) -> String {
    let plain = |text: &str| text.replace(['_', '.'], " ");
    let (name, window) = name.split_once(" @ ").unwrap_or((name, ""));
    let parts: Vec<&str> = name.split('.').collect();
    let text = match parts.as_slice() {
        ["summary", rest @ ..] => plain(&rest.join(" ")),
        ["latency", "job", job, kind, stat] => format!("{kind} latency of {job}, {stat}"),
        ["latency", "job", job, kind] => format!("{kind} latency of {job}"),
        ["latency", kind, stat] => format!("{kind} latency, {stat}"),
        ["latency", kind] => format!("{kind} latency"),
        ["slowdown", job] => format!("slowdown of {job}"),
        ["jobs", job, what] => format!("{} of {job}", plain(what)),
        ["series", "job" | "class", whose, what] => format!("{} of {whose}", counted(what)),
        ["series", "endpoint", which, what] => format!("{} of endpoint {which}", counted(what)),
        ["scheme", record, what] => {
            format!(
                "{} of {}",
                plain(what.trim_end_matches("_ps")),
                plain(record)
            )
        }
        ["series", "job", job, what, how] => format!("{} of {job}, {how}", counted(what)),
        ["ejection", class] => format!("ejection channels' share of {class}"),
        ["ports", "all", what] => format!("{}, all ports", plain(what)),
        ["ports", kind, what] => format!("{}, {kind} ports", plain(what)),
        _ => plain(name),
    };
    match window {
        "" => text,
        window => format!("{text} ({window})"),
    }
}

/// A column of a series in words. Its unit is B/s, which is no number of bytes.
pub(super) fn counted(column: &str) -> String {
    column.replace('_', " ").replace(" bytes", " payload")
}

/// Common part of several metrics, in words: the parts of their names, None where they differ.
/// Empty if that says nothing.
pub(super) fn common(parts: &[Option<&str>]) -> String {
    match parts {
        [Some("latency"), Some("job"), Some(job), Some(kind), _] => {
            format!("{kind} latency of {job}")
        }
        [Some("latency"), Some("job"), _, Some(kind), Some(stat)] => {
            format!("{kind} latency, {stat}")
        }
        [Some("latency"), Some(kind), None] => format!("{kind} latency"),
        [Some("latency"), None, Some(stat)] => format!("latency, {stat}"),
        _ => {
            let said = parts.iter().flatten();
            let said = said.filter(|part| !["summary", "series", "job", "jobs"].contains(part));
            let said: Vec<String> = said.map(|part| part.replace('_', " ")).collect();
            said.join(" ")
        }
    }
}

/// Two names joined, if both say something.
pub(super) fn joined(first: &str, second: &str) -> String {
    match (first, second) {
        ("", name) | (name, "") => name.to_string(),
        (first, second) => format!("{first}, {second}"),
    }
}

/// Names with dots without their common beginning and end: `ejection.data` and `ejection.control`
/// become `data` and `control`. A single name is itself.
pub(super) fn distinct(names: &[String]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('.').collect()).collect();
    let Some((first, others)) = parts.split_first().filter(|(_, others)| !others.is_empty()) else {
        return names.to_vec();
    };
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(1);
    let same = |of: &dyn Fn(&[&str], usize) -> String| {
        (0..shortest - 1)
            .take_while(|i| others.iter().all(|other| of(other, *i) == of(first, *i)))
            .count()
    };
    let head = same(&|parts, i| parts[i].to_string());
    let tail = same(&|parts, i| parts[parts.len() - 1 - i].to_string());
    let tail = tail.min(shortest - 1 - head);
    parts
        .iter()
        .map(|parts| parts[head..parts.len() - tail].join("."))
        .collect()
}
