//! Distribution of domains over ranks.

use std::ops::Range;

use weir_model::DomainId;

/// Distribution of the domains over the ranks: contiguous blocks whose sizes differ by one at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of domains.
    pub domains: u32,
    /// Number of ranks; not more than domains.
    pub ranks: u32,
}

impl Share {
    /// The domains of a rank.
    pub fn of(self, rank: u32) -> Range<DomainId> {
        self.first(rank)..self.first(rank + 1)
    }

    fn first(self, rank: u32) -> DomainId {
        (u64::from(rank) * u64::from(self.domains)).div_ceil(u64::from(self.ranks)) as u32
    }

    /// The rank that owns a domain.
    pub fn owner(self, domain: DomainId) -> u32 {
        (u64::from(domain) * u64::from(self.ranks) / u64::from(self.domains)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_has_one_owner_and_blocks_are_even() {
        for domains in 1..40 {
            for ranks in 1..=domains {
                let share = Share { domains, ranks };
                let sizes: Vec<usize> = (0..ranks).map(|rank| share.of(rank).len()).collect();
                assert_eq!(sizes.iter().sum::<usize>(), domains as usize);
                assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
                for rank in 0..ranks {
                    assert!(share.of(rank).all(|domain| share.owner(domain) == rank));
                }
            }
        }
    }
}
