//! What NICs have to send: messages, the queue pairs that they wait in, and whose turn it is.

mod grants;
pub(crate) mod groups;
mod pair_groups;
pub(crate) mod pair_ring;
pub(crate) mod ring_order;
pub(crate) mod send_queues;
