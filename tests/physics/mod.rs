//! Times, rates and costs that follow from arithmetic or queueing theory.

mod cost;
mod flows;
mod gpcnet;
mod idle;
mod kinds;
mod limits;
mod products;
mod queue;
pub mod rates;
mod schemes;
pub mod time;
