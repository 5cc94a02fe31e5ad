//! The summary of a run as a JSON object, for programs.

use serde_json::{Map, Value, json};

use weir_model::table::{Attribute, Attributes, Number, Table};
use weir_result::{Digest, Job, Note, Run, Stats};

fn scheme_json(digest: &Digest) -> Value {
    let (name, counters) = &digest.scheme;
    let mut all: Map<String, Value> = (counters.iter())
        .map(|(name, count)| (name.clone(), json!(count)))
        .collect();
    all.insert("name".into(), json!(name));
    Value::Object(all)
}

/// The summary as one JSON object: `summary`, `jobs`, `latency` the counters of `scheme` and, if
/// asked for, `cost` as under `/data`, `notes` as a list, and `complete`.
///
/// It is made of bit-identical values only, so it is the same for any number of ranks. A number
/// that does not exist (the mean of no samples), or that has no bound, is null.
pub fn json(digest: &Digest, run: &Run) -> Value {
    let latency = digest.latency.iter();
    let jobs = digest.jobs.iter();
    let mut all = json!({
        "complete": run.stopped.is_none(),
        "summary": object(&digest.summary, &[("messages_received", &PROTOCOL)]),
        "jobs": jobs.map(|job| (job.name.clone(), job_json(job))).collect::<Map<_, _>>(),
        "latency": latency.map(|(class, stats)| (class.clone(), stats_json(stats))).collect::<Map<_, _>>(),
        "scheme": scheme_json(digest),
        "phases": phases_json(digest),
        "notes": digest.notes.iter().map(note_json).collect::<Vec<_>>(),
    });
    if let Some(cost) = &digest.cost {
        all["cost"] = object(cost, &[]);
    }
    all
}

const PROTOCOL: [&str; 2] = ["protocol_messages_generated", "protocol_messages_received"];
/// Left out if the run has none, as in the file.
const INSIDE: [&str; 2] = ["inside_messages", "inside_bytes"];
const ENDS: [&str; 3] = ["over", "finish_at_least_ps", "communication_at_least_ps"];

/// The attributes of a group.
/// For `moved`, keys stand behind the one that they belong to, which is not their order in the
/// file.
fn object(group: &impl Attributes, moved: &[(&str, &[&str])]) -> Value {
    let there = |(own, value): &(&Attribute, Option<Number>)| {
        value.is_some() || !INSIDE.contains(&own.name)
    };
    let mut pairs: Vec<_> = group.pairs().filter(there).collect();
    for (before, keys) in moved {
        let (keys, mut rest): (Vec<_>, Vec<_>) = pairs
            .into_iter()
            .partition(|(own, _)| keys.contains(&own.name));
        let at = rest.iter().position(|(own, _)| own.name == *before);
        let at = at.map_or(rest.len(), |at| at + 1);
        rest.splice(at..at, keys);
        pairs = rest;
    }
    let pairs = pairs.into_iter();
    pairs
        .map(|(own, value)| (own.name.to_string(), value_json(value)))
        .collect()
}

fn value_json(value: Option<Number>) -> Value {
    match value {
        Some(Number::Whole(value)) => json!(value),
        Some(Number::Real(value)) => json!(value),
        Some(Number::Text(value)) => json!(value),
        Some(Number::Texts(values)) => json!(values),
        None => Value::Null,
    }
}

fn phases_json(digest: &Digest) -> Value {
    let phases = &digest.phases;
    let row = |row: usize| {
        let values = phases.pairs().map(|(column, values)| {
            let value = value_json(values.get(row));
            (column.name.to_string(), value)
        });
        let mut values: Map<String, Value> = values.collect();
        let job = digest.jobs.get(phases.job[row] as usize);
        values["job"] = json!(job.map(|job| &job.name));
        Value::Object(values)
    };
    (0..phases.rows()).map(row).collect()
}

fn note_json(note: &Note) -> Value {
    let numbers = note.numbers.iter();
    json!({
        "kind": note.kind,
        "job": note.job,
        "text": note.text,
        "numbers": numbers.map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>(),
    })
}

fn job_json(job: &Job) -> Value {
    let mut totals = object(&job.totals, &[("communication_ps", &ENDS)]);
    // Results of weir 0.1.0 lack the bounds.
    totals["finish_at_least_ps"] = json!(job.finish());
    totals["communication_at_least_ps"] = json!(job.communication());
    if job.is_cut_off() {
        // The file has 0 there.
        totals["finish_ps"] = Value::Null;
        totals["communication_ps"] = Value::Null;
    }
    totals
}

fn stats_json(stats: &Stats) -> Value {
    let moved: [(&str, &[&str]); 3] = [
        ("missing", &["missing_share"]),
        ("p999_ps", &["max_ps"]),
        ("p999_at_least_ps", &["max_at_least_ps"]),
    ];
    object(&stats.numbers(), &moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_result::{Data, Job, Latency, sample};

    #[test]
    fn json_has_the_contracts_numbers_and_null_for_none() {
        let data = sample::data();
        let value = json(&data.digest(), &sample::run());
        assert_eq!(value["complete"], true);
        assert_eq!(value["summary"]["bytes_delivered"], u64::MAX);
        assert_eq!(value["summary"]["accepted_load"], 0.398_765_432_1);
        assert_eq!(value["jobs"]["aggressor-1"]["index"], 1);
        assert_eq!(value["jobs"]["stencil"]["tasks"], 5);
        let network = &value["latency"]["network"];
        assert_eq!(network["samples"], 5_000);
        assert_eq!(network["p99_ps"], data.latency[0].1.arrived.quantile(0.99));
        let message = &value["latency"]["message"];
        assert_eq!(
            (&message["samples"], &message["missing"]),
            (&json!(2_000), &json!(500))
        );
        assert_eq!(message["missing_share"], 0.2);
        // Over all 2,500, with the missing ones at 2.25 us: the median is one of the missing.
        let bound = message["p50_at_least_ps"].as_f64().expect("a number");
        assert!((2_200_000.0..=2_250_000.0).contains(&bound), "{bound}");
        assert!(message["p99_at_most_ps"].is_null());
        let note = &value["notes"][0];
        assert_eq!(
            (&note["kind"], &note["job"]),
            (&json!("missing"), &json!("stencil"))
        );
        assert_eq!(note["numbers"]["messages_missing"], 500);
        assert!(value["notes"][1]["job"].is_null());
        let none = &value["latency"]["job.aggressor-1.message"];
        assert_eq!(none["samples"], 0);
        assert!(
            none["mean_ps"].is_null() && none["p999_ps"].is_null(),
            "{none}"
        );
        let text = value.to_string();
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }

    #[test]
    fn json_names_every_attribute_of_the_file() {
        use weir_result::{JobTotals, LatencyNumbers, Summary};
        let data = Data {
            summary: Summary {
                inside_messages: Some(0),
                inside_bytes: Some(0),
                ..Summary::default()
            },
            jobs: vec![Job {
                name: "j".into(),
                ..Job::default()
            }],
            latency: vec![("network".into(), Latency::default())],
            ..Data::default()
        };
        let value = json(&data.digest(), &Run::default());
        fn same<A: Attributes>(object: &Value) {
            let mut names: Vec<_> = A::ATTRIBUTES.iter().map(|own| own.name).collect();
            names.sort();
            let keys = object.as_object().expect("an object").keys();
            let mut keys: Vec<_> = keys.map(String::as_str).collect();
            keys.sort();
            assert_eq!(keys, names);
        }
        same::<Summary>(&value["summary"]);
        same::<JobTotals>(&value["jobs"]["j"]);
        same::<LatencyNumbers>(&value["latency"]["network"]);
    }
}
