//! Messages as GOAL text: each leaves at its time.

use std::io::{self, Write};

use super::super::table::Flow;
use weir_model::Time;

/// Writes flows as a GOAL text in this unit of time. Times are rounded to it; flows of a task that
/// leave at the same time keep the order of `flows`.
///
/// A chain of computations on a separate processor keeps the times: message and computation wait
/// for the previous computation. A task receives its messages whenever they arrive.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write(flows: &[Flow], tasks: u32, unit: Time, out: &mut dyn Write) -> io::Result<()> {
    let mut sends: Vec<u32> = (0..flows.len() as u32).collect();
    let mut receives = sends.clone();
    let flow = |at: u32| flows[at as usize];
    sends.sort_by_key(|&at| (flow(at).from, flow(at).start));
    receives.sort_by_key(|&at| (flow(at).to, flow(at).start));
    writeln!(
        out,
        "// `calc` is in units of {unit} ps: trace = \
         {{ format = \"goal\", unit = \"{unit} ps\", … }}"
    )?;
    writeln!(out, "num_ranks {tasks}")?;
    let (mut sends, mut receives) = (sends.as_slice(), receives.as_slice());
    for task in 0..tasks {
        writeln!(out, "\nrank {task} {{")?;
        let own = sends.partition_point(|&at| flow(at).from == task);
        let (mut clock, mut steps) = (0, 0u64);
        for (&at, number) in sends[..own].iter().zip(0u64..) {
            let Flow { to, bytes, .. } = flow(at);
            let start = flow(at).start_in(unit);
            if start > clock {
                steps += 1;
                writeln!(out, "c{steps}: calc {} cpu 1", start - clock)?;
                if steps > 1 {
                    writeln!(out, "c{steps} requires c{}", steps - 1)?;
                }
                clock = start;
            }
            writeln!(out, "s{number}: send {bytes}b to {to}")?;
            if steps > 0 {
                writeln!(out, "s{number} requires c{steps}")?;
            }
        }
        sends = &sends[own..];
        let own = receives.partition_point(|&at| flow(at).to == task);
        for &at in &receives[..own] {
            let Flow { from, bytes, .. } = flow(at);
            writeln!(out, "recv {bytes}b from {from}")?;
        }
        receives = &receives[own..];
        writeln!(out, "}}")?;
    }
    Ok(())
}
