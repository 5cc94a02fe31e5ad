//! Everything in the catalog, by the examples of its entries and by chance, and variants from
//! outside.

pub mod attack;
pub mod catalog;
mod conservation;
mod extremes;
mod own_routings;
mod own_schemes;
