//! Reads results: whole, by single columns and rows, or to compare two of them.

pub(crate) mod columns;
mod latency;
pub(crate) mod rates;
mod same;

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hdf5::{File, Group};
use rustix::fs::OFlags;

use super::error::TraceError;
use super::hdf::seal::{Kind, Mark, Unsealed, experiment_hash, verify};
use super::hdf::{
    DEEPEST, Failure, Outcome, check_self_contained, get_attributes, get_number, get_table,
    get_text, open,
};
use super::results::stats::Digest;
use super::results::{Job, Note};
use super::schema::{self, Cost, Header, Phases, Run};
pub use latency::StoredLatency;
use latency::read_latency;
pub use same::same_data;
use weir_model::program;
use weir_model::table::Summary;

/// More phases than programs have parts.
const MOST_PHASES: usize = 1 << 28;

/// A dataset, for a list of the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the file.
    pub path: String,
    /// Its extents: one number for a column.
    pub shape: Vec<usize>,
}

/// Content that [`read`] takes from a result: everything but the rows of jobs, ports, series and
/// the opt-in groups.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The attributes of `/`.
    pub header: Header,
    /// The attributes of `/run`.
    pub run: Run,
    /// Totals, latencies and jobs. Latency classes in the order network, message, then by job.
    pub digest: Digest,
    /// Latency classes with their histograms, in the same order.
    pub latency: Vec<StoredLatency>,
    /// The name of the congestion-control scheme.
    pub scheme: String,
    /// Every dataset of the file, group by group, in the order of their names.
    pub datasets: Vec<Entry>,
}

/// Reads a result: its attributes and histograms, and the list of its other content.
///
/// # Errors
/// [`TraceError::Read`] if the file cannot be opened; [`TraceError::NotAResult`] if it is of
/// another kind; [`TraceError::Schema`] if it is a result of another schema version;
/// [`TraceError::Damaged`] if it is not, to the last bit, as it was written.
pub fn read(path: &Path) -> Result<Stored, TraceError> {
    let (file, header) = open_result(path)?;
    stored(&file, header).map_err(|failure| TraceError::while_reading(path, failure))
}

/// Reads only the attributes of `/`. Errors as for [`read`].
pub fn read_header(path: &Path) -> Result<Header, TraceError> {
    open_result(path).map(|(_, header)| header)
}

/// Reads only which experiment a result is of, after it was compared with its checksum. Errors as
/// for [`read`].
pub fn read_mark(path: &Path) -> Result<Mark, TraceError> {
    let seal = verify(&mut open_plain(path)?, Kind::Result)
        .map_err(|unsealed| TraceError::unsealed(path, unsealed))?;
    match seal.mark {
        Some(mark) => Ok(mark),
        None => read_header(path).map(|header| mark_of(&header)),
    }
}

fn mark_of(header: &Header) -> Mark {
    Mark {
        experiment: experiment_hash(&header.experiment),
        complete: header.complete,
    }
}

/// Reads only the attributes of `/run`. Errors as for [`read`].
pub fn read_run(path: &Path) -> Result<Run, TraceError> {
    let (file, _) = open_result(path)?;
    let run = open(&file, "run").and_then(|run| get_attributes(&run));
    run.map_err(|failure| TraceError::while_reading(path, failure))
}

/// Opens a result, after it was compared with its checksum.
pub(super) fn open_result(path: &Path) -> Result<(File, Header), TraceError> {
    hdf5::silence_errors(true);
    let seal = verify(&mut open_plain(path)?, Kind::Result)
        .map_err(|unsealed| TraceError::unsealed(path, unsealed))?;
    let file =
        File::open(path).map_err(|error| TraceError::read(path, super::hdf::cause(&error)))?;
    let header: Header =
        get_attributes(&file).map_err(|failure| TraceError::while_reading(path, failure))?;
    check_self_contained(&file, DEEPEST)
        .map_err(|failure| TraceError::while_reading(path, failure))?;
    if header.schema_version != schema::VERSION {
        let what = "its first lines name another schema version than its attributes";
        return Err(TraceError::unsealed(path, Unsealed::Changed(what.into())));
    }
    // Another model has other hashes.
    let own = header.model_version == Some(u64::from(program::MODEL_VERSION));
    if own && seal.mark.is_some_and(|mark| mark != mark_of(&header)) {
        let what = "its first lines name another experiment than its attributes";
        return Err(TraceError::unsealed(path, Unsealed::Changed(what.into())));
    }
    if header.weir_version != seal.weir {
        let what = "its first lines name another version of weir than its attributes";
        return Err(TraceError::unsealed(path, Unsealed::Changed(what.into())));
    }
    Ok((file, header))
}

/// Opens a plain file. Anything else might have a reader wait for ever, and the operating system
/// names the reason for a path that cannot be read, which HDF5 hides.
fn open_plain(path: &Path) -> Result<std::fs::File, TraceError> {
    let failed = |error: std::io::Error| TraceError::read(path, error);
    let plain = |metadata: std::fs::Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(TraceError::read(path, "it is not a file")),
    };
    plain(std::fs::metadata(path).map_err(failed)?)?;
    let file = std::fs::File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(failed)?;
    plain(file.metadata().map_err(failed)?)?;
    Ok(file)
}

fn stored(root: &Group, header: Header) -> Outcome<Stored> {
    let run = get_attributes(&open(root, "run")?)?;
    let data = open(root, "data")?;
    let jobs = read_jobs(&open(&data, "jobs")?)?;
    let latency = read_latency(&open(&data, "latency")?, &jobs)?;
    let recorded = open(&data, "scheme")?;
    let scheme = get_text(&recorded, schema::SCHEME_NAME.name)?;
    let mut datasets = Vec::new();
    list(root, DEEPEST, &mut datasets)?;
    let summary: Summary = get_attributes(&open(&data, "summary")?)?;
    let notes = read_notes(&open(&data, "notes")?, summary.notes)?;
    Ok(Stored {
        header,
        run,
        digest: Digest {
            summary,
            latency: latency
                .iter()
                .map(|stored| (stored.class.clone(), stored.stats))
                .collect(),
            jobs,
            scheme: (scheme.clone(), counters(&recorded)?),
            phases: read_phases(&data)?,
            notes,
            cost: read_cost(&data)?,
        },
        latency,
        scheme,
        datasets,
    })
}

/// The whole numbers on a group.
fn counters(at: &Group) -> Outcome<Vec<(String, u64)>> {
    let mut all = Vec::new();
    for name in at.attr_names()? {
        let attribute = at.attr(&name)?;
        if attribute.dtype()?.is::<u64>() {
            all.push((name, attribute.read_scalar::<u64>()?));
        }
    }
    Ok(all)
}

/// `/data/cost`, if the result has it.
fn read_cost(data: &Group) -> Outcome<Option<Cost>> {
    let there = data.link_exists("cost");
    there
        .then(|| get_attributes(&open(data, "cost")?))
        .transpose()
}

/// Phases, if they were recorded.
fn read_phases(data: &Group) -> Outcome<Phases> {
    match data.link_exists("phases") {
        true => get_table(&open(data, "phases")?, MOST_PHASES),
        false => Ok(Phases::default()),
    }
}

fn read_notes(at: &Group, count: u64) -> Outcome<Vec<Note>> {
    let [kind, text, job] = &schema::NOTE_TEXTS;
    let mut notes = Vec::new();
    for number in 0..count {
        let at = open(at, &number.to_string())?;
        let mut note = Note {
            kind: get_text(&at, kind.name)?,
            text: get_text(&at, text.name)?,
            ..Note::default()
        };
        for name in at.attr_names()? {
            if name == job.name {
                note.job = Some(get_text(&at, &name)?);
            } else if name != kind.name && name != text.name {
                note.numbers.push((name.clone(), get_number(&at, &name)?));
            }
        }
        notes.push(note);
    }
    Ok(notes)
}

fn read_jobs(at: &Group) -> Outcome<Vec<Job>> {
    let mut jobs = Vec::new();
    for name in at.member_names()? {
        jobs.push(Job {
            totals: get_attributes(&open(at, &name)?)?,
            name,
            ..Job::default()
        });
    }
    jobs.sort_by_key(|job| job.totals.index);
    Ok(jobs)
}

fn list(at: &Group, levels: usize, found: &mut Vec<Entry>) -> Outcome<()> {
    if levels == 0 {
        return Err(Failure::Content(format!(
            "{} is nested too deep",
            at.name()
        )));
    }
    let mut names = at.member_names()?;
    names.sort_unstable();
    // Columns before deeper groups, so that those of one group stand together.
    let mut groups = Vec::new();
    for name in names {
        match at.loc_type_by_name(&name)? {
            hdf5::LocationType::Group => groups.push(at.group(&name)?),
            hdf5::LocationType::Dataset => {
                let dataset = at.dataset(&name)?;
                found.push(Entry {
                    path: dataset.name(),
                    shape: dataset.shape(),
                });
            }
            _ => {}
        }
    }
    groups
        .iter()
        .try_for_each(|group| list(group, levels - 1, found))
}
