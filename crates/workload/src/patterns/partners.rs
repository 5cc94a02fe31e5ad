//! The shared half of patterns in which every task has at most one partner, always the same.

use super::Pattern;
use super::tasks::Tasks;
use weir_model::{EndpointId, Rng, Time};

/// Task i sends to task `partner(i)`. None: it does not send. No two tasks have the same partner.
pub(super) struct Partners<F> {
    pub tasks: Tasks,
    pub partner: F,
}

impl<F: Fn(u32) -> Option<u32> + Send + Sync> Pattern for Partners<F> {
    fn sends(&self, source: EndpointId) -> bool {
        let task = self.tasks.task(source);
        task.and_then(&self.partner).is_some()
    }

    fn destination(&self, source: EndpointId, _: Time, _: &mut Rng) -> Option<EndpointId> {
        let partner = (self.partner)(self.tasks.task(source)?)?;
        Some(self.tasks.endpoint(partner))
    }

    fn receivers(&self) -> Option<Vec<EndpointId>> {
        let all = 0..self.tasks.count();
        let mut partners: Vec<u32> = all.clone().filter_map(&self.partner).collect();
        if partners.len() == all.len() {
            return None;
        }
        partners.sort_unstable();
        let endpoints = partners.into_iter().map(|task| self.tasks.endpoint(task));
        Some(endpoints.collect())
    }
}
