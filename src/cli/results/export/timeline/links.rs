//! Links: a process for each router, with a track for each of its ports.

use std::collections::HashMap;
use std::io::Write;

use super::perfetto::{Event, Note, Track, Writer};
use super::selection::{Counts, Selection, Trouble, ns, times};
use crate::cli::process::failure::Failure;
use crate::cli::results::export::refusal::wrong_with;
use weir_result::{ResultFile, TraceError};

const GROUP: &str = "data/timeline/links";

/// Refuses routers that the result has no timelines of.
///
/// # Errors
/// If there are some, or the result is damaged.
pub fn check(result: &ResultFile, selection: &Selection) -> Result<(), Failure> {
    if selection.routers.is_empty() {
        return Ok(());
    }
    let wrong = |error: TraceError| Failure::bad_input(error.to_string());
    let routers = result.number("data/timeline", "routers").map_err(wrong)?;
    let (recorded, all) = (
        routers.unwrap_or(0.0) as usize,
        result.column("data/routers", "router"),
    );
    let all = all.map_err(wrong)?.unwrap_or_default();
    let links = result
        .column(GROUP, "router")
        .map_err(wrong)?
        .unwrap_or_default();
    for &one in selection.routers {
        if !all.contains(&u64::from(one)) {
            let message = format!("--router {one}: the network has {} routers", all.len());
            return Err(wrong_with(message, "write the number of one of them"));
        }
        // With all routers recorded, one without intervals had nothing to send.
        if recorded < all.len() && !links.contains(&u64::from(one)) {
            let message = format!("the result has no timeline of the links of router {one}");
            let remedy = format!("run the experiment with output.timeline.routers = [{one}]");
            return Err(wrong_with(message, remedy));
        }
    }
    Ok(())
}

/// The intervals of all links.
struct Rows {
    routers: Vec<u64>,
    ports: Vec<u64>,
    begins: Vec<u64>,
    ends: Vec<u64>,
    bytes: Vec<u64>,
    jobs: Vec<i64>,
    sources: Vec<i64>,
    destinations: Vec<i64>,
    activities: Vec<String>,
    /// Names of jobs by their indices.
    names: HashMap<i64, String>,
}

impl Rows {
    /// None if they were not recorded.
    fn read(result: &ResultFile) -> Result<Option<Rows>, TraceError> {
        let columns = ["router", "port", "begin_ps", "end_ps", "bytes"];
        let Some([routers, ports, begins, ends, bytes]) = result.table(GROUP, columns)? else {
            return Ok(None);
        };
        let rows = routers.len();
        let jobs = super::selection::jobs(result)?.into_iter();
        Ok(Some(Rows {
            routers,
            ports,
            begins,
            ends,
            bytes,
            jobs: result.signed(GROUP, "job", rows)?,
            sources: result.signed(GROUP, "source", rows)?,
            destinations: result.signed(GROUP, "destination", rows)?,
            activities: result.words(GROUP, "activity", rows)?,
            names: jobs.map(|job| (job.index as i64, job.name)).collect(),
        }))
    }

    /// The name of a row's slice, and its annotations.
    fn described(&self, at: usize) -> (String, Vec<(&'static str, Note)>) {
        let activity = &self.activities[at];
        let mut notes = times(self.begins[at], self.ends[at]);
        let Some(job) = self.names.get(&self.jobs[at]) else {
            return (activity.clone(), notes);
        };
        notes.push(("packet", Note::Text(activity.clone())));
        notes.push(("bytes", Note::Number(self.bytes[at])));
        let (from, to) = (self.sources[at], self.destinations[at]);
        (format!("{job}: {activity} from {from} to {to}"), notes)
    }
}

/// Writes the links of all chosen routers.
///
/// # Errors
/// If the result is damaged, or the file cannot be written.
pub fn write<W: Write>(
    result: &ResultFile,
    selection: &Selection,
    out: &mut Writer<W>,
    counts: &mut Counts,
) -> Result<(), Trouble> {
    if result.number("data/timeline", "routers")?.unwrap_or(0.0) == 0.0 {
        return Ok(());
    }
    let Some(rows) = Rows::read(result)? else {
        return Ok(());
    };
    let ways = ways(result)?;
    let mut count = 0;
    let mut process: Option<(u64, Track)> = None;
    let mut track: Option<((u64, u64), Track)> = None;
    for at in 0..rows.routers.len() {
        let (router, port) = (rows.routers[at], rows.ports[at]);
        let Some((begin, end)) = selection.part(rows.begins[at], rows.ends[at]) else {
            continue;
        };
        if !selection.has_router(router) {
            continue;
        }
        let below = match process {
            Some((known, own)) if known == router => own,
            _ => out.process(&format!("router {router}"))?.0,
        };
        process = Some((router, below));
        let own = match track {
            Some((known, own)) if known == (router, port) => own,
            _ => {
                let way = ways.get(&(router, port)).map_or("", String::as_str);
                out.track(below, &format!("port {port}{way}"), port as i32)?
            }
        };
        track = Some(((router, port), own));
        let (name, notes) = rows.described(at);
        let stalled = rows.activities[at] == "stalled";
        let event = Event {
            name: &name,
            category: if stalled { "stalled" } else { "busy" },
            notes,
            ..Event::default()
        };
        out.begin(own, ns(begin), event)?;
        out.end(own, ns(end))?;
        count += 1;
    }
    counts.links = Some(count);
    Ok(())
}

/// The other ends of ports, in words.
fn ways(result: &ResultFile) -> Result<HashMap<(u64, u64), String>, TraceError> {
    const PORTS: &str = "data/ports";
    let Some([routers, ports]) = result.table(PORTS, ["router", "port"])? else {
        return Ok(HashMap::new());
    };
    let signed = |name| result.signed(PORTS, name, routers.len());
    let (peers, peer_ports) = (signed("peer_router")?, signed("peer_port")?);
    let endpoints = signed("endpoint")?;
    let rows = (0..routers.len()).map(|at| {
        let way = match endpoints[at] {
            -1 => format!(" → router {} port {}", peers[at], peer_ports[at]),
            endpoint => format!(" → endpoint {endpoint}"),
        };
        ((routers[at], ports[at]), way)
    });
    Ok(rows.collect())
}
