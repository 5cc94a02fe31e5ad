//! Fat trees: what is promised of the networks and of the routings in them, for random small sizes
//! and for the ready networks.

mod horizontal;
mod networks;
mod ready;
mod refusals;
mod routings;
mod support;
