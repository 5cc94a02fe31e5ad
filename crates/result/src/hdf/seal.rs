//! The first 512 bytes of every HDF5 file that weir writes: its type, which experiment it is of,
//! and a checksum of the rest.
//!
//! The HDF5 library trusts what it reads. A flipped bit can end any program that uses it, or have
//! it search for ever; so no file is given to it that is not, to the last byte, as it was written.
//! To HDF5 these bytes are a "user block", which every program that reads HDF5 passes over.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use toml::Value;
use twox_hash::XxHash3_128;
use weir_model::program;

use crate::schema;

/// Length of the block: the shortest user block that HDF5 knows.
pub(crate) const BLOCK: usize = 512;

/// First bytes of an HDF5 file without a user block.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// For readers who open the file as text.
const ABOUT: &str = "An HDF5 file behind a user block of 512 bytes. `bytes` is the length of the \
                     file; the checksum is of what follows the block: tail -c +513 FILE | \
                     xxh128sum";

/// Ends of a run, in the block.
const COMPLETE: &str = "complete";
const STOPPED: &str = "stopped";

/// Read at a time, in bytes.
const PIECE: usize = 1 << 20;

/// Purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `result.h5`.
    Result,
    /// The table of a sweep.
    Table,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Result, Kind::Table];

    /// In the first line.
    fn name(self) -> &'static str {
        match self {
            Kind::Result => "weir result",
            Kind::Table => "weir table",
        }
    }
}

/// Reasons why a file is not handed to HDF5.
#[derive(Debug)]
pub(crate) enum Unsealed {
    /// It cannot be read.
    Io(io::Error),
    /// It is something else.
    Foreign(String),
    /// It is not as it was written.
    Changed(String),
    /// It has another version of the schema.
    Version { found: u64, weir: String },
}

impl From<io::Error> for Unsealed {
    fn from(error: io::Error) -> Self {
        Unsealed::Io(error)
    }
}

/// The experiment of a result: known without HDF5, which takes a hundred times as long to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The hash of the experiment ([`experiment_hash`]).
    pub experiment: String,
    /// True if the run came to its end.
    pub complete: bool,
}

/// Hexadecimal digits of [`experiment_hash`].
const DIGITS: usize = 16;

/// First characters of the line of an experiment that changes no result.
pub(crate) const MAX_WALL: &str = "max_wall = ";

/// Key of the hash of a trace's content.
const CONTENT: &str = "sha256";

/// An experiment without keys that change no result: `run.max_wall`, and the folders of traces,
/// whose content is known.
pub(crate) fn lasting(resolved: &str) -> Result<toml::Table, toml::de::Error> {
    let mut table: toml::Table = resolved.parse()?;
    if let Some(run) = table.get_mut("run").and_then(Value::as_table_mut) {
        run.remove("max_wall");
    }
    let workloads = table.get_mut("workload").and_then(Value::as_array_mut);
    let traces = workloads.into_iter().flatten();
    let traces = traces.filter_map(|one| one.get_mut("trace")?.as_table_mut());
    for trace in traces.filter(|trace| trace.contains_key(CONTENT)) {
        if let Some(file) = trace.get_mut("file")
            && let Some(name) = file.as_str().and_then(|file| Path::new(file).file_name())
        {
            *file = name.to_string_lossy().into_owned().into();
        }
    }
    Ok(table)
}

/// The hash of a resolved experiment without `run.max_wall` and the folders of its traces, the
/// schema of results and the version of the model: equal hashes mean equal results. It is the
/// directory's name of a point of a study.
pub fn experiment_hash(resolved: &str) -> String {
    if resolved.contains(CONTENT)
        && let Ok(table) = lasting(resolved)
    {
        return hash_of(&table.to_string());
    }
    let lines = resolved.split_inclusive('\n');
    let kept: String = lines.filter(|line| !line.starts_with(MAX_WALL)).collect();
    // The line may also be one of a text.
    let same = kept != resolved
        && lasting(resolved).is_ok_and(|table| kept.parse().is_ok_and(|kept| table == kept));
    hash_of(if same { &kept } else { resolved })
}

fn hash_of(text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!(
        "schema {}\nmodel {}\n{text}",
        schema::VERSION,
        program::MODEL_VERSION
    ));
    let bytes = hash.finalize();
    let mut text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    text.truncate(DIGITS);
    text
}

/// Content of the block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    kind: Kind,
    schema: u64,
    /// The version of the weir that wrote it.
    pub weir: String,
    bytes: u64,
    checksum: u128,
    /// The mark of a result. Results of earlier versions have none.
    pub mark: Option<Mark>,
}

impl Seal {
    fn block(&self) -> [u8; BLOCK] {
        let mark = self.mark.as_ref().map(|mark| {
            let end = if mark.complete { COMPLETE } else { STOPPED };
            format!("experiment {} {end}\n", mark.experiment)
        });
        let text = format!(
            "{}\nschema {}\nweir {}\nbytes {}\nxxh3-128 {:032x}\n{}\n{ABOUT}\n",
            self.kind.name(),
            self.schema,
            self.weir,
            self.bytes,
            self.checksum,
            mark.unwrap_or_default()
        );
        let mut block = [b'\n'; BLOCK];
        // The lines are far shorter; a version number that is not cannot be read back.
        let fits = text.len().min(BLOCK);
        block[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        block
    }

    fn read(block: &[u8]) -> Option<Seal> {
        let mut lines = std::str::from_utf8(block).ok()?.lines();
        let first = lines.next()?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == first)?;
        let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix(' ');
        Some(Seal {
            kind,
            schema: value("schema")?.parse().ok()?,
            weir: value("weir")?.to_string(),
            bytes: value("bytes")?.parse().ok()?,
            checksum: u128::from_str_radix(value("xxh3-128")?, 16).ok()?,
            mark: value("experiment").and_then(Mark::read),
        })
    }
}

impl Mark {
    fn read(text: &str) -> Option<Mark> {
        let (experiment, end) = text.split_once(' ')?;
        Some(Mark {
            experiment: experiment.into(),
            complete: end == COMPLETE,
        })
    }
}

/// Fills in the block of a file that is written otherwise.
pub(crate) fn seal(file: &mut File, kind: Kind, mark: Option<Mark>) -> io::Result<()> {
    let (body, checksum) = body(file)?;
    let seal = Seal {
        kind,
        schema: schema::VERSION,
        weir: env!("CARGO_PKG_VERSION").into(),
        bytes: BLOCK as u64 + body,
        checksum,
        mark,
    };
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&seal.block())
}

/// Checks that this file is of this kind, of the version that this weir reads, and as it was
/// written.
pub(crate) fn verify(file: &mut File, kind: Kind) -> Result<Seal, Unsealed> {
    let mut block = Vec::with_capacity(BLOCK);
    file.seek(SeekFrom::Start(0))?;
    file.take(BLOCK as u64).read_to_end(&mut block)?;
    if !block.starts_with(b"weir ") {
        return Err(Unsealed::Foreign(
            if block.is_empty() {
                "it is empty"
            } else if block.starts_with(HDF5) {
                "it is an HDF5 file without the first lines that weir writes; another program has \
                 made or rewritten it, or a weir of schema version 1, whose results this one does \
                 not read: run the experiment again"
            } else if String::from_utf8_lossy(&block).contains("[topology]") {
                "it is an experiment or a study: `weir run` or `weir sweep run` makes results"
            } else {
                "it does not begin as the files of weir do"
            }
            .into(),
        ));
    }
    let changed = |what: String| Err(Unsealed::Changed(what));
    if block.len() < BLOCK {
        return changed(format!("only its first {} bytes are there", block.len()));
    }
    let Some(seal) = Seal::read(&block) else {
        return changed("its first lines are not whole".into());
    };
    if seal.schema != schema::VERSION {
        return Err(Unsealed::Version {
            found: seal.schema,
            weir: seal.weir,
        });
    }
    if seal.kind != kind {
        return Err(Unsealed::Foreign(format!("it is a {}", seal.kind.name())));
    }
    if block != seal.block() {
        return changed("its first lines are not whole".into());
    }
    let length = file.metadata()?.len();
    if length != seal.bytes {
        return changed(format!(
            "it has {length} bytes, and {} were written",
            seal.bytes
        ));
    }
    match body(file)? {
        (_, checksum) if checksum != seal.checksum => {
            changed("its content does not have the checksum that it was written with".into())
        }
        _ => Ok(seal),
    }
}

/// Length and checksum of the data behind the block.
fn body(file: &mut File) -> io::Result<(u64, u128)> {
    file.seek(SeekFrom::Start(BLOCK as u64))?;
    let mut hash = XxHash3_128::new();
    let mut piece = vec![0; PIECE];
    let mut length = 0;
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((length, hash.finish_128())),
            Ok(read) => {
                hash.write(&piece[..read]);
                length += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Option<Mark> {
        Some(Mark {
            experiment: "0123456789abcdef".into(),
            complete: true,
        })
    }

    fn sealed(body: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[0; BLOCK]).expect("writes");
        file.write_all(body).expect("writes");
        seal(&mut file, Kind::Result, mark()).expect("seals");
        file
    }

    #[test]
    fn the_folder_of_a_trace_is_no_part_of_an_experiment() {
        let text = |file: &str, hash: &str| {
            format!("[[workload]]\ntrace = {{ file = \"{file}\", sha256 = \"{hash}\" }}\n")
        };
        let hash = experiment_hash(&text("/a/b/app.goal", "12"));
        assert_eq!(experiment_hash(&text("/c/app.goal", "12")), hash);
        assert_ne!(experiment_hash(&text("/c/app.goal", "13")), hash);
        assert_ne!(experiment_hash(&text("/a/b/other.goal", "12")), hash);
    }

    #[test]
    fn the_clock_is_no_part_of_an_experiment() {
        let plain = "[run]\nseed = 1\n";
        let hash = experiment_hash(plain);
        assert_eq!(
            experiment_hash(&format!("{plain}max_wall = \"5 s\"\n")),
            hash
        );
        assert_ne!(experiment_hash(&plain.replace('1', "2")), hash);
        // Not the key of the run.
        for more in [
            "text = \"\"\"\nmax_wall = 1\n\"\"\"\n",
            "[other]\nmax_wall = 1\n",
        ] {
            let with = format!("{plain}{more}");
            let without = with.replace("max_wall = 1\n", "");
            assert_ne!(experiment_hash(&with), experiment_hash(&without), "{more}");
        }
    }

    #[test]
    fn what_is_sealed_is_verified() {
        for length in [0, 1, BLOCK, PIECE, PIECE + 1] {
            let mut file = sealed(&vec![7; length]);
            let seal = verify(&mut file, Kind::Result).expect("whole");
            assert_eq!(
                (&*seal.weir, seal.mark),
                (env!("CARGO_PKG_VERSION"), mark())
            );
            let other = verify(&mut file, Kind::Table).expect_err("another kind");
            assert!(matches!(other, Unsealed::Foreign(what) if what == "it is a weir result"));
        }
    }

    #[test]
    fn every_bit_counts() {
        let mut file = sealed(b"some content");
        let mut whole = Vec::new();
        file.seek(SeekFrom::Start(0)).expect("seeks");
        file.read_to_end(&mut whole).expect("reads");
        assert_eq!(whole.len(), BLOCK + 12);
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            file.seek(SeekFrom::Start(0)).expect("seeks");
            file.write_all(&bytes).expect("writes");
            // The reader compares these with what is inside the file. A study runs a point again
            // whose experiment is another one.
            if let Ok(seal) = verify(&mut file, Kind::Result) {
                let weir = seal.weir != env!("CARGO_PKG_VERSION");
                let other = |mark: Mark| mark.experiment != "0123456789abcdef";
                assert!(weir || seal.mark.is_some_and(other), "bit {bit}");
            }
        }
    }

    #[test]
    fn the_checksum_is_that_of_the_well_known_tool() {
        // XXH3 (128 bits) of "abc", as xxh128sum prints it.
        let (length, checksum) = body(&mut sealed(b"abc")).expect("reads");
        assert_eq!(length, 3);
        assert_eq!(
            format!("{checksum:032x}"),
            "06b05ab6733a618578af5f94892f3950"
        );
    }

    #[test]
    fn what_the_block_says_fits() {
        let seal = Seal {
            kind: Kind::Result,
            schema: u64::MAX,
            weir: "100.100.100-alpha.100+0123456789abcdef".into(),
            bytes: u64::MAX,
            checksum: u128::MAX,
            mark: mark(),
        };
        let block = seal.block();
        let text = String::from_utf8(block.to_vec()).expect("UTF-8");
        assert!(text.contains("xxh128sum\n\n"), "{text}");
        assert_eq!(Seal::read(&block), Some(seal));
    }
}
