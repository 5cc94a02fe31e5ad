//! Fat trees: properties of the networks and of their routings, for random small sizes and for the
//! ready networks.

mod horizontal;
mod networks;
mod planes;
mod ready;
mod refusals;
mod routings;
mod support;
mod xgft;
