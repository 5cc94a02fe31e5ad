mod latency;

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hdf5::{File, Group};
use rustix::fs::OFlags;

use super::error::TraceError;
use super::hdf::{
    DEEPEST, Failure, Outcome, check_self_contained, get_column, get_list, get_number, get_numbers,
    get_text, get_texts, open,
};
use super::results::{Cost, Note, Phases, Run, Summary};
use super::schema::{self, Attribute, Column};
use super::seal::{Kind, Unsealed, verify};
use super::stats::{Digest, JobTotals};
pub use latency::StoredLatency;
use latency::read_latency;

/// More phases than programs have parts.
const MOST_PHASES: usize = 1 << 28;

/// The attributes of `/`: which experiment this is and whether it reached its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the schema.
    pub schema_version: u64,
    /// Version of the model; None of a result of weir 0.1.0, which did not say.
    pub model_version: Option<u64>,
    /// The program that wrote the file.
    pub weir_version: String,
    /// The resolved experiment, TOML.
    pub experiment: String,
    /// Seed of the run.
    pub seed: u64,
    /// False for a run that was stopped early.
    pub complete: bool,
}

/// A dataset, for a list of what a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the file.
    pub path: String,
    /// Its extents: one number for a column.
    pub shape: Vec<usize>,
}

/// What [`read`] takes from a result: everything but the rows of jobs, ports, series and the opt-in groups.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The attributes of `/`.
    pub header: Header,
    /// The attributes of `/run`.
    pub run: Run,
    /// The version of the HDF5 library that wrote the file.
    pub hdf5_version: String,
    /// Totals, latencies and jobs. Latency classes in the order network, message, then by job.
    pub digest: Digest,
    /// Latency classes with their histograms, in the same order.
    pub latency: Vec<StoredLatency>,
    /// The name of the congestion-control scheme.
    pub scheme: String,
    /// Every dataset of the file, group by group, in the order of their names.
    pub datasets: Vec<Entry>,
}

/// Reads a result: its attributes and histograms, and what else it holds.
///
/// # Errors
/// [`TraceError::Read`] if the file cannot be opened; [`TraceError::NotAResult`] if it is of another kind;
/// [`TraceError::Schema`] if it is a result of another schema version; [`TraceError::Damaged`] if it is not, to the last
/// bit, what was written.
pub fn read(path: &Path) -> Result<Stored, TraceError> {
    let (file, header) = open_result(path)?;
    stored(&file, header).map_err(|failure| TraceError::while_reading(path, failure))
}

/// Reads only the attributes of `/`. Errors as for [`read`].
pub fn read_header(path: &Path) -> Result<Header, TraceError> {
    open_result(path).map(|(_, header)| header)
}

/// Opens a result, after it was compared with its checksum.
pub(super) fn open_result(path: &Path) -> Result<(File, Header), TraceError> {
    hdf5::silence_errors(true);
    let weir = verify(&mut open_plain(path)?, Kind::Result)
        .map_err(|unsealed| TraceError::unsealed(path, unsealed))?;
    let file =
        File::open(path).map_err(|error| TraceError::read(path, super::hdf::cause(&error)))?;
    let header = header_of(&file).map_err(|failure| TraceError::while_reading(path, failure))?;
    check_self_contained(&file, DEEPEST)
        .map_err(|failure| TraceError::while_reading(path, failure))?;
    if header.schema_version != schema::VERSION {
        let what = "its first lines name another schema version than its attributes";
        return Err(TraceError::unsealed(path, Unsealed::Changed(what.into())));
    }
    if header.weir_version != weir {
        let what = "its first lines name another version of weir than its attributes";
        return Err(TraceError::unsealed(path, Unsealed::Changed(what.into())));
    }
    Ok((file, header))
}

/// Opens a plain file. Anything else might have a reader wait for ever, and the operating system names the reason for a
/// path that cannot be read, which HDF5 hides.
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

fn header_of(root: &Group) -> Outcome<Header> {
    let [schema_version, seed, complete] = get_numbers::<u64, 3>(root, &schema::ROOT_NUMBERS)?;
    let [weir_version, experiment] = get_texts(root, &schema::ROOT_TEXTS)?;
    let model = has(root, &schema::ROOT_MODEL)?.then(|| get_numbers(root, &schema::ROOT_MODEL));
    let model_version = model.transpose()?.map(|[version]| version);
    Ok(Header {
        schema_version,
        model_version,
        weir_version,
        experiment,
        seed,
        complete: complete != 0,
    })
}

/// True if a group has attributes that older results lack.
fn has<const N: usize>(at: &Group, attributes: &[Attribute; N]) -> Outcome<bool> {
    let names = at.attr_names()?;
    Ok(attributes
        .iter()
        .all(|one| names.iter().any(|name| name == one.name)))
}

fn stored(root: &Group, header: Header) -> Outcome<Stored> {
    let (run, hdf5_version) = read_run(&open(root, "run")?)?;
    let data = open(root, "data")?;
    let jobs = read_jobs(&open(&data, "jobs")?)?;
    let latency = read_latency(&open(&data, "latency")?, &jobs)?;
    let recorded = open(&data, "scheme")?;
    let [scheme] = get_texts(&recorded, &schema::SCHEME_TEXTS)?;
    let mut datasets = Vec::new();
    list(root, DEEPEST, &mut datasets)?;
    let summary = read_summary(&open(&data, "summary")?)?;
    let notes = read_notes(&open(&data, "notes")?, summary.notes)?;
    Ok(Stored {
        header,
        run,
        hdf5_version,
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

/// `/data/cost`, if it is there.
fn read_cost(data: &Group) -> Outcome<Option<Cost>> {
    if !data.link_exists("cost") {
        return Ok(None);
    }
    let at = open(data, "cost")?;
    let [buffer_bytes, accesses] = get_numbers::<u64, 2>(&at, &schema::COST_COUNTS)?;
    let [area_mm2, energy_nj] = get_numbers::<f64, 2>(&at, &schema::COST_NUMBERS)?;
    Ok(Some(Cost {
        buffer_bytes,
        accesses,
        area_mm2,
        energy_nj,
    }))
}

fn read_run(at: &Group) -> Outcome<(Run, String)> {
    let [
        ranks,
        events,
        windows,
        peak_memory_bytes,
        state_bytes,
        packet_bytes,
    ] = get_numbers::<u64, 6>(at, &schema::RUN_NUMBERS)?;
    let [wall_seconds, _, _] = get_numbers(at, &schema::RUN_RATES)?;
    let [started, mpi_version, hdf5_version] = get_texts(at, &schema::RUN_TEXTS)?;
    let program = has(at, &schema::RUN_PROGRAM)?.then(|| get_texts(at, &schema::RUN_PROGRAM));
    let [commit, features, command] = program.transpose()?.unwrap_or_default();
    let stopped = at
        .attr_names()?
        .iter()
        .any(|name| name == schema::RUN_STOPPED.name)
        .then(|| get_text(at, schema::RUN_STOPPED.name))
        .transpose()?;
    let run = Run {
        wall_seconds,
        ranks: u32::try_from(ranks)
            .map_err(|_| Failure::Content(format!("/run claims {ranks} ranks")))?,
        hosts: get_list(at, schema::RUN_HOSTS.name)?,
        started,
        events,
        windows,
        peak_memory_bytes,
        state_bytes,
        packet_bytes,
        mpi_version,
        commit,
        features,
        command,
        stopped,
    };
    Ok((run, hdf5_version))
}

fn read_summary(at: &Group) -> Outcome<Summary> {
    let [
        simulated_ps,
        measured_from_ps,
        measured_to_ps,
        packets_injected,
        packets_delivered,
        packets_dropped,
        packets_in_flight,
        messages_generated,
        messages_received,
        packet_hops,
        bytes_delivered,
        endpoints,
        endpoint_bandwidth,
        notes,
    ] = get_numbers(at, &schema::SUMMARY_COUNTS)?;
    let [offered_load, accepted_load] = get_numbers(at, &schema::SUMMARY_LOADS)?;
    let protocol = has(at, &schema::SUMMARY_PROTOCOL)?;
    let protocol = protocol.then(|| get_numbers(at, &schema::SUMMARY_PROTOCOL));
    Ok(Summary {
        simulated_ps,
        measured_from_ps,
        measured_to_ps,
        packets_injected,
        packets_delivered,
        packets_dropped,
        packets_in_flight,
        messages_generated,
        messages_received,
        protocol_messages: protocol.transpose()?,
        packet_hops,
        bytes_delivered,
        endpoints,
        endpoint_bandwidth,
        notes,
        offered_load,
        accepted_load,
    })
}

/// Phases, if they were recorded.
fn read_phases(data: &Group) -> Outcome<Phases> {
    if !data.link_exists("phases") {
        return Ok(Phases::default());
    }
    let at = open(data, "phases")?;
    let [
        job,
        phase,
        begin,
        end,
        flows,
        optimum,
        stretch,
        ratio,
        measured,
        most,
        mean,
    ] = &schema::PHASES;
    let whole = |column: &Column| get_column::<u64>(&at, column.name, MOST_PHASES);
    let short = |column: &Column| get_column::<u32>(&at, column.name, MOST_PHASES);
    let real = |column: &Column| get_column::<f64>(&at, column.name, MOST_PHASES);
    let phases = Phases {
        job: short(job)?,
        phase: short(phase)?,
        begin_ps: whole(begin)?,
        end_ps: whole(end)?,
        flows: whole(flows)?,
        optimum_ps: whole(optimum)?,
        stretch: real(stretch)?,
        rate_ratio: real(ratio)?,
        measured_ratio: real(measured)?,
        contention: whole(most)?,
        mean_contention: real(mean)?,
    };
    let rows = phases.job.len();
    let whole = [
        &phases.begin_ps,
        &phases.end_ps,
        &phases.flows,
        &phases.optimum_ps,
        &phases.contention,
    ];
    let real = [
        &phases.stretch,
        &phases.rate_ratio,
        &phases.measured_ratio,
        &phases.mean_contention,
    ];
    let even = phases.phase.len() == rows
        && whole.iter().all(|column| column.len() == rows)
        && real.iter().all(|column| column.len() == rows);
    match even {
        true => Ok(phases),
        false => Err(Failure::Content(format!(
            "{} has columns of different length",
            at.name()
        ))),
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

fn read_jobs(at: &Group) -> Outcome<Vec<JobTotals>> {
    let mut jobs = Vec::new();
    for name in at.member_names()? {
        let job = open(at, &name)?;
        let [
            index,
            tasks,
            start_ps,
            finish_ps,
            communication_ps,
            bytes_delivered,
            senders,
            receivers,
            on_from_ps,
            on_to_ps,
        ] = get_numbers::<u64, 10>(&job, &schema::JOB_COUNTS)?;
        let [offered_load, accepted_load] = get_numbers(&job, &schema::JOB_LOADS)?;
        let ends = has(&job, &schema::JOB_ENDS)?;
        let ends = ends.then(|| get_numbers::<u64, 3>(&job, &schema::JOB_ENDS));
        let (over, finish_ps, communication_ps) = match ends.transpose()? {
            Some([over, finish, communication]) => (Some(over != 0), finish, communication),
            None => (None, finish_ps, communication_ps),
        };
        let totals = JobTotals {
            name,
            tasks,
            start_ps,
            over,
            finish_ps,
            communication_ps,
            bytes_delivered,
            senders,
            receivers,
            on_from_ps,
            on_to_ps,
            offered_load,
            accepted_load,
        };
        jobs.push((index, totals));
    }
    jobs.sort_by_key(|(index, _)| *index);
    Ok(jobs.into_iter().map(|(_, job)| job).collect())
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
