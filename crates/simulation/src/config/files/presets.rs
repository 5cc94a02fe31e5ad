//! Presets: values that are laid under an experiment's own, such as the routers and the routing of
//! another simulator.

use super::file_set::{FileSet, Folder, from_file};
use crate::config::Catalog;
use weir_input::registry::Family;
use weir_input::tree::{Member, Node, Value};
use weir_input::{ConfigError, Section, suggest};
use weir_model::Invalid;

/// The key at the top of an experiment file that names presets.
pub const KEY: &str = "preset";

/// The sections that a preset may have.
const SECTIONS: [&str; 5] = ["routing", "queueing", "router", "nic", "congestion"];

/// The experiment with its presets below its own keys, and without the key that names them.
/// Among several presets the later one wins. If a section chooses a variant, a preset has a table
/// for each variant that it has parameters for (`[routing.ugal]`). Only the table of the chosen
/// variant is used, so that another may be chosen under the same preset.
pub(in crate::config) fn laid_under(
    root: Node,
    folder: &Folder,
    catalog: &Catalog,
) -> Result<Node, ConfigError> {
    let file = Section::new(root, "");
    let mut base = Node::default(Value::Table(Vec::new()));
    for (key, name) in names(&file)? {
        let file_set = FileSet {
            key: &key,
            ready: catalog.presets,
            folder: "presets",
            what: "preset",
            list: "presets",
        };
        let preset = from_file(&file, &name, folder, &file_set)?;
        check(&preset, catalog)?;
        base = base.overlaid(preset);
    }
    let mut root = file.node;
    if let (Value::Table(own), Value::Table(sections)) = (&mut root.value, base.value) {
        own.retain(|member| member.key != KEY);
        for section in sections {
            let family = family(&section.key, catalog);
            lay(own, section, family.as_ref());
        }
    }
    Ok(root)
}

/// The names that are given, each with the path of keys that leads to it.
fn names(file: &Section) -> Result<Vec<(String, String)>, ConfigError> {
    let Some(member) = file.node.get(KEY) else {
        return Ok(Vec::new());
    };
    let name = |key: String, node: &Node| match &node.value {
        Value::String(name) => Ok((key, name.clone())),
        _ => Err(file.refuse(Invalid::new(
            key,
            format!("expected the name of a preset, got {}", node.type_name()),
            "write preset = \"…\" or preset = [\"…\", \"…\"] (see `weir list presets`)",
        ))),
    };
    match &member.value.value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(at, node)| name(format!("{KEY}.{at}"), node))
                .collect()
        }
        _ => Ok(vec![name(KEY.to_string(), &member.value)?]),
    }
}

/// The variants that a section chooses among, if it does.
fn family(section: &str, catalog: &Catalog) -> Option<Family> {
    match section {
        "routing" => Some(catalog.routings.described()),
        "queueing" => Some(catalog.queueing.described()),
        "congestion" => Some(catalog.schemes.described()),
        _ => None,
    }
}

/// Refuses keys that a preset cannot have. Values are checked when they are used.
fn check(preset: &Node, catalog: &Catalog) -> Result<(), ConfigError> {
    for section in preset.members() {
        let Member { key, origin, value } = section;
        if !SECTIONS.contains(&key.as_str()) {
            return Err(ConfigError::at(
                origin,
                format!("a preset has no section `{key}`"),
                suggest(key, "sections", &SECTIONS, '`'),
            ));
        }
        if !matches!(value.value, Value::Table(_)) {
            return Err(ConfigError::at(
                origin,
                format!("{key}: expected a section, got {}", value.type_name()),
                format!("write [{key}] and its keys on the lines below"),
            ));
        }
        if let Some(family) = family(key, catalog) {
            check_variants(section, &family)?;
        }
    }
    Ok(())
}

/// A section that chooses a variant has the key that does so, and tables called by variants.
fn check_variants(section: &Member, family: &Family) -> Result<(), ConfigError> {
    let (name, one) = (&section.key, family.one);
    for Member { key, origin, value } in section.value.members() {
        if key == family.key {
            continue;
        }
        if !matches!(value.value, Value::Table(_)) {
            return Err(ConfigError::at(
                origin,
                format!("{name}.{key}: the parameters of a {one} stand in a table of its name"),
                format!(
                    "write it in [{name}.NAME], where NAME is the {one} that it is a parameter of"
                ),
            ));
        }
        if !family.variants.iter().any(|variant| variant.name == key) {
            let mut names: Vec<&str> = family.variants.iter().map(|one| one.name).collect();
            names.sort_unstable();
            names.dedup();
            return Err(ConfigError::at(
                origin,
                format!("{name}: there is no {one} called {key:?}"),
                suggest(key, family.name, &names, '"'),
            ));
        }
    }
    Ok(())
}

/// Lays a section of a preset under the section of the same name among `own`.
fn lay(own: &mut Vec<Member>, section: Member, family: Option<&Family>) {
    let at = own.iter().position(|member| member.key == section.key);
    let mut below = section.value;
    if let Some(family) = family {
        let chosen = at.and_then(|at| own[at].value.get(family.key));
        below = of_variant(below, chosen, family);
    }
    if below.members().is_empty() {
        return;
    }
    match at {
        None => own.push(Member {
            value: below,
            ..section
        }),
        Some(at) => {
            let above = &mut own[at].value;
            // A value that is no table is refused when the section is read.
            if matches!(above.value, Value::Table(_)) {
                // Errors of the whole section point to the place where the user wrote it.
                let origin = above.origin.clone();
                let node = below.overlaid(above.clone());
                *above = Node { origin, ..node };
            }
        }
    }
}

/// The key that chooses the variant, and the parameters of the variant that is chosen: by the user,
/// or else by the preset.
fn of_variant(section: Node, by_user: Option<&Member>, family: &Family) -> Node {
    let by_preset = section.get(family.key);
    let chosen = by_user.or(by_preset).map(|member| &member.value.value);
    let parameters = match chosen {
        Some(Value::String(name)) => section.get(name).map_or(&[][..], |own| own.value.members()),
        _ => &[],
    };
    let members = by_preset.into_iter().chain(parameters).cloned();
    Node {
        value: Value::Table(members.collect()),
        origin: section.origin,
    }
}
