//! The resolved experiment: canonical TOML with every default filled in.

use super::sections::application::{ApplicationSection, ProgramConfig};
use super::sections::defaults::Elsewhere;
use super::sections::experiment::{Experiment, RouterConfig};
use super::sections::workload::{DriveConfig, TrafficSection, WorkloadConfig};
use weir_input::ConfigError;
use weir_input::tree::{Member, Node, Value, inline, key};

/// The whole experiment as text. Sections and keys in the order of their types; loading it gives
/// the same text again.
pub(super) fn text(experiment: &Experiment) -> Result<String, ConfigError> {
    let mut text = String::new();
    let mut add = |header: &str, node: &Node| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(header);
        text.push('\n');
        for member in node.members() {
            text.push_str(&format!(
                "{} = {}\n",
                key(&member.key),
                inline(&member.value)
            ));
        }
    };
    add("[topology]", &experiment.topology.written());
    add("[routing]", &experiment.routing.written());
    add("[queueing]", &experiment.queueing.written());
    add("[router]", &Node::written(&experiment.router)?);
    for (kind, router) in &experiment.router_kinds {
        let mut own = Node::written(router)?;
        if let Value::Table(members) = &mut own.value {
            members.retain(|member| {
                RouterConfig::FOR_ALL
                    .iter()
                    .all(|(key, _)| member.key != *key)
            });
        }
        add(&format!("[router.{}]", key(kind)), &own);
    }
    add("[nic]", &Node::written(&experiment.nic)?);
    if let Some(nodes) = &experiment.nodes {
        add("[nodes]", &Node::written(nodes)?);
    }
    add("[congestion]", &experiment.congestion.written());
    for failure in &experiment.failures {
        add("[[failure]]", &Node::written(failure)?);
    }
    for config in &experiment.workloads {
        add("[[workload]]", &workload(config)?);
    }
    add("[run]", &Node::written(&experiment.run)?);
    add("[output]", &Node::written(&experiment.output)?);
    if let Some(cost) = &experiment.cost {
        add("[cost]", &Node::written(cost)?);
    }
    Ok(text)
}

pub(super) fn workload(config: &WorkloadConfig) -> Result<Node, ConfigError> {
    let (mut node, more) = match &config.drive {
        DriveConfig::Pattern(one) => (
            Node::written(&TrafficSection {
                name: Some(config.name.clone()),
                endpoints: config.endpoints.clone(),
                shared: config.shared,
                enabled: config.enabled,
                copies: None,
                start: config.start,
                stop: one.stop,
                load: one.load,
                message: one.message.clone(),
                injection: one.injection,
                pattern: Elsewhere,
            })?,
            vec![("pattern", one.pattern.written())],
        ),
        DriveConfig::Motif(job) => {
            let node = Node::written(&ApplicationSection {
                name: Some(config.name.clone()),
                endpoints: Some(config.endpoints.clone()),
                // A trace gives it.
                tasks: job.tasks.filter(|_| job.program.trace().is_none()),
                placement: None,
                placement_seed: None,
                shared: config.shared,
                enabled: config.enabled,
                copies: None,
                start: config.start,
                repetitions: job.repetitions,
                background: job.background,
                nics: job.nics,
                nic_choice: job.nic_choice,
                compute: job.compute,
                mpi: Elsewhere,
                motif: Elsewhere,
                trace: Elsewhere,
            })?;
            let program = match &job.program {
                ProgramConfig::Motif(motif) => ("motif", motif.written()),
                ProgramConfig::Trace(trace) => ("trace", trace.section.written()),
            };
            (node, vec![("mpi", job.mpi.written()), program])
        }
    };
    if let Value::Table(members) = &mut node.value {
        members.extend(
            more.into_iter()
                .map(|(key, node)| Member::default(key, node)),
        );
    }
    Ok(node)
}
