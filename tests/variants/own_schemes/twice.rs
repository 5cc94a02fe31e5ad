//! A counter of the name of one that weir has.

use weir::congestion::{Capabilities, Rules};
use weir::model::{Classes, Time};

use super::network;

struct Twice;

impl Rules for Twice {
    type State = ();

    fn start(&self, _nics: usize, _outputs: usize) {}

    fn name(&self) -> &'static str {
        "twice"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::NONE
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    fn counters(&self) -> &'static [&'static str] {
        &["own", "packets_data"]
    }

    fn counts(&self, (): &(), _: Time) -> Vec<u64> {
        vec![1, 2]
    }
}

/// Before the run, at whose end the result could not be written.
#[test]
fn a_counter_that_weir_has_is_refused() {
    let traffic = network().uniform(0.1).message("24 flits").until("2 us");
    let own = traffic.own_scheme(|_, _| Ok(Twice.into_scheme()));
    let refused = own.try_plan().map(|_| ()).expect_err("two of one name");
    let text = refused.render(false);
    assert!(
        text.contains("two counters named \"packets_data\""),
        "{text}"
    );
}
