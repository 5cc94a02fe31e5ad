//! `result.h5`: the schema in one place, and its writer.

mod results;

pub use results::{
    Data, Job, JobSeries, Messages, Occupancy, Packets, Ports, Run, Scheme, Series, Summary,
};
