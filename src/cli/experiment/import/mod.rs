//! `weir import`: the configuration of another simulator as an experiment of weir, and the networks
//! of other programs as topology files ([`networks`]).
//!
//! Each simulator has one table of its keys: default, and the keys of weir they become, or the
//! reason why there are none. Nothing of the input is lost: every entry is in one of the two lists
//! of [`configuration::Lists`].

mod booksim;
mod codes;
mod configuration;
mod networks;
mod toml;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ::toml::Table;

use crate::cli::args::{Format, ImportOptions};
use crate::cli::out::check_new;
use crate::cli::process::console::tell;
use crate::cli::process::failure::Failure;
use configuration::{Configuration, one_line};
pub(in crate::cli) use networks::{HostRule, Link, Network, file_of};
use weir_input::ConfigError;
use weir_input::error::Source;
use weir_result::replace;
use weir_simulation::Plan;
use weir_simulation::config::{Catalog, Experiment};

/// Largest file that is read, bytes.
const LARGEST: u64 = 64 << 20;

/// Reads a configuration, and returns the text of an experiment; with `--out` writes it there.
///
/// # Errors
/// The file cannot be read, is no such configuration, has no counterpart in weir, or the output
/// file exists.
pub fn import(options: &ImportOptions, catalog: &Catalog) -> Result<String, Failure> {
    let wrong = |error: ConfigError| Failure::wrong(&error);
    let source = read(&options.file).map_err(wrong)?;
    let (text, others) = match networks::reader(options.from) {
        Some(reader) => {
            let asked = networks::HostRule {
                endpoints_per_router: options.endpoints_per_router,
                prefix: options.hosts.clone(),
            };
            networks::import(&source, reader, &asked, catalog).map_err(wrong)?
        }
        None if options.endpoints_per_router.is_some() || options.hosts.is_some() => {
            return Err(wrong(ConfigError::new(
                "--endpoints-per-router and --hosts are for networks",
                "leave them out: the configuration says how many endpoints there are",
            )));
        }
        None => configured(&source, options.from, catalog).map_err(wrong)?,
    };
    let said = match &options.out {
        None => text,
        Some(path) => write(path, &text).map(|()| format!("{}\n", path.display()))?,
    };
    for line in &others {
        tell(format!("warning: {}, {line}", source.name));
    }
    Ok(said)
}

/// The experiment of a configuration, and what was not taken over.
fn configured(
    source: &Arc<Source>,
    format: Format,
    catalog: &Catalog,
) -> Result<(String, Vec<String>), ConfigError> {
    let (simulator, convert): (&str, Convert) = match format {
        Format::Codes => ("CODES", codes::convert),
        _ => ("BookSim2", booksim::convert),
    };
    let (experiment, configuration) = convert(source)?;
    let lists = configuration.lists();
    let text = written(&experiment, &source.name, simulator, &lists)?;
    // What weir would refuse is not written.
    let name = format!("{} as an experiment", source.name);
    let checked = Experiment::from_text(&name, &text, Path::new(""), &[], catalog);
    checked.and_then(|experiment| Plan::new(&experiment, None))?;
    Ok((text, lists.others))
}

/// Makes an experiment of a configuration.
type Convert = fn(&Arc<Source>) -> Result<(Table, Configuration), ConfigError>;

fn read(path: &Path) -> Result<Arc<Source>, ConfigError> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|why| {
        ConfigError::new(
            format!("{name} cannot be read: {why}"),
            "give the path of a file",
        )
    })?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("{name} is longer than {LARGEST} bytes");
        return Err(ConfigError::new(message, "give a configuration file"));
    }
    // Comments may be in other encodings.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Arc::new(Source { name, text }))
}

/// The experiment as a file, with the lists as comments at its end.
fn written(
    experiment: &Table,
    file: &str,
    simulator: &str,
    lists: &configuration::Lists,
) -> Result<String, ConfigError> {
    let body = ::toml::to_string(experiment)
        .map_err(|error| ConfigError::new(format!("no TOML: {error}"), ""))?;
    let mut text = format!("# {} of {simulator}, by weir import\n", one_line(file));
    text.push_str(&body);
    for (title, list) in [
        ("Taken over", &lists.taken),
        ("Not taken over, or chosen", &lists.others),
    ] {
        if !list.is_empty() {
            text.push_str(&format!("\n# {title}:\n"));
        }
        for line in list {
            text.push_str(&format!("#   {}\n", one_line(line)));
        }
    }
    Ok(text)
}

/// Writes a new file.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    check_new(path)?;
    replace(path, text.as_bytes()).map_err(|error| {
        let name = path.display();
        Failure::bad_input(format!("error: {name} cannot be written: {error}"))
    })
}
