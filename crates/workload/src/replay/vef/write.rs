//! Messages as VEF: each leaves at its time.

use std::io::{self, Write};

use super::super::table::Flow;
use weir_model::Time;

/// Writes flows as VEF in this unit of time, with a single communicator of all tasks. Times are
/// rounded to the unit; those of a task that leave at the same time do so in the order of `flows`.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write(flows: &[Flow], tasks: u32, unit: Time, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "VEF3 {tasks} {} 1 0 0 0", flows.len())?;
    write!(out, "C0")?;
    for task in 0..tasks {
        write!(out, " {task}")?;
    }
    writeln!(out)?;
    for (flow, number) in flows.iter().zip(0u64..) {
        let Flow {
            from, to, bytes, ..
        } = flow;
        let start = flow.start_in(unit);
        writeln!(out, "{number} {from} {to} {bytes} 0 {start} -1")?;
    }
    Ok(())
}
