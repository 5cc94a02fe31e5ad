//! Contents of `weir list` besides variants: the keys of the sections that every experiment has,
//! and metrics.

use schemars::schema_for;
use serde_json::Value as Json;

use super::{parameter_rows, rows_of, wrap};
use weir_simulation::config::fixed_sections;
use weir_workload::tasks::Mpi;

/// The sections: their names here, their notation, and their purpose.
pub const SECTIONS: [[&str; 3]; 9] = [
    [
        "router",
        "[router]",
        "Routers: flits, buffers, crossbar, latency.",
    ],
    [
        "nic",
        "[nic]",
        "NICs: packets, acknowledgements, the order of messages.",
    ],
    [
        "nodes",
        "[nodes]",
        "Hosts with several endpoints, and the network inside them.",
    ],
    [
        "failure",
        "[[failure]]",
        "Links that are slower or longer than their kind.",
    ],
    ["run", "[run]", "When the run ends, what is measured, seed."],
    ["output", "[output]", "What is recorded besides totals."],
    ["cost", "[cost]", "What memory costs."],
    ["fork", "[fork]", "Values that change at a time."],
    [
        "mpi",
        "[[workload]] mpi",
        "How messages of an application travel.",
    ],
];

/// Name of the list of metrics.
pub(super) const METRICS: &str = "metrics";

/// The page that describes them.
const PAGE: &str = include_str!("../../../../docs/job-file.md");

/// The table of the sections.
pub(super) fn table() -> String {
    let rows = SECTIONS.map(|[name, _, summary]| [name.to_string(), summary.to_string()]);
    let metrics = "The numbers that figures and claims of a job file may name.";
    format!(
        "sections (weir list NAME)\n{}{METRICS} (weir list {METRICS})\n{}",
        rows_of(&rows),
        wrap(metrics, "  ")
    )
}

/// All about a section, by its name or as it is written; None if there is none.
pub(super) fn section(what: &str) -> Option<String> {
    let plain = |word: &str| word.trim_matches(['[', ']']).to_string();
    let found = SECTIONS.iter().find(|[name, ..]| *name == plain(what));
    let [name, written, summary] = found?;
    let (schema, root) = match *name {
        "mpi" => {
            let mpi = schema_for!(Mpi).to_value();
            (mpi.clone(), mpi)
        }
        name => {
            let (sections, definitions) = fixed_sections();
            let root = serde_json::json!({ "$defs": definitions });
            (sections.get(name).cloned().unwrap_or(Json::Null), root)
        }
    };
    let mut rows = vec![["key", "type", "default", "meaning"].map(String::from)];
    parameter_rows(super::follow(&schema, &root), &root, "", &mut rows);
    Some(format!(
        "{written}\n\n{}\n{}",
        wrap(summary, "  "),
        rows_of(&rows)
    ))
}

/// The metrics, as the page about job files has them.
pub(super) fn metrics() -> String {
    let rows: Vec<String> = rows()
        .map(|[names, what]| format!("{}{}", wrap(&names, "  "), wrap(&what, "      ")))
        .collect();
    let how = "A metric is a number of a result, by its path in /data with dots; a time window may \
               follow: \"series.job.a.delivered_bytes.mean @ 20 us..30 us\". More: \
               docs/job-file.md.";
    let head = format!("{METRICS} (of figures, claims and criteria, and metrics = [ … ])");
    format!("{head}\n\n{}\n{}", wrap(how, "  "), rows.concat())
}

/// The rows of the page's table, as plain text.
fn rows() -> impl Iterator<Item = [String; 2]> {
    let table = PAGE.split_once("| metric | what it is |\n| --- | --- |\n");
    let table = table.map_or("", |(_, table)| table);
    table.lines().map_while(|line| {
        let (names, what) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        Some([names, what].map(plain))
    })
}

/// A text without the marks of Markdown.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        // A link: [words](place).
        let link = after
            .split_once("](")
            .and_then(|(words, place)| Some((words, place.split_once(')')?.1)));
        let Some((words, behind)) = link else {
            break;
        };
        plain.push_str(before);
        plain.push_str(words);
        rest = behind;
    }
    plain.push_str(rest);
    plain.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_study::Metric;

    /// Every listed name is read as a metric, except patterns of names that depend on the study.
    #[test]
    fn metrics_that_are_listed_are_metrics() {
        let jobs = [
            "hot", "victims", "halo", "app", "storm", "lammps-0", "halo-0",
        ];
        let jobs = jobs.map(str::to_string);
        let mut read = 0;
        for [names, what] in rows() {
            assert!(!what.contains('`') && !what.contains("]("), "{what}");
            // The first of them, with its window if it has one.
            let first = names.split([',', '(']).next().unwrap_or_default();
            let first = first.trim().trim_end_matches(" …");
            let read_so = Metric::parse(first, &jobs);
            read_so.unwrap_or_else(|error| panic!("{first}: {}", error.message));
            read += 1;
        }
        assert!(read > 25, "{read}");
    }
}
