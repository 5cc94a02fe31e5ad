//! The ready networks of `topologies/`, the ready applications of `workloads/` and the presets of
//! `presets/`, inside the binary so that it works anywhere.

/// Ready files of a folder: names and texts.
macro_rules! ready {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, ".toml")))),*]
    };
}

/// All ready networks, one line per file of `topologies/`.
#[rustfmt::skip]
pub const READY: &[(&str, &str)] = ready!["topologies":
    "dragonfly-72",
    "dragonfly-1056",
    "dragonfly-3078",
    "dragonfly-8192",
    "dragonfly-200g-1024",
    "dragonfly-200g-1024-taper",
    "dragonfly-400g-2016",
    "dragonfly-400g-2048",
    "dragonfly-400g-2048-taper",
    "fattree-200g-800",
    "fattree-200g-800-taper",
    "fattree-400g-2048",
    "fattree-400g-2048-taper",
    "aurora",
    "frontier",
    "fugaku",
    "leonardo",
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
    "torus-64",
    "torus-2304",
    "torus-13824",
    "mesh-64",
    "hyperx-64",
    "kns-64",
    "kns-2304",
    "kns-13824",
];

/// All ready applications, one line per file of `workloads/`.
#[rustfmt::skip]
pub const READY_WORKLOADS: &[(&str, &str)] = ready!["workloads":
    "allreduce-32",
    "allreduce-32-compute",
    "allreduce-64-ember",
    "alltoall-64",
    "fft3d-64",
    "fixed-pairs-256",
    "fixed-pairs-256-36",
    "halo2d-64",
    "halo3d-512",
    "halo3d26-1728",
    "halo3d26-8000",
    "incast-100",
    "incast-40",
    "incast-64-ember",
    "incast1-512",
    "incast2-8",
    "lammps-1024",
    "lammps-2048",
    "lammps-2048-10",
    "lammps-512",
    "milc-4096",
    "milc-625",
    "nearest-neighbor-4096",
    "nekbone-2197",
    "nekbone-729",
    "periodic-aggressor-2048",
    "ping-pong",
    "spread-64",
    "sweep3d-64",
    "training-1b-64",
];

/// All presets, one line per file of `presets/`.
#[rustfmt::skip]
pub const PRESETS: &[(&str, &str)] = ready!["presets":
    "aries",
    "tofu-d",
    "bbq-4vc",
    "booksim2",
    "codes",
    "infiniband-hdr",
    "infiniband-ndr",
    "merlin",
    "osha-2vc",
    "osha-4vc",
    "sasha-2vc",
    "sasha-4vc",
    "slingshot-11",
    "tomahawk-5",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_the_list() {
        let folders = [
            ("topologies", READY),
            ("workloads", READY_WORKLOADS),
            ("presets", PRESETS),
        ];
        for (folder, list) in folders {
            let path = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
            for file in std::fs::read_dir(&path).expect(&path) {
                let path = file.expect("the folder can be read").path();
                if path.extension().is_some_and(|ext| ext == "toml") {
                    let name = path.file_stem().and_then(|s| s.to_str());
                    let name = name.expect("a plain name");
                    assert!(
                        list.iter().any(|(ready, _)| *ready == name),
                        "add \"{name}\" to the list in src/config/files/ready.rs"
                    );
                }
            }
        }
    }

    #[test]
    fn every_ready_network_names_its_kind() {
        for (name, text) in READY {
            let section = crate::config::Section::from_toml(text).expect(name);
            section.kind().expect(name);
        }
    }
}
