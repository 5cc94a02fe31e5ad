//! `[[workload]]`: patterns and applications.

use std::path::Path;

use crate::config::files::file_set::{FileSet, Folder, file_name, from_file, without_file};
use crate::config::files::mapping;
use crate::config::sections::application::{
    self, ApplicationConfig, ApplicationSection, ProgramConfig, with_kind,
};
use crate::config::sections::workload::{
    DriveConfig, PatternConfig, TrafficSection, WorkloadConfig,
};
use crate::config::sets::copy_name;
use crate::config::{Catalog, check};
use weir_input::tree::{Node, Value};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// The most workloads, copies included: packets carry the number of theirs in 16 bits.
const MOST_WORKLOADS: usize = u16::MAX as usize;

/// Every `[[workload]]`.
pub(super) fn read(
    file: &Section,
    folder: &Folder,
    catalog: &Catalog,
) -> Result<Vec<WorkloadConfig>, ConfigError> {
    let how = "write [[workload]] and its keys on the lines below, once for every workload";
    let items = match file.node.get("workload").map(|member| &member.value) {
        Some(Node {
            value: Value::Array(items),
            ..
        }) if !items.is_empty() => items,
        None
        | Some(Node {
            value: Value::Array(_),
            ..
        }) => {
            return Err(file.refuse(Invalid::new("", "there is no [[workload]]", how)));
        }
        Some(other) => {
            return Err(file.refuse(Invalid::new(
                "workload",
                format!("expected a list of workloads, got {}", other.type_name()),
                how,
            )));
        }
    };
    let mut all = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let mut own = workload(index, node, folder, catalog)?;
        let count = all.len() + own.len();
        if count > MOST_WORKLOADS {
            let path = format!("workload.{index}");
            return Err(Section::new(node.clone(), path).refuse(Invalid::new(
                "copies",
                format!("these are {count} workloads with those above"),
                format!("at most {MOST_WORKLOADS} are possible: write fewer copies"),
            )));
        }
        all.append(&mut own);
    }
    Ok(all)
}

fn workload(
    index: usize,
    node: &Node,
    folder: &Folder,
    catalog: &Catalog,
) -> Result<Vec<WorkloadConfig>, ConfigError> {
    let path = format!("workload.{index}");
    let mut section = Section::new(with_kind(node.clone()), &path);
    if let Some(name) = file_name(&section)? {
        let file_set = FileSet {
            key: "file",
            ready: catalog.ready_workloads,
            folder: "workloads",
            what: "ready application",
            list: "motifs",
        };
        let base = from_file(&section, &name, folder, &file_set)?;
        // Errors of the whole section point to the place where the user wrote it.
        let origin = section.node.origin.clone();
        let node = with_kind(base).overlaid(without_file(section.node));
        section = Section::new(Node { origin, ..node }, &path);
    }
    let section = mapping::inlined(section, &path, folder)?;
    let copies = copies(&section)?;
    let is_application = ["motif", "trace"].map(|key| section.node.get(key).is_some());
    of_one_sort(&section, is_application.contains(&true))?;
    let one = match is_application {
        [false, false] => open_loop(index, section, &path, catalog),
        _ => application(index, section, &path, folder.path(), catalog),
    }?;
    let Some(copies) = copies else {
        return Ok(vec![one]);
    };
    let copy = |number| WorkloadConfig {
        name: copy_name(&one.name, number),
        ..one.clone()
    };
    Ok((0..copies).map(copy).collect())
}

/// Keys of applications alone, and of other traffic alone.
const OF_APPLICATIONS: [&str; 9] = [
    "tasks",
    "placement",
    "placement_seed",
    "repetitions",
    "background",
    "nics",
    "nic_choice",
    "compute",
    "mpi",
];
const OF_PATTERNS: [&str; 5] = ["pattern", "load", "message", "injection", "stop"];

/// Checks that a workload has no key of the other sort of workloads.
fn of_one_sort(section: &Section, application: bool) -> Result<(), ConfigError> {
    let (others, whose, remedy) = match application {
        true => (
            &OF_PATTERNS[..],
            "traffic with a `pattern`",
            "remove it, or remove `motif` and `trace`",
        ),
        false => (
            &OF_APPLICATIONS[..],
            "applications",
            "remove it, or say what its tasks do: `motif` or `trace` (see `weir list motifs`)",
        ),
    };
    match others.iter().find(|key| section.node.get(key).is_some()) {
        Some(key) => Err(section.refuse(Invalid::new(
            *key,
            format!("this is a key of {whose}"),
            remedy,
        ))),
        None => Ok(()),
    }
}

/// Number of copies of a workload; None if it is not given.
fn copies(section: &Section) -> Result<Option<u32>, ConfigError> {
    let Some(member) = section.node.get("copies") else {
        return Ok(None);
    };
    match member.value.value {
        Value::Integer(count) if (1..=MOST_WORKLOADS as i64).contains(&count) => {
            Ok(Some(count as u32))
        }
        _ => Err(section.refuse(Invalid::new(
            "copies",
            "this is no number of copies",
            format!("write a whole number from 1 to {MOST_WORKLOADS}"),
        ))),
    }
}

fn application(
    index: usize,
    section: Section,
    path: &str,
    folder: &Path,
    catalog: &Catalog,
) -> Result<WorkloadConfig, ConfigError> {
    let given: ApplicationSection = section.parse()?;
    check::name(&section, given.name.as_deref())?;
    let program = match section.node.get("trace") {
        Some(_) => ProgramConfig::Trace(application::trace(&section, path, folder, catalog)?),
        None => ProgramConfig::Motif(application::motif(&section, path, catalog)?),
    };
    let recorded = program.trace().map(|trace| trace.tasks());
    let endpoints = given.place(&section, recorded)?;
    check::endpoints(&section, &endpoints)?;
    check::nic_choice(&section, given.nics)?;
    Ok(WorkloadConfig {
        endpoints,
        name: given.name.unwrap_or_else(|| format!("workload{index}")),
        shared: given.shared,
        enabled: given.enabled,
        start: given.start,
        drive: DriveConfig::Motif(ApplicationConfig {
            program,
            tasks: given.tasks.or(recorded),
            repetitions: given.repetitions,
            background: given.background,
            nics: given.nics,
            nic_choice: given.nic_choice,
            compute: given.compute,
            mpi: application::mpi(&section, path)?,
        }),
        section,
    })
}

fn open_loop(
    index: usize,
    section: Section,
    path: &str,
    catalog: &Catalog,
) -> Result<WorkloadConfig, ConfigError> {
    let given: TrafficSection = section.parse()?;
    let pattern = match section.node.get("pattern") {
        Some(member) if matches!(member.value.value, Value::Table(_)) => member.value.clone(),
        _ => {
            return Err(section.refuse(Invalid::new(
                "pattern",
                "expected a table",
                "write pattern = { kind = \"…\" } (see `weir list patterns`)",
            )));
        }
    };
    check::workload(&section, &given)?;
    let pattern =
        Section::new(pattern, format!("{path}.pattern")).choosing_by("kind", Some("patterns"));
    Ok(WorkloadConfig {
        name: given.name.unwrap_or_else(|| format!("workload{index}")),
        endpoints: given.endpoints,
        shared: given.shared,
        enabled: given.enabled,
        start: given.start,
        drive: DriveConfig::Pattern(PatternConfig {
            stop: given.stop,
            load: given.load,
            message: given.message.normalised(),
            injection: given.injection,
            pattern: catalog.patterns.read(pattern)?,
        }),
        section,
    })
}
