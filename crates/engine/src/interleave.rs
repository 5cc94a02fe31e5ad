//! Runs domains event by event, for mail that takes effect within a window.

use super::Domain;
use super::post_office::PostOffice;
use weir_model::{NEVER, Time};

/// Mail that takes effect sooner than a window ends. Then the domains, all on one rank, run in the
/// global order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interleaving {
    /// The least delay of such mail, ps; may be 0.
    pub delay: Time,
    /// Such mail makes its receiver send such mail no sooner than this, ps; at least 1.
    pub reaction: Time,
}

/// Runs all domains up to `until`: always the one whose next event comes first, as far as no other
/// one can reach it.
pub(super) fn interleave<D: Domain>(
    post: &mut PostOffice<D::Mail>,
    domains: &mut [D],
    until: Time,
    interleaving: Interleaving,
) -> Result<(), D::Error> {
    let mut next: Vec<Time> = domains.iter().map(Domain::next_time).collect();
    loop {
        let (at, first, second) = earliest_two(&next);
        if first >= until {
            break;
        }
        // Earliest arrival here of actions of the other domains, and of their answers to signals of
        // this one.
        let answer = first
            .saturating_add(interleaving.delay)
            .saturating_add(interleaving.reaction);
        let reached = second.min(answer).saturating_add(interleaving.delay);
        domains[at].advance(reached.max(first + 1).min(until))?;
        next[at] = domains[at].next_time();
        while let Some(neighbour) = domains[at].urgent() {
            let receiver = post.pass_on(domains, at, neighbour);
            next[receiver] = domains[receiver].next_time();
        }
    }
    // Samples up to the end of the window, after the last event.
    for domain in domains {
        domain.advance(until)?;
    }
    Ok(())
}

/// The place of the least time, the first of several; that time, and the least of the others.
fn earliest_two(times: &[Time]) -> (usize, Time, Time) {
    let (mut at, mut first, mut second) = (0, NEVER, NEVER);
    for (place, &time) in times.iter().enumerate() {
        if time < first {
            second = first;
            (at, first) = (place, time);
        } else if time < second {
            second = time;
        }
    }
    (at, first, second)
}
