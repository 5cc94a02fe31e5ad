//! Jobs: a process for each, with a thread for each task and its messages below that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::perfetto::{Event, Note, Track, Writer};
use super::selection::{Counts, Job, Selection, Trouble, ns, times};
use std::io::Write;
use weir_model::Time;
use weir_result::{ResultFile, TraceError};

/// A message between two tasks.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    source: u64,
    destination: u64,
    number: u64,
    bytes: u64,
    begin: Time,
    end: Time,
}

impl Message {
    /// The number of the arrow from its slice to its arrival.
    fn flow(&self) -> u64 {
        1 << 63 | self.source << 32 | self.number
    }
}

/// An interval of a task.
struct Interval {
    begin: Time,
    end: Time,
    activity: String,
    ended_by: String,
    peer: i64,
    bytes: u64,
}

/// The events of one task.
#[derive(Default)]
struct Events {
    sent: Vec<Message>,
    received: Vec<Message>,
    intervals: Vec<Interval>,
}

/// By place among the chosen jobs, then task.
type All = BTreeMap<(usize, u32), Events>;

/// Writes all chosen jobs.
///
/// # Errors
/// If the result is damaged, or the file cannot be written.
pub fn write<W: Write>(
    result: &ResultFile,
    selection: &Selection,
    out: &mut Writer<W>,
    counts: &mut Counts,
) -> Result<(), Trouble> {
    let mut all = All::new();
    counts.messages = add_messages(result, selection, &mut all)?;
    counts.intervals = add_intervals(result, selection, &mut all)?;
    for (place, job) in selection.jobs.iter().enumerate() {
        let events = all.range((place, 0)..=(place, u32::MAX));
        let tasks: Vec<(u32, &Events)> = events.map(|(&(_, task), own)| (task, own)).collect();
        let (process, pid) = out.process(&job.name)?;
        write_throughput(result, selection, job, process, out)?;
        let mut threads = Vec::new();
        for (task, events) in &tasks {
            let endpoint = job.endpoints[*task as usize];
            let thread = out.thread(pid, &format!("task {task} (endpoint {endpoint})"))?;
            write_messages(selection, thread, *task, &events.sent, out)?;
            threads.push(thread);
        }
        // Arrows end where they have begun already.
        for ((_, events), thread) in tasks.iter().zip(threads) {
            write_thread(selection, thread, events, out)?;
        }
    }
    Ok(())
}

/// Columns of messages.
const MESSAGES: [&str; 7] = [
    "job",
    "source",
    "message",
    "destination",
    "bytes",
    "generated_ps",
    "received_ps",
];

/// The places of the chosen jobs by their indices.
fn places(selection: &Selection) -> HashMap<u64, usize> {
    let indices = selection.jobs.iter().map(|job| job.index);
    indices.zip(0..).collect()
}

/// Number of messages, if they were recorded.
fn add_messages(
    result: &ResultFile,
    selection: &Selection,
    all: &mut All,
) -> Result<Option<u64>, TraceError> {
    let Some(
        [
            jobs,
            sources,
            numbers,
            destinations,
            bytes,
            generated,
            received,
        ],
    ) = result.table("data/messages", MESSAGES)?
    else {
        return Ok(None);
    };
    let places = places(selection);
    let tasks = selection
        .jobs
        .iter()
        .map(|job| job.endpoints.iter().copied().zip(0..).collect());
    let tasks: Vec<HashMap<u64, u32>> = tasks.collect();
    let mut count = 0;
    for at in 0..jobs.len() {
        let Some(&place) = places.get(&jobs[at]) else {
            continue;
        };
        // Traffic of some patterns goes to endpoints outside of its workload: such messages have no
        // thread to end at.
        let Some(&from) = tasks[place].get(&sources[at]) else {
            continue;
        };
        let to = tasks[place].get(&destinations[at]).copied();
        if selection.part(generated[at], received[at]).is_none() {
            continue;
        }
        let message = Message {
            from,
            to: to.unwrap_or(u32::MAX),
            source: sources[at],
            destination: destinations[at],
            number: numbers[at],
            bytes: bytes[at],
            begin: generated[at],
            end: received[at],
        };
        count += 1;
        all.entry((place, from)).or_default().sent.push(message);
        if let Some(to) = to {
            all.entry((place, to)).or_default().received.push(message);
        }
    }
    for events in all.values_mut() {
        events.sent.sort_by_key(|one| (one.begin, one.number));
        events
            .received
            .sort_by_key(|one| (one.end, one.source, one.number));
    }
    Ok(Some(count))
}

/// Number of intervals of tasks, if they were recorded.
fn add_intervals(
    result: &ResultFile,
    selection: &Selection,
    all: &mut All,
) -> Result<Option<u64>, TraceError> {
    const GROUP: &str = "data/timeline/tasks";
    let columns = ["job", "task", "begin_ps", "end_ps", "bytes"];
    let Some([jobs, tasks, begins, ends, bytes]) = result.table(GROUP, columns)? else {
        return Ok(None);
    };
    let peers = result.signed(GROUP, "peer", jobs.len())?;
    let activities = result.words(GROUP, "activity", jobs.len())?;
    let ended_by = result.words(GROUP, "ended_by", jobs.len())?;
    let places = places(selection);
    let mut count = 0;
    for at in 0..jobs.len() {
        let Some(&place) = places.get(&jobs[at]) else {
            continue;
        };
        let there = selection.jobs[place].endpoints.len() as u64;
        if tasks[at] >= there || selection.part(begins[at], ends[at]).is_none() {
            continue;
        }
        count += 1;
        let events = all.entry((place, tasks[at] as u32)).or_default();
        events.intervals.push(Interval {
            begin: begins[at],
            end: ends[at],
            activity: activities[at].clone(),
            ended_by: ended_by[at].clone(),
            peer: peers[at],
            bytes: bytes[at],
        });
    }
    Ok(Some(count))
}

/// Messages of a task, on one track for each that is under way at the same time.
fn write_messages<W: Write>(
    selection: &Selection,
    thread: Track,
    task: u32,
    sent: &[Message],
    out: &mut Writer<W>,
) -> Result<(), Trouble> {
    let mut lanes: Vec<Vec<(&Message, Time, Time)>> = Vec::new();
    let mut free: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    for message in sent {
        let Some((begin, end)) = selection.part(message.begin, message.end) else {
            continue;
        };
        let lane = match free.peek() {
            Some(&Reverse((until, lane))) if until <= begin => {
                free.pop();
                lane
            }
            _ => {
                lanes.push(Vec::new());
                lanes.len() - 1
            }
        };
        free.push(Reverse((end, lane)));
        lanes[lane].push((message, begin, end));
    }
    for (rank, lane) in lanes.iter().enumerate() {
        let track = out.track(thread, &format!("messages from task {task}"), rank as i32)?;
        for (message, begin, end) in lane {
            let name = match message.to {
                u32::MAX => format!("to endpoint {}", message.destination),
                to => format!("to task {to}"),
            };
            let mut notes = times(message.begin, message.end);
            notes.extend([
                ("bytes", Note::Number(message.bytes)),
                ("source", Note::Number(message.source)),
                ("message", Note::Number(message.number)),
                ("destination", Note::Number(message.destination)),
            ]);
            let arrives = message.to != u32::MAX && message.end <= selection.to;
            let event = Event {
                name: &name,
                category: "message",
                notes,
                flow: arrives.then(|| message.flow()),
                flow_end: None,
            };
            out.begin(track, ns(*begin), event)?;
            out.end(track, ns(*end))?;
        }
    }
    Ok(())
}

/// The intervals of a task, with the arrivals of messages in them.
fn write_thread<W: Write>(
    selection: &Selection,
    thread: Track,
    events: &Events,
    out: &mut Writer<W>,
) -> Result<(), Trouble> {
    let inside = events.received.iter().filter(|one| one.end <= selection.to);
    let mut arrivals = inside.peekable();
    let mut arrive = |until: Time, out: &mut Writer<W>| -> Result<(), Trouble> {
        while let Some(message) = arrivals.next_if(|message| message.end <= until) {
            let name = format!("message from task {}", message.from);
            let notes = vec![
                ("time_ps", Note::Number(message.end)),
                ("bytes", Note::Number(message.bytes)),
                ("message", Note::Number(message.number)),
            ];
            let event = Event {
                name: &name,
                category: "arrival",
                notes,
                flow: None,
                flow_end: Some(message.flow()),
            };
            out.instant(thread, ns(message.end), event)?;
        }
        Ok(())
    };
    for interval in &events.intervals {
        let Some((begin, end)) = selection.part(interval.begin, interval.end) else {
            continue;
        };
        arrive(begin, out)?;
        let what = &interval.activity;
        let name = match (interval.ended_by.as_str(), interval.peer) {
            ("message", peer) => format!("{what}: from task {peer}"),
            ("sent", peer) => format!("{what}: to task {peer}"),
            _ => what.clone(),
        };
        let mut notes = times(interval.begin, interval.end);
        notes.push(("ended_by", Note::Text(interval.ended_by.clone())));
        if let Ok(peer) = u64::try_from(interval.peer) {
            notes.push(("peer", Note::Number(peer)));
            notes.push(("bytes", Note::Number(interval.bytes)));
        }
        let event = Event {
            name: &name,
            category: what,
            notes,
            ..Event::default()
        };
        out.begin(thread, ns(begin), event)?;
        arrive(end, out)?;
        out.end(thread, ns(end))?;
    }
    arrive(Time::MAX, out)
}

/// Payload that a job received, by time bin.
fn write_throughput<W: Write>(
    result: &ResultFile,
    selection: &Selection,
    job: &Job,
    process: Track,
    out: &mut Writer<W>,
) -> Result<(), Trouble> {
    let column = format!("job.{}.delivered_bytes", job.name);
    let bytes = result.series(&column)?.unwrap_or_default();
    let width = result.number("data/series", "bin_ps")?.unwrap_or(0.0) as Time;
    let track = out.counter(process, "received", "Gbit/s")?;
    for (bytes, begin) in bytes
        .iter()
        .zip((0u64..).map(|bin| bin.saturating_mul(width)))
    {
        if let Some((begin, end)) = selection.part(begin, begin.saturating_add(width))
            && begin < end
        {
            // A bit in a picosecond is 1,000 Gbit/s.
            out.value(track, ns(begin), *bytes as f64 * 8_000.0 / width as f64)?;
        }
    }
    Ok(())
}
