//! The experiment file: TOML text in, typed and validated values out.
//! Every error names file, line, value and remedy.
//!
//! `load` reads the `sections` of an experiment and the `files` that they name, after `sets` has
//! applied the changes of the command line. `check` refuses values that do not fit together, and
//! `resolve` writes the experiment with all defaults. Nothing here knows a variant: their names and
//! schemas come with a [`Catalog`].

mod catalog;
mod check;
mod document;
mod files;
mod load;
mod resolve;
mod sections;
mod sets;
#[cfg(test)]
mod tests;

use files::{presets, ready};
use sections::{application, experiment, nodes, schema, workload};

pub use application::{ApplicationConfig, ProgramConfig, TraceConfig};
pub use catalog::Catalog;
pub use document::{Document, element_names};
pub use experiment::{
    AllEndpoints, AllRouters, Attribution, ChosenRouters, CostConfig, Experiment, ForkConfig,
    NicConfig, OutputConfig, RatesConfig, Receivers, RouterConfig, RunConfig, TimelineConfig,
};
pub use nodes::{InsideConfig, NodesConfig};
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
