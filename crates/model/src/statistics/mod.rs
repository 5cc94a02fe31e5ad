//! Collections of times for statistics: whole numbers, so that those of several domains are added
//! up in any order.

pub(crate) mod histogram;
pub(crate) mod outstanding;
