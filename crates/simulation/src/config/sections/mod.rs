//! The sections of an experiment file as typed values, with their default values and schemas.

pub(super) mod application;
pub(super) mod defaults;
pub(super) mod experiment;
pub(super) mod nodes;
pub(super) mod schema;
pub(super) mod workload;
