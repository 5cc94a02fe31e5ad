//! Messages between tasks of one node, and messages that several NICs of a node share.

use crate::domain::FabricDomain;
use crate::endpoint::sending::NewMessage;
use crate::setup::plain::Compiled;
use crate::setup::traffic::TaskNics;
use crate::state::hosts::{Action, Incomplete};
use weir_model::{LATEST, Origin, Time};
use weir_workload::tasks::{Envelope, Peer};

/// A message of a task, and how many parts of it there are.
#[derive(Clone, Copy)]
pub(super) struct FromTask {
    /// Place of the task in its domain.
    pub place: u32,
    /// The receiver.
    pub to: Peer,
    /// Its length.
    pub bytes: u64,
    pub envelope: Envelope,
    /// Number of NICs that carry it.
    pub parts: u32,
}

impl<K: Compiled> FabricDomain<K> {
    /// Sends a message by the network inside the task's node. False if there is none, or the
    /// receiver is on another node.
    pub(super) fn send_inside(&mut self, message: FromTask, now: Time) -> bool {
        let FromTask {
            place,
            to,
            bytes,
            envelope,
            ..
        } = message;
        let host = &self.hosts.hosts[place as usize];
        let (job, from) = (host.job, host.task.number());
        let own = self.ends.nics[host.nic as usize].id;
        let traffic = &self.traffic[usize::from(job)];
        let destination = traffic.tasks[to as usize];
        let Some(inside) = self.network.inside([own, destination]) else {
            return false;
        };
        let delay = traffic
            .application()
            .map_or(0, |one| one.job.exchange.protocol.receive_delay);
        // A node is in one domain.
        let nic = self.nic_of(destination);
        let Some(&receiver) = self.hosts.places.get(&(job, nic)) else {
            return false;
        };
        let line = match inside.shared {
            true => self.network.nodes.node_of(own),
            false => own,
        };
        let free = self.hosts.inside_free.entry(line).or_default();
        let begin = now.max(*free);
        let sent = begin
            .saturating_add(inside.sending(bytes))
            .min(now + LATEST);
        *free = sent;
        let state = &mut self.hosts.jobs[usize::from(job)];
        state.sent += 1;
        state.received += 1;
        let summary = &mut self.records.stats.summary;
        *summary.inside_messages.get_or_insert_default() += 1;
        *summary.inside_bytes.get_or_insert_default() += bytes;
        // No task waits for control messages to leave.
        if envelope.kind.has_content() {
            let left = Action::Sent {
                to,
                bytes,
                envelope,
            };
            self.expect(place, sent, left);
        }
        let arrived = Action::Arrived {
            from,
            bytes,
            envelope,
        };
        let latency = inside.latency.saturating_add(delay).min(LATEST);
        self.expect(receiver, sent + latency, arrived);
        true
    }

    /// The NICs of the job of the task at this place.
    pub(super) fn nics_of(&self, place: u32) -> Option<&TaskNics> {
        let job = self.hosts.hosts[place as usize].job;
        let application = self.traffic[usize::from(job)].application();
        application.map(|application| &application.nics)
    }

    /// One of the parts of a message, for its NIC.
    pub(super) fn part(&self, message: FromTask, part: u32) -> NewMessage {
        let host = &self.hosts.hosts[message.place as usize];
        let whole = NewMessage {
            nic: host.nic,
            destination: self.traffic[usize::from(host.job)].tasks[message.to as usize],
            bits: 8 * message.bytes,
            job: host.job,
            stamp: message.envelope.to_stamp(),
        };
        let Some(nics) = self.nics_of(message.place).filter(|nics| nics.each > 1) else {
            return whole;
        };
        let nic = match message.parts {
            1 => nics.nic(message.to, message.envelope.number),
            _ => part,
        };
        let parts = u64::from(message.parts);
        let more = u64::from(u64::from(part) < message.bytes % parts);
        NewMessage {
            nic: self.nic_of(nics.endpoint(host.task.number(), nic)),
            destination: nics.endpoint(message.to, nic),
            bits: 8 * (message.bytes / parts + more),
            stamp: match parts {
                1 => whole.stamp,
                _ => message.envelope.to_stamp_of_part(),
            },
            ..whole
        }
    }

    /// Takes note that a message, or a part of one, has left for `peer` (or has come from it) at
    /// `time`. Returns the length of the whole message and the time of its last part, if this was
    /// the last.
    pub(super) fn whole(
        &mut self,
        place: u32,
        (leaves, peer): (bool, Peer),
        origin: &Origin,
        time: Time,
    ) -> Option<(u64, Time)> {
        let bytes = origin.message_bits / 8;
        if !Envelope::is_part(origin.stamp()) {
            return Some((bytes, time));
        }
        let parts = self.nics_of(place)?.each;
        let host = &mut self.hosts.hosts[place as usize];
        let key = (leaves, peer, origin.stamp().word());
        let known = host.parts.entry(key).or_insert(Incomplete {
            missing: parts,
            bytes: 0,
            latest: time,
        });
        known.missing = known.missing.saturating_sub(1);
        known.bytes = known.bytes.saturating_add(bytes);
        known.latest = known.latest.max(time);
        let Incomplete {
            missing,
            bytes,
            latest,
        } = *known;
        if missing > 0 {
            return None;
        }
        host.parts.remove(&key);
        Some((bytes, latest))
    }
}
