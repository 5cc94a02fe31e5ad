//! Waiting that no single link is to blame for.

use super::{dragonfly, explained, tree};
use crate::networks::failures::failing;
use weir::explain::Explanation;
use weir_report::explanation;

fn said(found: &Explanation) -> String {
    explanation::text("run", found).replace('\n', " ")
}

/// All leaf switches of a tree send four times what the links above them carry: the links of each
/// kind are blamed together, without dead ones.
#[test]
fn many_full_links_are_named_by_their_kind() {
    let narrow = tree()
        .set("topology.local.bandwidth", "25 Gbps")
        .uniform(0.9)
        .until("60 us");
    for (fails, working) in [(false, 128), (true, 124)] {
        let experiment = match fails {
            true => failing(
                &narrow,
                "failure = [{ links = \"local\", count = 2, down = true }]",
            ),
            false => narrow.clone(),
        };
        let found = explained(&experiment.run().data);
        let worst = &found.lesser[0];
        assert_eq!((worst.kind.as_str(), worst.to_endpoints), ("local", false));
        assert_eq!(worst.of, working);
        assert!(worst.share > 0.1 && worst.links > 32, "{worst:?}");
        let text = said(&found);
        let counted = format!("{} of {working} local links", worst.links);
        assert!(text.contains(&counted), "{text}");
    }
}

/// Buffers of ten packets keep a link of 1 us almost idle: nobody's turn, but room.
#[test]
fn room_that_only_the_credits_are_late_for_is_no_turn() {
    let data = dragonfly()
        .set("topology.global.latency", "1 us")
        .set("router.input_buffer", "10 packets")
        .uniform(0.5)
        .until("40 us")
        .run()
        .data;
    let found = explained(&data);
    let job = &found.jobs[0];
    assert!(job.room > 0.9 && job.room <= job.ordinary, "{job:?}");
    let text = said(&found);
    assert!(text.contains("Waited for room behind links"), "{text}");
    assert!(text.contains("no full link holds anybody up"), "{text}");
}

/// An incast alone holds up nobody else.
#[test]
fn a_full_link_of_one_job_holds_up_its_own_traffic() {
    let data = dragonfly()
        .incast(&[2, 4, 6, 8], 0, 0.5)
        .until("40 us")
        .run()
        .data;
    let text = said(&explained(&data));
    assert!(
        text.contains("one full link holds up its own traffic alone"),
        "{text}"
    );
}
