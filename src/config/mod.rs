//! The experiment file: TOML text in, typed and validated values out. Every error names file, line, value and remedy.
//!
//! `tree` keeps the origin of every key and value; `deserialize` makes typed values of it, and errors that know their
//! place; `load` reads the sections of an experiment, `check` refuses what does not fit together, `resolve` writes the
//! experiment with all defaults. Nothing here knows a variant: their names and schemas come with a [`Catalog`].
//!
//! [`Catalog`]: crate::registry::Catalog

mod application;
mod check;
mod deserialize;
mod document;
mod error;
mod experiment;
mod load;
mod mapping;
mod nearest;
mod presets;
mod printable;
mod ready;
mod resolve;
mod schema;
mod section;
mod sets;
mod shelf;
#[cfg(test)]
mod tests;
mod tree;
mod units;
mod variant_preset;
mod words;
mod workload;

pub use application::{ApplicationConfig, ProgramConfig, TraceConfig};
pub use document::{Document, Given};
pub use error::ConfigError;
pub use experiment::{
    AllEndpoints, Arbitration, Attribution, Backlog, BufferPer, ControlRoutes, CostConfig,
    CreditAt, Discipline, Experiment, NicConfig, NicOrder, OutputConfig, RatesConfig, Receivers,
    RouterConfig, RunConfig, Switching,
};
pub(crate) use nearest::{nearest, suggest};
pub(crate) use presets::KEY as PRESET;
pub use ready::{PRESETS, READY, READY_WORKLOADS};
pub(crate) use resolve::{alternatives, named, reference};
pub(crate) use schema::fixed_sections;
pub use section::Section;
pub use units::{Allowance, Duration, Rate, Size, TimeSpan};
pub use words::{Buffer, OutputQueue, Speedup, Until};
pub use workload::{
    DriveConfig, Endpoints, Injection, Message, PatternConfig, Placement, WorkloadConfig,
};
