//! From the text of an experiment file to a checked [`Experiment`].

mod workloads;

use serde::de::DeserializeOwned;

use super::files::file_set::{FileSet, Folder, file_name, from_file, without_file};
use super::files::presets;
use super::files::variant_preset::with_preset;
use super::sections::experiment::{Experiment, NicConfig, OutputConfig, RouterConfig, RunConfig};
use super::{check, resolve};
use crate::config::Catalog;
use weir_input::registry::{Chosen, Family};
use weir_input::tree::{Member, Node, Value};
use weir_input::{ConfigError, Section, suggest};
use weir_model::Invalid;
use weir_network::failures::FailureConfig;
use weir_network::topology;

/// Top-level keys of an experiment file: its sections, and what is laid under them.
pub(super) const SECTIONS: [&str; 14] = [
    presets::KEY,
    "topology",
    "routing",
    "queueing",
    "router",
    "nic",
    "nodes",
    "congestion",
    "failure",
    "workload",
    "run",
    "output",
    "cost",
    "fork",
];

/// Additional keys of a job file: see the room `study`.
pub const STUDY: [&str; 11] = [
    "title",
    "axis",
    "only",
    "exclude",
    "seeds",
    "metrics",
    "criterion",
    "figure",
    "claims",
    "reduced",
    "tune",
];

/// Reads the sections of an experiment, all but `[fork]`. Paths in it are relative to `folder`.
pub(super) fn sections_to_experiment(
    root: Node,
    folder: &Folder,
    catalog: &Catalog,
) -> Result<Experiment, ConfigError> {
    known_sections(&root)?;
    let file = Section::new(presets::laid_under(root, folder, catalog)?, "");
    let topology = topology(&file, folder, catalog)?;
    let routing =
        required(&file, "routing", &catalog.routings)?.choosing_by("algorithm", Some("routings"));
    let queueing = choosing_scheme(&file, "queueing", "voq_sw", "queueing")?;
    let congestion = choosing_scheme(&file, "congestion", "none", "schemes")?;
    let (router, router_kinds) = router(&file)?;
    let experiment = Experiment {
        routing: catalog.routing(routing, &topology)?,
        topology,
        queueing: catalog.queueing.read(queueing)?,
        router,
        router_kinds,
        nic: section(&file, "nic")?.parse::<NicConfig>()?,
        nodes: optional(&file, "nodes")?,
        congestion: (catalog.schemes).read(with_preset(congestion, &catalog.schemes)?)?,
        failures: failures(&file)?,
        workloads: workloads::read(&file, folder, catalog)?,
        run: run(&file)?,
        output: section(&file, "output")?.parse::<OutputConfig>()?,
        cost: optional(&file, "cost")?,
        fork: None,
        resolved: String::new(),
        file,
    };
    check::values(&experiment)?;
    let resolved = resolve::text(&experiment)?;
    Ok(Experiment {
        resolved,
        ..experiment
    })
}

fn known_sections(root: &Node) -> Result<(), ConfigError> {
    for member in root.members() {
        if STUDY.contains(&member.key.as_str()) {
            return Err(ConfigError::at(
                &member.origin,
                format!("`{}` makes this a job file, of many runs", member.key),
                match member.key.as_str() {
                    "tune" => "`weir tune FILE --out DIR` searches its parameters",
                    _ => {
                        "`weir sweep plan FILE` shows its points, `weir sweep run FILE --out DIR` \
                         runs them"
                    }
                },
            ));
        }
        if member.key == "kind" {
            return Err(ConfigError::at(
                &member.origin,
                "`kind` at the top makes this the file of a network, and no experiment",
                "name it in an experiment: [topology] with file = \"PATH\"",
            ));
        }
    }
    known_names(root)
}

/// Refuses a name at the top that neither an experiment nor a job file has.
pub(super) fn known_names(root: &Node) -> Result<(), ConfigError> {
    let names: Vec<&str> = SECTIONS.into_iter().chain(STUDY).collect();
    let known = |member: &&Member| names.contains(&member.key.as_str()) || member.key == "kind";
    match root.members().iter().find(|member| !known(member)) {
        None => Ok(()),
        Some(member) => Err(ConfigError::at(
            &member.origin,
            format!("unknown section `{}`", member.key),
            suggest(&member.key, "sections", &names, '`'),
        )),
    }
}

/// The section called `name`; None if it is not in the file.
fn optional<T: DeserializeOwned + Clone + 'static>(
    file: &Section,
    name: &str,
) -> Result<Option<T>, ConfigError> {
    match file.has(name) {
        true => section(file, name)?.parse().map(Some),
        false => Ok(None),
    }
}

/// The section called `name`; empty if it is not in the file.
fn section(file: &Section, name: &str) -> Result<Section, ConfigError> {
    let node = match file.node.get(name) {
        Some(member) => member.value.clone(),
        None => Node {
            value: Value::Table(Vec::new()),
            origin: file.node.origin.clone(),
        },
    };
    if !matches!(node.value, Value::Table(_)) {
        return Err(file.refuse(Invalid::new(
            name,
            format!("expected a section, got {}", node.type_name()),
            format!("write [{name}] and its keys on the lines below"),
        )));
    }
    Ok(Section::new(node, name))
}

fn required<F>(file: &Section, name: &str, family: &Family<F>) -> Result<Section, ConfigError> {
    if file.node.get(name).is_none() {
        return Err(file.refuse(Invalid::new(
            "",
            format!("the section [{name}] is missing"),
            format!(
                "add [{name}] with {} = \"…\" (see `weir list {}`)",
                family.key, family.name
            ),
        )));
    }
    section(file, name)
}

/// `[router]`, and its tables with the differences of a kind of routers.
/// An obsolete key is refused.
fn router(file: &Section) -> Result<(RouterConfig, Vec<(String, RouterConfig)>), ConfigError> {
    let mut section = section(file, "router")?;
    if let Some(old) = section.node.get("voq") {
        return Err(ConfigError::at(
            &old.origin,
            section.about("voq", "this is chosen by [queueing] now"),
            "write [queueing] with scheme = \"voq_sw\" for voq = true (the default), or scheme = \
             \"single\" for voq = false",
        ));
    }
    let mut tables = Vec::new();
    if let Value::Table(members) = &mut section.node.value {
        let is_table = |member: &mut Member| matches!(member.value.value, Value::Table(_));
        tables.extend(members.extract_if(.., is_table));
    }
    let base = section.parse()?;
    let kinds = tables.into_iter().map(|Member { key, value, .. }| {
        for (name, why) in RouterConfig::FOR_ALL {
            if let Some(given) = value.get(name) {
                return Err(ConfigError::at(
                    &given.origin,
                    section.about(&format!("{key}.{name}"), why),
                    "write it in [router]",
                ));
            }
        }
        let own = section.node.clone().overlaid(value);
        let own = Section::new(own, format!("router.{key}")).parse()?;
        Ok((key, own))
    });
    Ok((base, kinds.collect::<Result<_, _>>()?))
}

/// The section called `name`, which chooses a variant by its `scheme`, and `default` if there is no
/// such key. `list` is the name of the variants in `weir list`.
fn choosing_scheme(
    file: &Section,
    name: &str,
    default: &str,
    list: &'static str,
) -> Result<Section, ConfigError> {
    let mut section = section(file, name)?;
    let given = section.node.get("scheme").is_some();
    if let Value::Table(members) = &mut section.node.value
        && !given
    {
        let default = Node::default(Value::String(default.into()));
        members.push(Member::default("scheme", default));
    }
    Ok(section.choosing_by("scheme", Some(list)))
}

fn run(file: &Section) -> Result<RunConfig, ConfigError> {
    if file.node.get("run").is_none() {
        return Err(file.refuse(Invalid::new(
            "",
            "the section [run] is missing",
            "add [run] with until = \"500 us\" or another time, or until = \"completion\"",
        )));
    }
    section(file, "run")?.parse()
}

/// `[topology]` with the keys of its `file` below its own.
fn topology(
    file: &Section,
    folder: &Folder,
    catalog: &Catalog,
) -> Result<Chosen<topology::Build>, ConfigError> {
    let mut section = required(file, "topology", &catalog.topologies)?;
    let inline = section.node.clone();
    if let Some(name) = file_name(&section)? {
        let file_set = FileSet {
            key: "file",
            ready: catalog.ready,
            folder: "topologies",
            what: "ready network",
            list: "topologies",
        };
        let base = from_file(&section, &name, folder, &file_set)?;
        if let (Some(own), Some(theirs)) = (inline.get("kind"), base.get("kind"))
            && !same_text(&own.value, &theirs.value)
        {
            return Err(section.refuse(Invalid::new(
                "kind",
                format!("differs from the kind in the file {name:?}"),
                "remove `kind`, or remove `file` and give all keys here",
            )));
        }
        section.node = base.overlaid(without_file(section.node));
    }
    let section = section.choosing_by("kind", Some("topologies"));
    if section.node.get("kind").is_none()
        && let Some(error) = section.misspelt("file")
    {
        return Err(error);
    }
    (catalog.topologies).read(section)
}

fn same_text(a: &Node, b: &Node) -> bool {
    matches!((&a.value, &b.value), (Value::String(a), Value::String(b)) if a == b)
}

/// Every `[[failure]]`.
fn failures(file: &Section) -> Result<Vec<FailureConfig>, ConfigError> {
    let items = match file.node.get("failure").map(|member| &member.value) {
        None => return Ok(Vec::new()),
        Some(Node {
            value: Value::Array(items),
            ..
        }) => items,
        Some(other) => {
            return Err(file.refuse(Invalid::new(
                "failure",
                format!("expected a list of failures, got {}", other.type_name()),
                "write [[failure]] and its keys on the lines below, once for every failure",
            )));
        }
    };
    let sections = items.iter().enumerate();
    let sections = sections.map(|(at, one)| Section::new(one.clone(), format!("failure.{at}")));
    sections.map(|section| section.parse()).collect()
}
