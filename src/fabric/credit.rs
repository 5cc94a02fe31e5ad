use crate::model::{NEVER, Slots, Time};

const END: u32 = u32::MAX;

/// Credits on their way back to the outputs of one domain, in time-stamped lists that a port looks at when it needs
/// to: a credit costs no event of its own.
#[derive(Debug)]
pub struct CreditPool {
    nodes: Slots<Node>,
    /// First of the nodes that are free; each names the next.
    free: u32,
}

impl Default for CreditPool {
    fn default() -> Self {
        CreditPool {
            nodes: Slots::default(),
            free: END,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    time: Time,
    flits: u32,
    next: u32,
}

/// The credits of one buffer at the far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Flits that may be sent now.
    pub available: u32,
    /// Flits of the buffer.
    pub capacity: u32,
    head: u32,
    tail: u32,
}

impl Credit {
    /// All credits of a buffer of `capacity` flits at home.
    pub fn new(capacity: u32) -> Self {
        Credit {
            available: capacity,
            capacity,
            head: END,
            tail: END,
        }
    }

    /// Takes up what has come back by `now`.
    #[inline]
    pub fn collect(&mut self, pool: &mut CreditPool, now: Time) {
        while self.head != END {
            let node = pool.nodes[self.head as usize];
            if node.time > now {
                break;
            }
            self.available += node.flits;
            pool.nodes[self.head as usize].next = pool.free;
            pool.free = self.head;
            self.head = node.next;
        }
    }

    /// When enough is back for `flits`, as far as is known; [`NEVER`] if not enough is on its way.
    pub fn enough_at(&self, pool: &CreditPool, flits: u32) -> Time {
        let mut sum = self.available;
        let mut at = self.head;
        while at != END {
            let node = pool.nodes[at as usize];
            sum += node.flits;
            if sum >= flits {
                return node.time;
            }
            at = node.next;
        }
        NEVER
    }

    /// Sends `flits` back, to be usable from `time` on. Lists are kept in order of time. They hold no more credits than
    /// the buffer has flits, however long nobody looks at them.
    pub fn give(&mut self, pool: &mut CreditPool, time: Time, flits: u32) {
        if self.head != END {
            let last = &mut pool.nodes[self.tail as usize];
            if last.time == time {
                last.flits += flits;
                return;
            }
            if last.time > time {
                return self.give_early(pool, time, flits);
            }
        }
        let index = pool.add(Node {
            time,
            flits,
            next: END,
        });
        if self.head == END {
            self.head = index;
        } else {
            pool.nodes[self.tail as usize].next = index;
        }
        self.tail = index;
    }

    /// A credit that is due before the last one in the list: packets left by different ways through the crossbar.
    fn give_early(&mut self, pool: &mut CreditPool, time: Time, flits: u32) {
        let mut before = END;
        let mut at = self.head;
        while pool.nodes[at as usize].time <= time {
            before = at;
            at = pool.nodes[at as usize].next;
        }
        let index = pool.add(Node {
            time,
            flits,
            next: at,
        });
        if before == END {
            self.head = index;
        } else {
            pool.nodes[before as usize].next = index;
        }
    }

    /// True when every credit is home, or will be without anything else happening.
    pub fn is_home(&self, pool: &CreditPool) -> bool {
        self.available + self.on_the_way(pool) == self.capacity
    }

    /// Flits of credit that are still on their way back.
    pub fn on_the_way(&self, pool: &CreditPool) -> u32 {
        let mut sum = 0;
        let mut at = self.head;
        while at != END {
            sum += pool.nodes[at as usize].flits;
            at = pool.nodes[at as usize].next;
        }
        sum
    }
}

impl CreditPool {
    fn add(&mut self, node: Node) -> u32 {
        let index = self.free;
        if index == END {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        self.free = self.nodes[index as usize].next;
        self.nodes[index as usize] = node;
        index
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn credits_come_home_in_time_order(
            gives in prop::collection::vec((1u64..1_000, 1u32..20), 1..60),
            looks in prop::collection::vec(0u64..1_100, 1..20),
        ) {
            let total: u32 = gives.iter().map(|give| give.1).sum();
            let mut pool = CreditPool::default();
            let mut credit = Credit::new(total);
            credit.available = 0;
            for &(time, flits) in &gives {
                credit.give(&mut pool, time, flits);
            }
            prop_assert!(credit.is_home(&pool));
            let mut looks = looks;
            looks.sort_unstable();
            for now in looks {
                let due: u32 = gives.iter().filter(|give| give.0 <= now).map(|give| give.1).sum();
                credit.collect(&mut pool, now);
                prop_assert_eq!(credit.available, due);
                let next = gives.iter().map(|give| give.0).filter(|&time| time > now).min();
                prop_assert_eq!(credit.enough_at(&pool, due + 1), next.unwrap_or(NEVER));
            }
        }
    }
}
