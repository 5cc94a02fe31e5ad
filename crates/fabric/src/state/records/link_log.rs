//! Timelines of links: the packets on each chosen link, and the times when one lacked credit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::state::OutIndex;
use weir_model::table::{LinkInterval, Word};
use weir_model::{PacketKind, PortId, RouterId, Time};
use weir_workload::timeline::{LeftOut, Limits};

/// The activity of a link on which a packet lacks credit; the kinds of packets follow.
pub const STALLED: Word = Word(0);

/// The activity of a link that carries a packet of this kind.
pub(crate) fn carries(kind: PacketKind) -> Word {
    Word(kind.number() + 1)
}

/// The timeline of one link.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Track {
    pub router: RouterId,
    pub port: PortId,
    pub limits: Limits,
    pub rows: Vec<LinkInterval>,
    pub left_out: LeftOut,
}

/// Timelines by the outputs of a domain that have one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LinkLog {
    pub tracks: BTreeMap<OutIndex, Track>,
}

impl LinkLog {
    /// True if a log that was read has the timelines of this one.
    pub(crate) fn fits(&self, own: &LinkLog) -> bool {
        let same = |(read, own): (&Track, &Track)| {
            (read.router, read.port, read.limits) == (own.router, own.port, own.limits)
                && read
                    .rows
                    .iter()
                    .all(|row| row.activity.index() <= PacketKind::MOST)
        };
        self.tracks.keys().eq(own.tracks.keys())
            && self.tracks.values().zip(own.tracks.values()).all(same)
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let rows = self.tracks.values().map(|track| track.rows.capacity());
        rows.sum::<usize>() * size_of::<LinkInterval>() + self.tracks.len() * size_of::<Track>()
    }
}

impl Track {
    /// An empty timeline.
    pub(crate) fn new(router: RouterId, port: PortId, limits: Limits) -> Track {
        Track {
            router,
            port,
            limits,
            rows: Vec::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Keeps an interval, if the limits allow it.
    pub(crate) fn add(&mut self, row: LinkInterval) {
        let kept = self.rows.len();
        if (self.limits).keep(row.begin_ps, row.end_ps, kept, &mut self.left_out) {
            self.rows.push(row);
        }
    }

    /// The link lacked credit for this time. Times without a pause are one interval.
    pub(crate) fn stalled(&mut self, begin: Time, end: Time) {
        if let Some(last) = self.rows.last_mut()
            && last.activity == STALLED
            && last.end_ps == begin
        {
            last.end_ps = end;
            return;
        }
        self.add(LinkInterval {
            router: self.router,
            port: self.port,
            begin_ps: begin,
            end_ps: end,
            activity: STALLED,
            job: -1,
            source: -1,
            destination: -1,
            bytes: 0,
        });
    }
}
