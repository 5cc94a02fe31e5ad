//! Directories for what commands write.

use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::cli::process::failure::Failure;
use weir_input::ConfigError;
use weir_study::about;

/// A path in UTF-8: HDF5 takes no other.
pub fn utf8_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str() {
        Some(_) => Ok(path),
        None => Err("HDF5 cannot write there; give a path in UTF-8"),
    })
}

/// The directory of a run or a study whose options name none: out/NAME, after the name of its file.
pub fn default_out(file: &Path) -> PathBuf {
    let name = file.file_stem().unwrap_or_default();
    Path::new("out").join(&*name.to_string_lossy())
}

/// Makes the directory of a page, which `option` names.
///
/// # Errors
/// Bad input if that is not possible.
pub fn make(dir: &Path, option: &str) -> Result<(), Failure> {
    fs::create_dir_all(dir).map_err(|error| {
        let cause = about(dir)(error);
        Failure::bad_input(format!(
            "error: {cause}\n  help: name another directory with {option}"
        ))
    })
}

/// Refuses a file that a command would replace.
///
/// # Errors
/// If it exists.
pub fn check_new(file: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(file) {
        Ok(_) => Err(Failure::wrong(&ConfigError::new(
            format!("{} exists", file.display()),
            "name a file that does not exist",
        ))),
        Err(_) => Ok(()),
    }
}
