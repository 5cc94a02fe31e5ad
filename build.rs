//! Tells the program which commit it is built from.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=WEIR_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = env::var("WEIR_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let commit = commit.or_else(from_git).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=WEIR_COMMIT={commit}");
}

/// The commit that is checked out. Of release builds only: others would be compiled anew after every commit.
fn from_git() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" || !Path::new(".git").exists() {
        return None;
    }
    // The list of what has changed is only asked for when something has.
    for place in ["HEAD", "logs/HEAD", "index"] {
        let path = git(&["rev-parse", "--git-path", place])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=src");
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let mark = if changed.is_empty() { "" } else { "+" };
    Some(format!("{commit}{mark}"))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
