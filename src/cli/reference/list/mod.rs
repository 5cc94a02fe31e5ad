//! `weir list`: the names that an experiment file may use, from the declarations of the variants'
//! own files, and the files that come with weir.

mod keys;
mod sections;

pub use keys::doc;
pub use sections::SECTIONS;

use serde_json::{Map, Value as Json, json};

use weir_input::registry::range::Range;
use weir_input::registry::{Family, Variant, schema_json};
use weir_input::schema::{alternatives, reference};
use weir_input::{ConfigError, nearest, suggest};
use weir_report::format::broken;
use weir_simulation::config::{Catalog, PRESET};

/// Width of the text.
const WIDTH: usize = 100;

/// A longer type is shown in the column of the meaning.
const WIDEST_TYPE: usize = 28;

/// Name of presets here: they are no family, for they choose no variant.
const PRESETS: &str = "presets";

/// The text that `weir list [WHAT] [NAME]` prints.
///
/// Without `what`: all families, and presets. Without `name`: a table of the family. Else all about
/// one variant, ready network or preset.
///
/// # Errors
/// If there is no such family or variant; the remedy names the nearest.
pub fn list(
    catalog: &Catalog,
    what: Option<&str>,
    name: Option<&str>,
) -> Result<String, ConfigError> {
    let families = catalog.families();
    let Some(what) = what else {
        let tables = families.iter().map(|family| table(family, catalog));
        let others = [presets(catalog), sections::table()];
        let tables: Vec<String> = tables.chain(others).collect();
        return Ok(tables.join("\n"));
    };
    if what == PRESETS || what == PRESET {
        return name.map_or_else(|| Ok(presets(catalog)), |name| preset(catalog, name));
    }
    if what == sections::METRICS && name.is_none() {
        return Ok(sections::metrics());
    }
    if name.is_none()
        && let Some(page) = sections::section(what)
    {
        return Ok(page);
    }
    let chosen = families.into_iter().find(|family| {
        let section = family.section.trim_matches(['[', ']']);
        family.name == what || family.one == what || section == what
    });
    let Some(family) = chosen else {
        return match name {
            None => anywhere(catalog, what),
            Some(name) => anywhere(catalog, what).and_then(|_| {
                Err(ConfigError::new(
                    format!("{what:?} is no list in which {name:?} could be"),
                    format!("see `weir list {what}`"),
                ))
            }),
        };
    };
    let Some(name) = name else {
        return Ok(table(&family, catalog));
    };
    // A routing of the same name may be there for several topologies.
    let pages = family.variants.iter().filter(|v| v.name == name);
    let pages: Vec<String> = pages.map(|variant| details(&family, variant)).collect();
    if !pages.is_empty() {
        return Ok(pages.join("\n"));
    }
    let ready = ready(&family, catalog);
    if let Some((_, text)) = ready.iter().find(|(ready, _)| *ready == name) {
        return Ok(format!("# {} file = \"{name}\"\n{text}", family.section));
    }
    let mut names: Vec<&str> = family.variants.iter().map(|v| v.name).collect();
    names.extend(ready.iter().map(|(name, _)| *name));
    Err(unknown(family.one, family.name, name, &names))
}

/// Everything with a name, in any family.
fn anywhere(catalog: &Catalog, name: &str) -> Result<String, ConfigError> {
    let mut pages = Vec::new();
    for family in catalog.families() {
        let own = family.variants.iter().filter(|v| v.name == name);
        pages.extend(own.map(|variant| details(&family, variant)));
        if ready(&family, catalog)
            .iter()
            .any(|(ready, _)| *ready == name)
        {
            pages.push(list(catalog, Some(family.name), Some(name))?);
        }
    }
    if catalog.presets.iter().any(|(preset, _)| *preset == name) {
        pages.push(preset(catalog, name)?);
    }
    match pages.is_empty() {
        true => Err(nothing(catalog, name)),
        false => Ok(pages.join("\n")),
    }
}

/// The error that neither a family nor anything in one is called so.
fn nothing(catalog: &Catalog, what: &str) -> ConfigError {
    let families = catalog.families();
    let names = families.iter().map(|family| family.name);
    let own = sections::SECTIONS.iter().map(|[name, ..]| *name);
    let names = names.chain([PRESETS, sections::METRICS]).chain(own);
    let names: Vec<&str> = names.collect();
    let variants = families.iter().flat_map(|family| &family.variants);
    let files = [catalog.ready, catalog.ready_workloads, catalog.presets].concat();
    let own = variants.map(|variant| variant.name);
    let own = own.chain(files.into_iter().map(|(name, _)| name));
    let near = nearest(what, names.iter().copied().chain(own));
    ConfigError::new(
        format!("there is nothing called {what:?} to list"),
        match near {
            Some(near) if !names.contains(&near) => format!("did you mean {near:?}?"),
            _ => suggest(what, "names", &names, '"'),
        },
    )
}

/// Everything: families with their variants and the JSON Schemas of their parameters, and the files
/// that come with weir.
pub fn json(catalog: &Catalog) -> Json {
    let texts = |files: &[(&str, &str)]| -> Json {
        let texts = files.iter();
        let texts = texts.map(|(name, text)| json!({ "name": name, "toml": text }));
        texts.collect()
    };
    let family = |family: Family| {
        let variants = family.variants.iter().map(|variant| {
            json!({
                "name": variant.name,
                "summary": variant.summary,
                "source": variant.source,
                "topologies": variant.topologies,
                "parameters": *schema_json(variant.parameters),
            })
        });
        let all = json!({
            "section": family.section,
            "key": family.key,
            "variants": variants.collect::<Json>(),
            "ready": texts(ready(&family, catalog)),
        });
        (family.name.to_string(), all)
    };
    let mut all: Map<String, Json> = catalog.families().into_iter().map(family).collect();
    all.insert(PRESETS.into(), texts(catalog.presets));
    Json::Object(all)
}

/// The error that there is no `one` of that name.
fn unknown(one: &str, all: &str, name: &str, names: &[&str]) -> ConfigError {
    ConfigError::new(
        format!("there is no {one} called {name:?}"),
        suggest(name, all, names, '"'),
    )
}

/// The presets: names and summaries.
fn presets(catalog: &Catalog) -> String {
    format!(
        "{PRESETS} ({PRESET} = \"…\" at the top of the file)\n{}",
        rows_of(&files(catalog.presets))
    )
}

/// The text of one preset.
fn preset(catalog: &Catalog, name: &str) -> Result<String, ConfigError> {
    let found = catalog.presets.iter().find(|(one, _)| *one == name);
    let (_, text) = found.ok_or_else(|| {
        let names: Vec<&str> = catalog.presets.iter().map(|(name, _)| *name).collect();
        unknown(PRESET, PRESETS, name, &names)
    })?;
    Ok(format!("# {PRESET} = \"{name}\"\n{text}"))
}

/// Files that come with weir: names and first sentences.
fn files(files: &[(&str, &str)]) -> Vec<[String; 2]> {
    let rows = files.iter();
    rows.map(|(name, toml)| [name.to_string(), first_comment(toml)])
        .collect()
}

/// The ready files of a family: networks, applications.
fn ready(family: &Family, catalog: &Catalog) -> &'static [(&'static str, &'static str)] {
    if family.name == catalog.topologies.name {
        catalog.ready
    } else if family.name == catalog.motifs.name {
        catalog.ready_workloads
    } else {
        &[]
    }
}

/// A family: names and summaries.
fn table(family: &Family, catalog: &Catalog) -> String {
    let mut text = format!(
        "{} ({} {} = \"…\")\n",
        family.name, family.section, family.key
    );
    if family.variants.is_empty() {
        text.push_str(&format!("  There are no {} yet.\n", family.name));
    }
    // Those for the same topologies stand together.
    for own in family
        .variants
        .chunk_by(|a, b| a.topologies == b.topologies)
    {
        if let [first, ..] = own
            && !first.topologies.is_empty()
        {
            text.push_str(&format!(" for {}\n", first.topologies.join(", ")));
        }
        let row = |variant: &Variant| [variant.name.to_string(), variant.summary.to_string()];
        text.push_str(&rows_of(&own.iter().map(row).collect::<Vec<_>>()));
    }
    let ready = ready(family, catalog);
    if !ready.is_empty() {
        text.push_str(&format!(
            "ready {} ({} file = \"…\")\n",
            if family.name == catalog.topologies.name {
                "networks"
            } else {
                "applications"
            },
            family.section
        ));
        text.push_str(&rows_of(&files(ready)));
    }
    text
}

/// The first sentence of the comment that a file begins with.
fn first_comment(toml: &str) -> String {
    let comment = toml.lines().map_while(|line| line.strip_prefix('#'));
    let words: Vec<&str> = comment.flat_map(str::split_whitespace).collect();
    let text = words.join(" ");
    match text.find(". ") {
        Some(end) => text[..=end].to_string(),
        None => text,
    }
}

/// All about one variant.
fn details(family: &Family, variant: &Variant) -> String {
    let schema = (variant.parameters.schema)().to_value();
    let mut text = format!("{} {}\n\n", family.one, variant.name);
    text.push_str(&wrap(variant.summary, "  "));
    text.push_str(&wrap(&format!("Source: {}", variant.source), "  "));
    if !variant.topologies.is_empty() {
        let topologies = variant.topologies.join(", ");
        text.push_str(&wrap(&format!("For topologies: {topologies}"), "  "));
    }
    text.push_str(&format!(
        "\n  {} {} = {:?}\n",
        family.section, family.key, variant.name
    ));
    let mut rows = vec![["key", "type", "default", "meaning"].map(String::from)];
    parameter_rows(&schema, &schema, "", &mut rows);
    if rows.len() == 1 {
        text.push_str("  It has no parameters.\n");
    } else {
        text.push('\n');
        text.push_str(&rows_of(&rows));
    }
    text.push_str(&settings(variant));
    text.push_str(&ranges(variant));
    text.push_str(&notation(&schema));
    text
}

/// Operators and functions of its expressions.
fn notation(schema: &Json) -> String {
    let pair = |row: &Json| [0, 1].map(|at| row[at].as_str().unwrap_or_default().to_string());
    let rows = schema["x-notation"].as_array().into_iter().flatten();
    let rows: Vec<[String; 2]> = rows.map(pair).collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("\n  expressions\n{}", rows_of(&rows)),
    }
}

/// Its named settings.
fn settings(variant: &Variant) -> String {
    let presets = variant.presets();
    if presets.is_empty() {
        return String::new();
    }
    let head = ["preset", "values", "whose"].map(String::from);
    let rows = presets
        .into_iter()
        .map(|one| [one.name, one.values, one.summary]);
    let rows: Vec<[String; 3]> = std::iter::once(head).chain(rows).collect();
    format!("\n{}", rows_of(&rows))
}

/// Ranges that `weir tune` searches.
fn ranges(variant: &Variant) -> String {
    let head = ["tuned", "from", "to", "scales with"].map(String::from);
    let row = |(key, range): (String, Range<String>)| match range {
        Range::Numbers { from, to, of } => {
            let number = |number: f64| format!("{number}{}", of.unit());
            let with = of.scales_with().unwrap_or("nothing").to_string();
            [key, number(from), number(to), with]
        }
        Range::Fixed(why) => [key, "-".into(), "-".into(), format!("not tuned: {why}")],
    };
    let rows: Vec<[String; 4]> = variant.ranges().into_iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    format!("\n{}", rows_of(&rows))
}

/// One row per parameter; the parameters of an inner table follow it with their path.
fn parameter_rows(schema: &Json, root: &Json, path: &str, rows: &mut Vec<[String; 4]>) {
    let required = schema["required"].as_array();
    let is_required = |key: &str| required.is_some_and(|all| all.iter().any(|k| k == key));
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        let default = match &property["default"] {
            Json::Null if is_required(key) => "required".to_string(),
            Json::Null => "none".to_string(),
            Json::Object(_) => "see below".to_string(),
            value => value.to_string(),
        };
        let inner = follow(property, root);
        let item = follow(&inner["items"], root);
        let documentation = [property, inner, item]
            .into_iter()
            .find_map(|schema| schema["description"].as_str())
            .unwrap_or_default();
        let words: Vec<&str> = documentation.split_whitespace().collect();
        let (kind, words) = match type_of(property, root) {
            // Many words would make a column as wide as the page.
            long if long.len() > WIDEST_TYPE => (
                "one of".into(),
                format!("{} One of: {long}.", words.join(" ")),
            ),
            kind => (kind, words.join(" ")),
        };
        rows.push([path.clone(), kind, default, words]);
        match item["properties"].is_object() {
            true => parameter_rows(item, root, &format!("{path}[]."), rows),
            false => parameter_rows(inner, root, &format!("{path}."), rows),
        }
    }
}

/// A schema with its reference followed, also that of an `Option`.
fn follow<'a>(schema: &'a Json, root: &'a Json) -> &'a Json {
    if let Some(name) = reference(schema) {
        return &root["$defs"][name];
    }
    match alternatives(schema).as_slice() {
        [one, null] if null["type"] == "null" => follow(one, root),
        _ => schema,
    }
}

/// The type of a parameter in the user's words.
fn type_of(schema: &Json, root: &Json) -> String {
    match reference(schema) {
        Some("Duration" | "TimeSpan") => return "time".into(),
        Some("Rate") => return "bandwidth".into(),
        Some("Size" | "Allowance") => return "amount of data".into(),
        Some(name) => return type_of(&root["$defs"][name], root),
        None => {}
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().filter(|value| !value.is_null());
        return values.map(Json::to_string).collect::<Vec<_>>().join(" | ");
    }
    let alternatives = alternatives(schema);
    if !alternatives.is_empty() {
        let some = alternatives.iter().filter(|s| s["type"] != "null");
        return some
            .map(|s| type_of(s, root))
            .collect::<Vec<_>>()
            .join(" | ");
    }
    let name = |name: &str| match name {
        "integer" => "whole number".to_string(),
        "boolean" => "true | false".to_string(),
        "string" => "text".to_string(),
        "object" => "table".to_string(),
        "array" => format!("list of {}", type_of(&schema["items"], root)),
        other => other.to_string(),
    };
    match &schema["type"] {
        Json::String(one) => name(one),
        Json::Array(several) => {
            let some = several
                .iter()
                .filter_map(Json::as_str)
                .filter(|one| *one != "null");
            some.map(name).collect::<Vec<_>>().join(" | ")
        }
        _ => "any".into(),
    }
}

/// Rows in columns; the last column is wrapped.
fn rows_of<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let Some((last, cells)) = row.split_last() else {
            continue;
        };
        let mut head = String::from("  ");
        for (cell, width) in cells.iter().zip(widths) {
            head.push_str(&format!("{cell:<width$}  "));
        }
        let indent = " ".repeat(head.chars().count());
        let wrapped = wrap(last, &indent);
        text.push_str(&head);
        text.push_str(wrapped.trim_start());
        if last.is_empty() {
            text.push('\n');
        }
    }
    text
}

/// Text in lines of at most [`WIDTH`], but with 40 columns beside the indent. No word is cut.
fn wrap(text: &str, indent: &str) -> String {
    let options = textwrap::Options::new(WIDTH.max(indent.len() + 40))
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false);
    let lines = broken(text, options).into_iter();
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests;
