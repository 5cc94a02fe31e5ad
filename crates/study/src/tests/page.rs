//! The examples of docs/job-file.md are good job files.

use std::path::Path;

use crate::tune::Tune;
use crate::{Metric, Options, Study};
use weir_simulation::catalog::catalog;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/job-file.md");
    std::fs::read_to_string(path).expect("the page")
}

fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```toml\n").skip(1);
    blocks
        .map(|block| block.split("```").next().expect("an end"))
        .collect()
}

#[test]
fn every_example_is_a_good_addition_to_the_first() {
    let page = page();
    let examples = examples(&page);
    let (first, rest) = examples.split_first().expect("examples");
    assert!(first.contains("[topology]") && first.lines().count() > 30);
    assert!(rest.len() > 10, "{} examples", rest.len());
    let searched = |example: &&&str| example.contains("[tune]");
    for example in [&""]
        .into_iter()
        .chain(rest.iter().filter(|one| !searched(one)))
    {
        for reduced in [false, example.contains("[reduced]")] {
            let options = Options {
                reduced,
                ..Options::default()
            };
            let text = format!("{first}\n{example}");
            let study = Study::parse(&text, Path::new(""), &options);
            let points = study.and_then(|study| super::checked(&study));
            let points =
                points.unwrap_or_else(|error| panic!("{example}\n{}", error.render(false)));
            assert!(points.len() > 1);
        }
    }
}

#[test]
fn every_search_is_one() {
    let page = page();
    let examples = examples(&page).into_iter();
    let folder = tempfile::TempDir::new().expect("a directory");
    let mut found = 0;
    for example in examples.filter(|example| example.contains("[tune]")) {
        let path = folder.path().join("job.toml");
        std::fs::write(&path, example).expect("a file");
        let tune = Tune::read(&path, &Options::default(), &catalog());
        let tune = tune.unwrap_or_else(|error| panic!("{example}\n{}", error.render(false)));
        assert!(!tune.grid.is_empty());
        found += 1;
    }
    assert!(found > 0, "{found} searches");
}

#[test]
fn every_metric_of_the_table_exists() {
    let page = page();
    let jobs = [
        "hot", "victims", "lammps-0", "halo", "halo-0", "storm", "app", "md",
    ]
    .map(str::to_string);
    let table = page.split("| metric |").nth(1).expect("the table");
    let table = table.split("\n\n").next().expect("its end");
    let mut found = 0;
    for row in table.lines().skip(2) {
        let names = row.split('|').nth(1).expect("a cell");
        let quoted = names.split('`').skip(1).step_by(2);
        for name in quoted.filter(|name| name.contains('.')) {
            Metric::parse(name, &jobs).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            found += 1;
        }
    }
    assert!(found > 20, "{found} metrics");
}
