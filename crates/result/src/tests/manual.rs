//! The schema names everything in a file, and the manual describes it.

use super::*;

#[test]
fn the_schema_names_everything_in_the_file() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let stored = read(&path).expect("reads");
    let file = hdf5::File::open(&path).expect("opens");
    // Jobs and endpoints have columns of the same name.
    let mut known = std::collections::BTreeSet::new();
    for group in schema::GROUPS
        .iter()
        .filter(|group| group.path != "/data/scheme")
    {
        let pattern: Vec<_> = group.path.split('/').collect();
        for column in group.columns.iter().flat_map(|part| part.iter()) {
            let found: Vec<_> = stored
                .datasets
                .iter()
                .filter(|entry| {
                    let (at, name) = entry.path.rsplit_once('/').expect("a path");
                    let at: Vec<_> = at.split('/').collect();
                    let here = at.len() == pattern.len()
                        && at
                            .iter()
                            .zip(&pattern)
                            .all(|(a, p)| p.starts_with('<') || a == p);
                    let tail = name.strip_suffix(column.name);
                    here && tail.is_some_and(|t| t.is_empty() || t.ends_with('.'))
                })
                .collect();
            assert!(!found.is_empty(), "{}/{}", group.path, column.name);
            for entry in &found {
                let dataset = file.dataset(&entry.path).expect("opens");
                assert_eq!(
                    hdf::get_text(&dataset, "units").expect("units"),
                    column.units
                );
            }
            known.extend(found.iter().map(|entry| &entry.path));
        }
    }
    let of_scheme = stored
        .datasets
        .iter()
        .filter(|entry| entry.path.starts_with("/data/scheme/"));
    assert_eq!(known.len() + of_scheme.count(), stored.datasets.len());
}

/// The reference part of the manual, made from the schema.
fn reference() -> String {
    let mut text = String::new();
    for group in schema::GROUPS {
        text += &format!("\n### `{}`\n\n{}\n", group.path, group.about);
        let attributes: Vec<_> = group
            .attributes
            .iter()
            .flat_map(|part| part.iter())
            .collect();
        if !attributes.is_empty() {
            text += "\n| attribute | unit | meaning |\n| --- | --- | --- |\n";
        }
        for attribute in attributes {
            let units = if attribute.units.is_empty() {
                "text"
            } else {
                attribute.units
            };
            text += &format!(
                "| `{}` | {units} | {} |\n",
                attribute.name, attribute.long_name
            );
        }
        let columns: Vec<_> = group.columns.iter().flat_map(|part| part.iter()).collect();
        if !columns.is_empty() {
            text += "\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n";
        }
        for part in group.columns {
            let prefix = match part.first().map(|column| column.name) {
                Some(name) if name == schema::SERIES_ENDPOINT.name => "endpoint.<number>.",
                Some(name) if name == JobSeries::COLUMNS[0].name => "job.<name>.",
                Some(name) if name == schema::SERIES_CLASS.name => "class.<name>.",
                Some(name) if name == schema::ROUTER_AXIS.name => "axis.<name>.",
                _ => "",
            };
            for c in part.iter() {
                text += &format!(
                    "| `{prefix}{}` | {} | {} | {} |\n",
                    c.name, c.kind, c.units, c.long_name
                );
            }
        }
    }
    text + "\n"
}

#[test]
fn the_manual_describes_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/result-file.md");
    let manual = fs::read_to_string(path).expect("docs/result-file.md");
    let (start, end) = (
        "<!-- made from crates/result/src/schema/mod.rs -->\n",
        "<!-- end -->",
    );
    let (before, rest) = manual
        .split_once(start)
        .expect("the start of the reference");
    let (found, after) = rest.split_once(end).expect("the end of the reference");
    if found != reference() && std::env::var_os("WEIR_UPDATE_DOCS").is_some() {
        let updated = format!("{before}{start}{}{end}{after}", reference());
        return fs::write(path, updated).expect("writes");
    }
    assert!(
        found == reference(),
        "docs/result-file.md is not up to date; run this test with WEIR_UPDATE_DOCS=1"
    );
}
