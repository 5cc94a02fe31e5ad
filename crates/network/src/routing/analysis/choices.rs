//! All decisions of an algorithm at one place of a route.

use rustc_hash::FxHashSet;

use super::script::Script;
use super::{State, TOO_LARGE, Walker, Ways, bytes};
use crate::routing::{Hop, Routing};
use weir_model::Flight;

/// Maximum number of decision sequences of one call of `route`; beyond it the walker gives up.
const MOST_CHOICES: usize = 1 << 20;

impl Walker<'_> {
    /// The ways after every decision sequence at one state, each list once.
    pub(super) fn choices(&mut self, state: State) -> Result<Vec<Ways>, String> {
        let firsts = self.decisions(state, |routing, flight, script| {
            routing.route(flight, script)
        })?;
        if !self.routing.has_alternatives() {
            return Ok(firsts.into_iter().map(|first| vec![first]).collect());
        }
        let (router, in_port, vc, _, source) = state;
        let mut all = Vec::new();
        for (first, flight) in firsts {
            let state = (router, in_port, vc, flight, source);
            // This is called when the packet has to wait, which is later: the loads may differ.
            let lists = self.decisions(state, |routing, flight, script| {
                let mut ways = Vec::new();
                routing.alternatives(flight, first, script, &mut ways);
                ways
            })?;
            for (others, _) in lists {
                let hops: Vec<Hop> = [first].into_iter().chain(others).collect();
                let mut seen = FxHashSet::default();
                if let Some(twice) = hops.iter().find(|&&hop| !seen.insert(hop)) {
                    return Err(format!("names {twice:?} at router {router} twice"));
                }
                let take = |hop: Hop| {
                    let mut flight = flight;
                    self.routing.take(&mut flight, router, hop);
                    (hop, flight)
                };
                all.push(hops.into_iter().map(take).collect());
            }
        }
        Ok(all)
    }

    /// The distinct outcomes of all decision sequences of `decide` at one state, with the route
    /// state.
    fn decisions<R: Clone + Eq + std::hash::Hash>(
        &mut self,
        (router, in_port, _, flight, source): State,
        decide: impl Fn(&dyn Routing, &mut Flight, &mut Script) -> R,
    ) -> Result<Vec<(R, Flight)>, String> {
        let mut outcomes = Vec::new();
        let mut seen = FxHashSet::default();
        let ends = (source, flight.destination);
        let place = (router, in_port);
        let networks = (self.topology, self.routing, self.seen);
        let mut script = Script::new(networks, place, ends, &self.memory);
        let mut done = false;
        for _ in 0..MOST_CHOICES {
            let Some(left) = self.tries.checked_sub(1) else {
                return Err(format!("too many decision sequences in all: {TOO_LARGE}"));
            };
            self.tries = left;
            let mut flight = flight;
            script.rewind();
            let outcome = decide(self.routing, &mut flight, &mut script);
            if let Some(fault) = script.fault.take() {
                return Err(fault);
            }
            if seen.insert((outcome.clone(), bytes(&flight))) {
                outcomes.push((outcome, flight));
            }
            done = !script.advance();
            if done {
                break;
            }
        }
        if !done {
            return Err(format!(
                "more than {MOST_CHOICES} ways to decide at router {router}: {TOO_LARGE}"
            ));
        }
        let (asked, written) = script.end();
        if asked && !self.asks_source {
            self.asks_source = true;
            self.anew += 1;
        }
        if self.memory.write(router, written)? {
            self.anew += 1;
        }
        Ok(outcomes)
    }
}
