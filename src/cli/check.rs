//! `weir check`: everything that can be wrong is found, nothing runs.

use std::process::ExitCode;

use super::args::CheckOptions;
use super::launch::BAD_INPUT;
use crate::config::{ConfigError, Experiment};
use crate::model::NEVER;
use crate::report::format;
use crate::simulation::Plan;
use crate::topology::{Peer, Topology};

/// Checks an experiment, prints the resolved file and what it will take.
pub fn check(options: &CheckOptions) -> ExitCode {
    match checked(options) {
        Ok(text) => super::print(&text),
        Err(error) => {
            eprintln!("{}", error.render_for_stderr());
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn checked(options: &CheckOptions) -> Result<String, ConfigError> {
    let experiment = Experiment::load(&options.experiment.file, &options.experiment.sets)?;
    let plan = Plan::new(&experiment, None)?;
    let topology = &plan.network().topology;
    let lookahead = match plan.lookahead {
        NEVER => "none (a single domain)".to_string(),
        time => format::simulated(time),
    };
    Ok(format!(
        "{}\n# {}\n# routers    {}\n# endpoints  {}\n# links      {}\n# domains    {} (at most so many ranks)\n\
         # lookahead  {lookahead}\n# memory     about {}, and packets in flight\n",
        experiment.resolved,
        topology.describe(),
        topology.routers(),
        topology.endpoints(),
        links(&**topology),
        topology.domains(),
        format::bytes(expected_memory(&plan)),
    ))
}

/// Links between routers, and of endpoints to routers.
fn links(topology: &dyn Topology) -> u64 {
    let mut ends = 0u64;
    for router in 0..topology.routers() {
        for port in 0..topology.ports(router) {
            if let Peer::Router(..) = topology.peer(router, port) {
                ends += 1;
            }
        }
    }
    ends / 2 + u64::from(topology.endpoints())
}

/// Bytes that the state of all domains takes at the start: one domain is built and taken for all.
fn expected_memory(plan: &Plan) -> u64 {
    plan.domain_memory() * u64::from(plan.network().topology.domains())
}
