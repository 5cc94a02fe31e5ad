//! Links that lose packets under congestion control: sources wait for lost answers for ever, and
//! the run ends with its result.

use super::failing;
use crate::support::Experiment;

/// Two endpoints send to a third one on their router, whose link is down from 5 to 5.5 us.
fn star(scheme: &str) -> Experiment {
    let network = Experiment::tree(4, 1)
        .latencies("50 ns", "50 ns", "50 ns")
        .set("congestion.scheme", scheme)
        .traffic("hotspot", 0.9)
        .with("pattern.source_list", vec![0, 1])
        .with("pattern.destination_list", vec![2])
        .with("injection", "periodic")
        .message("30000 B")
        .to_completion("20 us");
    let down = "failure = [{ links = [{ endpoint = 2 }], down = true, at = \"5 us\", until = \
                \"5.5 us\" }]";
    failing(&network, down)
}

#[test]
fn a_run_that_lost_answers_ends_with_its_result() {
    let all = [
        star("srp"),
        star("srp").set("congestion.outstanding", 1),
        star("lhrp_srp"),
        star("saa"),
        star("window"),
    ];
    for experiment in all {
        for end in ["completion", "60 us"] {
            let data = experiment.clone().until(end).run().data;
            let text = experiment.text();
            let summary = &data.summary;
            assert!(
                summary.messages_received < summary.messages_generated,
                "{text}"
            );
            assert!(
                data.notes.iter().any(|note| note.kind == "lost_packets"),
                "{text}"
            );
        }
    }
}

/// The others come in their order. Packets are lost that are sent within 500 ns, 24 ns each, or are
/// not behind the link of 50 ns when it goes down, and two or three acknowledgements on it.
#[test]
fn a_flow_may_lose_packets() {
    let one = star("saa").with("pattern.source_list", vec![0]);
    let data = one.run().data;
    let lost = data.failures.expect("a link that is down").packets_lost;
    let lost: u64 = lost.iter().sum();
    assert!((23..28).contains(&lost), "{lost}");
}
