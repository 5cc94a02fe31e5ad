use crate::model::{Bandwidth, FlitSize, Rng, Time, unit};
use crate::config::Injection;
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock { rest: f64 }
pub struct Injector { flit_ps: f64, p: f64 }
impl Injector {
    pub fn new(_k: Injection, load: f64, mean_bits: f64, bw: Bandwidth, flit: FlitSize) -> Self {
        Injector { flit_ps: flit.0 as f64 * 1e12 / bw.0 as f64, p: load * flit.0 as f64 / mean_bits }
    }
    pub fn first(&self, c: &mut Clock, rng: &mut Rng, start: Time) -> Time { self.next(c, rng, start) }
    pub fn next(&self, _c: &mut Clock, rng: &mut Rng, now: Time) -> Time {
        let u = 1.0 - unit(rng);
        let gap = 1.0 + (u.ln() / (1.0 - self.p).ln()).floor();
        now + (gap * self.flit_ps).round() as Time
    }
}
