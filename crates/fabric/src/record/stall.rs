//! Deadlock analysis: wait-for relations when nothing moves any more.
//!
//! A place (an input buffer or an output queue) is stuck if every packet that could leave it next
//! waits for room in another place that is stuck. Every domain lists its blocked places and what
//! they wait for. In the combined list, every place that waits for a place that is not blocked is
//! removed, until nothing changes. The places that remain can never move: a deadlock, and following
//! their wait-for relations leads round a cycle.

use crate::setup::plain::Compiled;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::domain::FabricDomain;
use crate::state::NO_REQUEST;
use crate::state::Wire;
use crate::state::ports::ring::Side;
use weir_model::{NEVER, NO_PACKET, PacketIndex, PortId, RouterId};
use weir_network::topology::Peer;

/// A place where packets wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// True for an output queue, false for an input buffer.
    pub output: bool,
    /// Router.
    pub router: RouterId,
    /// Its port.
    pub port: PortId,
    /// Queue, over all traffic classes: the virtual channel, if virtual channels are not divided.
    pub queue: u16,
}

/// A packet at the head of a queue that waits for room in another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The blocked place.
    pub at: Place,
    /// The place in which it needs room.
    pub needs: Place,
    /// The packet: its source, and its number there.
    pub packet: (u32, u32),
}

impl<K: Compiled> FabricDomain<K> {
    /// Every blocked place of this domain, with the places that its packets wait for.
    /// A place is not listed if some packet can leave it, or waits for time only.
    pub fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        if self.pool.len() == 0 {
            return waits;
        }
        for router in self.ports.routers.iter() {
            for port in 0..router.ports {
                let flat = router.base + u32::from(port);
                self.waits_at_input(router.id, port, flat, &mut waits);
                self.waits_at_output(router.id, port, flat, &mut waits);
            }
        }
        waits
    }

    /// The buffer that a packet needs behind an output, if it has no credit for it and none is
    /// returning.
    fn lacks_credit(
        &self,
        router: RouterId,
        output: u32,
        index: PacketIndex,
        out_queue: u16,
    ) -> Option<Place> {
        let out = &self.ports.outputs[output as usize];
        let room = self.room_for(index);
        // The queue of a packet that waits has been used.
        let channel = self.used_channel(out.channel_base, out_queue)?;
        let credit = &self.ports.channels[self.home(channel)].credit;
        if matches!(out.wire, Wire::Endpoint(_))
            || credit.enough_at(room) != NEVER
            || credit.available >= room
        {
            return None;
        }
        match self.network.topology.peer(router, self.port_of(output).1) {
            Peer::Router(router, port) => Some(Place {
                output: false,
                router,
                port,
                queue: self.buffer_queue(router, port, out_queue),
            }),
            _ => None,
        }
    }

    fn waits_at_output(&self, router: RouterId, port: PortId, flat: u32, waits: &mut Vec<Wait>) {
        let out = &self.ports.outputs[flat as usize];
        if self.timings[out.timing as usize].prepaid {
            // Packets in its queues have their credit.
            return;
        }
        let mut from = 0;
        while let Some(queue) = self.next_ready(flat, from, u32::MAX) {
            from = u32::from(queue) + 1;
            let Some(channel) = self.used_channel(out.channel_base, queue) else {
                continue;
            };
            let head = self.ports.channels[channel].queue.head;
            if let Some(needs) = self.lacks_credit(router, flat, head, queue) {
                let at = Place {
                    output: true,
                    router,
                    port,
                    queue,
                };
                waits.push(Wait {
                    at,
                    needs,
                    packet: self.name_of(head),
                });
            }
        }
    }

    fn waits_at_input(&self, router: RouterId, port: PortId, flat: u32, waits: &mut Vec<Wait>) {
        // Channels that share a buffer wait together: the buffer is stuck if all its queues are.
        let mut by_place: FxHashMap<Place, Option<Vec<Wait>>> = FxHashMap::default();
        for class in 0..self.fixed.classes.count() {
            let first = self.ports.rings.inputs
                [flat as usize * usize::from(self.fixed.classes.count()) + usize::from(class)]
            .next;
            let mut at = first;
            while at != NO_REQUEST {
                let request = *self.ports.requests.get(at);
                // A packet with alternative routes has a request for each: it is stuck if all of
                // these are.
                let queue = self.buffer_queue(router, port, request.in_queue);
                let place = Place {
                    output: false,
                    router,
                    port,
                    queue,
                };
                let wait = self.wait_of(router, &request, place);
                let entry = by_place.entry(place).or_insert_with(|| Some(Vec::new()));
                match (entry.as_mut(), wait) {
                    (Some(list), Some(wait)) => list.push(wait),
                    _ => *entry = None,
                }
                at = self.ports.requests.after(at, Side::Input);
                if at == first {
                    break;
                }
            }
        }
        let mut lists: Vec<(Place, Vec<Wait>)> = by_place
            .into_iter()
            .filter_map(|(place, list)| list.map(|list| (place, list)))
            .collect();
        lists.sort_unstable_by_key(|(place, _)| *place);
        waits.extend(lists.into_iter().flat_map(|(_, list)| list));
    }

    fn wait_of(
        &self,
        router: RouterId,
        request: &crate::state::Request,
        at: Place,
    ) -> Option<Wait> {
        let head = request.queue.head;
        if head == NO_PACKET {
            return None;
        }
        let packet = self.name_of(head);
        let queue = match self.has_alternatives() {
            true => request.out_queue,
            false => self.pool.get(head).queue,
        };
        let timing = self.timing(request.output);
        let lacks = match timing.credit_to_cross {
            true => self.lacks_credit(router, request.output, head, queue),
            false => None,
        };
        if let Some(needs) = lacks {
            return Some(Wait { at, needs, packet });
        }
        let capacity = timing.output_queue?;
        let out = &self.ports.outputs[request.output as usize];
        let room = u32::from(self.room_of(self.pool.get(head).flits));
        let held = self.ports.channels[self.used_channel(out.channel_base, queue)?].flits;
        if held == 0 || held + room <= capacity {
            return None;
        }
        let (_, port) = self.port_of(request.output);
        Some(Wait {
            at,
            needs: Place {
                output: true,
                router,
                port,
                queue,
            },
            packet,
        })
    }

    /// Queue under which the buffer of an input's queue is known: the first of the queues that
    /// share it.
    fn buffer_queue(&self, router: RouterId, port: PortId, queue: u16) -> u16 {
        if self.network.router(router).buffer_per != crate::BufferPer::Port {
            return queue;
        }
        let kind = self.network.topology.link(router, port).kind;
        let queues = self.network.queues(kind);
        queue - (u32::from(queue) % queues.max(1)) as u16
    }

    fn name_of(&self, index: PacketIndex) -> (u32, u32) {
        let origin = self.pool.origin(index);
        (origin.source, origin.sequence)
    }
}

/// A cycle of places that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// The cycle: each waits for room in the next, the last for room in the first.
    pub cycle: Vec<Wait>,
    /// Number of places that can never move again.
    pub stuck: usize,
}

/// Looks for a deadlock among the blocked places of all domains.
pub fn find_deadlock(waits: &[Wait]) -> Option<Deadlock> {
    let mut stuck: FxHashMap<Place, Vec<Wait>> = FxHashMap::default();
    for &wait in waits {
        stuck.entry(wait.at).or_default().push(wait);
    }
    loop {
        let free: Vec<Place> = stuck
            .iter()
            .filter(|(_, list)| list.iter().any(|wait| !stuck.contains_key(&wait.needs)))
            .map(|(&place, _)| place)
            .collect();
        if free.is_empty() {
            break;
        }
        for place in free {
            stuck.remove(&place);
        }
    }
    // From the first stuck place (so that the report is the same on every run), follow the wait-for
    // relations.
    let mut at = *stuck.keys().min()?;
    let mut way: Vec<Wait> = Vec::new();
    loop {
        if let Some(begin) = way.iter().position(|wait| wait.at == at) {
            let cycle = way.split_off(begin);
            return Some(Deadlock {
                cycle,
                stuck: stuck.len(),
            });
        }
        let wait = *stuck.get(&at)?.first()?;
        way.push(wait);
        at = wait.needs;
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.output {
            "output queue"
        } else {
            "input buffer"
        };
        write!(
            f,
            "router {} port {} queue {} ({what})",
            self.router, self.port, self.queue
        )
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} places can never move again; a cycle of {} of them:",
            self.stuck,
            self.cycle.len()
        )?;
        for wait in &self.cycle {
            let (source, number) = wait.packet;
            writeln!(
                f,
                "  {}: packet {source}:{number} waits for room in {}",
                wait.at, wait.needs
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(router: u32) -> Place {
        Place {
            output: false,
            router,
            port: 0,
            queue: 0,
        }
    }

    fn wait(at: u32, needs: u32) -> Wait {
        Wait {
            at: place(at),
            needs: place(needs),
            packet: (at, 7),
        }
    }

    #[test]
    fn a_cycle_is_found_and_named() {
        let deadlock = find_deadlock(&[wait(9, 1), wait(1, 2), wait(2, 3), wait(3, 1)]).unwrap();
        assert_eq!(deadlock.cycle, [wait(1, 2), wait(2, 3), wait(3, 1)]);
        assert_eq!(deadlock.stuck, 4);
        assert!(deadlock.to_string().contains(
            "router 2 port 0 queue 0 (input buffer): packet 2:7 waits for room in router 3"
        ));
    }

    #[test]
    fn a_place_with_a_way_out_is_not_stuck() {
        // 2 may also go to 5, which is not blocked.
        assert_eq!(find_deadlock(&[wait(1, 2), wait(2, 1), wait(2, 5)]), None);
        assert_eq!(find_deadlock(&[]), None);
    }
}
