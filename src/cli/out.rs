//! Directories for what commands write.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

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
