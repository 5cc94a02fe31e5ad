//! Groups of queue pairs: the injection queues that their packets may join.

use serde::{Deserialize, Serialize};

/// The group of queue pairs whose possible queues are not known yet.
pub const UNKNOWN: u8 = 0;

/// Groups that are told apart; queue pairs beyond that stay unknown.
pub(super) const MOST: usize = 64;

/// The groups of a domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Groups {
    /// By group, bit by queue of a traffic class: which may be joined. That of [`UNKNOWN`] has all
    /// bits.
    queues: Vec<u64>,
    /// Queue pairs in the rings of NICs, by NIC and then by group; empty as long as there is none.
    members: Vec<u32>,
}

impl Groups {
    /// The group that may join these queues, if there is a place for it.
    pub fn find(&mut self, queues: u64) -> u8 {
        if self.queues.is_empty() {
            self.queues.push(u64::MAX);
        }
        let known = self.queues.iter().skip(1).position(|&of| of == queues);
        match known {
            Some(at) => at as u8 + 1,
            None if self.queues.len() < MOST => {
                self.queues.push(queues);
                (self.queues.len() - 1) as u8
            }
            None => UNKNOWN,
        }
    }

    /// A queue pair of a NIC joins a group.
    pub fn join(&mut self, nic: u32, group: u8) {
        let end = (nic as usize + 1) * MOST;
        if self.members.len() < end {
            self.members.resize(end, 0);
        }
        self.members[nic as usize * MOST + usize::from(group)] += 1;
    }

    /// It leaves it.
    pub fn leave(&mut self, nic: u32, group: u8) {
        self.members[nic as usize * MOST + usize::from(group)] -= 1;
    }

    /// Bit by group of which members may join one of the open queues; and whether a NIC has members
    /// of one of them, if `unknown` of its queue pairs are in none.
    pub fn open(&self, nic: u32, unknown: u32, open: u64) -> (u64, bool) {
        let mut groups = u64::from(open != 0);
        let mut any = open != 0 && unknown > 0;
        for (group, &queues) in self.queues.iter().enumerate().skip(1) {
            if queues & open != 0 {
                groups |= 1 << group;
                let members = self.members.get(nic as usize * MOST + group);
                any |= members.is_some_and(|&count| count > 0);
            }
        }
        (groups, any)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.queues.capacity() * 8 + self.members.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_open_when_one_of_its_queues_is() {
        let mut groups = Groups::default();
        let (low, high) = (groups.find(0b0011), groups.find(0b1100));
        assert_eq!(groups.find(0b0011), low);
        groups.join(5, low);
        let open = |groups: &Groups, nic, unknown, queues| groups.open(nic, unknown, queues).1;
        assert!(open(&groups, 5, 0, 0b0010) && !open(&groups, 5, 0, 0b0100));
        assert!(!open(&groups, 4, 0, 0b0010), "another NIC's");
        let (bits, _) = groups.open(5, 0, 0b1000);
        assert_eq!((bits >> low & 1, bits >> high & 1), (0, 1));
        // Queue pairs of unknown group have to be asked, unless nothing is open.
        assert!(open(&groups, 5, 1, 0b0100) && !open(&groups, 5, 1, 0));
        assert_eq!(bits >> UNKNOWN & 1, 1);
        groups.leave(5, low);
        assert!(!open(&groups, 5, 0, 0b0010));
    }

    #[test]
    fn what_has_no_place_stays_unknown() {
        let mut groups = Groups::default();
        let found: Vec<u8> = (1..=100).map(|queues| groups.find(queues)).collect();
        assert_eq!(found[..63], (1..=63).collect::<Vec<u8>>());
        assert!(found[63..].iter().all(|&group| group == UNKNOWN));
    }
}
