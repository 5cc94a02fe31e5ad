//! Tables of a comparison, for the text and for the page.

use crate::format::{short, whole};
use crate::page::{Row, Rows};
use weir_study::compare::{Bounds, Change, Comparison, NumberChange};

/// All tables but the notes. Without `all`, equal keys and numbers are left out, and metrics of
/// sweeps that the study does not ask for.
pub(super) fn tables(comparison: &Comparison, all: bool) -> Vec<Rows> {
    let mut tables = vec![keys(comparison)];
    let shown = |number: &&NumberChange| all || number.asked && !number.same;
    let numbers: Vec<&NumberChange> = comparison.numbers.iter().filter(shown).collect();
    let group = |number: &&NumberChange| match comparison.of_sweeps {
        true => header(number),
        false => number.metric.split('.').next().unwrap_or_default().into(),
    };
    for part in numbers.chunk_by(|a, b| group(a) == group(b) && a.inputs == b.inputs) {
        tables.push(match comparison.of_sweeps {
            true => of_metric(comparison, part),
            false => of_group(comparison, &group(&part[0]), part),
        });
    }
    tables.push(alone(comparison));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Name and unit of a metric.
pub(super) fn header(number: &NumberChange) -> String {
    match number.unit.as_str() {
        "" => number.metric.clone(),
        unit => format!("{} [{unit}]", number.metric),
    }
}

fn letters(comparison: &Comparison) -> impl Iterator<Item = String> + '_ {
    comparison.inputs.iter().map(|input| input.letter.clone())
}

fn keys(comparison: &Comparison) -> Rows {
    let rows = comparison.keys.iter().map(|change| {
        let values = change.values.iter();
        let values = values.map(|value| value.clone().unwrap_or("-".into()));
        Row::new([change.key.clone()].into_iter().chain(values))
    });
    Rows {
        title: "Experiments".into(),
        head: ["key".to_string()]
            .into_iter()
            .chain(letters(comparison))
            .collect(),
        rows: rows.collect(),
        ..Rows::default()
    }
}

/// Numbers of runs: a row for each.
fn of_group(comparison: &Comparison, group: &str, numbers: &[&NumberChange]) -> Rows {
    let mut letters = letters(comparison);
    let base = letters.next().unwrap_or_default();
    let mut head = vec!["number".to_string(), base.clone()];
    for letter in letters {
        let difference = format!("{letter} - {base}");
        head.extend([letter, difference, "relative".into()]);
    }
    let rows = numbers.iter().map(|number| {
        let mut cells = vec![header(number), value(number.values[0])];
        for (own, change) in number.values[1..].iter().zip(&number.changes) {
            cells.push(value(*own));
            cells.extend(differences(change.as_ref()));
        }
        Row::new(cells)
    });
    Rows {
        title: capital(group),
        head,
        rows: rows.collect(),
        ..Rows::default()
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A metric of two sweeps: a row for each point.
fn of_metric(comparison: &Comparison, numbers: &[&NumberChange]) -> Rows {
    let [base, other] = [0, 1].map(|side| {
        let input = numbers[0].inputs.get(side).copied().unwrap_or_default();
        comparison.inputs[input].letter.clone()
    });
    let lacks = numbers.iter().any(|number| !number.missing.is_empty());
    let difference = format!("{other} - {base}");
    let mut head: Vec<String> = numbers[0]
        .point
        .iter()
        .map(|(axis, _)| axis.clone())
        .collect();
    if head.is_empty() {
        head.push("point".into());
    }
    let rest = ["relative", "95% interval", "", "seeds"].map(String::from);
    head.extend([base, other, difference].into_iter().chain(rest));
    if lacks {
        head.push("missing".into());
    }
    let rows = numbers.iter().map(|number| {
        let mut cells: Vec<String> = number
            .point
            .iter()
            .map(|(_, label)| label.clone())
            .collect();
        if cells.is_empty() {
            cells.push("the only one".into());
        }
        let change = number.changes.first().and_then(Option::as_ref);
        cells.extend(number.values.iter().map(|own| value(*own)));
        cells.extend(differences(change));
        let interval = change.and_then(|change| change.interval);
        cells.push(interval.map_or("-".into(), |[low, high]| {
            format!("{} to {}", signed(low), signed(high))
        }));
        let mark = change.is_some_and(Change::is_marked);
        cells.push(if mark { "*" } else { "" }.into());
        cells.push(change.map_or(0, |change| change.pairs).to_string());
        if lacks {
            let counts = number.missing.iter().map(|count| whole(*count as u64));
            cells.push(counts.collect::<Vec<_>>().join(" / "));
        }
        Row::new(cells)
    });
    let note = "Of samples that arrived. Missing ones had not arrived when a run ended: sums over \
                the seeds.";
    Rows {
        title: header(numbers[0]),
        note: if lacks { note.into() } else { String::new() },
        head,
        rows: rows.collect(),
    }
}

fn alone(comparison: &Comparison) -> Rows {
    let letter = |place: usize| comparison.inputs[place].letter.clone();
    let rows = comparison.alone.iter().map(|alone| {
        let point = alone.point.iter();
        let point = point.map(|(axis, label)| format!("{axis}={label}"));
        let point = point.collect::<Vec<_>>().join(" ");
        Row::new([point, letter(alone.input), letter(alone.other)])
    });
    Rows {
        title: "Points without a partner".into(),
        head: ["point", "is in", "is not in"].map(String::from).to_vec(),
        rows: rows.collect(),
        ..Rows::default()
    }
}

/// Notes that not all inputs have: letters of the inputs, and the note.
pub(super) fn notes(comparison: &Comparison) -> Rows {
    let rows = comparison.notes.iter().map(|note| {
        let letters = note.inputs.iter();
        let letters = letters.map(|input| comparison.inputs[*input].letter.as_str());
        Row::new([letters.collect::<Vec<_>>().join(", "), note.text.clone()])
    });
    Rows {
        title: "Notes that not all have".into(),
        head: ["of", "note"].map(String::from).to_vec(),
        rows: rows.collect(),
        ..Rows::default()
    }
}

/// A number, or its bounds.
fn value(own: Option<Bounds>) -> String {
    own.map_or("-".into(), |own| bounded(&own, short))
}

fn differences(change: Option<&Change>) -> [String; 2] {
    let Some(change) = change else {
        return ["-", "-"].map(String::from);
    };
    let relative = change.relative;
    [
        bounded(&change.absolute, signed),
        relative.map_or("-".into(), |share| bounded(&share, percent)),
    ]
}

fn bounded(own: &Bounds, shown: fn(f64) -> String) -> String {
    match (own.value(), own.least.is_finite(), own.most.is_finite()) {
        (Some(value), ..) => shown(value),
        (None, true, true) => format!("{} to {}", shown(own.least), shown(own.most)),
        (None, true, false) => format!(">= {}", shown(own.least)),
        (None, false, true) => format!("<= {}", shown(own.most)),
        (None, false, false) => "?".into(),
    }
}

/// A number with its sign.
pub(super) fn signed(value: f64) -> String {
    match value > 0.0 {
        true => format!("+{}", short(value)),
        false => short(value),
    }
}

/// A share in per cent with its sign.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        size if size < 9.995 => format!("{percent:+.2} %"),
        size if size < 999.5 => format!("{percent:+.1} %"),
        _ => format!("{percent:+.0} %"),
    }
}
