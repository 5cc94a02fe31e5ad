//! `--points 0..9,12`.

use crate::cli::process::failure::Failure;

/// The places in a list of ranges, each once, ascending.
/// As everywhere in experiments, the end of a range is not included.
pub fn places(text: &str, count: usize) -> Result<Vec<usize>, Failure> {
    let bad = |part: &str, why: &str| {
        Failure::bad_input(format!(
            "error: --points: {part:?} {why}\n  help: the points of this study are 0..{count}; write places and \
             ranges with commas between them, as in 0..9,12"
        ))
    };
    let mut places = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| {
            let number = text.trim().parse::<usize>();
            number.map_err(|_| bad(part, "is no place"))
        };
        let (from, to) = match part.split_once("..") {
            Some((from, to)) => (number(from)?, number(to)?),
            None => {
                let place = number(part)?;
                (place, place.saturating_add(1))
            }
        };
        if from >= to {
            return Err(bad(part, "is empty"));
        }
        if to > count {
            return Err(bad(part, "goes past the last point"));
        }
        places.extend(from..to);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn lists_of_places_and_ranges() {
        let of = |text: &str| places(text, 20).ok();
        assert_eq!(of("3"), Some(vec![3]));
        assert_eq!(of("0..3, 12,11"), Some(vec![0, 1, 2, 11, 12]));
        assert_eq!(of("1..4,2..6"), Some(vec![1, 2, 3, 4, 5]));
        assert_eq!(of("19"), Some(vec![19]));
        for wrong in ["", "20", "3..3", "5..2", "0..21", "a", "1..", "1,,2", "-1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
