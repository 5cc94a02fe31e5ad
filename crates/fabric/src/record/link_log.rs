//! Timelines of links: the times of each packet on a link, and the times without credit.

use crate::domain::FabricDomain;
use crate::setup::blueprint::Blueprint;
use crate::setup::plain::Compiled;
use crate::state::records::link_log::{Track, carries};
use crate::state::{OutIndex, Wire};
use weir_model::table::LinkInterval;
use weir_model::{PacketIndex, PacketKind, Time};
use weir_workload::timeline::LeftOut;

impl<K: Compiled> FabricDomain<K> {
    /// Prepares the timelines of the chosen routers' links.
    pub(crate) fn add_link_log(&mut self, blueprint: &Blueprint) {
        let Some(chosen) = &blueprint.links else {
            return;
        };
        for router in self.ports.routers.iter() {
            if chosen.routers.binary_search(&router.id).is_err() {
                continue;
            }
            for port in 0..router.ports {
                let output = router.base + u32::from(port);
                if !matches!(self.ports.outputs[output as usize].wire, Wire::Unused) {
                    let track = Track::new(router.id, port, chosen.limits);
                    self.records.link_log.tracks.insert(output, track);
                }
            }
        }
    }

    /// A packet leaves a router: it has the link from `begin` to `end`.
    #[inline(never)]
    pub(crate) fn log_departure(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        (begin, end): (Time, Time),
    ) {
        if self.logs_flows() {
            self.flow_hops(index, output);
        }
        let Some(track) = self.records.link_log.tracks.get_mut(&output) else {
            return;
        };
        let (packet, origin) = (self.pool.get(index), self.pool.origin(index));
        let bits = u64::from(packet.flits) * u64::from(self.about.flit.0);
        // There are fewer than 2³¹ endpoints.
        track.add(LinkInterval {
            router: track.router,
            port: track.port,
            begin_ps: begin,
            end_ps: end,
            activity: carries(PacketKind::of(origin)),
            job: origin.job.into(),
            source: origin.source as i32,
            destination: packet.flight.destination as i32,
            bytes: bits / 8,
        });
    }

    /// Counts the time up to `now` for which a router's output has lacked credit.
    #[inline(always)]
    pub(crate) fn settle_stall(&mut self, output: OutIndex, now: Time) {
        if self.logs_links() {
            self.log_stall(output, now);
        }
        self.ports.outputs[output as usize].settle_stall(now);
    }

    /// The same; something moves now, or nothing is left to move.
    #[inline(always)]
    pub(crate) fn unstall(&mut self, output: OutIndex, now: Time) {
        if self.logs_links() {
            self.log_stall(output, now);
        }
        self.ports.outputs[output as usize].unstall(now);
    }

    #[inline(never)]
    fn log_stall(&mut self, output: OutIndex, now: Time) {
        let since = self.ports.outputs[output as usize].stalled_since;
        if since < now
            && let Some(track) = self.records.link_log.tracks.get_mut(&output)
        {
            track.stalled(since, now);
        }
    }

    /// The intervals of all links of a run that ended at `end`, and the ones that were left out. A
    /// packet that is on its link then counts up to that time.
    pub(crate) fn link_intervals(&mut self, end: Time) -> (Vec<LinkInterval>, LeftOut) {
        let outputs: Vec<OutIndex> = self.records.link_log.tracks.keys().copied().collect();
        for output in outputs {
            self.log_stall(output, end);
        }
        let (mut rows, mut left_out) = (Vec::new(), LeftOut::default());
        for track in self.records.link_log.tracks.values() {
            left_out.merge(&track.left_out);
            let own = track.rows.iter().filter(|row| row.begin_ps < end);
            rows.extend(own.map(|row| LinkInterval {
                end_ps: row.end_ps.min(end),
                ..*row
            }));
        }
        (rows, left_out)
    }
}
