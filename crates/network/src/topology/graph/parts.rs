//! Division of a graph into parts, for groups and domains.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::topology::DOMAIN_PORTS;
use weir_model::{DomainId, RouterId, Time};

/// Parts of a small network at least, if it has routers for them.
const LEAST_PARTS: usize = 8;

/// The part of each router. Parts are joined by the longest links that leave enough of them: events
/// travel between parts no faster than these. They grow one router after the other, always by the
/// router with the most links into the part.
///
/// `weights` has the ports of each router, `links` the links of one to others: the other end and
/// the latency, ps.
pub fn divide<I: Iterator<Item = (RouterId, Time)>>(
    weights: &[usize],
    links: impl Fn(RouterId) -> I,
) -> Vec<DomainId> {
    let routers = weights.len();
    let mut latencies: Vec<Time> = (0..routers as RouterId)
        .flat_map(|r| links(r).map(|(_, l)| l))
        .collect();
    latencies.sort_unstable();
    latencies.dedup();
    // Routers with a shorter link between them stay together.
    let joined = |shorter: Time| {
        let mut unit = vec![u32::MAX; routers];
        let mut count = 0;
        for first in 0..routers as RouterId {
            if unit[first as usize] != u32::MAX {
                continue;
            }
            let mut open = vec![first];
            unit[first as usize] = count;
            while let Some(at) = open.pop() {
                for (other, latency) in links(at) {
                    if latency < shorter && unit[other as usize] == u32::MAX {
                        unit[other as usize] = count;
                        open.push(other);
                    }
                }
            }
            count += 1;
        }
        (unit, count as usize)
    };
    let enough = LEAST_PARTS.min(routers);
    let mut longest = latencies.into_iter().rev().map(joined);
    let Some((unit, units)) = longest.find(|&(_, count)| count >= enough) else {
        return vec![0; routers];
    };
    let mut weight = vec![0; units];
    let mut between: Vec<BTreeMap<u32, usize>> = vec![BTreeMap::new(); units];
    for router in 0..routers {
        let own = unit[router];
        weight[own as usize] += weights[router];
        for (other, _) in links(router as RouterId) {
            let other = unit[other as usize];
            if other != own {
                *between[own as usize].entry(other).or_default() += 1;
            }
        }
    }
    let all: usize = weight.iter().sum();
    let most = (DOMAIN_PORTS as usize).min(all.div_ceil(LEAST_PARTS));
    let part = grown(&weight, &between, most);
    unit.into_iter().map(|unit| part[unit as usize]).collect()
}

/// The part of each unit: parts of `most` weight at most, but of one unit at least.
fn grown(weight: &[usize], between: &[BTreeMap<u32, usize>], most: usize) -> Vec<DomainId> {
    const OPEN: DomainId = DomainId::MAX;
    let mut part = vec![OPEN; weight.len()];
    let mut count = 0;
    for first in 0..weight.len() {
        if part[first] != OPEN {
            continue;
        }
        let (mut held, mut next) = (0, Some(first as u32));
        // Links of units into the part.
        let mut near: BTreeMap<u32, usize> = BTreeMap::new();
        while let Some(unit) = next {
            part[unit as usize] = count;
            held += weight[unit as usize];
            near.remove(&unit);
            for (&other, &links) in &between[unit as usize] {
                if part[other as usize] == OPEN {
                    *near.entry(other).or_default() += links;
                }
            }
            let fits = near
                .iter()
                .filter(|&(&unit, _)| held + weight[unit as usize] <= most);
            let best = fits.max_by_key(|&(&unit, &links)| (links, Reverse(unit)));
            next = best.map(|(&unit, _)| unit);
        }
        count += 1;
    }
    part
}
