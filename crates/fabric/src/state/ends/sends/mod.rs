//! Messages that NICs have to send, the queue pairs that they wait in, and the order of turns.

mod grants;
pub(crate) mod groups;
mod pair_groups;
pub(crate) mod pair_ring;
pub(crate) mod ring_order;
pub(crate) mod send_queues;
