//! The way of one packet as a table.

use std::fmt::Write;

use crate::config::Switching;
use crate::fabric::{Network, Place, Step};
use crate::model::Time;

/// The table; empty without steps.
pub fn table(steps: &[Step], network: &Network) -> String {
    let kinds = network.topology.link_kinds();
    let Some(last) = steps.last() else {
        return String::new();
    };
    let longest = kinds.iter().map(|kind| kind.len()).max();
    let width = longest.unwrap_or(0).max(9);
    let mut text = format!(
        "{:<22} {:<width$} {:>5} {:>5} {:>14} {:>14} {:>12}\n",
        "from", "link", "class", "queue", "head here, ns", "head leaves", "waited, ns"
    );
    for (at, step) in steps.iter().enumerate() {
        let free = without_waiting(
            step,
            at.checked_sub(1).map(|before| &steps[before]),
            network,
        );
        let waited = (step.left - step.arrived).saturating_sub(free);
        let from = match step.from {
            Place::Nic(endpoint) => format!("endpoint {endpoint}"),
            Place::Router(router, port) => format!("router {router} port {port}"),
        };
        let _ = writeln!(
            text,
            "{from:<22} {:<width$} {:>5} {:>5} {:>14} {:>14} {:>12}",
            kinds[step.kind.index()],
            step.class,
            step.queue,
            ns(step.arrived),
            ns(step.left),
            if waited == 0 {
                "-".to_string()
            } else {
                ns(waited)
            },
        );
    }
    let end = if last.last {
        "at its endpoint"
    } else {
        "still under way at the end of the run"
    };
    let _ = writeln!(
        text,
        "head at {} ns, tail at {} ns: {end}\n",
        ns(last.head),
        ns(last.tail)
    );
    text
}

/// How long a packet is at a place without anything in its way, ps: at its NIC no time, at a router what an idle one takes, and the time of
/// the packet itself if that has to be there as a whole.
fn without_waiting(step: &Step, before: Option<&Step>, network: &Network) -> Time {
    let Place::Router(router, _) = step.from else {
        return 0;
    };
    let own = network.router(router);
    let whole = match own.switching {
        Switching::StoreAndForward => before.map_or(0, |before| before.tail - before.head),
        Switching::CutThrough => 0,
    };
    own.latency + whole
}

/// Picoseconds as nanoseconds, exactly.
fn ns(ps: u64) -> String {
    format!("{}.{:03}", ps / 1_000, ps % 1_000)
}
