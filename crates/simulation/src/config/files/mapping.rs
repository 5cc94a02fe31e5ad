//! Files that say on which endpoint each task is: `endpoints = { file = "hosts.txt" }`.

use std::sync::Arc;

use super::file_set::{Folder, file_name};
use weir_input::error::{Origin, Source};
use weir_input::tree::{Node, Value};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// A workload's section with the numbers of such a file in its place, as if they had been written
/// there: in the order of the tasks, separated by white space or line breaks; from `#` on a line is
/// a comment.
pub(in crate::config) fn inlined(
    mut section: Section,
    path: &str,
    folder: &Folder,
) -> Result<Section, ConfigError> {
    const KEY: &str = "endpoints";
    let Some(member) = section.node.get(KEY) else {
        return Ok(section);
    };
    let inner = Section::new(member.value.clone(), format!("{path}.{KEY}"));
    let Some(name) = file_name(&inner)? else {
        return Ok(section);
    };
    if inner.node.members().len() > 1 {
        return Err(section.refuse(Invalid::new(
            KEY,
            "a file says everything about the endpoints",
            "leave the other keys out, or write { count, placement, seed } without `file`",
        )));
    }
    let (file, text) = folder.read(&name).map_err(|(file, why)| {
        inner.refuse(Invalid::new(
            "file",
            format!("{} cannot be read: {why}", file.display()),
            "give a path relative to the experiment file",
        ))
    })?;
    let list = numbers(Source {
        name: file.display().to_string(),
        text,
    })?;
    if let Value::Table(members) = &mut section.node.value {
        for member in members.iter_mut().filter(|member| member.key == KEY) {
            member.value = list.clone();
        }
    }
    Ok(section)
}

/// The numbers of such a file, each with its place.
fn numbers(source: Source) -> Result<Node, ConfigError> {
    let source = Arc::new(source);
    let mut items = Vec::new();
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let own = line.split('#').next().unwrap_or_default();
        for word in own.split_ascii_whitespace() {
            // Both are parts of the same text.
            let from = start + (word.as_ptr() as usize - line.as_ptr() as usize);
            let origin = Origin::File {
                source: Arc::clone(&source),
                span: Some(from..from + word.len()),
            };
            let Ok(number) = word.parse::<u32>() else {
                return Err(ConfigError::at(
                    &origin,
                    format!("{word:?} is not the number of an endpoint"),
                    "write whole numbers in the order of the tasks, separated by white space; # \
                     begins a comment",
                ));
            };
            items.push(Node {
                value: Value::Integer(number.into()),
                origin,
            });
        }
        start += line.len();
    }
    Ok(Node {
        value: Value::Array(items),
        origin: Origin::File {
            source,
            span: Some(0..0),
        },
    })
}
