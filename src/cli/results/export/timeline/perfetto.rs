//! Perfetto's trace format, as far as timelines need it.
//!
//! The messages and the numbers of their fields are those of
//! `protos/perfetto/trace/perfetto_trace.proto` in <https://github.com/google/perfetto>.

use std::collections::HashMap;
use std::io::{self, Write};

use prost::Message;

/// All of a file. Files can be appended to each other, so that packets are written one by one.
#[derive(Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

#[derive(Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
    #[prost(int32, optional, tag = "11")]
    child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Message)]
struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, tag = "6")]
    process_name: String,
}

#[derive(Message)]
struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    tid: Option<i64>,
    #[prost(string, tag = "5")]
    thread_name: String,
}

#[derive(Message)]
struct CounterDescriptor {
    #[prost(string, tag = "6")]
    unit_name: String,
}

#[derive(Message)]
struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, tag = "9")]
    r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(double, optional, tag = "44")]
    double_counter_value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

#[derive(Message)]
struct DebugAnnotation {
    #[prost(uint64, tag = "1")]
    name_iid: u64,
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
}

#[derive(PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "1")]
    event_categories: Vec<Interned>,
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<Interned>,
    #[prost(message, repeated, tag = "3")]
    debug_annotation_names: Vec<Interned>,
}

/// `EventCategory`, `EventName` and `DebugAnnotationName` are alike.
#[derive(PartialEq, Message)]
struct Interned {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const INSTANT: i32 = 3;
const COUNTER: i32 = 4;
/// Children are shown in the order of their ranks.
const EXPLICIT: i32 = 3;
/// The first packet of a sequence clears its names; later ones need them.
const CLEARED: u32 = 1;
const NEEDS_NAMES: u32 = 2;

/// A track of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track(u64);

/// An annotation of an event.
#[derive(Clone, Debug)]
pub enum Note {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

/// The begin of a slice, or an instant.
#[derive(Debug, Default)]
pub struct Event<'a> {
    /// Name.
    pub name: &'a str,
    /// Category.
    pub category: &'a str,
    /// Annotations by name.
    pub notes: Vec<(&'a str, Note)>,
    /// Flow that begins here.
    pub flow: Option<u64>,
    /// Flow that ends here.
    pub flow_end: Option<u64>,
}

/// Texts that have a number.
#[derive(Default)]
struct Texts(HashMap<String, u64>);

impl Texts {
    /// The number of a text; the text itself goes to `new` when it comes first.
    fn number(&mut self, text: &str, new: &mut Vec<Interned>) -> u64 {
        if let Some(&iid) = self.0.get(text) {
            return iid;
        }
        let iid = self.0.len() as u64 + 1;
        self.0.insert(text.into(), iid);
        let name = text.into();
        new.push(Interned { iid, name });
        iid
    }
}

/// Writes a trace. Times are in ns; within a track they must not fall.
pub struct Writer<W> {
    out: W,
    bytes: Vec<u8>,
    names: Texts,
    categories: Texts,
    notes: Texts,
    /// Tracks so far.
    tracks: u64,
    /// Processes and threads so far: both have numbers from one range.
    threads: i32,
    cleared: bool,
}

impl<W: Write> Writer<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Writer<W> {
        Writer {
            out,
            bytes: Vec::new(),
            names: Texts::default(),
            categories: Texts::default(),
            notes: Texts::default(),
            tracks: 0,
            threads: 0,
            cleared: false,
        }
    }

    /// Everything written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let sequence_flags = match std::mem::replace(&mut self.cleared, true) {
            true => NEEDS_NAMES,
            false => CLEARED | NEEDS_NAMES,
        };
        let trace = Trace {
            packet: vec![TracePacket {
                trusted_packet_sequence_id: 1,
                sequence_flags,
                ..packet
            }],
        };
        self.bytes.clear();
        trace.encode(&mut self.bytes).map_err(io::Error::other)?;
        self.out.write_all(&self.bytes)
    }

    fn describe(&mut self, descriptor: TrackDescriptor) -> io::Result<Track> {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet(TracePacket {
            track_descriptor: Some(TrackDescriptor { uuid, ..descriptor }),
            ..TracePacket::default()
        })?;
        Ok(Track(uuid))
    }

    /// A process, whose number is returned, too.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn process(&mut self, name: &str) -> io::Result<(Track, i32)> {
        self.threads += 1;
        let pid = self.threads;
        let track = self.describe(TrackDescriptor {
            process: Some(ProcessDescriptor {
                pid: Some(pid),
                process_name: name.into(),
            }),
            child_ordering: Some(EXPLICIT),
            ..TrackDescriptor::default()
        })?;
        Ok((track, pid))
    }

    /// A thread of the process with this number.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn thread(&mut self, pid: i32, name: &str) -> io::Result<Track> {
        self.threads += 1;
        let tid = i64::from(self.threads);
        self.describe(TrackDescriptor {
            thread: Some(ThreadDescriptor {
                pid: Some(pid),
                tid: Some(tid),
                thread_name: name.into(),
            }),
            ..TrackDescriptor::default()
        })
    }

    /// A track below another one, in the order of ranks.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn track(&mut self, parent: Track, name: &str, rank: i32) -> io::Result<Track> {
        self.describe(TrackDescriptor {
            name: Some(name.into()),
            parent_uuid: Some(parent.0),
            sibling_order_rank: Some(rank),
            ..TrackDescriptor::default()
        })
    }

    /// A number over time below a track.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn counter(&mut self, parent: Track, name: &str, unit: &str) -> io::Result<Track> {
        self.describe(TrackDescriptor {
            name: Some(name.into()),
            parent_uuid: Some(parent.0),
            counter: Some(CounterDescriptor {
                unit_name: unit.into(),
            }),
            ..TrackDescriptor::default()
        })
    }

    fn event(
        &mut self,
        at: u64,
        track_event: TrackEvent,
        interned_data: Option<InternedData>,
    ) -> io::Result<()> {
        self.packet(TracePacket {
            timestamp: Some(at),
            track_event: Some(track_event),
            interned_data,
            ..TracePacket::default()
        })
    }

    fn named(&mut self, track: Track, at: u64, kind: i32, event: Event) -> io::Result<()> {
        let mut new = InternedData::default();
        let name = self.names.number(event.name, &mut new.event_names);
        let category = (self.categories).number(event.category, &mut new.event_categories);
        let notes = event.notes.into_iter().map(|(name, note)| {
            let name_iid = (self.notes).number(name, &mut new.debug_annotation_names);
            let (uint_value, string_value) = match note {
                Note::Number(number) => (Some(number), None),
                Note::Text(text) => (None, Some(text)),
            };
            DebugAnnotation {
                name_iid,
                uint_value,
                string_value,
            }
        });
        let track_event = TrackEvent {
            category_iids: vec![category],
            debug_annotations: notes.collect(),
            r#type: kind,
            name_iid: Some(name),
            track_uuid: track.0,
            flow_ids: event.flow.into_iter().collect(),
            terminating_flow_ids: event.flow_end.into_iter().collect(),
            ..TrackEvent::default()
        };
        let new = (new != InternedData::default()).then_some(new);
        self.event(at, track_event, new)
    }

    /// Begins a slice.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&mut self, track: Track, at: u64, event: Event) -> io::Result<()> {
        self.named(track, at, SLICE_BEGIN, event)
    }

    /// Ends the slice of a track that began last.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(&mut self, track: Track, at: u64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: SLICE_END,
            track_uuid: track.0,
            ..TrackEvent::default()
        };
        self.event(at, event, None)
    }

    /// An event that takes no time.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn instant(&mut self, track: Track, at: u64, event: Event) -> io::Result<()> {
        self.named(track, at, INSTANT, event)
    }

    /// The value of a counter from now on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn value(&mut self, track: Track, at: u64, value: f64) -> io::Result<()> {
        let event = TrackEvent {
            r#type: COUNTER,
            track_uuid: track.0,
            double_counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.event(at, event, None)
    }
}
