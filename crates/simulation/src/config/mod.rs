//! The experiment file: TOML text in, typed and validated values out.
//! Every error names file, line, value and remedy.
//!
//! `tree` keeps the origin of every key and value; `deserialize` makes typed values of it, and
//! errors that know their place; `load` reads the sections of an experiment, `check` refuses values
//! that do not fit together, `resolve` writes the experiment with all defaults. Nothing here knows
//! a variant: their names and schemas come with a [`Catalog`].

mod application;
mod catalog;
mod check;
mod defaults;
mod document;
mod experiment;
mod file_set;
mod load;
mod mapping;
mod presets;
mod ready;
mod resolve;
mod schema;
mod sets;
#[cfg(test)]
mod tests;
mod variant_preset;
mod workload;

pub use application::{ApplicationConfig, ProgramConfig, TraceConfig};
pub use catalog::Catalog;
pub use document::{Document, element_names};
pub use experiment::{
    AllEndpoints, AllRouters, Attribution, ChosenRouters, CostConfig, Experiment, ForkConfig,
    NicConfig, OutputConfig, RatesConfig, Receivers, RouterConfig, RunConfig, TimelineConfig,
};
pub use presets::KEY as PRESET;
pub use ready::{PRESETS, READY, READY_WORKLOADS};
pub use schema::fixed_sections;
pub use workload::{DriveConfig, PatternConfig, WorkloadConfig};

// The parts of the sections, under the names by which programs outside know them.
pub use weir_fabric::{
    Arbitration, Backlog, BufferPer, ControlRoutes, CreditAt, Discipline, NicOrder, Switching,
};
pub use weir_input::{
    Allowance, Buffer, ConfigError, Duration, OutputQueue, Rate, Section, Size, Speedup, TimeSpan,
    Until,
};
pub use weir_workload::open::endpoints::{Endpoints, Placement};
pub use weir_workload::open::injection::Injection;
pub use weir_workload::open::message::Message;
