//! The summary of a run as a JSON object, for programs.

use serde_json::{Map, Value, json};

use weir_model::Time;
use weir_result::{Digest, JobTotals, Note, Run, Stats, Summary};

fn scheme_json(digest: &Digest) -> Value {
    let (name, counters) = &digest.scheme;
    let mut all: Map<String, Value> = (counters.iter())
        .map(|(name, count)| (name.clone(), json!(count)))
        .collect();
    all.insert("name".into(), json!(name));
    Value::Object(all)
}

/// The summary as one JSON object: `summary`, `jobs`, `latency` the counters of `scheme` and, if asked for, `cost` as under `/data`, `notes` as a
/// list, and `complete`.
///
/// It is made of bit-identical values only, so it is the same for any number of ranks. A number that does not exist
/// (the mean of no samples), or that has no bound, is null.
pub fn json(digest: &Digest, run: &Run) -> Value {
    let latency = digest.latency.iter();
    let jobs = digest.jobs.iter().enumerate();
    let mut all = json!({
        "complete": run.stopped.is_none(),
        "summary": summary_json(&digest.summary),
        "jobs": jobs.map(|(index, job)| (job.name.clone(), job_json(index, job))).collect::<Map<_, _>>(),
        "latency": latency.map(|(class, stats)| (class.clone(), stats_json(stats))).collect::<Map<_, _>>(),
        "scheme": scheme_json(digest),
        "phases": phases_json(digest),
        "notes": digest.notes.iter().map(note_json).collect::<Vec<_>>(),
    });
    if let Some(cost) = &digest.cost {
        all["cost"] = json!({
            "buffer_bytes": cost.buffer_bytes,
            "accesses": cost.accesses,
            "area_mm2": cost.area_mm2,
            "energy_nj": cost.energy_nj,
        });
    }
    all
}

fn phases_json(digest: &Digest) -> Value {
    let phases = &digest.phases;
    let row = |row: usize| {
        json!({
            "job": digest.jobs.get(phases.job[row] as usize).map(|job| job.name.clone()),
            "phase": phases.phase[row],
            "begin_ps": phases.begin_ps[row],
            "end_ps": phases.end_ps[row],
            "flows": phases.flows[row],
            "optimum_ps": phases.optimum_ps[row],
            "stretch": phases.stretch[row],
            "rate_ratio": phases.rate_ratio[row],
            "measured_ratio": phases.measured_ratio[row],
            "contention": phases.contention[row],
            "mean_contention": phases.mean_contention[row],
        })
    };
    (0..phases.job.len()).map(row).collect()
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

fn summary_json(summary: &Summary) -> Value {
    json!({
        "simulated_ps": summary.simulated_ps,
        "measured_from_ps": summary.measured_from_ps,
        "measured_to_ps": summary.measured_to_ps,
        "packets_injected": summary.packets_injected,
        "packets_delivered": summary.packets_delivered,
        "packets_dropped": summary.packets_dropped,
        "packets_in_flight": summary.packets_in_flight,
        "messages_generated": summary.messages_generated,
        "messages_received": summary.messages_received,
        "protocol_messages_generated": summary.protocol_messages.map(|[generated, _]| generated),
        "protocol_messages_received": summary.protocol_messages.map(|[_, received]| received),
        "packet_hops": summary.packet_hops,
        "bytes_delivered": summary.bytes_delivered,
        "endpoints": summary.endpoints,
        "endpoint_bandwidth": summary.endpoint_bandwidth,
        "notes": summary.notes,
        "offered_load": summary.offered_load,
        "accepted_load": summary.accepted_load,
    })
}

fn job_json(index: usize, job: &JobTotals) -> Value {
    let known = |time: Time| (!job.is_cut_off()).then_some(time);
    json!({
        "index": index,
        "tasks": job.tasks,
        "start_ps": job.start_ps,
        "finish_ps": known(job.finish_ps),
        "communication_ps": known(job.communication_ps),
        "over": job.over.map(u64::from),
        "finish_at_least_ps": job.finish_ps,
        "communication_at_least_ps": job.communication_ps,
        "bytes_delivered": job.bytes_delivered,
        "senders": job.senders,
        "receivers": job.receivers,
        "on_from_ps": job.on_from_ps,
        "on_to_ps": job.on_to_ps,
        "offered_load": job.offered_load,
        "accepted_load": job.accepted_load,
    })
}

fn stats_json(stats: &Stats) -> Value {
    let Stats {
        arrived,
        at_least,
        at_most,
        ..
    } = stats;
    json!({
        "samples": stats.samples,
        "missing": stats.missing,
        "missing_share": stats.missing_share(),
        "mean_ps": arrived.mean_ps,
        "p50_ps": arrived.p50_ps,
        "p90_ps": arrived.p90_ps,
        "p99_ps": arrived.p99_ps,
        "p999_ps": arrived.p999_ps,
        "max_ps": arrived.max_ps,
        "mean_at_least_ps": at_least.mean_ps,
        "p50_at_least_ps": at_least.p50_ps,
        "p90_at_least_ps": at_least.p90_ps,
        "p99_at_least_ps": at_least.p99_ps,
        "p999_at_least_ps": at_least.p999_ps,
        "max_at_least_ps": at_least.max_ps,
        "p50_at_most_ps": at_most.p50_ps,
        "p90_at_most_ps": at_most.p90_ps,
        "p99_at_most_ps": at_most.p99_ps,
        "p999_at_most_ps": at_most.p999_ps,
    })
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
        // Of all 2,500, with those that are missing at 2.25 us: the median is theirs.
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
        use weir_result::schema::*;
        let data = Data {
            jobs: vec![Job {
                name: "j".into(),
                ..Job::default()
            }],
            latency: vec![("network".into(), Latency::default())],
            ..Data::default()
        };
        let value = json(&data.digest(), &Run::default());
        let same = |object: &Value, parts: [&[Attribute]; 2]| {
            let mut names: Vec<_> = parts.concat().iter().map(|a| a.name.to_string()).collect();
            names.sort();
            let mut keys: Vec<_> = object
                .as_object()
                .expect("an object")
                .keys()
                .cloned()
                .collect();
            keys.sort();
            assert_eq!(keys, names);
        };
        same(
            &value["summary"],
            [
                &[&SUMMARY_COUNTS[..], &SUMMARY_PROTOCOL].concat(),
                &SUMMARY_LOADS,
            ],
        );
        same(
            &value["jobs"]["j"],
            [&[&JOB_COUNTS[..], &JOB_ENDS].concat(), &JOB_LOADS],
        );
        same(
            &value["latency"]["network"],
            [&LATENCY_COUNTS, &LATENCY_QUANTILES],
        );
    }
}
