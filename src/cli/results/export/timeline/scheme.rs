//! Events of the congestion control scheme: a track for each of its records.

use std::collections::HashSet;
use std::io::Write;

use super::perfetto::{Event, Note, Writer};
use super::selection::{Counts, Selection, Trouble, ns};
use weir_result::ResultFile;

const GROUP: &str = "data/scheme";

/// Writes the rows of all records. Choices of jobs and routers count for records of endpoints and
/// of routers.
///
/// # Errors
/// If the result is damaged, or the file cannot be written.
pub fn write<W: Write>(
    result: &ResultFile,
    selection: &Selection,
    out: &mut Writer<W>,
    counts: &mut Counts,
) -> Result<(), Trouble> {
    let records = result.groups(GROUP)?;
    if records.is_empty() {
        return Ok(());
    }
    let (process, _) = out.process("congestion control")?;
    let chosen = selection
        .jobs
        .iter()
        .flat_map(|job| job.endpoints.iter().copied());
    let chosen: HashSet<u64> = chosen.collect();
    for (rank, record) in records.iter().enumerate() {
        let group = format!("{GROUP}/{record}");
        let mut columns = Vec::new();
        for name in result.columns(&group)? {
            let values = result.column(&group, &name)?.unwrap_or_default();
            columns.push((name, values));
        }
        let values = |wanted: &str| columns.iter().find(|(name, _)| name == wanted);
        let Some((_, times)) = values("time_ps") else {
            continue;
        };
        let (endpoints, routers) = (values("endpoint"), values("router"));
        let track = out.track(process, record, rank as i32)?;
        for (at, &time) in times.iter().enumerate() {
            let value = |column: Option<&(String, Vec<u64>)>| column?.1.get(at).copied();
            let of_job = value(endpoints).is_none_or(|one| chosen.contains(&one));
            let of_router = value(routers).is_none_or(|one| selection.has_router(one));
            let in_time = (selection.from..=selection.to).contains(&time);
            if !in_time || !of_router || selection.some_jobs && !of_job {
                continue;
            }
            let notes = columns
                .iter()
                .filter_map(|(name, values)| Some((name.as_str(), Note::Number(*values.get(at)?))));
            let event = Event {
                name: record,
                category: "congestion control",
                notes: notes.collect(),
                ..Event::default()
            };
            out.instant(track, ns(time), event)?;
            counts.events += 1;
        }
    }
    Ok(())
}
