//! Readers on bytes, for fuzzing and tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{REGISTRY, Trace, read};
use weir_input::registry::{Chosen, choose};
use weir_input::{ConfigError, Section};

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // The folder is private; if it cannot be removed, it stays in the system's temporary
        // folder.
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(files: &[(&str, &[u8])]) -> std::io::Result<Folder> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("weir-trace-{}-{number}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir(&folder.0)?;
    for (name, content) in files {
        std::fs::write(folder.0.join(name), content)?;
    }
    Ok(folder)
}

/// Reads the first of these files, as `format` with further keys of its section (TOML); the others
/// are in the same folder.
///
/// # Errors
/// As [`read`], and if files cannot be written to the system's temporary folder.
pub fn attempt(
    format: &str,
    keys: &str,
    files: &[(&str, &[u8])],
) -> Result<Arc<Trace>, ConfigError> {
    let folder = folder(files).map_err(|error| {
        ConfigError::new(
            format!("a temporary file cannot be written: {error}"),
            "look at TMPDIR",
        )
    })?;
    let name = files.first().map_or("", |(name, _)| name);
    let path = folder.0.join(name);
    let section = format!("format = {format:?}\nfile = {path:?}\n{keys}");
    let section = Section::from_toml(&section)?;
    let entry = choose(&section, REGISTRY)?;
    read(&Chosen::new(entry.variant(), section)?)
}

/// Reads any bytes: the first one chooses the format, the others are its file. True if they can be
/// read.
pub fn attempt_any(bytes: &[u8]) -> bool {
    let Some((&first, content)) = bytes.split_first() else {
        return false;
    };
    let entry = &REGISTRY[usize::from(first) % REGISTRY.len()];
    let keys = match entry.name {
        "simgrid" => "flops_per_second = 1e9\n",
        _ => "",
    };
    attempt(entry.name, keys, &[("trace-0", content)]).is_ok()
}
