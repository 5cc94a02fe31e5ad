//! Sections of the manual pages that the help does not have: exit status, environment, files,
//! examples.

use std::io::{self, Write};

use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::args::EXIT_CODES;

/// Variables of the environment, and their effect.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("NO_COLOR", "No colours, if it is set and not empty."),
    (
        "RUST_LOG",
        "Level of log messages on standard error, instead of -v: debug, or weir_study=debug,warn.",
    ),
    (
        "HDF5_USE_FILE_LOCKING",
        "FALSE for file systems without locks, if HDF5 complains about them.",
    ),
    (
        "OMPI_ALLOW_RUN_AS_ROOT, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "1 each lets Open MPI's mpirun start as root, in a container.",
    ),
];

/// Files that commands write.
const FILES: [(&str, &str); 5] = [
    (
        "DIR/result.h5",
        "Result of a run. docs/result-file.md has its groups.",
    ),
    (
        "DIR/.result.h5.lock",
        "Process and host of the run that works in DIR.",
    ),
    (
        "DIR/table.csv, DIR/table.h5",
        "Numbers of a study, a row for each point.",
    ),
    ("DIR/points/", "Results of the points of a study."),
    (
        "DIR/report.html, DIR/figures/",
        "Report of a run or a study, and its figures as SVG, PNG and CSV.",
    ),
];

/// Examples by page.
const EXAMPLES: [(&str, &[&str]); 23] = [
    (
        "weir",
        &[
            "weir check jobs/demo.toml",
            "weir run jobs/demo.toml --out out/demo",
            "weir report out/demo",
        ],
    ),
    (
        "weir-run",
        &[
            "weir run jobs/demo.toml --out out/demo",
            "weir run jobs/demo.toml --out out/light --set workload.victims.load=0.1",
            "weir run jobs/demo.toml --out out/more --fork-at 20us --set workload.victims.load=0.6",
            "mpirun -n 4 weir run jobs/bench/uniform-1056.toml --out out/four",
        ],
    ),
    (
        "weir-sweep",
        &[
            "weir sweep plan jobs/demo-sweep.toml",
            "weir sweep run jobs/demo-sweep.toml --out out/study -j 2",
        ],
    ),
    (
        "weir-sweep-plan",
        &["weir sweep plan jobs/demo-sweep.toml --reduced"],
    ),
    (
        "weir-sweep-run",
        &[
            "weir sweep run jobs/demo-sweep.toml --out out/study -j 2",
            "weir sweep run jobs/demo-sweep.toml --out out/study --points 0..3",
        ],
    ),
    (
        "weir-sweep-submit",
        &["weir sweep submit jobs/demo-sweep.toml --out out/study --time 30 --dry-run"],
    ),
    ("weir-sweep-status", &["weir sweep status out/study"]),
    ("weir-sweep-retry", &["weir sweep retry out/study"]),
    (
        "weir-sweep-collect",
        &["weir sweep collect out/study --csv"],
    ),
    ("weir-sweep-claims", &["weir sweep claims out/study"]),
    (
        "weir-tune",
        &["weir tune jobs/tuning/ecn.toml --out out/tuned -j 2"],
    ),
    (
        "weir-check",
        &["weir check jobs/demo.toml --set congestion.scheme=lhrp"],
    ),
    ("weir-list", &["weir list", "weir list patterns hotspot"]),
    (
        "weir-doc",
        &["weir doc input_buffer", "weir doc workload.0.load"],
    ),
    (
        "weir-inspect",
        &[
            "weir inspect out/demo",
            "weir inspect out/demo --experiment",
        ],
    ),
    ("weir-explain", &["weir explain out/demo"]),
    ("weir-compare", &["weir compare out/demo out/light"]),
    ("weir-report", &["weir report out/demo"]),
    (
        "weir-export",
        &[
            "weir export out/demo demo.pftrace",
            "weir export out/demo victims.goal --job victims",
        ],
    ),
    (
        "weir-import",
        &["weir import booksim torus88 --out torus88.toml"],
    ),
    ("weir-schema", &["weir schema > weir.schema.json"]),
    (
        "weir-completions",
        &["weir completions bash > ~/.local/share/bash-completion/completions/weir"],
    ),
    ("weir-man", &["weir man ~/.local/share/man/man1"]),
];

/// Writes the sections of a page.
///
/// # Errors
/// If it cannot be written.
pub fn write(page: &str, out: &mut impl Write) -> io::Result<()> {
    let mut text = Roff::new();
    text.control("SH", ["EXIT STATUS"]);
    verbatim(&mut text, EXIT_CODES.lines().skip(1).map(str::trim_start));
    for (title, rows) in [("ENVIRONMENT", &ENVIRONMENT[..]), ("FILES", &FILES)] {
        text.control("SH", [title]);
        for (name, meaning) in rows {
            text.control("TP", []);
            text.text([bold(*name)]).text([roman(*meaning)]);
        }
    }
    if let Some((_, lines)) = EXAMPLES.iter().find(|(name, _)| *name == page) {
        text.control("SH", ["EXAMPLES"]);
        verbatim(&mut text, lines.iter().copied());
    }
    text.to_writer(out)
}

/// Lines as they are.
fn verbatim<'a>(text: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    text.control("nf", []);
    for line in lines {
        text.text([roman(line)]);
    }
    text.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    use crate::cli::args::Arguments;

    #[test]
    fn examples_are_commands() {
        for line in EXAMPLES.iter().flat_map(|(_, lines)| *lines) {
            let command = line.split(" > ").next().unwrap_or_default();
            let words: Vec<&str> = command.split_whitespace().collect();
            let from = words.iter().position(|word| *word == "weir").expect("weir");
            if let Err(error) = Arguments::try_parse_from(&words[from..]) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn every_command_has_an_example() {
        let mut command = Arguments::command();
        command.build();
        let mut left = vec![&command];
        while let Some(one) = left.pop() {
            let name = one.get_display_name().unwrap_or("weir");
            let found = EXAMPLES.iter().any(|(page, _)| *page == name);
            assert!(found || name.ends_with("help"), "{name}");
            left.extend(one.get_subcommands().filter(|one| one.get_name() != "help"));
        }
    }
}
