//! `weir doc KEY`: all keys of experiment and job files, from the schemas of their sections and
//! variants.

use schemars::schema_for;
use serde_json::{Value as Json, json};

use super::{follow, parameter_rows, wrap};
use weir_input::registry::Family;
use weir_input::{ConfigError, nearest};
use weir_simulation::config::{Catalog, fixed_sections};
use weir_workload::tasks::Mpi;

/// The most keys that are printed whole; of more only the paths.
const MOST: usize = 12;

/// A key and its documentation.
struct Key {
    /// The path in the file, without the numbers of workloads and axes: `workload.pattern.bytes`.
    path: String,
    kind: String,
    default: String,
    meaning: String,
    /// Files, workloads or variants that have it, such as `"dragonfly"`. Empty: every experiment.
    of: Vec<String>,
    /// For variants the key that chooses them: `topology.kind = `.
    choice: String,
}

/// The documentation of keys of experiment and job files.
///
/// `asked` is a path, its end (`input_buffer`), or a word of it. Numbers of workloads are left
/// out: `workload.0.load` is `workload.load`.
///
/// # Errors
/// If no key is called so; the remedy names the nearest.
pub fn doc(catalog: &Catalog, asked: &str) -> Result<String, ConfigError> {
    let steps = asked.split(['.', '[', ']']);
    let steps = steps.filter(|step| !step.is_empty() && step.parse::<u32>().is_err());
    let wanted = steps.collect::<Vec<_>>().join(".");
    let keys = keys(catalog);
    let end = format!(".{wanted}");
    let whole = |key: &&Key| key.path == wanted;
    let ends = |key: &&Key| key.path.ends_with(&end);
    let has = |key: &&Key| !wanted.is_empty() && key.path.contains(&wanted);
    let found = [&whole as &dyn Fn(&&Key) -> bool, &ends, &has];
    let found = found.map(|fits| keys.iter().filter(fits).collect::<Vec<_>>());
    let found = found.into_iter().find(|keys| !keys.is_empty());
    let Some(found) = found else {
        let paths = keys.iter().map(|key| key.path.as_str());
        let names = keys.iter().filter_map(|key| key.path.rsplit('.').next());
        // A name of few letters is near to anything short.
        let names = paths.chain(names).filter(|name| name.len() > 3);
        let remedy = match (value_of(catalog, &wanted), nearest(&wanted, names)) {
            (Some(list), _) => list,
            (None, Some(near)) => format!("did you mean `weir doc {near}`?"),
            (None, None) => {
                "give a path such as router.input_buffer, or a part of one; `weir list` has \
                     all sections"
                    .to_string()
            }
        };
        return Err(ConfigError::new(
            format!("there is no key {asked:?}"),
            remedy,
        ));
    };
    let paths = found.iter().map(|key| format!("  {}\n", key.path));
    let mut paths: Vec<String> = paths.collect();
    paths.dedup();
    if paths.len() > MOST {
        return Ok(format!("{} keys\n{}", paths.len(), paths.concat()));
    }
    Ok(found.into_iter().map(page).collect::<Vec<_>>().join("\n"))
}

/// All about a key.
fn page(key: &Key) -> String {
    let mut text = format!("{}\n{}", key.path, wrap(&key.meaning, "  "));
    text.push_str(&wrap(&format!("Value: {}.", key.kind), "  "));
    text.push_str(&wrap(&format!("Default: {}.", key.default), "  "));
    if !key.of.is_empty() {
        let of = format!("Of {}{}.", key.choice, key.of.join(", "));
        text.push_str(&wrap(&of, "  "));
    }
    text
}

/// Every key, by section. Variants that document a key alike share it.
fn keys(catalog: &Catalog) -> Vec<Key> {
    let mut keys = Keys::default();
    let (sections, definitions) = fixed_sections();
    let root = json!({ "$defs": definitions });
    for (name, schema) in &sections {
        match name.as_str() {
            "job" => keys.add("workload", schema, &root, Some(["", "applications"])),
            "workload" => keys.add(
                "workload",
                schema,
                &root,
                Some(["", "workloads with a pattern"]),
            ),
            name => keys.add(name, schema, &root, None),
        }
    }
    let mpi = schema_for!(Mpi).to_value();
    keys.add("workload.mpi", &mpi, &mpi, Some(["", "applications"]));
    for family in catalog.families() {
        let [table, choice] = place(&family);
        keys.all.push(chooser(&family, format!("{table}.{choice}")));
        for variant in &family.variants {
            let schema = (variant.parameters.schema)().to_value();
            let [choice, name] = [
                format!("{table}.{choice} = "),
                format!("{:?}", variant.name),
            ];
            keys.add(&table, &schema, &schema, Some([&choice, &name]));
        }
    }
    let (study, definitions) = weir_study::schemas();
    let root = json!({ "properties": study, "$defs": definitions });
    keys.add("", &root, &root, Some(["", "job files"]));
    keys.all
}

/// The table that holds a variant of a family, and its key that names the variant.
fn place(family: &Family) -> [String; 2] {
    let section = family.section.trim_matches(['[', ']']);
    let (table, choice) = family.key.rsplit_once('.').unwrap_or(("", family.key));
    let table = [section, table].into_iter().filter(|part| !part.is_empty());
    [table.collect::<Vec<_>>().join("."), choice.to_string()]
}

/// The command that describes the variant with this name, if there is one.
fn value_of(catalog: &Catalog, name: &str) -> Option<String> {
    let mut families = catalog.families().into_iter();
    let family = families.find(|family| family.variants.iter().any(|one| one.name == name))?;
    let [table, choice] = place(&family);
    let list = family.name;
    Some(format!(
        "it is a value of {table}.{choice}: see `weir list {list} {name}`"
    ))
}

/// The key that chooses one of a family.
fn chooser(family: &Family, path: String) -> Key {
    // A routing of the same name may exist for several topologies.
    let mut names: Vec<String> = Vec::new();
    for one in &family.variants {
        let name = format!("{:?}", one.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let default = match family.name {
        "schemes" => "\"none\"",
        "queueing" => "\"voq_sw\"",
        _ => "required",
    };
    Key {
        path,
        kind: format!("one of {}", names.join(", ")),
        default: default.to_string(),
        meaning: format!(
            "The {}: `weir list {}` describes them.",
            family.one, family.name
        ),
        of: Vec::new(),
        choice: String::new(),
    }
}

#[derive(Default)]
struct Keys {
    all: Vec<Key>,
}

impl Keys {
    /// Adds the keys of a table at `path`. `of` has the key that chooses a variant, and its owner.
    fn add(&mut self, path: &str, table: &Json, root: &Json, of: Option<[&str; 2]>) {
        let [choice, of] = of.map_or([None; 2], |both| both.map(Some));
        let start = match path {
            "" => String::new(),
            path => format!("{path}."),
        };
        let mut rows = Vec::new();
        parameter_rows(follow(table, root), root, &start, &mut rows);
        for [path, kind, default, meaning] in rows {
            let path = path.replace("[]", "");
            let same =
                |key: &&mut Key| key.path == path && key.kind == kind && key.default == default;
            let known = self.all.iter_mut().filter(same);
            match known.filter(|key| key.meaning == meaning).last() {
                Some(key) => key.of.extend(of.map(str::to_string)),
                None => self.all.push(Key {
                    path,
                    kind,
                    default,
                    meaning,
                    of: of.map(str::to_string).into_iter().collect(),
                    choice: choice.unwrap_or_default().to_string(),
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_simulation::catalog::catalog;

    fn said(asked: &str) -> String {
        doc(&catalog(), asked).unwrap_or_else(|error| panic!("{asked}: {}", error.message))
    }

    #[test]
    fn a_key_is_found_by_its_path_its_end_and_its_place_in_a_list() {
        let page = said("router.input_buffer");
        assert!(page.starts_with("router.input_buffer\n"), "{page}");
        assert!(page.contains("Default: \"auto\"."), "{page}");
        assert_eq!(said("input_buffer"), page);
        assert_eq!(said("workload.0.load"), said("workload.load"));
        assert_eq!(said("workload[3].load"), said("workload.load"));
        assert!(said("buffer_p").starts_with("router.buffer_per\n"));
        let error = doc(&catalog(), "dal").expect_err("a value is no key");
        let words = "it is a value of routing.algorithm: see `weir list routings dal`";
        assert_eq!(error.remedy(), Some(words));
    }

    #[test]
    fn variants_that_share_a_key_stand_together() {
        let page = said("congestion.max_delay");
        assert!(page.contains("Of congestion.scheme = "), "{page}");
        let page = said("workload.motif.iterations");
        let halos = "workload.motif.kind = \"milc\", \"nearest_neighbor\", \"halo3d26\"";
        assert!(page.contains(halos), "{page}");
        let page = said("axis.values");
        assert!(page.contains("Of job files."), "{page}");
    }

    #[test]
    fn keys_that_choose_have_the_names() {
        let page = said("routing.algorithm");
        assert!(
            page.contains("\"par\"") && page.contains("weir list routings"),
            "{page}"
        );
        assert!(said("scheme").contains("congestion.scheme\n"));
        assert!(said("workload.0.pattern.kind").contains("\"hotspot\""));
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest() {
        let error = doc(&catalog(), "router.imput_buffer").expect_err("unknown");
        let remedy = error.remedy().unwrap_or_default();
        assert!(remedy.contains("weir doc router.input_buffer"), "{remedy}");
        assert!(doc(&catalog(), "0").is_err() && doc(&catalog(), "").is_err());
        let error = doc(&catalog(), "zzz").expect_err("unknown");
        assert!(!error.remedy().unwrap_or_default().contains("did you mean"));
    }

    #[test]
    fn every_key_has_a_meaning() {
        for key in keys(&catalog()) {
            let inner = key.kind.contains("table") || key.kind.starts_with("list");
            assert!(inner || !key.meaning.is_empty(), "{}", key.path);
        }
    }
}
