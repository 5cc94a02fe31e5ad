//! `weir completions` and `weir man`: shell completion and man pages, made from the same
//! description as the help.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::sections;
use crate::cli::args::Arguments;
use crate::cli::process::failure::Failure;

/// The name of the program, in completions and as the first part of every page's name.
const PROGRAM: &str = "weir";

/// The script that a shell has to read.
pub fn script(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), PROGRAM, &mut text);
    text
}

/// The page of the program itself, `weir(1)`, as roff.
///
/// # Errors
/// Never in practice: it is written to memory.
pub fn first_page() -> Result<Vec<u8>, Failure> {
    let mut command = Arguments::command();
    command.build();
    page(&command).map_err(|error| Failure::failed(format!("error: {error}")))
}

/// Writes the page of the program and one for each command into `dir`, which is made if need be:
/// weir.1, weir-run.1 …; returns their paths.
///
/// # Errors
/// The directory or a file in it cannot be written.
pub fn write_pages(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut written = Vec::new();
    let mut wanted = vec![&command];
    let outcome = fs::create_dir_all(dir).and_then(|()| {
        while let Some(one) = wanted.pop() {
            let path = dir.join(format!("{}.1", page_name(one)));
            fs::write(&path, page(one)?)?;
            written.push(path);
            wanted.extend(described(one));
        }
        Ok(())
    });
    outcome.map_err(|error| {
        Failure::bad_input(format!(
            "error: cannot write pages into {}: {error}\n  help: name a directory that can be written",
            dir.display()
        ))
    })?;
    written.sort();
    Ok(written)
}

/// The commands below one that have a page: all but `help`.
fn described(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|one| one.get_name() != "help" && !one.is_hide_set())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let man = Man::new(command.clone()).title(page_name(command));
    let man = man.manual(PROGRAM);
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    sections::write(page_name(command), &mut text)?;
    if command.get_version().is_some() {
        man.render_version_section(&mut text)?;
    }
    Ok(text)
}

/// `weir-sweep-run` for `weir sweep run`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_is_in_the_completions_and_has_its_page() {
        let dir = tempfile::tempdir().expect("a directory");
        let pages = write_pages(&dir.path().join("new/man1")).expect("written");
        let script = String::from_utf8(script(Shell::Bash)).expect("text");
        let mut command = Arguments::command();
        command.build();
        let mut wanted = vec![&command];
        let mut seen = 0;
        while let Some(one) = wanted.pop() {
            let name = page_name(one);
            let path = dir.path().join(format!("new/man1/{name}.1"));
            assert!(pages.contains(&path), "{name}");
            let page = fs::read_to_string(&path).expect("reads");
            // Hidden ones are for weir's own processes.
            let shown = one.get_opts().filter(|option| !option.is_hide_set());
            for option in shown.filter_map(clap::Arg::get_long) {
                let in_roff = format!("\\-\\-{}", option.replace('-', "\\-"));
                assert!(page.contains(&in_roff), "{name}: --{option}");
                assert!(
                    script.contains(&format!("--{option}")),
                    "{name}: --{option}"
                );
            }
            wanted.extend(described(one));
            seen += 1;
        }
        assert_eq!(seen, pages.len());
    }

    #[test]
    fn names_are_completed() {
        // The script for fish has names of options and commands only.
        for shell in [Shell::Bash, Shell::Zsh] {
            let script = String::from_utf8(script(shell)).expect("text");
            for name in [
                "schemes",
                "ib_cca",
                "dragonfly-1056",
                "lammps-2048",
                "booksim2",
            ] {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_refused() {
        let failure = write_pages(Path::new("/proc/weir")).expect_err("nobody writes there");
        assert_eq!(failure.code, weir_model::program::exit::BAD_INPUT);
        assert!(
            failure.message.contains("/proc/weir"),
            "{}",
            failure.message
        );
    }
}
