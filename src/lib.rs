//! weir simulates the interconnects of high-performance computers, and the effect of congestion on
//! the applications that share them.
//!
//! Most people use the program: `weir run FILE --out DIR`. This page is for users who call weir
//! from Rust: to run many experiments in one process, or to add their own scheme, routing or
//! topology.
//!
//! # From a file to its numbers
//!
//! An experiment is TOML ([`config::Document`]). [`simulation::Plan`] is the same, checked and
//! assembled. [`simulation::run`] runs it, here on a single rank ([`engine::Local`]).
//! [`result::Data`] is all that `result.h5` would hold.
//!
//! ```
//! use weir::{catalog::catalog, config::Document, engine, simulation};
//!
//! /// Nobody watches this run, and nobody stops it.
//! struct Unwatched;
//!
//! impl simulation::Observer for Unwatched {
//!     fn progress(&mut self, _: engine::Progress, _ranks: u32) {}
//!     fn stop(&mut self) -> Option<engine::StopReason> {
//!         None
//!     }
//! }
//!
//! let text = r#"
//!     topology = { file = "dragonfly-72" }
//!     routing = { algorithm = "par" }
//!     run = { until = "2 us" }
//!     [[workload]]
//!     name = "uniform"
//!     pattern = { kind = "uniform" }
//!     load = 0.3
//!     message = "4 flits"
//! "#;
//! let document = Document::parse("an example", text, std::path::Path::new(""))?;
//! let experiment = document.experiment(&catalog())?;
//! let plan = simulation::Plan::new(&experiment, None)?;
//! let outcome = simulation::run(&plan, &mut engine::Local, &mut Unwatched)?;
//! let data = outcome.expect("the only rank has the outcome").data;
//! assert!(data.summary.packets_delivered > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Times in results are picoseconds, loads are shares of links, and the same experiment gives the
//! same bits on any number of ranks.
//!
//! # Overview
//!
//! | to | look at |
//! | --- | --- |
//! | change an experiment before it runs | [`config::Document::set`], as `--set` |
//! | read a result that was written | [`result::read()`], [`result::ResultFile`] for columns |
//! | run studies with axes, tables, claims | [`study`] |
//! | run parts of your own | [`registry::Family::add`] to a family of the catalog, then [`cli::main()`]; the traits [`congestion::Rules`], [`routing::Routing`], [`topology::Topology`] |
//! | see what there is | [`catalog::catalog`], as `weir list` |
//! | know how it is built | `docs/design.md`, `docs/model/`; to add a variant to weir itself, `CONTRIBUTING.md` |
// All that is printed goes through cli/process/console.rs, which lets no control character of
// others out.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod cli;

/// For tests of one's own schemes, patterns and motifs.
#[cfg(feature = "testing")]
pub mod testing {
    pub use weir_congestion::testing as schemes;
    pub use weir_workload::patterns::testing as patterns;
    pub use weir_workload::tasks::ideal as motifs;
}

pub use weir_congestion as congestion;
pub use weir_engine as engine;
pub use weir_fabric as fabric;
pub use weir_input as input;
pub use weir_input::registry;
pub use weir_model as model;
pub use weir_network::{failures, nodes, partition, queueing, routing, topology};
pub use weir_report as report;
pub use weir_result as result;
pub use weir_result::explain;
pub use weir_simulation as simulation;
pub use weir_simulation::{catalog, config, forecast};
pub use weir_study as study;
pub use weir_workload as workload;
