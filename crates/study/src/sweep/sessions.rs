//! Folders for the files of Open MPI.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::dir::about;

/// The variable that tells Open MPI 4 where its own files go.
pub const SESSIONS: &str = "OMPI_MCA_orte_tmpdir_base";

/// A separate folder for Open MPI's own files of one run: at its end it removes the folder of all
/// runs of a user, which another one may just be using. Removed when it is dropped.
pub struct Sessions {
    pub path: PathBuf,
}

impl Sessions {
    /// Makes one. Its name is short, since it becomes part of those of sockets.
    pub fn new(point: usize) -> io::Result<Sessions> {
        let base = std::env::var_os(SESSIONS).map_or_else(std::env::temp_dir, PathBuf::from);
        let path = base.join(format!("weir-{}-{point}", std::process::id()));
        fs::create_dir_all(&path).map_err(about(&path))?;
        Ok(Sessions { path })
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
