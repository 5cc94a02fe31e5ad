//! The ready networks of `topologies/`, inside the binary so that it works anywhere.

/// A ready network: its name and its text.
macro_rules! ready {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../topologies/", $name, ".toml")))),*]
    };
}

/// All ready networks, one line per file of `topologies/`.
#[rustfmt::skip]
pub const READY: &[(&str, &str)] = ready![
    "dragonfly-72",
    "dragonfly-1056",
    "dragonfly-3078",
    "dragonfly-8192",
    "tree-16",
    "tree-16-2",
    "tree-4096",
    "clos-8",
    "clos-32",
    "clos-128-8x8",
    "clos-128-16x16",
    "clos-256",
    "clos-432",
    "clos-512",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/topologies");
        let Ok(files) = std::fs::read_dir(folder) else {
            assert!(READY.is_empty(), "{folder} cannot be read");
            return;
        };
        for file in files {
            let path = file.expect("the folder can be read").path();
            if path.extension().is_some_and(|ext| ext == "toml") {
                let name = path
                    .file_stem()
                    .and_then(|s| s.to_str())
                    .expect("a plain name");
                assert!(
                    READY.iter().any(|(ready, _)| *ready == name),
                    "add \"{name}\" to the list in src/config/ready.rs"
                );
            }
        }
    }

    #[test]
    fn every_ready_network_names_its_kind() {
        for (name, text) in READY {
            let section = super::super::Section::from_toml(text).expect(name);
            section.kind().expect(name);
        }
    }
}
