//! Timeline of a task: the intervals in which it computed or waited, each with the message that
//! ended it.

use serde::{Deserialize, Serialize};

use weir_model::table::Word;
use weir_model::{Span, Time};

/// Activities, and reasons for their ends, as results name them.
pub const WORDS: [&str; 26] = [
    "compute",
    "delay",
    "call",
    "send",
    "receive",
    "wait_all",
    "wait_any",
    "wait",
    "time",
    "message",
    "sent",
    "end",
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "reduce_scatter",
    "alltoall",
    "gather",
    "scatter",
    "scan",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
];

/// The task computes.
pub const COMPUTE: Word = Word(0);
/// Time passes that a trace prescribes.
pub const DELAY: Word = Word(1);
/// The host starts a nonblocking operation.
pub const CALL: Word = Word(2);
/// The task waits for its message to leave.
pub const SEND: Word = Word(3);
/// The task waits for a message.
pub const RECEIVE: Word = Word(4);
/// The task waits for all of some operations.
pub const WAIT_ALL: Word = Word(5);
/// The task waits for one of some operations.
pub const WAIT_ANY: Word = Word(6);
/// The task waits for operations that are no program's.
pub const WAIT: Word = Word(7);
const TIME: Word = Word(8);
const MESSAGE: Word = Word(9);
const SENT: Word = Word(10);
const END: Word = Word(11);

/// The word of a collective operation.
pub fn collective(name: &str) -> Word {
    let place = WORDS.iter().position(|word| *word == name);
    place.map_or(WAIT, |place| Word(place as u8))
}

/// Selection of what a timeline keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Intervals that overlap with this are kept.
    pub span: Span,
    /// Maximum number of them; later ones are only counted.
    pub most: u64,
}

/// Intervals that were not kept because there were too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Number of them.
    pub intervals: u64,
    /// Begin of the first one, ps.
    pub from: Option<Time>,
}

impl LeftOut {
    /// Counts one more.
    pub fn add(&mut self, begin: Time) {
        self.intervals = self.intervals.saturating_add(1);
        self.from = Some(self.from.map_or(begin, |from| from.min(begin)));
    }

    /// Adds the counts of another timeline.
    pub fn merge(&mut self, other: &LeftOut) {
        self.intervals = self.intervals.saturating_add(other.intervals);
        self.from = self.from.into_iter().chain(other.from).min();
    }
}

impl Limits {
    /// True if an interval is kept that would come after `kept` others; counts it otherwise.
    pub fn keep(&self, begin: Time, end: Time, kept: usize, left_out: &mut LeftOut) -> bool {
        if begin >= end || begin >= self.span.to || end <= self.span.from {
            return false;
        }
        let fits = (kept as u64) < self.most;
        if !fits {
            left_out.add(begin);
        }
        fits
    }
}

/// Reason why an interval ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// In a word.
    pub by: Word,
    /// The other task of the message, if it was one.
    pub peer: Option<u32>,
    /// Length of that message, bytes.
    pub bytes: u64,
}

impl Ending {
    /// A time was over.
    pub const TIME: Ending = Ending::without_message(TIME);
    /// The run ended.
    pub const END: Ending = Ending::without_message(END);

    const fn without_message(by: Word) -> Ending {
        Ending {
            by,
            peer: None,
            bytes: 0,
        }
    }

    /// A message of `peer` arrived.
    pub fn arrival(peer: u32, bytes: u64) -> Ending {
        Ending {
            by: MESSAGE,
            peer: Some(peer),
            bytes,
        }
    }

    /// A message to `peer` had left, or its sender heard that it is complete.
    pub fn departure(peer: u32, bytes: u64) -> Ending {
        Ending {
            by: SENT,
            peer: Some(peer),
            bytes,
        }
    }
}

/// An interval in which a task did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Begin, ps.
    pub begin: Time,
    /// End, ps.
    pub end: Time,
    /// Activity of the task.
    pub activity: Word,
    /// Reason for its end.
    pub ending: Ending,
}

/// The timeline of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    limits: Limits,
    /// The present activity, and when it began.
    open: Option<(Time, Word)>,
    /// The event that is being handled: it ends what ends now.
    event: Ending,
    rows: Vec<Interval>,
    left_out: LeftOut,
}

impl Timeline {
    /// An empty timeline.
    pub fn new(limits: Limits) -> Timeline {
        Timeline {
            limits,
            open: None,
            event: Ending::TIME,
            rows: Vec::new(),
            left_out: LeftOut::default(),
        }
    }

    /// True if a timeline that was read can belong to a task with these limits: its words exist.
    pub fn fits(&self, limits: Limits) -> bool {
        let exists = |word: Word| word.index() < WORDS.len();
        let rows = self.rows.iter();
        let words = rows.flat_map(|row| [row.activity, row.ending.by]);
        let words = words.chain(self.open.map(|(_, word)| word));
        self.limits == limits && words.chain([self.event.by]).all(exists)
    }

    /// Takes note of the event that the task is told of.
    pub fn event(&mut self, event: Ending) {
        self.event = event;
    }

    /// Begins an activity, which ends the one before. Computations without a pause are one.
    pub fn begin(&mut self, activity: Word, now: Time) {
        if let Some((_, COMPUTE)) = self.open
            && activity == COMPUTE
        {
            return;
        }
        self.finish(now);
        self.open = Some((now, activity));
    }

    /// Ends the present activity.
    pub fn finish(&mut self, now: Time) {
        if let Some(row) = self.present(now, self.event)
            && (self.limits).keep(row.begin, row.end, self.rows.len(), &mut self.left_out)
        {
            self.rows.push(row);
        }
        self.open = None;
    }

    fn present(&self, end: Time, ending: Ending) -> Option<Interval> {
        let (begin, activity) = self.open?;
        Some(Interval {
            begin,
            end,
            activity,
            ending,
        })
    }

    /// All intervals of a run that ended at `end`, in order, and the ones that were left out.
    pub fn rows(&self, end: Time) -> (Vec<Interval>, LeftOut) {
        let mut left_out = self.left_out;
        let kept = self.rows.len();
        let last = self
            .present(end, Ending::END)
            .filter(|row| self.limits.keep(row.begin, row.end, kept, &mut left_out));
        (self.rows.iter().copied().chain(last).collect(), left_out)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Timeline>() + self.rows.capacity() * size_of::<Interval>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_their_constants() {
        let named = [
            COMPUTE, DELAY, CALL, SEND, RECEIVE, WAIT_ALL, WAIT_ANY, WAIT,
        ];
        let ends = [TIME, MESSAGE, SENT, END];
        let places = named.into_iter().chain(ends).map(Word::index);
        assert!(places.eq(0..12));
    }

    #[test]
    fn intervals_outside_of_the_span_or_too_many_are_not_kept() {
        let span = Span { from: 10, to: 50 };
        let mut timeline = Timeline::new(Limits { span, most: 2 });
        // [0, 10) is before the span; computations in a row are one interval; [40, 45) and [45, …)
        // are too many; [60, …) is after it.
        for (activity, at) in [
            (RECEIVE, 0),
            (COMPUTE, 10),
            (COMPUTE, 20),
            (SEND, 30),
            (SEND, 30),
            (CALL, 40),
            (WAIT, 45),
            (WAIT, 60),
        ] {
            timeline.event(Ending::arrival(7, at));
            timeline.begin(activity, at);
        }
        let (rows, left_out) = timeline.rows(100);
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.begin, row.end, row.activity))
            .collect();
        assert_eq!(found, [(10, 30, COMPUTE), (30, 40, SEND)]);
        assert_eq!(rows[1].ending, Ending::arrival(7, 40));
        let expected = LeftOut {
            intervals: 2,
            from: Some(40),
        };
        assert_eq!(left_out, expected);
    }
}
