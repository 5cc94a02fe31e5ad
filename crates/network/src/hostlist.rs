//! Lists of names with ranges in brackets, as Slurm writes them: `a,b[1-3,7]`, `r[0-1]n[01-16]`.

/// Names of a list at most: more are a slip of the pen.
const MOST: usize = 1 << 20;

/// The names of a list in its order; None if it is not one, or has more than a million names.
pub fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for part in parts(list)? {
        let mut own = vec![String::new()];
        let mut rest = part;
        while let Some((before, after)) = rest.split_once('[') {
            let (inside, after) = after.split_once(']')?;
            let ranges = numbers(inside)?;
            if own.len().checked_mul(ranges.len())? > MOST {
                return None;
            }
            own = (own.iter())
                .flat_map(|name| ranges.iter().map(move |n| format!("{name}{before}{n}")))
                .collect();
            rest = after;
        }
        if rest.contains(']') || part.is_empty() {
            return None;
        }
        names.extend(own.into_iter().map(|name| name + rest));
        if names.len() > MOST {
            return None;
        }
    }
    Some(names)
}

/// The parts between commas that are in no brackets.
fn parts(list: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, character) in list.char_indices() {
        match character {
            '[' if inside => return None,
            '[' => inside = true,
            ']' => inside = false,
            ',' if !inside => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    (!inside).then_some(parts)
}

/// The numbers of ranges, with as many digits as their first ones.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [from, to] = [first, last].map(|text| text.parse::<u64>().ok());
        let (from, to, width) = (from?, to?, first.len());
        // More digits than a number has.
        if to < from || to - from >= MOST as u64 || width > 20 {
            return None;
        }
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
        if numbers.len() > MOST {
            return None;
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded() {
        let of = |list: &str| expand(list).map(|names| names.join(" "));
        for (list, names) in [
            ("a", "a"),
            ("a,b", "a b"),
            ("a[1,3-5]", "a1 a3 a4 a5"),
            ("n[08-11]x,m", "n08x n09x n10x n11x m"),
            ("r[0-1]n[1-2]", "r0n1 r0n2 r1n1 r1n2"),
        ] {
            assert_eq!(of(list).as_deref(), Some(names), "{list}");
        }
        for list in [
            "",
            "a,",
            "a[",
            "a]",
            "a[1",
            "a[]",
            "a[2-1]",
            "a[b]",
            "a[[1]]",
            "a[0-9999999]",
            "a[000000000000000000001]",
        ] {
            assert_eq!(of(list), None, "{list}");
        }
    }
}
