//! The path of one packet as a table.

use std::fmt::Write;

use weir_fabric::{Network, Place, Step};

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
        let before = at.checked_sub(1).map(|before| &steps[before]);
        let waited = step.waited(before, network);
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
            ns(step.arrived(before)),
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
        "under way at the end of the run, or dropped or lost there"
    };
    let _ = writeln!(
        text,
        "head at {} ns, tail at {} ns: {end}\n",
        ns(last.head),
        ns(last.tail)
    );
    text
}

/// Picoseconds as nanoseconds, exactly.
fn ns(ps: u64) -> String {
    format!("{}.{:03}", ps / 1_000, ps % 1_000)
}
