use crate::config::Message;
use crate::model::{FlitSize, Rng};
pub struct Sizes(u64);
impl Sizes {
    pub fn new(m: &Message, flit: FlitSize, max: u64) -> Self { match m { Message::Fixed(s) => Sizes(s.bits(flit, max)), Message::Mix(v) => Sizes(v[0].0.bits(flit, max)) } }
    pub fn mean_bits(&self) -> f64 { self.0 as f64 }
    pub fn draw(&self, _: &mut Rng) -> u64 { self.0 }
}
