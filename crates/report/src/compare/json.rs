//! A comparison as a JSON object, for programs.

use serde_json::{Map, Value, json};

use weir_study::compare::{Bounds, Change, Comparison, NumberChange};

/// The comparison as one object: `of`, `inputs`, `remarks`, `keys`, `same_keys`, `numbers`,
/// `notes`, `points_without_partner`, `identical`. Values are by the letters of the inputs. A
/// number that is known within bounds only is an object with `at_least` and `at_most`; null is no
/// number, or no bound.
pub fn json(comparison: &Comparison) -> Value {
    let letter = |place: usize| comparison.inputs[place].letter.clone();
    let letters = || comparison.inputs.iter().map(|input| input.letter.clone());
    let inputs = comparison
        .inputs
        .iter()
        .map(|input| json!({ "letter": input.letter, "path": input.path, "about": input.about }));
    let keys = comparison.keys.iter().map(|change| {
        let values: Map<String, Value> = letters()
            .zip(change.values.iter().map(|value| json!(value)))
            .collect();
        json!({ "key": change.key, "values": values })
    });
    let notes = comparison.notes.iter().map(|note| {
        let of: Vec<String> = note.inputs.iter().map(|input| letter(*input)).collect();
        json!({ "of": of, "kind": note.kind, "text": note.text })
    });
    let alone = comparison.alone.iter().map(|alone| {
        json!({ "point": point(&alone.point), "in": letter(alone.input), "not_in": letter(alone.other) })
    });
    let identical = comparison
        .identical
        .iter()
        .map(|one| json!({ "of": letter(one.input), "same": one.same, "results": one.all }));
    json!({
        "of": if comparison.of_sweeps { "sweeps" } else { "runs" },
        "inputs": inputs.collect::<Vec<_>>(),
        "remarks": comparison.remarks,
        "keys": keys.collect::<Vec<_>>(),
        "same_keys": comparison.same_keys,
        "numbers": comparison.numbers.iter().map(|one| number(comparison, one)).collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
        "points_without_partner": alone.collect::<Vec<_>>(),
        "identical": identical.collect::<Vec<_>>(),
    })
}

fn point(labels: &[(String, String)]) -> Value {
    let labels = labels.iter();
    let labels = labels.map(|(axis, label)| (axis.clone(), json!(label)));
    Value::Object(labels.collect())
}

fn number(comparison: &Comparison, own: &NumberChange) -> Value {
    let letters = || {
        let inputs = own.inputs.iter();
        inputs.map(|input| comparison.inputs[*input].letter.clone())
    };
    let values = own.values.iter().map(|value| bounds(value.as_ref()));
    let values: Map<String, Value> = letters().zip(values).collect();
    let changes = own
        .changes
        .iter()
        .map(|one| json!(one.as_ref().map(change)));
    let changes: Map<String, Value> = letters().skip(1).zip(changes).collect();
    let mut all = json!({
        "metric": own.metric,
        "unit": own.unit,
        "same": own.same,
        "values": values,
        "differences": changes,
    });
    if comparison.of_sweeps {
        all["point"] = point(&own.point);
    }
    if !own.missing.is_empty() {
        let missing = own.missing.iter().map(|count| json!(count));
        all["missing"] = Value::Object(letters().zip(missing).collect());
    }
    all
}

fn change(own: &Change) -> Value {
    json!({
        "absolute": bounds(Some(&own.absolute)),
        "relative": bounds(own.relative.as_ref()),
        "pairs": own.pairs,
        "interval": own.interval,
        "excludes_zero": own.interval.map(|_| own.is_marked()),
    })
}

fn bounds(own: Option<&Bounds>) -> Value {
    match own.map(|own| (own, own.value())) {
        None => Value::Null,
        Some((_, Some(value))) => json!(value),
        Some((own, None)) => json!({ "at_least": own.least, "at_most": own.most }),
    }
}
