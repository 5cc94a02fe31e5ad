//! What small experiments give, to the last bit: a change of behaviour shows, whether it was meant or not.
//!
//! `fingerprints.csv` holds a hash of everything under `/data` but `/data/attribution` for each file of `experiments/`. After a change that is
//! meant to change results, `WEIR_REFRESH_FINGERPRINTS=1 cargo test --test all fingerprints::` writes it anew; the commit
//! then shows which experiments it changed. The version of the model goes up with it, or that of the schema if the same
//! results are written in another form: by both sweeps keep old and new results apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use hdf5::types::{FixedAscii, TypeDescriptor, VarLenUnicode};
use hdf5::{Container, File, Group};
use weir::catalog::catalog;
use weir::config::{Experiment, NicConfig, RouterConfig, Section};
use weir::registry::{Family, Variant};
use weir::simulation::{MODEL_VERSION, Plan};
use weir::trace::{self, Run};

const REFRESH: &str = "WEIR_REFRESH_FINGERPRINTS";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Every experiment by its name.
fn experiments() -> BTreeMap<String, Experiment> {
    let files = fs::read_dir(folder().join("experiments")).expect("the folder of experiments");
    let paths = files.map(|file| file.expect("a file").path());
    let load = |path: PathBuf| {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let experiment = Experiment::load(&path, &[]);
        (
            name,
            experiment.unwrap_or_else(|error| panic!("{}", error.render(false))),
        )
    };
    paths.map(load).collect()
}

/// The hash of an experiment's `/data`, read back from the file that it gives.
fn fingerprint(experiment: &Experiment) -> String {
    let plan =
        Plan::new(experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let outcome = crate::support::run_plan(&plan)
        .unwrap_or_else(|error| panic!("{error}\n{}", experiment.resolved));
    let folder = tempfile::TempDir::new().expect("a directory");
    let path = folder.path().join("result.h5");
    let seed = experiment.run.seed;
    trace::write(
        &path,
        &outcome.data,
        &Run::default(),
        &experiment.resolved,
        seed,
    )
    .expect("written");
    let mut hash = Hash::default();
    add_group(
        &mut hash,
        &File::open(&path)
            .and_then(|file| file.group("data"))
            .expect("/data"),
    );
    hash.to_string()
}

/// FNV-1a of 64 bits: short, and the same for ever.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn words(&mut self, words: &[u64]) {
        words
            .iter()
            .for_each(|word| self.bytes(&word.to_le_bytes()));
    }

    /// Texts with their length, so that two that follow each other are not one.
    fn text(&mut self, text: &str) {
        self.words(&[text.len() as u64]);
        self.bytes(text.as_bytes());
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Everything below a group, by name.
fn add_group(hash: &mut Hash, group: &Group) {
    add_attributes(hash, group);
    let mut names = group.member_names().expect("names");
    names.sort();
    // Worked out of the rest, not by the rest: `explain.rs` has its tests.
    names.retain(|name| name != "attribution");
    for name in names {
        hash.text(&name);
        match group.group(&name) {
            Ok(inner) => add_group(hash, &inner),
            Err(_) => {
                let dataset = group.dataset(&name).expect("a dataset");
                add_attributes(hash, &dataset);
                add_values(hash, &dataset);
            }
        }
    }
}

fn add_attributes(hash: &mut Hash, place: &hdf5::Location) {
    let mut names = place.attr_names().expect("names");
    names.sort();
    // What dimension scales write: places in the file.
    let links = ["CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"];
    names.retain(|name| !links.contains(&name.as_str()));
    for name in names {
        hash.text(&name);
        add_values(hash, &place.attr(&name).expect("an attribute"));
    }
}

fn add_values(hash: &mut Hash, values: &Container) {
    let shape: Vec<u64> = values.shape().iter().map(|&extent| extent as u64).collect();
    hash.words(&shape);
    let kind = values
        .dtype()
        .and_then(|kind| kind.to_descriptor())
        .expect("a type");
    match kind {
        TypeDescriptor::Unsigned(_) => hash.words(&values.read_raw::<u64>().expect("numbers")),
        TypeDescriptor::Integer(_) => {
            let numbers = values.read_raw::<i64>().expect("numbers");
            numbers
                .iter()
                .for_each(|&number| hash.words(&[number as u64]));
        }
        TypeDescriptor::Float(_) => {
            let floats = values.read_raw::<f64>().expect("numbers");
            floats
                .iter()
                .for_each(|float| hash.words(&[float.to_bits()]));
        }
        TypeDescriptor::FixedAscii(_) => {
            let texts = values.read_raw::<FixedAscii<64>>().expect("texts");
            texts.iter().for_each(|text| hash.text(text.as_str()));
        }
        TypeDescriptor::VarLenUnicode => {
            let texts = values.read_raw::<VarLenUnicode>().expect("texts");
            texts.iter().for_each(|text| hash.text(text.as_str()));
        }
        other => panic!("{}: no way to hash {other:?}", values.name()),
    }
}

fn stored() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("fingerprints.csv")).unwrap_or_default();
    let rows = text.lines().skip(3).filter_map(|row| row.split_once(','));
    rows.map(|(name, hash)| (name.to_string(), hash.to_string()))
        .collect()
}

/// The versions of model and schema.
fn versions() -> [u64; 2] {
    [u64::from(MODEL_VERSION), trace::schema::VERSION]
}

/// Those that the fingerprints were recorded with.
fn stored_versions() -> Option<[u64; 2]> {
    let text = fs::read_to_string(folder().join("fingerprints.csv")).ok()?;
    let version = |line: usize| text.lines().nth(line)?.split_once(',')?.1.parse().ok();
    Some([version(1)?, version(2)?])
}

#[test]
fn results_are_what_they_were() {
    let found: BTreeMap<String, String> = experiments()
        .iter()
        .map(|(name, experiment)| (name.clone(), fingerprint(experiment)))
        .collect();
    if std::env::var_os(REFRESH).is_some() {
        let old = stored();
        let other =
            |(name, hash): &(&String, &String)| old.get(*name).is_some_and(|was| was != *hash);
        let changed: Vec<&String> = found.iter().filter(other).map(|(name, _)| name).collect();
        assert!(
            changed.is_empty() || stored_versions() != Some(versions()),
            "{changed:?} give other results than before: raise MODEL_VERSION in src/model/program.rs (or VERSION in \
             src/trace/schema.rs if only their form is new), so that no sweep mixes the two"
        );
        let [model, schema] = versions();
        let rows = found.iter().map(|(name, hash)| format!("{name},{hash}\n"));
        let text = format!(
            "experiment,fnv1a_of_data\nmodel version,{model}\nschema version,{schema}\n{}",
            rows.collect::<String>()
        );
        fs::write(folder().join("fingerprints.csv"), text).expect("written");
        return;
    }
    assert_eq!(
        stored_versions(),
        Some(versions()),
        "the version of the model or of the schema has changed: refresh the fingerprints"
    );
    let stored = stored();
    let names: BTreeSet<&String> = found.keys().chain(stored.keys()).collect();
    let changed: Vec<String> = names
        .into_iter()
        .filter(|&name| found.get(name) != stored.get(name))
        .map(|name| {
            let show = |hash: Option<&String>| hash.map_or("none".to_string(), String::clone);
            format!(
                "  {name}: was {}, is {}",
                show(stored.get(name)),
                show(found.get(name))
            )
        })
        .collect();
    assert!(
        changed.is_empty(),
        "{} of {} experiments give other results than before:\n{}\nIf that is meant, refresh them with\n  \
         {REFRESH}=1 cargo test --test all fingerprints::\nand say in the commit why they change.",
        changed.len(),
        found.len(),
        changed.join("\n")
    );
}

#[test]
fn a_fingerprint_sees_every_bit() {
    let experiments = experiments();
    let one = &experiments["run-to-completion"];
    assert_eq!(fingerprint(one), fingerprint(one));
    let mut other = one.clone();
    other.run.seed += 1;
    assert_ne!(fingerprint(one), fingerprint(&other));
}

/// The variants of a family that no experiment uses.
fn unused(family: &Family, used: impl Iterator<Item = Section>) -> Vec<&'static str> {
    let used: BTreeSet<String> = used
        .map(|section| section.kind().expect("checked").to_string())
        .collect();
    let names = family.variants.iter().map(|variant| variant.name);
    names.filter(|name| !used.contains(*name)).collect()
}

/// The routings that no experiment uses on one of the topologies that they are for.
fn unused_routings(all: &BTreeMap<String, Experiment>) -> Vec<&'static str> {
    let used = |routing: &Variant, file: &Experiment| {
        let [own, topology] =
            [&file.routing, &file.topology].map(|section| section.kind().expect("checked"));
        routing.name == own && routing.is_for(topology)
    };
    let routings = catalog().routings.variants.into_iter();
    let missing = routings.filter(|routing| !all.values().any(|file| used(routing, file)));
    missing.map(|routing| routing.name).collect()
}

#[test]
fn every_name_of_every_registry_is_covered() {
    let (catalog, experiments) = (catalog(), experiments());
    let all = || experiments.values();
    let patterns = all()
        .flat_map(|e| &e.workloads)
        .filter_map(|workload| Some(workload.pattern()?.pattern.clone()));
    let motifs = all()
        .flat_map(|e| &e.workloads)
        .filter_map(|workload| Some(workload.job()?.program.section().clone()));
    let missing = [
        unused(&catalog.topologies, all().map(|e| e.topology.clone())),
        unused_routings(&experiments),
        unused(&catalog.queueing, all().map(|e| e.queueing.clone())),
        unused(&catalog.schemes, all().map(|e| e.congestion.clone())),
        unused(&catalog.patterns, patterns),
        unused(&catalog.motifs, motifs),
    ]
    .concat();
    assert!(
        missing.is_empty(),
        "tests/experiments has nothing with {missing:?}"
    );
}

#[test]
fn every_parameter_of_routers_and_nics_is_changed_somewhere() {
    let usual = [
        (
            "router",
            toml::Table::try_from(RouterConfig::default()).expect("TOML"),
        ),
        (
            "nic",
            toml::Table::try_from(NicConfig::default()).expect("TOML"),
        ),
    ];
    let resolved: Vec<toml::Table> = experiments()
        .values()
        .map(|experiment| experiment.resolved.parse().expect("TOML"))
        .collect();
    for (section, usual) in &usual {
        for (key, value) in usual {
            let changed = resolved.iter().any(|file| &file[*section][key] != value);
            assert!(
                changed,
                "{section}.{key} is {value} in all of tests/experiments"
            );
        }
    }
}
