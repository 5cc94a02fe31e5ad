//! Fingerprints of small experiments, to the last bit: a change of behaviour shows, whether it was
//! meant or not.
//!
//! `fingerprints.csv` holds, for each file of `experiments/`, a hash of each group under `/data`.
//! After a change that is meant to change results,
//! `WEIR_REFRESH_FINGERPRINTS=1 cargo test --test all fingerprints::` writes it anew; the commit
//! then shows which groups of which experiments it changed. The version of the model is raised with
//! it, or that of the schema if the same results are written in another form. Sweeps use both to
//! keep old and new results apart.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use hdf5::types::{FixedAscii, TypeDescriptor, VarLenUnicode};
use hdf5::{Container, File, Group};
use weir::catalog::catalog;
use weir::config::{Experiment, NicConfig, ProgramConfig, RouterConfig};
use weir::fabric::is_rich;
use weir::registry::{Family, Variant};
use weir::result::{self, Run};
use weir::simulation::{MODEL_VERSION, Plan};

const REFRESH: &str = "WEIR_REFRESH_FINGERPRINTS";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The files of `experiments/`.
pub fn files() -> Vec<PathBuf> {
    let files = fs::read_dir(folder().join("experiments")).expect("the folder of experiments");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

fn load(path: &Path, set: &[String]) -> Experiment {
    let experiment = Experiment::load(path, set);
    experiment.unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Every experiment by its name.
fn experiments() -> BTreeMap<String, Experiment> {
    let files = files().into_iter().map(|path| {
        let name = path.file_stem().expect("a name").to_string_lossy();
        (name.into_owned(), load(&path, &[]))
    });
    files.collect()
}

/// The hashes of the groups of an experiment's `/data`, read back from the file that it gives.
fn fingerprint(experiment: &Experiment) -> Groups {
    let plan =
        Plan::new(experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let outcome = crate::support::run_plan(&plan)
        .unwrap_or_else(|error| panic!("{error}\n{}", experiment.resolved));
    let folder = tempfile::TempDir::new().expect("a directory");
    let path = folder.path().join("result.h5");
    let (seed, run) = (experiment.run.seed, Run::default());
    result::write(&path, &outcome.data, &run, &experiment.resolved, seed).expect("written");
    let file = File::open(&path).expect("opens");
    let data = file.group("data").expect("/data");
    let mut names = data.member_names().expect("names");
    names.sort();
    let hash = |name: String| {
        let mut hash = Hash::default();
        add_group(&mut hash, &data.group(&name).expect("a group"));
        (name, hash.to_string())
    };
    names.into_iter().map(hash).collect()
}

/// The hashes of groups, by their names.
type Groups = BTreeMap<String, String>;

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
    // Attributes that dimension scales write: places in the file.
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

fn stored() -> BTreeMap<String, Groups> {
    let text =
        fs::read_to_string(folder().join("same_results/fingerprints.csv")).unwrap_or_default();
    let mut stored: BTreeMap<String, Groups> = BTreeMap::new();
    for row in text.lines().skip(3) {
        if let [name, group, hash] = row.split(',').collect::<Vec<_>>()[..] {
            let groups = stored.entry(name.to_string()).or_default();
            groups.insert(group.to_string(), hash.to_string());
        }
    }
    stored
}

/// Differences: experiments with their groups.
fn differences(old: &BTreeMap<String, Groups>, new: &BTreeMap<String, Groups>) -> Vec<String> {
    let mut list = Vec::new();
    for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
        let none = Groups::new();
        let [was, is] = [old, new].map(|all| all.get(name).unwrap_or(&none));
        let groups: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        let groups = groups
            .into_iter()
            .filter(|group| was.get(*group) != is.get(*group));
        let groups: Vec<&str> = groups.map(String::as_str).collect();
        if !groups.is_empty() {
            let new = if was.is_empty() {
                " (not recorded yet)"
            } else {
                ""
            };
            list.push(format!("  {name}{new}: {}", groups.join(", ")));
        }
    }
    list
}

/// The versions of model and schema.
fn versions() -> [u64; 2] {
    [u64::from(MODEL_VERSION), result::schema::VERSION]
}

/// Versions that the fingerprints were recorded with.
fn stored_versions() -> Option<[u64; 2]> {
    let text = fs::read_to_string(folder().join("same_results/fingerprints.csv")).ok()?;
    let version = |line: usize| text.lines().nth(line)?.split_once(',')?.1.parse().ok();
    Some([version(1)?, version(2)?])
}

#[test]
fn results_are_what_they_were() {
    let found: BTreeMap<String, Groups> = experiments()
        .iter()
        .map(|(name, experiment)| (name.clone(), fingerprint(experiment)))
        .collect();
    let old = stored();
    if std::env::var_os(REFRESH).is_some() {
        let there = |(name, _): &(&String, &Groups)| old.contains_key(*name);
        let again = found.iter().filter(there);
        let again = again.map(|(name, groups)| (name.clone(), groups.clone()));
        let known: BTreeMap<String, Groups> = again.collect();
        let before = old.into_iter().filter(|(name, _)| known.contains_key(name));
        let changed = differences(&before.collect(), &known);
        let columns = std::env::var(REFRESH).is_ok_and(|value| value == "columns");
        assert!(
            columns || changed.is_empty() || stored_versions() != Some(versions()),
            "these give other results than before:\n{}\nraise MODEL_VERSION in \
             crates/model/src/program.rs (or VERSION in crates/result/src/schema/mod.rs if only \
             their form is new), so that no sweep mixes the two; if columns are new and all others \
             as before, write {REFRESH}=columns",
            changed.join("\n")
        );
        let [model, schema] = versions();
        let rows = found.iter().flat_map(|(name, groups)| {
            let rows = groups.iter();
            rows.map(move |(group, hash)| format!("{name},{group},{hash}\n"))
        });
        let text = format!(
            "experiment,group,fnv1a\nmodel version,{model}\nschema version,{schema}\n{}",
            rows.collect::<String>()
        );
        fs::write(folder().join("same_results/fingerprints.csv"), text).expect("written");
        return;
    }
    assert_eq!(
        stored_versions(),
        Some(versions()),
        "the version of the model or of the schema has changed: refresh the fingerprints"
    );
    let changed = differences(&old, &found);
    assert!(
        changed.is_empty(),
        "{} of {} experiments give other results than before, in these groups of /data:\n{}\nIf that is meant, refresh \
         them with\n  {REFRESH}=1 cargo test --test all fingerprints::\nand say in the commit why they change.",
        changed.len(),
        found.len(),
        changed.join("\n")
    );
}

/// The fabric is compiled three times.
/// If a network has nothing that only the last copy can do, all give the same bits: recording flows
/// takes the last one, and changes nothing else. The results of the other copies are in the file of
/// fingerprints.
#[test]
fn all_copies_of_the_fabric_agree() {
    if std::env::var_os(REFRESH).is_some() {
        // Another test renews the file that this one reads.
        return;
    }
    let (stored, mut compared) = (stored(), 0);
    for path in files() {
        let experiment = load(&path, &[]);
        let plan = Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{error}"));
        if is_rich(&plan.blueprint) {
            continue;
        }
        let rich = load(&path, &["output.flows=true".into()]);
        let plan = Plan::new(&rich, None).unwrap_or_else(|error| panic!("{error}"));
        assert!(is_rich(&plan.blueprint));
        let name = path.file_stem().and_then(OsStr::to_str).expect("a name");
        let usual = stored
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no fingerprints yet: {REFRESH}=1 records them"));
        let mut rich = fingerprint(&rich);
        // Remove the additional records.
        rich.retain(|group, _| usual.contains_key(group));
        assert_eq!(usual, &rich, "{}", path.display());
        compared += 1;
    }
    assert!(
        compared >= 30,
        "only {compared} experiments do without the last copy"
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
fn unused<F>(family: &Family<F>, used: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let used: BTreeSet<&str> = used.collect();
    let names = family.variants.iter().map(|variant| variant.name);
    names.filter(|name| !used.contains(name)).collect()
}

/// The routings that no experiment uses on one of the topologies that they are for.
fn unused_routings(all: &BTreeMap<String, Experiment>) -> Vec<&'static str> {
    let used = |routing: &Variant, file: &Experiment| {
        let (own, topology) = (file.routing.variant.name, file.topology.variant.name);
        routing.name == own && routing.is_for(topology)
    };
    let routings = catalog().routings.described().variants.into_iter();
    let missing = routings.filter(|routing| !all.values().any(|file| used(routing, file)));
    missing.map(|routing| routing.name).collect()
}

#[test]
fn every_name_of_every_registry_is_covered() {
    let (catalog, experiments) = (catalog(), experiments());
    let all = || experiments.values();
    let patterns = all()
        .flat_map(|e| &e.workloads)
        .filter_map(|workload| Some(workload.pattern()?.pattern.variant.name));
    let motifs =
        all()
            .flat_map(|e| &e.workloads)
            .filter_map(|workload| match &workload.job()?.program {
                ProgramConfig::Motif(motif) => Some(motif.variant.name),
                ProgramConfig::Trace(_) => None,
            });
    let missing = [
        unused(&catalog.topologies, all().map(|e| e.topology.variant.name)),
        unused_routings(&experiments),
        unused(&catalog.queueing, all().map(|e| e.queueing.variant.name)),
        unused(&catalog.schemes, all().map(|e| e.congestion.variant.name)),
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
