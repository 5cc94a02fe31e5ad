//! Writes HDF5 files: results, and flat tables.

pub(crate) mod frame;

use std::collections::HashMap;
use std::path::Path;

use hdf5::file::LibraryVersion;
use hdf5::{File, Group};

use super::attribution::write_attribution;
use super::error::TraceError;
use super::hdf::scale::{put_scales, put_table, scale_rows};
use super::hdf::seal::{BLOCK, Kind, Mark, experiment_hash, seal};
use super::hdf::{
    Failure, Outcome, check_name, group, put_attributes, put_column, put_columns, put_dataset,
    put_list, put_number, put_text,
};
use super::out_dir::partial::Partial;
use super::results::stats::Stats;
use super::results::{
    Data, Latency, Note, Occupancy, Scheme, SchemeColumn, SchemeRecord, Series, Timeline,
};
use super::schema::{
    self, Bucket, Buckets, Column, Header, JOB_LOAD_TEXT, LOAD_DEFINITION, Routers, Run,
    SUMMARY_LOAD_TEXT,
};
use weir_model::table::{Cell, Table, Values};
use weir_model::{KindName, program};

/// Writes `result.h5`.
///
/// The file appears under `path` only when it is whole: until then it is a [`Partial`] in the same
/// directory, which is removed if anything fails. A run that was stopped early ([`Run::stopped`])
/// is written too, with `complete = 0`.
///
/// `experiment_toml` is the resolved experiment. Equal arguments, except `run`, give equal bits
/// under `/data`.
///
/// # Errors
/// [`TraceError::Write`] with the cause (no space, no permission …), [`TraceError::Name`] for a
/// job, class or counter that cannot be a name in the file, [`TraceError::Uneven`] for columns that
/// do not fit together.
pub fn write(
    path: &Path,
    data: &Data,
    run: &Run,
    experiment_toml: &str,
    seed: u64,
) -> Result<(), TraceError> {
    settle(written(path, data, run, experiment_toml, seed)?, path)
}

/// The same up to the last step: the file has not got its place yet.
pub(super) fn written(
    path: &Path,
    data: &Data,
    run: &Run,
    experiment_toml: &str,
    seed: u64,
) -> Result<Partial, TraceError> {
    let mark = Mark {
        experiment: experiment_hash(experiment_toml),
        complete: run.stopped.is_none(),
    };
    filled(path, Kind::Result, Some(mark), |root| {
        fill_root(root, data, run, experiment_toml, seed)
    })
}

/// Fills and seals a new file that will be `path`.
pub(super) fn filled(
    path: &Path,
    kind: Kind,
    mark: Option<Mark>,
    put: impl FnOnce(&File) -> Outcome<()>,
) -> Result<Partial, TraceError> {
    // Made by the operating system, for its plain words about a path that cannot be written.
    let mut partial = Partial::new(path).map_err(|error| TraceError::write(path, error))?;
    fill(&mut partial, (kind, mark), put)
        .map_err(|failure| TraceError::while_writing(path, failure))?;
    Ok(partial)
}

/// Puts a finished file in its place, after it has reached the disk.
pub(super) fn settle(partial: Partial, path: &Path) -> Result<(), TraceError> {
    let settled = partial.sync().and_then(|()| partial.settle_at(path));
    settled.map_err(|error| TraceError::write(path, error))?;
    // The name, too, before checkpoints are removed. Where folders cannot be synced it is there.
    let folder = path.parent().map(std::fs::File::open);
    let _ = folder.and_then(|folder| folder.ok()?.sync_all().ok());
    Ok(())
}

fn fill(
    partial: &mut Partial,
    (kind, mark): (Kind, Option<Mark>),
    put: impl FnOnce(&File) -> Outcome<()>,
) -> Outcome<()> {
    hdf5::silence_errors(true);
    let file = File::with_options()
        // Attributes of any size, checksummed metadata, no time stamps: the format since HDF5 1.8.
        .with_fapl(|list| list.libver_bounds(LibraryVersion::V18, LibraryVersion::latest()))
        .with_fcpl(|list| list.obj_track_times(false).userblock(BLOCK as u64))
        .create(partial.path())?;
    let filled = put(&file).and_then(|()| Ok(file.flush()?));
    let closed = file.close();
    filled?;
    closed?;
    seal(partial.file(), kind, mark).map_err(|error| Failure::Library(error.to_string()))
}

fn fill_root(
    root: &Group,
    data: &Data,
    run: &Run,
    experiment_toml: &str,
    seed: u64,
) -> Outcome<()> {
    let header = Header {
        schema_version: schema::VERSION,
        seed,
        complete: false,
        model_version: Some(u64::from(program::MODEL_VERSION)),
        weir_version: program::VERSION.into(),
        experiment: experiment_toml.into(),
    };
    put_attributes(root, &header)?;
    let (major, minor, micro) = hdf5::library_version();
    let run = Run {
        events_per_second: run.per_second(run.events),
        packet_hops_per_second: run.per_second(data.summary.packet_hops),
        hdf5_version: format!("{major}.{minor}.{micro}"),
        ..run.clone()
    };
    put_attributes(&group(root, "run")?, &run)?;
    write_data(&group(root, "data")?, data)?;
    let file = root.file()?;
    file.flush()?;
    if run.stopped.is_none() {
        root.attr("complete")?.write_scalar(&1u64)?;
        file.flush()?;
    }
    Ok(())
}

fn write_data(at: &Group, data: &Data) -> Outcome<()> {
    let summary = group(at, "summary")?;
    put_attributes(&summary, &data.summary)?;
    put_text(&summary, LOAD_DEFINITION.name, SUMMARY_LOAD_TEXT)?;
    let latency = group(at, "latency")?;
    for (class, samples) in &data.latency {
        check_name("latency class", class)?;
        write_latency(&group(&latency, class)?, samples)?;
    }
    write_notes(&group(at, "notes")?, &data.notes)?;
    let jobs = group(at, "jobs")?;
    for job in &data.jobs {
        check_name("job", &job.name)?;
        let at = group(&jobs, &job.name)?;
        put_attributes(&at, &job.totals)?;
        put_text(&at, LOAD_DEFINITION.name, JOB_LOAD_TEXT)?;
        put_table(&at, &job.tasks, &[])?;
    }
    write_network(at, data)?;
    write_series(&group(at, "series")?, &data.series)?;
    if let Some(occupancy) = &data.occupancy {
        write_occupancy(&group(at, "occupancy")?, occupancy)?;
    }
    write_table(at, "iterations", &data.iterations)?;
    write_table(at, "rates", &data.rates)?;
    write_scheme(&group(at, "scheme")?, &data.scheme)?;
    if let Some(cost) = &data.cost {
        put_attributes(&group(at, "cost")?, cost)?;
    }
    if let Some(attribution) = &data.attribution {
        write_attribution(&group(at, "attribution")?, attribution)?;
    }
    write_table(at, "packets", &data.packets)?;
    write_table(at, "phases", &data.phases)?;
    write_table(at, "flows", &data.flows)?;
    write_table(at, "messages", &data.messages)?;
    match &data.timeline {
        Some(timeline) => write_timeline(&group(at, "timeline")?, timeline),
        None => Ok(()),
    }
}

fn write_timeline(at: &Group, timeline: &Timeline) -> Outcome<()> {
    put_attributes(at, &timeline.numbers)?;
    put_table(&group(at, "tasks")?, &timeline.tasks, &timeline.task_words)?;
    put_table(&group(at, "links")?, &timeline.links, &timeline.link_words)
}

/// A table that was asked for.
fn write_table(at: &Group, name: &str, table: &Option<impl Table>) -> Outcome<()> {
    match table {
        Some(table) => put_table(&group(at, name)?, table, &[]),
        None => Ok(()),
    }
}

/// `/data/ports`, `/data/failures` and `/data/routers`.
fn write_network(at: &Group, data: &Data) -> Outcome<()> {
    let ports = group(at, "ports")?;
    put_list(&ports, schema::PORT_KINDS.name, &texts(&data.link_kinds))?;
    put_table(&ports, &data.ports, &data.link_kinds)?;
    if let Some(failures) = &data.failures {
        put_table(&group(at, "failures")?, failures, &data.link_kinds)?;
    }
    let routers = group(at, "routers")?;
    put_list(
        &routers,
        schema::ROUTER_KINDS.name,
        &texts(&data.router_kinds),
    )?;
    put_columns(&routers, "", &data.routers, &data.router_kinds)?;
    for (name, coordinates) in &data.axes {
        let name = format!("axis.{name}.");
        let rows = data.routers.rows();
        put_single(
            &routers,
            &name,
            &schema::ROUTER_AXIS,
            rows,
            Cell::values(coordinates),
        )?;
    }
    scale_rows(&routers, Routers::COLUMNS[0].name)
}

fn texts(kinds: &[KindName]) -> Vec<String> {
    kinds.iter().map(|name| name.to_string()).collect()
}

/// A column whose name begins with `prefix`.
fn put_single(
    at: &Group,
    prefix: &str,
    column: &Column,
    rows: usize,
    values: Values,
) -> Outcome<()> {
    let name = format!("{prefix}{}", column.name);
    put_column(at, &name, column.units, column.long_name, rows, values, &[])
}

fn write_latency(at: &Group, latency: &Latency) -> Outcome<()> {
    put_attributes(at, &Stats::of(latency).numbers())?;
    let [counts, missing] =
        [&latency.arrived, &latency.missing].map(|own| own.rows().collect::<HashMap<u64, u64>>());
    let of = |counts: &HashMap<u64, u64>, lower| counts.get(&lower).copied().unwrap_or(0);
    let all = latency.at_least();
    let buckets = all.rows().map(|(lower_ps, _)| Bucket {
        lower_ps,
        count: of(&counts, lower_ps),
        missing: of(&missing, lower_ps),
    });
    put_table(at, &buckets.collect::<Buckets>(), &[])
}

fn write_notes(at: &Group, notes: &[Note]) -> Outcome<()> {
    let [kind, text, job] = &schema::NOTE_TEXTS;
    for (number, note) in notes.iter().enumerate() {
        let at = group(at, &number.to_string())?;
        put_text(&at, kind.name, &note.kind)?;
        put_text(&at, text.name, &note.text)?;
        if let Some(name) = &note.job {
            put_text(&at, job.name, name)?;
        }
        for (name, value) in &note.numbers {
            put_number(&at, name, *value)?;
        }
    }
    Ok(())
}

fn write_series(at: &Group, series: &Series) -> Outcome<()> {
    put_number(at, schema::SERIES_BIN.name, series.bin_ps)?;
    let rows = series.bins;
    let times = (0..rows as u64).map(|bin| bin * series.bin_ps);
    let times: Vec<u64> = times.collect();
    put_single(at, "", &schema::SERIES_TIME, rows, Cell::values(&times))?;
    for (name, bins) in &series.jobs {
        put_columns(at, &format!("job.{name}."), bins, &[])?;
    }
    for (class, flits) in &series.ejected_flits {
        let prefix = format!("class.{class}.");
        put_single(
            at,
            &prefix,
            &schema::SERIES_CLASS,
            rows,
            Cell::values(flits),
        )?;
    }
    for (endpoint, bytes) in &series.received {
        let prefix = format!("endpoint.{endpoint}.");
        put_single(
            at,
            &prefix,
            &schema::SERIES_ENDPOINT,
            rows,
            Cell::values(bytes),
        )?;
    }
    scale_rows(at, schema::SERIES_TIME.name)
}

fn write_occupancy(at: &Group, occupancy: &Occupancy) -> Outcome<()> {
    let [time, router, bytes] = &schema::OCCUPANCY;
    let rows = occupancy.time_ps.len();
    let routers: Vec<u32> = (0..occupancy.routers as u32).collect();
    put_single(at, "", time, rows, Cell::values(&occupancy.time_ps))?;
    put_single(at, "", router, routers.len(), Cell::values(&routers))?;
    if occupancy.bytes.len() != rows * occupancy.routers {
        return Err(Failure::Uneven {
            group: at.name(),
            column: bytes.name.to_string(),
            rows: occupancy.bytes.len(),
            expected: rows * occupancy.routers,
        });
    }
    put_dataset(
        at,
        bytes.name,
        bytes.units,
        bytes.long_name,
        &[rows, occupancy.routers],
        &occupancy.bytes,
    )?;
    put_scales(at, &[(bytes.name, &[time.name, router.name])])
}

fn write_scheme(at: &Group, scheme: &Scheme) -> Outcome<()> {
    put_text(at, schema::SCHEME_NAME.name, &scheme.name)?;
    for (name, value) in &scheme.counters {
        check_name("counter", name)?;
        put_number(at, name, *value)?;
    }
    for (name, value) in &scheme.shares {
        check_name("counter", name)?;
        put_number(at, name, *value)?;
    }
    for record in &scheme.records {
        check_name("record", &record.name)?;
        write_record(&group(at, &record.name)?, record)?;
    }
    Ok(())
}

/// A table that the scheme wrote.
fn write_record(at: &Group, record: &SchemeRecord) -> Outcome<()> {
    put_text(at, schema::RECORD_ABOUT.name, &record.about)?;
    let rows = record.columns.first().map_or(0, |first| first.values.len());
    for SchemeColumn {
        name,
        unit,
        about,
        values,
    } in &record.columns
    {
        put_column(at, name, unit, about, rows, Cell::values(values), &[])?;
    }
    match record.columns.first() {
        Some(first) => scale_rows(at, &first.name),
        None => Ok(()),
    }
}
