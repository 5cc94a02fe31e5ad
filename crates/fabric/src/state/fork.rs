//! The state of a domain goes on in another run, which differs from now on.

use rustc_hash::FxHashMap;

use super::saved::Loaded;
use crate::domain::FabricDomain;
use crate::setup::fork::Fork;
use crate::setup::plain::Compiled;
use crate::setup::traffic::Traffic;
use crate::state::ends::source::Source;
use crate::state::event::{EventKind, Keys};
use crate::state::hosts::SavedHost;
use weir_model::codec::CodecError;

/// Place of a source or a task: its workload and its NIC.
type Seat = (u16, u32);

impl<K: Compiled> FabricDomain<K> {
    /// Makes a saved state of another run one of this domain.
    pub(super) fn carry_over(&self, loaded: &mut Loaded, fork: &Fork) -> Result<(), CodecError> {
        let components = [
            self.ports.outputs.len(),
            loaded.ends.sources.len(),
            loaded.hosts.tasks.len(),
        ];
        let keys = Keys::new(components.into_iter().max().unwrap_or(0));
        let hosts = self.carry_hosts(loaded, fork)?;
        let mut events = Vec::new();
        for (time, key) in std::mem::take(&mut loaded.events) {
            let (kind, component) = keys.unkey(key);
            let component = match kind {
                EventKind::Generate => None,
                EventKind::Task => hosts.get(&component).copied(),
                _ => Some(component),
            };
            events.extend(component.map(|component| (time, self.keys.key(kind, component))));
        }
        self.carry_sources(loaded, fork)?;
        for (source, at) in loaded.ends.sources.iter().zip(0..) {
            let next = source.clock.time();
            if next < self.traffic[usize::from(source.job)].stop {
                events.push((next, self.keys.key(EventKind::Generate, at)));
            }
        }
        // Starts of the tasks that have not begun.
        for (host, at) in loaded.hosts.tasks.iter().zip(0..) {
            if !fork.carried[usize::from(host.job)] {
                let due = host.due.iter().map(|due| due.time);
                events.extend(due.map(|time| (time, self.keys.key(EventKind::Task, at))));
            }
        }
        loaded.events = events;
        loaded.records.stats.go_on_as(&self.records.stats);
        Ok(())
    }

    /// The sources of this domain: those of the state, or their beginning.
    fn carry_sources(&self, loaded: &mut Loaded, fork: &Fork) -> Result<(), CodecError> {
        let seat = |source: &Source| (source.job, source.nic);
        let old = loaded.ends.sources.iter();
        let old: FxHashMap<Seat, &Source> = old.map(|source| (seat(source), source)).collect();
        let sources = self.ends.sources.iter().map(|own| {
            let job = usize::from(own.job);
            if fork.carried[job] {
                return old.get(&seat(own)).copied().cloned();
            }
            let traffic: &Traffic = &self.traffic[job];
            let endpoint = self.ends.nics[own.nic as usize].id;
            let start = traffic.start.max(fork.at);
            let of = (traffic, self.network.topology.as_ref());
            Source::new(of, seat(own), endpoint, start, fork.seed)
        });
        let sources: Option<Vec<Source>> = sources.collect();
        let sources = sources.ok_or_else(|| CodecError::new("the state has other sources"))?;
        loaded.ends.sources = sources.into();
        Ok(())
    }

    /// The tasks of this domain: those of the state, or their beginning. Returns the new place of
    /// each task that goes on, by the place in the state.
    fn carry_hosts(
        &self,
        loaded: &mut Loaded,
        fork: &Fork,
    ) -> Result<FxHashMap<u32, u32>, CodecError> {
        let mut fresh = self.hosts.save()?;
        let seat = |host: &SavedHost| (host.job, host.nic);
        let old = loaded.hosts.tasks.iter().zip(0u32..);
        let old: FxHashMap<Seat, (u32, &SavedHost)> =
            old.map(|(host, at)| (seat(host), (at, host))).collect();
        let mut places = FxHashMap::default();
        for (host, at) in fresh.tasks.iter_mut().zip(0u32..) {
            if fork.carried[usize::from(host.job)] {
                let found = old.get(&seat(host));
                let (before, saved) =
                    found.ok_or_else(|| CodecError::new("the state has other tasks"))?;
                places.insert(*before, at);
                host.clone_from(saved);
            }
        }
        for (job, own) in fresh.jobs.iter_mut().enumerate() {
            if let Some(saved) = loaded.hosts.jobs.get(job).filter(|_| fork.carried[job]) {
                if !self.traffic[job].background {
                    fresh.unfinished -= own.unfinished;
                    fresh.unfinished += saved.unfinished;
                }
                *own = *saved;
            }
        }
        fresh.last_done = loaded.hosts.last_done;
        fresh.next_order = fresh.next_order.max(loaded.hosts.next_order);
        loaded.hosts = fresh;
        Ok(places)
    }
}
